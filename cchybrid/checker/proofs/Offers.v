(** Rows of prices as evidence gives them, what they offer, and intervals of equal prices.

    [make_row] gives a row of Prices.v its place and its capacity; it is proved that no valid
    schedule uses a place more often than that ([make_row_sized]), that all messages together pay
    at most what all steps offer ([paid_at_most_offered]), and that the computed intervals have
    the prices of every step ([make_intervals_cover]). *)

Require Import ZArith List Bool Lia FMapPositive SetoidList.
Require Import Model Plain Sums Facts Prices.
Import ListNotations.
Open Scope Z_scope.

(** ** Capacities of channels and ports *)

(** The capacity of all channels from a node. *)
Definition outgoing (I : instance) (v : node) : Z := sum snd (neighbours I v).

Definition add_capacity (m : PM.t Z) (next : node * Z) : PM.t Z :=
  PM.add (fst next) (found m (fst next) + snd next) m.

(** The capacity of all channels to each node. *)
Definition incoming (I : instance) : PM.t Z :=
  fold_left (fun m each => fold_left add_capacity (snd each) m)
    (PM.elements (adjacent I)) (PM.empty Z).

Definition port (limits : PM.t Z) (v : node) (flow : Z) : Z :=
  match PM.find v limits with Some k => Z.min k flow | None => flow end.

(** The capacity of a channel or a port; [into] is [incoming I]. *)
Definition capacity (I : instance) (into : PM.t Z) (q : resource) : option Z :=
  match q with
  | Channel (a, b) => look b (neighbours I a)
  | Inject v => Some (port (injects I) v (outgoing I v))
  | Accept v => Some (port (accepts I) v (found into v))
  end.

Definition counted_place (I : instance) (q : resource) : resource :=
  match q with Channel h => Channel (link I h) | _ => q end.

(** A row from a place, the first and the last step, and the price; [into] is [incoming I]. *)
Definition make_row (I : instance) (into : PM.t Z) (q : resource) (first last price : Z)
    : option row :=
  match capacity I into q with
  | Some c =>
      if (0 <=? c) && (0 <=? price) && (1 <=? first)
      then Some {| place := counted_place I q; size := c;
                   first := first; last := last; price := price |}
      else None
  | None => None
  end.

(** No step has a negative number of rounds. *)
Definition rounds_fit (I : instance) : bool := forallb (Z.leb 0) (rounds I).

(** ** Counting uses *)

Lemma count_flat_map {A B} (f : B -> bool) (g : A -> list B) l :
  count f (flat_map g l) = sum (fun x => count f (g x)) l.
Proof.
  rewrite count_sum, sum_flat_map. apply sum_ext. intros. now rewrite count_sum.
Qed.

Lemma count_nonneg {A} (f : A -> bool) l : 0 <= count f l.
Proof. unfold count. lia. Qed.

Lemma count_in {A} (f : A -> bool) l x : In x l -> f x = true -> 1 <= count f l.
Proof.
  intros I F. rewrite count_sum.
  pose proof (sum_single (fun y => if f y then 1 else 0) l x I) as H. cbv beta in H.
  rewrite F in H. apply H. intros y _. destruct (f y); lia.
Qed.

Lemma resource_eqb_refl q : resource_eqb q q = true.
Proof. destruct q; simpl; unfold hop_eqb; now rewrite ?Pos.eqb_refl. Qed.

Lemma resource_eqb_eq q r : resource_eqb q r = true -> q = r.
Proof.
  destruct q as [[a b]|v|v], r as [[c d]|w|w]; simpl; try discriminate; unfold hop_eqb; simpl.
  - intros H. apply andb_true_iff in H as [H K]. apply Pos.eqb_eq in H, K. congruence.
  - intros H. apply Pos.eqb_eq in H. congruence.
  - intros H. apply Pos.eqb_eq in H. congruence.
Qed.

Lemma used_sum I s r t :
  used I s r t = sum (fun x => count (is_use r t) (uses I (period s) x)) (timed s).
Proof. apply count_flat_map. Qed.

