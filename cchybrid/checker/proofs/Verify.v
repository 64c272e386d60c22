(** A program that verifies a schedule: [verify I s].

    It counts the uses of channels and ports, and follows each message, in maps. In ticks it notes
    where uses begin and where they have ended, so that a long use costs no more than a short one.
    [verify_sound] proves that every schedule that it accepts is valid, by all rules of Model.v,
    with all three kinds of switching, in steps and in ticks. That it accepts every valid schedule
    is not proved, and not needed. *)

Require Import ZArith List Bool Lia FMapPositive Mergesort Sorted RelationClasses.
Require Import Model Plain Sums Facts Prices Walks Paths Offers.
Import ListNotations.
Open Scope Z_scope.

(** ** Paths (rule 1) *)

Definition is_channel (I : instance) (h : hop) : bool :=
  match look (snd h) (neighbours I (fst h)) with Some _ => true | None => false end.

Definition hops_fit (I : instance) (p : path) : bool := forallb (is_channel I) (hops p).

Definition is_simple (I : instance) (p : path) : bool :=
  match p with _ :: _ :: _ => true | _ => false end
  && distinct (PM.empty _) p && hops_fit I p
  && forallb (fun v => negb (is_endpoint I v)) (inner p).

(** Distances from nodes to all others, as far as they could be computed. *)
Definition known_distances : Type := PM.t (option (PM.t Z)).

(** The distances from the first nodes of the transfers, if the routing depends on them. *)
Definition needed_distances (I : instance) (l : list timed_transfer) : known_distances :=
  match kind I, route I with
  | StoreAndForward, _ | _, AnyPath | _, Table _ _ => PM.empty _
  | _, ExtraHops _ =>
      fold_left (fun d x =>
        if PM.mem (sender x) d then d else PM.add (sender x) (distances I (sender x)) d)
        l (PM.empty _)
  end.

(** The path is at most [h] hops longer than the shortest one. *)
Definition is_short (d : known_distances) (h : Z) (p : path) : bool :=
  match PM.find (first_node p) d with
  | Some (Some c) =>
      match PM.find (last_node p) c with
      | Some y => Z.of_nat (length p) - 1 <=? y + h
      | None => false
      end
  | _ => false
  end.

Fixpoint path_eqb (p q : path) : bool :=
  match p, q with
  | [], [] => true
  | a :: p, b :: q => Pos.eqb a b && path_eqb p q
  | _, _ => false
  end.

(** The path is that of a table; [fuel] has all its nodes. *)
Definition is_of_table (by_source : bool) (next : PM.t (PM.t node)) (fuel : list node) (p : path)
    : bool :=
  let '(q, goal) := if by_source then (rev p, first_node p) else (p, last_node p) in
  match q with
  | [] => false
  | start :: _ =>
      match follow next goal start fuel with Some found => path_eqb found q | None => false end
  end.

(** The nodes of the table, if the routing has one. *)
Definition table_nodes (I : instance) : list node :=
  match route I with Table _ next => map fst (PM.elements next) | _ => [] end.

Definition is_allowed (I : instance) (d : known_distances) (fuel : list node) (p : path) : bool :=
  match kind I with
  | StoreAndForward =>
      match p with [_; _] => distinct (PM.empty _) p && hops_fit I p | _ => false end
  | _ => is_simple I p
      && match route I with
         | AnyPath => true
         | ExtraHops h => is_short d h p
         | Table by_source next => is_of_table by_source next fuel p
         end
  end.

Definition paths_fit (I : instance) (l : list timed_transfer) : bool :=
  let d := needed_distances I l in
  let fuel := table_nodes I in
  forallb (fun x => is_allowed I d fuel (nodes (snd x))) l.

(** ** Capacities (rule 2) *)

(** Numbers by three keys. *)
Definition counts : Type := PM.t (PM.t (PM.t Z)).
Definition key : Type := positive * positive * positive.

Definition entry {A} (default : A) (m : PM.t A) (k : positive) : A :=
  match PM.find k m with Some x => x | None => default end.

Definition counted (m : counts) (k : key) : Z :=
  let '(a, b, c) := k in entry 0 (entry (PM.empty _) (entry (PM.empty _) m a) b) c.

(** Count one more. *)
Definition tally (m : counts) (k : key) : counts :=
  let '(a, b, c) := k in
  let of_a := entry (PM.empty _) m a in
  let of_b := entry (PM.empty _) of_a b in
  PM.add a (PM.add b (PM.add c (entry 0 of_b c + 1) of_b) of_a) m.

(** The key of a resource in a step: different ones have different keys. *)
Definition use_key (u : resource * Z) : key :=
  let t := Z.to_pos (snd u) in
  match fst u with
  | Channel (a, b) => (xO t, a, b)
  | Inject v => (xI (xO t), v, xH)
  | Accept v => (xI (xI t), v, xH)
  end.

(** How often every resource is used in every step. *)
Definition count_uses (I : instance) (P : Z) (l : list timed_transfer) : counts :=
  fold_left (fun m x => fold_left (fun m u => tally m (use_key u)) (uses I P x) m) l (PM.empty _).

