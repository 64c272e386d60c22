(** Where steps are no ticks, the rules of Model.v are simpler.

    A transfer uses everything in its own step, in time slots its i-th channel i - 1 slots later, and
    its last node has the message after its step. The definitions here have the names of those of
    Model.v, for these cases alone; [plain_valid] and [valid_plain] prove that they say the same,
    but for the rule that no step is empty, which no bound needs. The
    files that import this one are about them. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Facts.
Import ListNotations.
Open Scope Z_scope.

Definition late (I : instance) (i : Z) : Z := match kind I with TimeSlots => i | _ => 0 end.

Fixpoint channel_uses (I : instance) (P t : Z) (l : list hop) : list (resource * Z) :=
  match l with
  | [] => []
  | h :: rest => (Channel (link I h), slot I P t) :: channel_uses I P (t + late I 1) rest
  end.

Definition uses (I : instance) (P : Z) (x : timed_transfer) : list (resource * Z) :=
  let p := nodes (snd x) in
  let h := hops p in
  (Inject (first_node p), slot I P (fst x))
  :: (Accept (last_node p), slot I P (fst x + late I (Z.of_nat (length h) - 1)))
  :: channel_uses I P (fst x) h.

Definition all_uses (I : instance) (s : schedule) : list (resource * Z) :=
  flat_map (uses I (period s)) (timed s).

Definition used (I : instance) (s : schedule) (r : resource) (t : Z) : Z :=
  count (is_use r t) (all_uses I s).

Definition capacities (I : instance) (s : schedule) : Prop :=
  forall t, 1 <= t <= period s ->
    (forall a b c, channel I a b c -> used I s (Channel (link I (a, b))) t <= in_step I t c)
    /\ (forall v k, PM.find v (injects I) = Some k -> used I s (Inject v) t <= in_step I t k)
    /\ (forall v k, PM.find v (accepts I) = Some k -> used I s (Accept v) t <= in_step I t k).

Definition informed (I : instance) (s : schedule) (m : positive) (source : node)
    (x : timed_transfer) : Prop :=
  match kind I with
  | TimeSlots => reached s m source (sender x)
  | _ => sender x = source
      \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ fst y < fst x
  end.

(** All rules but that on empty steps, which no bound needs. *)
Record valid (I : instance) (s : schedule) : Prop := {
  rule_1 : forall x, In x (timed s) -> allowed I (nodes (snd x));
  rule_2 : capacities I s;
  known : forall x, In x (timed s) -> PM.mem (message (snd x)) (messages I) = true;
  rule_3 : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) ->
    forall x, In x (transfers m s) ->
      informed I s m source x /\ may_receive I destinations (receiver x);
  rule_4_once : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) -> NoDup (source :: receivers m s);
  rule_4_all : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) ->
    forall d, In d destinations -> In d (source :: receivers m s)
}.

(** ** They say the same *)

Section Same.
Variable I : instance.
Hypothesis N : in_ticks I = false.

Lemma no_time h : time I h = (0, 1).
Proof.
  unfold time. destruct (PM.find (fst h) (times I)) as [l|] eqn:E; [|reflexivity].
  destruct (look (snd h) l) as [[a b]|] eqn:L; [|reflexivity]. apply look_in in L.
  apply PM.elements_correct in E. destruct (takes_time (snd h, (a, b))) eqn:S.
  - exfalso. rewrite <- not_true_iff_false in N. apply N. apply existsb_exists.
    exists (fst h, l). split; trivial. apply existsb_exists. now exists (snd h, (a, b)).
  - apply negb_false_iff, andb_true_iff in S as [A B]. simpl in A, B.
    apply Z.eqb_eq in A, B. now subst.
Qed.

Lemma delay_late h : delay I h = late I 1.
Proof. unfold delay, late, latency. rewrite no_time. now destruct (kind I). Qed.

Lemma duration_1 l : duration I l = 1.
Proof. induction l as [|h l IH]; simpl; [reflexivity|]. now rewrite no_time, IH. Qed.