(** The last hop of a path is used in the step in which the last node accepts. *)
Lemma channel_uses_last I P l h t :
  In (Channel (link I h), slot I P (t + late I (Z.of_nat (length l))))
    (channel_uses I P t (l ++ [h])).
Proof.
  revert t. induction l as [|g l IH]; intros t; simpl app; simpl channel_uses.
  - left. do 2 f_equal. unfold late. destruct (kind I); simpl; lia.
  - right. specialize (IH (t + late I 1)).
    replace (t + late I (Z.of_nat (length (g :: l))))
      with (t + late I 1 + late I (Z.of_nat (length l))); [exact IH|].
    unfold late. destruct (kind I); simpl length; lia.
Qed.

Lemma hops_last p : (2 <= length p)%nat ->
  exists l a, hops p = l ++ [(a, last_node p)].
Proof.
  unfold last_node. induction p as [|a p IH]; simpl; [lia|].
  destruct p as [|b p]; simpl; [lia|]. intros _. destruct p as [|c p].
  - exists [], a. reflexivity.
  - destruct IH as (l & d & E); [simpl; lia|]. exists ((a, b) :: l), d.
    change (List.last (b :: c :: p) 1%positive) with (List.last (c :: p) 1%positive) in E.
    simpl in E |- *. now rewrite E.
Qed.

Lemma allowed_length I p : allowed I p -> (2 <= length p)%nat.
Proof. unfold allowed, simple. destruct (kind I); intuition lia. Qed.

Lemma allowed_channel I p a b : allowed I p -> In (a, b) (hops p) -> exists c, channel I a b c.
Proof. unfold allowed, simple. destruct (kind I); intuition eauto. Qed.

Lemma count_injects I P x v t :
  allowed I (nodes (snd x)) ->
  count (is_use (Inject v) t) (uses I P x)
  <= sum (fun next => count (is_use (Channel (link I (v, fst next))) t) (uses I P x))
       (neighbours I v).
Proof.
  intros A. unfold uses at 1. set (l := hops (nodes (snd x))).
  assert (N : forall l t', count (is_use (Inject v) t) (channel_uses I P t' l) = 0).
  { unfold count. intros k. induction k as [|h k IH]; intros; simpl; [reflexivity|]. apply IH. }
  assert (M : forall w t', is_use (Inject v) t (Accept w, t') = false) by reflexivity.
  rewrite count_sum. cbn [sum]. rewrite <- count_sum, N, M.
  destruct (is_use (Inject v) t (Inject (first_node (nodes (snd x))), slot I P (fst x))) eqn:E.
  2: apply sum_nonneg; intros; apply count_nonneg.
  unfold is_use in E. cbn [fst snd resource_eqb] in E. apply andb_true_iff in E as [E F].
  apply Pos.eqb_eq in E. apply Z.eqb_eq in F.
  pose proof (allowed_length _ _ A) as L.
  pose proof (allowed_channel I (nodes (snd x))) as C.
  destruct (nodes (snd x)) as [|a [|b p]] eqn:Q; simpl in L; try lia.
  destruct (C a b A) as (c & H); [now left|].
  simpl in E. subst a. apply Z.le_trans with
    (count (is_use (Channel (link I (v, b))) t) (uses I P x)).
  - apply count_in with (Channel (link I (v, b)), slot I P (fst x)).
    + unfold uses. rewrite Q. do 2 right. now left.
    + unfold is_use. cbn [fst snd]. rewrite resource_eqb_refl, F. now rewrite Z.eqb_refl.
  - apply (sum_single (fun next => count (is_use (Channel (link I (v, fst next))) t) (uses I P x))
      (neighbours I v) (b, c)); [exact H|]. intros. apply count_nonneg.
Qed.

Definition all_channels (I : instance) : list (node * (node * Z)) :=
  flat_map (fun each => map (pair (fst each)) (snd each)) (PM.elements (adjacent I)).