Definition step_fits (I : instance) (m : counts) (t : Z) : bool :=
  let r := rounds_at (rounds I) t in
  forallb (fun each => forallb (fun next =>
      counted m (use_key (Channel (link I (fst each, fst next)), t)) <=? snd next * r) (snd each))
    (PM.elements (adjacent I))
  && forallb (fun each => counted m (use_key (Inject (fst each), t)) <=? snd each * r)
       (PM.elements (injects I))
  && forallb (fun each => counted m (use_key (Accept (fst each), t)) <=? snd each * r)
       (PM.elements (accepts I)).

Definition capacities_fit (I : instance) (s : schedule) (l : list timed_transfer) : bool :=
  let m := count_uses I (period s) l in forallb (step_fits I m) (steps_from 1 (length s)).

(** ** Capacities in ticks (rules 2 and 8) *)

(** From a tick on, one more or one less is used. *)
Definition change : Type := Z * Z.

Module ChangeOrder <: Orders.TotalLeBool.
  Definition t := change.
  Definition leb (x y : change) : bool :=
    (fst x <? fst y) || ((fst x =? fst y) && (snd x <=? snd y)).
  Theorem leb_total x y : leb x y = true \/ leb y x = true.
  Proof.
    unfold leb. destruct (Z.ltb_spec (fst x) (fst y)), (Z.ltb_spec (fst y) (fst x)),
      (Z.eqb_spec (fst x) (fst y)), (Z.eqb_spec (fst y) (fst x)); cbn [orb andb]; auto; lia.
  Qed.
End ChangeOrder.

Module ChangeSort := Mergesort.Sort ChangeOrder.

Definition resource_key (r : resource) : positive * positive :=
  match r with
  | Channel (a, b) => (xO a, b)
  | Inject v => (xI (xO v), xH)
  | Accept v => (xI (xI v), xH)
  end.

(** Something by resource. *)
Definition by_resource (A : Type) : Type := PM.t (PM.t A).

Definition of_resource {A} (default : A) (m : by_resource A) (r : resource) : A :=
  let '(a, b) := resource_key r in entry default (entry (PM.empty _) m a) b.

(** A resource is used from a tick on for a duration. *)
Definition note_use (duration : Z) (m : by_resource (list change)) (u : resource * Z)
    : by_resource (list change) :=
  let '(a, b) := resource_key (fst u) in
  let of_a := entry (PM.empty _) m a in
  PM.add a (PM.add b ((snd u, 1) :: (snd u + duration, -1) :: entry [] of_a b) of_a) m.

Definition note_uses (I : instance) (P : Z) (l : list timed_transfer) : by_resource (list change) :=
  fold_left (fun m x =>
    fold_left (note_use (duration I (hops (nodes (snd x))))) (begins I P x) m) l (PM.empty _).

(** The largest number after any of the changes. *)
Fixpoint peak (now : Z) (l : list change) : Z :=
  match l with [] => now | e :: rest => Z.max now (peak (now + snd e) rest) end.

Definition peaks (m : by_resource (list change)) : by_resource Z :=
  PM.map (PM.map (fun l => peak 0 (ChangeSort.sort l))) m.

Definition tick_capacities_fit (I : instance) (P : Z) (l : list timed_transfer) : bool :=
  let m := peaks (note_uses I P l) in
  forallb (Z.eqb 1) (rounds I)
  && forallb (fun each => forallb (fun next =>
         of_resource 0 m (Channel (link I (fst each, fst next))) <=? snd next) (snd each))
       (PM.elements (adjacent I))
  && forallb (fun each => of_resource 0 m (Inject (fst each)) <=? snd each)
       (PM.elements (injects I))
  && forallb (fun each => of_resource 0 m (Accept (fst each)) <=? snd each)
       (PM.elements (accepts I)).

(** ** Messages (rules 3 and 4) *)

(** The transfers of every message, the last one first. *)
Definition by_message (l : list timed_transfer) : PM.t (list timed_transfer) :=
  fold_left (fun m x => add_neighbour (message (snd x)) x m) l (PM.empty _).

(** The step in which each node receives; [None] if one receives what it has. In [done] is the
    last step of a transfer. *)
Fixpoint arrivals (done : timed_transfer -> Z) (since : PM.t Z) (l : list timed_transfer)
    : option (PM.t Z) :=
  match l with
  | [] => Some since
  | x :: rest =>
      if PM.mem (receiver x) since then None
      else arrivals done (PM.add (receiver x) (done x) since) rest
  end.

(** Nodes that the transfers reach from those in [known], in any order. *)
Definition spread (known : PM.t unit) (l : list timed_transfer) : PM.t unit :=
  fold_left (fun k x => if PM.mem (sender x) k then PM.add (receiver x) tt k else k) l known.

Definition informs_all (known : PM.t unit) (l : list timed_transfer) : bool :=
  forallb (fun x => PM.mem (sender x) known) l.

Fixpoint grow {A} (fuel : list A) (known : PM.t unit) (l : list timed_transfer) : PM.t unit :=
  if informs_all known l then known
  else match fuel with [] => known | _ :: rest => grow rest (spread known l) l end.

Definition set_of (l : list node) : PM.t unit :=
  fold_left (fun m v => PM.add v tt m) l (PM.empty _).

(** Every transfer sends what its first node has. *)
Definition senders_fit (I : instance) (source : node) (since : PM.t Z) (l : list timed_transfer)
    : bool :=
  match kind I with
  | TimeSlots => informs_all (grow l (set_of [source]) l) l
  | _ => forallb (fun x =>
           match PM.find (sender x) since with Some t => t <? fst x | None => false end) l
  end.

