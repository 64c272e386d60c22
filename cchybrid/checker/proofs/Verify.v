(** A program that verifies a schedule: [verify I s].

    It counts the uses of channels and ports, and follows each message, in maps. [verify_sound]
    proves that every schedule that it accepts is valid, by all rules of Model.v and with all
    three kinds of switching. That it accepts every valid schedule is not proved, and not needed. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Prices Walks Paths Offers.
Import ListNotations.
Open Scope Z_scope.

(** ** Paths (rule 1) *)

(** No node of the list is a second time in it, or in [seen]. *)
Fixpoint distinct (seen : PM.t unit) (l : list node) : bool :=
  match l with
  | [] => true
  | v :: rest => if PM.mem v seen then false else distinct (PM.add v tt seen) rest
  end.

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
  | StoreAndForward, _ | _, AnyPath => PM.empty _
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

Definition is_allowed (I : instance) (d : known_distances) (p : path) : bool :=
  match kind I with
  | StoreAndForward =>
      match p with [_; _] => distinct (PM.empty _) p && hops_fit I p | _ => false end
  | _ => is_simple I p && match route I with AnyPath => true | ExtraHops h => is_short d h p end
  end.

Definition paths_fit (I : instance) (l : list timed_transfer) : bool :=
  let d := needed_distances I l in forallb (fun x => is_allowed I d (nodes (snd x))) l.

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

(** ** Messages (rules 3 and 4) *)

(** The transfers of every message, the last one first. *)
Definition by_message (l : list timed_transfer) : PM.t (list timed_transfer) :=
  fold_left (fun m x => add_neighbour (message (snd x)) x m) l (PM.empty _).

(** The step in which each node receives; [None] if one receives what it has. *)
Fixpoint arrivals (since : PM.t Z) (l : list timed_transfer) : option (PM.t Z) :=
  match l with
  | [] => Some since
  | x :: rest =>
      if PM.mem (receiver x) since then None
      else arrivals (PM.add (receiver x) (fst x) since) rest
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

Definition message_fits (I : instance) (source : node) (destinations : list node)
    (l : list timed_transfer) : bool :=
  match arrivals (PM.add source 0 (PM.empty _)) l with
  | Some since =>
      forallb (fun d => PM.mem d since) destinations
      && receivers_fit I destinations l && senders_fit I source since l
  | None => false
  end.

Definition messages_fit (I : instance) (l : list timed_transfer) : bool :=
  let groups := by_message l in
  forallb (fun each => message_fits I (fst (snd each)) (snd (snd each))
      (rev_append (listed groups (fst each)) []))
    (PM.elements (messages I)).

(** ** The whole *)

Definition all_known (I : instance) (l : list timed_transfer) : bool :=
  forallb (fun x => PM.mem (message (snd x)) (messages I)) l.

Definition no_empty_step (s : schedule) : bool :=
  forallb (fun step => match step with [] => false | _ => true end) s.

Definition verify (I : instance) (s : schedule) : bool :=
  let l := timed s in
  all_known I l && paths_fit I l && capacities_fit I s l && messages_fit I l
  && (may_be_empty I || no_empty_step s).

(** A schedule of a reduction is verified backwards. *)
Definition verify_reduction (I : instance) (s : schedule) : bool :=
  verify (reversed I) (backwards s).

(** ** Proofs: paths *)

Lemma mem_add {A} v w (x : A) m : PM.mem v (PM.add w x m) = Pos.eqb v w || PM.mem v m.
Proof.
  rewrite !PM.mem_find. destruct (Pos.eqb_spec v w) as [->|N].
  - now rewrite PM.gss.
  - now rewrite PM.gso.
Qed.

Lemma mem_empty {A} v : PM.mem v (PM.empty A) = false.
Proof. now rewrite PM.mem_find, PM.gempty. Qed.

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

Lemma is_allowed_sound I d p :
  true_distances I d -> is_allowed I d p = true -> allowed I p.
Proof.
  unfold is_allowed, allowed. intros D H.
  assert (G : is_simple I p && match route I with
      | AnyPath => true | ExtraHops h => is_short d h p end = true ->
    simple I p /\ match route I with
      | AnyPath => True
      | ExtraHops h => forall q, simple I q ->
          first_node q = first_node p -> last_node q = last_node p ->
          Z.of_nat (length p) <= Z.of_nat (length q) + h
      end).
  { rewrite andb_true_iff. intros [S R]. split; [now apply is_simple_sound|].
    destruct (route I) as [|h]; [trivial|]. intros q. now apply is_short_sound with d. }
  destruct (kind I); [now apply G| |now apply G].
  destruct p as [|a [|b [|c p]]]; try discriminate. apply andb_true_iff in H as [H K].
  split; [reflexivity|]. split; [now apply distinct_sound in H|].
  intros x y. now apply hops_fit_sound.
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

Lemma arrivals_sound l since after :
  arrivals since l = Some after ->
  NoDup (map receiver l)
  /\ (forall v, In v (map receiver l) -> PM.mem v since = false)
  /\ (forall v t, PM.find v after = Some t -> PM.find v since = Some t
        \/ exists y, In y l /\ receiver y = v /\ fst y = t).
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

Lemma senders_fit_sound I s m source since x :
  (forall v t, PM.find v since = Some t ->
     v = source \/ exists y, In y (transfers m s) /\ receiver y = v /\ fst y = t) ->
  senders_fit I source since (transfers m s) = true -> In x (transfers m s) ->
  informed I s m source x.
Proof.
  unfold senders_fit, informed. intros F H X.
  assert (G : forallb (fun x =>
      match PM.find (sender x) since with Some t => t <? fst x | None => false end)
      (transfers m s) = true ->
    sender x = source
    \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ fst y < fst x).
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

Lemma message_fits_sound I s m source destinations :
  message_fits I source destinations (transfers m s) = true ->
  (forall x, In x (transfers m s) ->
     informed I s m source x /\ may_receive I destinations (receiver x))
  /\ NoDup (source :: receivers m s)
  /\ forall d, In d destinations -> In d (source :: receivers m s).
Proof.
  unfold message_fits.
  destruct (arrivals (PM.add source 0 (PM.empty Z)) (transfers m s)) as [since|] eqn:E;
    [|discriminate].
  rewrite !andb_true_iff, forallb_forall. intros ((A & R) & S).
  apply arrivals_sound in E as (D & N & F).
  assert (G : forall v t, PM.find v since = Some t ->
    v = source \/ exists y, In y (transfers m s) /\ receiver y = v /\ fst y = t).
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

Lemma messages_fit_sound I s m source destinations :
  messages_fit I (timed s) = true -> PM.find m (messages I) = Some (source, destinations) ->
  message_fits I source destinations (transfers m s) = true.
Proof.
  unfold messages_fit. rewrite forallb_forall. intros H F. apply PM.elements_correct in F.
  apply H in F. simpl in F. now rewrite by_message_transfers in F.
Qed.

(** ** The theorem: a schedule that is accepted is valid. *)
Theorem verify_sound I s : verify I s = true -> valid I s.
Proof.
  unfold verify. rewrite !andb_true_iff. intros ((((K & P) & C) & M) & E). constructor.
  - intros x. now apply paths_fit_sound.
  - now apply capacities_fit_sound.
  - unfold all_known in K. rewrite forallb_forall in K. exact K.
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound I s m source destinations F).
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound I s m source destinations F).
  - intros m source destinations F. eapply messages_fit_sound in F; [|exact M].
    apply (message_fits_sound I s m source destinations F).
  - intros N H. rewrite N in E. unfold no_empty_step in E. cbn [orb] in E.
    rewrite forallb_forall in E. now apply E in H.
Qed.

(** The same for a reduction. *)
Theorem verify_reduction_sound I s : verify_reduction I s = true -> valid_reduction I s.
Proof. apply verify_sound. Qed.
