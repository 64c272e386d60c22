(** Linear evidence in ticks: all messages together pay more than all ticks offer.

    [tick_linear] reads prices, which channels may have for ranges of ticks, and groups of messages
    that pay for weighted sets; all other messages pay for their routes. If it returns true, no
    valid schedule has fewer steps than the evidence says ([tick_linear_sound]). *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Facts Prices Offers Verify TickOffers Routes Sets TickSets TickRoutes.
Import ListNotations.
Open Scope Z_scope.

(** ** Evidence *)

(** The price of a place, for a range of ticks or for all. *)
Record tick_price := { at_resource : resource; ticks : option (Z * Z); cost : Z }.

(** Messages that pay for sets; [None]: all messages that are in no group before it. *)
Record tick_group := { members : option (list positive); weights : list (Z * list node) }.

(** ** Reading *)

(** Only prices of channels may be for a range of ticks. *)
Definition read_tick_price (I : instance) (into : PM.t Z) (T : Z) (r : tick_price) : option row :=
  match ticks r, at_resource r with
  | None, q => make_row I into q 1 T (cost r)
  | Some (a, b), Channel h =>
      if (1 <=? a) && (a <=? b) && (b <=? T) then make_row I into (Channel h) a b (cost r) else None
  | Some _, _ => None
  end.

Fixpoint read_tick_prices (I : instance) (into : PM.t Z) (T : Z) (l : list tick_price)
    : option (list row) :=
  match l with
  | [] => Some []
  | r :: rest =>
      match read_tick_price I into T r, read_tick_prices I into T rest with
      | Some x, Some y => Some (x :: y)
      | _, _ => None
      end
  end.

(** Put messages in a group; [None] if one is in another group, or is none of the instance. *)
Fixpoint put_members (all : PM.t (node * list node)) (sets : list weighted_set) (l : list positive)
    (m : PM.t (list weighted_set)) : option (PM.t (list weighted_set)) :=
  match l with
  | [] => Some m
  | x :: rest =>
      if PM.mem x all && negb (PM.mem x m) then put_members all sets rest (PM.add x sets m)
      else None
  end.

Definition all_members (I : instance) (m : PM.t (list weighted_set))
    (chosen : option (list positive)) : list positive :=
  match chosen with
  | Some l => l
  | None => filter (fun x => negb (PM.mem x m)) (map fst (PM.elements (messages I)))
  end.

Fixpoint put_tick_groups (I : instance) (l : list interval) (groups : list tick_group)
    (m : PM.t (list weighted_set)) : option (PM.t (list weighted_set)) :=
  match groups with
  | [] => Some m
  | g :: rest =>
      let sets := map (fun e => (fst e, set_of (snd e))) (weights g) in
      if tick_sets_fit I l sets
      then match put_members (messages I) sets (all_members I m (members g)) m with
           | Some n => put_tick_groups I l rest n
           | None => None
           end
      else None
  end.

(** ** Intervals of ticks with equal prices *)

(** There are no more intervals than beginnings and ends of ranges, and one. *)
Definition tick_intervals (rows : list row) (T : Z) : list interval :=
  intervals_from rows T 1 (S (length rows + length rows)).

(** The intervals follow each other from a tick to the last one. *)
Fixpoint complete (t T : Z) (l : list interval) : bool :=
  match l with
  | [] => T <? t
  | i :: rest => (from i =? t) && complete (to i + 1) T rest
  end.

(** ** Costs of routes, once for each source and key *)

Definition known_costs : Type := PM.t (list (list node * option (PM.t Z))).

Fixpoint look_key {A} (key : list node) (l : list (list node * A)) : option A :=
  match l with
  | [] => None
  | (k, x) :: rest => if path_eqb key k then Some x else look_key key rest
  end.

Definition add_key (m : PM.t (list (list node))) (source : node) (key : list node)
    : PM.t (list (list node)) :=
  let l := entry [] m source in
  if existsb (path_eqb key) l then m else PM.add source (key :: l) m.

(** The sources and keys of all messages in no group. *)
Definition all_keys (I : instance) (ways : PM.t (list weighted_set)) : PM.t (list (list node)) :=
  fold_left (fun m each =>
    if PM.mem (fst each) ways then m
    else add_key m (fst (snd each)) (route_key I (snd (snd each))))
    (PM.elements (messages I)) (PM.empty _).

Definition know (f : node -> list node -> option (PM.t Z)) (keys : PM.t (list (list node)))
    : known_costs :=
  PM.mapi (fun source l => map (fun key => (key, f source key)) l) keys.

Definition known_of (f : node -> list node -> option (PM.t Z)) (known : known_costs)
    (source : node) (key : list node) : option (PM.t Z) :=
  match look_key key (entry [] known source) with Some x => x | None => f source key end.

(** ** What all messages pay *)

Definition tick_payment (I : instance) (l : list interval)
    (f : node -> list node -> option (PM.t Z)) (known : known_costs)
    (ways : PM.t (list weighted_set)) (m : positive) (source : node) (destinations : list node)
    : payment :=
  match PM.find m ways with
  | Some sets => Pays (sets_bound sets source destinations)
  | None =>
      tick_route_payment I l (known_of f known source (route_key I destinations))
        source destinations
  end.

(** The sum, on top of [paid]. *)
Fixpoint all_pay (f : positive -> node -> list node -> payment) (paid : Z)
    (l : list (positive * (node * list node))) : payment :=
  match l with
  | [] => Pays paid
  | (m, (source, destinations)) :: rest =>
      match f m source destinations with Never => Never | Pays y => all_pay f (paid + y) rest end
  end.

(** Whether fewer than [steps] steps are ruled out; no step at all is not enough for a delivery. *)
Definition tick_linear (I : instance) (steps : Z) (rows : list tick_price)
    (groups : list tick_group) : bool :=
  let T := steps - 1 in
  match kind I, read_tick_prices I (incoming I) T rows with
  | TimeSlots, _ | _, None => false
  | _, Some rows =>
      let l := tick_intervals rows T in
      let edges := tick_edges I l in
      let f := tick_route_costs I l T edges in
      times_fit I && forallb (Z.eqb 1) (rounds I) && complete 1 T l && (1 <=? steps)
      && match put_tick_groups I l groups (PM.empty _) with
         | None => false
         | Some ways =>
             let known := know f (all_keys I ways) in
             (T =? 0) && some_delivery I
             || match all_pay (tick_payment I l f known ways) 0 (PM.elements (messages I)) with
                | Never => true
                | Pays y => tick_offered I rows <? y
                end
         end
  end.

(** ** Proofs *)

Lemma read_tick_prices_in I into T l rows : read_tick_prices I into T l = Some rows ->
  forall r, In r rows -> exists q a b p, make_row I into q a b p = Some r.
Proof.
  revert rows. induction l as [|x l IH]; intros rows H r R; simpl in H.
  - injection H as <-. easy.
  - destruct (read_tick_price I into T x) as [y|] eqn:E; [|discriminate].
    destruct (read_tick_prices I into T l) as [k|]; [|discriminate].
    injection H as <-. destruct R as [<-|R]; [|now apply (IH k)].
    unfold read_tick_price in E. destruct (ticks x) as [[a b]|].
    + destruct (at_resource x) as [h|v|v]; try discriminate.
      destruct (_ && _) in E; [|discriminate]. now exists (Channel h), a, b, (cost x).
    + now exists (at_resource x), 1, T, (cost x).
Qed.

(** Every group that is put in place fits. *)
Lemma put_members_fit (Q : list weighted_set -> Prop) all sets ids m n :
  Q sets -> (forall x w, PM.find x m = Some w -> Q w) -> put_members all sets ids m = Some n ->
  forall x w, PM.find x n = Some w -> Q w.
Proof.
  intros S. revert m. induction ids as [|y ids IH]; intros m B H; simpl in H.
  - injection H as <-. exact B.
  - destruct (PM.mem y all && negb (PM.mem y m)); [|discriminate].
    apply IH with (2 := H). intros x w. destruct (Pos.eq_dec x y) as [->|N].
    + rewrite PM.gss. intros [= <-]. exact S.
    + rewrite PM.gso by trivial. apply B.
Qed.

Lemma put_tick_groups_fit I l groups m n :
  (forall x w, PM.find x m = Some w -> tick_sets_fit I l w = true) ->
  put_tick_groups I l groups m = Some n ->
  forall x w, PM.find x n = Some w -> tick_sets_fit I l w = true.
Proof.
  revert m. induction groups as [|g groups IH]; intros m B H; cbn [put_tick_groups] in H.
  - injection H as <-. exact B.
  - cbv zeta in H. destruct (tick_sets_fit I l _) eqn:E in H; [|discriminate].
    destruct (put_members _ _ _ _) as [k|] eqn:G in H; [|discriminate].
    apply IH with (2 := H).
    apply (put_members_fit (fun w => tick_sets_fit I l w = true) _ _ _ _ _ E B G).
Qed.

Lemma intervals_from_prices rows T fuel : forall t i, In i (intervals_from rows T t fuel) ->
  forall k q, from i <= k <= to i -> price_at rows q k = table_price (prices i) q.
Proof.
  induction fuel as [|fuel IH]; intros t i J k q K; simpl in J; [easy|].
  destruct (Z.leb_spec t T); [|easy]. destruct J as [<-|J]; [|exact (IH _ i J k q K)].
  simpl in K |- *. rewrite table_at_price. apply sum_ext. intros r R.
  rewrite (active_same rows t k (T + 1)); trivial; lia.
Qed.

Lemma complete_covers T l : forall t, complete t T l = true ->
  forall k, t <= k <= T -> exists i, In i l /\ from i <= k <= to i.
Proof.
  induction l as [|i l IH]; intros t H k K; cbn [complete] in H.
  - apply Z.ltb_lt in H. lia.
  - apply andb_true_iff in H as [E H]. apply Z.eqb_eq in E.
    destruct (Z_le_gt_dec k (to i)) as [L|L].
    + exists i. split; [now left|lia].
    + destruct (IH _ H k) as (j & J & B); [lia|]. exists j. split; [now right|trivial].
Qed.

(** Every tick has its prices in the interval in which it lies. *)
Lemma tick_intervals_cover rows T :
  complete 1 T (tick_intervals rows T) = true -> covers rows T (tick_intervals rows T).
Proof.
  intros H t B. destruct (complete_covers T _ 1 H t B) as (i & J & K). exists i.
  repeat split; trivial; try lia. intros q. exact (intervals_from_prices rows T _ 1 i J t q K).
Qed.

Lemma look_key_map {A} (f : list node -> A) key l x :
  look_key key (map (fun k => (k, f k)) l) = Some x -> x = f key.
Proof.
  induction l as [|k l IH]; cbn [map look_key]; [discriminate|].
  destruct (path_eqb key k) eqn:E; [|exact IH]. apply path_eqb_eq in E. intros [= <-].
  now rewrite E.
Qed.

(** What is known is what would be computed. *)
Lemma known_of_know f keys source key : known_of f (know f keys) source key = f source key.
Proof.
  unfold known_of, know, entry. rewrite PM.gmapi.
  destruct (PM.find source keys) as [l|]; [|reflexivity]. cbn [option_map].
  destruct (look_key key _) as [x|] eqn:E; [|reflexivity].
  exact (look_key_map (f source) key l x E).
Qed.

Lemma all_pay_least f (g : positive -> Z) l :
  (forall m source destinations, In (m, (source, destinations)) l ->
     match f m source destinations with Never => False | Pays y => y <= g m end) ->
  forall paid, match all_pay f paid l with
    Never => False | Pays y => y <= paid + sum g (map fst l) end.
Proof.
  induction l as [|[m [source destinations]] l IH]; intros H paid; simpl; [lia|].
  pose proof (H m source destinations (or_introl eq_refl)) as X.
  destruct (f m source destinations) as [|y]; [easy|].
  specialize (IH (fun a b c J => H a b c (or_intror J)) (paid + y)).
  destruct (all_pay f (paid + y) l) as [|z]; [easy|lia].
Qed.

(** A schedule of fewer steps would have to pay more than it is offered. *)
Theorem tick_linear_sound I steps rows groups s :
  tick_linear I steps rows groups = true -> Model.valid I s -> steps <= period s.
Proof.
  unfold tick_linear. intros H V. destruct (Z_lt_le_dec (period s) steps) as [B|]; [|trivial].
  exfalso. set (T := steps - 1) in *. assert (L : period s <= T) by (unfold T; lia).
  assert (S : kind I <> TimeSlots) by (intros S; now rewrite S in H).
  destruct (read_tick_prices I (incoming I) T rows) as [k|] eqn:E;
    [|now destruct (kind I)].
  cbv zeta in H. set (l := tick_intervals k T) in *.
  set (f := tick_route_costs I l T (tick_edges I l)) in *.
  assert (H' : times_fit I && forallb (Z.eqb 1) (rounds I) && complete 1 T l && (1 <=? steps)
      && match put_tick_groups I l groups (PM.empty _) with
         | None => false
         | Some ways =>
             (T =? 0) && some_delivery I
             || match all_pay (tick_payment I l f (know f (all_keys I ways)) ways) 0
                        (PM.elements (messages I)) with
                | Never => true
                | Pays y => tick_offered I k <? y
                end
         end = true) by (destruct (kind I); [exact H|exact H|easy]).
  clear H. rewrite !andb_true_iff in H'. destruct H' as ((((F & R) & G) & _) & Q).
  destruct (put_tick_groups I l groups (PM.empty _)) as [ways|] eqn:W; [|discriminate].
  apply orb_true_iff in Q as [Q|Q].
  { apply andb_true_iff in Q as [Q D]. apply Z.eqb_eq in Q.
    pose proof (delivery_takes_a_step I s (rule_4_all I s V) D). lia. }
  assert (Sized : forall r, In r k -> tick_sized I s r).
  { intros r J. destruct (read_tick_prices_in _ _ _ _ _ E r J) as (q & a & b & p & M).
    now apply make_row_tick_sized with q a b p. }
  assert (P : forall r, In r k -> 0 <= price r) by (intros r J; apply (Sized r J)).
  pose proof (tick_intervals_cover k T G) as C. fold l in C.
  pose proof (tick_paid_at_most_offered I s k S F V Sized) as O.
  pose proof (all_pay_least (tick_payment I l f (know f (all_keys I ways)) ways)
    (tick_message_pays I k s) (PM.elements (messages I))) as X.
  assert (Y : forall m source destinations, In (m, (source, destinations))
    (PM.elements (messages I)) ->
    match tick_payment I l f (know f (all_keys I ways)) ways m source destinations with
    | Never => False | Pays y => y <= tick_message_pays I k s m end).
  { intros m source destinations J. apply PM.elements_complete in J. unfold tick_payment.
    destruct (PM.find m ways) as [sets|] eqn:D.
    - apply tick_sets_pay with T l; trivial.
      apply (put_tick_groups_fit I l groups (PM.empty _) ways) with m; trivial.
      intros x w N. now rewrite PM.gempty in N.
    - rewrite known_of_know. unfold f. now apply tick_routes_pay. }
  specialize (X Y 0). destruct (all_pay _ _ _) as [|y]; [easy|]. apply Z.ltb_lt, Z.lt_nge in Q.
  rewrite Z.add_0_l in X. apply Q. now rewrite X.
Qed.