Definition receivers_fit (I : instance) (destinations : list node) (l : list timed_transfer)
    : bool :=
  match kind I with
  | StoreAndForward => true
  | _ => let ends := set_of destinations in forallb (fun x => PM.mem (receiver x) ends) l
  end.

Definition message_fits (I : instance) (done : timed_transfer -> Z) (source : node)
    (destinations : list node) (l : list timed_transfer) : bool :=
  match arrivals done (PM.add source 0 (PM.empty _)) l with
  | Some since =>
      forallb (fun d => PM.mem d since) destinations
      && receivers_fit I destinations l && senders_fit I source since l
  | None => false
  end.

Definition messages_fit (I : instance) (done : timed_transfer -> Z) (l : list timed_transfer)
    : bool :=
  let groups := by_message l in
  forallb (fun each => message_fits I done (fst (snd each)) (snd (snd each))
      (rev_append (listed groups (fst each)) []))
    (PM.elements (messages I)).

(** ** The whole *)

Definition all_known (I : instance) (l : list timed_transfer) : bool :=
  forallb (fun x => PM.mem (message (snd x)) (messages I)) l.

Definition no_empty_step (s : schedule) : bool :=
  forallb (fun step => match step with [] => false | _ => true end) s.

(** The rules where steps are no ticks. *)
Definition verify_steps (I : instance) (s : schedule) (l : list timed_transfer) : bool :=
  capacities_fit I s l && messages_fit I fst l && (may_be_empty I || no_empty_step s).

(** The rules in ticks. *)
Definition verify_ticks (I : instance) (s : schedule) (l : list timed_transfer) : bool :=
  let P := period s in
  forallb (fun x => finish I x <=? P) l && tick_capacities_fit I P l
  && messages_fit I (finish I) l.

Definition verify (I : instance) (s : schedule) : bool :=
  let l := timed s in
  all_known I l && paths_fit I l
  && (if in_ticks I
      then match kind I with TimeSlots => false | _ => verify_ticks I s l end
      else verify_steps I s l).

(** A schedule of a reduction is verified backwards. *)
Definition verify_reduction (I : instance) (s : schedule) : bool :=
  verify (reversed I) (backwards s).

(** ** Proofs: paths *)

Lemma mem_empty {A} v : PM.mem v (PM.empty A) = false.
Proof. now rewrite PM.mem_find, PM.gempty. Qed.

Lemma hops_fit_sound I p a b :
  hops_fit I p = true -> In (a, b) (hops p) -> exists c, channel I a b c.
Proof.
  unfold hops_fit. rewrite forallb_forall. intros H X. apply H in X. unfold is_channel in X.
  simpl in X. destruct (look b (neighbours I a)) as [c|] eqn:E; [|discriminate].
  exists c. now apply look_in.
Qed.

Lemma is_simple_sound I p : is_simple I p = true -> simple I p.
Proof.
  unfold is_simple. rewrite !andb_true_iff, forallb_forall. intros (((L & D) & H) & E).
  repeat split.
  - destruct p as [|a [|b p]]; try discriminate. simpl. lia.
  - now apply distinct_sound in D.
  - intros a b. now apply hops_fit_sound.
  - intros v V. apply E in V. now apply negb_true_iff in V.
Qed.

(** No simple path is shorter than the computed distance. *)
Lemma distance_least I d q :
  distances I (first_node q) = Some d -> simple I q ->
  at_most d (last_node q) (Z.of_nat (length q) - 1).
Proof.
  intros D S. destruct q as [|a rest]; [destruct S as [L _]; simpl in L; lia|].
  unfold distances in D. eapply cheapest_least; [exact D|].
  replace (Z.of_nat (length (a :: rest)) - 1) with (sum (fun _ : hop => 1) (hops (a :: rest)))
    by (rewrite hop_count; simpl length; lia).
  apply simple_walk with (pre := []); [exact S|]. right. now left.
Qed.

Definition true_distances (I : instance) (d : known_distances) : Prop :=
  forall v c, PM.find v d = Some (Some c) -> distances I v = Some c.

Lemma needed_distances_true I l : true_distances I (needed_distances I l).
Proof.
  assert (B : true_distances I (PM.empty _)) by (intros v c F; now rewrite PM.gempty in F).
  assert (H : true_distances I (fold_left (fun d x =>
      if PM.mem (sender x) d then d else PM.add (sender x) (distances I (sender x)) d)
      l (PM.empty _))).
  { revert B. generalize (PM.empty (option (PM.t Z))). induction l as [|x l IH]; simpl; trivial.
    intros d B. apply IH. destruct (PM.mem (sender x) d); trivial.
    intros v c F. destruct (Pos.eq_dec v (sender x)) as [->|N].
    - rewrite PM.gss in F. congruence.
    - rewrite PM.gso in F by trivial. now apply B. }
  unfold needed_distances. destruct (kind I), (route I); trivial.
Qed.

Lemma is_short_sound I d h p q :
  true_distances I d -> is_short d h p = true -> simple I q ->
  first_node q = first_node p -> last_node q = last_node p ->
  Z.of_nat (length p) <= Z.of_nat (length q) + h.
Proof.
  unfold is_short. intros D H S F L.
  destruct (PM.find (first_node p) d) as [[c|]|] eqn:E; try discriminate.
  apply D in E. rewrite <- F in E. pose proof (distance_least I c q E S) as (y & Y & M).
  rewrite L in Y. rewrite Y in H. apply Z.leb_le in H. lia.