Lemma all_channels_in I a b c : In (a, (b, c)) (all_channels I) <-> channel I a b c.
Proof.
  unfold all_channels, channel, neighbours. rewrite in_flat_map. split.
  - intros ((a', l) & E & M). apply PM.elements_complete in E. simpl in M.
    apply in_map_iff in M as (y & Y & M). inversion Y; subst. now rewrite E.
  - destruct (PM.find a (adjacent I)) as [l|] eqn:E; [|easy]. intros M.
    exists (a, l). split; [now apply PM.elements_correct|]. simpl. now apply in_map.
Qed.

Definition into_node (v : node) (each : node * (node * Z)) : bool := Pos.eqb v (fst (snd each)).

Lemma count_accepts I P x v t :
  allowed I (nodes (snd x)) ->
  count (is_use (Accept v) t) (uses I P x)
  <= sum (fun each => count (is_use (Channel (link I (fst each, v))) t) (uses I P x))
       (filter (into_node v) (all_channels I)).
Proof.
  intros A. unfold uses at 1. set (l := hops (nodes (snd x))).
  assert (N : forall l t', count (is_use (Accept v) t) (channel_uses I P t' l) = 0).
  { unfold count. intros k. induction k as [|h k IH]; intros; simpl; [reflexivity|]. apply IH. }
  assert (M : forall w t', is_use (Accept v) t (Inject w, t') = false) by reflexivity.
  rewrite count_sum. cbn [sum]. rewrite <- count_sum, N, M.
  destruct (is_use (Accept v) t _) eqn:E.
  2: apply sum_nonneg; intros; apply count_nonneg.
  unfold is_use in E. cbn [fst snd resource_eqb] in E. apply andb_true_iff in E as [E F].
  apply Pos.eqb_eq in E. apply Z.eqb_eq in F.
  destruct (hops_last _ (allowed_length _ _ A)) as (k & a & Q).
  destruct (allowed_channel I (nodes (snd x)) a v A) as (c & H).
  { rewrite Q, <- E. apply in_or_app. right. now left. }
  apply Z.le_trans with (count (is_use (Channel (link I (a, v))) t) (uses I P x)).
  - apply count_in with (Channel (link I (a, v)), t).
    + unfold uses. do 2 right. rewrite Q, <- E.
      subst l. rewrite Q, app_length in F. simpl length in F.
      replace (Z.of_nat (length k + 1) - 1) with (Z.of_nat (length k)) in F by lia.
      rewrite F. apply channel_uses_last.
    + unfold is_use. cbn [fst snd]. now rewrite resource_eqb_refl, Z.eqb_refl.
  - apply (sum_single (fun each => count (is_use (Channel (link I (fst each, v))) t) (uses I P x))
      _ (a, (v, c))).
    + apply filter_In. split; [now apply all_channels_in|]. apply Pos.eqb_refl.
    + intros. apply count_nonneg.
Qed.

(** ** The computed capacities hold *)

Lemma found_add_capacity m next v :
  found (add_capacity m next) v = found m v + if Pos.eqb v (fst next) then snd next else 0.
Proof.
  unfold add_capacity, found. destruct (Pos.eqb_spec v (fst next)) as [->|N].
  - now rewrite PM.gss.
  - rewrite PM.gso by trivial. lia.
Qed.

Lemma found_add_capacities l m v :
  found (fold_left add_capacity l m) v
  = found m v + sum (fun next => if Pos.eqb v (fst next) then snd next else 0) l.
Proof.
  revert m. induction l as [|a l IH]; intros; cbn [fold_left sum]; [lia|].
  rewrite IH, found_add_capacity. now rewrite Z.add_assoc.
Qed.

(** The incoming capacity of a node is the sum over its incoming channels. *)
Lemma found_incoming I v :
  found (incoming I) v = sum (fun each => snd (snd each)) (filter (into_node v) (all_channels I)).
Proof.
  rewrite sum_filter. unfold all_channels. rewrite sum_flat_map. unfold incoming.
  assert (H : forall l m,
    found (fold_left (fun m each => fold_left add_capacity (snd each) m) l m) v
    = found m v + sum (fun each : node * list (node * Z) =>
        sum (fun c : node * (node * Z) => if into_node v c then snd (snd c) else 0)
          (map (pair (fst each)) (snd each))) l).
  { induction l as [|a l IH]; intros; simpl; [lia|].
    rewrite IH, found_add_capacities, sum_map. cbv [into_node fst snd].
    rewrite Z.add_assoc. reflexivity. }
  rewrite H. unfold found. rewrite PM.gempty. reflexivity.
