(** A program that verifies a schedule of an allreduce or a scan: [verify_sums I c members s].

    Paths and capacities are verified as in Verify.v. For every message, the receipts are put in
    their order, and every node's values are kept as sets, the newest first; then what is sent, and
    what the members have in the end, is compared with them. [verify_sums_sound] proves that every
    schedule that is accepted is valid. [fits_parts] is the check of the conditions under which the
    bounds of AllreduceBounds.v and AllreduceParts.v hold. *)

Require Import ZArith List Bool Lia FMapPositive Permutation Sorted.
Require Import Model Plain Sums Facts Prices Offers Verify Allreduce AllreduceBounds AllreduceParts.
Import ListNotations.
Open Scope Z_scope.

(** ** Sets of nodes *)

Definition nodeset := PM.t unit.

Definition present (o : option unit) : bool := match o with Some _ => true | None => false end.

Fixpoint subset (a b : nodeset) : bool :=
  match a, b with
  | PM.Leaf _, _ => true
  | PM.Node l o r, PM.Leaf _ => negb (present o) && subset l b && subset r b
  | PM.Node l o r, PM.Node l' o' r' =>
      (negb (present o) || present o') && subset l l' && subset r r'
  end.

Fixpoint disjoint (a b : nodeset) : bool :=
  match a, b with
  | PM.Node l o r, PM.Node l' o' r' =>
      negb (present o && present o') && disjoint l l' && disjoint r r'
  | _, _ => true
  end.

Fixpoint union (a b : nodeset) : nodeset :=
  match a, b with
  | PM.Leaf _, _ => b
  | _, PM.Leaf _ => a
  | PM.Node l o r, PM.Node l' o' r' =>
      PM.Node (union l l') (if present o then o else o') (union r r')
  end.

Fixpoint minus (a b : nodeset) : nodeset :=
  match a, b with
  | PM.Node l o r, PM.Node l' o' r' =>
      PM.Node (minus l l') (if present o' then None else o) (minus r r')
  | _, _ => a
  end.

Lemma mem_leaf k : PM.mem k (PM.Leaf unit) = false.
Proof. now destruct k. Qed.

Lemma mem_node k l o r : PM.mem k (PM.Node l o r)
  = match k with xH => present o | xO i => PM.mem i l | xI i => PM.mem i r end.
Proof. now destruct k, o. Qed.

Lemma subset_sound a : forall b k, subset a b = true -> PM.mem k a = true -> PM.mem k b = true.
Proof.
  induction a as [|l IHl o r IHr]; intros b k H M; [now rewrite mem_leaf in M|].
  rewrite mem_node in M. destruct b as [|l' o' r']; simpl in H;
    apply andb_true_iff in H as [H H3]; apply andb_true_iff in H as [H1 H2].
  - destruct k as [k|k|]; [apply (IHr _ k) in H3|apply (IHl _ k) in H2|]; trivial.
    + now rewrite mem_leaf in H3.
    + now rewrite mem_leaf in H2.
    + now rewrite M in H1.
  - rewrite mem_node. destruct k as [k|k|]; auto. now rewrite M in H1.
Qed.

Lemma not_subset a : forall b, subset a b = false ->
  exists k, PM.mem k a = true /\ PM.mem k b = false.
Proof.
  induction a as [|l IHl o r IHr]; intros b H; [discriminate|].
  destruct b as [|l' o' r']; simpl in H;
    apply andb_false_iff in H as [H|H]; try apply andb_false_iff in H as [H|H].
  - exists xH. rewrite mem_node, mem_leaf. now apply negb_false_iff in H.
  - apply IHl in H as (k & A & B). exists (xO k). now rewrite mem_node, mem_leaf.
  - apply IHr in H as (k & A & B). exists (xI k). now rewrite mem_node, mem_leaf.
  - exists xH. rewrite !mem_node. apply orb_false_iff in H as [A B].
    now apply negb_false_iff in A.
  - apply IHl in H as (k & A & B). exists (xO k). now rewrite !mem_node.
  - apply IHr in H as (k & A & B). exists (xI k). now rewrite !mem_node.
Qed.

Lemma disjoint_sound a : forall b k, disjoint a b = true ->
  PM.mem k a = true -> PM.mem k b = false.
Proof.
  induction a as [|l IHl o r IHr]; intros b k H M; [now rewrite mem_leaf in M|].
  destruct b as [|l' o' r']; [apply mem_leaf|]. simpl in H.
  apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  rewrite mem_node in *. destruct k as [k|k|]; auto. rewrite M in H1. now apply negb_true_iff in H1.
Qed.

Lemma mem_union a : forall b k, PM.mem k (union a b) = PM.mem k a || PM.mem k b.
Proof.
  induction a as [|l IHl o r IHr]; intros b k; [now rewrite mem_leaf|].
  destruct b as [|l' o' r']; [now rewrite mem_leaf, orb_false_r|].
  simpl union. rewrite !mem_node. destruct k as [k|k|]; auto. now destruct o, o'.
Qed.

Lemma mem_minus a : forall b k, PM.mem k (minus a b) = PM.mem k a && negb (PM.mem k b).
Proof.
  induction a as [|l IHl o r IHr]; intros b k; [simpl minus; now rewrite !mem_leaf|].
  destruct b as [|l' o' r']; [rewrite mem_leaf; apply eq_sym, andb_true_r|].
  simpl minus. rewrite !mem_node. destruct k as [k|k|]; auto. now destruct o, o'.
Qed.

Lemma mem_set_of l v : PM.mem v (set_of l) = true <-> In v l.
Proof.
  split; [apply set_of_in|]. unfold set_of.
  assert (K : forall k m, PM.mem v m = true ->
    PM.mem v (fold_left (fun m v => PM.add v tt m) k m) = true).
  { induction k as [|a k IH]; simpl; trivial. intros m H. apply IH. rewrite mem_add, H.
    apply orb_true_r. }
  generalize (PM.empty unit). induction l as [|a l IH]; intros m; simpl; [easy|].
  intros [->|H]; [|now apply IH]. apply K. now rewrite mem_add, Pos.eqb_refl.
Qed.

(** ** The order of the receipts *)

(** Whether a list is no longer than another one. *)
Fixpoint no_longer {A} (l k : list A) : bool :=
  match l, k with
  | [], _ => true
  | _ :: _, [] => false
  | _ :: l, _ :: k => no_longer l k
  end.

Definition is_first (x y : timed_transfer) : bool :=
  (fst x <? fst y) || ((fst x =? fst y) && no_longer (sum_sent y) (sum_sent x)).

Fixpoint insert (x : timed_transfer) (l : list timed_transfer) : list timed_transfer :=
  match l with
  | [] => [x]
  | y :: rest => if is_first x y then x :: l else y :: insert x rest
  end.

Definition in_order (l : list timed_transfer) : list timed_transfer := fold_right insert [] l.

Lemma no_longer_spec {A} (l k : list A) : no_longer l k = true <-> (length l <= length k)%nat.
Proof.
  revert k. induction l as [|a l IH]; intros [|b k]; simpl; try (split; [lia|trivial]; fail).
  - split; [discriminate|lia].
  - rewrite IH. lia.
Qed.

Lemma is_first_spec x y : is_first x y = true <-> counts_first x y.
Proof.
  unfold is_first, counts_first.
  now rewrite orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq, no_longer_spec.
Qed.

Lemma not_first x y : is_first x y = false -> counts_first y x.
Proof.
  intros H. assert (N : ~ counts_first x y) by (rewrite <- is_first_spec; congruence).
  unfold counts_first in *. lia.
Qed.

Lemma first_transitive x y z : counts_first x y -> counts_first y z -> counts_first x z.
Proof. unfold counts_first. lia. Qed.

Lemma insert_permutation x l : Permutation (insert x l) (x :: l).
Proof.
  induction l as [|y l IH]; simpl; [trivial|]. destruct (is_first x y); [trivial|].
  etransitivity; [apply perm_skip, IH|apply perm_swap].
Qed.

Lemma insert_sorted x l : StronglySorted counts_first l -> StronglySorted counts_first (insert x l).
Proof.
  induction 1 as [|y l S IH F]; simpl; [repeat constructor|].
  destruct (is_first x y) eqn:E.
  - apply is_first_spec in E. constructor; [now constructor|]. constructor; trivial.
    rewrite Forall_forall in *. intros z Z. apply first_transitive with y; auto.
  - apply not_first in E. constructor; trivial. rewrite Forall_forall in *. intros z Z.
    apply (Permutation_in _ (insert_permutation x l)) in Z. destruct Z as [<-|Z]; auto.
Qed.

Lemma in_order_permutation l : Permutation (in_order l) l.
Proof.
  induction l as [|x l IH]; simpl; [trivial|].
  etransitivity; [apply insert_permutation|now apply perm_skip].
Qed.

Lemma in_order_sorted l : StronglySorted counts_first (in_order l).
Proof. induction l; simpl; [constructor|now apply insert_sorted]. Qed.

Lemma filter_permutation {A} (f : A -> bool) l k :
  Permutation l k -> Permutation (filter f l) (filter f k).
Proof.
  induction 1 as [|x l k P IH|x y l|l k j P IH P' IH']; simpl; trivial.
  - destruct (f x); auto.
  - destruct (f x), (f y); auto. apply perm_swap.
  - now transitivity (filter f k).
Qed.

Lemma filter_sorted {A} (R : A -> A -> Prop) (f : A -> bool) l :
  StronglySorted R l -> StronglySorted R (filter f l).
Proof.
  induction 1 as [|x l S IH F]; simpl; [constructor|]. destruct (f x); trivial.
  constructor; trivial. rewrite Forall_forall in *. intros y Y. apply filter_In in Y as [Y _].
  auto.
Qed.

(** ** The program *)

(** All parts that a node has, and its values, each with its step, the newest first. *)
Record holding := { all_parts : nodeset; values : list (Z * nodeset) }.

Definition nothing : holding := {| all_parts := PM.empty unit; values := [] |}.

Definition holds (h : PM.t holding) (v : node) : holding :=
  match PM.find v h with Some x => x | None => nothing end.

Definition at_start (all : list node) : PM.t holding :=
  fold_left (fun h v => PM.add v {| all_parts := set_of [v]; values := [(0, set_of [v])] |} h)
    all (PM.empty _).

(** The receipts one after another; [None] if one does not fit. *)
Fixpoint receive (h : PM.t holding) (l : list timed_transfer) : option (PM.t holding) :=
  match l with
  | [] => Some h
  | x :: rest =>
      let sum := set_of (sum_sent x) in
      let old := holds h (receiver x) in
      if negb (subset sum (all_parts old))
         && forallb (fun each => subset (snd each) sum || disjoint (snd each) sum) (values old)
      then receive (PM.add (receiver x) {| all_parts := union sum (all_parts old);
                                           values := (fst x, sum) :: values old |} h) rest
      else None
  end.

(** What is missing of a set after values from before step [t] have been taken from it. *)
Fixpoint missing (t : Z) (set : nodeset) (l : list (Z * nodeset)) : nodeset :=
  match l with
  | [] => set
  | each :: rest =>
      if (fst each <? t) && subset (snd each) set
      then missing t (minus set (snd each)) rest else missing t set rest
  end.

(** All values with only parts that are needed, together. *)
Definition gathered (need : nodeset) (l : list (Z * nodeset)) : nodeset :=
  fold_left (fun g each => if subset (snd each) need then union (snd each) g else g) l
    (PM.empty unit).

Definition is_sent (h : PM.t holding) (x : timed_transfer) : bool :=
  subset (missing (fst x) (set_of (sum_sent x)) (values (holds h (sender x)))) (PM.empty unit).

Definition may_get (I : instance) (c : collective) (all : list node) (x : timed_transfer) : bool :=
  match kind I with
  | Wormhole => is_in (receiver x) all
      && subset (set_of (sum_sent x)) (set_of (needed c all (receiver x)))
  | _ => true
  end.

Definition has_sum (c : collective) (all : list node) (h : PM.t holding) (v : node) : bool :=
  let need := set_of (needed c all v) in subset need (gathered need (values (holds h v))).

Definition sums_fit (I : instance) (c : collective) (all : list node) (l : list timed_transfer)
    : bool :=
  let members := set_of all in
  forallb (fun x => distinct (PM.empty unit) (sum_sent x)
      && forallb (fun v => PM.mem v members) (sum_sent x) && may_get I c all x) l
  && match receive (at_start all) (in_order l) with
     | Some h => forallb (is_sent h) l && forallb (has_sum c all h) all
     | None => false
     end.

Definition in_steps (I : instance) : bool :=
  match kind I with TimeSlots => false | _ => negb (in_ticks I) end.

Definition verify_sums (I : instance) (c : collective) (members : groups) (s : schedule) : bool :=
  let l := timed s in
  in_steps I && forallb (fun x => PM.mem (message (snd x)) members) l
  && paths_fit I l && capacities_fit I s l && (may_be_empty I || no_empty_step s)
  && (let lists := by_message l in
      forallb (fun each => sums_fit I c (snd each) (rev_append (listed lists (fst each)) []))
        (PM.elements members)).

(** ** Proofs *)

(** The set has the parts of the value. *)
Definition shows (set : nodeset) (x : value) : Prop := forall k, In k x <-> PM.mem k set = true.

Lemma set_shows l : shows (set_of l) l.
Proof. intros k. symmetry. apply mem_set_of. Qed.

(** What is held is known, and shown by the values. *)
Definition kept (h : holding) (l : list value) : Prop :=
  (forall x k, In x l -> In k x -> PM.mem k (all_parts h) = true)
  /\ forall x, In x l -> exists each, In each (values h) /\ shows (snd each) x.

Lemma receive_fits l : forall h g lists, receive h l = Some g ->
  (forall v, kept (holds h v) (lists v)) ->
  forall v, all_fit (lists v) (filter (fun x => Pos.eqb v (receiver x)) l).
Proof.
  induction l as [|x l IH]; intros h g lists H K v; simpl; [trivial|]. simpl in H.
  set (sum := set_of (sum_sent x)) in *. set (old := holds h (receiver x)) in *.
  destruct (negb (subset sum (all_parts old)) && _) eqn:E in H; [|discriminate].
  apply andb_true_iff in E as [E1 E2]. apply negb_true_iff in E1. rewrite forallb_forall in E2.
  set (after := fun w => if Pos.eqb w (receiver x) then sum_sent x :: lists w else lists w).
  assert (A : all_fit (after v) (filter (fun x => Pos.eqb v (receiver x)) l)).
  { apply (IH _ _ after H). intros w. unfold after, holds.
    destruct (Pos.eqb_spec w (receiver x)) as [->|N].
    - rewrite PM.gss. destruct (K (receiver x)) as [K1 K2]. fold old in K1, K2. split; simpl.
      + intros y k [<-|Y] Q; rewrite mem_union; apply orb_true_iff.
        * left. now apply set_shows.
        * right. now apply (K1 y).
      + intros y [<-|Y].
        * exists (fst x, sum). split; [now left|]. apply set_shows.
        * destruct (K2 y Y) as (each & J & S). exists each. split; [now right|trivial].
    - rewrite PM.gso by trivial. apply K. }
  unfold after in A. destruct (Pos.eqb_spec v (receiver x)) as [->|N]; [|exact A].
  split; [|exact A]. destruct (K (receiver x)) as [K1 K2]. fold old in K1, K2. split.
  - apply not_subset in E1 as (k & M & N). exists k. split; [now apply set_of_in|].
    intros y Y Q. specialize (K1 y k Y Q). congruence.
  - intros y Y. destruct (K2 y Y) as (each & J & S). specialize (E2 each J).
    apply orb_true_iff in E2 as [E2|E2].
    + left. intros k Q. apply set_of_in. apply (subset_sound _ _ k E2). now apply S.
    + right. intros k Q R. apply S in R. apply (disjoint_sound _ _ k E2) in R.
      enough (PM.mem k sum = true) by congruence. now apply set_shows.
Qed.

(** Every value of a node was there before, or is received. *)
Lemma receive_from l : forall h g v each, receive h l = Some g ->
  In each (values (holds g v)) ->
  In each (values (holds h v))
  \/ exists x, In x l /\ receiver x = v /\ each = (fst x, set_of (sum_sent x)).
Proof.
  induction l as [|x l IH]; intros h g v each H J; simpl in H.
  - inversion H; subst. now left.
  - destruct (negb _ && _) in H; [|discriminate].
    destruct (IH _ _ _ _ H J) as [Q|(y & Y & R & E)].
    + unfold holds at 1 in Q. destruct (Pos.eq_dec v (receiver x)) as [->|N].
      * rewrite PM.gss in Q. destruct Q as [<-|Q]; [right; exists x|now left]. simpl. auto.
      * rewrite PM.gso in Q by trivial. now left.
    + right. exists y. simpl. auto.
Qed.

Lemma at_start_holds all v : holds (at_start all) v
  = if is_in v all then {| all_parts := set_of [v]; values := [(0, set_of [v])] |} else nothing.
Proof.
  unfold at_start.
  assert (H : forall h, holds (fold_left (fun h v =>
      PM.add v {| all_parts := set_of [v]; values := [(0, set_of [v])] |} h) all h) v
    = if is_in v all then {| all_parts := set_of [v]; values := [(0, set_of [v])] |}
      else holds h v).
  { induction all as [|a l IH]; intros h; simpl; [reflexivity|]. rewrite IH. unfold holds.
    destruct (is_in v l) eqn:E; [now rewrite orb_true_r|]. rewrite orb_false_r.
    destruct (Pos.eqb_spec v a) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso]. }
  rewrite H. unfold holds at 1. now rewrite PM.gempty.
Qed.

Lemma at_start_kept all v : kept (holds (at_start all) v) (own all v).
Proof.
  rewrite at_start_holds. unfold own. destruct (is_in v all); [|now split].
  split.
  - intros x k [<-|[]] Q. now apply set_shows.
  - intros x [<-|[]]. exists (0, set_of [v]). split; [now left|]. apply set_shows.
Qed.

Lemma NoDup_app_both {A} (l k : list A) :
  NoDup l -> NoDup k -> (forall x, In x l -> ~ In x k) -> NoDup (l ++ k).
Proof.
  induction 1 as [|a l N D IH]; simpl; trivial. intros K H. constructor.
  - rewrite in_app_iff. intros [J|J]; [contradiction|]. apply (H a); [now left|trivial].
  - apply IH; trivial. intros x X. apply H. now right.
Qed.

Section One.
Variables (I : instance) (c : collective) (s : schedule) (m : positive) (all : list node).
Hypothesis F : sums_fit I c all (transfers m s) = true.

Lemma sums_split : exists h, receive (at_start all) (in_order (transfers m s)) = Some h
  /\ (forall x, In x (transfers m s) -> is_sent h x = true)
  /\ (forall v, In v all -> has_sum c all h v = true)
  /\ forall x, In x (transfers m s) ->
       NoDup (sum_sent x) /\ incl (sum_sent x) all /\ may_get I c all x = true.
Proof.
  unfold sums_fit in F. apply andb_true_iff in F as [A B]. rewrite forallb_forall in A.
  destruct (receive _ _) as [h|]; [|discriminate]. exists h.
  apply andb_true_iff in B as [B C]. rewrite forallb_forall in B, C. repeat split; auto;
    specialize (A x H); rewrite !andb_true_iff in A; destruct A as ((D & E) & G); trivial.
  - now apply distinct_sound in D.
  - rewrite forallb_forall in E. intros v V. now apply set_of_in, E.
Qed.

Lemma received_fit v : exists order, Permutation order (receipts s m v)
  /\ StronglySorted counts_first order /\ all_fit (own all v) order.
Proof.
  destruct sums_split as (h & H & _).
  exists (filter (fun x => Pos.eqb v (receiver x)) (in_order (transfers m s))). repeat split.
  - apply filter_permutation, in_order_permutation.
  - apply filter_sorted, in_order_sorted.
  - apply (receive_fits _ _ _ (own all) H). apply at_start_kept.
Qed.

(** Every value of a node was held from its step on. *)
Lemma value_held h v each t : receive (at_start all) (in_order (transfers m s)) = Some h ->
  In each (values (holds h v)) -> fst each < t ->
  exists x, In x (held s m all v t) /\ NoDup x /\ shows (snd each) x.
Proof.
  intros H J L. destruct (receive_from _ _ _ _ _ H J) as [Q|(x & X & R & ->)].
  - rewrite at_start_holds in Q. destruct (is_in v all) eqn:E; [|easy]. apply is_in_In in E.
    destruct Q as [<-|[]]. exists [v]. split; [|split].
    + apply held_spec. now left.
    + constructor; [easy|constructor].
    + apply set_shows.
  - apply (Permutation_in _ (in_order_permutation _)) in X. exists (sum_sent x). split; [|split].
    + apply held_spec. right. exists x. auto.
    + destruct sums_split as (_ & _ & _ & _ & D). now apply D.
    + apply set_shows.
Qed.

Lemma missing_sound h v t : receive (at_start all) (in_order (transfers m s)) = Some h ->
  forall l set, incl l (values (holds h v)) ->
  exists chosen, incl chosen (held s m all v t) /\ NoDup (concat chosen)
    /\ forall k, In k (concat chosen)
         <-> PM.mem k set = true /\ PM.mem k (missing t set l) = false.
Proof.
  intros H. induction l as [|each l IH]; intros set J; simpl.
  - exists []. split; [easy|]. split; [constructor|]. intros k. simpl.
    destruct (PM.mem k set); intuition congruence.
  - assert (J' : incl l (values (holds h v))) by (intros y Y; apply J; now right).
    destruct ((fst each <? t) && subset (snd each) set) eqn:E; [|now apply IH].
    apply andb_true_iff in E as [L S]. apply Z.ltb_lt in L.
    destruct (value_held h v each t H (J each (or_introl eq_refl)) L) as (x & X & D & W).
    destruct (IH (minus set (snd each)) J') as (chosen & C & N & Q). exists (x :: chosen).
    assert (M : forall k l set, PM.mem k (missing t set l) = true -> PM.mem k set = true).
    { clear. intros k. induction l as [|each l IH]; intros set; simpl; [trivial|].
      destruct (_ && _); intros M; apply IH in M; trivial. rewrite mem_minus in M.
      now apply andb_true_iff in M. }
    split; [intros y [<-|Y]; auto|]. simpl. split.
    + apply NoDup_app_both; trivial. intros k K K'. apply Q in K' as [K' _].
      rewrite mem_minus in K'. apply W in K. rewrite K in K'. now rewrite andb_false_r in K'.
    + intros k. rewrite in_app_iff, Q, mem_minus, (W k).
      destruct (PM.mem k (snd each)) eqn:A; simpl.
      * rewrite (subset_sound _ _ k S A), andb_false_r. split; [|now left]. intros _.
        split; trivial. destruct (PM.mem k (missing t (minus set (snd each)) l)) eqn:B; trivial.
        apply M in B. rewrite mem_minus, A, andb_false_r in B. easy.
      * rewrite andb_true_r. intuition congruence.
Qed.

Lemma sent_sound x : In x (transfers m s) ->
  sum_of (held s m all (sender x) (fst x)) (sum_sent x).
Proof.
  intros X. destruct sums_split as (h & H & S & _ & D). specialize (S x X). unfold is_sent in S.
  destruct (missing_sound h (sender x) (fst x) H (values (holds h (sender x)))
    (set_of (sum_sent x)) (incl_refl _)) as (chosen & C & N & Q).
  exists chosen. split; trivial. apply NoDup_Permutation; trivial; [now apply D|].
  intros k. rewrite Q, mem_set_of. split; [easy|]. intros K. split; trivial.
  destruct (PM.mem k (missing _ _ _)) eqn:M; trivial.
  apply (subset_sound _ _ k S) in M. now rewrite mem_empty in M.
Qed.

Lemma gathered_from need l k : PM.mem k (gathered need l) = true ->
  exists each, In each l /\ subset (snd each) need = true /\ PM.mem k (snd each) = true.
Proof.
  unfold gathered.
  assert (H : forall g, PM.mem k (fold_left (fun g (each : Z * nodeset) =>
      if subset (snd each) need then union (snd each) g else g) l g) = true ->
    PM.mem k g = true
    \/ exists each, In each l /\ subset (snd each) need = true /\ PM.mem k (snd each) = true).
  { induction l as [|each l IH]; intros g; simpl; [now left|]. intros M.
    apply IH in M as [M|(e & J & S & M)]; [|right; exists e; auto].
    destruct (subset (snd each) need) eqn:E; [|now left]. rewrite mem_union in M.
    apply orb_true_iff in M as [M|M]; [right; exists each; auto|now left]. }
  intros M. apply H in M as [M|M]; trivial. now rewrite mem_empty in M.
Qed.

Lemma complete_sound v p : In v all -> In p (needed c all v) ->
  exists value, In value (held s m all v (period s + 1))
    /\ incl value (needed c all v) /\ In p value.
Proof.
  intros V P. destruct sums_split as (h & H & _ & C & _). specialize (C v V).
  unfold has_sum in C. apply mem_set_of in P. apply (subset_sound _ _ p C) in P.
  apply gathered_from in P as (each & J & S & P).
  assert (L : fst each < period s + 1).
  { destruct (receive_from _ _ _ _ _ H J) as [Q|(x & X & _ & ->)].
    - rewrite at_start_holds in Q. destruct (is_in v all); [|easy]. destruct Q as [<-|[]].
      simpl. unfold period. lia.
    - apply (Permutation_in _ (in_order_permutation _)) in X. apply filter_In in X as [X _].
      apply timed_steps in X. simpl. lia. }
  destruct (value_held h v each _ H J L) as (x & X & _ & W). exists x. split; trivial. split.
  - intros k K. apply set_of_in. apply (subset_sound _ _ k S). now apply W.
  - now apply W.
Qed.
End One.

(** The theorem: a schedule that is accepted is valid. *)
Theorem verify_sums_sound I c members s : verify_sums I c members s = true ->
  valid_sums I c members s.
Proof.
  unfold verify_sums. rewrite !andb_true_iff, !forallb_forall.
  intros (((((N & K) & P) & C) & E) & M).
  assert (G : forall m all, PM.find m members = Some all ->
    sums_fit I c all (transfers m s) = true).
  { intros m all Q. apply PM.elements_correct in Q. apply M in Q. simpl in Q.
    now rewrite by_message_transfers in Q. }
  constructor; trivial.
  - unfold in_steps in N. destruct (kind I); try discriminate; apply negb_true_iff in N; now split.
  - intros x. now apply paths_fit_sound.
  - now apply capacities_fit_sound.
  - intros B H. rewrite B in E. unfold no_empty_step in E. cbn [orb] in E.
    rewrite forallb_forall in E. now apply E in H.
  - intros m all Q x X. destruct (sums_split I c s m all (G m all Q)) as (_ & _ & _ & _ & D).
    now destruct (D x X) as (? & ? & _).
  - intros m all Q x X. now apply (sent_sound I c s m all (G m all Q)).
  - intros m all Q v. now apply (received_fit I c s m all (G m all Q)).
  - intros W m all Q x X. destruct (sums_split I c s m all (G m all Q)) as (_ & _ & _ & _ & D).
    destruct (D x X) as (_ & _ & R). unfold may_get in R. rewrite W in R.
    apply andb_true_iff in R as [R S]. split; [now apply is_in_In|]. intros k J.
    apply set_of_in. apply (subset_sound _ _ k S). now apply mem_set_of.
  - intros m all Q v V p J. now apply (complete_sound I c s m all (G m all Q)).
Qed.

(** ** The conditions of the bounds *)

Definition is_once (members : groups) : bool :=
  forallb (fun each => distinct (PM.empty unit) (snd each)) (PM.elements members).

Definition fits_parts (I : instance) (members : groups) : bool :=
  is_once members
  && forallb (fun each => distinct (PM.empty unit) (map fst (snd each))) (PM.elements (shared I))
  && forallb (Z.leb 1) (rounds I).

Lemma is_once_sound members : is_once members = true -> members_once members.
Proof.
  unfold is_once. rewrite forallb_forall. intros H m all M. apply PM.elements_correct in M.
  apply H in M. now apply distinct_sound in M.
Qed.

Theorem fits_parts_sound I members : fits_parts I members = true -> part_fits I members.
Proof.
  unfold fits_parts. rewrite !andb_true_iff, !forallb_forall. intros ((A & B) & C).
  repeat split.
  - now apply is_once_sound.
  - intros a l S. apply PM.elements_correct in S. apply B in S. now apply distinct_sound in S.
  - intros r R. now apply Z.leb_le, C.
Qed.