Qed.

Lemma path_eqb_eq p q : path_eqb p q = true -> p = q.
Proof.
  revert q. induction p as [|a p IH]; intros [|b q] H; simpl in H; try easy.
  apply andb_true_iff in H as [E H]. apply Pos.eqb_eq in E. apply IH in H. congruence.
Qed.

Lemma is_of_table_sound by_source next p :
  is_of_table by_source next (map fst (PM.elements next)) p = true ->
  table_path by_source next (first_node p) (last_node p) = Some p.
Proof.
  unfold is_of_table, table_path. destruct by_source.
  - destruct (rev p) as [|b q] eqn:R; [discriminate|]. intros H.
    assert (L : last_node p = b).
    { apply (f_equal (@rev node)) in R. rewrite rev_involutive in R. subst p. simpl rev.
      apply last_snoc. }
    rewrite L. destruct (follow next (first_node p) b _) as [found|]; [|discriminate].
    apply path_eqb_eq in H. subst found. cbn [option_map]. now rewrite <- R, rev_involutive.
  - destruct p as [|a p]; [discriminate|]. simpl first_node.
    destruct (follow next _ _ _) as [found|]; [|discriminate]. intros H.
    apply path_eqb_eq in H. congruence.
Qed.

Lemma is_allowed_sound I d p :
  true_distances I d -> is_allowed I d (table_nodes I) p = true -> allowed I p.
Proof.
  unfold is_allowed, allowed, table_nodes. intros D H.
  assert (G : forall q : bool, is_simple I p && q = true -> simple I p /\ q = true).
  { intros q Q. apply andb_true_iff in Q as [Q ?]. split; trivial. now apply is_simple_sound. }
  destruct (kind I).
  2: { destruct p as [|a [|b [|c p]]]; try discriminate. apply andb_true_iff in H as [H K].
       split; [reflexivity|]. split; [now apply distinct_sound in H|].
       intros x y. now apply hops_fit_sound. }
  all: apply G in H as [S R]; split; trivial; destruct (route I) as [|h|by_source next]; trivial;
    [intros q; now apply is_short_sound with d|now apply is_of_table_sound].
Qed.

Lemma paths_fit_sound I l x :
  paths_fit I l = true -> In x l -> allowed I (nodes (snd x)).
Proof.
  unfold paths_fit. rewrite forallb_forall. intros H X. apply H in X.
  eapply is_allowed_sound; [|exact X]. apply needed_distances_true.
Qed.

(** ** Proofs: capacities *)

Definition key_eqb (k l : key) : bool :=
  let '(a, b, c) := k in let '(d, e, f) := l in
  Pos.eqb a d && Pos.eqb b e && Pos.eqb c f.

Lemma key_eqb_refl k : key_eqb k k = true.
Proof. destruct k as [[a b] c]. simpl. now rewrite !Pos.eqb_refl. Qed.

Lemma entry_add {A} (default : A) m k x l :
  entry default (PM.add k x m) l = if Pos.eqb k l then x else entry default m l.
Proof.
  unfold entry. destruct (Pos.eqb_spec k l) as [->|N].
  - now rewrite PM.gss.
  - now rewrite PM.gso by congruence.
Qed.

Lemma counted_tally m k l : counted (tally m k) l = counted m l + if key_eqb k l then 1 else 0.
Proof.
  destruct k as [[a b] c], l as [[d e] f]. simpl. rewrite entry_add.
  destruct (Pos.eqb_spec a d) as [->|]; cbn [andb]; [|lia]. rewrite entry_add.
  destruct (Pos.eqb_spec b e) as [->|]; cbn [andb]; [|lia]. rewrite entry_add.
  destruct (Pos.eqb_spec c f) as [->|]; lia.
Qed.

Lemma counted_empty k : counted (PM.empty _) k = 0.
Proof.
  destruct k as [[a b] c]. unfold counted, entry. now rewrite !PM.gempty.
Qed.

Definition has_key (k : key) (u : resource * Z) : bool := key_eqb (use_key u) k.

Lemma counted_tallies l m k :
  counted (fold_left (fun m u => tally m (use_key u)) l m) k = counted m k + count (has_key k) l.
Proof.
  rewrite count_sum. revert m. induction l as [|u l IH]; intros; cbn [fold_left sum]; [lia|].
  rewrite IH, counted_tally. unfold has_key at 2. lia.
Qed.

Lemma counted_uses I P l k :
  counted (count_uses I P l) k = count (has_key k) (flat_map (uses I P) l).
Proof.
  rewrite count_flat_map. unfold count_uses.
  assert (H : forall m, counted (fold_left (fun m x =>
      fold_left (fun m u => tally m (use_key u)) (uses I P x) m) l m) k
    = counted m k + sum (fun x => count (has_key k) (uses I P x)) l).
  { induction l as [|x l IH]; intros; cbn [fold_left sum]; [lia|].
    rewrite IH, counted_tallies. lia. }
  now rewrite H, counted_empty.
Qed.

(** The uses of a resource in a step are counted. *)
Lemma used_counted I s r t :
  used I s r t <= counted (count_uses I (period s) (timed s)) (use_key (r, t)).