Qed.

Lemma injected_at_most I s v t :
  valid I s -> 1 <= t <= period s ->
  used I s (Inject v) t <= in_step I t (outgoing I v).
Proof.
  intros V T. rewrite used_sum.
  apply Z.le_trans with (sum (fun x => sum (fun next =>
    count (is_use (Channel (link I (v, fst next))) t) (uses I (period s) x))
    (neighbours I v)) (timed s)).
  - apply sum_le. intros x X. apply count_injects. now apply (rule_1 I s V).
  - rewrite sum_swap. unfold outgoing, in_step. rewrite Z.mul_comm, <- sum_scale.
    apply sum_le. intros [b c] C. rewrite <- used_sum.
    destruct (rule_2 I s V t T) as [H _]. specialize (H v b c C).
    unfold in_step in H. simpl in *. lia.
Qed.

Lemma accepted_at_most I s v t :
  valid I s -> 1 <= t <= period s ->
  used I s (Accept v) t <= in_step I t (found (incoming I) v).
Proof.
  intros V T. rewrite used_sum, found_incoming.
  apply Z.le_trans with (sum (fun x => sum (fun each =>
    count (is_use (Channel (link I (fst each, v))) t) (uses I (period s) x))
    (filter (into_node v) (all_channels I))) (timed s)).
  - apply sum_le. intros x X. apply count_accepts. now apply (rule_1 I s V).
  - rewrite sum_swap. unfold in_step. rewrite Z.mul_comm, <- sum_scale.
    apply sum_le. intros [a [b c]] C. rewrite <- used_sum.
    apply filter_In in C as [C E]. apply Pos.eqb_eq in E. simpl in E. subst b.
    apply all_channels_in in C.
    destruct (rule_2 I s V t T) as [H _]. specialize (H a v c C).
    unfold in_step in H. simpl in *. lia.
Qed.

(** No valid schedule uses a place more often than the capacity says. *)
Lemma capacity_holds I s q c t :
  valid I s -> capacity I (incoming I) q = Some c -> 1 <= t <= period s ->
  used I s (counted_place I q) t <= in_step I t c.
Proof.
  intros V C T. destruct (rule_2 I s V t T) as (H1 & H2 & H3).
  destruct q as [[a b]|v|v]; cbn [capacity counted_place] in *.
  - apply H1. now apply look_in.
  - pose proof (injected_at_most I s v t V T). injection C as <-. unfold port.
    destruct (PM.find v (injects I)) as [k|] eqn:E; [|trivial].
    destruct (Z.min_spec k (outgoing I v)) as [[_ ->]|[_ ->]]; auto.
  - pose proof (accepted_at_most I s v t V T). injection C as <-. unfold port.
    destruct (PM.find v (accepts I)) as [k|] eqn:E; [|trivial].
    destruct (Z.min_spec k (found (incoming I) v)) as [[_ ->]|[_ ->]]; auto.
Qed.

(** A row that [make_row] gives has a capacity that holds in every valid schedule. *)
Theorem make_row_sized I q a b p r s :
  make_row I (incoming I) q a b p = Some r -> valid I s -> sized I s r.
Proof.
  unfold make_row. destruct (capacity I (incoming I) q) as [c|] eqn:E; [|discriminate].
  destruct ((0 <=? c) && (0 <=? p) && (1 <=? a)) eqn:B; [|discriminate].
  intros [= <-] V. unfold sized. simpl.
  apply andb_true_iff in B as [B _]. apply andb_true_iff in B as [B1 B2].
  apply Z.leb_le in B1, B2. repeat split; trivial. intros. now apply capacity_holds.
Qed.

(** What [make_row] was given stands in the row. *)
Lemma make_row_fields I into q a b p r :
  make_row I into q a b p = Some r ->
  place r = counted_place I q /\ first r = a /\ Prices.last r = b /\ price r = p
  /\ 0 <= p /\ 1 <= a.
