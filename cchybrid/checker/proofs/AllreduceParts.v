(** Parts: the broadcast from a member, and the reduction to it, in every allreduce or scan.

    [part] is the instance: with the messages of all allreduces or scans that have the member, each
    of its part to the members that need it, or backwards of the parts that it needs. A message that
    floods a schedule, by the first transfers into each node, is a valid broadcast ([flood_valid]).
    So every valid schedule contains one of the part, with as many steps ([part_contained]), and
    what is proved of all schedules of the part holds for the whole ([part_sound],
    [no_part_sound]). *)

Require Import ZArith List Bool Lia FMapPositive Permutation Sorted.
Require Import Model Plain Sums Facts Prices Offers Allreduce AllreduceBounds.
Import ListNotations.
Open Scope Z_scope.

(** ** Sublists *)

Inductive sublist {A} : list A -> list A -> Prop :=
  | sublist_nil : sublist [] []
  | sublist_skip a l k : sublist l k -> sublist l (a :: k)
  | sublist_keep a l k : sublist l k -> sublist (a :: l) (a :: k).

Lemma sublist_in {A} (l k : list A) x : sublist l k -> In x l -> In x k.
Proof. induction 1; simpl; intuition. Qed.

Lemma sublist_sum {A} (f : A -> Z) l k :
  (forall x, 0 <= f x) -> sublist l k -> sum f l <= sum f k.
Proof. intros H. induction 1 as [|a|a]; simpl; [lia| |lia]. specialize (H a). lia. Qed.

Lemma sublist_map {A B} (f : A -> B) l k : sublist l k -> sublist (map f l) (map f k).
Proof. induction 1; simpl; now constructor. Qed.

Lemma sublist_app {A} (l k l2 k2 : list A) :
  sublist l k -> sublist l2 k2 -> sublist (l ++ l2) (k ++ k2).
Proof. intros H G. induction H; simpl; trivial; now constructor. Qed.

Lemma sublist_numbered f s : Forall2 sublist f s -> forall t, sublist (numbered t f) (numbered t s).
Proof.
  induction 1; intros t; simpl; [constructor|]. apply sublist_app; trivial. now apply sublist_map.
Qed.

(** ** A message that floods a schedule *)

Section Flood.
Variable wanted : transfer -> bool.

(** The nodes that have each message. *)
Definition knowledge := positive -> list node.

Definition learn (k : knowledge) (x : transfer) : knowledge :=
  fun m => if Pos.eqb m (message x) then last_node (nodes x) :: k m else k m.

Definition spreads (start now : knowledge) (x : transfer) : bool :=
  wanted x && is_in (first_node (nodes x)) (start (message x))
  && negb (is_in (last_node (nodes x)) (now (message x))).

(** The transfers of a step from nodes that have a message to nodes that do not. *)
Fixpoint flood_step (start now : knowledge) (step : list transfer) : list transfer * knowledge :=
  match step with
  | [] => ([], now)
  | x :: rest =>
      if spreads start now x then
        let r := flood_step start (learn now x) rest in (x :: fst r, snd r)
      else flood_step start now rest
  end.

Fixpoint flood (k : knowledge) (s : schedule) : schedule :=
  match s with
  | [] => []
  | step :: rest => let r := flood_step k k step in fst r :: flood (snd r) rest
  end.

Definition got (m : positive) (step : list transfer) : list node :=
  map (fun x => last_node (nodes x)) (filter (fun x => Pos.eqb m (message x)) step).

Lemma flood_step_knows start now step m :
  snd (flood_step start now step) m = rev (got m (fst (flood_step start now step))) ++ now m.
Proof.
  revert now. induction step as [|x rest IH]; intros now; simpl; [reflexivity|].
  destruct (spreads start now x); [|apply IH]. simpl. rewrite IH. unfold got, learn. simpl.
  destruct (Pos.eqb m (message x)); simpl; [|reflexivity]. now rewrite <- app_assoc.
Qed.

Lemma flood_step_once start now step m :
  NoDup (now m) -> NoDup (snd (flood_step start now step) m).
Proof.
  revert now. induction step as [|x rest IH]; intros now D; simpl; [trivial|].
  destruct (spreads start now x) eqn:E; [|now apply IH]. simpl. apply IH. unfold learn.
  destruct (Pos.eqb_spec m (message x)) as [->|]; trivial. constructor; trivial.
  unfold spreads in E. apply andb_true_iff in E as [_ E]. apply negb_true_iff in E.
  now apply is_in_not.
Qed.

Lemma flood_step_from start now step x : In x (fst (flood_step start now step)) ->
  In (first_node (nodes x)) (start (message x)) /\ wanted x = true.
Proof.
  revert now. induction step as [|y rest IH]; intros now; simpl; [easy|].
  destruct (spreads start now y) eqn:E; [|apply IH]. simpl. intros [<-|H]; [|now apply IH in H].
  unfold spreads in E. apply andb_true_iff in E as [E _]. apply andb_true_iff in E as [W E].
  apply is_in_In in E. auto.
Qed.

Lemma flood_step_sublist start now step : sublist (fst (flood_step start now step)) step.
Proof.
  revert now. induction step as [|x rest IH]; intros now; simpl; [constructor|].
  destruct (spreads start now x); simpl; now constructor.
Qed.

Lemma flood_step_keeps start now step m v :
  In v (now m) -> In v (snd (flood_step start now step) m).
Proof. intros H. rewrite flood_step_knows. apply in_app_iff. now right. Qed.

Lemma flood_step_reaches start now step x : In x step -> wanted x = true ->
  In (first_node (nodes x)) (start (message x)) ->
  In (last_node (nodes x)) (snd (flood_step start now step) (message x)).
Proof.
  intros H W F. revert now. induction step as [|y rest IH]; intros now; simpl; [easy|].
  destruct H as [->|H].
  - destruct (spreads start now x) eqn:E.
    + simpl. apply flood_step_keeps. unfold learn. rewrite Pos.eqb_refl. now left.
    + apply flood_step_keeps. unfold spreads in E. apply is_in_In in F. rewrite W, F in E.
      apply negb_false_iff in E. now apply is_in_In.
  - destruct (spreads start now y); simpl; now apply IH.
Qed.

Lemma flood_sublist s : forall k, Forall2 sublist (flood k s) s.
Proof.
  induction s as [|step rest IH]; intros k; simpl; constructor; trivial. apply flood_step_sublist.
Qed.

Lemma flood_length s k : length (flood k s) = length s.
Proof. revert k. induction s; intros k; simpl; auto. Qed.

(** The transfers of a message from step [t] on. *)
Definition of (m : positive) (t : Z) (s : schedule) := filter (of_message m) (numbered t s).

Lemma of_cons m t step rest :
  of m t (step :: rest) = filter (of_message m) (map (pair t) step) ++ of m (t + 1) rest.
