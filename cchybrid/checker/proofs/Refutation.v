(** Refutation: a proof that the propositional formula for one step less has no assignment.

    [check_proof] checks a proof by reverse unit propagation, in the LRAT format: every clause that
    is added comes with the numbers of the clauses that become unit, one after the other, once the
    clause is negated, and of the one that becomes empty in the end. [check_proof_sound] proves
    that clauses with such a proof are true under no assignment, and [refutation_sound] that every
    valid schedule then has at least the steps that the evidence says. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Clauses.
Import ListNotations.
Open Scope Z_scope.

(** ** Proofs by reverse unit propagation *)

Inductive proof_line :=
  | Delete (numbers : list positive)
  | Add (number : positive) (clause : list Z) (hints : list positive).

Definition literal_key (l : Z) : positive :=
  match l with Z0 => xH | Zpos n => xO n | Zneg n => xI n end.

Definition is_false (false_ones : PM.t unit) (l : Z) : bool := PM.mem (literal_key l) false_ones.

Definition make_false (false_ones : PM.t unit) (l : Z) : PM.t unit :=
  PM.add (literal_key l) tt false_ones.

(** The first literal of a clause that is not false, and what comes after it. *)
Fixpoint first_open (false_ones : PM.t unit) (c : list Z) : option (Z * list Z) :=
  match c with
  | [] => None
  | l :: rest => if is_false false_ones l then first_open false_ones rest else Some (l, rest)
  end.

(** Unit propagation of the hints leads to a clause whose literals are all false. *)
Fixpoint leads_to_empty (known : PM.t (list Z)) (false_ones : PM.t unit) (hints : list positive)
    : bool :=
  match hints with
  | [] => false
  | n :: rest =>
      match PM.find n known with
      | None => false
      | Some c =>
          match first_open false_ones c with
          | None => true
          | Some (l, others) =>
              if forallb (fun k => is_false false_ones k || Z.eqb k l) others
              then leads_to_empty known (make_false false_ones (- l)) rest
              else false
          end
      end
  end.

Definition follows (known : PM.t (list Z)) (c : list Z) (hints : list positive) : bool :=
  leads_to_empty known (fold_left make_false c (PM.empty unit)) hints.

(** How a proof goes on: the clauses that are known, and the largest number of one; or it is over,
    because the empty clause was derived, or because a line is wrong. *)
Inductive progress := Goes (known : PM.t (list Z)) (newest : positive) | Refuted | Wrong.

Definition check_line (state : progress) (line : proof_line) : progress :=
  match state with
  | Goes known newest =>
      match line with
      | Delete l =>
          if forallb (fun n => PM.mem n known) l
          then Goes (fold_left (fun m n => PM.remove n m) l known) newest else Wrong
      | Add n c hints =>
          if Pos.ltb newest n && follows known c hints
          then match c with [] => Refuted | _ => Goes (PM.add n c known) n end
          else Wrong
      end
  | _ => state
  end.

Definition add_clause (state : PM.t (list Z) * positive) (c : list Z) : PM.t (list Z) * positive :=
  (PM.add (snd state) c (fst state), Pos.succ (snd state)).

(** The clauses of the formula have the numbers from 1 on. *)
Definition begin_proof (clauses : list (list Z)) : progress :=
  let (known, n) := fold_left add_clause clauses (PM.empty _, 1%positive) in
  Goes known (Pos.pred n).

Definition is_refuted (state : progress) : bool :=
  match state with Refuted => true | _ => false end.

(** The lines refute the clauses; a program may also call [check_line] line by line. *)
Definition check_proof (clauses : list (list Z)) (lines : list proof_line) : bool :=
  is_refuted (fold_left check_line lines (begin_proof clauses)).

(** ** Its theorem *)

Lemma literal_key_injective k l : literal_key k = literal_key l -> k = l.
Proof. destruct k, l; simpl; intros E; congruence. Qed.

Section Sound.
Variable a : positive -> bool.

(** All literals of a set are false. *)
Definition all_false (m : PM.t unit) : Prop :=
  forall l, is_false m l = true -> holds a l = false.

Lemma make_false_false m l : all_false m -> holds a l = false -> all_false (make_false m l).
Proof.
  intros F L k. unfold is_false, make_false.
  destruct (Pos.eq_dec (literal_key k) (literal_key l)) as [E|N].
  - apply literal_key_injective in E as ->. trivial.
  - rewrite PM.mem_find, PM.gso, <- PM.mem_find by trivial. apply F.
Qed.

Lemma first_open_holds m c : all_false m -> clause_holds a c = true ->
  exists l rest, first_open m c = Some (l, rest) /\ clause_holds a (l :: rest) = true.
Proof.
  intros F. induction c as [|l c IH]; simpl; [discriminate|]. intros H.
  destruct (is_false m l) eqn:E.
  - apply IH. apply F in E. now rewrite E in H.
  - now exists l, c.
Qed.

Lemma leads_sound known m hints :
  (forall n c, PM.find n known = Some c -> clause_holds a c = true) ->
  all_false m -> leads_to_empty known m hints = true -> False.
Proof.
  intros K. revert m. induction hints as [|n hints IH]; simpl; intros m F H; [discriminate|].
  destruct (PM.find n known) as [c|] eqn:E; [|discriminate]. apply K in E.
  destruct (first_open_holds m c F E) as (l & rest & O & T). rewrite O in H.
  destruct (forallb _ rest) eqn:A; [|discriminate]. rewrite forallb_forall in A.
  apply IH in H; trivial. apply make_false_false; trivial.
  assert (L : holds a l = true).
  { simpl in T. apply orb_true_iff in T as [T|T]; trivial.
    unfold clause_holds in T. apply existsb_exists in T as (k & I & T). specialize (A k I).
    apply orb_true_iff in A as [A|A].
    - apply F in A. congruence.
    - apply Z.eqb_eq in A. now subst. }
  destruct l; simpl in L |- *; [discriminate|now rewrite L|].
  now destruct (a p).
Qed.

Lemma negated_false c : clause_holds a c = false ->
  all_false (fold_left make_false c (PM.empty unit)).
Proof.
  assert (H : forall m, all_false m -> clause_holds a c = false ->
    all_false (fold_left make_false c m)).
  { induction c as [|l c IH]; simpl; intros m M F; [trivial|].
    apply orb_false_iff in F as [F1 F2]. apply IH; trivial. now apply make_false_false. }
  apply H. intros l. unfold is_false. now rewrite PM.mem_find, PM.gempty.
Qed.

Definition all_hold (state : progress) : Prop :=
  match state with
  | Goes known _ => forall n c, PM.find n known = Some c -> clause_holds a c = true
  | Refuted => False
  | Wrong => True
  end.

Lemma check_line_sound state line : all_hold state -> all_hold (check_line state line).
Proof.
  destruct state as [known newest| |]; simpl; trivial. intros K.
  destruct line as [l|n c hints].
  - destruct (forallb (fun n => PM.mem n known) l); simpl; trivial. revert known K.
    induction l as [|n l IH]; simpl; intros known K; [trivial|]. apply IH. intros k c.
    destruct (Pos.eq_dec k n) as [->|N]; [now rewrite PM.grs|].
    rewrite PM.gro by trivial. apply K.
  - destruct (Pos.ltb newest n && follows known c hints) eqn:E; simpl; trivial.
    apply andb_true_iff in E as [_ E].
    assert (C : clause_holds a c = true).
    { destruct (clause_holds a c) eqn:H; trivial. exfalso.
      eapply leads_sound; [exact K|apply negated_false; exact H|exact E]. }
    destruct c as [|l c]; [discriminate|]. simpl. intros k d.
    destruct (Pos.eq_dec k n) as [->|N]; [rewrite PM.gss|rewrite PM.gso by trivial; apply K].
    now intros [= <-].
Qed.

Lemma begin_proof_sound clauses :
  (forall c, In c clauses -> clause_holds a c = true) -> all_hold (begin_proof clauses).
Proof.
  unfold begin_proof. intros H.
  assert (G : forall l m, incl l clauses ->
    (forall n c, PM.find n (fst m) = Some c -> clause_holds a c = true) ->
    forall n c, PM.find n (fst (fold_left add_clause l m)) = Some c -> clause_holds a c = true).
  { induction l as [|d l IH]; simpl; intros m S M; [trivial|].
    apply IH; [intros x X; apply S; now right|]. intros n c. unfold add_clause. simpl.
    destruct (Pos.eq_dec n (snd m)) as [->|N].
    - rewrite PM.gss. intros [= <-]. apply H, S. now left.
    - rewrite PM.gso by trivial. apply M. }
  specialize (G clauses (PM.empty _, 1%positive) (incl_refl _)).
  destruct (fold_left add_clause clauses _) as [m n]. simpl in G |- *. apply G.
  intros k c. now rewrite PM.gempty.
Qed.

End Sound.

(** Clauses with a proof are not all true under any assignment. *)
Theorem check_proof_sound clauses lines : check_proof clauses lines = true ->
  ~ exists a, forall c, In c clauses -> clause_holds a c = true.
Proof.
  intros P (a & H). apply begin_proof_sound in H. revert H P. unfold check_proof.
  generalize (begin_proof clauses). induction lines as [|line lines IH]; simpl; intros state H.
  - destruct state; simpl in *; [discriminate|contradiction|discriminate].
  - apply IH. now apply check_line_sound.
Qed.

(** ** Refutation of a number of steps *)

(** The proof refutes the formula for one step less. An order of messages, if there is one, fixes
    these to the first steps. *)
Definition ordered_refutation (I : instance) (steps : Z) (order : list positive)
    (lines : list proof_line) : bool :=
  (1 <? steps)
  && match formula I (steps - 1) order with Some f => check_proof f lines | None => false end.

Definition refutation (I : instance) (steps : Z) (lines : list proof_line) : bool :=
  ordered_refutation I steps [] lines.

(** The theorem for the rules of Plain.v. *)
Theorem refutation_sound_plain I steps order lines s :
  ordered_refutation I steps order lines = true -> kind I <> TimeSlots -> valid I s ->
  steps <= period s.
Proof.
  unfold ordered_refutation. intros R K V. apply andb_true_iff in R as [_ R].
  destruct (formula I (steps - 1) order) as [f|] eqn:F; [|discriminate].
  apply check_proof_sound in R. destruct (Z_le_gt_dec steps (period s)) as [|G]; trivial.
  exfalso. apply R. apply (formula_true_plain I s (steps - 1) order); trivial. lia.
Qed.

(** Every valid schedule has at least the steps that a refutation is about. *)
Theorem ordered_refutation_sound I steps order lines s :
  ordered_refutation I steps order lines = true ->
  in_ticks I = false -> kind I <> TimeSlots -> Model.valid I s -> steps <= period s.
Proof.
  intros R N K V. apply (refutation_sound_plain I steps order lines); trivial.
  now apply plain_valid.
Qed.

(** The same without an order. *)
Theorem refutation_sound I steps lines s : refutation I steps lines = true ->
  in_ticks I = false -> kind I <> TimeSlots -> Model.valid I s -> steps <= period s.
Proof. apply ordered_refutation_sound. Qed.
