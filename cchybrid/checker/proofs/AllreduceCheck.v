(** The whole check of an allreduce or a scan, for any kind of evidence about a part.

    [needed] is a check of evidence about broadcasts, which has to be sound for schedules that obey
    the rules of Plain.v. [check_sums] verifies the schedule and checks the evidence;
    [check_sums_sound] proves that no valid schedule has fewer steps. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Allreduce AllreduceBounds AllreduceParts AllreduceVerify.
Import ListNotations.
Open Scope Z_scope.

(** ** Instances that allow more paths *)

(** The same but for the messages, which are not used, and the routing, which allows more. *)
Record wider (I J : instance) : Prop := {
  wider_adjacent : adjacent J = adjacent I;
  wider_shared : shared J = shared I;
  wider_times : times J = times I;
  wider_kind : kind J = kind I;
  wider_injects : injects J = injects I;
  wider_accepts : accepts J = accepts I;
  wider_rounds : rounds J = rounds I;
  wider_paths : forall p, allowed I p -> allowed J p
}.

(** What is valid stays so if more paths are allowed. *)
Theorem valid_sums_wider I J c members s :
  wider I J -> valid_sums I c members s -> valid_sums J c members s.
Proof.
  intros [A B C D E F G P] [R1 R2 R3 R4 R5 R6 R7 R8 R9 R10].
  assert (N : in_ticks J = in_ticks I) by (unfold in_ticks; now rewrite C).
  constructor; trivial.
  - now rewrite D, N.
  - intros x X. now apply P, R2.
  - intros t T. destruct (R3 t T) as (H1 & H2 & H3). unfold channel, neighbours, Model.in_step in *.
    rewrite A, E, F, G. repeat split; intros; rewrite (used_same I) by trivial; auto.
    rewrite (link_same I) by trivial. now apply H1.
  - intros M. apply R4. unfold may_be_empty in *. now rewrite <- N, <- D, <- G.
  - now rewrite D.
Qed.

(** As [any_routing] in Check.v: the same instance with paths of any length. *)
Definition with_any_routing (I : instance) : instance := {|
  adjacent := adjacent I; shared := shared I; endpoints := endpoints I; times := times I;
  messages := messages I; kind := kind I; route := AnyPath;
  injects := injects I; accepts := accepts I; rounds := rounds I
|}.

Lemma with_any_routing_wider I : wider I (with_any_routing I).
Proof.
  constructor; trivial. intros p. unfold allowed. simpl. destruct (kind I); trivial; now intros [].
Qed.

(** ** The check *)

Section Check.
Variable evidence : Type.
Variable needed : instance -> Z -> evidence -> option Z.
Hypothesis needed_sound : forall I limit e steps s,
  needed I limit e = Some steps -> valid I s -> steps <= period s.

Inductive sums_evidence := Exchanges | Part (member : node) (back : bool) (rest : evidence).

(** The steps that evidence proves. *)
Definition sums_needed (I : instance) (c : collective) (members : groups) (limit : Z)
    (e : sums_evidence) : option Z :=
  match e with
  | Exchanges =>
      match c with
      | Allreduce => if is_once members then exchange_steps I members else None
      | _ => None
      end
  | Part p back rest =>
      if fits_parts I members then needed (part I c members p back) limit rest else None
  end.

Definition any_or_own (any : bool) (I : instance) : instance :=
  if any then with_any_routing I else I.

Definition check_sums (I : instance) (c : collective) (members : groups) (any : bool)
    (s : schedule) (e : sums_evidence) : option Z :=
  if verify_sums I c members s then sums_needed (any_or_own any I) c members (period s) e
  else None.

Theorem sums_needed_sound I c members limit e steps s :
  sums_needed I c members limit e = Some steps -> valid_sums I c members s ->
  steps <= period s.
Proof.
  intros H V. destruct e as [|p back rest]; simpl in H.
  - destruct c; try discriminate. destruct (is_once members) eqn:O; [|discriminate].
    apply is_once_sound in O. now apply exchange_steps_sound with I members.
  - destruct (fits_parts I members) eqn:F; [|discriminate]. apply fits_parts_sound in F.
    apply (part_sound I c members p back steps F); trivial. intros other W.
    exact (needed_sound _ _ _ _ _ H W).
Qed.

(** What the check accepts is valid, and no valid schedule has fewer steps; with [any] none with
    paths of any length either. *)
Theorem check_sums_sound I c members any s e steps :
  check_sums I c members any s e = Some steps ->
  valid_sums I c members s
  /\ (forall other, valid_sums I c members other -> steps <= period other)
  /\ (any = true -> forall other,
        valid_sums (with_any_routing I) c members other -> steps <= period other).
Proof.
  unfold check_sums. intros H. destruct (verify_sums _ _ _ _) eqn:Q; [|discriminate].
  apply verify_sums_sound in Q. split; trivial.
  assert (A : forall other, valid_sums (any_or_own any I) c members other ->
    steps <= period other) by (intros; now apply sums_needed_sound with (1 := H)).
  split.
  - intros other V. apply A. destruct any; trivial.
    apply (valid_sums_wider I); trivial. apply with_any_routing_wider.
  - intros -> other V. now apply A.
Qed.
End Check.
