(** What a message pays at least, given the worth of its destinations.

    A transfer to a destination earns its worth and pays its prices. Each node receives a message
    at most once, from a node that had it before: so the transfers are a tree, and what they earn
    minus what they pay is the income of the source. Incomes are bounded from the last step
    backwards, for every node. Defined: the bounds of the incomes and of the payment of a message.
    Proved: a message pays at least that bound in every valid schedule (not in time slots). *)

Require Import ZArith List Bool Lia FMapPositive SetoidList Sorting.Mergesort Orders.
Require Import Model Plain Sums Prices Walks Paths.
Import ListNotations.
Open Scope Z_scope.

(** ** Computed: what a message can earn *)

(** *** The largest of some gains *)

Module Largest_first <: TotalLeBool.
  Definition t := Z.
  Definition leb (x y : Z) : bool := y <=? x.
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb. destruct (Z.leb_spec y x), (Z.leb_spec x y); auto; lia. Qed.
End Largest_first.
Module Sorting_of_gains := Sort Largest_first.

(** The element of number [k] of a list, from 1; 0 if it has fewer. *)
Fixpoint element (k : Z) (l : list Z) : Z :=
  match l with
  | [] => 0
  | x :: rest => if k <=? 1 then x else element (k - 1) rest
  end.

(** The [k]-th largest gain; nothing depends on this being right. *)
Definition threshold (k : Z) (l : list (node * Z)) : Z :=
  if k <=? 1 then fold_left (fun x e => Z.max x (snd e)) l 0
  else Z.max 0 (element k (Sorting_of_gains.sort (map snd l))).

(** At least the sum of any [k] of the gains. *)
Definition largest (k : option Z) (l : list (node * Z)) : Z :=
  match l with
  | [] => 0
  | _ =>
      match k with
      | None => sum (fun e => Z.max 0 (snd e)) l
      | Some k => let x := threshold k l in k * x + sum (fun e => Z.max 0 (snd e - x)) l
      end
  end.

(** The best gain for each receiver, of old ones and the listed ones. *)
Definition keep_best (old : PM.t Z) (l : list (node * Z)) : PM.t Z :=
  fold_left (fun m e =>
    match PM.find (fst e) m with
    | Some y => if snd e <=? y then m else PM.add (fst e) (snd e) m
    | None => PM.add (fst e) (snd e) m
    end) l old.

(** *** What is computed once for all messages *)

(** The least price of paths that begin with a channel, without the port of the receiver:
    only to its end; to any node, by node; or not found, at least that price. *)
Inductive reach := Direct (cost : Z) | Beyond (costs : PM.t (option Z)) | Unknown (cost : Z).

Record beginning := { neighbour : node; capacity : Z; reached_by : reach }.

(** Results of a function, computed once. *)
Definition remember {A B} (f : node -> A) (m : PM.t B) : PM.t A := PM.mapi (fun v _ => f v) m.
Definition recall {A} (f : node -> A) (m : PM.t A) (v : node) : A :=
  match PM.find v m with Some y => y | None => f v end.

(** Whether a node can be the end of a path that begins with a channel, by its hops. *)
Definition no_detour (I : instance) (near beyond : option (PM.t Z)) (v : node) : bool :=
  match route I with
  | AnyPath | Table _ _ => true
  | ExtraHops h =>
      match near, beyond with
      | Some near, Some beyond =>
          match PM.find v near, PM.find v beyond with
          | Some x, Some y => y + 1 <=? x + h
          | _, _ => false
          end
      | _, _ => true
      end
  end.

Definition reach_of (I : instance) (tb : table) (dist tail : node -> option (PM.t Z))
    (u b : node) : reach :=
  let paid := table_price tb (Inject u) + hop_price I tb (u, b) in
  let direct := match kind I with StoreAndForward => true | _ => is_endpoint I b end in
  if direct then Direct paid
  else match tail b with
       | None => Unknown paid
       | Some c =>
           let near := dist u in
           let beyond := dist b in
           Beyond (PM.mapi (fun v x =>
             if negb (Pos.eqb v u) && no_detour I near beyond v then Some (paid + x) else None) c)
       end.

(** The costs of the paths from a node, if a path may pass it and it may send others on. *)
Definition tail_of (I : instance) (tb : table) (b : node) : option (PM.t Z) :=
  match kind I with
  | StoreAndForward => None
  | _ => if is_endpoint I b then None else path_costs I (hop_price I tb) b
  end.

(** Distances from a node, where paths are limited in hops. *)
Definition distance_of (I : instance) (v : node) : option (PM.t Z) :=
  match kind I, route I with
  | StoreAndForward, _ | _, AnyPath | _, Table _ _ => None
  | _, _ => distances I v
  end.

(** An interval, its prices, and for each node what begins with each of its channels. *)
Record prepared := {
  first_step : Z;
  last_step : Z;
  accepting : table;
  beginnings : PM.t (list beginning)
}.

Definition prepare_interval (I : instance) (dist : PM.t (option (PM.t Z))) (i : interval)
    : prepared :=
  let tails := remember (tail_of I (prices i)) (adjacent I) in
  {| first_step := from i;
     last_step := to i;
     accepting := prices i;
     beginnings := PM.mapi (fun u l =>
       map (fun next =>
         {| neighbour := fst next;
            capacity := snd next;
            reached_by := reach_of I (prices i) (recall (distance_of I) dist)
              (recall (tail_of I (prices i)) tails) u (fst next) |}) l) (adjacent I) |}.

Definition is_in (v : node) (l : list (node * Z)) : bool :=
  existsb (fun e => Pos.eqb v (fst e)) l.

(** How many neighbours a node has, and whether those before it are all among them. *)
Definition fan_of (I : instance) (u : node) : Z * bool :=
  let l := neighbours I u in
  (Z.of_nat (length (nodup Pos.eq_dec (map fst l))),
   forallb (fun each => negb (is_in u (snd each)) || is_in (fst each) l)
     (PM.elements (adjacent I))).

(** All that is computed once for all messages. *)
Record preparation := { intervals_of : list prepared; fans : PM.t (Z * bool) }.

Definition prepare (I : instance) (l : list interval) : preparation :=
  let dist := remember (distance_of I) (adjacent I) in
  {| intervals_of := map (prepare_interval I dist) l;
     fans := match kind I with
             | StoreAndForward => remember (fan_of I) (adjacent I)
             | _ => PM.empty _
             end |}.

(** Hop by hop, a node sends a message to each neighbour once, and not to where it came from. *)
Definition sends_at_most (p : preparation) (source u : node) : option Z :=
  match PM.find u (fans p) with
  | None => None
  | Some (n, both_ways) =>
      Some (if both_ways && negb (Pos.eqb u source) then Z.max 0 (n - 1) else n)
  end.

(** *** Incomes from the last step backwards *)

(** Of a node from a step on: what it earns in all steps, hop by hop the best gain for each
    receiver, and its income, at most. *)
Record account := { sums : Z; best : PM.t Z; income : Z }.

Definition nothing : account := {| sums := 0; best := PM.empty Z; income := 0 |}.

Definition accounts_at_end (I : instance) (source : node) (destinations : list node)
    : PM.t account :=
  fold_left (fun m d => PM.add d nothing m) (source :: destinations)
    (match kind I with
     | StoreAndForward => PM.map (fun _ => nothing) (adjacent I)
     | _ => PM.empty _
     end).

(** What a receipt is worth at most at each node, minus the price of its port. *)
Definition amounts (values : PM.t Z) (total : Z) (tb : table) (source : node)
    (old : PM.t account) : PM.t Z :=
  PM.mapi (fun v a =>
    if Pos.eqb v source then 0
    else Z.min total (found values v + income a) - table_price tb (Accept v)) old.

Definition gain_if_positive (v : node) (g : Z) : list (node * Z) :=
  if 0 <? g then [(v, g)] else [].

Definition gains_from (amount : PM.t Z) (listed : list (node * Z)) (b : beginning)
    : list (node * Z) :=
  match reached_by b with
  | Direct y =>
      match PM.find (neighbour b) amount with
      | Some a => gain_if_positive (neighbour b) (a - y)
      | None => []
      end
  | Beyond c =>
      flat_map (fun e =>
        match PM.find (fst e) c with
        | Some (Some y) => gain_if_positive (fst e) (snd e - y)
        | _ => []
        end) listed
  | Unknown y => flat_map (fun e => gain_if_positive (fst e) (snd e - y)) listed
  end.

(** How many transfers a capacity allows in a step. *)
Definition carried (I : instance) (t c : Z) : Z := Z.max 0 (in_step I t c).

(** The same for the ports of a node and all its channels, which carry [flow]. *)
Definition port_limit (I : instance) (u : node) (t : Z) (flow : Z) : Z :=
  match PM.find u (injects I) with Some k => Z.min flow (carried I t k) | None => flow end.

Definition beginnings_at (part : prepared) (u : node) : list beginning :=
  match PM.find u (beginnings part) with Some l => l | None => [] end.

(** What a node earns in a step at most: by its channels, and by its ports. *)
Definition earned (I : instance) (t : Z) (u : node) (by_channel : list (Z * list (node * Z)))
    : Z :=
  let flow := sum (fun each => carried I t (fst each)) by_channel in
  Z.min (sum (fun each => largest (Some (carried I t (fst each))) (snd each)) by_channel)
    (largest (Some (port_limit I u t flow))
       (PM.elements (keep_best (PM.empty Z) (flat_map snd by_channel)))).

(** An account that has reached all worth stays as it is. *)
Definition account_before (I : instance) (p : preparation) (part : prepared) (total : Z)
    (source : node) (t : Z) (amount : PM.t Z) (listed : list (node * Z))
    (u : node) (a : account) : account :=
  if total <=? income a then a
  else
    let by_channel :=
      map (fun b => (capacity b, gains_from amount listed b)) (beginnings_at part u) in
    let more := sums a + earned I t u by_channel in
    match kind I with
    | StoreAndForward =>
        let kept := keep_best (best a) (flat_map snd by_channel) in
        {| sums := more;
           best := kept;
           income := Z.min (Z.min total more)
             (largest (sends_at_most p source u) (PM.elements kept)) |}
    | _ => {| sums := more; best := best a; income := Z.min total more |}
    end.

