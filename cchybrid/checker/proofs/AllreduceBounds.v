(** Exchanges: the transfers that every allreduce needs, and the steps that these need.

    A message with n members takes at least 2 (n - 1) transfers: until the first member has the
    whole sum, each of the n - 1 others must have sent; after that, each of them must still receive.
    A step has no more transfers than its channels, and the ports of all nodes, carry. [exchanges]
    is the check, [exchanges_sound] the theorem. *)

Require Import ZArith List Bool Lia FMapPositive Permutation Sorted.
Require Import Model Plain Sums Facts Prices Offers Allreduce.
Import ListNotations.
Open Scope Z_scope.

(** ** The check *)

(** The channel is one whose capacity counts. *)
Definition counts_itself (I : instance) (each : node * (node * Z)) : bool :=
  hop_eqb (link I (fst each, fst (snd each))) (fst each, fst (snd each)).

(** The channel that has the capacity is one, and counts itself. *)
Definition shares_fit (I : instance) (each : node * (node * Z)) : bool :=
  let h := link I (fst each, fst (snd each)) in
  match look (snd h) (neighbours I (fst h)) with
  | Some c => counts_itself I (fst h, (snd h, c))
  | None => false
  end.

Definition all_inject (I : instance) : Z :=
  sum (fun each => port (injects I) (fst each) (outgoing I (fst each))) (PM.elements (adjacent I)).

Definition all_accept (I : instance) : Z :=
  sum (fun each => port (accepts I) (fst each) (snd each)) (PM.elements (incoming I)).

Definition all_carry (I : instance) : Z :=
  sum (fun each => snd (snd each)) (filter (counts_itself I) (all_channels I)).

(** The most transfers of a round. *)
Definition carried (I : instance) : Z :=
  Z.min (Z.min (all_inject I) (all_accept I))
    (if forallb (shares_fit I) (all_channels I) then all_carry I else all_inject I).

(** The transfers that every allreduce needs. *)
Definition transfers_needed (members : groups) : Z :=
  sum (fun each => 2 * (Z.of_nat (length (snd each)) - 1)) (PM.elements members).

(** Whether fewer than [steps] steps are ruled out. *)
Definition exchanges (I : instance) (members : groups) (steps : Z) : bool :=
  let limit := carried I in
  rounds_fit I && (0 <=? limit)
  && (sum (fun t => in_step I t limit) (steps_from 1 (Z.to_nat (steps - 1)))
      <? transfers_needed members).

Fixpoint steps_for (rounds : list Z) (limit step left : Z) : Z :=
  match rounds with
  | [] => step - 1 - (- left) / Z.max 1 limit
  | [r] => step - 1 - (- left) / Z.max 1 (limit * r)
  | r :: rest =>
      if left <=? limit * r then step else steps_for rest limit (step + 1) (left - limit * r)
  end.

(** The steps that the exchanges need: computed, and checked. *)
Definition exchange_steps (I : instance) (members : groups) : option Z :=
  let steps := steps_for (rounds I) (carried I) 1 (transfers_needed members) in
  if exchanges I members steps then Some steps else None.

(** No message has a member twice. *)
Definition members_once (members : groups) : Prop :=
  forall m all, PM.find m members = Some all -> NoDup all.

(** ** Every message takes 2 (n - 1) transfers *)

(** The first step in which something becomes true. *)
Lemma first_time (f : Z -> bool) (n : nat) :
  f 1 = false -> f (1 + Z.of_nat n) = true ->
  exists t, 1 <= t /\ f t = false /\ f (t + 1) = true.
Proof.
  intros A. induction n as [|n IH]; intros B.
  - change (1 + Z.of_nat 0) with 1 in B. congruence.
  - destruct (f (1 + Z.of_nat n)) eqn:E; [now apply IH|].
    exists (1 + Z.of_nat n). repeat split; [lia|trivial|]. rewrite <- B. f_equal. lia.