Proof.
  unfold make_row. destruct (capacity I into q) as [c|] eqn:E; [|discriminate].
  destruct ((0 <=? c) && (0 <=? p) && (1 <=? a)) eqn:B; [|discriminate].
  intros [= <-]. simpl. apply andb_true_iff in B as [B B3]. apply andb_true_iff in B as [B1 B2].
  apply Z.leb_le in B2, B3. repeat split; trivial.
Qed.

(** ** Steps of uses *)

Lemma slot_range I P t : 1 <= P -> (kind I = TimeSlots \/ 1 <= t <= P) -> 1 <= slot I P t <= P.
Proof.
  unfold slot. intros L [E|H].
  - rewrite E. pose proof (Z.mod_pos_bound (t - 1) P). lia.
  - destruct (kind I); trivial. pose proof (Z.mod_pos_bound (t - 1) P). lia.
Qed.

Lemma channel_uses_steps I P l t u :
  1 <= P -> (kind I = TimeSlots \/ 1 <= t <= P) ->
  In u (channel_uses I P t l) -> 1 <= snd u <= P.
Proof.
  intros L. revert t. induction l as [|h l IH]; simpl; [easy|]. intros t H [<-|K].
  - now apply slot_range.
  - apply IH in K; trivial. destruct H as [H|H]; [now left|].
    destruct (kind I) eqn:E; [right|right|now left]; unfold late; rewrite E; lia.
Qed.

(** Every use lies in a step from 1 to the period. *)
Lemma all_uses_steps I s u : In u (all_uses I s) -> 1 <= snd u <= period s.
Proof.
  unfold all_uses. rewrite in_flat_map. intros (x & X & U).
  apply timed_steps in X as T. unfold uses in U.
  assert (forall t i, t = fst x + late I i -> kind I = TimeSlots \/ 1 <= t <= period s) as R.
  { intros t i ->. unfold late. destruct (kind I); [right|right|now left]; lia. }
  destruct U as [<-|[<-|U]].
  - apply slot_range; [lia|right; lia].
  - apply slot_range; [lia|]. eapply R. reflexivity.
  - eapply channel_uses_steps; [| |exact U]; [lia|right; lia].
Qed.

Lemma in_steps_from t n k : In k (steps_from t n) <-> t <= k < t + Z.of_nat n.
Proof.
  revert t. induction n as [|n IH]; intros; simpl; [lia|]. rewrite IH. lia.
Qed.

Lemma steps_from_app t n k :
  steps_from t (n + k) = steps_from t n ++ steps_from (t + Z.of_nat n) k.
Proof.
  revert t. induction n as [|n IH]; intros; simpl.
  - f_equal. lia.
  - f_equal. rewrite IH. do 2 f_equal. lia.
Qed.

Lemma rounds_nonneg I t : rounds_fit I = true -> 0 <= rounds_at (rounds I) t.
Proof.
  unfold rounds_fit. revert t. induction (rounds I) as [|r l IH]; simpl; [lia|]. intros t H.
  apply andb_true_iff in H as [H K]. apply Z.leb_le in H.
  destruct l; [trivial|]. destruct (t <=? 1); [trivial|]. now apply IH.
Qed.

(** ** All messages pay at most what is offered *)

Lemma sum_of_key (l : list positive) (k : positive) (c : Z) :
  NoDup l -> 0 <= c -> sum (fun m => if Pos.eqb m k then c else 0) l <= c.
Proof.
  intros D C. induction D as [|m l N D IH]; simpl; [lia|].
  destruct (Pos.eqb_spec m k) as [->|]; [|lia].
  enough (sum (fun m => if Pos.eqb m k then c else 0) l = 0) by lia.
  transitivity (sum (fun _ : positive => 0) l); [|apply sum_zero].
  apply sum_ext. intros x X. destruct (Pos.eqb_spec x k); [subst; contradiction|reflexivity].
Qed.

Lemma row_offers I s T r :
  rounds_fit I = true -> period s <= T -> sized I s r ->
  sum (fun u => if active (snd u) r && resource_eqb (place r) (fst u) then price r else 0)
    (all_uses I s) <= offer I T r.