(** One step back. *)
Definition step_back (I : instance) (p : preparation) (part : prepared) (values : PM.t Z)
    (total : Z) (source : node) (t : Z) (old : PM.t account) : PM.t account :=
  let amount := amounts values total (accepting part) source old in
  let listed :=
    match kind I with
    | StoreAndForward => []
    | _ => filter (fun e => 0 <? snd e) (PM.elements amount)
    end in
  PM.mapi (account_before I p part total source t amount listed) old.

Fixpoint steps_back (step : Z -> PM.t account -> PM.t account) (t : Z) (n : nat)
    (old : PM.t account) : PM.t account :=
  match n with O => old | S k => steps_back step (t - 1) k (step t old) end.

(** All steps of the intervals. *)
Fixpoint accounts (I : instance) (p : preparation) (values : PM.t Z) (total : Z) (source : node)
    (parts : list prepared) (at_end : PM.t account) : PM.t account :=
  match parts with
  | [] => at_end
  | part :: rest =>
      steps_back (step_back I p part values total source) (last_step part)
        (Z.to_nat (last_step part + 1 - first_step part))
        (accounts I p values total source rest at_end)
  end.

(** The intervals follow each other, from step [t] to step [T]. *)
Fixpoint in_order (t T : Z) (parts : list prepared) : bool :=
  match parts with
  | [] => T <? t
  | part :: rest =>
      (first_step part =? t) && (t <=? last_step part) && (last_step part <=? T)
      && in_order (last_step part + 1) T rest
  end.

(** The worth of the destinations but the source. *)
Definition values_of (worth : PM.t Z) (source : node) (destinations : list node) : PM.t Z :=
  fold_left (fun m d => if Pos.eqb d source then m else PM.add d (Z.max 0 (found worth d)) m)
    destinations (PM.empty Z).

Definition total_of (values : PM.t Z) : Z := sum snd (PM.elements values).

(** What a message pays at least. *)
Definition worth_bound (I : instance) (p : preparation) (T : Z) (worth : PM.t Z) (source : node)
    (destinations : list node) : Z :=
  let values := values_of worth source destinations in
  let total := total_of values in
  if in_order 1 T (intervals_of p) then
    let at_start := accounts I p values total source (intervals_of p)
      (accounts_at_end I source destinations) in
    Z.max 0 (total - match PM.find source at_start with Some a => income a | None => 0 end)
  else 0.

(** ** Sums of the largest *)

Lemma sum_distinct (l : list node) (v : node) (y : Z) :
  0 <= y -> NoDup l -> sum (fun u => if Pos.eqb u v then y else 0) l <= y.
Proof.
  intros Y D. induction D as [|u l N D IH]; simpl; [lia|].
  destruct (Pos.eqb_spec u v) as [->|]; [|lia].
  rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
  intros x X. destruct (Pos.eqb_spec x v) as [->|]; [contradiction|reflexivity].
Qed.

(** A gain that is positive is among some listed ones, or a better one for the same node. *)
Definition listed_gain (l : list (node * Z)) (v : node) (g : Z) : Prop :=
  g <= 0 \/ exists y, In (v, y) l /\ g <= y.

Lemma fold_max_nonneg l x : 0 <= x -> 0 <= fold_left (fun x (e : node * Z) => Z.max x (snd e)) l x.
Proof. revert x. induction l; simpl; intros; trivial. apply IHl. lia. Qed.

Lemma threshold_nonneg k l : 0 <= threshold k l.
Proof. unfold threshold. destruct (k <=? 1); [apply fold_max_nonneg; lia|lia]. Qed.

Definition within (number : Z) (k : option Z) : Prop :=
  match k with Some k => number <= k | None => True end.

(** At most [k] gains for distinct nodes are at most [largest k]. *)
Lemma largest_bounds {A} (g : A -> Z) (at_node : A -> node) (k : option Z) (xs : list A)
    (l : list (node * Z)) :
  NoDup (map at_node xs) -> (forall x, In x xs -> listed_gain l (at_node x) (g x)) ->
  within (Z.of_nat (length xs)) k -> sum g xs <= largest k l.
Proof.
  intros D L K.
  assert (E : forall y, 0 <= y ->
    sum g xs <= Z.of_nat (length xs) * y + sum (fun e => Z.max 0 (snd e - y)) l).
  { intros y Y.
    assert (B : sum (fun x => Z.max 0 (g x - y)) xs <= sum (fun e => Z.max 0 (snd e - y)) l).
    { transitivity (sum (fun x => sum (fun e =>
        if Pos.eqb (at_node x) (fst e) then Z.max 0 (snd e - y) else 0) l) xs).
      - apply sum_le. intros x V. destruct (L x V) as [|(z & Z0 & G)].
        + transitivity 0; [lia|]. apply sum_nonneg. intros e _.
          destruct (Pos.eqb (at_node x) (fst e)); lia.
        + transitivity (Z.max 0 (z - y)); [lia|].
          assert (H := sum_single (fun e : node * Z =>
            if Pos.eqb (at_node x) (fst e) then Z.max 0 (snd e - y) else 0) l (at_node x, z) Z0).
          simpl in H. rewrite Pos.eqb_refl in H. apply H.
          intros e _. destruct (Pos.eqb (at_node x) (fst e)); lia.
      - rewrite sum_swap. apply sum_le. intros e _.
        rewrite <- (sum_map
          (fun v => if Pos.eqb v (fst e) then Z.max 0 (snd e - y) else 0) at_node).
        apply sum_distinct; trivial; lia. }
    transitivity (sum (fun x => y + Z.max 0 (g x - y)) xs); [apply sum_le; intros; lia|].
    rewrite sum_plus. replace (sum (fun _ => y) xs) with (Z.of_nat (length xs) * y); [lia|].
    clear. induction xs as [|a xs IH]; [reflexivity|].
    simpl length. rewrite Nat2Z.inj_succ. simpl sum. rewrite <- IH. lia. }
  unfold largest. destruct l as [|e l].
  - specialize (E 0 ltac:(lia)). simpl in E. lia.
  - destruct k as [k|].
    + specialize (E _ (threshold_nonneg k (e :: l))). simpl in K.
      assert (0 <= threshold k (e :: l)) by apply threshold_nonneg. cbv zeta. nia.
    + specialize (E 0 ltac:(lia)).
      rewrite (sum_ext (fun e => Z.max 0 (snd e)) (fun e => Z.max 0 (snd e - 0))); [lia|].
      intros. now rewrite Z.sub_0_r.
Qed.

(** ** The best gains *)

Definition above (m : PM.t Z) (v : node) (g : Z) : Prop :=
  g <= 0 \/ exists y, PM.find v m = Some y /\ g <= y.

Lemma above_listed m v g : above m v g -> listed_gain (PM.elements m) v g.
Proof.
  intros [|(y & F & G)]; [now left|right; exists y].
  split; trivial. now apply PM.elements_correct.
Qed.

Lemma keep_best_keeps l m v g : above m v g -> above (keep_best m l) v g.
Proof.
  revert m. induction l as [|[w z] l IH]; intros m A; trivial. simpl. apply IH.
  destruct A as [|(y & F & G)]; [now left|right].
  destruct (Pos.eq_dec v w) as [->|N].
  - rewrite F. destruct (Z.leb_spec z y); [now exists y|].
    exists z. rewrite PM.gss. split; [reflexivity|lia].
  - exists y. split; trivial.
    destruct (PM.find w m) as [u|]; [destruct (z <=? u)|]; trivial; now rewrite PM.gso.
Qed.

Lemma keep_best_new l m v g : listed_gain l v g -> above (keep_best m l) v g.
Proof.
  intros [|(y & Y & G)]; [now left|].
  apply in_split in Y as (l1 & l2 & ->). unfold keep_best. rewrite fold_left_app. simpl.
  set (k := fold_left _ l1 m).
  change (above (keep_best match PM.find v k with
    | Some z => if y <=? z then k else PM.add v y k | None => PM.add v y k end l2) v g).
  apply keep_best_keeps. right.
  destruct (PM.find v k) as [z|] eqn:E.
  - destruct (Z.leb_spec y z).
    + exists z. split; [trivial|lia].
    + exists y. rewrite PM.gss. now split.
  - exists y. rewrite PM.gss. now split.
Qed.

(** ** Steps counted backwards *)

Lemma sum_zeros {A} (f : A -> Z) l : (forall x, In x l -> f x = 0) -> sum f l = 0.
Proof. intros H. rewrite (sum_ext _ (fun _ => 0)) by trivial. apply sum_zero. Qed.


Lemma backwards_from (Q : Z -> Prop) (T : Z) :
  Q (T + 1) -> (forall t, t <= T -> Q (t + 1) -> Q t) -> forall t, t <= T + 1 -> Q t.
Proof.
  intros Base Step.
  assert (H : forall n t, (Z.to_nat (T + 1 - t) = n)%nat -> t <= T + 1 -> Q t).
  { induction n as [|n IH]; intros t E L.
    - now replace t with (T + 1) by lia.
    - apply Step; [lia|]. apply IH; lia. }
  intros t. now apply (H _ t eq_refl).
Qed.

(** ** The tree of the transfers of a message *)

Section Tree.

(** Transfers of one message until step [T], from nodes that have it, to each node once. *)
Variables (xs : list timed_transfer) (source : node) (T : Z).
Hypothesis in_time : forall x, In x xs -> 1 <= fst x <= T.
Hypothesis once : NoDup (source :: map receiver xs).
Hypothesis cause : forall x, In x xs -> sender x = source
  \/ exists y, In y xs /\ receiver y = sender x /\ fst y < fst x.