Qed.

Lemma filter_lengths {A} (f : A -> bool) l :
  (length (filter f l) + length (filter (fun x => negb (f x)) l) = length l)%nat.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. destruct (f a); simpl; lia. Qed.

Section One.
Variables (I : instance) (c : collective) (members : groups) (s : schedule).
Hypothesis V : valid_sums I c members s.
Variables (m : positive) (all : list node).
Hypothesis M : PM.find m members = Some all.

(** If a node holds a part of another one, that one has sent it: to this node, or earlier. *)
Lemma part_was_sent n : forall t v u x, t < Z.of_nat n ->
  In x (held s m all v t) -> In u x -> u <> v ->
  exists y, In y (transfers m s) /\ sender y = u /\ fst y < t
    /\ (receiver y = v \/ fst y < t - 1) /\ In u (sum_sent y).
Proof.
  induction n as [|n IH]; intros t v u x L H U N; apply held_spec in H;
    (destruct H as [[_ ->]|(y & Y & R & B & <-)]; [now destruct U as [->|[]]|]).
  - apply filter_In in Y as [Y _]. apply timed_steps in Y. lia.
  - destruct (Pos.eq_dec u (sender y)) as [->|D].
    + exists y. auto 7.
    + pose proof (sums_sent _ _ _ _ V m all M y Y) as S.
      destruct (sum_of_part _ _ _ S U) as (w & W & Q).
      destruct (IH (fst y) (sender y) u w) as (z & Z & E & F & _ & G); trivial; [lia|].
      exists z. repeat split; trivial; [lia|right; lia].
Qed.

Definition has_part (v : node) (t : Z) (p : node) : bool := existsb (is_in p) (held s m all v t).
Definition has_all (t : Z) (v : node) : bool := forallb (has_part v t) all.

Lemma has_part_spec v t p : has_part v t p = true <->
  exists x, In x (held s m all v t) /\ In p x.
Proof. unfold has_part. rewrite existsb_exists. now setoid_rewrite is_in_In. Qed.

Hypothesis C : c = Allreduce.
Hypothesis D : NoDup all.

Lemma has_all_end v : In v all -> has_all (period s + 1) v = true.
Proof.
  intros A. unfold has_all. rewrite forallb_forall. intros p P. apply has_part_spec.
  pose proof (sums_complete _ _ _ _ V m all M v A p) as E. unfold needed in E.
  apply is_in_In in A. rewrite A, C in E. destruct (E P) as (x & X & _ & Q). now exists x.
Qed.

Lemma has_none_start v p : In p all -> p <> v -> has_all 1 v = false.
Proof.
  intros P N. destruct (has_all 1 v) eqn:E; [|trivial]. exfalso. apply N.
  unfold has_all in E. rewrite forallb_forall in E. specialize (E p P).
  apply has_part_spec in E as (x & X & Q). apply held_spec in X.
  destruct X as [[_ ->]|(y & Y & _ & L & _)]; [now destruct Q as [->|[]]|].
  apply filter_In in Y as [Y _]. apply timed_steps in Y. lia.
Qed.

Theorem message_needs_transfers :
  2 * (Z.of_nat (length all) - 1) <= Z.of_nat (length (transfers m s)).