Proof. unfold of. simpl. apply filter_app. Qed.

Lemma got_receivers m t step :
  map receiver (filter (of_message m) (map (pair t) step)) = got m step.
Proof.
  unfold got. induction step as [|x rest IH]; simpl; [reflexivity|].
  unfold of_message at 1. simpl. destruct (Pos.eqb m (message x)); simpl; now rewrite IH.
Qed.

Lemma in_one_step m t step x : In x (filter (of_message m) (map (pair t) step)) ->
  fst x = t /\ In (snd x) step /\ message (snd x) = m.
Proof.
  rewrite filter_In, in_map_iff. intros ((y & <- & Y) & E). unfold of_message in E.
  apply Pos.eqb_eq in E. auto.
Qed.

Lemma of_steps m t s x : In x (of m t s) -> t <= fst x.
Proof. intros H. apply filter_In in H as [H _]. apply numbered_steps in H. lia. Qed.

(** No node receives a message twice. *)
Lemma flood_once m s : forall k t, NoDup (k m) ->
  NoDup (rev (map receiver (of m t (flood k s))) ++ k m).
Proof.
  induction s as [|step rest IH]; intros k t D; [exact D|].
  simpl flood. rewrite of_cons, map_app, got_receivers, rev_app_distr, <- app_assoc.
  rewrite <- flood_step_knows. apply IH. now apply flood_step_once.
Qed.

(** What a step leaves is known from the start, or received in it. *)
Lemma known_after k step m t v : In v (snd (flood_step k k step) m) ->
  In v (k m) \/ exists y, In y (filter (of_message m) (map (pair t) (fst (flood_step k k step))))
                  /\ receiver y = v /\ fst y = t.
Proof.
  rewrite flood_step_knows, in_app_iff, <- in_rev. intros [H|H]; [|now left]. right.
  rewrite <- (got_receivers m t) in H. apply in_map_iff in H as (y & E & Y). exists y.
  repeat split; trivial. now apply in_one_step in Y.
Qed.

(** Every sender has the message before. *)
Lemma flood_informed m s : forall k t x, In x (of m t (flood k s)) ->
  In (sender x) (k m)
  \/ exists y, In y (of m t (flood k s)) /\ receiver y = sender x /\ fst y < fst x.
Proof.
  induction s as [|step rest IH]; intros k t x; [easy|]. simpl flood. rewrite of_cons.
  setoid_rewrite in_app_iff. intros [X|X].
  - left. apply in_one_step in X as (_ & X & <-). now apply flood_step_from in X.
  - pose proof (of_steps _ _ _ _ X) as L. destruct (IH _ _ _ X) as [H|(y & Y & R & B)].
    + destruct (known_after _ _ _ t _ H) as [?|(y & Y & R & E)]; [now left|].
      right. exists y. repeat split; [now left|trivial|lia].
    + right. exists y. auto.
Qed.

(** Who is sent a message by one that has it gets it, now or earlier. *)
Lemma flood_reaches m s : forall k t x, In x (of m t s) -> wanted (snd x) = true ->
  (In (sender x) (k m)
   \/ exists y, In y (of m t (flood k s)) /\ receiver y = sender x /\ fst y < fst x) ->
  In (receiver x) (k m)
  \/ exists y, In y (of m t (flood k s)) /\ receiver y = receiver x /\ fst y <= fst x.
Proof.
  induction s as [|step rest IH]; intros k t x; [easy|]. simpl flood. rewrite !of_cons.
  setoid_rewrite in_app_iff. intros [X|X] W S.
  - apply in_one_step in X as (E & X & M). assert (H : In (sender x) (k m)).
    { destruct S as [S|(y & [Y|Y] & _ & L)]; trivial; exfalso.
      - apply in_one_step in Y as (Y & _). lia.
      - apply of_steps in Y. lia. }
    unfold sender in H. rewrite <- M in H.
    pose proof (flood_step_reaches k k step (snd x) X W H) as G. rewrite M in G.
    destruct (known_after _ _ _ t _ G) as [?|(y & Y & R & F)]; [now left|].
    right. exists y. repeat split; [now left|trivial|lia].
  - pose proof (of_steps _ _ _ _ X) as L.
    destruct (IH (snd (flood_step k k step)) _ _ X W) as [H|(y & Y & R & B)].
    + destruct S as [S|(y & [Y|Y] & R & B)].
      * left. now apply flood_step_keeps.
      * left. rewrite flood_step_knows. apply in_app_iff. left. rewrite <- in_rev.
        rewrite <- (got_receivers m t), <- R. now apply in_map.
      * right. now exists y.
    + destruct (known_after _ _ _ t _ H) as [?|(y & Y & R & E)]; [now left|].
      right. exists y. repeat split; [now left|trivial|lia].
    + right. exists y. auto.
Qed.

(** Nobody sends what nobody has. *)
Lemma flood_nothing m s : forall k t, k m = [] -> of m t (flood k s) = [].
Proof.
  induction s as [|step rest IH]; intros k t E; [reflexivity|]. simpl flood. rewrite of_cons.
  assert (F : filter (of_message m) (map (pair t) (fst (flood_step k k step))) = []).
  { destruct (filter _ _) as [|x l] eqn:Q; [trivial|]. exfalso.
    assert (X : In x (x :: l)) by now left. rewrite <- Q in X.
    apply in_one_step in X as (_ & X & M). apply flood_step_from in X as [X _].
    rewrite M, E in X. easy. }
  rewrite F. simpl. apply IH. rewrite flood_step_knows, E, app_nil_r.
  rewrite <- (got_receivers m t), F. reflexivity.
Qed.

(** The nodes to which transfers of increasing steps lead from a source, before a step. *)
Inductive arrives (s : schedule) (m : positive) (source : node) : node -> Z -> Prop :=
  | arrives_source t : arrives s m source source t
  | arrives_next x t : In x (transfers m s) -> wanted (snd x) = true ->
      arrives s m source (sender x) (fst x) -> fst x < t -> arrives s m source (receiver x) t.

Lemma arrives_later s m source v t u : arrives s m source v t -> t <= u -> arrives s m source v u.
Proof. intros A L. destruct A; [constructor|]. apply arrives_next; trivial. lia. Qed.

Lemma flood_arrives s m source k v t : k m = [source] -> arrives s m source v t ->
  v = source \/ exists y, In y (transfers m (flood k s)) /\ receiver y = v /\ fst y < t.
Proof.
  intros K A. induction A as [|x t X W A IH L]; [now left|].
  pose proof (flood_reaches m s k 1 x X W) as R. fold (timed (flood k s)) in R.
  destruct R as [H|(y & Y & R & B)].
  - destruct IH as [->|(y & Y & R & B)]; [left; rewrite K; now left|right; now exists y].
  - rewrite K in H. destruct H as [<-|[]]. now left.
  - right. exists y. repeat split; trivial. lia.
