(** Which schedules of an allreduce or a scan are valid: rule 6 of docs/valid-schedule.md.

    An instance of Model.v gives the network and the model; its messages are not used. A map gives
    every message its members in their order. The definitions follow the words of the rule. *)

Require Import ZArith List Bool Lia FMapPositive Permutation Sorted.
Require Import Model Plain.
Import ListNotations.
Open Scope Z_scope.

Inductive collective := Allreduce | Scan | Exscan.

(** The members of every message, in order; each chunk is a message. *)
Definition groups := PM.t (list node).

Definition is_in (v : node) (l : list node) : bool := existsb (Pos.eqb v) l.

Fixpoint members_before (v : node) (l : list node) : list node :=
  match l with
  | [] => []
  | a :: rest => if Pos.eqb v a then [] else a :: members_before v rest
  end.

(** The parts that a node needs: all, or those up to its own, or those before its own. No other
    node than a member needs any. *)
Definition needed (c : collective) (all : list node) (v : node) : list node :=
  if is_in v all then
    match c with
    | Allreduce => all
    | Scan => members_before v all ++ [v]
    | Exscan => members_before v all
    end
  else [].

(** A value is a sum of parts, given by the members whose parts they are. *)
Definition value := list node.

(** A member holds its own part from the start. *)
Definition own (all : list node) (v : node) : list value := if is_in v all then [[v]] else [].

Definition sum_sent (x : timed_transfer) : value := parts (snd x).

(** The receipts of a node. *)
Definition receipts (s : schedule) (m : positive) (v : node) : list timed_transfer :=
  filter (fun x => Pos.eqb v (receiver x)) (transfers m s).

(** What a node holds before step [t]: its own part, and the sums received in earlier steps. *)
Definition held (s : schedule) (m : positive) (all : list node) (v : node) (t : Z) : list value :=
  own all v ++ map sum_sent (filter (fun x => fst x <? t) (receipts s m v)).

(** A sum of disjoint values: together they have each of its parts once. *)
Definition sum_of (values : list value) (sum : value) : Prop :=
  exists chosen, incl chosen values /\ Permutation (concat chosen) sum.

(** The order in which receipts count: by step, and in one step larger sums first. *)
Definition counts_first (x y : timed_transfer) : Prop :=
  fst x < fst y \/ fst x = fst y /\ (length (sum_sent y) <= length (sum_sent x))%nat.

(** A receipt brings a new part, and shares no part with a value of the receiver that it does not
    contain. *)
Definition fits (values : list value) (sum : value) : Prop :=
  (exists part, In part sum /\ forall other, In other values -> ~ In part other)
  /\ forall other, In other values ->
       incl other sum \/ forall part, In part sum -> ~ In part other.

(** Receipts one after another, to what a node holds already. *)
Fixpoint all_fit (values : list value) (l : list timed_transfer) : Prop :=
  match l with
  | [] => True
  | x :: rest => fits values (sum_sent x) /\ all_fit (sum_sent x :: values) rest
  end.

Record valid_sums (I : instance) (c : collective) (members : groups) (s : schedule) : Prop := {
  (** There are no allreduces and scans in time slots or ticks. *)
  sums_in_steps : kind I <> TimeSlots /\ in_ticks I = false;
  (** Rules 1 and 2, and empty steps. *)
  sums_paths : forall x, In x (timed s) -> allowed I (nodes (snd x));
  sums_capacities : capacities I s;
  sums_empty : may_be_empty I = false -> ~ In [] s;
  sums_known : forall x, In x (timed s) -> PM.mem (message (snd x)) members = true;
  (** Every transfer names members, each once. *)
  sums_named : forall m all, PM.find m members = Some all ->
    forall x, In x (transfers m s) -> NoDup (sum_sent x) /\ incl (sum_sent x) all;
  (** A node sends, in a later step, only sums of disjoint values that it holds. *)
  sums_sent : forall m all, PM.find m members = Some all ->
    forall x, In x (transfers m s) -> sum_of (held s m all (sender x) (fst x)) (sum_sent x);
  (** Every receipt fits to what the receiver holds, larger sums first. *)
  sums_received : forall m all, PM.find m members = Some all ->
    forall v, exists order, Permutation order (receipts s m v)
      /\ StronglySorted counts_first order /\ all_fit (own all v) order;
  (** In wormhole switching only members receive, and only parts that they need. *)
  sums_wormhole : kind I = Wormhole -> forall m all, PM.find m members = Some all ->
    forall x, In x (transfers m s) ->
      In (receiver x) all /\ incl (sum_sent x) (needed c all (receiver x));
  (** In the end the values of every member with only parts that it needs contain all of these. *)
  sums_complete : forall m all, PM.find m members = Some all ->
    forall v, In v all -> forall part, In part (needed c all v) ->
      exists value, In value (held s m all v (period s + 1))
        /\ incl value (needed c all v) /\ In part value
}.

