(** Rounds per chunk: messages are cut into equal chunks, and steps have several rounds.

    A claim is about an instance without chunks and rounds: whatever the number of chunks, and of
    the rounds of the steps, no schedule of at most [T] steps has fewer rounds per chunk than a
    quotient. Every chunk pays as much as its message, and all rounds offer at most their number
    times the largest offer of one round. Messages pay for routes or sets. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts Prices Walks Paths Routes Sets Worth Offers Check.
Import ListNotations.
Open Scope Z_scope.

(** The same network and model with other messages and rounds. *)
Definition with_pieces (I : instance) (pieces : PM.t (node * list node)) (r : list Z) : instance :=
  {| adjacent := adjacent I; shared := shared I; endpoints := endpoints I; times := times I;
     messages := pieces; kind := kind I; route := route I;
     injects := injects I; accepts := accepts I; rounds := r |}.

Definition names {A} (m : PM.t A) : list positive := map fst (PM.elements m).

(** [pieces] are [chunks] chunks of every message. *)
Definition cut (all pieces : PM.t (node * list node)) (chunks : Z) (whole : positive -> positive)
    : Prop :=
  (forall p x, PM.find p pieces = Some x -> PM.find (whole p) all = Some x)
  /\ forall m, In m (names all) ->
       sum (fun p => if Pos.eqb (whole p) m then 1 else 0) (names pieces) = chunks.

(** What one round offers in a step, and the largest such offer. *)
Definition round_offer (rows : list row) (t : Z) : Z :=
  sum (fun r => if active t r then price r * size r else 0) rows.

Definition largest_offer (rows : list row) (T : Z) : Z :=
  fold_left (fun m t => Z.max m (round_offer rows t)) (steps_from 1 (Z.to_nat T)) 0.

(** What all messages pay, and the largest offer of a round: their quotient is the bound. *)
Definition rounds_per_chunk (I : instance) (T : Z) (rows : list price_row) (groups : list group)
    : option (Z * Z) :=
  let into := incoming I in
  if in_ticks I || uses_worth groups || match kind I with TimeSlots => true | _ => false end
  then None
  else
    match all_some (read_row I into T) rows with
    | None => None
    | Some rows =>
        let l := make_intervals rows T in
        let layers := match kind I with StoreAndForward => all_steps I l T | _ => [] end in
        let known := remember (source_costs I l layers) (sources I) in
        match put_groups I l groups (PM.empty way) with
        | None => None
        | Some ways =>
            match total (message_payment I T l layers known
                          {| intervals_of := []; fans := PM.empty _ |} ways)
                    (PM.elements (messages I)) with
            | Never => None
            | Pays y => Some (y, largest_offer rows T)
            end
        end
    end.

(** The rounds of the first [n] steps. *)
Definition rounds_in_all (r : list Z) (n : Z) : Z :=
  sum (rounds_at r) (steps_from 1 (Z.to_nat n)).

(** ** Proofs *)

Definition value (p : payment) : Z := match p with Never => 0 | Pays y => y end.

Lemma total_value f l y : total f l = Pays y ->
  y = sum (fun e => value (f (fst e) (fst (snd e)) (snd (snd e)))) l
  /\ forall e, In e l -> f (fst e) (fst (snd e)) (snd (snd e)) <> Never.
Proof.
  revert y. induction l as [|[m [a d]] l IH]; intros y H; simpl in H.
  - inversion H. split; [reflexivity|easy].
  - destruct (f m a d) as [|x] eqn:F; [discriminate|].
    destruct (total f l) as [|z]; [discriminate|]. inversion H; subst.
    destruct (IH z eq_refl) as [-> N]. split; [simpl; now rewrite F|].
    intros e [<-|E]; [simpl; congruence|now apply N].
Qed.

Lemma largest_offer_least rows T t : 1 <= t <= T -> round_offer rows t <= largest_offer rows T.
Proof.
  intros B. unfold largest_offer.
  assert (I : In t (steps_from 1 (Z.to_nat T))).
  { assert (H : forall n k, k <= t < k + Z.of_nat n -> In t (steps_from k n)).
    { induction n as [|n IH]; intros k K; [lia|]. simpl.
      destruct (Z.eq_dec k t); [now left|right; apply IH; lia]. }
    apply H. lia. }
  assert (M : forall l m, m <= fold_left (fun m t => Z.max m (round_offer rows t)) l m
    /\ forall k, In k l -> round_offer rows k
       <= fold_left (fun m t => Z.max m (round_offer rows t)) l m).
  { induction l as [|k l IH]; intros m; simpl; [split; [lia|easy]|].
    destruct (IH (Z.max m (round_offer rows k))) as [A B']. split; [lia|].
    intros j [<-|J]; [lia|now apply B']. }
  now apply M.
Qed.

Lemma step_from_bounds n k t : In t (steps_from k n) -> k <= t < k + Z.of_nat n.
Proof.
  revert k. induction n as [|n IH]; intros k; simpl; [easy|]. intros [<-|H]; [lia|].
  apply IH in H. lia.
Qed.

(** All rounds offer at most their number times the largest offer of one round. *)
Lemma offered_rounds J rows T P :
  rounds_fit J = true -> P <= T ->
  offered J P rows <= largest_offer rows T * rounds_in_all (rounds J) P.
Proof.
  intros R L. unfold offered, offer, rounds_in_all.
  rewrite (sum_ext _ (fun r => sum (fun t =>
    price r * (if active t r then in_step J t (size r) else 0)) (steps_from 1 (Z.to_nat P))))
    by (intros r _; now rewrite sum_scale).
  rewrite sum_swap, <- sum_scale. apply sum_le. intros t H. apply step_from_bounds in H.
  apply Z.le_trans with (round_offer rows t * rounds_at (rounds J) t).
  - unfold round_offer. rewrite Z.mul_comm, <- sum_scale. apply sum_le. intros r _.
    unfold in_step. destruct (active t r); lia.
  - apply Z.mul_le_mono_nonneg_r; [now apply rounds_nonneg|]. apply largest_offer_least. lia.
Qed.

Lemma dearest_pieces I pieces r l c source destinations :
  dearest (with_pieces I pieces r) l c source destinations = dearest I l c source destinations.
Proof. induction destinations as [|d rest IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma route_payment_pieces I pieces r l layers known source destinations :
  route_payment (with_pieces I pieces r) l layers known source destinations
  = route_payment I l layers known source destinations.
Proof.
  unfold route_payment.
  change (by_source (with_pieces I pieces r) destinations) with (by_source I destinations).
  change (source_costs (with_pieces I pieces r)) with (source_costs I).
  change (route_costs (with_pieces I pieces r)) with (route_costs I).
  destruct (if by_source I destinations then recall (source_costs I l layers) known source
    else route_costs I l layers source destinations); [apply dearest_pieces|reflexivity].
Qed.

(** The theorem: fewer rounds per chunk are not enough for what all chunks pay. *)
Theorem rounds_per_chunk_sound I T rows groups paid most :
  rounds_per_chunk I T rows groups = Some (paid, most) ->
  forall pieces r chunks whole s,
    let J := with_pieces I pieces r in
    cut (messages I) pieces chunks whole -> rounds_fit J = true -> valid J s -> period s <= T ->
    paid * chunks <= most * rounds_in_all r (period s).
Proof.
  unfold rounds_per_chunk. intros H pieces r chunks whole s [C1 C2] R V L.
  set (J := with_pieces I pieces r) in *.
  destruct (in_ticks I || uses_worth groups || match kind I with TimeSlots => true | _ => false end)
    eqn:G; [discriminate|].
  apply orb_false_iff in G as [G _]. apply orb_false_iff in G as [_ G].
  destruct (all_some (read_row I (incoming I) T) rows) as [k|] eqn:E; [|discriminate].
  cbv zeta in H. set (l := make_intervals k T) in *.
  set (layers := match kind I with StoreAndForward => all_steps I l T | _ => [] end) in *.
  destruct (put_groups I l groups (PM.empty way)) as [ways|] eqn:Q; [|discriminate].
  match type of H with context [total ?g ?e] => set (f := g) in *; destruct (total f e) as [|y] eqn:Y;
    [discriminate|] end.
  injection H as <- <-. destruct (total_value _ _ _ Y) as [-> N].
  assert (Z : forall w, In w k -> sized J s w).
  { intros w W. destruct (all_some_in _ _ _ E w W) as (x & _ & X).
    destruct (read_row_at _ _ _ _ X) as (a & b & X').
    exact (make_row_sized J _ _ _ _ _ s X' V). }
  assert (P : forall w, In w k -> 0 <= price w) by (intros w W; apply (Z w W)).
  assert (O : sum (message_pays J k s) (names pieces) <= offered J (period s) k)
    by (apply (paid_at_most_offered J s (period s) k R); trivial; lia).
  pose proof (offered_rounds J k T (period s) R L) as O'. change (rounds J) with r in O'.
  set (g := fun m => match PM.find m (messages I) with
    | Some (a, d) => value (f m a d) | None => 0 end).
  assert (A : sum (fun e => value (f (fst e) (fst (snd e)) (snd (snd e))))
      (PM.elements (messages I)) = sum g (names (messages I))).
  { unfold names. rewrite sum_map. apply sum_ext. intros [m [a d]] M.
    apply PM.elements_complete in M. unfold g. simpl. now rewrite M. }
  assert (B : sum (fun p => g (whole p)) (names pieces) <= sum (message_pays J k s) (names pieces)).
  { apply sum_le. intros p X. unfold names in X. apply in_map_iff in X as ([q [a d]] & <- & X).
    apply PM.elements_complete in X. simpl. unfold g.
    pose proof (C1 _ _ X) as M. rewrite M.
    assert (W : match f (whole q) a d with Never => False
      | Pays y => y <= message_pays J k s q end).
    { unfold f, message_payment. destruct (PM.find (whole q) ways) as [[sets|worth once blocks]|] eqn:F.
      - apply (sets_pay J s T k l sets q a d V L (make_intervals_cover k T) P); [|exact X].
        assert (Z' : fitting I l ways).
        { apply (put_groups_fitting _ _ _ _ _ Q). intros x w U. now rewrite PM.gempty in U. }
        exact (Z' _ _ F).
      - destruct (put_groups_worth _ _ _ _ _ _ _ _ _ Q F) as [U|U]; [congruence|].
        now rewrite PM.gempty in U.
      - rewrite <- (route_payment_pieces I pieces r).
        exact (routes_pay_at_least J s T k V L P (sources I) q a d X). }
    destruct (f (whole q) a d) as [|y]; [easy|exact W]. }
  assert (D : sum (fun p => g (whole p)) (names pieces) = sum g (names (messages I)) * chunks).
  { rewrite Z.mul_comm, <- sum_scale.
    rewrite (sum_ext (fun m => chunks * g m) (fun m => sum (fun p =>
      if Pos.eqb (whole p) m then g m else 0) (names pieces))).
    - rewrite sum_swap. apply sum_ext. intros p X. symmetry.
      assert (K : In (whole p) (names (messages I))).
      { unfold names in *. apply in_map_iff in X as ([q x] & <- & X).
        apply PM.elements_complete in X. apply C1 in X. apply PM.elements_correct in X.
        apply in_map_iff. now exists (whole q, x). }
      pose proof (keys_distinct (messages I)) as U. fold (names (messages I)) in U.
      clear -K U. induction U as [|m k' N U IH]; [easy|]. simpl.
      destruct K as [->|K].
      + rewrite Pos.eqb_refl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
        intros x X. destruct (Pos.eqb_spec (whole p) x) as [<-|]; [contradiction|reflexivity].
      + destruct (Pos.eqb_spec (whole p) m) as [X|]; [now rewrite <- X in N|].
        rewrite IH by trivial. lia.
    - intros m M. rewrite <- (C2 m M), Z.mul_comm, <- sum_scale. apply sum_ext. intros p _.
      destruct (Pos.eqb (whole p) m); lia. }
  rewrite A. lia.
Qed.
