(** Facts about schedules, maps and counts that several files use. *)

Require Import ZArith List Bool Lia FMapPositive SetoidList.
Require Import Model Sums.
Import ListNotations.
Open Scope Z_scope.

Lemma look_in {A} b (l : list (node * A)) x : look b l = Some x -> In (b, x) l.
Proof.
  induction l as [|[c y] l IH]; simpl; [discriminate|].
  destruct (Pos.eqb_spec b c) as [->|]; [intros [= ->]; now left|]. right. auto.
Qed.

Lemma keys_distinct {A} (m : PM.t A) : NoDup (map fst (PM.elements m)).
Proof.
  pose proof (PM.elements_3w m) as D. induction D as [|[k x] l N D IH]; simpl; constructor; trivial.
  intros H. apply N. apply in_map_iff in H as ([k' y] & E & H). simpl in E. subst k'.
  apply InA_alt. exists (k, y). split; [reflexivity|trivial].
Qed.

Lemma count_sum {A} (f : A -> bool) l : count f l = sum (fun x => if f x then 1 else 0) l.
Proof.
  unfold count. induction l as [|a l IH]; [reflexivity|]. cbn [filter sum].
  destruct (f a); cbn [length]; lia.
Qed.

Lemma numbered_steps s t x : In x (numbered t s) -> t <= fst x < t + Z.of_nat (length s).
Proof.
  revert t. induction s as [|step rest IH]; intros t H; [easy|]. cbn [numbered length] in *.
  apply in_app_iff in H as [H|H].
  - apply in_map_iff in H as (y & <- & _). simpl. lia.
  - apply IH in H. lia.
Qed.

(** Every transfer is in a step of the schedule. *)
Lemma timed_steps s x : In x (timed s) -> 1 <= fst x <= period s.
Proof. intros H. apply numbered_steps in H. unfold period. lia. Qed.

Lemma transfers_timed m s x : In x (transfers m s) -> In x (timed s).
Proof. unfold transfers. intros H. now apply filter_In in H. Qed.

(** Whether some message has a destination that does not have it from the start. *)
Definition some_delivery (I : instance) : bool :=
  existsb (fun e => existsb (fun d => negb (Pos.eqb d (fst (snd e)))) (snd (snd e)))
    (PM.elements (messages I)).

(** No step at all is not enough for it. *)
Lemma delivery_takes_a_step I s :
  (forall m source destinations, PM.find m (messages I) = Some (source, destinations) ->
     forall d, In d destinations -> In d (source :: receivers m s)) ->
  some_delivery I = true -> 1 <= period s.
Proof.
  intros R H. apply existsb_exists in H as ([m [source destinations]] & E & H). simpl in H.
  apply existsb_exists in H as (d & D & N). apply PM.elements_complete in E.
  specialize (R m source destinations E d D).
  destruct s; [|unfold period; cbn [length]; lia].
  destruct R as [->|[]]. now rewrite Pos.eqb_refl in N.
Qed.

Lemma mem_add {A} v w (x : A) m : PM.mem w (PM.add v x m) = Pos.eqb w v || PM.mem w m.
Proof.
  rewrite !PM.mem_find. destruct (Pos.eqb_spec w v) as [->|N]; [now rewrite PM.gss|].
  now rewrite PM.gso.
Qed.

(** No element of the list is a second time in it, or in [seen]. *)
Fixpoint distinct (seen : PM.t unit) (l : list positive) : bool :=
  match l with
  | [] => true
  | v :: rest => if PM.mem v seen then false else distinct (PM.add v tt seen) rest
  end.

Lemma distinct_sound seen l :
  distinct seen l = true -> NoDup l /\ forall v, In v l -> PM.mem v seen = false.
Proof.
  revert seen. induction l as [|a l IH]; intros seen H; simpl in H.
  - split; [constructor|easy].
  - destruct (PM.mem a seen) eqn:E; [discriminate|]. apply IH in H as [D N]. split.
    + constructor; trivial. intros X. apply N in X. now rewrite mem_add, Pos.eqb_refl in X.
    + intros v [<-|X]; trivial. apply N in X. rewrite mem_add in X.
      now apply orb_false_iff in X.
Qed.