Proof.
  destruct all as [|a [|b rest]] eqn:Q; [simpl; lia|simpl; lia|]. rewrite <- Q in *.
  assert (AB : In a all /\ In b all /\ a <> b).
  { rewrite Q in *. inversion D as [|? ? H _]. repeat split; [now left|right; now left|].
    intros ->. apply H. now left. }
  destruct AB as (A & B & AB).
  destruct (first_time (fun t => existsb (has_all t) all) (length s)) as (t & T & F1 & F2).
  - destruct (existsb (has_all 1) all) eqn:E; [|trivial].
    apply existsb_exists in E as (v & _ & E). destruct (Pos.eq_dec a v) as [->|N].
    + now rewrite (has_none_start v b) in E by congruence.
    + now rewrite (has_none_start v a) in E by congruence.
  - apply existsb_exists. exists a. split; trivial. rewrite Z.add_comm. now apply has_all_end.
  - apply existsb_exists in F2 as (v & VA & F2). rename F1 into F.
    assert (F1 : forall w, In w all -> has_all t w = false).
    { intros w W. destruct (has_all t w) eqn:E; [|trivial].
      rewrite <- F. symmetry. apply existsb_exists. now exists w. }
    set (others := remove Pos.eq_dec v all).
    assert (O : NoDup others /\ (length all <= S (length others))%nat).
    { destruct (in_split v all VA) as (l & k & E). subst others. rewrite E in *.
      pose proof (NoDup_remove_2 _ _ _ D) as N. pose proof (NoDup_remove_1 _ _ _ D) as N1.
      rewrite remove_app, remove_cons, <- remove_app, notin_remove by trivial.
      split; trivial. rewrite !app_length. simpl. lia. }
    destruct O as (O & L).
    set (early := fun x : timed_transfer =>
      (fst x <? t) || ((fst x =? t) && Pos.eqb (receiver x) v)).
    assert (E1 : (length others <= length (filter early (transfers m s)))%nat).
    { rewrite <- (map_length sender). apply NoDup_incl_length; trivial. intros u U.
      apply in_remove in U as [U N]. unfold has_all in F2. rewrite forallb_forall in F2.
      destruct (proj1 (has_part_spec _ _ _) (F2 u U)) as (x & X & P).
      destruct (part_was_sent (Z.to_nat (t + 2)) (t + 1) v u x) as (y & Y & S & L1 & L2 & _);
        trivial; [lia|].
      rewrite <- S. apply in_map. apply filter_In. split; trivial. unfold early.
      apply orb_true_iff. rewrite andb_true_iff, Z.ltb_lt, Z.eqb_eq, Pos.eqb_eq.
      destruct (Z.eq_dec (fst y) t); [right|left; lia]. split; trivial.
      destruct L2; [trivial|lia]. }
    assert (E2 : (length others
      <= length (filter (fun x => negb (early x)) (transfers m s)))%nat).
    { rewrite <- (map_length receiver). apply NoDup_incl_length; trivial. intros w W.
      apply in_remove in W as [W N]. specialize (F1 w W).
      assert (P : exists p, In p all /\ has_part w t p = false).
      { unfold has_all in F1. clear - F1. induction all as [|p l IH]; [discriminate|].
        simpl in F1. apply andb_false_iff in F1 as [F1|F1].
        - exists p. split; [now left|trivial].
        - destruct (IH F1) as (q & J & K). exists q. split; [now right|trivial]. }
      destruct P as (p & P & G). pose proof (has_all_end w W) as K.
      unfold has_all in K. rewrite forallb_forall in K.
      destruct (proj1 (has_part_spec _ _ _) (K p P)) as (x & X & J).
      assert (NX : ~ In x (held s m all w t)).
      { intros H. enough (has_part w t p = true) by congruence. apply has_part_spec.
        now exists x. }
      rewrite held_spec in NX. apply held_spec in X.
      destruct X as [X|(y & Y & R & _ & S)]; [now destruct NX; left|].
      assert (fst y >= t).
      { destruct (Z_lt_le_dec (fst y) t); [|lia]. destruct NX. right. now exists y. }
      rewrite <- R. apply in_map. apply filter_In. split; trivial. unfold early.
      apply negb_true_iff, orb_false_iff. split; [apply Z.ltb_ge; lia|].
      apply andb_false_iff. right. apply Pos.eqb_neq. congruence. }
    pose proof (filter_lengths early (transfers m s)). lia.
Qed.
End One.

(** ** A step has no more transfers than channels and ports carry *)

