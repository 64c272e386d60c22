(** Routes: the transfers of a message contain a route from the source to each destination, so it
    pays at least the cheapest such route to the most expensive destination.

    In store-and-forward switching a route takes one hop in a step, later hops in later steps. In
    wormhole switching and in time slots it is one allowed path, or, where a message has several
    destinations, a walk that passes no endpoint but destinations. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts Prices Walks Paths.
Import ListNotations.
Open Scope Z_scope.

(** ** Lowest prices *)

Definition low (l : list interval) (q : resource) : Z :=
  match l with
  | [] => 0
  | i :: rest =>
      fold_left (fun m j => Z.min m (table_price (prices j) q)) rest (table_price (prices i) q)
  end.

Lemma fold_min q (l : list interval) m :
  let f := fold_left (fun m j => Z.min m (table_price (prices j) q)) l m in
  f <= m /\ forall i, In i l -> f <= table_price (prices i) q.
Proof.
  revert m. induction l as [|j l IH]; intros m; simpl; [split; [lia|easy]|].
  destruct (IH (Z.min m (table_price (prices j) q))) as [H1 H2]. split; [lia|].
  intros i [<-|J]; [lia|now apply H2].
Qed.

Lemma low_least l q i : In i l -> low l q <= table_price (prices i) q.
Proof.
  destruct l as [|j l]; [easy|]. simpl. destruct (fold_min q l (table_price (prices j) q)) as [A B].
  intros [<-|J]; [exact A|now apply B].
Qed.

Lemma low_price rows T l q t : covers rows T l -> 1 <= t <= T -> low l q <= price_at rows q t.
Proof. intros C H. destruct (C t H) as (i & J & _ & E). rewrite E. now apply low_least. Qed.

Definition low_hop (I : instance) (l : list interval) (h : hop) : Z :=
  low l (Channel (link I h)).

(** ** Steps of transfers and of what they use *)

Lemma slot_steps I P t : 0 < P -> kind I = TimeSlots -> 1 <= slot I P t <= P.
Proof. intros H K. unfold slot. rewrite K. pose proof (Z.mod_pos_bound (t - 1) P H). lia. Qed.

Lemma slot_in I P t i : 1 <= t <= P -> 1 <= slot I P (t + late I i) <= P.
Proof.
  intros H. destruct (kind I) eqn:K; try (unfold slot, late; rewrite K; lia).
  apply slot_steps; [lia|trivial].
Qed.

Lemma channel_uses_sum (f : resource -> Z) (g : resource -> Z -> Z) I P l t :
  1 <= t <= P -> (forall q k, 1 <= k <= P -> f q <= g q k) ->
  sum (fun h => f (Channel (link I h))) l
  <= sum (fun u => g (fst u) (snd u)) (channel_uses I P t l).
Proof.
  intros T G.
  enough (H : forall l t', (kind I <> TimeSlots -> t' = t) ->
    sum (fun h => f (Channel (link I h))) l
    <= sum (fun u => g (fst u) (snd u)) (channel_uses I P t' l)) by (now apply H).
  clear l. induction l as [|h l IH]; intros t' E; simpl; [lia|].
  assert (L : f (Channel (link I h)) <= g (Channel (link I h)) (slot I P t')).
  { apply G. destruct (kind I) eqn:K; [| |apply slot_steps; [lia|trivial]];
      unfold slot; rewrite K, E by easy; lia. }
  assert (N : sum (fun h => f (Channel (link I h))) l
    <= sum (fun u => g (fst u) (snd u)) (channel_uses I P (t' + late I 1) l)).
  { apply IH. intros K. rewrite E by trivial. unfold late. destruct (kind I); try lia.
    now destruct K. }
  lia.
Qed.

(** A transfer pays at least the lowest prices of its channels and ports. *)
Lemma pays_low I rows T l s x :
  covers rows T l -> period s <= T -> (forall r, In r rows -> 0 <= price r) -> In x (timed s) ->
  Z.max 0 (low l (Inject (sender x))) + Z.max 0 (low l (Accept (receiver x)))
    + sum (low_hop I l) (hops (nodes (snd x)))
  <= pays I rows (period s) x.
Proof.
  intros C L N J. pose proof (timed_steps s x J) as S. unfold pays, uses. simpl sum.
  assert (A : Z.max 0 (low l (Inject (sender x)))
    <= price_at rows (Inject (first_node (nodes (snd x)))) (slot I (period s) (fst x))).
  { apply Z.max_lub; [now apply price_nonneg|].
    apply low_price with T; trivial. replace (fst x) with (fst x + late I 0)
      by (unfold late; destruct (kind I); lia). pose proof (slot_in I (period s) (fst x) 0 S). lia. }
  assert (B : Z.max 0 (low l (Accept (receiver x)))
    <= price_at rows (Accept (last_node (nodes (snd x))))
         (slot I (period s) (fst x + late I (Z.of_nat (length (hops (nodes (snd x)))) - 1)))).
  { apply Z.max_lub; [now apply price_nonneg|]. apply low_price with T; trivial.
    pose proof (slot_in I (period s) (fst x) (Z.of_nat (length (hops (nodes (snd x)))) - 1) S). lia. }
  assert (D : sum (low_hop I l) (hops (nodes (snd x)))
    <= sum (fun u => price_at rows (fst u) (snd u))
         (channel_uses I (period s) (fst x) (hops (nodes (snd x))))).
  { apply channel_uses_sum with (f := low l); trivial.
    intros q k K. apply low_price with T; trivial. lia. }
  lia.
Qed.

(** In order, and not in time slots, everything is used in the step of the transfer. *)
Lemma pays_in_step I rows T l s x :
  kind I <> TimeSlots -> covers rows T l -> period s <= T -> In x (timed s) ->
  exists i, In i l /\ from i <= fst x <= to i
    /\ pays I rows (period s) x = table_price (prices i) (Inject (sender x))
         + table_price (prices i) (Accept (receiver x))
         + sum (hop_price I (prices i)) (hops (nodes (snd x))).
Proof.
  intros K C L J. pose proof (timed_steps s x J) as S.
  destruct (C (fst x)) as (i & I1 & I2 & E); [lia|]. exists i. repeat split; trivial; try lia.
  unfold pays, uses. simpl sum.
  assert (Q : forall t, slot I (period s) t = t) by (intros; unfold slot; now destruct (kind I)).
  assert (R : forall j, late I j = 0) by (intros; unfold late; now destruct (kind I)).
  rewrite !Q, R, Z.add_0_r, !E. fold (sender x) (receiver x).
  enough (sum (fun u => price_at rows (fst u) (snd u))
    (channel_uses I (period s) (fst x) (hops (nodes (snd x))))
    = sum (hop_price I (prices i)) (hops (nodes (snd x)))) by lia.
  induction (hops (nodes (snd x))) as [|h rest IH]; simpl; [reflexivity|].
  rewrite Q, R, Z.add_0_r, IH, E. reflexivity.
Qed.

(** ** Chains of transfers *)

Fixpoint linked (a : node) (l : list timed_transfer) (v : node) : Prop :=
  match l with
  | [] => a = v
  | x :: rest => sender x = a /\ linked (receiver x) rest v
  end.

Lemma linked_app a l k v w : linked a l v -> linked v k w -> linked a (l ++ k) w.
Proof. revert a. induction l; simpl; intros a' L M; [now subst|]. destruct L. auto. Qed.

Lemma linked_split a l x k v : linked a (l ++ x :: k) v -> linked a (l ++ [x]) (receiver x).
Proof.
  revert a. induction l as [|y l IH]; intros a L; destruct L as [E L]; simpl; split; trivial.
  now apply IH.
Qed.

Lemma distinct_prefix {A} (l k : list A) : NoDup (l ++ k) -> NoDup l.
Proof.
  induction l as [|x l IH]; intros D; [constructor|]. inversion D; subst.
  constructor; [|now apply IH]. intros X. apply H1, in_app_iff. now left.
Qed.

Lemma distinct_snoc {A} (l : list A) x : NoDup l -> ~ In x l -> NoDup (l ++ [x]).
Proof.
  intros D N. induction D as [|y l Y D IH]; simpl; [constructor; [easy|constructor]|].
  constructor.
  - rewrite in_app_iff. intros [?|[->|[]]]; [contradiction|]. apply N. now left.
  - apply IH. intros H. apply N. now right.
Qed.

Lemma chain_exists s m source v :
  reached s m source v ->
  exists l, NoDup l /\ incl l (transfers m s) /\ linked source l v.
Proof.
  induction 1 as [|x J R (l & D & S & L)].
  - exists []. repeat split; [constructor|easy].
  - assert (Dec : {In x l} + {~ In x l}).
    { apply in_dec. decide equality; [|apply Z.eq_dec].
      decide equality; try apply list_eq_dec; apply Pos.eq_dec. }
    destruct Dec as [X|X].
    + apply in_split in X as (l1 & l2 & ->). exists (l1 ++ [x]). repeat split.
      * apply distinct_prefix with l2. now rewrite <- app_assoc.
      * intros y Y. apply S. apply in_app_iff in Y. apply in_app_iff. simpl in *. tauto.
      * now apply linked_split with l2 (sender x).
    + exists (l ++ [x]). repeat split.
      * now apply distinct_snoc.
      * intros y Y. apply in_app_iff in Y as [Y|[<-|[]]]; auto.
      * apply linked_app with (sender x); simpl; auto.
Qed.

Definition is_stop (destinations : list node) (v : node) : bool := existsb (Pos.eqb v) destinations.

Lemma stop_in destinations v : In v destinations -> is_stop destinations v = true.
Proof. intros J. apply existsb_exists. exists v. split; trivial. apply Pos.eqb_refl. Qed.

(** ** What a message pays at least *)

(** In store-and-forward switching: the edges of one hop, at the prices of an interval. *)
Definition everywhere (v : node) : bool := true.

Definition hop_edges (I : instance) (i : interval) : list edge :=
  edges I 1%positive everywhere (fun h => hop_price I (prices i) h
    + table_price (prices i) (Inject (fst h)) + table_price (prices i) (Accept (snd h))).

(** The edges of each step; [k] has the edges of each interval. *)
Definition step_edges (k : list (interval * list edge)) (t : Z) : list edge :=
  flat_map (fun e => if (from (fst e) <=? t) && (t <=? to (fst e)) then snd e else []) k.

Definition all_steps (I : instance) (l : list interval) (T : Z) : list (list edge) :=
  let k := map (fun i => (i, hop_edges I i)) l in map (step_edges k) (steps_from 1 (Z.to_nat T)).

(** The cost of an allowed path from the source to one destination, or less. *)
Definition single_costs (I : instance) (price : hop -> Z) (source d : node) : option (PM.t Z) :=
  match route I with
  | Table by_source next =>
      Some (match table_path by_source next source d with
            | Some p => PM.add d (sum price (hops p)) (start source)
            | None => start source
            end)
  | _ => path_costs I price source
  end.

(** [steps] is [all_steps I l T]; it is the same for all messages. *)
Definition route_costs (I : instance) (l : list interval) (steps : list (list edge))
    (source : node) (destinations : list node) : option (PM.t Z) :=
  match kind I, destinations with
  | StoreAndForward, _ => Some (all_hops steps (start source))
  | _, [d] => single_costs I (low_hop I l) source d
  | _, _ => cheapest I (edges I source (is_stop destinations) (low_hop I l)) source
  end.

(** A message that cannot reach a destination in time pays any sum: there is no schedule. *)
Inductive payment := Never | Pays (amount : Z).

Definition port_prices (I : instance) (l : list interval) (source d : node) : Z :=
  match kind I with
  | StoreAndForward => 0
  | _ => low l (Inject source) + low l (Accept d)
  end.

Fixpoint dearest (I : instance) (l : list interval) (c : PM.t Z) (source : node)
    (destinations : list node) : payment :=
  match destinations with
  | [] => Pays 0
  | d :: rest =>
      match PM.find d c, dearest I l c source rest with
      | Some y, Pays z =>
          Pays (if Pos.eqb d source then z else Z.max z (y + port_prices I l source d))
      | _, _ => Never
      end
  end.

Lemma single_costs_least I price source d c p :
  kind I <> StoreAndForward -> allowed I p -> first_node p = source -> last_node p = d ->
  d <> source -> single_costs I price source d = Some c -> at_most c d (sum price (hops p)).
Proof.
  intros K A F L N Q. unfold single_costs in Q. destruct (route I) as [| |by_source next] eqn:R.
  1, 2: rewrite <- L; exact (path_costs_least I price source c p K A F Q).
  assert (T : table_path by_source next (first_node p) (last_node p) = Some p).
  { unfold allowed in A. rewrite R in A. destruct (kind I); [|contradiction|]; now destruct A. }
  rewrite F, L in T.
  rewrite T in Q. injection Q as <-. exists (sum price (hops p)). rewrite PM.gss.
  split; [reflexivity|lia].
Qed.

(** The source costs nothing. *)
Lemma single_costs_source I price source c :
  single_costs I price source source = Some c -> at_most c source 0.
Proof.
  unfold single_costs, path_costs. destruct (route I) as [| |by_source next]; intros Q.
  - now apply (cheapest_least _ _ _ _ _ _ Q), walk_in_nil.
  - destruct (distances I source); inversion Q. apply all_hops_keeps, start_source.
  - injection Q as <-. unfold table_path.
    assert (E : forall fuel, follow next source source fuel = Some [source])
      by (intros [|? ?]; simpl; now rewrite Pos.eqb_refl).
    rewrite E. destruct by_source; simpl; exists 0; rewrite PM.gss; (split; [trivial|lia]).
Qed.

Lemma dearest_least I l c source destinations z :
  0 <= z ->
  (forall d, In d destinations -> exists y, PM.find d c = Some y
    /\ (d <> source -> y + port_prices I l source d <= z)) ->
  match dearest I l c source destinations with Never => False | Pays y => y <= z end.
Proof.
  intros Z B. induction destinations as [|d rest IH]; simpl; [trivial|].
  destruct (B d (or_introl eq_refl)) as (y & F & Y). rewrite F.
  specialize (IH (fun d D => B d (or_intror D))).
  destruct (dearest I l c source rest) as [|x]; [easy|].
  destruct (Pos.eqb_spec d source) as [E|N]; [trivial|]. specialize (Y N). lia.
Qed.

Section Message.
Variables (I : instance) (s : schedule) (m : positive) (source : node) (destinations : list node).
Hypothesis V : valid I s.
Hypothesis M : PM.find m (messages I) = Some (source, destinations).

Lemma transfer_allowed x : In x (transfers m s) -> allowed I (nodes (snd x)).
Proof. intros J. apply (rule_1 _ _ V). now apply (transfers_timed m). Qed.

(** Every transfer of a message begins where it has been. *)
Lemma sender_reached x : In x (transfers m s) -> reached s m source (sender x).
Proof.
  enough (H : forall n x, (Z.to_nat (fst x) < n)%nat -> In x (transfers m s) ->
    reached s m source (sender x)) by (intros J; apply (H (S (Z.to_nat (fst x)))); [lia|easy]).
  induction n as [|n IH]; [lia|]. intros y L J.
  destruct (rule_3 _ _ V m source destinations M y J) as [N _]. unfold informed in N.
  assert (Q : sender y = source
    \/ (exists z, In z (transfers m s) /\ receiver z = sender y /\ fst z < fst y)
    \/ reached s m source (sender y)) by (destruct (kind I); tauto).
  destruct Q as [->|[(z & Z1 & <- & Z3)|Q]]; [constructor| |trivial].
  apply reached_next; trivial. apply IH; trivial.
  pose proof (timed_steps s z (transfers_timed m s z Z1)). lia.
Qed.

Lemma destination_reached d : In d destinations -> reached s m source d.
Proof.
  intros D. destruct (rule_4_all _ _ V m source destinations M d D) as [<-|R]; [constructor|].
  unfold receivers in R. apply in_map_iff in R as (x & <- & J).
  apply reached_next; trivial. now apply sender_reached.
Qed.

Lemma receiver_of d : In d destinations -> d <> source ->
  exists x, In x (transfers m s) /\ receiver x = d.
Proof.
  intros D N. destruct (rule_4_all _ _ V m source destinations M d D) as [?|R]; [congruence|].
  unfold receivers in R. apply in_map_iff in R as (x & E & J). now exists x.
Qed.

Lemma receiver_is_destination x :
  kind I <> StoreAndForward -> In x (transfers m s) -> In (receiver x) destinations.
Proof.
  intros K J. destruct (rule_3 _ _ V m source destinations M x J) as [_ R].
  unfold may_receive in R. destruct (kind I); trivial; contradiction.
Qed.

Variables (rows : list row) (T : Z) (l : list interval).
Hypothesis C : covers rows T l.
Hypothesis L : period s <= T.
Hypothesis P : forall r, In r rows -> 0 <= price r.

Lemma chain_pays k : NoDup k -> incl k (transfers m s) ->
  sum (pays I rows (period s)) k <= message_pays I rows s m.
Proof. intros D S. apply sum_incl; trivial. intros. now apply pays_nonneg. Qed.

(** ** Wormhole switching and time slots *)

(** The hops of linked transfers are a walk that stops at destinations. *)
Lemma linked_walk k a v :
  kind I <> StoreAndForward -> incl k (transfers m s) -> linked a k v ->
  (a = source \/ In a destinations) ->
  walk_in (edges I source (is_stop destinations) (low_hop I l)) a v
    (sum (fun x => sum (low_hop I l) (hops (nodes (snd x)))) k).
Proof.
  intros K. revert a. induction k as [|x k IH]; intros a S Q O; simpl in Q |- *.
  - subst. constructor.
  - destruct Q as [E Q]. assert (J : In x (transfers m s)) by (apply S; now left).
    pose proof (allowed_simple I _ K (transfer_allowed x J)) as X.
    assert (W : walk_in (edges I source (is_stop destinations) (low_hop I l)) a (receiver x)
      (sum (low_hop I l) (hops (nodes (snd x))))).
    { unfold sender, receiver in *. destruct (nodes (snd x)) as [|b rest] eqn:N.
      - destruct X as [X _]. simpl in X. lia.
      - unfold first_node in E. simpl in E. subst b.
        apply simple_walk with (pre := []); trivial. right.
        destruct O as [->|O]; [now left|right; now apply stop_in]. }
    assert (R : walk_in (edges I source (is_stop destinations) (low_hop I l)) (receiver x) v
      (sum (fun x => sum (low_hop I l) (hops (nodes (snd x)))) k)).
    { apply IH; trivial.
      - intros y Y. apply S. now right.
      - right. now apply receiver_is_destination. }
    clear -W R. induction W as [|a b v' w z E W IH]; trivial.
    rewrite <- Z.add_assoc. apply walk_in_step with b; auto.
Qed.

Lemma chain_bound k a v :
  k <> [] -> incl k (transfers m s) -> linked a k v ->
  Z.max 0 (low l (Inject a)) + sum (fun x => sum (low_hop I l) (hops (nodes (snd x)))) k
    + Z.max 0 (low l (Accept v))
  <= sum (pays I rows (period s)) k.
Proof.
  intros N S Q. assert (B : forall x, In x k ->
    Z.max 0 (low l (Inject (sender x))) + Z.max 0 (low l (Accept (receiver x)))
      + sum (low_hop I l) (hops (nodes (snd x))) <= pays I rows (period s) x).
  { intros x X. apply pays_low with T; trivial. now apply (transfers_timed m), S. }
  clear S. revert a Q N. induction k as [|x k IH]; intros a Q N; [easy|]. destruct Q as [E Q].
  pose proof (B x (or_introl eq_refl)) as X. rewrite E in X. simpl sum.
  destruct k as [|y k].
  - simpl in *. subst. lia.
  - specialize (IH (fun z Z => B z (or_intror Z)) (receiver x) Q ltac:(easy)).
    simpl sum in IH |- *. lia.
Qed.

(** One destination: the message takes an allowed path from the source to it. *)
Lemma one_destination d c :
  kind I <> StoreAndForward -> destinations = [d] -> d <> source ->
  single_costs I (low_hop I l) source d = Some c ->
  exists y, PM.find d c = Some y
    /\ low l (Inject source) + y + low l (Accept d) <= message_pays I rows s m.
Proof.
  intros K E N Q. destruct (receiver_of d) as (x & J & R); trivial.
  { rewrite E. now left. }
  pose proof (transfer_allowed x J) as A.
  assert (F : sender x = source).
  { pose proof (sender_reached x J) as W. remember (sender x) as b eqn:B.
    destruct W as [|y Y _]; trivial. exfalso. pose proof (receiver_is_destination y K Y) as H. rewrite E in H.
    destruct H as [H|[]]. apply (simple_ends I _ (allowed_simple I _ K A)).
    change (receiver x = sender x). congruence. }
  destruct (single_costs_least I (low_hop I l) source d c (nodes (snd x)) K A F R N Q)
    as (y & Y1 & Y2). exists y. split; trivial.
  assert (B : Z.max 0 (low l (Inject source))
    + sum (fun x => sum (low_hop I l) (hops (nodes (snd x)))) [x]
    + Z.max 0 (low l (Accept d)) <= sum (pays I rows (period s)) [x]).
  { apply chain_bound; [easy| |simpl; auto]. intros z [<-|[]]; trivial. }
  assert (D : sum (pays I rows (period s)) [x] <= message_pays I rows s m).
  { apply chain_pays; [constructor; [easy|constructor]|]. intros z [<-|[]]; trivial. }
  simpl in B, D |- *. lia.
Qed.

(** Several destinations: chains of paths that stop at destinations. *)
Lemma some_destination d c :
  kind I <> StoreAndForward -> In d destinations -> d <> source ->
  cheapest I (edges I source (is_stop destinations) (low_hop I l)) source = Some c ->
  exists y, PM.find d c = Some y
    /\ low l (Inject source) + y + low l (Accept d) <= message_pays I rows s m.
Proof.
  intros K D N Q.
  destruct (chain_exists s m source d (destination_reached d D)) as (k & K1 & K2 & K3).
  destruct (cheapest_least _ _ _ _ _ _ Q
    (linked_walk k source d K K2 K3 (or_introl eq_refl))) as (y & Y1 & Y2).
  exists y. split; trivial.
  assert (B : Z.max 0 (low l (Inject source))
    + sum (fun x => sum (low_hop I l) (hops (nodes (snd x)))) k
    + Z.max 0 (low l (Accept d)) <= sum (pays I rows (period s)) k).
  { apply chain_bound; trivial. intros ->. simpl in K3. congruence. }
  pose proof (chain_pays k K1 K2). lia.
Qed.

(** ** Store-and-forward switching: a hop per step *)

Definition costs_after (n : nat) : PM.t Z :=
  all_hops (all_steps I l (Z.of_nat n)) (start source).

Lemma steps_from_snoc n t : steps_from t (S n) = steps_from t n ++ [t + Z.of_nat n].
Proof.
  revert t. induction n as [|n IH]; intros t; [simpl; now rewrite Z.add_0_r|].
  change (steps_from t (S (S n))) with (t :: steps_from (t + 1) (S n)). rewrite IH.
  simpl. do 3 f_equal. lia.
Qed.

Lemma all_hops_app k k' c : all_hops (k ++ k') c = all_hops k' (all_hops k c).
Proof. revert c. induction k; simpl; trivial. Qed.

Lemma costs_next n : costs_after (S n) = one_hop
  (step_edges (map (fun i => (i, hop_edges I i)) l) (1 + Z.of_nat n)) (costs_after n).
Proof.
  unfold costs_after, all_steps. rewrite !Nat2Z.id, steps_from_snoc, map_app, all_hops_app.
  reflexivity.
Qed.

Lemma costs_keep n k v y : (n <= k)%nat -> at_most (costs_after n) v y ->
  at_most (costs_after k) v y.
Proof.
  induction 1; trivial. intros A. rewrite costs_next. apply one_hop_keeps. auto.
Qed.

Lemma source_cost n : at_most (costs_after n) source 0.
Proof. apply costs_keep with O; [lia|]. apply start_source. Qed.

(** One more transfer costs at most what it pays. *)
Lemma hop_cost x y : kind I = StoreAndForward -> In x (transfers m s) ->
  at_most (costs_after (Z.to_nat (fst x - 1))) (sender x) y ->
  at_most (costs_after (Z.to_nat (fst x))) (receiver x) (y + pays I rows (period s) x).
Proof.
  intros K J A. pose proof (transfers_timed m s x J) as H.
  pose proof (timed_steps s x H) as B.
  destruct (pays_in_step I rows T l s x) as (i & I1 & I2 & E); trivial; [congruence|].
  pose proof (transfer_allowed x J) as Q. unfold allowed in Q. rewrite K in Q.
  destruct Q as (Q1 & _ & Q3). unfold sender, receiver in *.
  destruct (nodes (snd x)) as [|a [|b [|? ?]]]; try discriminate Q1.
  unfold first_node, last_node in *. simpl in A, E, Q3 |- *.
  destruct (Q3 a b (or_introl eq_refl)) as [c C'].
  replace (Z.to_nat (fst x)) with (S (Z.to_nat (fst x - 1))) by lia. rewrite costs_next.
  replace (1 + Z.of_nat (Z.to_nat (fst x - 1))) with (fst x) by lia.
  apply one_hop_new with a; trivial. apply in_flat_map. exists (i, hop_edges I i). split.
  - apply in_map_iff. now exists i.
  - simpl. replace ((from i <=? fst x) && (fst x <=? to i)) with true
      by (symmetry; apply andb_true_iff; split; apply Z.leb_le; lia).
    unfold hop_edges.
    set (price := fun h : hop => hop_price I (prices i) h
      + table_price (prices i) (Inject (fst h)) + table_price (prices i) (Accept (snd h))).
    replace (pays I rows (period s) x) with (price (a, b)) by (unfold price; simpl; lia).
    apply in_edges with c; trivial. now right; right.
Qed.

Lemma timed_chain x : kind I = StoreAndForward -> In x (transfers m s) ->
  exists k, NoDup k /\ incl k (transfers m s) /\ (forall y, In y k -> fst y <= fst x)
    /\ at_most (costs_after (Z.to_nat (fst x))) (receiver x) (sum (pays I rows (period s)) k).
Proof.
  intros K. enough (H : forall n x, (Z.to_nat (fst x) < n)%nat -> In x (transfers m s) ->
    exists k, NoDup k /\ incl k (transfers m s) /\ (forall y, In y k -> fst y <= fst x)
      /\ at_most (costs_after (Z.to_nat (fst x))) (receiver x) (sum (pays I rows (period s)) k))
    by (apply (H (S (Z.to_nat (fst x)))); lia).
  clear x. induction n as [|n IH]; [lia|]. intros x B J.
  pose proof (timed_steps s x (transfers_timed m s x J)) as B'.
  destruct (rule_3 _ _ V m source destinations M x J) as [N _]. unfold informed in N.
  rewrite K in N. destruct N as [N|(y & Y1 & Y2 & Y3)].
  - exists [x]. repeat split.
    + constructor; [easy|constructor].
    + intros z [<-|[]]; trivial.
    + intros z [<-|[]]; lia.
    + simpl sum. rewrite Z.add_0_r, <- (Z.add_0_l (pays _ _ _ _)). apply hop_cost; trivial.
      rewrite N. apply source_cost.
  - pose proof (timed_steps s y (transfers_timed m s y Y1)) as B''.
    destruct (IH y) as (k & K1 & K2 & K3 & K4); [lia|trivial|]. exists (k ++ [x]). repeat split.
    + apply distinct_snoc; trivial. intros X. apply K3 in X. lia.
    + intros z Z. apply in_app_iff in Z as [Z|[<-|[]]]; auto.
    + intros z Z. apply in_app_iff in Z as [Z|[<-|[]]]; [apply K3 in Z; lia|lia].
    + rewrite sum_app. simpl sum. rewrite Z.add_0_r. apply hop_cost; trivial.
      rewrite <- Y2. apply costs_keep with (Z.to_nat (fst y)); [lia|trivial].
Qed.

Lemma hop_by_hop d : kind I = StoreAndForward -> In d destinations -> d <> source ->
  at_most (all_hops (all_steps I l T) (start source)) d (message_pays I rows s m).
Proof.
  intros K D N. destruct (receiver_of d D N) as (x & J & <-).
  destruct (timed_chain x K J) as (k & K1 & K2 & _ & A).
  pose proof (timed_steps s x (transfers_timed m s x J)) as B'.
  apply (costs_keep _ (Z.to_nat T)) in A; [|lia]. unfold costs_after in A.
  rewrite Z2Nat.id in A by lia. destruct A as (y & F & Y). exists y. split; trivial.
  pose proof (chain_pays k K1 K2). lia.
Qed.

(** ** The theorem *)

Theorem routes_pay c :
  route_costs I l (all_steps I l T) source destinations = Some c ->
  match dearest I l c source destinations with
  | Never => False
  | Pays y => y <= message_pays I rows s m
  end.
Proof.
  intros Q.
  assert (Z : 0 <= message_pays I rows s m)
    by (apply sum_nonneg; intros; now apply pays_nonneg).
  assert (B : forall d, In d destinations -> exists y, PM.find d c = Some y
    /\ (d <> source -> y + port_prices I l source d <= message_pays I rows s m)).
  { intros d D. unfold route_costs, port_prices in *.
    destruct (Pos.eq_dec d source) as [->|N].
    - enough (A : exists y, at_most c source y) by (destruct A as (y & z & F & _); now exists z).
      exists 0. destruct (kind I) eqn:K.
      + destruct destinations as [|d1 [|d2 rest]]; try easy.
        * destruct D as [->|[]]. now apply (single_costs_source I (low_hop I l)).
        * now apply (cheapest_least _ _ _ _ _ _ Q), walk_in_nil.
      + inversion Q. apply all_hops_keeps, start_source.
      + destruct destinations as [|d1 [|d2 rest]]; try easy.
        * destruct D as [->|[]]. now apply (single_costs_source I (low_hop I l)).
        * now apply (cheapest_least _ _ _ _ _ _ Q), walk_in_nil.
    - destruct (kind I) eqn:K.
      2: { inversion Q. destruct (hop_by_hop d K D N) as (y & F & Y). exists y.
           split; trivial. lia. }
      all: assert (K' : kind I <> StoreAndForward) by congruence;
        assert (O : destinations = [d] \/ cheapest I
          (edges I source (is_stop destinations) (low_hop I l)) source = Some c)
          by (destruct destinations as [|d1 [|d2 rest]]; try easy; [|now right];
              left; destruct D as [->|[]]; reflexivity);
        destruct O as [O|O].
      1, 3: rewrite O in Q; destruct (one_destination d c K' O N Q) as (y & F & Y);
        exists y; split; trivial; lia.
      all: destruct (some_destination d c K' D N O) as (y & F & Y); exists y; split; trivial; lia. }
  now apply dearest_least.
Qed.

End Message.