Proof.
  rewrite counted_uses. unfold used. fold (all_uses I s). rewrite !count_sum.
  apply sum_le. intros u _. destruct (is_use r t u) eqn:E.
  - unfold is_use in E. apply andb_true_iff in E as [E F]. apply resource_eqb_eq in E.
    apply Z.eqb_eq in F. unfold has_key. rewrite E, F. destruct u as [q k]. simpl fst. simpl snd.
    rewrite key_eqb_refl. lia.
  - destruct (has_key (use_key (r, t)) u); lia.
Qed.

Lemma capacities_fit_sound I s : capacities_fit I s (timed s) = true -> capacities I s.
Proof.
  unfold capacities_fit, capacities, in_step. rewrite forallb_forall. intros H t T.
  specialize (H t). unfold step_fits in H. rewrite !andb_true_iff, !forallb_forall in H.
  destruct H as ((H1 & H2) & H3); [apply in_steps_from; unfold period in T; lia|].
  repeat split.
  - intros a b c C. unfold channel, neighbours in C.
    destruct (PM.find a (adjacent I)) as [l|] eqn:E; [|easy].
    apply PM.elements_correct in E. apply H1 in E. rewrite forallb_forall in E. apply E in C.
    apply Z.leb_le in C. eapply Z.le_trans; [apply used_counted|]. exact C.
  - intros v k E. apply PM.elements_correct in E. apply H2, Z.leb_le in E.
    eapply Z.le_trans; [apply used_counted|]. exact E.
  - intros v k E. apply PM.elements_correct in E. apply H3, Z.leb_le in E.
    eapply Z.le_trans; [apply used_counted|]. exact E.
Qed.

(** ** Proofs: capacities in ticks *)

(** The changes up to a tick. *)
Definition until (t : Z) (l : list change) : Z := sum (fun e => if fst e <=? t then snd e else 0) l.

(** In the order of their ticks. *)
Definition before (x y : change) : Prop := is_true (ChangeOrder.leb x y).

Lemma leb_transitive : Transitive before.
Proof.
  intros x y z. unfold before, is_true, ChangeOrder.leb.
  destruct (Z.ltb_spec (fst x) (fst y)), (Z.ltb_spec (fst y) (fst z)),
    (Z.ltb_spec (fst x) (fst z)), (Z.eqb_spec (fst x) (fst y)), (Z.eqb_spec (fst y) (fst z)),
    (Z.eqb_spec (fst x) (fst z)); cbn [orb andb]; try easy; lia.
Qed.

Lemma peak_now now l : now <= peak now l.
Proof. destruct l; simpl; lia. Qed.

Lemma peak_most t l now : StronglySorted before l -> now + until t l <= peak now l.
Proof.
  intros S. revert now. unfold until. induction S as [|e l S IH F]; intros now; simpl; [lia|].
  destruct (Z.leb_spec (fst e) t).
  - specialize (IH (now + snd e)). lia.
  - rewrite (sum_ext _ (fun _ => 0)), sum_zero; [lia|]. intros x X.
    rewrite Forall_forall in F. apply F in X. unfold before, is_true, ChangeOrder.leb in X.
    destruct (Z.leb_spec (fst x) t); trivial.
    destruct (Z.ltb_spec (fst e) (fst x)), (Z.eqb_spec (fst e) (fst x)); try easy; lia.
Qed.

Lemma sorted_peak t l : until t l <= peak 0 (ChangeSort.sort l).
Proof.
  pose proof (peak_most t (ChangeSort.sort l) 0 (ChangeSort.StronglySorted_sort l leb_transitive))
    as H.
  rewrite Z.add_0_l in H. unfold until in *.
  now rewrite (sum_permutation _ _ _ (ChangeSort.Permuted_sort l)).
Qed.

Lemma find_map {A B} (f : A -> B) m k : PM.find k (PM.map f m) = option_map f (PM.find k m).
Proof. exact (PM.gmapi (fun _ => f) k m). Qed.

Lemma of_peaks t m r : until t (of_resource [] m r) <= of_resource 0 (peaks m) r.
Proof.
  unfold of_resource, peaks. destruct (resource_key r) as [a b].
  unfold entry. rewrite find_map.
  destruct (PM.find a m) as [k|]; cbn [option_map]; [|rewrite !PM.gempty; unfold until; simpl; lia].
  rewrite find_map.
  destruct (PM.find b k) as [l|]; cbn [option_map]; [apply sorted_peak|unfold until; simpl; lia].
Qed.

(** Whether a use for a duration includes a tick. *)
Definition includes (duration : Z) (r : resource) (t : Z) (u : resource * Z) : bool :=
  resource_eqb r (fst u) && (snd u <=? t) && (t <? snd u + duration).

Lemma until_note d m u r t : 0 <= d ->
  until t (of_resource [] m r) + (if includes d r t u then 1 else 0)
  <= until t (of_resource [] (note_use d m u) r).
Proof.
  intros D. unfold of_resource, note_use, includes.
  assert (Q : resource_eqb r (fst u) = true -> resource_key r = resource_key (fst u))
    by (intros E; now apply resource_eqb_eq in E as ->).
  destruct (resource_key r) as [a b], (resource_key (fst u)) as [c e]. rewrite entry_add.
  destruct (Pos.eqb_spec c a) as [->|N].
  - rewrite entry_add. destruct (Pos.eqb_spec e b) as [->|N].
    + unfold until. cbn [sum fst snd].
      destruct (resource_eqb r (fst u)), (Z.leb_spec (snd u) t), (Z.ltb_spec t (snd u + d)),
        (Z.leb_spec (snd u + d) t); cbn [andb]; lia.
    + destruct (resource_eqb r (fst u)); [|cbn [andb]; lia].
      specialize (Q eq_refl). congruence.
  - destruct (resource_eqb r (fst u)); [|cbn [andb]; lia]. specialize (Q eq_refl). congruence.
