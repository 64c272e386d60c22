(** Weighted sets of nodes: what a message pays at least because it enters them.

    Sets of nodes have weights. If, for every channel, the weights of the sets that it leads into
    add up to no more than its price in any step, then a message pays at least the weights of the
    sets that have a destination of it and not its source: some transfer of it leads into each.
    In store-and-forward switching the prices of the ports at both ends of a channel count, too.

    [sets_fit] is the check, [sets_bound] what a message pays at least, [sets_pay] the theorem. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts Prices.
Import ListNotations.
Open Scope Z_scope.

Definition weighted_set : Type := Z * PM.t unit.

(** Whether a hop leads from outside into a set. *)
Definition leads_into (inside : node -> bool) (h : hop) : bool :=
  inside (snd h) && negb (inside (fst h)).

Definition has (set : PM.t unit) (v : node) : bool := PM.mem v set.

(** The weights of the sets that a hop leads into. *)
Definition entered (sets : list weighted_set) (h : hop) : Z :=
  sum (fun each => if leads_into (has (snd each)) h then fst each else 0) sets.

(** What a transfer pays at least for a hop. *)
Definition entry_price (I : instance) (tb : table) (h : hop) : Z :=
  match kind I with
  | StoreAndForward =>
      table_price tb (Inject (fst h)) + table_price tb (Accept (snd h)) + hop_price I tb h
  | _ => hop_price I tb h
  end.

(** No weight is negative, and no channel into sets costs less than they weigh. *)
Definition sets_fit (I : instance) (intervals : list interval) (sets : list weighted_set) : bool :=
  forallb (fun each => 0 <=? fst each) sets
  && forallb (fun each =>
       forallb (fun next =>
         let h := (fst each, fst next) in
         let weight := entered sets h in
         forallb (fun i => weight <=? entry_price I (prices i) h) intervals)
         (snd each)) (PM.elements (adjacent I)).

(** The weights of the sets that have a destination and not the source. *)
Definition sets_bound (sets : list weighted_set) (source : node) (destinations : list node) : Z :=
  sum (fun each =>
    if negb (has (snd each) source) && existsb (has (snd each)) destinations
    then fst each else 0) sets.

(** ** Steps, paths, and the tree of a message *)

(** A path from outside into a set has a hop that leads into it. *)
Lemma path_enters (inside : node -> bool) p :
  inside (first_node p) = false -> inside (last_node p) = true ->
  exists h, In h (hops p) /\ leads_into inside h = true.
Proof.
  unfold first_node, last_node. induction p as [|a [|b rest] IH]; intros F L.
  - simpl in *. congruence.
  - simpl in *. congruence.
  - destruct (inside b) eqn:B.
    + exists (a, b). split; [now left|]. unfold leads_into. simpl in *. now rewrite B, F.
    + destruct IH as (h & H & E); trivial. exists h. split; trivial. now right.
Qed.

(** The sender of every transfer is reached from the source. *)
Lemma sender_reached I s m source destinations x :
  valid I s -> PM.find m (messages I) = Some (source, destinations) ->
  In x (transfers m s) -> reached s m source (sender x).
Proof.
  intros V M X.
  assert (forall n x, In x (transfers m s) -> fst x < Z.of_nat n ->
    reached s m source (sender x)) as H.
  { clear x X. induction n as [|n IH]; intros x X L.
    - apply transfers_timed, timed_steps in X. lia.
    - destruct (rule_3 I s V _ _ _ M x X) as (Q & _). unfold informed in Q.
      destruct (kind I); trivial; destruct Q as [->|(y & Y & <- & E)];
        try constructor 1; constructor 2; trivial; apply IH; trivial; lia. }
  apply (H (Z.to_nat (fst x + 1))); trivial.
  apply transfers_timed, timed_steps in X. lia.
Qed.

(** Some transfer leads into every set with a reached node and without the source. *)
Lemma some_hop_enters (inside : node -> bool) s m source v :
  reached s m source v -> inside source = false -> inside v = true ->
  exists x h, In x (transfers m s) /\ In h (hops (nodes (snd x))) /\ leads_into inside h = true.
Proof.
  intros R F. induction R as [|x X R IH]; intros T; [congruence|].
  destruct (inside (sender x)) eqn:E; [now apply IH|].
  destruct (path_enters inside (nodes (snd x)) E T) as (h & H & L). now exists x, h.
Qed.

(** If every transfer pays at least for the sets that it leads into, the message pays for all sets
    that have a reached destination and not the source. *)
Lemma paid_for_sets (paid : timed_transfer -> Z) (sets : list weighted_set) s m source destinations :
  (forall each, In each sets -> 0 <= fst each) ->
  (forall d, In d destinations -> reached s m source d) ->
  (forall x, In x (transfers m s) -> sum (entered sets) (hops (nodes (snd x))) <= paid x) ->
  sets_bound sets source destinations <= sum paid (transfers m s).
Proof.
  intros W R P.
  set (entries := fun each : weighted_set => sum (fun x => sum (fun h =>
    if leads_into (has (snd each)) h then 1 else 0) (hops (nodes (snd x)))) (transfers m s)).
  transitivity (sum (fun each => fst each * entries each) sets).
  - unfold sets_bound. apply sum_le. intros [w set] E. specialize (W _ E). cbn [fst snd] in *.
    assert (0 <= entries (w, set)).
    { apply sum_nonneg. intros x _. apply sum_nonneg. intros h _.
      destruct (leads_into _ h); lia. }
    destruct (negb (has set source) && existsb (has set) destinations) eqn:Q; [|nia].
    apply andb_prop in Q as (O & D). apply negb_true_iff in O.
    apply existsb_exists in D as (d & D & H').
    assert (1 <= entries (w, set)); [|nia].
    destruct (some_hop_enters (has set) s m source d (R d D) O H') as (x & h & X & G & L).
    unfold entries. cbn [snd].
    transitivity (sum (fun h => if leads_into (has set) h then 1 else 0) (hops (nodes (snd x)))).
    + transitivity (if leads_into (has set) h then 1 else 0); [rewrite L; lia|].
      apply (sum_single (fun h => if leads_into (has set) h then 1 else 0)); trivial.
      intros g _. destruct (leads_into (has set) g); lia.
    + apply (sum_single (fun x => sum (fun h => if leads_into (has set) h then 1 else 0)
        (hops (nodes (snd x))))); trivial.
      intros y _. apply sum_nonneg. intros g _. destruct (leads_into (has set) g); lia.
  - transitivity (sum (fun x => sum (entered sets) (hops (nodes (snd x)))) (transfers m s));
      [|now apply sum_le].
    apply Z.eq_le_incl. unfold entered, entries. symmetry.
    transitivity (sum (fun x => sum (fun each : weighted_set => sum (fun h =>
      if leads_into (has (snd each)) h then fst each else 0) (hops (nodes (snd x)))) sets)
      (transfers m s)).
    + apply sum_ext. intros x _. apply sum_swap.
    + rewrite sum_swap. apply sum_ext. intros each _. rewrite <- sum_scale.
      apply sum_ext. intros x _. rewrite <- sum_scale. apply sum_ext. intros h _.
      destruct (leads_into (has (snd each)) h); lia.
Qed.

(** ** What a transfer pays *)

Lemma allowed_channels I p a b :
  allowed I p -> In (a, b) (hops p) -> exists c, channel I a b c.
Proof.
  unfold allowed, simple. intros A H. destruct (kind I).
  - destruct A as ((_ & _ & A & _) & _). auto.
  - destruct A as (_ & _ & A). auto.
  - destruct A as ((_ & _ & A & _) & _). auto.
Qed.

Lemma neighbours_elements I a b c : channel I a b c ->
  exists l, In (a, l) (PM.elements (adjacent I)) /\ In (b, c) l.
Proof.
  unfold channel, neighbours. destruct (PM.find a (adjacent I)) as [l|] eqn:F; [|easy].
  intros H. exists l. split; trivial. now apply PM.elements_correct.
Qed.

Section Payments.
  Variables (I : instance) (s : schedule) (T : Z) (rows : list row) (intervals : list interval).
  Variable sets : list weighted_set.
  Hypothesis V : valid I s.
  Hypothesis within : period s <= T.
  Hypothesis covered : covers rows T intervals.
  Hypothesis nonnegative : forall r, In r rows -> 0 <= price r.
  Hypothesis fit : sets_fit I intervals sets = true.

  Definition price_of_entry (h : hop) (t : Z) : Z :=
    match kind I with
    | StoreAndForward =>
        price_at rows (Inject (fst h)) t + price_at rows (Accept (snd h)) t
        + price_at rows (Channel (link I h)) t
    | _ => price_at rows (Channel (link I h)) t
    end.

  Lemma entered_price a b c t : channel I a b c -> 1 <= t <= T ->
    entered sets (a, b) <= price_of_entry (a, b) t.
  Proof.
    intros C B. destruct (covered t B) as (i & J & _ & E).
    apply neighbours_elements in C as (l & L & N).
    unfold sets_fit in fit. apply andb_prop in fit as (_ & F).
    rewrite forallb_forall in F. specialize (F _ L). rewrite forallb_forall in F.
    specialize (F _ N). simpl in F. rewrite forallb_forall in F. specialize (F _ J).
    apply Z.leb_le in F. unfold entry_price, hop_price in F. unfold price_of_entry.
    rewrite !E. exact F.
  Qed.

  Lemma slot_steps t : 1 <= t -> 1 <= period s -> (kind I = TimeSlots \/ t <= period s) ->
    1 <= slot I (period s) t <= T.
  Proof.
    intros L P K. unfold slot. destruct (kind I); try (destruct K; [easy|lia]).
    pose proof (Z.mod_pos_bound (t - 1) (period s)). lia.
  Qed.

  (** The channels of a path, each in its slot. *)
  Lemma entered_channels l : (forall a b, In (a, b) l -> exists c, channel I a b c) ->
    kind I <> StoreAndForward -> forall t, 1 <= t -> 1 <= period s ->
    (kind I = TimeSlots \/ t <= period s) ->
    sum (entered sets) l
      <= sum (fun u => price_at rows (fst u) (snd u)) (channel_uses I (period s) t l).
  Proof.
    intros C K. induction l as [|[a b] l IH]; intros t B P Q; cbn [channel_uses sum]; [lia|].
    destruct (C a b) as (c & D); [now left|].
    assert (H := entered_price a b c _ D (slot_steps t B P Q)).
    assert (sum (entered sets) l <= sum (fun u => price_at rows (fst u) (snd u))
      (channel_uses I (period s) (t + late I 1) l)).
    { apply IH; trivial.
      - intros; apply C; now right.
      - unfold late. destruct (kind I); lia.
      - unfold late. destruct (kind I); [|easy|now left]. destruct Q; [easy|right; lia]. }
    unfold price_of_entry in H. simpl fst. simpl snd. destruct (kind I); try easy; lia.
  Qed.

  (** A transfer pays the weights of the sets that its hops lead into. *)
  Lemma entered_pays x : In x (timed s) ->
    sum (entered sets) (hops (nodes (snd x))) <= pays I rows (period s) x.
  Proof.
    intros X. assert (A := rule_1 I s V x X). assert (B := timed_steps s x X).
    assert (forall a b, In (a, b) (hops (nodes (snd x))) -> exists c, channel I a b c) as C.
    { intros a b H. now apply (allowed_channels I (nodes (snd x))). }
    unfold pays, uses. cbn [sum fst snd].
    assert (0 <= price_at rows (Inject (first_node (nodes (snd x)))) (slot I (period s) (fst x)))
      by now apply price_nonneg.
    assert (0 <= price_at rows (Accept (last_node (nodes (snd x)))) (slot I (period s) (fst x +
      late I (Z.of_nat (length (hops (nodes (snd x)))) - 1)))) by now apply price_nonneg.
    assert (kind I <> StoreAndForward \/ kind I = StoreAndForward) as [K|K]
      by (destruct (kind I); auto; left; easy).
    { assert (Q := entered_channels _ C K (fst x) ltac:(lia) ltac:(lia) ltac:(right; lia)).
      lia. }
    unfold allowed in A. rewrite K in A. destruct A as (L & _).
    destruct (nodes (snd x)) as [|a [|b [|]]]; try easy.
    destruct (C a b) as (c & D); [now left|].
    assert (Q := entered_price a b c (fst x) D ltac:(lia)).
    unfold price_of_entry in Q. unfold slot, late in *. rewrite K in *. cbn in *.
    unfold slot. rewrite K, !Z.add_0_r. lia.
  Qed.

  Theorem sets_pay_within m source destinations :
    PM.find m (messages I) = Some (source, destinations) ->
    sets_bound sets source destinations <= message_pays I rows s m.
  Proof.
    intros M. apply paid_for_sets.
    - intros each E. unfold sets_fit in fit. apply andb_prop in fit as (F & _).
      rewrite forallb_forall in F. specialize (F _ E). now apply Z.leb_le in F.
    - intros d D. destruct (rule_4_all I s V _ _ _ M d D) as [<-|R]; [constructor|].
      unfold receivers in R. apply in_map_iff in R as (x & <- & X).
      constructor 2; trivial. now apply (sender_reached I s m source destinations).
    - intros x X. apply entered_pays. now apply transfers_timed in X.
  Qed.
End Payments.

(** The theorem, for all three kinds of switching: in time slots, too, a transfer uses its channels
    in slots of the period, whose prices are those of the intervals. *)
Theorem sets_pay (I : instance) (s : schedule) (T : Z) (rows : list row)
    (intervals : list interval) (sets : list weighted_set) m source destinations :
  valid I s -> period s <= T -> covers rows T intervals ->
  (forall r, In r rows -> 0 <= price r) -> sets_fit I intervals sets = true ->
  PM.find m (messages I) = Some (source, destinations) ->
  sets_bound sets source destinations <= message_pays I rows s m.
Proof. intros. now apply sets_pay_within with T intervals. Qed.