(** ** What the rules mean for one part *)

Lemma is_in_In v l : is_in v l = true <-> In v l.
Proof.
  unfold is_in. rewrite existsb_exists. split.
  - intros (w & W & E). apply Pos.eqb_eq in E. now subst w.
  - intros H. exists v. now rewrite Pos.eqb_refl.
Qed.

Lemma is_in_not v l : is_in v l = false <-> ~ In v l.
Proof. rewrite <- is_in_In. destruct (is_in v l); intuition congruence. Qed.

(** A held value is the own part, or was received in an earlier step. *)
Lemma held_spec s m all v t x : In x (held s m all v t) <->
  In v all /\ x = [v]
  \/ exists y, In y (transfers m s) /\ receiver y = v /\ fst y < t /\ sum_sent y = x.
Proof.
  unfold held, own, receipts. rewrite in_app_iff, in_map_iff.
  assert (F : forall y,
    (sum_sent y = x /\ In y (filter (fun x => fst x <? t)
      (filter (fun x => Pos.eqb v (receiver x)) (transfers m s))))
    <-> (In y (transfers m s) /\ receiver y = v /\ fst y < t /\ sum_sent y = x)).
  { intros y. rewrite !filter_In, Pos.eqb_eq, Z.ltb_lt. intuition congruence. }
  setoid_rewrite F.
  assert (O : In x (if is_in v all then [[v]] else []) <-> In v all /\ x = [v]).
  { rewrite <- is_in_In. destruct (is_in v all); simpl; intuition congruence. }
  now rewrite O.
Qed.

(** The parts of a sum are in values. *)
Lemma sum_of_part values sum part : sum_of values sum -> In part sum ->
  exists value, In value values /\ In part value.
Proof.
  intros (chosen & C & P) H. apply Permutation_sym in P.
  apply (Permutation_in _ P) in H. apply in_concat in H as (value & V & H).
  exists value. auto.
Qed.

Section One.
Variables (I : instance) (c : collective) (members : groups) (s : schedule).
Hypothesis V : valid_sums I c members s.
Variables (m : positive) (all : list node).
Hypothesis M : PM.find m members = Some all.

(** Who sends a sum with a part has it from an earlier step, or it is its own. *)
Lemma sender_has_part x part : In x (transfers m s) -> In part (sum_sent x) ->
  In (sender x) all /\ sender x = part
  \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ fst y < fst x
       /\ In part (sum_sent y).
Proof.
  intros X P. pose proof (sums_sent _ _ _ _ V m all M x X) as S.
  destruct (sum_of_part _ _ _ S P) as (value & W & Q). apply held_spec in W.
  destruct W as [[A ->]|(y & Y & R & L & <-)].
  - left. destruct Q as [<-|[]]. auto.
  - right. now exists y.
Qed.

(** In the end a member has every part that it needs from its own, or from a receipt. *)
Lemma member_has_part v part : In v all -> In part (needed c all v) ->
  v = part \/ exists y, In y (transfers m s) /\ receiver y = v /\ In part (sum_sent y).
Proof.
  intros A N. destruct (sums_complete _ _ _ _ V m all M v A part N) as (value & W & _ & P).
  apply held_spec in W. destruct W as [[_ ->]|(y & Y & R & _ & <-)].
  - left. now destruct P as [<-|[]].
  - right. now exists y.
Qed.

End One.