Qed.

(** ** It is a valid broadcast *)

Variables (J : instance) (s : schedule).

Definition sources_know : knowledge :=
  fun m => match PM.find m (messages J) with Some (source, _) => [source] | None => [] end.

Definition flooded : schedule := flood sources_know s.

Lemma flooded_sublist : sublist (timed flooded) (timed s).
Proof. apply sublist_numbered, flood_sublist. Qed.

Lemma flooded_used q t : used J flooded q t <= used J s q t.
Proof.
  rewrite !used_sum. unfold period, flooded at 1. rewrite flood_length.
  apply sublist_sum; [|apply flooded_sublist]. intros x. apply count_nonneg.
Qed.

Theorem flood_valid :
  kind J <> TimeSlots ->
  (forall x, In x (timed s) -> allowed J (nodes (snd x))) -> capacities J s ->
  (kind J = Wormhole -> forall m source destinations,
     PM.find m (messages J) = Some (source, destinations) ->
     forall x, In x (transfers m s) -> wanted (snd x) = true ->
       receiver x = source \/ In (receiver x) destinations) ->
  (forall m source destinations, PM.find m (messages J) = Some (source, destinations) ->
     forall v, In v destinations -> exists t, arrives s m source v t) ->
  valid J flooded /\ period flooded = period s.
Proof.
  intros K R1 R2 R3 R4.
  assert (P : period flooded = period s) by (unfold period, flooded; now rewrite flood_length).
  assert (O : forall m source destinations,
    PM.find m (messages J) = Some (source, destinations) ->
    NoDup (source :: receivers m flooded)).
  { intros m source destinations M.
    pose proof (flood_once m s sources_know 1) as D. unfold sources_know in D at 1 3.
    rewrite M in D. specialize (D (NoDup_cons _ (@in_nil _ _) (NoDup_nil _))).
    eapply Permutation_NoDup; [|exact D]. symmetry. change (source :: receivers m flooded)
      with ([source] ++ map receiver (of m 1 (flood sources_know s))).
    rewrite Permutation_app_comm. apply Permutation_app_tail, Permutation_rev. }
  assert (W : forall t l x, In x (numbered t (flood l s)) -> wanted (snd x) = true).
  { clear. induction s as [|step rest IH]; intros t l x; simpl; [easy|].
    rewrite in_app_iff, in_map_iff. intros [(y & <- & Y)|X]; [|now apply IH in X].
    now apply flood_step_from in Y. }
  split; trivial. constructor; trivial.
  - intros x X. apply R1. now apply (sublist_in _ _ _ flooded_sublist).
  - intros t T. rewrite P in T. destruct (R2 t T) as (H1 & H2 & H3). repeat split.
    + intros a b c C. etransitivity; [apply flooded_used|]. now apply H1.
    + intros v k E. etransitivity; [apply flooded_used|]. now apply H2.
    + intros v k E. etransitivity; [apply flooded_used|]. now apply H3.
  - intros x X. rewrite PM.mem_find.
    destruct (PM.find (message (snd x)) (messages J)) eqn:E; [trivial|]. exfalso.
    assert (H : In x (of (message (snd x)) 1 flooded)).
    { apply filter_In. split; [exact X|apply Pos.eqb_refl]. }
    unfold flooded in H. rewrite flood_nothing in H; [easy|]. unfold sources_know. now rewrite E.
  - intros m source destinations M x X. split.
    + destruct (flood_informed m s sources_know 1 x X) as [H|H].
      * unfold sources_know in H. rewrite M in H. destruct H as [H|[]].
        unfold informed. destruct (kind J); [left|left|]; easy.
      * unfold informed. destruct (kind J); [right|right|]; easy.
    + unfold may_receive. destruct (kind J) eqn:E; trivial; [|easy].
      pose proof (O _ _ _ M) as D. inversion D as [|? ? N _]; subst.
      destruct (R3 eq_refl _ _ _ M x) as [H|H]; trivial.
      * apply filter_In in X as [X F]. apply filter_In. split; trivial.
        now apply (sublist_in _ _ _ flooded_sublist).
      * apply filter_In in X as [X _]. now apply W in X.
      * destruct N. rewrite <- H. now apply in_map.
  - intros m source destinations M v D. destruct (R4 _ _ _ M v D) as (t & A).
    apply flood_arrives with (k := sources_know) in A; [|unfold sources_know; now rewrite M].
    destruct A as [->|(y & Y & <- & _)]; [now left|right]. now apply in_map.
Qed.
End Flood.

(** ** The part of a member *)

Fixpoint members_after (v : node) (l : list node) : list node :=
  match l with
  | [] => []
  | a :: rest => if Pos.eqb v a then rest else members_after v rest
  end.

(** The other members that need the part of [p], or with [back] those whose parts it needs. *)
Definition part_ends (c : collective) (all : list node) (p : node) (back : bool) : list node :=
  match c, back with
  | Allreduce, _ => members_before p all ++ members_after p all
  | _, true => members_before p all
  | _, false => members_after p all
  end.

(** In wormhole switching there is no reduction if later members may forward to the node. *)
Definition part_message (I : instance) (c : collective) (p : node) (back : bool) (all : list node)
    : option (node * list node) :=
  let ends := part_ends c all p back in
  let fits := match kind I with
              | StoreAndForward => true
              | _ => negb back || Nat.eqb (S (length ends)) (length all)
              end in
  match ends with
  | [] => None
  | _ => if is_in p all && fits then Some (p, ends) else None
  end.

(** The entries that a function makes of those of a map. *)
Fixpoint choose {A B} (f : A -> option B) (m : PM.t A) : PM.t B :=
  match m with
  | PM.Leaf _ => PM.Leaf _
  | PM.Node l o r =>
      PM.Node (choose f l) (match o with Some x => f x | None => None end) (choose f r)
  end.

Lemma find_choose {A B} (f : A -> option B) m k :
  PM.find k (choose f m) = match PM.find k m with Some x => f x | None => None end.
Proof.
  revert m. induction k as [k IH|k IH|]; intros [|l o r]; simpl; trivial.
Qed.

Definition most_rounds (I : instance) : Z := fold_right Z.max 1 (rounds I).

(** The same network, with the messages of the part. *)
Definition with_part (I : instance) (c : collective) (members : groups) (p : node) (back : bool)
    : instance := {|
  adjacent := adjacent I; shared := shared I; endpoints := endpoints I; times := times I;
  messages := choose (part_message I c p back) members;
  kind := kind I; route := route I; injects := injects I; accepts := accepts I;
  rounds := if back then [most_rounds I] else rounds I
|}.

(** The broadcast of the part of [p], or with [back] the reduction to [p], read backwards, whose
    steps all have the most rounds: which step is the last is not known. *)