Qed.

Lemma duration_positive I l : 1 <= duration I l.
Proof. induction l as [|h l IH]; simpl; lia. Qed.

Definition including (I : instance) (P : Z) (r : resource) (t : Z) (x : timed_transfer) : Z :=
  sum (fun u => if includes (duration I (hops (nodes (snd x)))) r t u then 1 else 0) (begins I P x).

Lemma until_notes I P l r t :
  sum (including I P r t) l <= until t (of_resource [] (note_uses I P l) r).
Proof.
  unfold note_uses.
  assert (E : until t (of_resource [] (PM.empty _) r) = 0).
  { unfold of_resource. destruct (resource_key r). unfold entry. now rewrite !PM.gempty. }
  enough (H : forall m, until t (of_resource [] m r) + sum (including I P r t) l
    <= until t (of_resource [] (fold_left (fun m x =>
        fold_left (note_use (duration I (hops (nodes (snd x))))) (begins I P x) m) l m) r))
    by (specialize (H (PM.empty _)); lia).
  clear E. induction l as [|x l IH]; intros m; cbn [sum fold_left]; [lia|].
  specialize (IH (fold_left (note_use (duration I (hops (nodes (snd x))))) (begins I P x) m)).
  enough (until t (of_resource [] m r) + including I P r t x
    <= until t (of_resource []
        (fold_left (note_use (duration I (hops (nodes (snd x))))) (begins I P x) m) r)) by lia.
  clear IH. unfold including. pose proof (duration_positive I (hops (nodes (snd x)))) as D.
  revert m. induction (begins I P x) as [|u k IH]; intros m; cbn [sum fold_left]; [lia|].
  pose proof (until_note (duration I (hops (nodes (snd x)))) m u r t ltac:(lia)).
  specialize (IH (note_use (duration I (hops (nodes (snd x)))) m u)). lia.
Qed.

Lemma count_steps_from q r t n : forall since,
  count (is_use r t) (map (pair q) (steps_from since n))
  = if resource_eqb r q && (since <=? t) && (t <? since + Z.of_nat n) then 1 else 0.
Proof.
  induction n as [|n IH]; intros since; rewrite count_sum.
  - simpl. destruct (resource_eqb r q), (Z.leb_spec since t), (Z.ltb_spec t (since + 0));
      cbn [andb]; lia.
  - cbn [steps_from map sum]. rewrite <- count_sum, IH. unfold is_use. cbn [fst snd].
    destruct (resource_eqb r q); cbn [andb]; trivial.
    destruct (Z.eqb_spec t since), (Z.leb_spec (since + 1) t), (Z.leb_spec since t),
      (Z.ltb_spec t (since + 1 + Z.of_nat n)), (Z.ltb_spec t (since + Z.of_nat (S n)));
      cbn [andb]; lia.
Qed.

(** A resource is used in a tick by the uses that include it. *)
Lemma used_including I s r t :
  Model.used I s r t = sum (including I (period s) r t) (timed s).
Proof.
  unfold Model.used, Model.all_uses. rewrite count_flat_map. apply sum_ext. intros x _.
  unfold Model.uses, including. rewrite count_flat_map. apply sum_ext. intros u _.
  rewrite count_steps_from. unfold includes.
  rewrite Z2Nat.id; [reflexivity|]. pose proof (duration_positive I (hops (nodes (snd x)))). lia.
Qed.

Lemma used_peak I s r t :
  Model.used I s r t <= of_resource 0 (peaks (note_uses I (period s) (timed s))) r.
Proof.
  rewrite used_including. etransitivity; [apply until_notes|apply of_peaks].
Qed.

Lemma one_round l t : forallb (Z.eqb 1) l = true -> rounds_at l t = 1.
Proof.
  revert t. induction l as [|r l IH]; intros t H; trivial. cbn [forallb] in H.
  apply andb_true_iff in H as [E H]. apply Z.eqb_eq in E. subst r. cbn [rounds_at].
  destruct l; trivial. destruct (t <=? 1); trivial. now apply IH.
Qed.

Lemma tick_capacities_fit_sound I s :
  tick_capacities_fit I (period s) (timed s) = true -> Model.capacities I s.
Proof.
  unfold tick_capacities_fit, Model.capacities, in_step. rewrite !andb_true_iff.
  intros (((R & H1) & H2) & H3) t T. rewrite forallb_forall in H1, H2, H3.
  rewrite (one_round _ t R). repeat split.
  - intros a b c C. unfold channel, neighbours in C.
    destruct (PM.find a (adjacent I)) as [l|] eqn:E; [|easy].
    apply PM.elements_correct in E. apply H1 in E. rewrite forallb_forall in E. apply E in C.
    apply Z.leb_le in C. rewrite Z.mul_1_r. eapply Z.le_trans; [apply used_peak|]. exact C.
  - intros v k E. apply PM.elements_correct in E. apply H2, Z.leb_le in E.
    rewrite Z.mul_1_r. eapply Z.le_trans; [apply used_peak|]. exact E.
  - intros v k E. apply PM.elements_correct in E. apply H3, Z.leb_le in E.
    rewrite Z.mul_1_r. eapply Z.le_trans; [apply used_peak|]. exact E.
