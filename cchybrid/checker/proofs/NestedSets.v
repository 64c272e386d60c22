(** Nested sets of nodes: how many steps a message needs at least.

    A message enters a set of nodes by few channels, and then spreads to those inside. The parts of
    a set are its inner sets, and its other nodes that may hold the message. From the steps that a
    message needs in each part, and from the capacities of the channels and the injection ports, it
    follows how many steps it needs in the whole set, from the first step in which one of its nodes
    receives the message, which counts, to the last one.

    [nested_sets_bound] computes the bound for a tree of sets, [nested_sets_need] is the theorem,
    for wormhole and store-and-forward switching. Steps of several rounds all count as the one with
    the largest number of rounds. [nested_rows_bound] and [nested_rows_need] are the same for the
    rows of the evidence; how [tree_of_rows] reads these does not matter, as the theorem holds for
    every tree. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts Sets.
Import ListNotations.
Open Scope Z_scope.

(** A set has nodes, and inner sets with further nodes. *)
Inductive tree := Around (nodes : list node) (inner : list tree).

(** The nodes of a part, and how many steps the message needs in it at least. *)
Definition part : Type := list node * Z.

(** ** What is computed *)

Definition set_of (l : list node) : PM.t unit :=
  fold_right (fun v set => PM.add v tt set) (PM.empty unit) l.

Definition hop_by_hop (I : instance) : bool :=
  match kind I with StoreAndForward => true | _ => false end.

(** The largest number of rounds of a step. *)
Definition widest (I : instance) : Z := fold_right Z.max 1 (rounds I).

(** How often a message takes a channel in a step at most. *)
Definition carried (I : instance) (capacity : Z) : Z :=
  if hop_by_hop I then 1 else capacity * widest I.

(** How many transfers begin at a node in a step at most. *)
Definition port (I : instance) (v : node) : Z :=
  let out := sum (fun next => snd next * widest I) (neighbours I v) in
  match PM.find v (injects I) with
  | Some k => Z.min (k * widest I) out
  | None => out
  end.

Definition from_ports (I : instance) (l : list node) : Z := sum (port I) l.

(** How many transfers take a good channel from one of these nodes in a step at most. *)
Definition sent (I : instance) (senders : list node) (good : hop -> bool) : Z :=
  sum (fun a =>
    let n := sum (fun next => if good (a, fst next) then carried I (snd next) else 0)
               (neighbours I a) in
    if hop_by_hop I then Z.min (port I a) n else n) senders.

Definition all_senders (I : instance) : list node := map fst (PM.elements (adjacent I)).

(** Nodes that send the message, as far as is known. *)
Definition holders (I : instance) (source : node) (destinations : list node) : list node :=
  if hop_by_hop I then all_senders I else source :: destinations.

(** At least the sum of the [k] largest of these numbers: [k] times a threshold, and what is above
    it; with the best threshold it is that sum. *)
Definition above (threshold : Z) (l : list Z) : Z := sum (fun g => Z.max 0 (g - threshold)) l.

Definition largest (k : Z) (l : list Z) : Z :=
  fold_left (fun least x => Z.min least (k * Z.max 0 x + above (Z.max 0 x) l)) l (above 0 l).

(** The largest need that more than [k] parts have, so that one of these is left; or 0. *)
Definition left_over (k : Z) (needs : list Z) : Z :=
  fold_left (fun most y => if k <? count (Z.leb y) needs then Z.max most y else most) needs 0.

(** After [j] steps at most [k] parts are reached, and [new k] more in the next step. If that is
    none, no schedule is valid: such evidence is refused with the result 0. *)
Fixpoint grow {A} (fuel : list A) (new : Z -> Z) (needs : list Z) (j k best : Z) : Z :=
  let y := left_over k needs in
  if y <=? 0 then best
  else
    let best := Z.max best (j + y) in
    match fuel with
    | [] => best
    | _ :: rest =>
        let n := new k in
        if n <=? 0 then 0 else grow rest new needs (j + 1) (k + n) best
    end.

(** Whether a channel leads from outside of a set to a part. *)
Definition from_afar (I : instance) (outside : list node) (inside_part : PM.t unit) : bool :=
  existsb (fun a => existsb (fun next => has inside_part (fst next)) (neighbours I a)) outside.

(** Hop by hop, a part without a channel from outside is not reached in the first step. *)
Definition late_need (I : instance) (outside : list node) (most : Z) (each : part * PM.t unit)
    : Z :=
  if hop_by_hop I && (1 <=? snd (fst each)) && negb (from_afar I outside (snd each))
  then Z.max most (1 + snd (fst each)) else most.

(** The steps that the message needs in a set of nodes with these parts. *)
Definition need (I : instance) (source : node) (destinations : list node)
    (all : list node) (parts : list part) : Z :=
  let set := set_of all in
  let held := set_of (holders I source destinations) in
  let outside := filter (fun v => negb (has set v)) (all_senders I) in
  let into := sent I outside (fun h => has set (snd h)) in
  let ports_outside :=
    from_ports I (filter (fun v => negb (has set v)) (holders I source destinations)) in
  let sets := map (fun p => (p, set_of (fst p))) parts in
  let inner := map (fun each => Z.min (from_ports I (filter (has held) (fst (fst each))))
    (sent I (fst (fst each)) (fun h => has set (snd h) && negb (has (snd each) (snd h))))) sets in
  let outer := map (fun each => Z.min (from_ports I (filter (has held) (fst (fst each))))
    (sent I (fst (fst each)) (fun h => negb (has (snd each) (snd h))))) sets in
  let late := fold_left (late_need I outside) sets 0 in
  grow parts (fun k => Z.min (into + largest k inner) (ports_outside + largest k outer))
    (map snd parts) 0 0 late.

(** The parts that are single nodes: those that may hold the message. *)
Definition single (I : instance) (destinations : PM.t unit) (l : list node) : list part :=
  map (fun v => ([v], if has destinations v then 1 else 0))
    (filter (fun v => hop_by_hop I || has destinations v) l).

(** The nodes of a set and of its inner sets, and the steps that the message needs in it; 0, a
    refusal, if it needs none in an inner set. *)
Fixpoint evaluate (I : instance) (source : node) (destinations : list node) (t : tree) : part :=
  match t with
  | Around l inner =>
      let parts := map (evaluate I source destinations) inner in
      let all := l ++ flat_map fst parts in
      (all, if existsb (fun p => snd p <=? 0) parts then 0
            else need I source destinations all (single I (set_of destinations) l ++ parts))
  end.

(** No capacity is negative. *)
Definition capacities_fine (I : instance) : bool :=
  forallb (fun each => forallb (fun next => 0 <=? snd next) (snd each))
    (PM.elements (adjacent I))
  && forallb (fun each => 0 <=? snd each) (PM.elements (injects I)).

Definition in_order (I : instance) : bool :=
  match kind I with TimeSlots => false | _ => true end.

(** The steps that a message needs; [None] in time slots, if a node is in two sets of which none
    is in the other one, if the source is in a set, and if a set was refused. *)
Definition nested_sets_bound (I : instance) (source : node) (destinations : list node) (t : tree)
    : option Z :=
  let result := evaluate I source destinations t in
  if in_order I && capacities_fine I && distinct (PM.add source tt (PM.empty unit)) (fst result)
     && (1 <=? snd result)
  then Some (snd result) else None.

(** Rows of the evidence: the number of the set around a set (0: that of all nodes but the source)
    and its nodes that are in no set inside it. Sets are numbered from 1, outer ones first. *)
Definition within (inner : PM.t (list tree)) (number : Z) : list tree :=
  match PM.find (Z.to_pos (number + 1)) inner with Some l => l | None => [] end.

Fixpoint trees_of_rows (number : Z) (rows : list (Z * list node)) : PM.t (list tree) :=
  match rows with
  | [] => PM.empty _
  | (outer, l) :: rest =>
      let inner := trees_of_rows (number + 1) rest in
      let t := Around l (within inner number) in
      PM.add (Z.to_pos (outer + 1)) (t :: within inner outer) inner
  end.

(** The nodes with channels, each once, but those that are listed. *)
Definition other_nodes (I : instance) (listed : list node) : list node :=
  let nodes := flat_map (fun each => fst each :: map fst (snd each)) (PM.elements (adjacent I)) in
  filter (fun v => negb (has (set_of listed) v)) (map fst (PM.elements (set_of nodes))).

Definition tree_of_rows (I : instance) (source : node) (rows : list (Z * list node)) : tree :=
  Around (other_nodes I (source :: flat_map snd rows)) (within (trees_of_rows 1 rows) 0).

(** Whether every set is in one that precedes it, or in none. *)
Fixpoint rows_in_order (number : Z) (rows : list (Z * list node)) : bool :=
  match rows with
  | [] => true
  | (outer, _) :: rest => (0 <=? outer) && (outer <? number) && rows_in_order (number + 1) rest
  end.

(** The steps that a message needs, from the rows of the evidence. *)
Definition nested_rows_bound (I : instance) (source : node) (destinations : list node)
    (rows : list (Z * list node)) : option Z :=
  if rows_in_order 1 rows
  then nested_sets_bound I source destinations (tree_of_rows I source rows) else None.

(** ** Counting *)

Lemma count_nonneg {A} (f : A -> bool) l : 0 <= count f l.
Proof. unfold count. lia. Qed.

Lemma count_filter {A} (f g : A -> bool) l :
  count f (filter g l) = count (fun x => g x && f x) l.
Proof.
  rewrite !count_sum, sum_filter. apply sum_ext. intros x _. now destruct (g x).
Qed.

Lemma count_le {A} (f g : A -> bool) l :
  (forall x, In x l -> f x = true -> g x = true) -> count f l <= count g l.
Proof.
  intros H. rewrite !count_sum. apply sum_le. intros x X. specialize (H x X).
  destruct (f x); [rewrite H by reflexivity; lia|]. destruct (g x); lia.
Qed.

Lemma count_split {A} (f g : A -> bool) l :
  count f l = count (fun x => f x && g x) l + count (fun x => f x && negb (g x)) l.
Proof.
  rewrite !count_sum, <- sum_plus. apply sum_ext. intros x _.
  destruct (f x), (g x); reflexivity.
Qed.

(** What is counted is at most what others are limited to, if each has one of these. *)
Lemma count_le_sum {A B} (g : A -> bool) (q : B -> A -> bool) (z : B -> Z) l k :
  (forall x, In x l -> g x = true -> exists c, In c k /\ q c x = true) ->
  (forall c, In c k -> count (q c) l <= z c) -> count g l <= sum z k.
Proof.
  intros H L.
  transitivity (sum (fun c => count (q c) l) k); [|now apply sum_le].
  rewrite count_sum. erewrite (sum_ext _ _ k) by (intros; apply count_sum).
  rewrite <- sum_swap. apply sum_le. intros x X. specialize (H x X).
  assert (forall c, In c k -> 0 <= if q c x then 1 else 0) as N
    by (intros c _; destruct (q c x); lia).
  destruct (g x).
  - destruct H as (c & C & Q); trivial.
    assert (S := sum_single (fun c => if q c x then 1 else 0) k c C N). simpl in S.
    rewrite Q in S. exact S.
  - now apply sum_nonneg.
Qed.

Lemma count_flat_map {A B} (f : B -> bool) (g : A -> list B) l :
  count f (flat_map g l) = sum (fun x => count f (g x)) l.
Proof.
  rewrite count_sum, sum_flat_map. apply sum_ext. intros. now rewrite count_sum.
Qed.

Lemma count_positive {A} (f : A -> bool) l a : In a l -> f a = true -> 1 <= count f l.
Proof.
  intros H F. rewrite count_sum.
  assert (S := sum_single (fun x => if f x then 1 else 0) l a H). simpl in S. rewrite F in S.
  apply S. intros x _. destruct (f x); lia.
Qed.

Lemma count_true {A} (l : list A) : count (fun _ => true) l = Z.of_nat (length l).
Proof. unfold count. f_equal. f_equal. induction l; simpl; congruence. Qed.

(** ** Sets of nodes *)

Lemma has_add set u v : has (PM.add u tt set) v = Pos.eqb v u || has set v.
Proof.
  unfold has. destruct (Pos.eqb_spec v u) as [->|N]; simpl.
  - rewrite PM.mem_find, PM.gss. reflexivity.
  - now rewrite !PM.mem_find, PM.gso by congruence.
Qed.

Lemma has_set_of l v : has (set_of l) v = true <-> In v l.
Proof.
  induction l as [|a l IH]; simpl.
  - unfold has. rewrite PM.mem_find, PM.gempty. easy.
  - rewrite has_add, orb_true_iff, IH, Pos.eqb_eq. firstorder congruence.
Qed.

Lemma not_has_set_of l v : has (set_of l) v = false <-> ~ In v l.
Proof. rewrite <- has_set_of. destruct (has (set_of l) v); firstorder congruence. Qed.

Lemma NoDup_app_parts {A} (l k : list A) : NoDup (l ++ k) ->
  NoDup l /\ NoDup k /\ forall x, In x l -> In x k -> False.
Proof.
  induction l as [|a l IH]; simpl; intros D; [repeat split; trivial; constructor|].
  inversion D as [|? ? N D']; subst. apply IH in D' as (D1 & D2 & D3).
  rewrite in_app_iff in N. repeat split; trivial.
  - constructor; tauto.
  - intros x [<-|L] K; [tauto|eauto].
Qed.

(** A node is in one part at most. *)
Lemma one_part (parts : list part) p q v : NoDup (flat_map fst parts) ->
  In p parts -> In q parts -> In v (fst p) -> In v (fst q) -> p = q.
Proof.
  induction parts as [|r parts IH]; simpl; intros D P Q VP VQ; [easy|].
  apply NoDup_app_parts in D as (_ & D & N).
  destruct P as [->|P], Q as [->|Q]; trivial; [..|now apply IH]; exfalso.
  - apply (N v VP). apply in_flat_map. now exists q.
  - apply (N v VQ). apply in_flat_map. now exists p.
Qed.

Lemma one_part_count (parts : list part) v : NoDup (flat_map fst parts) ->
  count (fun p => has (set_of (fst p)) v) parts <= 1.
Proof.
  rewrite count_sum.
  induction parts as [|r parts IH]; cbn [sum flat_map]; intros D; [lia|].
  apply NoDup_app_parts in D as (_ & D & N). specialize (IH D).
  destruct (has (set_of (fst r)) v) eqn:E; [|lia]. apply has_set_of in E.
  rewrite (sum_ext _ (fun _ => 0)).
  - rewrite sum_zero. lia.
  - intros p P. destruct (has (set_of (fst p)) v) eqn:F; trivial. apply has_set_of in F.
    exfalso. apply (N v E). apply in_flat_map. now exists p.
Qed.

(** ** Largest sums, and what is left over *)

Lemma largest_above k l z :
  (forall x, 0 <= x -> z <= k * x + above x l) -> z <= largest k l.
Proof.
  intros H. unfold largest. assert (z <= above 0 l) as S by (specialize (H 0 ltac:(lia)); lia).
  revert S. generalize (above 0 l). generalize l at 2 as rest.
  induction rest as [|x rest IH]; intros least S; simpl; [trivial|].
  apply IH. specialize (H (Z.max 0 x) ltac:(lia)). lia.
Qed.

(** Some of the numbers have a sum of no more than the largest ones. *)
Lemma some_largest {A} (g : A -> Z) (f : A -> bool) k l : count f l <= k ->
  sum g (filter f l) <= largest k (map g l).
Proof.
  intros C. apply largest_above. intros x X.
  transitivity (x * count f l + above x (map g l)); [|nia].
  unfold above. rewrite sum_map, count_sum, <- sum_scale, <- sum_plus, sum_filter.
  apply sum_le. intros a _. destruct (f a); lia.
Qed.

Lemma left_over_count k l : let y := left_over k l in
  0 < y -> k < count (Z.leb y) l.
Proof.
  unfold left_over.
  assert (forall rest most, (0 < most -> k < count (Z.leb most) l) ->
    let y := fold_left (fun most y => if k <? count (Z.leb y) l then Z.max most y else most)
      rest most in 0 < y -> k < count (Z.leb y) l) as H.
  { induction rest as [|x rest IH]; intros most M; simpl; [trivial|]. apply IH.
    destruct (Z.ltb_spec k (count (Z.leb x) l)); trivial.
    destruct (Z.max_spec most x) as [(_ & ->)|(_ & ->)]; trivial. }
  apply H. lia.
Qed.

(** ** Rounds and capacities *)

Lemma rounds_widest I t : rounds_at (rounds I) t <= widest I /\ 1 <= widest I.
Proof.
  unfold widest. revert t. induction (rounds I) as [|r l IH]; intros t; [simpl; lia|].
  destruct (IH (t - 1)) as (Q & N). cbn [fold_right]. split; [|lia].
  destruct l as [|r2 l]; [simpl; lia|].
  change (rounds_at (r :: r2 :: l) t) with
    (if t <=? 1 then r else rounds_at (r2 :: l) (t - 1)).
  destruct (t <=? 1); lia.
Qed.

Lemma in_step_widest I t c : 0 <= c -> in_step I t c <= c * widest I.
Proof. intros C. unfold in_step. destruct (rounds_widest I t). nia. Qed.

(** ** What the transfers of a message take in a step *)

Definition has_hop (h : hop) (x : timed_transfer) : bool :=
  existsb (hop_eqb h) (hops (nodes (snd x))).

Lemma hop_eqb_eq g h : hop_eqb g h = true <-> g = h.
Proof.
  destruct g as [a b], h as [c d]. unfold hop_eqb. simpl.
  rewrite andb_true_iff, !Pos.eqb_eq. split; [intros (-> & ->)|intros [= -> ->]]; auto.
Qed.

Lemma resource_eqb_refl q : resource_eqb q q = true.
Proof. destruct q; simpl; try apply Pos.eqb_refl. now apply hop_eqb_eq. Qed.

Lemma has_hop_in h x : has_hop h x = true <-> In h (hops (nodes (snd x))).
Proof.
  unfold has_hop. rewrite existsb_exists. split.
  - intros (g & G & E). apply hop_eqb_eq in E as ->. trivial.
  - intros H. exists h. split; trivial. now apply hop_eqb_eq.
Qed.

(** The transfers of a message in a step. *)
Definition in_step_of (s : schedule) (m : positive) (t : Z) : list timed_transfer :=
  filter (fun x => Z.eqb (fst x) t) (transfers m s).

Lemma in_step_of_in s m t x : In x (in_step_of s m t) <-> In x (transfers m s) /\ fst x = t.
Proof. unfold in_step_of. now rewrite filter_In, Z.eqb_eq. Qed.

Lemma capacities_fine_channel I a b c : capacities_fine I = true -> channel I a b c -> 0 <= c.
Proof.
  intros F C. apply neighbours_elements in C as (l & L & N).
  apply andb_prop in F as (F & _). rewrite forallb_forall in F. specialize (F _ L).
  rewrite forallb_forall in F. specialize (F _ N). now apply Z.leb_le in F.
Qed.

Lemma capacities_fine_port I v k : capacities_fine I = true ->
  PM.find v (injects I) = Some k -> 0 <= k.
Proof.
  intros F C. apply PM.elements_correct in C. apply andb_prop in F as (_ & F).
  rewrite forallb_forall in F. specialize (F _ C). now apply Z.leb_le in F.
Qed.

Lemma path_of_two I p : kind I = StoreAndForward -> allowed I p -> exists a b, p = [a; b].
Proof.
  intros K A. unfold allowed in A. rewrite K in A. destruct A as (L & _).
  destruct p as [|a [|b [|]]]; try easy. now exists a, b.
Qed.

Lemma first_hop I p : allowed I p -> exists b, In (first_node p, b) (hops p).
Proof.
  intros A. assert (2 <= length p)%nat as L.
  { unfold allowed, simple in A. destruct (kind I); try tauto. lia. }
  destruct p as [|a [|b rest]]; simpl in L; try lia. exists b. now left.
Qed.

Section Schedule.
  Variables (I : instance) (s : schedule) (m : positive) (source : node).
  Variable destinations : list node.
  Hypothesis V : valid I s.
  Hypothesis M : PM.find m (messages I) = Some (source, destinations).
  Hypothesis order : in_order I = true.
  Hypothesis fine : capacities_fine I = true.

  Lemma not_time_slots : kind I <> TimeSlots.
  Proof. unfold in_order in order. now destruct (kind I). Qed.

  Lemma channel_used t x h : In h (hops (nodes (snd x))) -> fst x = t ->
    1 <= count (is_use (Channel (link I h)) t) (uses I (period s) x).
  Proof.
    intros H <-. apply count_positive with (Channel (link I h), fst x).
    - unfold uses. right. right. revert H. generalize (hops (nodes (snd x))) as l.
      pose proof not_time_slots as K.
      induction l as [|g l IH]; simpl; [easy|]. intros [->|H].
      + left. unfold slot. destruct (kind I); trivial; easy.
      + right. unfold late. destruct (kind I); try easy; rewrite Z.add_0_r; auto.
    - unfold is_use. simpl fst. simpl snd. now rewrite resource_eqb_refl, Z.eqb_refl.
  Qed.

  Lemma inject_used t x : fst x = t ->
    1 <= count (is_use (Inject (sender x)) t) (uses I (period s) x).
  Proof.
    intros <-. apply count_positive with (Inject (sender x), fst x).
    - left. unfold slot, sender. pose proof not_time_slots. destruct (kind I); easy.
    - unfold is_use. simpl fst. simpl snd. now rewrite resource_eqb_refl, Z.eqb_refl.
  Qed.

  Lemma count_used (f : timed_transfer -> bool) q t :
    (forall x, In x (in_step_of s m t) -> f x = true ->
      1 <= count (is_use q t) (uses I (period s) x)) ->
    count f (in_step_of s m t) <= used I s q t.
  Proof.
    intros H. unfold used, all_uses. rewrite count_flat_map. unfold in_step_of, transfers in *.
    rewrite !count_filter, count_sum. apply sum_le. intros x X. specialize (H x).
    rewrite !filter_In, Z.eqb_eq in H.
    pose proof (count_nonneg (is_use q t) (uses I (period s) x)).
    destruct (of_message m x); [|trivial]. destruct (Z.eqb_spec (fst x) t); [|trivial].
    destruct (f x); [|trivial]. now apply H.
  Qed.

  (** No transfer is in a step that is not there. *)
  Lemma count_step (f : timed_transfer -> bool) t z : 0 <= z ->
    (1 <= t <= period s -> count f (in_step_of s m t) <= z) -> count f (in_step_of s m t) <= z.
  Proof.
    intros N H. destruct (in_step_of s m t) as [|x l] eqn:E; [exact N|]. rewrite <- E in *.
    apply H. assert (In x (in_step_of s m t)) as X by (rewrite E; now left).
    apply in_step_of_in in X as (X & <-). apply timed_steps. now apply transfers_timed in X.
  Qed.

  Lemma capacity_holds a b c t : channel I a b c ->
    count (has_hop (a, b)) (in_step_of s m t) <= c * widest I.
  Proof.
    intros C. assert (0 <= c) as N by now apply capacities_fine_channel with I a b.
    apply count_step; [destruct (rounds_widest I 0); nia|]. intros B.
    destruct (rule_2 I s V t B) as (Q & _). specialize (Q _ _ _ C).
    assert (W := in_step_widest I t c N).
    etransitivity; [|etransitivity; [exact Q|exact W]].
    apply count_used. intros x X H. apply has_hop_in in H. apply channel_used; trivial.
    now apply in_step_of_in in X.
  Qed.

  Lemma transfer_allowed x : In x (transfers m s) -> allowed I (nodes (snd x)).
  Proof. intros X. apply (rule_1 I s V). now apply transfers_timed in X. Qed.

  Lemma hop_channel x a b : In x (transfers m s) -> In (a, b) (hops (nodes (snd x))) ->
    exists c, channel I a b c.
  Proof. intros X. now apply allowed_channels, transfer_allowed. Qed.

  (** In store-and-forward switching a hop has the ends of its transfer. *)
  Lemma hop_ends x a b : hop_by_hop I = true -> In x (transfers m s) ->
    In (a, b) (hops (nodes (snd x))) -> sender x = a /\ receiver x = b.
  Proof.
    unfold hop_by_hop. intros K X H. destruct (kind I) eqn:E; try easy.
    destruct (path_of_two I (nodes (snd x)) E (transfer_allowed x X)) as (u & v & P).
    unfold sender, receiver. rewrite P in *. simpl in *. destruct H as [[= -> ->]|[]]. auto.
  Qed.

  Lemma NoDup_map_filter {A B} (g : A -> B) f l : NoDup (map g l) -> NoDup (map g (filter f l)).
  Proof.
    induction l as [|a l IH]; simpl; intros D; trivial. inversion D as [|? ? N D']; subst.
    destruct (f a); simpl; auto. constructor; auto. intros H. apply N.
    apply in_map_iff in H as (x & E & X). apply filter_In in X as (X & _).
    apply in_map_iff. now exists x.
  Qed.

  (** A node receives the message once. *)
  Lemma receives_once v t : count (fun x => Pos.eqb (receiver x) v) (in_step_of s m t) <= 1.
  Proof.
    assert (D := rule_4_once I s V _ _ _ M). inversion D as [|? ? _ D']; subst.
    apply (NoDup_map_filter _ (fun x => Z.eqb (fst x) t)) in D'.
    apply (NoDup_map_filter _ (fun x => Pos.eqb (receiver x) v)) in D'.
    fold (in_step_of s m t) in D'. unfold count. rewrite <- (map_length receiver).
    apply (NoDup_incl_length (l' := [v])) in D'; [exact (proj1 (Nat2Z.inj_le _ 1) D')|].
    intros u U. apply in_map_iff in U as (x & <- & X). apply filter_In in X as (_ & E).
    apply Pos.eqb_eq in E as ->. now left.
  Qed.

  Lemma carried_holds a b c t : channel I a b c ->
    count (has_hop (a, b)) (in_step_of s m t) <= carried I c.
  Proof.
    intros C. unfold carried. destruct (hop_by_hop I) eqn:K; [|now apply capacity_holds].
    etransitivity; [|apply (receives_once b t)]. apply count_le. intros x X H.
    apply has_hop_in in H. apply in_step_of_in in X as (X & _).
    apply Pos.eqb_eq. now apply (hop_ends x a b).
  Qed.

  Lemma port_holds v t : count (fun x => Pos.eqb (sender x) v) (in_step_of s m t) <= port I v.
  Proof.
    assert (count (fun x => Pos.eqb (sender x) v) (in_step_of s m t)
      <= sum (fun next => snd next * widest I) (neighbours I v)) as O.
    { apply count_le_sum with (q := fun next => has_hop (v, fst next)).
      - intros x X E. apply Pos.eqb_eq in E as <-. apply in_step_of_in in X as (X & _).
        destruct (first_hop I _ (transfer_allowed x X)) as (b & H).
        destruct (hop_channel x _ _ X H) as (c & C). exists (b, c). split; [exact C|].
        now apply has_hop_in.
      - intros [b c] C. now apply capacity_holds. }
    unfold port. destruct (PM.find v (injects I)) as [k|] eqn:F; trivial.
    apply Z.min_glb; trivial. assert (N := capacities_fine_port I v k fine F).
    apply count_step; [destruct (rounds_widest I 0); nia|]. intros B.
    destruct (rule_2 I s V t B) as (_ & Q & _). specialize (Q _ _ F).
    assert (W := in_step_widest I t k N).
    etransitivity; [|etransitivity; [exact Q|exact W]].
    apply count_used. intros x X E. apply Pos.eqb_eq in E as <-. apply inject_used.
    now apply in_step_of_in in X.
  Qed.

  Lemma from_ports_holds (g : timed_transfer -> bool) l t :
    (forall x, In x (in_step_of s m t) -> g x = true -> In (sender x) l) ->
    count g (in_step_of s m t) <= from_ports I l.
  Proof.
    intros H. apply count_le_sum with (q := fun v x => Pos.eqb (sender x) v).
    - intros x X G. exists (sender x). split; [now apply H|apply Pos.eqb_refl].
    - intros v _. apply port_holds.
  Qed.

  (** No more transfers take good channels from some nodes than these carry. *)
  Lemma sent_holds (g : timed_transfer -> bool) (good : hop -> bool) l t :
    (forall x, In x (in_step_of s m t) -> g x = true ->
      exists a b, In a l /\ In (a, b) (hops (nodes (snd x))) /\ good (a, b) = true) ->
    count g (in_step_of s m t) <= sent I l good.
  Proof.
    intros H. unfold sent.
    apply count_le_sum with (q := fun a x =>
      existsb (fun h => Pos.eqb (fst h) a && good h) (hops (nodes (snd x)))).
    - intros x X G. destruct (H x X G) as (a & b & A & B & E). exists a. split; trivial.
      apply existsb_exists. exists (a, b). simpl. rewrite Pos.eqb_refl, E. auto.
    - intros a A.
      assert (count (fun x => existsb (fun h => Pos.eqb (fst h) a && good h)
          (hops (nodes (snd x)))) (in_step_of s m t)
        <= sum (fun next => if good (a, fst next) then carried I (snd next) else 0)
             (neighbours I a)) as C.
      { rewrite <- (sum_filter (fun next : node * Z => carried I (snd next))
          (fun next => good (a, fst next))).
        apply count_le_sum with (q := fun next => has_hop (a, fst next)).
        - intros x X E. apply existsb_exists in E as ([a' b] & B & E). simpl in E.
          apply andb_prop in E as (E & G). apply Pos.eqb_eq in E as ->.
          apply in_step_of_in in X as (X & _). destruct (hop_channel x _ _ X B) as (c & C).
          exists (b, c). rewrite filter_In, has_hop_in. auto.
        - intros [b c] C. apply filter_In in C as (C & _). now apply carried_holds. }
      destruct (hop_by_hop I) eqn:K; trivial. apply Z.min_glb; trivial.
      etransitivity; [|apply (port_holds a t)]. apply count_le. intros x X E.
      apply existsb_exists in E as ([a' b] & B & E). simpl in E.
      apply andb_prop in E as (E & _). apply Pos.eqb_eq in E as ->.
      apply in_step_of_in in X as (X & _). apply Pos.eqb_eq. now apply (hop_ends x a b).
  Qed.

  (** ** Who sends, and when *)

  Lemma sender_before x : In x (transfers m s) -> sender x = source
    \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ fst y < fst x.
  Proof.
    intros X. destruct (rule_3 I s V _ _ _ M x X) as (Q & _). unfold informed in Q.
    pose proof not_time_slots. destruct (kind I); trivial; easy.
  Qed.

  Lemma receiver_may x : In x (transfers m s) ->
    hop_by_hop I = true \/ In (receiver x) destinations.
  Proof.
    intros X. destruct (rule_3 I s V _ _ _ M x X) as (_ & Q). unfold may_receive in Q.
    unfold hop_by_hop. destruct (kind I); auto.
  Qed.

  Lemma sender_has_channel x : In x (transfers m s) -> In (sender x) (all_senders I).
  Proof.
    intros X. destruct (first_hop I _ (transfer_allowed x X)) as (b & H).
    destruct (hop_channel x _ _ X H) as (c & C).
    apply neighbours_elements in C as (l & L & _). unfold all_senders.
    apply in_map_iff. now exists (sender x, l).
  Qed.

  (** A hop's first node has a channel. *)
  Lemma hop_sender x a b : In x (transfers m s) -> In (a, b) (hops (nodes (snd x))) ->
    In a (all_senders I).
  Proof.
    intros X H. destruct (hop_channel x _ _ X H) as (c & C).
    apply neighbours_elements in C as (l & L & _). unfold all_senders.
    apply in_map_iff. now exists (a, l).
  Qed.

  Lemma sender_holds x : In x (transfers m s) -> In (sender x) (holders I source destinations).
  Proof.
    intros X. unfold holders. destruct (hop_by_hop I) eqn:K; [now apply sender_has_channel|].
    destruct (sender_before x X) as [->|(y & Y & <- & _)]; [now left|right].
    destruct (receiver_may y Y); congruence.
  Qed.

  Lemma destination_receives d : In d destinations -> d <> source ->
    exists x, In x (transfers m s) /\ receiver x = d.
  Proof.
    intros D N. destruct (rule_4_all I s V _ _ _ M d D) as [E|R]; [congruence|].
    unfold receivers in R. apply in_map_iff in R as (x & E & X). now exists x.
  Qed.

  (** The message needs [T] steps in these nodes, from the first one in which it is received, or
      from any before that. *)
  Definition lasts (l : list node) (T : Z) : Prop :=
    forall t0, (forall x, In x (transfers m s) -> In (receiver x) l -> t0 <= fst x) ->
    T <= 0 \/ exists x, In x (transfers m s) /\ In (receiver x) l /\ t0 + T - 1 <= fst x.

  Lemma single_lasts l p : ~ In source l -> In p (single I (set_of destinations) l) ->
    lasts (fst p) (snd p).
  Proof.
    unfold single. intros N P t0 B. apply in_map_iff in P as (v & <- & F).
    apply filter_In in F as (L & _). simpl in *.
    destruct (has (set_of destinations) v) eqn:D; [right|now left].
    apply has_set_of in D.
    destruct (destination_receives v D) as (x & X & <-); [intros ->; contradiction|].
    exists x. specialize (B x X (or_introl eq_refl)). repeat split; trivial; [now left|lia].
  Qed.

  (** ** A set and its parts *)

  Section Spread.
    Variables (all : list node) (parts : list part).
    Hypothesis apart : NoDup (flat_map fst parts).
    Hypothesis inside : forall p, In p parts -> incl (fst p) all.
    Hypothesis complete : forall x, In x (transfers m s) -> In (receiver x) all ->
      exists p, In p parts /\ In (receiver x) (fst p).
    Hypothesis no_source : ~ In source all.
    Hypothesis parts_last : forall p, In p parts -> lasts (fst p) (snd p).

    Definition in_part (p : part) (v : node) : bool := has (set_of (fst p)) v.

    Lemma in_part_in p v : in_part p v = true <-> In v (fst p).
    Proof. apply has_set_of. Qed.

    (** Whether a part is reached before a step. *)
    Definition reached_by (t : Z) (p : part) : bool :=
      existsb (fun x => (fst x <? t) && in_part p (receiver x)) (transfers m s).

    Lemma reached_by_true t p : reached_by t p = true <->
      exists x, In x (transfers m s) /\ fst x < t /\ In (receiver x) (fst p).
    Proof.
      unfold reached_by. rewrite existsb_exists. split; intros (x & X & H); exists x.
      - apply andb_prop in H as (L & H). apply Z.ltb_lt in L. apply in_part_in in H. auto.
      - destruct H as (L & H). apply Z.ltb_lt in L. apply in_part_in in H. now rewrite L, H.
    Qed.

    Definition newly (t : Z) (p : part) : bool := reached_by (t + 1) p && negb (reached_by t p).

    (** Whether a transfer reaches a new part in this step. *)
    Definition target (t : Z) (x : timed_transfer) : bool :=
      existsb (fun p => newly t p && in_part p (receiver x)) parts.

    Lemma newly_reached t p : newly t p = true ->
      exists x, In x (in_step_of s m t) /\ In (receiver x) (fst p).
    Proof.
      unfold newly. intros H. apply andb_prop in H as (H & N). apply negb_true_iff in N.
      apply reached_by_true in H as (x & X & L & R). exists x. split; trivial.
      apply in_step_of_in. split; trivial. destruct (Z.lt_ge_cases (fst x) t); [|lia].
      exfalso. assert (reached_by t p = true); [|congruence].
      apply reached_by_true. now exists x.
    Qed.

    Lemma newly_targets t : count (newly t) parts <= count (target t) (in_step_of s m t).
    Proof.
      rewrite (count_sum (target t)).
      apply count_le_sum with (q := fun x p => newly t p && in_part p (receiver x)).
      - intros p P N. destruct (newly_reached t p N) as (x & X & R). exists x.
        split; trivial. rewrite N. now apply in_part_in.
      - intros x _. destruct (target t x) eqn:E.
        + etransitivity; [|apply (one_part_count parts (receiver x)); trivial].
          apply count_le. intros p _ H. now apply andb_prop in H as (_ & H).
        + rewrite count_sum, (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
          intros p P. destruct (newly t p && in_part p (receiver x)) eqn:F; trivial.
          assert (target t x = true); [|congruence].
          apply existsb_exists. now exists p.
    Qed.

    Lemma more_reached t : count (reached_by (t + 1)) parts
      <= count (reached_by t) parts + count (newly t) parts.
    Proof.
      rewrite (count_split (reached_by (t + 1)) (reached_by t)). unfold newly.
      assert (count (fun p => reached_by (t + 1) p && reached_by t p) parts
        <= count (reached_by t) parts); [|lia].
      apply count_le. intros p _ H. now apply andb_prop in H.
    Qed.

    (** A transfer that reaches a new part begins outside, or in a part that was reached before. *)
    Lemma target_sender t x : In x (in_step_of s m t) -> target t x = true ->
      exists q, In q parts /\ newly t q = true /\ In (receiver x) (fst q)
      /\ (~ In (sender x) all \/
          exists p, In p parts /\ reached_by t p = true /\ In (sender x) (fst p)
            /\ ~ In (receiver x) (fst p)).
    Proof.
      intros X E. apply in_step_of_in in X as (X & <-).
      apply existsb_exists in E as (q & Q & E). apply andb_prop in E as (N & R).
      apply in_part_in in R. exists q. repeat split; trivial.
      destruct (in_dec Pos.eq_dec (sender x) all) as [A|A]; [right|now left].
      destruct (sender_before x X) as [E|(y & Y & E & L)];
        [rewrite E in A; contradiction|].
      rewrite <- E in A. destruct (complete y Y A) as (p & P & B). exists p.
      assert (reached_by (fst x) p = true) as H by (apply reached_by_true; now exists y).
      rewrite <- E. repeat split; trivial. intros C.
      rewrite (one_part parts p q (receiver x)) in H by trivial.
      unfold newly in N. rewrite H in N. now rewrite andb_false_r in N.
    Qed.

    (** A path from a part to another one takes a channel into the set, or one from the part to
        the rest of the set. *)
    Lemma path_leaves (one two : node -> bool) p :
      one (first_node p) = true -> two (last_node p) = true -> one (last_node p) = false ->
      (exists h, In h (hops p) /\ leads_into two h = true)
      \/ exists a b, In (a, b) (hops p) /\ one a = true /\ two b = true /\ one b = false.
    Proof.
      unfold first_node, last_node. induction p as [|a [|b rest] IH]; intros F T O.
      - simpl in *. congruence.
      - simpl in *. congruence.
      - change (last (a :: b :: rest) 1%positive) with (last (b :: rest) 1%positive) in *.
        simpl hd in F. destruct (two b) eqn:B.
        + destruct (one b) eqn:C.
          * destruct IH as [(h & H & L)|(c & d & H & L)]; trivial.
            -- left. exists h. split; trivial. now right.
            -- right. exists c, d. split; trivial. now right.
          * right. exists a, b. repeat split; trivial. now left.
        + left. destruct (path_enters two (b :: rest)) as (h & H & L); trivial.
          exists h. split; trivial. now right.
    Qed.

    Definition set : PM.t unit := set_of all.
    Definition held : PM.t unit := set_of (holders I source destinations).
    Definition outside : list node := filter (fun v => negb (has set v)) (all_senders I).
    Definition into : Z := sent I outside (fun h => has set (snd h)).
    Definition ports_outside : Z :=
      from_ports I (filter (fun v => negb (has set v)) (holders I source destinations)).
    Definition ports_of (p : part) : Z := from_ports I (filter (has held) (fst p)).
    Definition inner_of (p : part) : Z := Z.min (ports_of p)
      (sent I (fst p) (fun h => has set (snd h) && negb (in_part p (snd h)))).
    Definition outer_of (p : part) : Z := Z.min (ports_of p)
      (sent I (fst p) (fun h => negb (in_part p (snd h)))).

    Lemma ports_of_holds (g : timed_transfer -> bool) p t :
      (forall x, g x = true -> In (sender x) (fst p)) ->
      count g (in_step_of s m t) <= ports_of p.
    Proof.
      intros H. apply from_ports_holds. intros x X G. apply filter_In. split; [now apply H|].
      apply has_set_of. apply sender_holds. now apply in_step_of_in in X.
    Qed.

    (** The transfers of a step that reach new parts: by channels. *)
    Lemma targets_inner t : count (target t) (in_step_of s m t)
      <= into + sum inner_of (filter (reached_by t) parts).
    Proof.
      rewrite (count_split (target t) (fun x : timed_transfer =>
        existsb (leads_into (has set)) (hops (nodes (snd x))))).
      apply Z.add_le_mono.
      - apply sent_holds. intros x X E. apply andb_prop in E as (_ & E).
        apply existsb_exists in E as ([a b] & H & E). apply in_step_of_in in X as (X & _).
        unfold leads_into in E. simpl in E. apply andb_prop in E as (B & A).
        exists a, b. repeat split; trivial. apply filter_In. split; trivial.
        now apply hop_sender with x b.
      - apply count_le_sum with (q := fun p x => target t x
          && negb (existsb (leads_into (has set)) (hops (nodes (snd x))))
          && in_part p (sender x) && negb (in_part p (receiver x))).
        + intros x X E. apply andb_prop in E as (E & N).
          destruct (target_sender t x X E) as (q & Q & _ & R & [S|(p & P & F & S & D)]).
          * exfalso. apply negb_true_iff in N.
            destruct (path_enters (has set) (nodes (snd x))) as (h & H & L).
            -- now apply not_has_set_of.
            -- apply has_set_of. now apply (inside q).
            -- assert (existsb (leads_into (has set)) (hops (nodes (snd x))) = true);
                 [|congruence]. apply existsb_exists. now exists h.
          * exists p. rewrite filter_In, E, N. apply in_part_in in S. rewrite S.
            apply not_has_set_of in D. fold (in_part p (receiver x)) in D. now rewrite D.
        + intros p P. apply filter_In in P as (P & _). apply Z.min_glb.
          * apply ports_of_holds. intros x E. apply andb_prop in E as (E & _).
            apply andb_prop in E as (_ & E). now apply in_part_in in E.
          * apply sent_holds. intros x X E. apply andb_prop in E as (E & D).
            apply andb_prop in E as (E & S). apply andb_prop in E as (E & N).
            apply negb_true_iff in N. apply negb_true_iff in D.
            destruct (target_sender t x X E) as (q & Q & _ & R & _).
            destruct (path_leaves (in_part p) (has set) (nodes (snd x)))
              as [(h & H & L)|(a & b & H & A & B & C)]; trivial.
            -- apply has_set_of. now apply (inside q).
            -- assert (existsb (leads_into (has set)) (hops (nodes (snd x))) = true);
                 [|congruence]. apply existsb_exists. now exists h.
            -- exists a, b. apply in_part_in in A. simpl snd. rewrite B, C. auto.
    Qed.

    (** The same by ports outside. *)
    Lemma targets_outer t : count (target t) (in_step_of s m t)
      <= ports_outside + sum outer_of (filter (reached_by t) parts).
    Proof.
      rewrite (count_split (target t) (fun x => negb (has set (sender x)))).
      apply Z.add_le_mono.
      - apply from_ports_holds. intros x X E. apply andb_prop in E as (_ & E).
        apply filter_In. split; trivial. apply sender_holds. now apply in_step_of_in in X.
      - apply count_le_sum with (q := fun p x => target t x
          && in_part p (sender x) && negb (in_part p (receiver x))).
        + intros x X E. apply andb_prop in E as (E & N). rewrite negb_involutive in N.
          destruct (target_sender t x X E) as (q & Q & _ & R & [S|(p & P & F & S & D)]).
          * exfalso. apply has_set_of in N. contradiction.
          * exists p. rewrite filter_In, E. apply in_part_in in S. rewrite S.
            apply not_has_set_of in D. fold (in_part p (receiver x)) in D. now rewrite D.
        + intros p P. apply Z.min_glb.
          * apply ports_of_holds. intros x E. apply andb_prop in E as (E & _).
            apply andb_prop in E as (_ & E). now apply in_part_in in E.
          * apply sent_holds. intros x X E. apply andb_prop in E as (E & D).
            apply andb_prop in E as (E & S). apply negb_true_iff in D.
            destruct (path_enters (fun v => negb (in_part p v)) (nodes (snd x)))
              as ([a b] & H & L).
            -- apply negb_false_iff. exact S.
            -- apply negb_true_iff. exact D.
            -- unfold leads_into in L. simpl in L. apply andb_prop in L as (B & A).
               rewrite negb_involutive in A. apply in_part_in in A.
               exists a, b. simpl snd. auto.
    Qed.

    Definition new (k : Z) : Z := Z.min (into + largest k (map inner_of parts))
      (ports_outside + largest k (map outer_of parts)).

    (** If at most [k] parts are reached before a step, few more are after it. *)
    Lemma grows t k : count (reached_by t) parts <= k ->
      count (reached_by (t + 1)) parts <= k + new k.
    Proof.
      intros C. pose proof (more_reached t). pose proof (newly_targets t).
      pose proof (targets_inner t). pose proof (targets_outer t).
      pose proof (some_largest inner_of _ k parts C).
      pose proof (some_largest outer_of _ k parts C). unfold new. lia.
    Qed.

    Section From.
      Variable t0 : Z.
      Hypothesis first_one : forall x, In x (transfers m s) -> In (receiver x) all ->
        t0 <= fst x.

      Definition late_enough (T : Z) : Prop :=
        T <= 0 \/ exists x, In x (transfers m s) /\ In (receiver x) all /\ t0 + T - 1 <= fst x.

      Lemma late_enough_max T U : late_enough T -> late_enough U -> late_enough (Z.max T U).
      Proof. intros. destruct (Z.max_spec T U) as [(_ & ->)|(_ & ->)]; trivial. Qed.

      Lemma none_reached : count (reached_by t0) parts = 0.
      Proof.
        rewrite count_sum, (sum_ext _ (fun _ => 0)); [apply sum_zero|].
        intros p P. destruct (reached_by t0 p) eqn:E; trivial.
        apply reached_by_true in E as (x & X & L & R). exfalso.
        specialize (first_one x X (inside p P _ R)). lia.
      Qed.

      (** A part that is not reached in the first [j] steps needs its own steps after them. *)
      Lemma unreached_late p j : In p parts -> reached_by (t0 + j) p = false ->
        0 < snd p -> late_enough (j + snd p).
      Proof.
        intros P N Q. destruct (parts_last p P (t0 + j)) as [L|(x & X & R & L)]; [|lia|].
        - intros x X R. destruct (Z.lt_ge_cases (fst x) (t0 + j)); [|trivial]. exfalso.
          assert (reached_by (t0 + j) p = true); [|congruence].
          apply reached_by_true. now exists x.
        - right. exists x. repeat split; trivial; [now apply (inside p P)|lia].
      Qed.

      Lemma left_over_late j k : count (reached_by (t0 + j)) parts <= k ->
        0 < left_over k (map snd parts) -> late_enough (j + left_over k (map snd parts)).
      Proof.
        intros C L. assert (D := left_over_count k (map snd parts) L). simpl in D.
        revert L D. generalize (left_over k (map snd parts)) as y. intros y L D.
        rewrite count_sum, sum_map, <- (count_sum (fun p : part => y <=? snd p)) in D.
        assert (exists p, In p parts /\ y <= snd p /\ reached_by (t0 + j) p = false)
          as (p & P & Y & N).
        { destruct (existsb (fun p => (y <=? snd p) && negb (reached_by (t0 + j) p)) parts)
            eqn:E.
          - apply existsb_exists in E as (p & P & E). apply andb_prop in E as (Y & N).
            apply Z.leb_le in Y. apply negb_true_iff in N. now exists p.
          - exfalso. apply (Z.lt_irrefl k). eapply Z.lt_le_trans; [exact D|].
            etransitivity; [|exact C].
            apply count_le. intros p P Y. destruct (reached_by (t0 + j) p) eqn:N; trivial.
            assert (existsb (fun p => (y <=? snd p) && negb (reached_by (t0 + j) p)) parts
              = true); [|congruence].
            apply existsb_exists. exists p. now rewrite Y, N. }
        destruct (unreached_late p j P N ltac:(lia)) as [H|(x & X & R & H)]; [left; lia|].
        right. exists x. repeat split; trivial. lia.
      Qed.

      Lemma grow_late {A} (fuel : list A) j k best : 0 <= j ->
        count (reached_by (t0 + j)) parts <= k -> late_enough best ->
        late_enough (grow fuel new (map snd parts) j k best).
      Proof.
        revert j k best. induction fuel as [|a fuel IH]; intros j k best J C B; cbn [grow];
          destruct (Z.leb_spec (left_over k (map snd parts)) 0) as [|Y]; trivial;
          assert (Q := left_over_late j k C Y).
        - now apply late_enough_max.
        - destruct (new k <=? 0); [left; lia|].
          apply IH; [lia| |now apply late_enough_max].
          rewrite Z.add_assoc. now apply grows.
      Qed.

      (** Hop by hop, a part without a channel from afar is not reached in the first step. *)
      Lemma afar_late p : hop_by_hop I = true -> In p parts -> 1 <= snd p ->
        from_afar I outside (set_of (fst p)) = false -> late_enough (1 + snd p).
      Proof.
        intros K P N F. apply unreached_late; trivial; [|lia].
        destruct (reached_by (t0 + 1) p) eqn:E; trivial. exfalso.
        apply reached_by_true in E as (x & X & L & R).
        assert (In (receiver x) all) as A by now apply (inside p P).
        assert (B := first_one x X A).
        assert (~ In (sender x) all) as S.
        { intros S. destruct (sender_before x X) as [E|(y & Y & E & Z)]; [congruence|].
          rewrite <- E in S. specialize (first_one y Y S). lia. }
        destruct (first_hop I _ (transfer_allowed x X)) as (b & H).
        destruct (hop_ends x _ _ K X H) as (_ & E).
        destruct (hop_channel x _ _ X H) as (c & C).
        assert (from_afar I outside (set_of (fst p)) = true); [|congruence].
        apply existsb_exists. exists (sender x). split.
        - apply filter_In. split; [now apply sender_has_channel|].
          apply negb_true_iff. now apply not_has_set_of.
        - apply existsb_exists. exists (b, c). split; [exact C|]. simpl. rewrite <- E.
          now apply has_set_of.
      Qed.
    End From.

    (** The computed steps are needed. *)
    Lemma need_lasts : lasts all (need I source destinations all parts).
    Proof.
      intros t0 B. change (late_enough t0 (need I source destinations all parts)).
      unfold need. rewrite !map_map. cbn [fst snd]. apply grow_late; trivial; try lia.
      - rewrite Z.add_0_r, none_reached; trivial. lia.
      - assert (late_enough t0 0) as H by now left. revert H. generalize 0 as best.
        assert (forall p, In p parts -> In p parts) as Q by trivial. revert Q.
        generalize parts at 1 3 as rest.
        induction rest as [|p rest IH]; intros Q best H; cbn [map fold_left]; trivial.
        apply IH; [intros; apply Q; now right|].
        unfold late_need. cbn [fst snd]. fold set. fold outside.
        destruct (hop_by_hop I && (1 <=? snd p)
          && negb (from_afar I outside (set_of (fst p)))) eqn:E; trivial.
        apply andb_prop in E as (E & F). apply andb_prop in E as (K & N).
        apply Z.leb_le in N. apply negb_true_iff in F.
        apply late_enough_max; trivial. apply afar_late; trivial. apply Q. now left.
    Qed.
  End Spread.
End Schedule.

(** ** Trees of sets *)

Lemma tree_induction (P : tree -> Prop) :
  (forall l inner, (forall t, In t inner -> P t) -> P (Around l inner)) -> forall t, P t.
Proof.
  intros H. fix each 1. intros [l inner]. apply H.
  induction inner as [|t inner IH]; [intros u []|].
  intros u [<-|U]; [apply each|now apply IH].
Qed.

Lemma flat_map_app_parts {A B} (f : A -> list B) l k :
  flat_map f (l ++ k) = flat_map f l ++ flat_map f k.
Proof. induction l; simpl; trivial. now rewrite IHl, app_assoc. Qed.

Lemma single_nodes I d l : flat_map fst (single I d l)
  = filter (fun v => hop_by_hop I || has d v) l.
Proof.
  unfold single. rewrite flat_map_concat_map, map_map. simpl.
  induction (filter _ l) as [|a k IH]; simpl; congruence.
Qed.

Lemma NoDup_sublist {A} (f : A -> bool) (l k : list A) :
  NoDup (l ++ k) -> NoDup (filter f l ++ k).
Proof.
  induction l as [|a l IH]; simpl; trivial. intros D. inversion D as [|? ? N D']; subst.
  destruct (f a); simpl; auto. constructor; auto. rewrite in_app_iff in *.
  intros [H|H]; [|tauto]. apply filter_In in H. tauto.
Qed.

Lemma NoDup_each (parts : list part) p : NoDup (flat_map fst parts) -> In p parts ->
  NoDup (fst p).
Proof.
  induction parts as [|q parts IH]; simpl; intros D P; [easy|].
  apply NoDup_app_parts in D as (D1 & D2 & _). destruct P as [<-|P]; auto.
Qed.

Section Trees.
  Variables (I : instance) (s : schedule) (m : positive) (source : node).
  Variable destinations : list node.
  Hypothesis V : valid I s.
  Hypothesis M : PM.find m (messages I) = Some (source, destinations).
  Hypothesis order : in_order I = true.
  Hypothesis fine : capacities_fine I = true.

  (** Every set of the tree needs the steps that are computed for it. *)
  Lemma evaluate_lasts t : let p := evaluate I source destinations t in
    NoDup (fst p) -> ~ In source (fst p) -> lasts s m (fst p) (snd p).
  Proof.
    induction t as [l inner IH] using tree_induction. cbn [evaluate fst snd]. intros D N.
    set (parts := map (evaluate I source destinations) inner) in *.
    destruct (existsb (fun p => snd p <=? 0) parts); [intros t0 _; left; lia|].
    apply need_lasts; trivial.
    - rewrite flat_map_app_parts, single_nodes. now apply NoDup_sublist.
    - intros p P v Q. apply in_app_iff in P as [P|P]; apply in_app_iff.
      + left. assert (In v (flat_map fst (single I (set_of destinations) l))) as H
          by (apply in_flat_map; now exists p).
        rewrite single_nodes in H. now apply filter_In in H.
      + right. apply in_flat_map. now exists p.
    - intros x X A. apply in_app_iff in A as [A|A].
      + destruct (receiver_may I s m source destinations V M x X) as [K|K];
          assert (In (receiver x) (flat_map fst (single I (set_of destinations) l))) as H;
          try (rewrite single_nodes; apply filter_In; split; trivial; apply orb_true_iff;
            try (now left); right; now apply has_set_of);
          apply in_flat_map in H as (p & P & Q); exists p; rewrite in_app_iff; auto.
      + apply in_flat_map in A as (p & P & Q). exists p. rewrite in_app_iff. auto.
    - apply NoDup_app_parts in D as (_ & D & _).
      intros p P. apply in_app_iff in P as [P|P].
      + apply (single_lasts I s m source destinations V M l); trivial.
        intros A. apply N. apply in_app_iff. now left.
      + assert (NoDup (fst p)) as D1 by now apply NoDup_each with parts.
        assert (~ In source (fst p)) as N1.
        { intros A. apply N. apply in_app_iff. right. apply in_flat_map. now exists p. }
        unfold parts in P. apply in_map_iff in P as (t & <- & T). now apply IH.
  Qed.
End Trees.

(** A message needs as many steps as are computed for a tree of sets. *)
Theorem nested_sets_need (I : instance) (s : schedule) m source destinations t S :
  valid I s -> PM.find m (messages I) = Some (source, destinations) ->
  nested_sets_bound I source destinations t = Some S -> S <= period s.
Proof.
  unfold nested_sets_bound. intros V M.
  destruct (in_order I) eqn:O; [|easy]. destruct (capacities_fine I) eqn:F; [|easy].
  cbn [andb]. destruct (distinct _ _) eqn:D; [|easy].
  destruct (1 <=? _); [|easy]. intros [= <-].
  apply distinct_sound in D as (D & N).
  assert (~ In source (fst (evaluate I source destinations t))) as A.
  { intros A. apply N in A. now rewrite mem_add, Pos.eqb_refl in A. }
  destruct (evaluate_lasts I s m source destinations V M O F t D A 1) as [L|(x & X & _ & L)].
  - intros x X _. apply transfers_timed, timed_steps in X. lia.
  - unfold period. lia.
  - apply transfers_timed, timed_steps in X. lia.
Qed.

(** The same for the rows of the evidence. *)
Theorem nested_rows_need (I : instance) (s : schedule) m source destinations rows S :
  valid I s -> PM.find m (messages I) = Some (source, destinations) ->
  nested_rows_bound I source destinations rows = Some S -> S <= period s.
Proof.
  unfold nested_rows_bound. intros V M. destruct (rows_in_order 1 rows); [|easy].
  now apply nested_sets_need with m.
Qed.