Definition part (I : instance) (c : collective) (members : groups) (p : node) (back : bool)
    : instance :=
  let J := with_part I c members p back in if back then reversed J else J.

(** Of the members before and after one. *)
Lemma split_at p l : In p l -> l = members_before p l ++ p :: members_after p l.
Proof.
  induction l as [|a l IH]; simpl; [easy|]. destruct (Pos.eqb_spec p a) as [->|N]; trivial.
  intros [->|H]; [easy|]. simpl. f_equal. auto.
Qed.

Lemma in_members_after v p l : In v (members_after p l) -> In v l.
Proof.
  induction l as [|a l IH]; simpl; [easy|]. destruct (Pos.eqb p a); auto.
Qed.

Lemma in_members_before v p l : In v (members_before p l) -> In v l.
Proof.
  induction l as [|a l IH]; simpl; [easy|]. destruct (Pos.eqb p a); simpl; [easy|]. tauto.
Qed.

Lemma before_after v p l : In v l -> In p (members_before v l) -> In v (members_after p l).
Proof.
  induction l as [|a l IH]; simpl; [easy|]. destruct (Pos.eqb_spec v a) as [->|N]; [easy|].
  intros [->|V]; [easy|]. intros [->|P].
  - now rewrite Pos.eqb_refl.
  - destruct (Pos.eqb p a); auto.
Qed.

Lemma after_before v p l : NoDup l -> In v (members_after p l) -> In p (members_before v l).
Proof.
  intros D. induction D as [|a l N D IH]; simpl; [easy|].
  destruct (Pos.eqb_spec p a) as [->|M]; intros V.
  - destruct (Pos.eqb_spec v a) as [->|]; [contradiction|now left].
  - destruct (Pos.eqb_spec v a) as [->|]; [|right; auto].
    apply in_members_after in V. contradiction.
Qed.

(** Who needs the part is the member itself, or one of the ends. *)
Lemma needs_part c all p v : In p all -> In v all -> In p (needed c all v) ->
  v = p \/ In v (part_ends c all p false).
Proof.
  intros P V. unfold needed. apply is_in_In in V as E. rewrite E. intros H.
  assert (A : In v (members_before p all ++ p :: members_after p all)) by now rewrite <- split_at.
  apply in_app_iff in A. simpl in A. destruct (Pos.eq_dec v p) as [->|N]; [now left|]. right.
  destruct c; simpl.
  - apply in_app_iff. destruct A as [?|[?|?]]; auto. congruence.
  - apply in_app_iff in H as [H|[H|[]]]; [|congruence]. now apply before_after.
  - now apply before_after.
Qed.

Lemma end_needs c all p v : NoDup all -> In p all -> In v (part_ends c all p false) ->
  In v all /\ In p (needed c all v).
Proof.
  intros D P H. assert (V : In v all).
  { destruct c; simpl in H; try now apply in_members_after in H.
    apply in_app_iff in H as [H|H];
      [now apply in_members_before in H|now apply in_members_after in H]. }
  split; trivial. unfold needed. apply is_in_In in V as E. rewrite E. destruct c; simpl in H.
  - trivial.
  - apply in_app_iff. left. now apply after_before.
  - now apply after_before.
Qed.

Lemma end_needed c all p v : In p all -> In v (part_ends c all p true) ->
  In v (needed c all p).
Proof.
  intros P H. unfold needed. apply is_in_In in P as E. rewrite E. destruct c; simpl in H.
  - apply in_app_iff in H as [H|H];
      [now apply in_members_before in H|now apply in_members_after in H].
  - apply in_app_iff. now left.
  - trivial.
Qed.

(** If there are as many ends as other members, all others are ends. *)
Lemma all_ends c all p v : In p all -> In v all ->
  S (length (part_ends c all p true)) = length all ->
  v = p \/ In v (part_ends c all p true).
Proof.
  intros P V L. pose proof (split_at p all P) as E. rewrite E in V. apply in_app_iff in V.
  simpl in V. destruct V as [V|[->|V]]; [right|now left|right].
  - destruct c; simpl; trivial. apply in_app_iff. now left.
  - destruct c; simpl in *; [apply in_app_iff; now right| |];
      (pose proof (f_equal (@length _) E) as F; rewrite app_length in F; simpl in F;
       destruct (members_after p all); [easy|simpl in F; lia]).
Qed.

Lemma part_messages I c members p back m source destinations :
  PM.find m (choose (part_message I c p back) members) = Some (source, destinations) ->
  exists all, PM.find m members = Some all /\ In p all /\ source = p
    /\ destinations = part_ends c all p back
    /\ (kind I = Wormhole -> back = true -> S (length destinations) = length all).
Proof.
  rewrite find_choose. destruct (PM.find m members) as [all|] eqn:M; [|discriminate].
  intros H. exists all. split; trivial. unfold part_message in H. cbv zeta in H.
  set (fits := match kind I with StoreAndForward => true | _ => _ end) in H.
  assert (H1 : is_in p all && fits = true /\ (p, part_ends c all p back) = (source, destinations)).
  { destruct (part_ends c all p back); [discriminate|].
    destruct (is_in p all && fits); [|discriminate]. split; [trivial|congruence]. }
  destruct H1 as [B E]. inversion E; subst. apply andb_true_iff in B as [B F].
  repeat split; trivial; [now apply is_in_In|]. intros K ->. unfold fits in F. rewrite K in F.
  now apply Nat.eqb_eq in F.
Qed.

(** ** Instances with the same channels, ports and switching *)

Lemma link_same I J h : shared J = shared I -> link J h = link I h.
Proof. intros E. unfold link. now rewrite E. Qed.

Lemma channel_uses_same I J P l : shared J = shared I -> kind J = kind I ->
  forall t, channel_uses J P t l = channel_uses I P t l.
Proof.
  intros E K. induction l as [|h l IH]; intros t; simpl; [reflexivity|].
  rewrite (link_same I J) by trivial. unfold slot, late. now rewrite K, IH.
Qed.

Lemma used_same I J s q t : shared J = shared I -> kind J = kind I ->
  used J s q t = used I s q t.
Proof.
  intros E K. rewrite !used_sum. apply sum_ext. intros x _. unfold uses, slot, late.
  now rewrite (channel_uses_same I J), K.
Qed.

(** ** The broadcast from a member *)

Section Contained.
Variables (I : instance) (c : collective) (members : groups) (s : schedule) (p : node).
Hypothesis V : valid_sums I c members s.
Hypothesis O : members_once members.

Definition has_part_of (x : transfer) : bool := is_in p (parts x).

(** Transfers with the part lead from the member to the sender of every such transfer. *)
Lemma part_arrives m all : PM.find m members = Some all ->
  forall n x, fst x < Z.of_nat n -> In x (transfers m s) -> In p (sum_sent x) ->
  arrives has_part_of s m p (sender x) (fst x).