Lemma delays_late l : delays I l = late I (Z.of_nat (length l)).
Proof.
  induction l as [|h l IH]; simpl delays.
  - unfold late. now destruct (kind I).
  - rewrite IH, delay_late. unfold late. simpl length. destruct (kind I); lia.
Qed.

Lemma removelast_length (l : list hop) :
  l <> [] -> Z.of_nat (length (removelast l)) = Z.of_nat (length l) - 1.
Proof.
  intros H. destruct (exists_last H) as (k & h & ->).
  rewrite removelast_last, app_length. simpl length. lia.
Qed.

Lemma arrival_late t l : l <> [] -> arrival I t l = t + late I (Z.of_nat (length l) - 1).
Proof.
  intros H. unfold arrival. f_equal. rewrite delays_late.
  unfold late. destruct (kind I); trivial. now apply removelast_length.
Qed.

Lemma channel_begins_uses P t l : channel_begins I P t l = channel_uses I P t l.
Proof.
  revert t. induction l as [|h l IH]; intros t; simpl; [reflexivity|]. now rewrite delay_late, IH.
Qed.

Lemma uses_plain P x : hops (nodes (snd x)) <> [] -> Model.uses I P x = uses I P x.
Proof.
  intros H. unfold Model.uses. rewrite duration_1. simpl steps_from.
  assert (E : forall l : list (resource * Z),
    flat_map (fun b => map (pair (fst b)) [snd b]) l = l).
  { induction l as [|[q t] l IH]; [reflexivity|]. cbn [flat_map]. now rewrite IH. }
  transitivity (begins I P x); [exact (E _)|].
  unfold begins, uses. now rewrite channel_begins_uses, arrival_late.
Qed.

Lemma finish_plain x : finish I x = fst x.
Proof.
  unfold finish. destruct (kind I) eqn:K; trivial;
    unfold arrival; rewrite K, delays_late, duration_1; unfold late; rewrite K; lia.
Qed.

Lemma allowed_hops p : allowed I p -> hops p <> [].
Proof.
  unfold allowed, simple. intros A.
  assert (L : (2 <= length p)%nat) by (destruct (kind I); intuition lia).
  destruct p as [|a [|b p]]; simpl in L |- *; [lia|lia|easy].
Qed.

Lemma used_plain s q t : (forall x, In x (timed s) -> allowed I (nodes (snd x))) ->
  Model.used I s q t = used I s q t.
Proof.
  intros A. unfold Model.used, used, Model.all_uses, all_uses. f_equal.
  assert (H : forall x, In x (timed s) -> hops (nodes (snd x)) <> [])
    by (intros x X; now apply allowed_hops, A).
  clear A. induction (timed s) as [|x l IH]; [reflexivity|]. cbn [flat_map].
  rewrite IH by (intros y Y; apply H; now right).
  now rewrite uses_plain by (apply H; now left).
Qed.

Lemma informed_plain s m source x :
  Model.informed I s m source x <-> informed I s m source x.
Proof.
  unfold Model.informed, informed. destruct (kind I); try reflexivity;
    (split; (intros [?|(y & Y & R & L)]; [now left|right; exists y]);
     repeat split; trivial; now rewrite finish_plain in *).
Qed.

(** The rules of Model.v imply those of this file. *)
Theorem plain_valid s : Model.valid I s -> valid I s.
Proof.
  intros [R1 R2 _ K R3 R4 R5 _]. constructor; trivial.
  - intros t B. specialize (R2 t B). setoid_rewrite used_plain in R2; trivial.
  - intros m source destinations M x X. destruct (R3 m source destinations M x X).
    split; trivial. now apply informed_plain.
Qed.

(** The rules of this file imply those of Model.v. *)
Theorem valid_plain s :
  valid I s -> (may_be_empty I = false -> ~ In [] s) -> Model.valid I s.
Proof.
  intros [R1 R2 K R3 R4 R5] R6. constructor; trivial.
  - intros t B. specialize (R2 t B). setoid_rewrite used_plain; trivial.
  - intros x X. rewrite finish_plain.
    now apply timed_steps in X.
  - intros m source destinations M x X. destruct (R3 m source destinations M x X).
    split; trivial. now apply informed_plain.
Qed.

End Same.