Definition in_this_step (t : Z) (x : timed_transfer) : bool := Z.eqb t (fst x).

Section Steps.
Variables (I : instance) (s : schedule).
Hypothesis K : kind I <> TimeSlots.
Hypothesis R1 : forall x, In x (timed s) -> allowed I (nodes (snd x)).
Hypothesis R2 : capacities I s.

Lemma slot_same P t : slot I P t = t.
Proof. unfold slot. now destruct (kind I). Qed.

Lemma late_none i : late I i = 0.
Proof. unfold late. now destruct (kind I). Qed.

(** Copied from Offers.v, where these two are about valid schedules. *)
Lemma injected_within v t : 1 <= t <= period s ->
  used I s (Inject v) t <= in_step I t (port (injects I) v (outgoing I v)).
Proof.
  intros T. assert (O : used I s (Inject v) t <= in_step I t (outgoing I v)).
  { rewrite used_sum.
    apply Z.le_trans with (sum (fun x => sum (fun next =>
      count (is_use (Channel (link I (v, fst next))) t) (uses I (period s) x))
      (neighbours I v)) (timed s)).
    - apply sum_le. intros x X. apply count_injects. now apply R1.
    - rewrite sum_swap. unfold outgoing, in_step. rewrite Z.mul_comm, <- sum_scale.
      apply sum_le. intros [b c] C. rewrite <- used_sum.
      destruct (R2 t T) as [H _]. specialize (H v b c C).
      unfold in_step in H. simpl in *. lia. }
  destruct (R2 t T) as (_ & H & _). unfold port.
  destruct (PM.find v (injects I)) as [k|] eqn:E; [|trivial].
  destruct (Z.min_spec k (outgoing I v)) as [[_ ->]|[_ ->]]; auto.
Qed.

Lemma accepted_within v t : 1 <= t <= period s ->
  used I s (Accept v) t <= in_step I t (port (accepts I) v (found (incoming I) v)).
Proof.
  intros T. assert (O : used I s (Accept v) t <= in_step I t (found (incoming I) v)).
  { rewrite used_sum, found_incoming.
    apply Z.le_trans with (sum (fun x => sum (fun each =>
      count (is_use (Channel (link I (fst each, v))) t) (uses I (period s) x))
      (filter (into_node v) (all_channels I))) (timed s)).
    - apply sum_le. intros x X. apply count_accepts. now apply R1.
    - rewrite sum_swap. unfold in_step. rewrite Z.mul_comm, <- sum_scale.
      apply sum_le. intros [a [b c]] C. rewrite <- used_sum.
      apply filter_In in C as [C E]. apply Pos.eqb_eq in E. simpl in E. subst b.
      apply all_channels_in in C.
      destruct (R2 t T) as [H _]. specialize (H a v c C).
      unfold in_step in H. simpl in *. lia. }
  destruct (R2 t T) as (_ & _ & H). unfold port.
  destruct (PM.find v (accepts I)) as [k|] eqn:E; [|trivial].
  destruct (Z.min_spec k (found (incoming I) v)) as [[_ ->]|[_ ->]]; auto.
Qed.

(** If every transfer uses one of some resources, there are not more than these carry. *)
Lemma transfers_within {A} (l : list A) (q : A -> resource) (size : A -> Z) t :
  1 <= t <= period s ->
  (forall a, In a l -> used I s (q a) t <= in_step I t (size a)) ->
  (forall x, In x (timed s) -> fst x = t ->
     exists a, In a l /\ In (q a, t) (uses I (period s) x)) ->
  count (in_this_step t) (timed s) <= in_step I t (sum size l).