Proof.
  intros M. induction n as [|n IH]; intros x L X P.
  - apply filter_In in X as [X _]. apply timed_steps in X. lia.
  - destruct (sender_has_part _ _ _ _ V m all M x p X P) as [[_ ->]|(y & Y & R & B & Q)];
      [constructor|].
    rewrite <- R. apply arrives_next; trivial.
    + now apply is_in_In.
    + apply IH; trivial. lia.
Qed.

Theorem part_contained_forward : exists other,
  valid (part I c members p false) other /\ period other = period s.
Proof.
  exists (flooded has_part_of (part I c members p false) s). apply flood_valid.
  - apply (sums_in_steps _ _ _ _ V).
  - exact (sums_paths _ _ _ _ V).
  - intros t T. destruct (sums_capacities _ _ _ _ V t T) as (H1 & H2 & H3).
    repeat split; intros; (rewrite (used_same I) by reflexivity);
      [now apply H1|now apply H2|now apply H3].
  - intros K m source destinations M x X W.
    apply part_messages in M as (all & M & P & -> & -> & _).
    destruct (sums_wormhole _ _ _ _ V K m all M x X) as [A N].
    apply needs_part; trivial. apply N. now apply is_in_In.
  - intros m source destinations M v D.
    apply part_messages in M as (all & M & P & -> & -> & _).
    apply end_needs in D as [A N]; trivial; [|now apply (O m)].
    destruct (member_has_part _ _ _ _ V m all M v p A N) as [->|(y & Y & <- & Q)].
    + exists 1. constructor.
    + exists (fst y + 1). apply arrives_next; trivial; [now apply is_in_In| |lia].
      apply (part_arrives m all M (Z.to_nat (fst y + 1))); trivial.
      apply filter_In in Y as [Y _]. apply timed_steps in Y. lia.
Qed.
End Contained.

(** ** Reversed networks *)

Definition swap (h : hop) : hop := (snd h, fst h).

(** No node lists a channel twice among those that share a capacity. *)
Definition shares_once (I : instance) : Prop :=
  forall a l, PM.find a (shared I) = Some l -> NoDup (map fst l).

Definition entries {A} (m : PM.t (list (node * A))) : list (node * (node * A)) :=
  flat_map (fun each => map (fun next => (fst next, (fst each, snd next))) (snd each))
    (PM.elements m).

Lemma in_entries {A} (m : PM.t (list (node * A))) a b x :
  In (b, (a, x)) (entries m) <-> exists l, PM.find a m = Some l /\ In (b, x) l.