Definition sends_now (u : node) (t : Z) (x : timed_transfer) : bool :=
  Pos.eqb (sender x) u && Z.eqb (fst x) t.
Definition sends_later (u : node) (t : Z) (x : timed_transfer) : bool :=
  Pos.eqb (sender x) u && (t <=? fst x).

(** The gains of the transfers that a node causes in [n] steps from step [t] on. *)
Fixpoint tree (g : timed_transfer -> Z) (n : nat) (t : Z) (u : node) : Z :=
  match n with
  | O => 0
  | S k => sum (fun x => g x + tree g k (t + 1) (receiver x)) (filter (sends_now u t) xs)
      + tree g k (t + 1) u
  end.

(** The same from step [t] to the end. *)
Definition caused (g : timed_transfer -> Z) (t : Z) (u : node) : Z :=
  tree g (Z.to_nat (T + 1 - t)) t u.

(** The gain of a transfer, with all that it causes. *)
Definition with_caused (g : timed_transfer -> Z) (x : timed_transfer) : Z :=
  g x + caused g (fst x + 1) (receiver x).

Lemma caused_end g t u : T < t -> caused g t u = 0.
Proof. intros. unfold caused. now replace (Z.to_nat (T + 1 - t)) with O by lia. Qed.

Lemma caused_step g t u : t <= T ->
  caused g t u = sum (with_caused g) (filter (sends_now u t) xs) + caused g (t + 1) u.
Proof.
  intros L. unfold caused at 1.
  replace (Z.to_nat (T + 1 - t)) with (S (Z.to_nat (T + 1 - (t + 1)))) by lia.
  simpl. f_equal. apply sum_ext. intros x X. apply filter_In in X as [_ X].
  unfold sends_now in X. apply andb_true_iff in X as [_ X]. apply Z.eqb_eq in X.
  unfold with_caused, caused. now rewrite X.
Qed.

(** What a node causes is what all its transfers bring, each with what it causes. *)
Lemma caused_sum g t u : t <= T + 1 ->
  caused g t u = sum (with_caused g) (filter (sends_later u t) xs).
Proof.
  revert t. apply backwards_from.
  - rewrite caused_end by lia. rewrite sum_filter. symmetry. apply sum_zeros.
    intros x X. pose proof (in_time x X). unfold sends_later.
    destruct (Z.leb_spec (T + 1) (fst x)); [lia|]. now rewrite andb_false_r.
  - intros t L E. rewrite caused_step, E, !sum_filter, <- sum_plus by trivial.
    apply sum_ext. intros x _. unfold sends_now, sends_later.
    destruct (Pos.eqb (sender x) u); [simpl|reflexivity].
    destruct (Z.eqb_spec (fst x) t), (Z.leb_spec t (fst x)), (Z.leb_spec (t + 1) (fst x)); lia.
Qed.

Lemma caused_le g h t u :
  (forall x, In x xs -> g x <= h x) -> caused g t u <= caused h t u.
Proof.
  intros L. unfold caused. generalize (Z.to_nat (T + 1 - t)). intros n.
  revert t u. induction n as [|n IH]; intros t u; simpl; [lia|].
  specialize (IH (t + 1)) as IH'. specialize (IH' u).
  match goal with |- ?a + _ <= ?b + _ => assert (a <= b); [|lia] end.
  apply sum_le. intros x X. apply filter_In in X as [X _].
  specialize (L x X). specialize (IH (t + 1) (receiver x)). lia.
Qed.

Lemma caused_nonneg g t u : (forall x, In x xs -> 0 <= g x) -> 0 <= caused g t u.
Proof.
  intros L. unfold caused. generalize (Z.to_nat (T + 1 - t)). intros n.
  revert t u. induction n as [|n IH]; intros t u; simpl; [lia|].
  specialize (IH (t + 1)) as IH'. specialize (IH' u).
  match goal with |- 0 <= ?a + _ => assert (0 <= a); [|lia] end.
  apply sum_nonneg. intros x X. apply filter_In in X as [X _].
  specialize (L x X). specialize (IH (t + 1) (receiver x)). lia.
Qed.

(** The nodes that have the message before step [t]. *)
Definition holders (t : Z) : list node :=
  source :: map receiver (filter (fun x => fst x <? t) xs).

Lemma holder_later t u : In u (holders t) -> In u (holders (t + 1)).
Proof.
  intros [E|H]; [now left|right]. apply in_map_iff in H as (x & <- & X).
  apply filter_In in X as [X L]. apply in_map, filter_In. split; trivial.
  apply Z.ltb_lt in L. apply Z.ltb_lt. lia.
Qed.

Lemma holder_new t x : In x xs -> fst x < t -> In (receiver x) (holders t).
Proof. intros X L. right. apply in_map, filter_In. split; trivial. now apply Z.ltb_lt. Qed.

Lemma sender_holds x : In x xs -> In (sender x) (holders (fst x)).
Proof.
  intros X. destruct (cause x X) as [->|(y & Y & <- & L)]; [now left|now apply holder_new].
Qed.

Lemma NoDup_map_filter {A B} (f : A -> B) (p : A -> bool) l :
  NoDup (map f l) -> NoDup (map f (filter p l)).