Proof.
  intros T B U. rewrite count_sum.
  apply Z.le_trans with (sum (fun x => sum (fun a =>
    count (is_use (q a) t) (uses I (period s) x)) l) (timed s)).
  - apply sum_le. intros x X. unfold in_this_step. destruct (Z.eqb_spec t (fst x)) as [E|].
    + destruct (U x X (eq_sym E)) as (a & J & H).
      apply Z.le_trans with (count (is_use (q a) t) (uses I (period s) x)).
      * apply (count_in _ _ _ H). unfold is_use. cbn [fst snd].
        now rewrite resource_eqb_refl, Z.eqb_refl.
      * apply (sum_single (fun a => count (is_use (q a) t) (uses I (period s) x)) l a J).
        intros. apply count_nonneg.
    + apply sum_nonneg. intros. apply count_nonneg.
  - rewrite sum_swap. unfold in_step. rewrite Z.mul_comm, <- sum_scale.
    apply sum_le. intros a J. rewrite <- used_sum, Z.mul_comm. now apply B.
Qed.

Lemma channel_key a b c : channel I a b c -> exists l, In (a, l) (PM.elements (adjacent I)).
Proof.
  unfold channel, neighbours. destruct (PM.find a (adjacent I)) as [l|] eqn:E; [|easy].
  intros _. exists l. now apply PM.elements_correct.
Qed.