Proof.
  unfold entries. rewrite in_flat_map. split.
  - intros ([a' l] & E & H). apply PM.elements_complete in E. simpl in H.
    apply in_map_iff in H as ([b' x'] & J & H). inversion J; subst. now exists l.
  - intros (l & E & H). apply PM.elements_correct in E. exists (a, l). split; trivial.
    apply in_map_iff. now exists (b, x).
Qed.

Lemma reversed_entries {A} (m : PM.t (list (node * A))) :
  reversed_lists m
  = fold_left (fun f e => add_neighbour (fst e) (snd e) f) (entries m) (PM.empty _).
Proof.
  unfold reversed_lists, entries. generalize (PM.elements m). intros k.
  assert (H : forall f : PM.t (list (node * A)),
    fold_left (fun found (each : node * list (node * A)) =>
      fold_left (fun found next => add_neighbour (fst next) (fst each, snd next) found)
        (snd each) found) k f
    = fold_left (fun f (e : node * (node * A)) => add_neighbour (fst e) (snd e) f)
        (flat_map (fun each => map (fun next => (fst next, (fst each, snd next))) (snd each)) k) f).
  { induction k as [|[a l] k IH]; intros f; [reflexivity|].
    cbn [fold_left flat_map fst snd]. rewrite fold_left_app, IH. f_equal. clear.
    revert f. induction l as [|[b x] l IH]; intros f; [reflexivity|]. apply IH. }
  apply H.
Qed.

Lemma in_listed {A} (k : list (node * (node * A))) b y : forall f,
  In y (listed (fold_left (fun f e => add_neighbour (fst e) (snd e) f) k f) b)
  <-> In (b, y) k \/ In y (listed f b).
Proof.
  induction k as [|[d z] k IH]; intros f; simpl; [tauto|]. rewrite IH. clear IH.
  unfold listed, add_neighbour. destruct (Pos.eq_dec b d) as [->|N].
  - rewrite PM.gss. simpl. intuition congruence.
  - rewrite PM.gso by trivial. intuition congruence.
Qed.

(** A reversed list has, for a node, those nodes that list it. *)
Lemma in_reversed {A} (m : PM.t (list (node * A))) a b x :
  In (a, x) (listed (reversed_lists m) b) <-> exists l, PM.find a m = Some l /\ In (b, x) l.
Proof.
  rewrite reversed_entries, in_listed, in_entries. unfold listed at 1. rewrite PM.gempty.
  simpl. tauto.
Qed.

Lemma channel_reversed I a b c : channel (reversed I) b a c <-> channel I a b c.
Proof.
  unfold channel, neighbours. simpl. change (match PM.find b (reversed_lists (adjacent I)) with
    Some l => l | None => [] end) with (listed (reversed_lists (adjacent I)) b).
  rewrite in_reversed. split.
  - intros (l & E & H). now rewrite E.
  - destruct (PM.find a (adjacent I)) as [l|]; [|easy]. intros H. now exists l.
Qed.

Lemma look_map {A B} (f : A -> B) b l :
  look b (map (fun next => (fst next, f (snd next))) l) = option_map f (look b l).
Proof.
  induction l as [|[d x] l IH]; simpl; [reflexivity|]. now destruct (Pos.eqb b d).
Qed.

Lemma look_some {A} b (l : list (node * A)) x : In (b, x) l -> exists y, look b l = Some y.
Proof.
  induction l as [|[d z] l IH]; simpl; [easy|]. intros [E|H].
  - inversion E; subst. rewrite Pos.eqb_refl. now exists x.
  - destruct (Pos.eqb b d); [now exists z|auto].
Qed.

Lemma look_once {A} b (l : list (node * A)) x :
  NoDup (map fst l) -> In (b, x) l -> look b l = Some x.
Proof.
  induction l as [|[d z] l IH]; simpl; [easy|]. intros D [E|H]; inversion D as [|? ? N D']; subst.
  - inversion E; subst. now rewrite Pos.eqb_refl.
  - destruct (Pos.eqb_spec b d) as [->|]; [|auto]. destruct N.
    apply in_map_iff. now exists (d, x).
Qed.

Lemma link_reversed I h : shares_once I -> link (reversed I) (swap h) = swap (link I h).
Proof.
  intros O. destruct h as [a b]. unfold link, swap. simpl. unfold reversed_shares.
  unfold PM.map. rewrite PM.gmapi.
  assert (R : forall x, In (a, x) (listed (reversed_lists (shared I)) b)
    <-> exists l, PM.find a (shared I) = Some l /\ look b l = Some x).
  { intros x. rewrite in_reversed. split; intros (l & E & H); exists l; (split; [trivial|]).
    - apply look_once; trivial. now apply (O a).
    - now apply look_in. }
  unfold listed in R. change (node * node)%type with hop in *.
  destruct (PM.find b (reversed_lists (shared I))) as [k|] eqn:E; simpl.
  - pose proof (look_map (fun y : hop => (snd y, fst y) : hop) a k) as L. cbv beta in L.
    rewrite L.
    destruct (look a k) as [y|] eqn:Q; simpl.
    + apply look_in in Q. apply R in Q as (l & F & G). now rewrite F, G.
    + destruct (PM.find a (shared I)) as [l|] eqn:F; [|reflexivity].
      destruct (look b l) as [x|] eqn:G; [|reflexivity]. exfalso.
      assert (H : In (a, x) k) by (apply R; now exists l).
      apply look_some in H as (y & H). congruence.
  - destruct (PM.find a (shared I)) as [l|] eqn:F; [|reflexivity].
    destruct (look b l) as [x|] eqn:G; [|reflexivity]. exfalso.
    apply (R x). now exists l.
Qed.

(** ** Reversed paths *)

Lemma first_rev p : first_node (rev p) = last_node p.
Proof.
  unfold first_node, last_node. destruct p as [|a p] using rev_ind; [reflexivity|].
  now rewrite rev_app_distr, last_last.
Qed.

Lemma last_rev p : last_node (rev p) = first_node p.
Proof. now rewrite <- (rev_involutive p), first_rev, rev_involutive. Qed.

Lemma hops_snoc p a b : hops (p ++ [a; b]) = hops (p ++ [a]) ++ [(a, b)].
Proof.
  induction p as [|d p IH]; [reflexivity|]. destruct p as [|e p]; [reflexivity|].
  simpl in *. now rewrite IH.
Qed.

Lemma hops_rev p : hops (rev p) = rev (map swap (hops p)).
Proof.
  induction p as [|a p IH]; [reflexivity|]. destruct p as [|b p]; [reflexivity|].
  change (hops (a :: b :: p)) with ((a, b) :: hops (b :: p)). simpl map. simpl rev in IH |- *.
  rewrite <- app_assoc. simpl app. rewrite hops_snoc, IH. reflexivity.
Qed.

Lemma inner_snoc a p b : inner (a :: p ++ [b]) = p.
Proof. unfold inner. simpl. apply removelast_last. Qed.

Lemma inner_rev p v : In v (inner (rev p)) -> In v (inner p).
Proof.
  destruct p as [|a p]; [easy|]. destruct p as [|b p _] using rev_ind; [easy|].
  rewrite inner_snoc. simpl rev. rewrite rev_app_distr. simpl app. rewrite inner_snoc.
  now rewrite <- in_rev.
Qed.

Lemma simple_rev I J p :
  (forall a b c, channel I a b c -> channel J b a c) ->
  (forall v, is_endpoint J v = is_endpoint I v) ->
  simple I p -> simple J (rev p).
Proof.
  intros C E (L & D & H & N). repeat split.
  - now rewrite rev_length.
  - now apply NoDup_rev.
  - intros a b X. rewrite hops_rev, <- in_rev, in_map_iff in X.
    destruct X as ([d e] & Q & X). inversion Q; subst. destruct (H _ _ X) as (c & Y).
    exists c. now apply C.
  - intros v X. rewrite E. now apply N, inner_rev.
Qed.

Lemma simple_reversed I p : simple I p -> simple (reversed I) (rev p).
Proof. apply simple_rev; [|reflexivity]. intros. now apply channel_reversed. Qed.

Lemma simple_of_reversed I p : simple (reversed I) p -> simple I (rev p).
Proof. apply simple_rev; [|reflexivity]. intros. now apply channel_reversed. Qed.

Theorem allowed_reversed I p : allowed I p -> allowed (reversed I) (rev p).
Proof.
  unfold allowed. simpl kind. intros A.
  assert (G : simple I p /\ match route I with
      | AnyPath => True
      | ExtraHops h => forall q, simple I q ->
          first_node q = first_node p -> last_node q = last_node p ->
          Z.of_nat (length p) <= Z.of_nat (length q) + h
      | Table by_source next => table_path by_source next (first_node p) (last_node p) = Some p
      end ->
    simple (reversed I) (rev p) /\ match route (reversed I) with
      | AnyPath => True
      | ExtraHops h => forall q, simple (reversed I) q ->
          first_node q = first_node (rev p) -> last_node q = last_node (rev p) ->
          Z.of_nat (length (rev p)) <= Z.of_nat (length q) + h
      | Table by_source next =>
          table_path by_source next (first_node (rev p)) (last_node (rev p)) = Some (rev p)
      end).
  { intros [S R]. split; [now apply simple_reversed|]. simpl.
    destruct (route I) as [|h|by_source next]; trivial.
    - intros q Q F L. rewrite rev_length, <- (rev_length q). apply R.
      + now apply simple_of_reversed.
      + now rewrite first_rev, L, last_rev.
      + now rewrite last_rev, F, first_rev.
    - rewrite first_rev, last_rev. unfold table_path in *. destruct by_source; simpl in *.
      + destruct (follow _ _ _ _) as [q|]; [|discriminate]. simpl in R. inversion R.
        now rewrite rev_involutive.
      + now rewrite R. }
  destruct (kind I); [now apply G| |now apply G].
  destruct A as (L & D & H). repeat split.
  - now rewrite rev_length.
  - now apply NoDup_rev.
  - intros a b X. rewrite hops_rev, <- in_rev, in_map_iff in X.
    destruct X as ([d e] & Q & X). inversion Q; subst. destruct (H _ _ X) as (c & Y).
    exists c. now apply channel_reversed.
Qed.

(** ** Reversed schedules *)

Definition back (x : transfer) : transfer :=
  {| message := message x; nodes := rev (nodes x); parts := parts x |}.

Definition flip (n : Z) (x : timed_transfer) : timed_transfer := (n - fst x, back (snd x)).

Lemma numbered_app s k : forall t,
  numbered t (s ++ k) = numbered t s ++ numbered (t + Z.of_nat (length s)) k.
Proof.
  induction s as [|step s IH]; intros t; simpl numbered.
  - simpl. f_equal. lia.
  - rewrite IH, <- app_assoc. do 3 f_equal. simpl length. lia.
Qed.

Lemma numbered_backwards s : forall t u, Permutation (numbered t (backwards s))
  (map (flip (t + u + Z.of_nat (length s) - 1)) (numbered u s)).
Proof.
  unfold backwards. induction s as [|step s IH]; intros t u; [constructor|].
  simpl map. simpl rev. rewrite numbered_app. simpl numbered.
  rewrite app_nil_r, map_app, Permutation_app_comm. apply Permutation_app.
  - rewrite rev_length, map_length, !map_map. simpl length.
    apply Permutation_refl'. apply map_ext. intros x. unfold flip, back. simpl. f_equal. lia.
  - etransitivity; [apply (IH t (u + 1))|]. apply Permutation_refl'. apply map_ext.
    intros x. unfold flip. simpl length. f_equal. lia.
Qed.

Lemma timed_backwards s :
  Permutation (timed (backwards s)) (map (flip (period s + 1)) (timed s)).
Proof.
  etransitivity; [apply (numbered_backwards s 1 1)|]. apply Permutation_refl'.
  apply map_ext. intros x. unfold flip, period. f_equal. lia.
Qed.

Lemma period_backwards s : period (backwards s) = period s.
Proof. unfold period, backwards. now rewrite rev_length, map_length. Qed.

Lemma in_backwards s x : In x (timed (backwards s)) <->
  exists y, x = flip (period s + 1) y /\ In y (timed s).
Proof.
  pose proof (timed_backwards s) as P. split.
  - intros H. apply (Permutation_in _ P) in H. apply in_map_iff in H as (y & <- & Y). now exists y.
  - intros (y & -> & Y). apply (Permutation_in _ (Permutation_sym P)). now apply in_map.
Qed.

Lemma transfers_backwards m s x : In x (transfers m (backwards s)) <->
  exists y, x = flip (period s + 1) y /\ In y (transfers m s).
Proof.
  unfold transfers. rewrite filter_In, in_backwards. split.
  - intros ((y & -> & Y) & E). exists y. split; trivial. now apply filter_In.
  - intros (y & -> & Y). apply filter_In in Y as [Y E]. split; [now exists y|exact E].
Qed.

Definition mirror (q : resource) : resource :=
  match q with Channel h => Channel (swap h) | Inject v => Accept v | Accept v => Inject v end.

Definition mirror_use (n : Z) (u : resource * Z) : resource * Z := (mirror (fst u), n - snd u).

Lemma mirror_is_use n q t u : is_use (mirror q) (n - t) (mirror_use n u) = is_use q t u.
Proof.
  unfold is_use, mirror_use. destruct u as [r k]. cbn [fst snd].
  assert (E : (n - t =? n - k) = (t =? k)) by (apply eq_true_iff_eq; rewrite !Z.eqb_eq; lia).
  rewrite E. f_equal.
  destruct q as [[a b]|v|v], r as [[d e]|w|w]; simpl; trivial.
  unfold hop_eqb. simpl. apply andb_comm.
Qed.

Section Reversed.
Variable I : instance.
Hypothesis K : kind I <> TimeSlots.
Hypothesis O : shares_once I.

Lemma channel_uses_now J P t l : kind J = kind I ->
  channel_uses J P t l = map (fun h => (Channel (link J h), t)) l.
Proof.
  intros E. induction l as [|h l IH]; simpl; [reflexivity|]. unfold slot, late. rewrite E.
  destruct (kind I); try easy; now rewrite Z.add_0_r, IH.
Qed.

Lemma uses_now J P x : kind J = kind I -> uses J P x =
  (Inject (first_node (nodes (snd x))), fst x) :: (Accept (last_node (nodes (snd x))), fst x)
  :: map (fun h => (Channel (link J h), fst x)) (hops (nodes (snd x))).
Proof.
  intros E. unfold uses. rewrite channel_uses_now by trivial. unfold slot, late. rewrite E.
  destruct (kind I); try easy; now rewrite Z.add_0_r.
Qed.

Lemma uses_reversed P n x : Permutation (uses (reversed I) P (flip n x))
  (map (mirror_use n) (uses I P x)).
Proof.
  rewrite !uses_now by reflexivity. unfold flip, back. cbn [fst snd nodes map].
  rewrite first_rev, last_rev, hops_rev. unfold mirror_use at 1 2. cbn [fst snd mirror].
  etransitivity; [apply perm_swap|]. do 2 apply perm_skip.
  rewrite map_map, map_rev, map_map. etransitivity; [apply Permutation_sym, Permutation_rev|].
  apply Permutation_refl'. apply map_ext. intros h. now rewrite link_reversed.
Qed.

Theorem used_reversed s q t :
  used (reversed I) (backwards s) (mirror q) (period s + 1 - t) = used I s q t.
Proof.
  rewrite !used_sum, (sum_permutation _ _ _ (timed_backwards s)), sum_map, period_backwards.
  apply sum_ext. intros x _. rewrite !count_sum, (sum_permutation _ _ _ (uses_reversed _ _ x)),
    sum_map. apply sum_ext. intros u _. now rewrite mirror_is_use.
Qed.

Lemma used_mirrored s q t :
  used (reversed I) (backwards s) (mirror q) t = used I s q (period s + 1 - t).
Proof. rewrite <- used_reversed. f_equal. lia. Qed.

(** Capacities that are the same in all steps hold backwards. *)
Theorem capacities_reversed s r :
  rounds I = [r] -> capacities I s -> capacities (reversed I) (backwards s).
Proof.
  intros R C t T. rewrite period_backwards in T.
  assert (E : forall k u, in_step (reversed I) t k = in_step I u k)
    by (intros; unfold in_step; simpl; now rewrite R).
  destruct (C (period s + 1 - t)) as (H1 & H2 & H3); [lia|]. repeat split.
  - intros a b c H. apply (channel_reversed I) in H. specialize (H1 _ _ _ H).
    rewrite <- used_mirrored in H1. change (a, b) with (swap (b, a)).
    rewrite link_reversed, (E c (period s + 1 - t)) by trivial. exact H1.
  - intros v k H. simpl in H. specialize (H3 _ _ H). rewrite <- used_mirrored in H3.
    rewrite (E k (period s + 1 - t)). exact H3.
  - intros v k H. simpl in H. specialize (H2 _ _ H). rewrite <- used_mirrored in H2.
    rewrite (E k (period s + 1 - t)). exact H2.
Qed.
End Reversed.

(** ** The reduction to a member *)

Definition rounds_positive (I : instance) : Prop := forall r, In r (rounds I) -> 1 <= r.

Lemma rounds_at_positive I t : rounds_positive I -> 1 <= rounds_at (rounds I) t.
Proof.
  unfold rounds_positive. generalize (rounds I). intros l. revert t.
  induction l as [|r l IH]; intros t H; simpl; [lia|].
  destruct l as [|q l]; [apply H; now left|]. destruct (t <=? 1); [apply H; now left|].
  apply IH. intros. apply H. now right.
Qed.

Lemma rounds_at_most I t : rounds_at (rounds I) t <= most_rounds I.
Proof.
  unfold most_rounds. generalize (rounds I). intros l. revert t.
  induction l as [|r l IH]; intros t; simpl; [lia|].
  destruct l as [|q l]; [simpl; lia|]. destruct (t <=? 1); [lia|].
  specialize (IH (t - 1)). lia.
Qed.

Lemma used_nonneg I s q t : 0 <= used I s q t.
Proof. apply count_nonneg. Qed.

Lemma most_rounds_carry I s q t c : rounds_positive I ->
  used I s q t <= in_step I t c -> used I s q t <= c * most_rounds I.
Proof.
  intros R H. pose proof (used_nonneg I s q t). unfold in_step in H.
  pose proof (rounds_at_positive I t R). pose proof (rounds_at_most I t). nia.
Qed.

Section Backward.
Variables (I : instance) (c : collective) (members : groups) (s : schedule) (p : node).
Hypothesis V : valid_sums I c members s.
Hypothesis H1 : shares_once I.
Hypothesis H2 : rounds_positive I.

Let J := with_part I c members p true.

Lemma part_not_slots : kind I <> TimeSlots.
Proof. apply (sums_in_steps _ _ _ _ V). Qed.

Lemma part_capacities : capacities (reversed J) (backwards s).
Proof.
  apply capacities_reversed with (r := most_rounds I);
    [exact part_not_slots|exact H1|reflexivity|].
  intros t T. destruct (sums_capacities _ _ _ _ V t T) as (A & B & C).
  repeat split; intros; (rewrite (used_same I) by reflexivity);
    apply most_rounds_carry with (t := t); trivial; [now apply A|now apply B|now apply C].
Qed.

(** Every transfer carries a part. *)
Lemma some_part m all x : PM.find m members = Some all -> In x (transfers m s) ->
  exists q, In q (sum_sent x).
Proof.
  intros M X. destruct (sums_received _ _ _ _ V m all M (receiver x)) as (order & P & _ & F).
  assert (Y : In x order).
  { apply (Permutation_in _ (Permutation_sym P)). apply filter_In. split; trivial.
    apply Pos.eqb_refl. }
  clear P. revert F Y. generalize (own all (receiver x)). induction order as [|y l IH]; [easy|].
  simpl. intros k [[(q & Q & _) _] F] [->|Y]; [now exists q|now apply (IH _ F)].
Qed.

Definition any_transfer (x : transfer) : bool := true.

(** Backwards, transfers lead from the member to all whose parts it gets. *)
Lemma part_leaves m all v : PM.find m members = Some all ->
  forall n x, fst x < Z.of_nat n -> In x (transfers m s) -> In v (sum_sent x) ->
  arrives any_transfer (backwards s) m p (receiver x) (period s + 1 - fst x) ->
  exists t, arrives any_transfer (backwards s) m p v t.
Proof.
  intros M. induction n as [|n IH]; intros x L X P A.
  - apply filter_In in X as [X _]. apply timed_steps in X. lia.
  - assert (S : arrives any_transfer (backwards s) m p (sender x) (period s + 2 - fst x)).
    { set (y := flip (period s + 1) x).
      replace (sender x) with (receiver y)
        by (unfold y, receiver, flip, back; simpl; apply last_rev).
      apply arrives_next; trivial.
      - apply transfers_backwards. now exists x.
      - replace (sender y) with (receiver x)
          by (unfold y, sender, receiver, flip, back; simpl; now rewrite first_rev).
        exact A.
      - simpl. lia. }
    destruct (sender_has_part _ _ _ _ V m all M x v X P) as [[_ E]|(y & Y & R & B & Q)].
    + rewrite E in S. eauto.
    + apply (IH y); trivial; [lia|]. rewrite R.
      apply arrives_later with (period s + 2 - fst x); trivial. lia.
Qed.

Theorem part_contained_backward : exists other,
  valid (part I c members p true) other /\ period other = period s.
Proof.
  exists (flooded any_transfer (reversed J) (backwards s)). rewrite <- (period_backwards s).
  apply flood_valid.
  - exact part_not_slots.
  - intros x X. apply in_backwards in X as (y & -> & Y).
    apply (allowed_reversed J). now apply (sums_paths _ _ _ _ V).
  - exact part_capacities.
  - intros K m source destinations M x X _. simpl in K, M.
    apply part_messages in M as (all & M & P & -> & -> & L).
    apply transfers_backwards in X as (y & -> & Y).
    replace (receiver (flip (period s + 1) y)) with (sender y)
      by (unfold receiver, flip, back; simpl; now rewrite last_rev).
    apply all_ends; trivial; [|now apply L].
    destruct (some_part m all y M Y) as (q & Q).
    destruct (sender_has_part _ _ _ _ V m all M y q Y Q) as [[A _]|(z & Z & <- & _)]; trivial.
    now apply (sums_wormhole _ _ _ _ V K m all M z).
  - intros m source destinations M v D. simpl in M.
    apply part_messages in M as (all & M & P & -> & -> & _).
    apply end_needed in D; trivial.
    destruct (member_has_part _ _ _ _ V m all M p v P D) as [->|(y & Y & R & Q)].
    + exists 1. constructor.
    + apply (part_leaves m all v M (Z.to_nat (fst y + 1)) y); trivial.
      * apply filter_In in Y as [Y _]. apply timed_steps in Y. lia.
      * rewrite R. constructor.
Qed.
End Backward.

(** ** The theorems *)

(** What the check of an instance has to show, once. *)
Definition part_fits (I : instance) (members : groups) : Prop :=
  members_once members /\ shares_once I /\ rounds_positive I.

(** Every valid schedule contains one of each part, with as many steps. *)
Theorem part_contained I c members p back s :
  part_fits I members -> valid_sums I c members s ->
  exists other, valid (part I c members p back) other /\ period other = period s.
Proof.
  intros (M & S & R) V. destruct back.
  - now apply part_contained_backward.
  - now apply part_contained_forward.
Qed.

(** A number of steps that a part needs, the whole needs. *)
Theorem part_sound I c members p back steps :
  part_fits I members ->
  (forall other, valid (part I c members p back) other -> steps <= period other) ->
  forall s, valid_sums I c members s -> steps <= period s.
Proof.
  intros F H s V. destruct (part_contained I c members p back s F V) as (other & W & <-). auto.
Qed.

(** If a part has no schedule, the whole has none. *)
Theorem no_part_sound I c members p back :
  part_fits I members -> (forall other, ~ valid (part I c members p back) other) ->
  forall s, ~ valid_sums I c members s.
Proof.
  intros F H s V. destruct (part_contained I c members p back s F V) as (other & W & _).
  now apply (H other).
Qed.