Qed.

(** ** Proofs: messages *)

Lemma by_message_listed l m :
  listed (by_message l) m = rev (filter (of_message m) l).
Proof.
  unfold by_message.
  assert (H : forall groups, listed (fold_left (fun g x =>
      add_neighbour (message (snd x)) x g) l groups) m
    = rev (filter (of_message m) l) ++ listed groups m).
  { induction l as [|x l IH]; intros; simpl; trivial. rewrite IH.
    unfold of_message at 2, listed, add_neighbour.
    destruct (Pos.eqb_spec m (message (snd x))) as [->|N].
    - rewrite PM.gss. simpl. now rewrite <- app_assoc.
    - now rewrite PM.gso. }
  rewrite H. unfold listed. rewrite PM.gempty. apply app_nil_r.
Qed.

(** The computed list of a message's transfers is that of Model.v. *)
Lemma by_message_transfers s m :
  rev_append (listed (by_message (timed s)) m) [] = transfers m s.
Proof. rewrite <- rev_alt, by_message_listed. apply rev_involutive. Qed.

Lemma arrivals_sound done l since after :
  arrivals done since l = Some after ->
  NoDup (map receiver l)
  /\ (forall v, In v (map receiver l) -> PM.mem v since = false)
  /\ (forall v t, PM.find v after = Some t -> PM.find v since = Some t
        \/ exists y, In y l /\ receiver y = v /\ done y = t).
Proof.
  revert since. induction l as [|x l IH]; intros since H; simpl in H.
  - injection H as <-. repeat split; [constructor|easy|auto].
  - destruct (PM.mem (receiver x) since) eqn:E; [discriminate|].
    apply IH in H as (D & N & F). repeat split; simpl.
    + constructor; trivial. intros X. apply N in X. now rewrite mem_add, Pos.eqb_refl in X.
    + intros v [<-|X]; trivial. apply N in X. rewrite mem_add in X.
      now apply orb_false_iff in X.
    + intros v t A. apply F in A as [A|(y & Y & R & T)].
      * destruct (Pos.eq_dec v (receiver x)) as [->|M].
        -- rewrite PM.gss in A. injection A as <-. right. exists x. auto.
        -- rewrite PM.gso in A by trivial. now left.
      * right. exists y. auto.
Qed.

Lemma spread_reached s m source l known :
  (forall x, In x l -> In x (transfers m s)) ->
  (forall v, PM.mem v known = true -> reached s m source v) ->
  forall v, PM.mem v (spread known l) = true -> reached s m source v.
Proof.
  unfold spread. revert known. induction l as [|x l IH]; intros known S H; simpl; trivial.
  apply IH; [intros; apply S; now right|]. intros v.
  destruct (PM.mem (sender x) known) eqn:E; [|apply H].
  rewrite mem_add. intros V. apply orb_true_iff in V as [V|V]; [|now apply H].
  apply Pos.eqb_eq in V. subst v. apply reached_next; [apply S; now left|now apply H].
Qed.

Lemma grow_reached {A} s m source (fuel : list A) l known :
  (forall x, In x l -> In x (transfers m s)) ->
  (forall v, PM.mem v known = true -> reached s m source v) ->
  forall v, PM.mem v (grow fuel known l) = true -> reached s m source v.
Proof.
  intros S. revert known. induction fuel as [|a fuel IH]; intros known H v; simpl;
    destruct (informs_all known l); try apply H.
  apply IH. now apply spread_reached.
Qed.

Lemma set_of_in l v : PM.mem v (set_of l) = true -> In v l.
Proof.
  unfold set_of.
  assert (H : forall m, PM.mem v (fold_left (fun m v => PM.add v tt m) l m) = true ->
    In v l \/ PM.mem v m = true).
  { induction l as [|a l IH]; simpl; auto. intros m H. apply IH in H as [H|H]; auto.
    rewrite mem_add in H. apply orb_true_iff in H as [H|H]; auto.
    apply Pos.eqb_eq in H. auto. }
  intros M. apply H in M as [M|M]; trivial. now rewrite mem_empty in M.
Qed.

(** A transfer sends what its first node has, if transfers have ended after [done]. *)
Definition told (done : timed_transfer -> Z) (I : instance) (s : schedule) (m : positive)
    (source : node) (x : timed_transfer) : Prop :=
  match kind I with
  | TimeSlots => reached s m source (sender x)
  | _ => sender x = source
      \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ done y < fst x
  end.

Lemma senders_fit_sound done I s m source since x :
  (forall v t, PM.find v since = Some t ->
     v = source \/ exists y, In y (transfers m s) /\ receiver y = v /\ done y = t) ->
  senders_fit I source since (transfers m s) = true -> In x (transfers m s) ->
  told done I s m source x.
Proof.
  unfold senders_fit, told. intros F H X.
  assert (G : forallb (fun x =>
      match PM.find (sender x) since with Some t => t <? fst x | None => false end)
      (transfers m s) = true ->
    sender x = source
    \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ done y < fst x).
  { rewrite forallb_forall. intros K. apply K in X.
    destruct (PM.find (sender x) since) as [t|] eqn:E; [|discriminate].
    apply Z.ltb_lt in X. apply F in E as [E|(y & Y & R & T)]; [now left|].
    right. exists y. repeat split; trivial. lia. }
  destruct (kind I); [now apply G|now apply G|].
  unfold informs_all in H. rewrite forallb_forall in H. apply H in X.
  eapply grow_reached; [| |exact X]; [trivial|].
  intros v V. apply set_of_in in V as [<-|[]]. constructor.
Qed.

Lemma receivers_fit_sound I destinations l x :
  receivers_fit I destinations l = true -> In x l -> may_receive I destinations (receiver x).
Proof.
  unfold receivers_fit, may_receive. intros H X.
  destruct (kind I); trivial; rewrite forallb_forall in H; apply H in X; now apply set_of_in.
Qed.

Lemma message_fits_sound done I s m source destinations :
  message_fits I done source destinations (transfers m s) = true ->
  (forall x, In x (transfers m s) ->
     told done I s m source x /\ may_receive I destinations (receiver x))
  /\ NoDup (source :: receivers m s)
  /\ forall d, In d destinations -> In d (source :: receivers m s).
Proof.
  unfold message_fits.
  destruct (arrivals done (PM.add source 0 (PM.empty Z)) (transfers m s)) as [since|] eqn:E;
    [|discriminate].
  rewrite !andb_true_iff, forallb_forall. intros ((A & R) & S).
  apply arrivals_sound in E as (D & N & F).
  assert (G : forall v t, PM.find v since = Some t ->
    v = source \/ exists y, In y (transfers m s) /\ receiver y = v /\ done y = t).
  { intros v t V. apply F in V as [V|V]; [left|now right].
    destruct (Pos.eq_dec v source) as [|M]; trivial.
    rewrite PM.gso, PM.gempty in V by trivial. discriminate. }
  repeat split.
  - eapply senders_fit_sound; eauto.
  - eapply receivers_fit_sound; eauto.
  - constructor; trivial. intros X. apply N in X. now rewrite mem_add, Pos.eqb_refl in X.
  - intros d X. apply A in X. rewrite PM.mem_find in X.
    destruct (PM.find d since) as [t|] eqn:T; [|discriminate].
    apply G in T as [->|(y & Y & Q & _)]; [now left|right].
    unfold receivers. rewrite <- Q. now apply in_map.
Qed.

Lemma messages_fit_sound done I s m source destinations :
  messages_fit I done (timed s) = true -> PM.find m (messages I) = Some (source, destinations) ->
  message_fits I done source destinations (transfers m s) = true.
Proof.
  unfold messages_fit. rewrite forallb_forall. intros H F. apply PM.elements_correct in F.
  apply H in F. simpl in F. now rewrite by_message_transfers in F.
Qed.

(** ** The theorem: a schedule that is accepted is valid. *)

Lemma verify_steps_sound I s :
  (forall x, In x (timed s) -> allowed I (nodes (snd x))) ->
  (forall x, In x (timed s) -> PM.mem (message (snd x)) (messages I) = true) ->
  verify_steps I s (timed s) = true -> valid I s /\ (may_be_empty I = false -> ~ In [] s).
Proof.
  intros P K. unfold verify_steps. rewrite !andb_true_iff. intros ((C & M) & E).
  split; [constructor; trivial|].
  - now apply capacities_fit_sound.
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound fst I s m source destinations F).
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound fst I s m source destinations F).
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound fst I s m source destinations F).
  - intros N H. rewrite N in E. unfold no_empty_step in E. cbn [orb] in E.
    rewrite forallb_forall in E. now apply E in H.