Lemma incoming_mem a b c : channel I a b c -> PM.mem b (incoming I) = true.
Proof.
  intros H. apply all_channels_in in H. unfold all_channels in H.
  apply in_flat_map in H as ([a' l] & E & H). simpl in H.
  apply in_map_iff in H as ([b' c'] & J & H). inversion J; subst. clear J.
  unfold incoming.
  assert (G : forall next m, PM.mem b m = true -> PM.mem b (add_capacity m next) = true).
  { intros next m J. unfold add_capacity. rewrite PM.mem_find in *.
    destruct (Pos.eq_dec b (fst next)) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso]. }
  assert (G1 : forall k m, PM.mem b m = true ->
    PM.mem b (fold_left add_capacity k m) = true).
  { induction k as [|next k IH]; simpl; auto. }
  assert (G2 : forall k m, In (b, c) k -> PM.mem b (fold_left add_capacity k m) = true).
  { induction k as [|next k IH]; simpl; [easy|]. intros m [->|J]; [|now apply IH].
    apply G1. unfold add_capacity. now rewrite PM.mem_find, PM.gss. }
  assert (G3 : forall k m, PM.mem b m = true ->
    PM.mem b (fold_left (fun m (each : node * list (node * Z)) =>
      fold_left add_capacity (snd each) m) k m) = true).
  { induction k as [|next k IH]; simpl; auto. }
  revert E. generalize (PM.empty Z). generalize (PM.elements (adjacent I)).
  induction l0 as [|each k IH]; simpl; [easy|]. intros m [->|J]; [|now apply IH].
  apply G3, G2, H.
Qed.

Lemma hop_eqb_eq g h : hop_eqb g h = true -> g = h.
Proof.
  destruct g as [a b], h as [d e]. unfold hop_eqb. simpl. rewrite andb_true_iff, !Pos.eqb_eq.
  now intros [-> ->].
Qed.

Theorem step_within t : 1 <= t <= period s ->
  count (in_this_step t) (timed s) <= in_step I t (carried I).
Proof.
  intros T.
  assert (H1 : count (in_this_step t) (timed s) <= in_step I t (all_inject I)).
  { unfold all_inject. apply transfers_within with (q := fun each => Inject (fst each)); trivial.
    - intros a _. now apply injected_within.
    - intros x X E. pose proof (R1 x X) as A. pose proof (allowed_length _ _ A) as L.
      pose proof (allowed_channel I (nodes (snd x))) as C. unfold uses.
      destruct (nodes (snd x)) as [|a [|b p]]; simpl in L; try lia.
      destruct (C a b A (or_introl eq_refl)) as (c & H).
      destruct (channel_key _ _ _ H) as (l & J). exists (a, l). split; trivial.
      left. simpl. now rewrite slot_same, E. }
  assert (H2 : count (in_this_step t) (timed s) <= in_step I t (all_accept I)).
  { unfold all_accept. apply transfers_within with (q := fun each => Accept (fst each)); trivial.
    - intros [v f] J. apply PM.elements_complete in J. pose proof (accepted_within v t T) as H.
      unfold found in H. now rewrite J in H.
    - intros x X E. pose proof (R1 x X) as A.
      destruct (hops_last _ (allowed_length _ _ A)) as (k & a & Q).
      destruct (allowed_channel I (nodes (snd x)) a (last_node (nodes (snd x))) A) as (c & H).
      { rewrite Q. apply in_or_app. right. now left. }
      apply incoming_mem in H. rewrite PM.mem_find in H.
      destruct (PM.find (last_node (nodes (snd x))) (incoming I)) as [f|] eqn:F; [|discriminate].
      apply PM.elements_correct in F. exists (last_node (nodes (snd x)), f). split; trivial.
      right. left. cbn [fst]. now rewrite slot_same, late_none, Z.add_0_r, E. }
  assert (H3 : forallb (shares_fit I) (all_channels I) = true ->
    count (in_this_step t) (timed s) <= in_step I t (all_carry I)).
  { intros W. rewrite forallb_forall in W. unfold all_carry.
    apply transfers_within
      with (q := fun each => Channel (link I (fst each, fst (snd each)))); trivial.
    - intros [a [b c]] J. apply filter_In in J as [J _]. apply all_channels_in in J.
      destruct (R2 t T) as [H _]. now apply H.
    - intros x X E. pose proof (R1 x X) as A. pose proof (allowed_length _ _ A) as L.
      pose proof (allowed_channel I (nodes (snd x))) as C. unfold uses.
      destruct (nodes (snd x)) as [|a [|b p]]; simpl in L; try lia.
      destruct (C a b A (or_introl eq_refl)) as (c & H). apply all_channels_in in H.
      specialize (W _ H). unfold shares_fit in W. cbn [fst snd] in W.
      destruct (link I (a, b)) as [d e] eqn:N. cbn [fst snd] in W.
      destruct (look e (neighbours I d)) as [k|] eqn:G; [|discriminate].
      exists (d, (e, k)). split.
      + apply filter_In. split; trivial. apply all_channels_in. now apply look_in.
      + unfold counts_itself in W. apply hop_eqb_eq in W. cbn [fst snd] in W. simpl fst. simpl snd.
        rewrite W. right. right. cbn [hops channel_uses]. rewrite N, slot_same. left.
        now rewrite E. }
  unfold carried.
  destruct (Z.min_spec (all_inject I) (all_accept I)) as [[_ ->]|[_ ->]];
    destruct (forallb (shares_fit I) (all_channels I));
    match goal with |- context [Z.min ?x ?y] =>
      destruct (Z.min_spec x y) as [[_ ->]|[_ ->]] end; auto.
Qed.

Theorem all_within :
  Z.of_nat (length (timed s))
  <= sum (fun t => in_step I t (carried I)) (steps_from 1 (length s)).
Proof.
  apply Z.le_trans
    with (sum (fun t => count (in_this_step t) (timed s)) (steps_from 1 (length s))).
  - apply Z.le_trans with (sum (fun x => sum (fun t =>
      if in_this_step t x then 1 else 0) (steps_from 1 (length s))) (timed s)).
    + apply Z.le_trans with (sum (fun _ : timed_transfer => 1) (timed s)).
      * apply Z.eq_le_incl. clear. induction (timed s) as [|x l IH]; [reflexivity|].
        cbn [length sum]. lia.
      * apply sum_le. intros x X. apply timed_steps in X.
        pose proof (sum_single (fun t => if in_this_step t x then 1 else 0)
          (steps_from 1 (length s)) (fst x)) as H. cbv beta in H.
        replace (in_this_step (fst x) x) with true in H
          by (symmetry; apply Z.eqb_refl). apply H.
        -- apply in_steps_from. unfold period in X. lia.
        -- intros t _. destruct (in_this_step t x); lia.
    + rewrite sum_swap. apply sum_le. intros t _. rewrite count_sum. lia.
  - apply sum_le. intros t T. apply in_steps_from in T. apply step_within. unfold period. lia.
Qed.
End Steps.

(** All transfers of all messages. *)
Lemma messages_within (members : groups) s :
  sum (fun m => Z.of_nat (length (transfers m s))) (map fst (PM.elements members))
  <= Z.of_nat (length (timed s)).
Proof.
  apply Z.le_trans with (sum (fun m => sum (fun x => if of_message m x then 1 else 0) (timed s))
    (map fst (PM.elements members))).
  { apply sum_le. intros m _. rewrite <- count_sum. unfold count, transfers. lia. }
  rewrite sum_swap.
  apply Z.le_trans with (sum (fun _ : timed_transfer => 1) (timed s)).
  - apply sum_le. intros x _. pose proof (keys_distinct members) as D.
    induction (map fst (PM.elements members)) as [|m l IH]; simpl; [lia|].
    inversion D as [|? ? N D']; subst. specialize (IH D'). unfold of_message at 1.
    destruct (Pos.eqb_spec m (message (snd x))) as [E|]; [|lia].
    enough (sum (fun m => if of_message m x then 1 else 0) l = 0) by lia.
    transitivity (sum (fun _ : positive => 0) l); [|apply sum_zero].
    apply sum_ext. intros k J. unfold of_message.
    destruct (Pos.eqb_spec k (message (snd x))); [|trivial]. destruct N. now subst.
  - apply Z.eq_le_incl. clear. induction (timed s) as [|x l IH]; [reflexivity|].
    cbn [length sum]. lia.
Qed.

Theorem allreduce_needs_transfers I members s :
  members_once members -> valid_sums I Allreduce members s ->
  transfers_needed members <= Z.of_nat (length (timed s)).
Proof.
  intros O V. etransitivity; [|apply (messages_within members)]. rewrite sum_map.
  apply sum_le. intros [m all] J. apply PM.elements_complete in J.
  apply (message_needs_transfers I Allreduce members s V m all J eq_refl (O m all J)).
Qed.

(** No allreduce has fewer steps than its transfers need. *)
Theorem exchanges_sound I members steps s :
  members_once members -> exchanges I members steps = true ->
  valid_sums I Allreduce members s -> steps <= period s.
Proof.
  intros O H V. destruct (Z_lt_le_dec (period s) steps) as [B|]; [|trivial]. exfalso.
  unfold exchanges in H. rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt in H.
  destruct H as ((R & C) & H). pose proof (allreduce_needs_transfers I members s O V) as N.
  destruct (sums_in_steps _ _ _ _ V) as [K _].
  pose proof (all_within I s K (sums_paths _ _ _ _ V) (sums_capacities _ _ _ _ V)) as W.
  assert (E : Z.to_nat (steps - 1)
    = (length s + (Z.to_nat (steps - 1) - length s))%nat) by (unfold period in B; lia).
  rewrite E, steps_from_app, sum_app in H.
  enough (0 <= sum (fun t => in_step I t (carried I))
    (steps_from (1 + Z.of_nat (length s)) (Z.to_nat (steps - 1) - length s))) by lia.
  apply sum_nonneg. intros t _. unfold in_step. pose proof (rounds_nonneg I t R). nia.
Qed.

Theorem exchange_steps_sound I members steps s :
  members_once members -> exchange_steps I members = Some steps ->
  valid_sums I Allreduce members s -> steps <= period s.
Proof.
  unfold exchange_steps. intros O H V.
  destruct (exchanges _ _ _) eqn:E in H; [|discriminate]. inversion H; subst.
  now apply exchanges_sound with I members.
Qed.
