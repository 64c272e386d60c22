(** The checker: what it computes, and the theorem about it.

    [check] takes an instance, a schedule of it and evidence. If it returns a number of steps,
    the schedule is valid, and no valid schedule has fewer steps ([check_sound]). [check_sums] is
    the same for allreduces and scans. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts Prices Walks Paths Routes Sets Worth Offers.
Require NestedSets Verify Refutation TickLinear Allreduce AllreduceCheck.
Import ListNotations.
Open Scope Z_scope.

(** ** Evidence *)

Inductive place := PriceChannel (a b : node) | PriceInject (v : node) | PriceAccept (v : node).

(** A price for a range of steps, or for all. *)
Record price_row := { at_place : place; range : option (Z * Z); amount : Z }.

(** Messages that pay for sets, or by the worth of their destinations, with charges of receivers and
    blocks of nodes; [None]: all others. *)
Inductive group :=
  | SetsGroup (chosen : option (list positive)) (sets : list (Z * list node))
  | WorthGroup (chosen : option (list positive)) (worth : list (node * Z)) (once : list charge)
      (blocks : list (list node)).

Inductive evidence :=
  | Linear (steps : Z) (rows : list price_row) (groups : list group)
  | NestedSets (message : positive) (rows : list (Z * list node))
  | Refuted (steps : Z) (order : list positive) (proof : list Refutation.proof_line).

(** ** Linear: all messages together pay more than all steps offer *)

Definition resource_of (p : place) : resource :=
  match p with
  | PriceChannel a b => Channel (a, b)
  | PriceInject v => Inject v
  | PriceAccept v => Accept v
  end.

(** In time slots a price is for all slots. *)
Definition read_row (I : instance) (into : PM.t Z) (T : Z) (r : price_row) : option row :=
  match range r, kind I with
  | None, _ => make_row I into (resource_of (at_place r)) 1 T (amount r)
  | Some _, TimeSlots => None
  | Some (a, b), _ =>
      if (1 <=? a) && (a <=? b) && (b <=? T)
      then make_row I into (resource_of (at_place r)) a b (amount r) else None
  end.

Fixpoint all_some {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | x :: rest =>
      match f x, all_some f rest with Some y, Some r => Some (y :: r) | _, _ => None end
  end.

(** How a message pays that is in a group. *)
Inductive way :=
  | BySets (sets : list (Z * PM.t unit))
  | ByWorth (worth : PM.t Z) (once : list charge) (blocks : PM.t node).

Definition node_set (l : list node) : PM.t unit :=
  fold_left (fun m v => PM.add v tt m) l (PM.empty unit).

Definition worth_map (l : list (node * Z)) : PM.t Z :=
  fold_left (fun m e => PM.add (fst e) (snd e) m) l (PM.empty Z).

(** The first node of the block of every node that is in one. *)
Definition block_map (blocks : list (list node)) : PM.t node :=
  fold_left (fun m block => fold_left (fun m v => PM.add v (hd v block) m) block m) blocks
    (PM.empty node).

(** Put messages into a group; [None] if one is in another group, or is none of the instance. *)
Fixpoint put (all : PM.t (node * list node)) (w : way) (l : list positive) (m : PM.t way)
    : option (PM.t way) :=
  match l with
  | [] => Some m
  | x :: rest =>
      if PM.mem x all && negb (PM.mem x m) then put all w rest (PM.add x w m) else None
  end.

Definition members (I : instance) (m : PM.t way) (chosen : option (list positive))
    : list positive :=
  match chosen with
  | Some l => l
  | None => filter (fun x => negb (PM.mem x m)) (map fst (PM.elements (messages I)))
  end.

Fixpoint put_groups (I : instance) (l : list interval) (groups : list group) (m : PM.t way)
    : option (PM.t way) :=
  match groups with
  | [] => Some m
  | g :: rest =>
      let found :=
        match g with
        | SetsGroup chosen sets =>
            let sets := map (fun e => (fst e, node_set (snd e))) sets in
            if sets_fit I l sets
            then put (messages I) (BySets sets) (members I m chosen) m else None
        | WorthGroup chosen worth once blocks =>
            match kind I with
            | TimeSlots => None
            | _ => put (messages I) (ByWorth (worth_map worth) once (block_map blocks))
                     (members I m chosen) m
            end
        end in
      match found with Some n => put_groups I l rest n | None => None end
  end.

(** Costs of routes, once per source where they depend on the source alone. *)
Definition by_source (I : instance) (destinations : list node) : bool :=
  match kind I, destinations, route I with
  | StoreAndForward, _, _ => true
  | _, _, Table _ _ => false
  | _, [_], _ => true
  | _, _, _ => false
  end.

Definition source_costs (I : instance) (l : list interval) (steps : list (list edge))
    (source : node) : option (PM.t Z) :=
  route_costs I l steps source [source].

Definition sources (I : instance) : PM.t unit :=
  fold_left (fun m each => if by_source I (snd (snd each)) then PM.add (fst (snd each)) tt m else m)
    (PM.elements (messages I)) (PM.empty unit).

Definition route_payment (I : instance) (l : list interval) (steps : list (list edge))
    (known : PM.t (option (PM.t Z))) (source : node) (destinations : list node) : payment :=
  let costs :=
    if by_source I destinations then recall (source_costs I l steps) known source
    else route_costs I l steps source destinations in
  match costs with
  | Some c => dearest I l c source destinations
  | None => Pays 0
  end.

Definition message_payment (I : instance) (T : Z) (l : list interval) (steps : list (list edge))
    (known : PM.t (option (PM.t Z))) (prepared : preparation) (ways : PM.t way)
    (m : positive) (source : node) (destinations : list node) : payment :=
  match PM.find m ways with
  | None => route_payment I l steps known source destinations
  | Some (BySets sets) => Pays (sets_bound sets source destinations)
  | Some (ByWorth worth once blocks) =>
      Pays (worth_bound I prepared T worth once blocks source destinations)
  end.

Fixpoint total (f : positive -> node -> list node -> payment)
    (l : list (positive * (node * list node))) : payment :=
  match l with
  | [] => Pays 0
  | (m, (source, destinations)) :: rest =>
      match f m source destinations with
      | Never => Never
      | Pays y => match total f rest with Never => Never | Pays z => Pays (y + z) end
      end
  end.

Definition uses_worth (groups : list group) : bool :=
  existsb (fun g => match g with WorthGroup _ _ _ _ => true | _ => false end) groups.

(** Whether fewer than [steps] steps are ruled out; no step at all is not enough for a delivery. *)
Definition linear (I : instance) (steps : Z) (rows : list price_row) (groups : list group) : bool :=
  let T := steps - 1 in
  let into := incoming I in
  match all_some (read_row I into T) rows with
  | None => false
  | Some rows =>
      let l := make_intervals rows T in
      let layers := match kind I with StoreAndForward => all_steps I l T | _ => [] end in
      let known ways := remember (source_costs I l layers)
        (if forallb (fun e => PM.mem (fst e) ways) (PM.elements (messages I))
         then PM.empty unit else sources I) in
      let prepared := if uses_worth groups then prepare I l
                      else {| intervals_of := []; fans := PM.empty _ |} in
      match put_groups I l groups (PM.empty way) with
      | None => false
      | Some ways =>
          rounds_fit I && (1 <=? steps)
          && ((T =? 0) && some_delivery I
              || match total (message_payment I T l layers (known ways) prepared ways)
                         (PM.elements (messages I)) with
                 | Never => true
                 | Pays y => offered I T rows <? y
                 end)
      end
  end.

(** ** The whole check *)

(** The same instance with any routing. *)
Definition any_routing (I : instance) : instance := {|
  adjacent := adjacent I; shared := shared I; endpoints := endpoints I; times := times I;
  messages := messages I; kind := kind I; route := AnyPath;
  injects := injects I; accepts := accepts I; rounds := rounds I
|}.

(** The steps that evidence proves where steps are no ticks; at most [limit] are tried. *)
Definition needed_steps (I : instance) (limit : Z) (e : evidence) : option Z :=
  match e with
  | Linear steps rows groups =>
      if (steps <=? limit) && linear I steps rows groups then Some steps else None
  | NestedSets m rows =>
      match PM.find m (messages I) with
      | Some (source, destinations) => NestedSets.nested_rows_bound I source destinations rows
      | None => None
      end
  | Refuted steps order proof =>
      match kind I with
      | TimeSlots => None
      | _ =>
          if (steps <=? limit) && Refutation.ordered_refutation I steps order proof
          then Some steps else None
      end
  end.

(** The same where steps are ticks: linear evidence with routes and sets. *)
Definition tick_price (r : price_row) : TickLinear.tick_price :=
  {| TickLinear.at_resource := resource_of (at_place r);
     TickLinear.ticks := range r; TickLinear.cost := amount r |}.

Definition tick_group (g : group) : option TickLinear.tick_group :=
  match g with
  | SetsGroup chosen sets => Some {| TickLinear.members := chosen; TickLinear.weights := sets |}
  | WorthGroup _ _ _ _ => None
  end.

Definition needed_ticks (I : instance) (limit : Z) (e : evidence) : option Z :=
  match e with
  | Linear steps rows groups =>
      match all_some tick_group groups with
      | Some found =>
          if (steps <=? limit) && TickLinear.tick_linear I steps (map tick_price rows) found
          then Some steps else None
      | None => None
      end
  | _ => None
  end.

Definition needed (I : instance) (limit : Z) (e : evidence) : option Z :=
  if in_ticks I then needed_ticks I limit e else needed_steps I limit e.

Definition direction (reduction : bool) (I : instance) : instance :=
  if reduction then reversed I else I.

Definition in_direction (reduction : bool) (s : schedule) : schedule :=
  if reduction then backwards s else s.

Definition scope (any : bool) (I : instance) : instance := if any then any_routing I else I.

(** The steps that no valid schedule within the scope can beat, if [s] is valid and the evidence
    proves them. *)
Definition check (I : instance) (reduction any : bool) (s : schedule) (e : evidence) : option Z :=
  let J := direction reduction I in
  if Verify.verify J (in_direction reduction s)
  then needed (scope any J) (period s) e else None.

(** ** Proofs *)

Lemma read_row_at I T r w : read_row I (incoming I) T r = Some w ->
  exists a b, make_row I (incoming I) (resource_of (at_place r)) a b (amount r) = Some w.
Proof.
  unfold read_row. destruct (range r) as [[a b]|].
  - destruct (kind I); try discriminate;
      (destruct ((1 <=? a) && (a <=? b) && (b <=? T)); [|discriminate]); intros H; now exists a, b.
  - intros H. now exists 1, T.
Qed.

Lemma all_some_in {A B} (f : A -> option B) l r : all_some f l = Some r ->
  forall y, In y r -> exists x, In x l /\ f x = Some y.
Proof.
  revert r. induction l as [|x l IH]; intros r H y Y; simpl in H.
  - inversion H; subst. easy.
  - destruct (f x) as [z|] eqn:F; [|discriminate]. destruct (all_some f l) as [k|]; [|discriminate].
    inversion H; subst. destruct Y as [<-|Y]; [exists x; split; [now left|trivial]|].
    destruct (IH k eq_refl y Y) as (w & W & E). exists w. split; [now right|trivial].
Qed.

(** Every group that is put in place is a fitting one. *)
Definition fitting (I : instance) (l : list interval) (m : PM.t way) : Prop :=
  forall x w, PM.find x m = Some w ->
    match w with
    | BySets sets => sets_fit I l sets = true
    | ByWorth _ _ _ => kind I <> TimeSlots
    end.

Lemma put_fitting I l all w ids m n :
  match w with BySets sets => sets_fit I l sets = true | ByWorth _ _ _ => kind I <> TimeSlots end ->
  put all w ids m = Some n -> fitting I l m -> fitting I l n.
Proof.
  intros W. revert m. induction ids as [|x ids IH]; intros m H F; simpl in H.
  - now inversion H; subst.
  - destruct (PM.mem x all && negb (PM.mem x m)); [|discriminate].
    apply IH in H; trivial. intros y v. destruct (Pos.eq_dec y x) as [->|N].
    + rewrite PM.gss. intros Q. inversion Q; subst. exact W.
    + rewrite PM.gso by trivial. apply F.
Qed.

Lemma put_groups_fitting I l groups m n :
  put_groups I l groups m = Some n -> fitting I l m -> fitting I l n.
Proof.
  revert m. induction groups as [|g groups IH]; intros m H F; simpl in H.
  - now inversion H; subst.
  - destruct g as [chosen sets|chosen worth once blocks].
    + destruct (sets_fit I l _) eqn:S in H; [|discriminate].
      destruct (put _ _ _ _) as [k|] eqn:P in H; [|discriminate].
      apply IH in H; trivial. eapply put_fitting with (2 := P); trivial.
    + destruct (kind I) eqn:K; try discriminate;
        (destruct (put _ _ _ _) as [k|] eqn:P in H; [|discriminate]);
        (apply IH in H; trivial); eapply put_fitting with (2 := P); trivial; congruence.
Qed.

Lemma total_least f (g : positive -> Z) l :
  (forall m source destinations, In (m, (source, destinations)) l ->
     match f m source destinations with Never => False | Pays y => y <= g m end) ->
  match total f l with Never => False | Pays y => y <= sum g (map fst l) end.
Proof.
  induction l as [|[m [source destinations]] l IH]; intros H; simpl; [lia|].
  pose proof (H m source destinations (or_introl eq_refl)) as X.
  destruct (f m source destinations) as [|y]; [easy|].
  specialize (IH (fun a b c J => H a b c (or_intror J))).
  destruct (total f l) as [|z]; [easy|lia].
Qed.

Lemma channel_begins_any I P t l :
  channel_begins (any_routing I) P t l = channel_begins I P t l.
Proof. revert t. induction l as [|h l IH]; intros t; simpl; [reflexivity|]. now rewrite <- IH. Qed.

Lemma delays_any I l : delays (any_routing I) l = delays I l.
Proof. induction l as [|h l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma duration_any I l : duration (any_routing I) l = duration I l.
Proof. induction l as [|h l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma finish_any I x : finish (any_routing I) x = finish I x.
Proof. unfold finish, arrival. now rewrite !delays_any, duration_any. Qed.

Lemma used_any I s q t : Model.used (any_routing I) s q t = Model.used I s q t.
Proof.
  unfold Model.used, Model.all_uses. f_equal. induction (timed s) as [|x k IH]; [reflexivity|].
  simpl flat_map. rewrite IH. f_equal. unfold Model.uses. rewrite duration_any. f_equal.
  unfold begins, arrival. rewrite channel_begins_any, delays_any. reflexivity.
Qed.

(** Any routing allows all that any other one allows. *)
Lemma valid_any_routing I s : Model.valid I s -> Model.valid (any_routing I) s.
Proof.
  intros [R1 R2 R8 K R3 R4 R5 R6]. constructor; trivial.
  - intros x X. specialize (R1 x X). unfold allowed in *. simpl.
    destruct (kind I); try exact R1; destruct R1; split; trivial.
  - intros t B. specialize (R2 t B). setoid_rewrite used_any. exact R2.
  - intros x X. rewrite finish_any. now apply R8.
  - intros m source destinations M x X. destruct (R3 m source destinations M x X) as [A B].
    split; [|exact B]. unfold Model.informed in *. simpl. destruct (kind I); trivial;
      (destruct A as [A|(y & Y & E & F)]; [now left|right; exists y]);
      repeat split; trivial; now rewrite finish_any.
Qed.

Section Linear.
Variables (I : instance) (s : schedule) (T : Z) (rows : list row).
Hypothesis V : valid I s.
Hypothesis L : period s <= T.
Hypothesis P : forall r, In r rows -> 0 <= price r.
Let l := make_intervals rows T.
Let layers := match kind I with StoreAndForward => all_steps I l T | _ => [] end.

Lemma routes_pay_at_least (known : PM.t unit) m source destinations :
  PM.find m (messages I) = Some (source, destinations) ->
  match route_payment I l layers (remember (source_costs I l layers) known) source destinations with
  | Never => False
  | Pays y => y <= message_pays I rows s m
  end.
Proof.
  intros M. unfold route_payment. rewrite recall_remember.
  assert (E : (if by_source I destinations then source_costs I l layers source
    else route_costs I l layers source destinations)
    = route_costs I l (all_steps I l T) source destinations).
  { unfold source_costs, by_source, route_costs, layers, single_costs.
    destruct (kind I), destinations as [|d [|? ?]], (route I); reflexivity. }
  rewrite E. clear E.
  destruct (route_costs I l (all_steps I l T) source destinations) as [c|] eqn:Q.
  - now apply (routes_pay I s m source destinations V M rows T l
      (make_intervals_cover rows T) L P).
  - apply sum_nonneg. intros. now apply pays_nonneg.
Qed.

Lemma message_pays_at_least (known : PM.t unit) ways prepared m source destinations :
  fitting I l ways ->
  (forall x w o b, PM.find x ways = Some (ByWorth w o b) -> prepared = prepare I l) ->
  PM.find m (messages I) = Some (source, destinations) ->
  match message_payment I T l layers (remember (source_costs I l layers) known) prepared ways
          m source destinations with
  | Never => False
  | Pays y => y <= message_pays I rows s m
  end.
Proof.
  intros F W M. unfold message_payment.
  destruct (PM.find m ways) as [[sets|worth once blocks]|] eqn:E.
  - apply sets_pay with T l; trivial; [apply make_intervals_cover|]. apply (F _ _ E).
  - rewrite (W _ _ _ _ E). apply worth_pays; trivial; [apply (F _ _ E)|apply make_intervals_cover].
  - now apply routes_pay_at_least.
Qed.
End Linear.

(** Only groups by worth need the preparation. *)
Lemma put_kinds all w ids m n x v : put all w ids m = Some n -> PM.find x n = Some v ->
  v = w \/ PM.find x m = Some v.
Proof.
  revert m. induction ids as [|y ids IH]; intros m H F; simpl in H.
  - inversion H; subst. now right.
  - destruct (PM.mem y all && negb (PM.mem y m)); [|discriminate].
    destruct (IH _ H F) as [?|Q]; [now left|]. destruct (Pos.eq_dec x y) as [->|N].
    + rewrite PM.gss in Q. left. congruence.
    + rewrite PM.gso in Q by trivial. now right.
Qed.

Lemma put_groups_worth I l groups m n x w o b :
  put_groups I l groups m = Some n -> PM.find x n = Some (ByWorth w o b) ->
  uses_worth groups = true \/ PM.find x m = Some (ByWorth w o b).
Proof.
  revert m. induction groups as [|g groups IH]; intros m H F; simpl in H.
  - inversion H; subst. now right.
  - destruct g as [chosen sets|chosen worth once blocks]; [|now left].
    destruct (sets_fit I l _) in H; [|discriminate].
    destruct (put _ _ _ _) as [k|] eqn:P in H; [|discriminate].
    destruct (IH _ H F) as [?|Q]; [now left|].
    destruct (put_kinds _ _ _ _ _ _ _ P Q) as [?|?]; [discriminate|now right].
Qed.

(** A schedule of fewer steps would have to pay more than it is offered. *)
Theorem linear_sound I steps rows groups s :
  linear I steps rows groups = true -> valid I s -> steps <= period s.
Proof.
  unfold linear. intros H V. destruct (Z_lt_le_dec (period s) steps) as [B|]; [|trivial].
  exfalso. set (T := steps - 1) in *. assert (L : period s <= T) by (unfold T; lia).
  destruct (all_some (read_row I (incoming I) T) rows) as [k|] eqn:E; [|discriminate].
  cbv zeta in H. set (l := make_intervals k T) in *.
  set (layers := match kind I with StoreAndForward => all_steps I l T | _ => [] end) in *.
  destruct (put_groups I l groups (PM.empty way)) as [ways|] eqn:G; [|discriminate].
  apply andb_true_iff in H as [H Q]. apply andb_true_iff in H as [R _].
  apply orb_true_iff in Q as [Q|Q].
  { apply andb_true_iff in Q as [Q D]. apply Z.eqb_eq in Q.
    pose proof (delivery_takes_a_step I s (rule_4_all I s V) D). lia. }
  assert (Z : forall r, In r k -> sized I s r).
  { intros r J. destruct (all_some_in _ _ _ E r J) as (x & _ & X).
    destruct (read_row_at _ _ _ _ X) as (a & b & Y). now apply (make_row_sized _ _ _ _ _ _ s Y). }
  assert (P : forall r, In r k -> 0 <= price r) by (intros r J; apply (Z r J)).
  pose proof (paid_at_most_offered I s T k R L Z) as O.
  match type of Q with context [total ?f ?e] =>
    assert (X : match total f e with Never => False | Pays y =>
      y <= sum (message_pays I k s) (map fst e) end) end.
  { apply total_least. intros m source destinations J. apply PM.elements_complete in J.
    apply message_pays_at_least; trivial.
    - apply (put_groups_fitting _ _ _ _ _ G). intros x w F. now rewrite PM.gempty in F.
    - intros x w o b F. destruct (put_groups_worth _ _ _ _ _ _ _ _ _ G F) as [U|U].
      + now rewrite U.
      + now rewrite PM.gempty in U. }
  destruct (total _ _) as [|y]; [easy|]. apply Z.ltb_lt in Q. lia.
Qed.

(** Evidence for a number of steps: every valid schedule has as many. *)
Theorem needed_steps_sound I limit e steps s :
  needed_steps I limit e = Some steps -> valid I s -> steps <= period s.
Proof.
  intros H V. destruct e as [n rows groups|m rows|n order proof]; unfold needed_steps in H.
  - destruct ((n <=? limit) && linear I n rows groups) eqn:E; [|discriminate].
    apply andb_true_iff in E as [_ E]. inversion H; subst. now apply linear_sound with (1 := E).
  - destruct (PM.find m (messages I)) as [[source destinations]|] eqn:M; [|discriminate].
    exact (NestedSets.nested_rows_need I s m source destinations _ _ V M H).
  - assert (K : kind I <> TimeSlots) by (intros E; rewrite E in H; discriminate).
    assert (E : (n <=? limit) && Refutation.ordered_refutation I n order proof = true /\ n = steps)
      by (destruct (kind I); [| |contradiction]; destruct (_ && _); inversion H; auto).
    destruct E as [E <-]. apply andb_true_iff in E as [_ E].
    now apply (Refutation.refutation_sound_plain I n order proof s E).
Qed.

Theorem needed_sound I limit e steps s :
  needed I limit e = Some steps -> Model.valid I s -> steps <= period s.
Proof.
  unfold needed. intros H V. destruct (in_ticks I) eqn:N.
  - destruct e as [n rows groups| |]; try discriminate. simpl in H.
    destruct (all_some tick_group groups) as [found|]; [|discriminate].
    destruct ((n <=? limit) && _) eqn:E in H; [|discriminate]. injection H as <-.
    apply andb_true_iff in E as [_ E].
    exact (TickLinear.tick_linear_sound I n _ _ s E V).
  - apply needed_steps_sound with (1 := H). now apply plain_valid.
Qed.

(** What a valid schedule is, by the kind of the collective. *)
Definition is_valid (reduction : bool) (I : instance) (s : schedule) : Prop :=
  if reduction then valid_reduction I s else Model.valid I s.

(** The same with paths of any length. *)
Definition is_valid_any (reduction : bool) (I : instance) (s : schedule) : Prop :=
  Model.valid (any_routing (direction reduction I)) (in_direction reduction s).

Lemma is_valid_direction reduction I s :
  is_valid reduction I s <-> Model.valid (direction reduction I) (in_direction reduction s).
Proof. destruct reduction; reflexivity. Qed.

Lemma valid_is_valid_any reduction I s : is_valid reduction I s -> is_valid_any reduction I s.
Proof. rewrite is_valid_direction. apply valid_any_routing. Qed.

Lemma period_direction reduction s : period (in_direction reduction s) = period s.
Proof.
  destruct reduction; [|reflexivity]. unfold period, in_direction, backwards.
  now rewrite rev_length, map_length.
Qed.

(** The theorem: what the checker accepts is valid, and no valid schedule has fewer steps; if the
    scope is any routing, none with paths of any length either. *)
Theorem check_sound I reduction any s e steps :
  check I reduction any s e = Some steps ->
  is_valid reduction I s
  /\ (forall other, is_valid reduction I other -> steps <= period other)
  /\ (any = true -> forall other, is_valid_any reduction I other -> steps <= period other).
Proof.
  unfold check. intros H. destruct (Verify.verify _ _) eqn:Q in H; [|discriminate].
  apply Verify.verify_sound in Q. split; [now apply is_valid_direction|].
  assert (A : forall other, Model.valid (scope any (direction reduction I))
    (in_direction reduction other) -> steps <= period other).
  { intros other V. rewrite <- (period_direction reduction).
    now apply needed_sound with (1 := H). }
  split.
  - intros other V. apply A. apply is_valid_direction in V. destruct any; [|exact V].
    now apply valid_any_routing.
  - intros -> other V. now apply A.
Qed.

(** ** Allreduces and scans *)

Definition check_sums (I : instance) (c : Allreduce.collective) (members : Allreduce.groups)
    (any : bool) (s : schedule) (e : AllreduceCheck.sums_evidence evidence) : option Z :=
  AllreduceCheck.check_sums evidence needed_steps I c members any s e.

(** The same theorem for allreduces and scans. *)
Definition check_sums_sound :=
  AllreduceCheck.check_sums_sound evidence needed_steps needed_steps_sound.