Qed.

Lemma verify_ticks_sound I s :
  in_ticks I = true -> kind I <> TimeSlots ->
  (forall x, In x (timed s) -> allowed I (nodes (snd x))) ->
  (forall x, In x (timed s) -> PM.mem (message (snd x)) (messages I) = true) ->
  verify_ticks I s (timed s) = true -> Model.valid I s.
Proof.
  intros N S P K. unfold verify_ticks. rewrite !andb_true_iff, forallb_forall. intros ((D & C) & M).
  constructor; trivial.
  - now apply tick_capacities_fit_sound.
  - intros x X. apply D in X. now apply Z.leb_le in X.
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply message_fits_sound in F as (F & _). intros x X. destruct (F x X) as [A B].
    split; [exact A|exact B].
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound (finish I) I s m source destinations F).
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound (finish I) I s m source destinations F).
  - intros E. unfold Model.may_be_empty in E. rewrite N in E. now destruct (kind I).
Qed.

(** Whether its steps are ticks or not: a schedule that is accepted is valid. *)
Theorem verify_sound I s : verify I s = true -> Model.valid I s.
Proof.
  unfold verify. rewrite !andb_true_iff. intros ((K & P) & V).
  unfold all_known in K. rewrite forallb_forall in K.
  assert (A : forall x, In x (timed s) -> allowed I (nodes (snd x)))
    by (intros x; now apply paths_fit_sound).
  destruct (in_ticks I) eqn:N.
  - destruct (kind I) eqn:S; try discriminate; apply verify_ticks_sound; trivial; congruence.
  - apply verify_steps_sound in V as [V E]; trivial. now apply valid_plain.
Qed.

(** The same for a reduction. *)
Theorem verify_reduction_sound I s : verify_reduction I s = true -> valid_reduction I s.
Proof. apply verify_sound. Qed.