Proof.
  intros R L (P & S & U). set (P' := Z.to_nat (period s)).
  apply Z.le_trans with (sum (fun u => sum (fun t =>
    if active t r && is_use (place r) t u then price r else 0) (steps_from 1 P')) (all_uses I s)).
  - apply sum_le. intros u H. apply all_uses_steps in H.
    pose proof (sum_single
      (fun t => if active t r && is_use (place r) t u then price r else 0)
      (steps_from 1 P') (snd u)) as Q. cbv beta in Q.
    assert (is_use (place r) (snd u) u = resource_eqb (place r) (fst u)) as W.
    { unfold is_use. now rewrite Z.eqb_refl, andb_true_r. }
    rewrite W in Q. apply Q.
    + apply in_steps_from. unfold P'. lia.
    + intros t _. destruct (active t r && is_use (place r) t u); lia.
  - rewrite sum_swap. unfold offer. rewrite <- sum_scale.
    replace (Z.to_nat T) with (P' + Z.to_nat (T - period s))%nat
      by (unfold P', period in *; lia).
    rewrite steps_from_app, sum_app.
    assert (0 <= sum (fun t => price r * (if active t r then in_step I t (size r) else 0))
      (steps_from (1 + Z.of_nat P') (Z.to_nat (T - period s)))) as N.
    { apply sum_nonneg. intros t _. apply Z.mul_nonneg_nonneg; trivial.
      destruct (active t r); [|lia]. apply Z.mul_nonneg_nonneg; trivial. now apply rounds_nonneg. }
    enough (sum (fun t => sum (fun u =>
        if active t r && is_use (place r) t u then price r else 0) (all_uses I s))
        (steps_from 1 P')
      <= sum (fun t => price r * (if active t r then in_step I t (size r) else 0))
        (steps_from 1 P')) by lia.
    apply sum_le. intros t H. apply in_steps_from in H. unfold P' in H.
    destruct (active t r); cbn [andb].
    + apply Z.le_trans with (price r * used I s (place r) t).
      * unfold used. rewrite count_sum, <- sum_scale. apply Z.eq_le_incl, sum_ext.
        intros u _. destruct (is_use (place r) t u); lia.
      * apply Z.mul_le_mono_nonneg_l; trivial. apply U. lia.
    + rewrite sum_zero. lia.
Qed.

(** All transfers together pay at most what [T] steps offer. *)
Lemma transfers_pay_at_most_offered I s T rows :
  rounds_fit I = true -> period s <= T -> (forall r, In r rows -> sized I s r) ->
  sum (pays I rows (period s)) (timed s) <= offered I T rows.
Proof.
  intros R L H. unfold pays. rewrite <- sum_flat_map. fold (all_uses I s).
  unfold price_at. rewrite sum_swap. apply sum_le. intros r Q. now apply row_offers; auto.
Qed.

(** All messages together pay at most what [T] steps offer. *)
Theorem paid_at_most_offered I s T rows :
  rounds_fit I = true -> period s <= T -> (forall r, In r rows -> sized I s r) ->
  sum (message_pays I rows s) (map fst (PM.elements (messages I))) <= offered I T rows.
Proof.
  intros R L H. apply Z.le_trans with (sum (pays I rows (period s)) (timed s)).
  - unfold message_pays, transfers.
    rewrite (sum_ext _ (fun m => sum (fun x =>
      if of_message m x then pays I rows (period s) x else 0) (timed s)))
      by (intros; apply sum_filter).
    rewrite sum_swap. apply sum_le. intros x _.
    apply (sum_of_key _ (message (snd x)) (pays I rows (period s) x)); [apply keys_distinct|].
    apply pays_nonneg. intros r Q. now apply (H r Q).
  - now apply transfers_pay_at_most_offered.
Qed.

(** ** Intervals of equal prices *)

Fixpoint add_price (b : node) (p : Z) (l : list (node * Z)) : list (node * Z) :=
  match l with
  | [] => [(b, p)]
  | (c, x) :: rest => if Pos.eqb b c then (c, x + p) :: rest else (c, x) :: add_price b p rest
  end.

Definition listed {A} (m : PM.t (list A)) (a : node) : list A :=
  match PM.find a m with Some l => l | None => [] end.

Definition add_row (tb : table) (r : row) : table :=
  match place r with
  | Channel (a, b) => {|
      of_channels :=
        PM.add a (add_price b (price r) (listed (of_channels tb) a)) (of_channels tb);
      of_inject := of_inject tb; of_accept := of_accept tb |}
  | Inject v => {|
      of_channels := of_channels tb;
      of_inject := PM.add v (found (of_inject tb) v + price r) (of_inject tb);
      of_accept := of_accept tb |}
  | Accept v => {|
      of_channels := of_channels tb; of_inject := of_inject tb;
      of_accept := PM.add v (found (of_accept tb) v + price r) (of_accept tb) |}
  end.

Definition no_prices : table :=
  {| of_channels := PM.empty _; of_inject := PM.empty _; of_accept := PM.empty _ |}.

(** The prices of the rows that are active in a step. *)
Definition table_at (rows : list row) (t : Z) : table :=
  fold_left (fun tb r => if active t r then add_row tb r else tb) rows no_prices.

(** The earlier one of [c] and [x], if [c] is after [t]. *)
Definition earlier (t c x : Z) : Z := if (t <? c) && (c <? x) then c else x.

(** The first step after [t] in which a row begins or has ended, or [later]. *)
Definition next_cut (rows : list row) (t later : Z) : Z :=
  fold_left (fun x r => earlier t (first r) (earlier t (last r + 1) x)) rows later.

Fixpoint intervals_from (rows : list row) (T t : Z) (fuel : nat) : list interval :=
  match fuel with
  | O => []
  | S rest =>
      if t <=? T then
        let next := next_cut rows t (T + 1) in
        {| from := t; to := next - 1; prices := table_at rows t |}
        :: intervals_from rows T next rest
      else []
  end.

(** The steps from 1 to [T] in intervals of equal prices, in order. *)
Definition make_intervals (rows : list row) (T : Z) : list interval :=
  intervals_from rows T 1 (Z.to_nat T).

(** Intervals follow each other without a gap, from step [t] to step [T]. *)
Fixpoint consecutive (t T : Z) (l : list interval) : Prop :=
  match l with
  | [] => T < t
  | i :: rest => from i = t /\ t <= to i <= T /\ consecutive (to i + 1) T rest
  end.

Lemma look_add_price b p l c :
  match look c (add_price b p l) with Some x => x | None => 0 end
  = match look c l with Some x => x | None => 0 end + if Pos.eqb b c then p else 0.
Proof.
  induction l as [|[d x] l IH]; simpl.
  - rewrite Pos.eqb_sym. destruct (Pos.eqb b c); lia.
  - destruct (Pos.eqb_spec b d) as [->|N]; simpl; rewrite (Pos.eqb_sym c d).
    + destruct (Pos.eqb d c); lia.
    + destruct (Pos.eqb_spec d c) as [->|M]; [|exact IH].
      destruct (Pos.eqb_spec b c); [contradiction|lia].
Qed.

Lemma found_add m v x w : found (PM.add v x m) w = if Pos.eqb v w then x else found m w.
Proof.
  unfold found. destruct (Pos.eqb_spec v w) as [->|N].
  - now rewrite PM.gss.
  - now rewrite PM.gso by congruence.
Qed.

Lemma add_row_price tb r q :
  table_price (add_row tb r) q
  = table_price tb q + if resource_eqb (place r) q then price r else 0.
Proof.
  unfold add_row. destruct (place r) as [[a b]|v|v], q as [[c d]|w|w]; simpl; try lia.
  - unfold hop_eqb. simpl. destruct (Pos.eqb_spec a c) as [->|N].
    + rewrite PM.gss. cbn [andb]. rewrite look_add_price. f_equal. unfold listed.
      now destruct (PM.find c (of_channels tb)).
    + rewrite PM.gso by congruence. simpl. lia.
  - rewrite found_add. destruct (Pos.eqb_spec v w) as [->|]; lia.
  - rewrite found_add. destruct (Pos.eqb_spec v w) as [->|]; lia.
Qed.

(** The table of a step has its prices. *)
Lemma table_at_price rows t q : table_price (table_at rows t) q = price_at rows q t.
Proof.
  unfold table_at, price_at.
  assert (H : forall tb, table_price
      (fold_left (fun tb r => if active t r then add_row tb r else tb) rows tb) q
    = table_price tb q
      + sum (fun r => if active t r && resource_eqb (place r) q then price r else 0) rows).
  { induction rows as [|r rows IH]; intros; simpl; [lia|]. rewrite IH.
    destruct (active t r); cbn [andb]; [rewrite add_row_price|]; lia. }
  rewrite H. replace (table_price no_prices q) with 0; [lia|].
  destruct q as [[a b]|v|v]; simpl; unfold found; now rewrite PM.gempty.
Qed.

Lemma earlier_spec t c x :
  t < x -> t < earlier t c x <= x /\ (c <= t \/ earlier t c x <= c).
Proof.
  unfold earlier. destruct (Z.ltb_spec t c), (Z.ltb_spec c x); cbn [andb]; lia.
Qed.

(** No row begins or has ended after [t] and before the next cut. *)
Lemma next_cut_spec rows t later :
  t < later ->
  let c := next_cut rows t later in
  t < c <= later
  /\ forall r, In r rows ->
       (first r <= t \/ c <= first r) /\ (last r + 1 <= t \/ c <= last r + 1).
Proof.
  unfold next_cut. revert later. induction rows as [|r rows IH]; intros later L; simpl; [easy|].
  pose proof (earlier_spec t (last r + 1) later L) as A.
  set (d := earlier t (last r + 1) later) in *.
  pose proof (earlier_spec t (first r) d (proj1 (proj1 A))) as B.
  destruct (IH (earlier t (first r) d)) as [H K]; [lia|].
  split; [lia|]. intros r' [<-|R]; [lia|]. now apply K.
Qed.

Lemma active_same rows t k later r :
  t < later -> t <= k < next_cut rows t later -> In r rows -> active k r = active t r.
Proof.
  intros L K R. destruct (next_cut_spec rows t later L) as [_ H].
  specialize (H r R). unfold active. cbv zeta in H.
  repeat match goal with |- context [?a <=? ?b] => destruct (Z.leb_spec a b) end;
    cbn [andb]; try reflexivity; lia.
Qed.

Lemma intervals_from_cover rows T fuel : forall t, T < t + Z.of_nat fuel ->
  forall k, t <= k <= T -> exists i, In i (intervals_from rows T t fuel) /\ from i <= k <= to i
    /\ forall q, price_at rows q k = table_price (prices i) q.
Proof.
  induction fuel as [|fuel IH]; intros t F k K; simpl; [lia|].
  destruct (Z.leb_spec t T); [|lia].
  destruct (next_cut_spec rows t (T + 1)) as [N _]; [lia|].
  destruct (Z_lt_le_dec k (next_cut rows t (T + 1))) as [L|L].
  - eexists. split; [now left|]. simpl. split; [lia|]. intros q. rewrite table_at_price.
    apply sum_ext. intros r R. rewrite (active_same rows t k (T + 1)); trivial; lia.
  - destruct (IH (next_cut rows t (T + 1))) with (k := k) as (i & M & J); [lia|lia|].
    exists i. split; [now right|trivial].
Qed.

(** Every step from 1 to [T] has its prices in the interval in which it lies. *)
Theorem make_intervals_cover rows T : covers rows T (make_intervals rows T).
Proof. unfold covers, make_intervals. apply intervals_from_cover. lia. Qed.

Lemma intervals_from_consecutive rows T fuel : forall t, T < t + Z.of_nat fuel ->
  consecutive t T (intervals_from rows T t fuel).
Proof.
  induction fuel as [|fuel IH]; intros t F; simpl; [lia|].
  destruct (Z.leb_spec t T); [|simpl; lia]. simpl.
  destruct (next_cut_spec rows t (T + 1)) as [N _]; [lia|].
  split; [reflexivity|]. split; [lia|].
  replace (next_cut rows t (T + 1) - 1 + 1) with (next_cut rows t (T + 1)) by lia.
  apply IH. lia.
Qed.

(** The intervals are in order, from 1 to [T]. *)
Theorem make_intervals_consecutive rows T : consecutive 1 T (make_intervals rows T).
Proof. apply intervals_from_consecutive. lia. Qed.