Proof.
  induction l as [|a l IH]; simpl; trivial. intros D. inversion D as [|? ? N D']; subst.
  destruct (p a); [|now apply IH]. simpl. constructor; [|now apply IH].
  intros H. apply N. apply in_map_iff in H as (x & <- & X). apply filter_In in X as [X _].
  now apply in_map.
Qed.

Lemma receivers_distinct p : NoDup (map receiver (filter p xs)).
Proof. apply NoDup_map_filter. now inversion once. Qed.

Lemma source_receives_nothing x : In x xs -> receiver x <> source.
Proof.
  intros X E. destruct (proj1 (NoDup_cons_iff _ _) once) as [N _]. apply N. rewrite <- E.
  now apply in_map.
Qed.

Lemma holders_distinct t : NoDup (holders t).
Proof.
  constructor; [|apply receivers_distinct].
  intros H. apply in_map_iff in H as (x & E & X). apply filter_In in X as [X _].
  now apply (source_receives_nothing x).
Qed.

Lemma sum_holders f t :
  sum f (holders t) = f source + sum (fun x => if fst x <? t then f (receiver x) else 0) xs.
Proof. simpl. now rewrite sum_map, sum_filter. Qed.

Lemma sum_at_one (l : list node) (v : node) (y : Z) :
  In v l -> NoDup l -> sum (fun u => if Pos.eqb v u then y else 0) l = y.
Proof.
  intros H D. induction D as [|u l N D IH]; simpl; [contradiction|].
  destruct (Pos.eqb_spec v u) as [->|M].
  - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
    intros x X. destruct (Pos.eqb_spec u x) as [->|]; [contradiction|reflexivity].
  - destruct H as [->|H]; [congruence|]. now apply IH.
Qed.

(** What the holders cause from a step on is all that comes from then on. *)
Lemma caused_total g t : t <= T + 1 ->
  sum (caused g t) (holders t) = sum g (filter (fun x => t <=? fst x) xs).
Proof.
  revert t. apply backwards_from.
  - rewrite (sum_ext _ (fun _ => 0)) by (intros; apply caused_end; lia).
    rewrite sum_zero, sum_filter. symmetry. apply sum_zeros. intros x X.
    pose proof (in_time x X). destruct (Z.leb_spec (T + 1) (fst x)); lia.
  - intros t L E.
    rewrite (sum_ext _ (fun u => sum (with_caused g) (filter (sends_now u t) xs)
      + caused g (t + 1) u)) by (intros; now apply caused_step).
    rewrite sum_plus.
    rewrite (sum_ext _ (fun u => sum (fun x =>
      if Pos.eqb (sender x) u then if fst x =? t then with_caused g x else 0 else 0) xs)).
    2:{ intros u _. rewrite sum_filter. apply sum_ext. intros x _. unfold sends_now.
        now destruct (Pos.eqb (sender x) u). }
    rewrite sum_swap.
    rewrite (sum_ext _ (fun x => if fst x =? t then with_caused g x else 0)).
    2:{ intros x X. destruct (Z.eqb_spec (fst x) t) as [<-|].
        - apply sum_at_one; [now apply sender_holds|apply holders_distinct].
        - apply sum_zeros. intros u _.
          now destruct (Pos.eqb (sender x) u). }
    rewrite sum_holders, sum_filter in E |- *.
    transitivity (sum (fun x => if fst x =? t then g x else 0) xs
      + sum (fun x => if t + 1 <=? fst x then g x else 0) xs).
    + cbv beta in E. etransitivity; [|apply f_equal, E]. cbv beta.
      match goal with |- ?a + (?b + ?c) = ?d + (?b + ?e) =>
        assert (a + c = d + e); [|lia] end.
      rewrite <- !sum_plus. apply sum_ext. intros x _. unfold with_caused.
      destruct (Z.eqb_spec (fst x) t) as [N|N]; [rewrite N; clear N|];
        repeat match goal with |- context [?a <? ?b] => destruct (Z.ltb_spec a b) end; lia.
    + rewrite <- sum_plus. apply sum_ext. intros x _.
      destruct (Z.eqb_spec (fst x) t), (Z.leb_spec t (fst x)), (Z.leb_spec (t + 1) (fst x)); lia.
Qed.

(** All gains together are what the source causes. *)
Lemma caused_by_source g : 0 <= T -> caused g 1 source = sum g xs.
Proof.
  intros P. assert (H := caused_total g 1 ltac:(lia)). rewrite sum_filter, sum_holders in H.
  rewrite (sum_ext _ (fun _ => 0)), sum_zero in H.
  2:{ intros x X. pose proof (in_time x X). destruct (Z.ltb_spec (fst x) 1); lia. }
  rewrite (sum_ext _ g xs) in H.
  2:{ intros x X. pose proof (in_time x X). destruct (Z.leb_spec 1 (fst x)); lia. }
  lia.
Qed.

(** The worth of a holder and of all that it causes is at most that of all receivers. *)
Lemma caused_within (value : node -> Z) t u :
  (forall v, 0 <= value v) -> t <= T + 1 -> In u (holders t) ->
  (if Pos.eqb u source then 0 else value u) + caused (fun x => value (receiver x)) t u
    <= sum (fun x => value (receiver x)) xs.
Proof.
  intros P L U. set (g := fun x => value (receiver x)).
  set (f := fun u => (if Pos.eqb u source then 0 else value u) + caused g t u).
  transitivity (sum f (holders t)).
  - apply (sum_single f); trivial. intros v _. unfold f.
    assert (0 <= caused g t v) by (apply caused_nonneg; intros; apply P).
    specialize (P v). destruct (Pos.eqb v source); lia.
  - unfold f. rewrite sum_plus, caused_total by trivial.
    rewrite sum_holders, Pos.eqb_refl, sum_filter, Z.add_0_l, <- sum_plus.
    apply sum_le. intros x X. unfold g. specialize (P (receiver x)).
    destruct (Pos.eqb_spec (receiver x) source); [now apply source_receives_nothing in e|].
    destruct (Z.ltb_spec (fst x) t), (Z.leb_spec t (fst x)); lia.
Qed.

End Tree.

(** ** Paths and prices *)

Lemma recall_remember {A B} (f : node -> A) (m : PM.t B) v : recall f (remember f m) v = f v.
Proof.
  unfold recall, remember. rewrite PM.gmapi. now destruct (PM.find v m).
Qed.

Lemma path_parts I p : allowed I p -> exists u b rest, p = u :: b :: rest
  /\ (exists c, channel I u b c)
  /\ (rest <> [] -> kind I <> StoreAndForward /\ is_endpoint I b = false).
Proof.
  intros A. destruct p as [|u [|b rest]].
  1, 2: exfalso; unfold allowed, simple in A; destruct (kind I); simpl in A; lia.
  exists u, b, rest. split; [reflexivity|].
  assert (H : In (u, b) (hops (u :: b :: rest))) by now left.
  split; [unfold allowed, simple in A; destruct (kind I); intuition eauto|].
  intros R. destruct rest as [|v rest]; [congruence|].
  destruct (kind I) eqn:K.
  - split; [congruence|]. unfold allowed, simple in A. rewrite K in A.
    apply A. unfold inner. now left.
  - exfalso. unfold allowed in A. rewrite K in A. simpl in A. lia.
  - split; [congruence|]. unfold allowed, simple in A. rewrite K in A.
    apply A. unfold inner. now left.
Qed.

Lemma no_return I u rest : allowed I (u :: rest) -> ~ In u rest.
Proof.
  intros A.
  assert (D : NoDup (u :: rest)) by (unfold allowed, simple in A; destruct (kind I); tauto).
  now apply NoDup_cons_iff in D.
Qed.

Lemma last_in (b : node) (rest : path) : In (last_node (b :: rest)) (b :: rest).
Proof.
  revert b. induction rest as [|c rest IH]; intros b; [now left|right].
  change (In (last_node (c :: rest)) (c :: rest)). apply IH.
Qed.

(** A path that begins with a channel leads to a node at a cost. *)
Definition reaches (b : beginning) (v : node) (y : Z) : Prop :=
  match reached_by b with
  | Direct z => v = neighbour b /\ y = z
  | Beyond c => PM.find v c = Some (Some y)
  | Unknown z => y = z
  end.

(** The computed costs are at most what an allowed path pays. *)
Lemma reach_right I tb dist tail u b rest capacity :
  (forall v, dist v = distance_of I v) -> (forall v, tail v = tail_of I tb v) ->
  (forall q, 0 <= table_price tb q) -> allowed I (u :: b :: rest) ->
  exists y,
    reaches {| neighbour := b; capacity := capacity;
               reached_by := reach_of I tb dist tail u b |} (last_node (b :: rest)) y
    /\ y <= table_price tb (Inject u) + sum (hop_price I tb) (hops (u :: b :: rest)).
Proof.
  intros HD HT N A.
  set (paid := table_price tb (Inject u) + hop_price I tb (u, b)).
  assert (E : table_price tb (Inject u) + sum (hop_price I tb) (hops (u :: b :: rest))
    = paid + sum (hop_price I tb) (hops (b :: rest))).
  { unfold paid. change (hops (u :: b :: rest)) with ((u, b) :: hops (b :: rest)).
    cbn [sum]. lia. }
  rewrite E. clear E.
  assert (P : 0 <= sum (hop_price I tb) (hops (b :: rest))) by (apply sum_nonneg; intros; apply N).
  destruct (path_parts I _ A) as (u' & b' & rest' & [= <- <- <-] & _ & Inner).
  assert (Away : negb (Pos.eqb (last_node (b :: rest)) u) = true).
  { apply negb_true_iff, Pos.eqb_neq. intros E. apply (no_return I u (b :: rest)); trivial.
    rewrite <- E. apply last_in. }
  assert (One : rest = [] -> exists y, (last_node (b :: rest) = b /\ y = paid)
    /\ y <= paid + sum (hop_price I tb) (hops (b :: rest))).
  { intros ->. exists paid. simpl in *. repeat split; lia. }
  assert (Far : kind I <> StoreAndForward -> is_endpoint I b = false ->
    reach_of I tb dist tail u b =
      match path_costs I (hop_price I tb) b with
      | None => Unknown paid
      | Some c => Beyond (PM.mapi (fun v x =>
          if negb (Pos.eqb v u) && no_detour I (distance_of I u) (distance_of I b) v
          then Some (paid + x) else None) c)
      end).
  { intros K B. unfold reach_of. rewrite HT, !HD. unfold tail_of. rewrite B.
    destruct (kind I); [|congruence|]; reflexivity. }
  unfold reaches. simpl reached_by. simpl neighbour.
  destruct (kind I) eqn:K.
  2: { unfold reach_of. rewrite K. apply One.
       destruct rest; [reflexivity|]. destruct Inner; congruence. }
  1, 2: destruct (is_endpoint I b) eqn:B;
    [unfold reach_of; rewrite K, B; apply One; destruct rest; [reflexivity|];
     destruct Inner; congruence|].
  1, 2: rewrite Far by congruence;
    destruct (path_costs I (hop_price I tb) b) as [c|] eqn:C; [|exists paid; lia];
    destruct (tail_costs_least I (hop_price I tb) u b rest c ltac:(congruence) A C)
      as (x & F & L);
    exists (paid + x); split; [|lia]; rewrite PM.gmapi, F; simpl; rewrite Away;
    replace (no_detour I (distance_of I u) (distance_of I b) (last_node (b :: rest)))
      with true; [reflexivity|]; symmetry;
    unfold no_detour, distance_of; rewrite K; destruct (route I) as [|h|? ?] eqn:R; trivial;
    destruct (distances I u) as [near|] eqn:Near; trivial;
    destruct (distances I b) as [beyond|] eqn:Far'; trivial;
    destruct (tail_in_time I u b rest h near beyond ltac:(congruence) R A Near Far')
      as (x' & y' & -> & -> & L'); now apply Z.leb_le.
Qed.

(** ** Steps and uses *)

Lemma numbered_steps t s x : In x (numbered t s) -> t <= fst x < t + Z.of_nat (length s).
Proof.
  revert t. induction s as [|l s IH]; simpl; [easy|]. intros t H.
  apply in_app_iff in H as [H|H].
  - apply in_map_iff in H as (y & <- & _). simpl. lia.
  - apply IH in H. lia.
Qed.

Lemma channel_uses_now I P t l : kind I <> TimeSlots ->
  channel_uses I P t l = map (fun h => (Channel (link I h), t)) l.
Proof.
  intros K. induction l as [|h l IH]; trivial. simpl.
  replace (t + late I 1) with t by (unfold late; destruct (kind I); lia || congruence).
  rewrite IH. unfold slot. now destruct (kind I).
Qed.

Lemma uses_now I P x : kind I <> TimeSlots ->
  uses I P x = (Inject (sender x), fst x) :: (Accept (receiver x), fst x)
    :: map (fun h => (Channel (link I h), fst x)) (hops (nodes (snd x))).
Proof.
  intros K. unfold uses. rewrite channel_uses_now by trivial.
  assert (E : forall i, fst x + late I i = fst x)
    by (intros; unfold late; destruct (kind I); lia || congruence).
  assert (S : slot I P (fst x) = fst x) by (unfold slot; destruct (kind I); congruence).
  now rewrite E, S.
Qed.

Lemma pays_by_table I rows P x tb : kind I <> TimeSlots ->
  (forall q, price_at rows q (fst x) = table_price tb q) ->
  pays I rows P x = table_price tb (Inject (sender x)) + table_price tb (Accept (receiver x))
    + sum (hop_price I tb) (hops (nodes (snd x))).
Proof.
  intros K E. unfold pays. rewrite uses_now by trivial. simpl sum. rewrite !E, sum_map.
  rewrite (sum_ext _ (hop_price I tb)); [lia|]. intros h _. apply E.
Qed.

Lemma resource_eqb_same q : resource_eqb q q = true.
Proof. destruct q; simpl; unfold hop_eqb; now rewrite ?Pos.eqb_refl. Qed.

(** Transfers that use a resource in a step are not more than its uses. *)
Lemma users_counted I s r t (f : timed_transfer -> bool) (m : positive) :
  (forall x, In x (transfers m s) -> f x = true -> In (r, t) (uses I (period s) x)) ->
  Z.of_nat (length (filter f (transfers m s))) <= used I s r t.
Proof.
  unfold transfers, used, all_uses, count. generalize (timed s) (uses I (period s)).
  intros l us H. apply inj_le. induction l as [|x l IH]; simpl; [lia|].
  rewrite filter_app, app_length.
  assert (L : (length (filter f (filter (of_message m) l))
    <= length (filter (is_use r t) (flat_map us l)))%nat).
  { apply IH. intros y Y. apply H. simpl. destruct (of_message m x); [now right|trivial]. }
  simpl in H. destruct (of_message m x); simpl in *; [|lia].
  destruct (f x) eqn:F; simpl; [|lia].
  assert (U : In (r, t) (filter (is_use r t) (us x))).
  { apply filter_In. split; [apply H; trivial; now left|].
    unfold is_use. simpl. now rewrite resource_eqb_same, Z.eqb_refl. }
  destruct (filter (is_use r t) (us x)); [contradiction|simpl; lia].
Qed.

(** ** Small facts *)

Lemma filter_filter {A} (p q : A -> bool) l :
  filter p (filter q l) = filter (fun x => q x && p x) l.
Proof.
  induction l as [|a l IH]; trivial. simpl. destruct (q a); simpl; [|trivial].
  now rewrite IH.
Qed.

Lemma same_key {A B} (f : A -> B) l x y :
  NoDup (map f l) -> In x l -> In y l -> f x = f y -> x = y.
Proof.
  induction l as [|a l IH]; [easy|]. simpl. intros D X Y E. apply NoDup_cons_iff in D as [N D].
  destruct X as [->|X], Y as [->|Y]; trivial.
  - exfalso. apply N. rewrite E. now apply in_map.
  - exfalso. apply N. rewrite <- E. now apply in_map.
  - now apply IH.
Qed.

Lemma sum_ones {A} (l : list A) : sum (fun _ => 1) l = Z.of_nat (length l).
Proof. induction l; [reflexivity|]. simpl length. rewrite Nat2Z.inj_succ. cbn [sum]. lia. Qed.

(** A sum is at most that of the groups of its elements. *)
Lemma sum_grouped {A} (f : A -> Z) (key : A -> node) (l : list (node * Z)) xs :
  (forall x, In x xs -> 0 <= f x) -> (forall x, In x xs -> exists c, In (key x, c) l) ->
  sum f xs <= sum (fun e => sum f (filter (fun x => Pos.eqb (key x) (fst e)) xs)) l.
Proof.
  intros P H.
  rewrite (sum_ext _ (fun e => sum (fun x => if Pos.eqb (key x) (fst e) then f x else 0) xs))
    by (intros; apply sum_filter).
  rewrite sum_swap. apply sum_le. intros x X. specialize (P x X). destruct (H x X) as [c C].
  pose proof (sum_single (fun e : node * Z => if Pos.eqb (key x) (fst e) then f x else 0) l _ C)
    as S. simpl in S. rewrite Pos.eqb_refl in S. apply S.
  intros e _. destruct (Pos.eqb (key x) (fst e)); lia.
Qed.

Lemma keys_once {A} (m : PM.t A) : NoDup (map fst (PM.elements m)).
Proof.
  pose proof (PM.elements_3w m) as H. induction H as [|[k x] l N H IH]; simpl; constructor; trivial.
  intros J. apply N. apply in_map_iff in J as ([k' y] & E & J). simpl in E. subst.
  apply InA_alt. exists (k, y). split; [reflexivity|trivial].
Qed.

Lemma listed_gain_max l v g : listed_gain l v g -> listed_gain l v (Z.max 0 g).
Proof.
  intros [|(y & Y & L)]; [left; lia|].
  destruct (Z_le_gt_dec g 0); [left; lia|right; exists y; split; trivial; lia].
Qed.

Lemma gain_if_positive_in v g h : g <= h -> listed_gain (gain_if_positive v h) v g.
Proof.
  intros L. unfold gain_if_positive. destruct (Z.ltb_spec 0 h); [|left; lia].
  right. exists h. split; [now left|trivial].
Qed.

Lemma listed_in_flat_map {A} (f : A -> list (node * Z)) l a v g :
  In a l -> listed_gain (f a) v g -> listed_gain (flat_map f l) v g.
Proof.
  intros H [|(y & Y & L)]; [now left|]. right. exists y. split; trivial.
  apply in_flat_map. now exists a.
Qed.

(** What a transfer brings is among the gains of the channel with which it begins. *)
Lemma gains_listed amount listed b v a y g :
  PM.find v amount = Some a -> reaches b v y ->
  (0 < a -> In (v, a) listed) \/ (exists z, reached_by b = Direct z) ->
  g <= a -> g <= a - y -> listed_gain (gains_from amount listed b) v g.
Proof.
  unfold reaches, gains_from. intros F R L G H.
  destruct (reached_by b) as [z|c|z].
  - destruct R as [-> ->]. rewrite F. now apply gain_if_positive_in.
  - destruct L as [L|[z L]]; [|discriminate].
    destruct (Z_le_gt_dec a 0); [left; lia|].
    apply listed_in_flat_map with (v, a); [apply L; lia|]. simpl. rewrite R.
    now apply gain_if_positive_in.
  - destruct L as [L|[z' L]]; [|discriminate]. subst z.
    destruct (Z_le_gt_dec a 0); [left; lia|].
    apply listed_in_flat_map with (v, a); [apply L; lia|]. simpl.
    now apply gain_if_positive_in.
Qed.

Definition second_node (p : path) : node := hd 1%positive (tl p).

(** ** The message *)

Section Message.

Variables (I : instance) (s : schedule) (rows : list row) (T : Z) (m : positive).
Variables (source : node) (destinations : list node) (worth : PM.t Z).
Hypothesis V : valid I s.
Hypothesis K : kind I <> TimeSlots.
Hypothesis P : period s <= T.
Hypothesis N : forall r, In r rows -> 0 <= price r.
Hypothesis M : PM.find m (messages I) = Some (source, destinations).

Let xs := transfers m s.

Lemma two_kinds : kind I = Wormhole \/ kind I = StoreAndForward.
Proof. destruct (kind I); auto. congruence. Qed.

Lemma transfer_in_time x : In x xs -> 1 <= fst x <= period s.
Proof.
  intros X. apply filter_In in X as [X _]. apply numbered_steps in X. unfold period. lia.
Qed.

Lemma until_end x : In x xs -> 1 <= fst x <= T.
Proof. intros X. apply transfer_in_time in X. lia. Qed.

Lemma transfers_once : NoDup (source :: map receiver xs).
Proof. exact (rule_4_once I s V m source destinations M). Qed.

Lemma transfer_cause x : In x xs -> sender x = source
  \/ exists y, In y xs /\ receiver y = sender x /\ fst y < fst x.
Proof.
  intros X. destruct (rule_3 I s V m source destinations M x X) as [C _].
  unfold informed in C. destruct (kind I); trivial. congruence.
Qed.

Lemma transfer_allowed x : In x xs -> allowed I (nodes (snd x)).
Proof. intros X. apply filter_In in X as [X _]. now apply (rule_1 I s V). Qed.

Let values := values_of worth source destinations.
Let total := total_of values.

Lemma values_spec v y : PM.find v values = Some y ->
  In v destinations /\ v <> source /\ 0 <= y.
Proof.
  unfold values, values_of.
  assert (H : forall l old,
    (PM.find v old = Some y -> In v destinations /\ v <> source /\ 0 <= y) ->
    incl l destinations ->
    PM.find v (fold_left (fun m d =>
      if Pos.eqb d source then m else PM.add d (Z.max 0 (found worth d)) m) l old) = Some y ->
    In v destinations /\ v <> source /\ 0 <= y).
  { induction l as [|d l IH]; intros old O L F; [now apply O|]. simpl in F.
    apply IH in F; trivial; [|intros e E; apply L; now right].
    destruct (Pos.eqb_spec d source); trivial.
    destruct (Pos.eq_dec v d) as [->|D].
    - rewrite PM.gss. intros [= <-]. repeat split; trivial; [apply L; now left|lia].
    - now rewrite PM.gso. }
  apply H; [|now intros e E]. rewrite PM.gempty. discriminate.
Qed.

Lemma value_nonneg v : 0 <= found values v.
Proof.
  unfold found. destruct (PM.find v values) eqn:E; [|lia]. now apply values_spec in E.
Qed.

(** Every destination but the source receives once, so all worth is earned. *)
Lemma total_earned : total = sum (fun x => found values (receiver x)) xs.
Proof.
  assert (E : total = sum (found values) (map fst (PM.elements values))).
  { unfold total, total_of. rewrite sum_map. apply sum_ext. intros [k y] H.
    apply PM.elements_complete in H. unfold found. simpl. now rewrite H. }
  rewrite <- (sum_map (found values) receiver), E.
  pose proof transfers_once as D. apply NoDup_cons_iff in D as [_ D].
  apply Z.le_antisymm.
  - apply sum_incl; [apply keys_once| |intros; apply value_nonneg].
    intros v H. apply in_map_iff in H as ([k y] & <- & H). apply PM.elements_complete in H.
    apply values_spec in H as (H & O & _). simpl.
    destruct (rule_4_all I s V m source destinations M k H); [congruence|trivial].
  - rewrite (sum_ext (found values)
      (fun v => if PM.mem v values then found values v else 0) (map receiver xs)).
    2:{ intros v _. rewrite PM.mem_find. unfold found. now destruct (PM.find v values). }
    rewrite <- sum_filter. apply sum_incl; [now apply NoDup_filter| |intros; apply value_nonneg].
    intros v H. apply filter_In in H as [_ H]. rewrite PM.mem_find in H.
    destruct (PM.find v values) as [y|] eqn:F; [|discriminate].
    apply in_map_iff. exists (v, y). split; trivial. now apply PM.elements_correct.
Qed.

(** What a transfer earns: the worth of its receiver, minus what it pays. *)
Definition gain (x : timed_transfer) : Z :=
  found values (receiver x) - pays I rows (period s) x.

Lemma total_gain : sum gain xs = total - message_pays I rows s m.
Proof.
  rewrite total_earned. unfold gain, message_pays. fold xs.
  rewrite (sum_ext _ (fun x => found values (receiver x) + -1 * pays I rows (period s) x))
    by (intros; lia).
  rewrite sum_plus, sum_scale. lia.
Qed.

Let brings := with_caused xs T gain.
Let causes := caused xs T gain.
Let holding := holders xs source.

(** What a holder causes is at most all worth but its own. *)
Lemma causes_within t u : t <= T + 1 -> In u (holding t) ->
  (if Pos.eqb u source then 0 else found values u) + causes t u <= total.
Proof.
  intros L U.
  pose proof (caused_within xs source T until_end transfers_once transfer_cause
    (found values) t u value_nonneg L U) as H.
  rewrite <- total_earned in H.
  assert (causes t u <= caused xs T (fun x => found values (receiver x)) t u); [|lia].
  apply caused_le. intros x X. unfold gain. pose proof (pays_nonneg I rows (period s) x N). lia.
Qed.

(** ** Accounts that hold *)

Definition account_fits (t : Z) (u : node) (a : account) : Prop :=
  causes t u <= income a
  /\ (income a < total -> causes t u <= sums a
      /\ (kind I = StoreAndForward -> forall x, In x xs -> sender x = u -> t <= fst x ->
          above (best a) (receiver x) (brings x))).

Definition fits (t : Z) (all : PM.t account) : Prop :=
  forall u a, In u (holding t) -> PM.find u all = Some a -> account_fits t u a.

(** All senders and destinations have accounts. *)
Definition complete (all : PM.t account) : Prop :=
  (forall x, In x xs -> PM.find (sender x) all <> None)
  /\ (forall d, In d destinations -> PM.find d all <> None).

Lemma no_account t u all : t <= T + 1 -> complete all -> PM.find u all = None -> causes t u = 0.
Proof.
  intros L [C _] F. unfold causes. rewrite (caused_sum _ _ until_end) by trivial.
  rewrite sum_filter. apply sum_zeros. intros x X. unfold sends_later.
  destruct (Pos.eqb_spec (sender x) u) as [E|]; trivial. exfalso. apply (C x X). congruence.
Qed.

Lemma fits_at_end t : T < t -> fits t (accounts_at_end I source destinations).
Proof.
  intros L u a _ F.
  assert (E : a = nothing).
  { revert F. unfold accounts_at_end.
    assert (H : forall l old, (PM.find u old = Some a -> a = nothing) ->
      PM.find u (fold_left (fun m d => PM.add d nothing m) l old) = Some a -> a = nothing).
    { induction l as [|d l IH]; intros old O; [exact O|]. apply IH.
      destruct (Pos.eq_dec u d) as [->|D]; [rewrite PM.gss; congruence|now rewrite PM.gso]. }
    apply H. destruct (kind I); try (rewrite PM.gempty; discriminate).
    unfold PM.map. rewrite PM.gmapi. destruct (PM.find u (adjacent I)); simpl; congruence. }
  subst a. unfold account_fits, causes. rewrite caused_end by trivial. simpl.
  repeat split; try lia. intros _ x X _ G. apply until_end in X. lia.
Qed.

Lemma complete_at_end : complete (accounts_at_end I source destinations).
Proof.
  unfold accounts_at_end.
  assert (Keep : forall l old v, PM.find v old <> None ->
    PM.find v (fold_left (fun m d => PM.add d nothing m) l old) <> None).
  { induction l as [|d l IH]; intros old v O; [exact O|]. apply IH.
    destruct (Pos.eq_dec v d) as [->|D]; [rewrite PM.gss; congruence|now rewrite PM.gso]. }
  assert (New : forall l old v, In v l ->
    PM.find v (fold_left (fun m d => PM.add d nothing m) l old) <> None).
  { induction l as [|d l IH]; intros old v O; [easy|]. simpl.
    destruct O as [->|O]; [|now apply IH]. apply Keep. rewrite PM.gss. congruence. }
  split; [|intros d D; apply New; now right].
  intros x X. destruct two_kinds as [E|E]; rewrite E.
  2:{ apply Keep.
      destruct (path_parts I _ (transfer_allowed x X)) as (u & b & rest & Q & [c C] & _).
      unfold sender. rewrite Q. simpl. unfold PM.map. rewrite PM.gmapi.
      unfold channel, neighbours in C. destruct (PM.find u (adjacent I)); [easy|contradiction]. }
  apply New. destruct (transfer_cause x X) as [->|(y & Y & <- & _)]; [now left|right].
  destruct (rule_3 I s V m source destinations M y Y) as [_ R]. unfold may_receive in R.
  now rewrite E in R.
Qed.

(** ** One step back *)

Section Step.

Variables (p : preparation) (part : prepared) (tb : table) (t : Z).
Variables (dist tail : node -> option (PM.t Z)).
Hypothesis right_dist : forall v, dist v = distance_of I v.
Hypothesis right_tail : forall v, tail v = tail_of I tb v.
Hypothesis right_table : accepting part = tb.
Hypothesis right_beginnings : forall u, beginnings_at part u = map (fun next =>
  {| neighbour := fst next; capacity := snd next;
     reached_by := reach_of I tb dist tail u (fst next) |}) (neighbours I u).
Hypothesis right_fans : forall u, PM.find u (fans p) = None
  \/ kind I = StoreAndForward /\ PM.find u (fans p) = Some (fan_of I u).
Hypothesis step_in_time : 1 <= t <= T.
Hypothesis right_prices : forall q, price_at rows q t = table_price tb q.

Variable old : PM.t account.
Hypothesis old_complete : complete old.
Hypothesis old_fits : fits (t + 1) old.

Let amount := amounts values total (accepting part) source old.
Let listed :=
  match kind I with
  | StoreAndForward => []
  | _ => filter (fun e => 0 <? snd e) (PM.elements amount)
  end.
Let by_channel u := map (fun b => (capacity b, gains_from amount listed b)) (beginnings_at part u).

Lemma table_nonneg q : 0 <= table_price tb q.
Proof. rewrite <- right_prices. now apply price_nonneg. Qed.

(** The gain of a transfer in this step, with all that it causes, is computed. *)
Lemma brings_listed x c : In x xs -> fst x = t ->
  In (second_node (nodes (snd x)), c) (neighbours I (sender x)) ->
  listed_gain (gains_from amount listed
    {| neighbour := second_node (nodes (snd x)); capacity := c;
       reached_by := reach_of I tb dist tail (sender x) (second_node (nodes (snd x))) |})
    (receiver x) (brings x).
Proof.
  intros X E _.
  pose proof (pays_by_table I rows (period s) x tb K
    ltac:(intros; rewrite E; apply right_prices)) as Y.
  pose proof (transfer_allowed x X) as A.
  destruct (path_parts I _ A) as (u & b & rest & Q & _ & _). rewrite Q in A.
  destruct (reach_right I tb dist tail u b rest c right_dist right_tail table_nonneg A)
    as (y & R & L).
  assert (S : sender x = u) by (unfold sender; now rewrite Q).
  assert (W : receiver x = last_node (b :: rest)) by (unfold receiver; now rewrite Q).
  assert (B : second_node (nodes (snd x)) = b) by now rewrite Q.
  rewrite B, S. rewrite Q in Y. rewrite S in Y. rewrite <- W in R.
  assert (Z1 : 0 <= sum (hop_price I tb) (hops (u :: b :: rest)))
    by (apply sum_nonneg; intros; apply table_nonneg).
  pose proof (table_nonneg (Inject u)) as Z2.
  assert (H : In (receiver x) (holding (t + 1))) by (apply holder_new; trivial; lia).
  assert (O : receiver x <> source)
    by (apply (source_receives_nothing xs _ transfers_once); trivial).
  pose proof (causes_within (t + 1) (receiver x) ltac:(lia) H) as C.
  destruct (Pos.eqb_spec (receiver x) source); [contradiction|].
  assert (G : brings x = gain x + causes (t + 1) (receiver x))
    by (unfold brings, with_caused; now rewrite E).
  unfold gain in G.
  destruct (PM.find (receiver x) old) as [a|] eqn:F.
  - destruct (old_fits _ _ H F) as [Income _].
    apply gains_listed with
      (a := Z.min total (found values (receiver x) + income a)
        - table_price tb (Accept (receiver x)))
      (y := y); trivial; try lia.
    + unfold amount, amounts. rewrite PM.gmapi, F, right_table. simpl.
      destruct (Pos.eqb_spec (receiver x) source); [contradiction|reflexivity].
    + destruct two_kinds as [Kind|Kind]; [left|right].
      * intros Positive. unfold listed. rewrite Kind. apply filter_In.
        split; [|now apply Z.ltb_lt]. apply PM.elements_correct.
        unfold amount, amounts. rewrite PM.gmapi, F, right_table. simpl.
        destruct (Pos.eqb_spec (receiver x) source); [contradiction|reflexivity].
      * simpl. unfold reach_of. rewrite Kind. eauto.
  - left. rewrite (no_account (t + 1) _ old) in G by (trivial; lia).
    pose proof (table_nonneg (Accept (receiver x))).
    assert (found values (receiver x) = 0); [|lia].
    unfold found. destruct (PM.find (receiver x) values) eqn:D; trivial.
    apply values_spec in D as [D _]. exfalso. destruct old_complete as [_ Key].
    now apply (Key _ D).
Qed.

Lemma first_channel x : In x xs ->
  exists c, In (second_node (nodes (snd x)), c) (neighbours I (sender x)).
Proof.
  intros X. destruct (path_parts I _ (transfer_allowed x X)) as (u & b & rest & Q & [c C] & _).
  exists c. unfold sender. rewrite Q. exact C.
Qed.

Lemma brings_in_channels x : In x xs -> fst x = t ->
  listed_gain (flat_map snd (by_channel (sender x))) (receiver x) (brings x).
Proof.
  intros X E. destruct (first_channel x X) as [c C].
  apply listed_in_flat_map with (c, gains_from amount listed
    {| neighbour := second_node (nodes (snd x)); capacity := c;
       reached_by := reach_of I tb dist tail (sender x) (second_node (nodes (snd x))) |}).
  - unfold by_channel. rewrite right_beginnings, map_map. apply in_map_iff.
    exists (second_node (nodes (snd x)), c). now split.
  - simpl snd. now apply brings_listed.
Qed.

Let now u := filter (sends_now u t) xs.

Lemma now_spec u x : In x (now u) -> In x xs /\ sender x = u /\ fst x = t.
Proof.
  intros X. apply filter_In in X as [X E]. unfold sends_now in E.
  apply andb_true_iff in E as [E F]. apply Pos.eqb_eq in E. apply Z.eqb_eq in F. auto.
Qed.

(** Transfers of this step are counted by a resource that all of them use. *)
Lemma now_counted u r c (f : timed_transfer -> bool) :
  (forall x, In x (filter f (now u)) -> In (r, t) (uses I (period s) x)) ->
  (1 <= t <= period s -> used I s r t <= in_step I t c) ->
  Z.of_nat (length (filter f (now u))) <= carried I t c.
Proof.
  intros U C. unfold now in *. rewrite filter_filter in *. unfold carried.
  set (g := fun x => sends_now u t x && f x) in *.
  pose proof (users_counted I s r t g m
    ltac:(intros x X G; apply U, filter_In; now split)) as H. fold xs in H.
  destruct (filter g xs) as [|x l] eqn:E; [simpl; lia|].
  assert (X : In x (filter g xs)) by (rewrite E; now left).
  apply filter_In in X as [X G]. unfold g, sends_now in G.
  apply andb_true_iff in G as [G _]. apply andb_true_iff in G as [_ G]. apply Z.eqb_eq in G.
  apply transfer_in_time in X. specialize (C ltac:(lia)). lia.
Qed.

Lemma channel_counted u b c : In (b, c) (neighbours I u) ->
  Z.of_nat (length (filter (fun x => Pos.eqb (second_node (nodes (snd x))) b) (now u)))
    <= carried I t c.
Proof.
  intros C. apply now_counted with (r := Channel (link I (u, b))).
  - intros x X. apply filter_In in X as [X B]. apply now_spec in X as (X & S & E).
    apply Pos.eqb_eq in B. rewrite uses_now by trivial. right. right.
    apply in_map_iff. exists (u, b). split; [now rewrite E|].
    destruct (path_parts I _ (transfer_allowed x X)) as (u' & b' & rest & Q & _).
    unfold sender in S. rewrite Q in *. simpl in S, B. subst. now left.
  - intros R. now apply (rule_2 I s V t R).
Qed.

Lemma ports_counted u :
  Z.of_nat (length (now u))
    <= port_limit I u t (sum (fun each => carried I t (fst each)) (by_channel u)).
Proof.
  assert (Flow : Z.of_nat (length (now u))
    <= sum (fun each => carried I t (fst each)) (by_channel u)).
  { rewrite <- sum_ones. unfold by_channel. rewrite right_beginnings, map_map, sum_map.
    etransitivity; [apply (sum_grouped _ (fun x => second_node (nodes (snd x)))
      (neighbours I u)); [lia|]|].
    - intros x X. apply now_spec in X as (X & <- & _). now apply first_channel.
    - apply sum_le. intros [b c] C. rewrite sum_ones. simpl. now apply channel_counted. }
  unfold port_limit. destruct (PM.find u (injects I)) as [k|] eqn:F; trivial.
  apply Z.min_glb; trivial.
  replace (now u) with (filter (fun _ => true) (now u)).
  - apply now_counted with (r := Inject u).
    + intros x X. apply filter_In in X as [X _]. apply now_spec in X as (X & S & E).
      rewrite uses_now by trivial. left. congruence.
    + intros R. now apply (rule_2 I s V t R).
  - clear. induction (now u) as [|a l IH]; trivial. simpl. now rewrite IH.
Qed.

(** What a node earns in this step. *)
Lemma brings_at_most_earned u : sum brings (now u) <= earned I t u (by_channel u).
Proof.
  pose proof transfers_once as D. apply NoDup_cons_iff in D as [_ D].
  assert (Dnow : NoDup (map receiver (now u))) by now apply NoDup_map_filter.
  unfold earned. apply Z.min_glb.
  - transitivity (sum (fun x => Z.max 0 (brings x)) (now u)); [apply sum_le; lia|].
    etransitivity; [apply (sum_grouped _ (fun x => second_node (nodes (snd x)))
      (neighbours I u)); [lia|]|].
    + intros x X. apply now_spec in X as (X & <- & _). now apply first_channel.
    + unfold by_channel. rewrite right_beginnings, map_map, sum_map.
      apply sum_le. intros [b c] C. simpl.
      apply largest_bounds with (at_node := receiver).
      * now apply NoDup_map_filter.
      * intros x X. apply filter_In in X as [X B]. apply Pos.eqb_eq in B.
        apply now_spec in X as (X & <- & E). subst b. apply listed_gain_max.
        now apply brings_listed.
      * now apply channel_counted.
  - apply largest_bounds with (at_node := receiver); trivial; [|apply ports_counted].
    intros x X. apply now_spec in X as (X & <- & E).
    apply above_listed, keep_best_new. now apply brings_in_channels.
Qed.

(** Hop by hop, a node sends to neighbours only, and not to where it had the message from. *)
Lemma sends_few u : kind I = StoreAndForward ->
  within (Z.of_nat (length (filter (sends_later u t) xs))) (sends_at_most p source u).
Proof.
  intros Kind. unfold sends_at_most.
  destruct (right_fans u) as [->|[_ ->]]; [easy|].
  destruct (fan_of I u) as [n both_ways] eqn:Fan. simpl.
  set (later := filter (sends_later u t) xs).
  unfold fan_of in Fan. injection Fan as Count Both.
  set (near := nodup Pos.eq_dec (map fst (neighbours I u))) in *.
  change (Z.of_nat (@length node near) = n) in Count.
  assert (Spec : forall x, In x later -> In x xs /\ sender x = u).
  { intros x X. apply filter_In in X as [X E]. unfold sends_later in E.
    apply andb_true_iff in E as [E _]. apply Pos.eqb_eq in E. auto. }
  assert (Hop : forall x, In x xs -> exists c, channel I (sender x) (receiver x) c).
  { intros x X. pose proof (transfer_allowed x X) as A.
    destruct (path_parts I _ A) as (a & b & rest & Q & C & R).
    unfold sender, receiver. rewrite Q. destruct rest as [|v rest]; [exact C|].
    destruct R; congruence. }
  assert (Near : incl (map receiver later) near).
  { intros v H. apply in_map_iff in H as (x & <- & X). apply Spec in X as [X <-].
    apply nodup_In, in_map_iff. destruct (Hop x X) as [c C]. now exists (receiver x, c). }
  pose proof transfers_once as D. apply NoDup_cons_iff in D as [_ D].
  assert (Dlater : NoDup (map receiver later)) by now apply NoDup_map_filter.
  pose proof (NoDup_incl_length Dlater Near) as All. rewrite map_length in All.
  apply inj_le in All. rewrite Count in All.
  destruct (Pos.eqb_spec u source) as [|Other]; [rewrite andb_false_r; exact All|].
  destruct both_ways; [simpl|exact All].
  destruct later as [|x l] eqn:Empty; [simpl; lia|].
  destruct (Spec x (or_introl eq_refl)) as [X Sx].
  assert (Before : forall x, In x xs -> sender x = u ->
    exists y, In y xs /\ receiver y = u /\ fst y < fst x).
  { intros z Z Sz. destruct (transfer_cause z Z) as [|(y & Y & R & L)]; [congruence|].
    exists y. rewrite R, Sz in *. auto. }
  destruct (Before x X Sx) as (y & Y & Ry & _).
  assert (Back : In (sender y) near).
  { destruct (Hop y Y) as [c C]. rewrite Ry in C. unfold channel in C.
    unfold neighbours at 1 in C.
    destruct (PM.find (sender y) (adjacent I)) as [next|] eqn:F; [|contradiction].
    apply PM.elements_correct in F. rewrite forallb_forall in Both.
    specialize (Both _ F). simpl in Both. apply orb_true_iff in Both as [Both|Both].
    - exfalso. apply negb_true_iff in Both.
      assert (is_in u next = true); [|congruence].
      apply existsb_exists. exists (u, c). split; trivial. apply Pos.eqb_refl.
    - apply existsb_exists in Both as ([v d] & W & E). apply Pos.eqb_eq in E. simpl in E. subst v.
      apply nodup_In, in_map_iff. now exists (sender y, d). }
  assert (Not : ~ In (sender y) (map receiver (x :: l))).
  { intros H. apply in_map_iff in H as (z & E & Z). apply Spec in Z as [Z Sz].
    destruct (transfer_cause y Y) as [Q|(w & W & Rw & L)].
    - rewrite Q in E. now apply (source_receives_nothing xs source transfers_once z Z).
    - assert (w = z) by (apply (same_key receiver xs); congruence). subst w.
      destruct (Before z Z Sz) as (y' & Y' & Ry' & L').
      assert (y' = y) by (apply (same_key receiver xs); congruence). subst y'. lia. }
  assert (All' : (length (sender y :: map receiver (x :: l)) <= @length node near)%nat).
  { apply NoDup_incl_length; [now constructor|]. intros v [<-|H]; [trivial|now apply Near]. }
  apply inj_le in All'. rewrite Count in All'.
  change (length (sender y :: map receiver (x :: l))) with (S (length (map receiver (x :: l))))
    in All'.
  rewrite map_length, Nat2Z.inj_succ in All'.
  apply Z.le_trans with (n - 1); [|lia]. apply Z.lt_le_pred. now apply Z.le_succ_l.
Qed.

(** One step back, accounts hold again. *)
Lemma step_fits :
  complete (step_back I p part values total source t old)
  /\ fits t (step_back I p part values total source t old).
Proof.
  set (new := step_back I p part values total source t old).
  assert (Find : forall u, PM.find u new = option_map
    (account_before I p part total source t amount listed u) (PM.find u old)).
  { intros u. unfold new, step_back. rewrite PM.gmapi. reflexivity. }
  split.
  - destruct old_complete as [C1 C2].
    split; [intros x X|intros d D]; rewrite Find;
      [specialize (C1 x X); destruct (PM.find (sender x) old)
      |specialize (C2 d D); destruct (PM.find d old)]; simpl; congruence.
  - intros u a U F. rewrite Find in F.
    destruct (PM.find u old) as [b|] eqn:G; [|discriminate].
    injection F as <-.
    assert (U' : In u (holding (t + 1))) by now apply holder_later.
    destruct (old_fits u b U' G) as [_ Rest].
    pose proof (causes_within t u ltac:(lia) U) as All.
    pose proof (value_nonneg u) as Value.
    assert (All' : causes t u <= total) by (destruct (Pos.eqb u source); lia). clear All.
    unfold account_before. destruct (Z.leb_spec total (income b)) as [Full|Less].
    { split; lia. }
    destruct (Rest Less) as [Sums Best].
    assert (More : causes t u <= sums b + earned I t u (by_channel u)).
    { pose proof (brings_at_most_earned u) as E. unfold causes in Sums |- *.
      rewrite caused_step by lia. unfold brings, now in E. lia. }
    assert (Kept : kind I = StoreAndForward -> forall x, In x xs -> sender x = u ->
      t <= fst x -> above (keep_best (best b) (flat_map snd (by_channel u)))
        (receiver x) (brings x)).
    { intros Kind x X S L. destruct (Z.eq_dec (fst x) t) as [E|].
      - apply keep_best_new. rewrite <- S. now apply brings_in_channels.
      - apply keep_best_keeps. apply Best; trivial. lia. }
    fold (by_channel u). cbv zeta.
    destruct two_kinds as [Kind|Kind]; rewrite Kind.
    + repeat split; simpl; try lia. congruence.
    + split; simpl; [|intros _; split; [lia|intros _; now apply Kept]].
      apply Z.min_glb; [lia|]. unfold causes. rewrite (caused_sum _ _ until_end) by lia.
      apply largest_bounds with (at_node := receiver); [|
        |now apply sends_few].
      * apply NoDup_map_filter. pose proof transfers_once as D.
        now apply NoDup_cons_iff in D as [_ D].
      * intros x X. apply filter_In in X as [X S]. unfold sends_later in S.
        apply andb_true_iff in S as [S L]. apply Pos.eqb_eq in S. apply Z.leb_le in L.
        apply above_listed. now apply Kept.
Qed.

End Step.

(** ** All steps *)

Variable intervals : list interval.
Hypothesis C : covers rows T intervals.

Let p := prepare I intervals.

Lemma in_order_unique t0 parts q r t :
  in_order t0 T parts = true -> In q parts -> In r parts ->
  first_step q <= t <= last_step q -> first_step r <= t <= last_step r -> q = r.
Proof.
  assert (After : forall l t1 x, in_order t1 T l = true -> In x l -> t1 <= first_step x).
  { induction l as [|y l IH]; intros t1 x O X; [easy|]. simpl in O.
    apply andb_true_iff in O as [O O4]. apply andb_true_iff in O as [O O3].
    apply andb_true_iff in O as [O1 O2].
    apply Z.eqb_eq in O1. apply Z.leb_le in O2, O3.
    destruct X as [->|X]; [lia|]. specialize (IH _ _ O4 X). lia. }
  revert t0. induction parts as [|y l IH]; intros t0 O Q R Tq Tr; [easy|]. simpl in O.
  apply andb_true_iff in O as [_ O]. destruct Q as [->|Q], R as [->|R]; trivial.
  - specialize (After _ _ _ O R). lia.
  - specialize (After _ _ _ O Q). lia.
  - now apply IH with (last_step y + 1).
Qed.

Lemma part_prices part t : in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  1 <= t <= T -> first_step part <= t <= last_step part ->
  forall q, price_at rows q t = table_price (accepting part) q.
Proof.
  intros O H L R q. destruct (C t L) as (i & Hi & Ri & E).
  assert (S : part = prepare_interval I (remember (distance_of I) (adjacent I)) i).
  { apply (in_order_unique 1 (intervals_of p) _ _ t); trivial.
    simpl. now apply in_map. }
  rewrite S. apply E.
Qed.

Lemma fans_right u : PM.find u (fans p) = None
  \/ kind I = StoreAndForward /\ PM.find u (fans p) = Some (fan_of I u).
Proof.
  simpl. destruct two_kinds as [E|E]; rewrite E; [left; apply PM.gempty|].
  unfold remember. rewrite PM.gmapi. destruct (PM.find u (adjacent I)); simpl; auto.
Qed.

(** One step back in an interval. *)
Lemma part_step_fits part t old :
  in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  1 <= t <= T -> first_step part <= t <= last_step part ->
  complete old -> fits (t + 1) old ->
  complete (step_back I p part values total source t old)
  /\ fits t (step_back I p part values total source t old).
Proof.
  intros O H L R Old Fits.
  destruct (proj1 (in_map_iff _ _ _) H) as (i & E & Hi).
  apply step_fits with (tb := prices i) (dist := recall (distance_of I)
      (remember (distance_of I) (adjacent I)))
    (tail := recall (tail_of I (prices i)) (remember (tail_of I (prices i)) (adjacent I)));
    trivial; try (intros v; apply recall_remember).
  - now rewrite <- E.
  - intros u. rewrite <- E. unfold beginnings_at, neighbours. simpl. rewrite PM.gmapi.
    now destruct (PM.find u (adjacent I)).
  - apply fans_right.
  - intros q. rewrite (part_prices part t O H L R q). now rewrite <- E.
Qed.

Lemma steps_fit part n : forall t old,
  in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  t <= T -> t <= last_step part -> 1 <= first_step part -> first_step part + Z.of_nat n <= t + 1 ->
  complete old -> fits (t + 1) old ->
  complete (steps_back (step_back I p part values total source) t n old)
  /\ fits (t + 1 - Z.of_nat n) (steps_back (step_back I p part values total source) t n old).
Proof.
  induction n as [|n IH]; intros t old O H L R F S Old Fits.
  - simpl. now rewrite Z.sub_0_r.
  - rewrite Nat2Z.inj_succ in *. simpl steps_back.
    destruct (part_step_fits part t old) as [Old' Fits']; trivial; try lia.
    replace (t + 1 - Z.succ (Z.of_nat n)) with (t - 1 + 1 - Z.of_nat n) by lia.
    apply IH; trivial; try lia. now replace (t - 1 + 1) with t by lia.
Qed.

Lemma accounts_fit parts t :
  in_order 1 T (intervals_of p) = true -> incl parts (intervals_of p) ->
  1 <= t -> in_order t T parts = true ->
  complete (accounts I p values total source parts (accounts_at_end I source destinations))
  /\ fits t (accounts I p values total source parts (accounts_at_end I source destinations)).
Proof.
  intros O. revert t. induction parts as [|part l IH]; intros t H L Q.
  - simpl in *. apply Z.ltb_lt in Q. split; [apply complete_at_end|now apply fits_at_end].
  - simpl in Q.
    apply andb_true_iff in Q as [Q Q4]. apply andb_true_iff in Q as [Q Q3].
    apply andb_true_iff in Q as [Q1 Q2].
    apply Z.eqb_eq in Q1. apply Z.leb_le in Q2, Q3.
    destruct (IH (last_step part + 1)) as [Old Fits]; trivial; try lia.
    { intros x X. apply H. now right. }
    simpl.
    destruct (steps_fit part (Z.to_nat (last_step part + 1 - first_step part)) (last_step part)
      (accounts I p values total source l (accounts_at_end I source destinations)))
      as [Old' Fits']; trivial; try lia.
    { apply H. now left. }
    split; trivial.
    replace t with (last_step part + 1
      - Z.of_nat (Z.to_nat (last_step part + 1 - first_step part))) by lia.
    trivial.
Qed.

Lemma message_pays_nonneg : 0 <= message_pays I rows s m.
Proof. apply sum_nonneg. intros x _. now apply pays_nonneg. Qed.

Theorem message_pays_its_worth :
  worth_bound I p T worth source destinations <= message_pays I rows s m.
Proof.
  pose proof message_pays_nonneg as Z0. unfold worth_bound.
  destruct (in_order 1 T (intervals_of p)) eqn:O; trivial.
  destruct (accounts_fit (intervals_of p) 1) as [Old Fits]; trivial; try lia.
  { now intros x X. }
  fold values total. cbv zeta.
  set (all := accounts I p values total source (intervals_of p)
    (accounts_at_end I source destinations)) in *.
  assert (Zt : 0 <= T) by (unfold period in P; lia).
  assert (H : causes 1 source = total - message_pays I rows s m).
  { unfold causes. rewrite (caused_by_source xs source T until_end transfers_once transfer_cause)
      by trivial. apply total_gain. }
  assert (Here : In source (holding 1)) by now left.
  apply Z.max_lub; trivial.
  destruct (PM.find source all) as [a|] eqn:F.
  - destruct (Fits source a Here F) as [Income _]. lia.
  - rewrite (no_account 1 source all) in H by (trivial; lia). lia.
Qed.

End Message.

(** A message pays at least the worth of its destinations minus the income of its source. *)
Theorem worth_pays (I : instance) (s : schedule) (rows : list row) (T : Z)
    (intervals : list interval) (worth : PM.t Z) (m : positive) (source : node)
    (destinations : list node) :
  valid I s -> kind I <> TimeSlots -> period s <= T -> covers rows T intervals ->
  (forall r, In r rows -> 0 <= price r) ->
  PM.find m (messages I) = Some (source, destinations) ->
  worth_bound I (prepare I intervals) T worth source destinations <= message_pays I rows s m.
Proof. intros. now apply message_pays_its_worth. Qed.
