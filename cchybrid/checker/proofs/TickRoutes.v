(** Routes in ticks: the transfers of a message contain a walk from the source to each destination.

    Each hop of the walk begins when the message has arrived, in wormhole switching when its head
    has; it pays the price of the tick in which it begins, and ends within the last tick. So the
    message pays at least the cheapest such walk to the most expensive destination.

    Costs of walks are lists of pairs for each node: a walk may arrive in this tick, and have paid
    this amount. [search] computes them, unproved. [closed] checks that every hop from such a pair
    leads to one that is neither later nor dearer than what it costs; [tick_routes_pay] proves that
    then no schedule pays less. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Facts Prices Walks Paths Offers Verify TickOffers Routes Sets TickSets.
Import ListNotations.
Open Scope Z_scope.

(** ** Hops *)

(** A hop from [tail] to [head]: the message is there so many ticks after it begins ([away]), and
    its channel is used until [whole] ticks after; its price from a tick to a tick. *)
Record tick_edge :=
  { tail : node; head : node; away : Z; whole : Z; costs : list (Z * Z * Z) }.

(** A node from which a message is sent on only after it has arrived. *)
Definition waits (I : instance) (v : node) : bool :=
  match kind I with StoreAndForward => true | _ => is_endpoint I v end.

Definition make_edge (I : instance) (l : list interval) (h : hop) : tick_edge :=
  let ports := lowest_ports I l h in
  {| tail := fst h; head := snd h;
     away := latency I h + if waits I (snd h) then length_of I h else 0;
     whole := latency I h + length_of I h;
     costs := map (fun i => (from i, to i, hop_price I (prices i) h + ports)) l |}.

Definition tick_edges (I : instance) (l : list interval) : list tick_edge :=
  map (fun each => make_edge I l (fst each, fst (snd each))) (all_channels I).

(** Whether a walk may go on from a node. *)
Definition passes (I : instance) (source : node) (stops : node -> bool) (v : node) : bool :=
  match kind I with
  | StoreAndForward => true
  | _ => Pos.eqb v source || negb (is_endpoint I v) || stops v
  end.

(** ** Pairs *)

(** In [(t, p)] a walk has arrived before tick [t], and has paid [p]. *)
Definition pair_list : Type := list (Z * Z).
Definition pairs : Type := PM.t pair_list.

Definition pairs_of (c : pairs) (v : node) : pair_list :=
  match PM.find v c with Some l => l | None => [] end.

(** Neither later nor dearer. *)
Definition better (x y : Z * Z) : bool := (fst x <=? fst y) && (snd x <=? snd y).

Definition is_beaten (y : Z * Z) (l : pair_list) : bool := existsb (fun x => better x y) l.

(** Where a hop from a pair leads, in each interval of prices. *)
Definition lead (T : Z) (e : tick_edge) (x : Z * Z) : pair_list :=
  flat_map (fun c =>
    let '(since, until, price) := c in
    let t := Z.max (fst x) since in
    if (t <=? until) && (t + whole e <=? T + 1) then [(t + away e, snd x + price)] else [])
    (costs e).

(** Every hop leads to a pair that is beaten. *)
Definition closed (T : Z) (edges : list tick_edge) (c : pairs) : bool :=
  forallb (fun e =>
    let there := pairs_of c (head e) in
    forallb (fun x => forallb (fun y => is_beaten y there) (lead T e x)) (pairs_of c (tail e)))
    edges.

(** Put a pair in its place, also among the new ones. *)
Definition insert (v : node) (found : pairs * pairs) (y : Z * Z) : pairs * pairs :=
  let l := pairs_of (fst found) v in
  if is_beaten y l then found
  else (PM.add v (y :: filter (fun x => negb (better y x)) l) (fst found),
        PM.add v (y :: pairs_of (snd found) v) (snd found)).

Definition next_hops (T : Z) (edges : list tick_edge) (found new : pairs) : pairs * pairs :=
  fold_left (fun found e =>
    fold_left (fun found x => fold_left (insert (head e)) (lead T e x) found)
      (pairs_of new (tail e)) found) edges (found, PM.empty _).

Fixpoint search {A} (fuel : list A) (T : Z) (edges : list tick_edge) (found new : pairs) : pairs :=
  match fuel with
  | [] => found
  | _ :: rest =>
      if PM.is_empty new then found
      else let '(found, new) := next_hops T edges found new in search rest T edges found new
  end.

Definition cheapest_pair (l : pair_list) : Z :=
  match l with
  | [] => 0
  | x :: rest => fold_left (fun m y => Z.min m (snd y)) rest (snd x)
  end.

(** The costs of walks in ticks; [None] if they were not found. *)
Definition walk_costs (I : instance) (T : Z) (edges : list tick_edge) (source : node)
    (stops : node -> bool) : option (PM.t Z) :=
  let open := filter (fun e => passes I source stops (tail e)) edges in
  let first := PM.add source [(1, 0)] (PM.empty pair_list) in
  let c := search (PM.elements (adjacent I)) T open first first in
  if is_beaten (1, 0) (pairs_of c source) && closed T open c
  then Some (PM.map cheapest_pair c) else None.

(** ** What a message pays at least *)

(** On what the costs of its routes depend, besides its source. *)
Definition route_key (I : instance) (destinations : list node) : list node :=
  match kind I, route I, destinations with
  | StoreAndForward, _, _ => []
  | _, Table _ _, _ => destinations
  | _, _, [_] => []
  | _, _, _ => destinations
  end.

(** [edges] is [tick_edges I l]. *)
Definition tick_route_costs (I : instance) (l : list interval) (T : Z) (edges : list tick_edge)
    (source : node) (key : list node) : option (PM.t Z) :=
  match kind I, route I, key with
  | StoreAndForward, _, _ => walk_costs I T edges source everywhere
  | _, Table _ _, [d] => single_costs I (low_hop I l) source d
  | _, _, _ => walk_costs I T edges source (is_stop key)
  end.

(** [known] has the costs of the routes, if they were found. *)
Definition tick_route_payment (I : instance) (l : list interval) (known : option (PM.t Z))
    (source : node) (destinations : list node) : payment :=
  match known with
  | Some c => dearest I l c source destinations
  | None => Pays 0
  end.

(** ** Proofs: closed lists of pairs *)

(** A pair of a node is neither later nor dearer. *)
Definition beaten (c : pairs) (v : node) (t p : Z) : Prop :=
  exists x, In x (pairs_of c v) /\ fst x <= t /\ snd x <= p.

Lemma is_beaten_sound c v t p : is_beaten (t, p) (pairs_of c v) = true -> beaten c v t p.
Proof.
  unfold is_beaten. rewrite existsb_exists. intros (x & X & B). exists x. split; trivial.
  unfold better in B. apply andb_true_iff in B as [B1 B2]. apply Z.leb_le in B1, B2. now split.
Qed.

Lemma beaten_later c v t p u q : beaten c v t p -> t <= u -> p <= q -> beaten c v u q.
Proof. intros (x & X & A & B) L M. exists x. split; trivial. lia. Qed.

Lemma cheapest_pair_least l x : In x l -> cheapest_pair l <= snd x.
Proof.
  destruct l as [|y l]; [easy|]. simpl.
  destruct (fold_least (fun y : Z * Z => snd y) l (snd y)) as (A & B & _).
  intros [->|X]; [exact A|now apply B].
Qed.

Lemma beaten_costs c v t p : beaten c v t p -> at_most (PM.map cheapest_pair c) v p.
Proof.
  intros (x & X & _ & B). unfold pairs_of in X. unfold at_most. rewrite find_map.
  destruct (PM.find v c) as [l|]; [|easy]. exists (cheapest_pair l). split; [reflexivity|].
  apply cheapest_pair_least in X. lia.
Qed.

Section Message.
Variables (I : instance) (s : schedule) (m : positive) (source : node) (destinations : list node).
Hypothesis S : kind I <> TimeSlots.
Hypothesis F : times_fit I = true.
Hypothesis V : Model.valid I s.
Hypothesis M : PM.find m (messages I) = Some (source, destinations).
Variables (rows : list row) (T : Z) (l : list interval).
Hypothesis C : covers rows T l.
Hypothesis W : period s <= T.
Hypothesis P : forall r, In r rows -> 0 <= price r.

Section Closed.
Variable stops : node -> bool.
Let open := filter (fun e => passes I source stops (tail e)) (tick_edges I l).
Variable c : pairs.
Hypothesis B : beaten c source 1 0.
Hypothesis Q : closed T open c = true.

(** A hop that begins in a tick leads to a pair. *)
Lemma hop_beaten a b k t p : channel I a b k -> passes I source stops a = true ->
  1 <= t -> t + latency I (a, b) + length_of I (a, b) <= T + 1 -> beaten c a t p ->
  beaten c b (t + latency I (a, b) + if waits I b then length_of I (a, b) else 0)
    (p + (price_at rows (Channel (link I (a, b))) t + lowest_ports I l (a, b))).
Proof.
  intros H O L E (x & X & X1 & X2).
  pose proof (latency_nonneg I F (a, b)) as N. pose proof (length_positive I (a, b)) as N'.
  destruct (C t ltac:(lia)) as (i & J & Ji & R).
  assert (G : In (make_edge I l (a, b)) open).
  { apply filter_In. split; [|exact O]. unfold tick_edges. apply in_map_iff.
    exists (a, (b, k)). split; [reflexivity|]. now apply all_channels_in. }
  unfold closed in Q. rewrite forallb_forall in Q. specialize (Q _ G).
  cbn [make_edge tail head fst snd] in Q. rewrite forallb_forall in Q. specialize (Q x X).
  rewrite forallb_forall in Q.
  set (y := (Z.max (fst x) (from i) + away (make_edge I l (a, b)),
    snd x + (hop_price I (prices i) (a, b) + lowest_ports I l (a, b)))).
  assert (Y : In y (lead T (make_edge I l (a, b)) x)).
  { unfold lead. apply in_flat_map.
    exists (from i, to i, hop_price I (prices i) (a, b) + lowest_ports I l (a, b)). split.
    - unfold make_edge. cbn [costs]. apply in_map_iff. now exists i.
    - replace (_ && _) with true; [now left|]. symmetry. apply andb_true_iff.
      cbn [make_edge whole]. split; apply Z.leb_le; lia. }
  apply Q, is_beaten_sound in Y. eapply beaten_later; [exact Y| |].
  - cbn [make_edge away snd]. lia.
  - rewrite R. unfold hop_price. lia.
Qed.

(** What a transfer that begins in tick [t] pays for hops, with ports hop by hop. *)
Definition hops_pay (t : Z) (k : list hop) : Z :=
  sum (fun u => price_at rows (fst u) (snd u)) (channel_begins I (period s) t k)
  + sum (lowest_ports I l) k.

Lemma hops_pay_cons t h k :
  hops_pay t (h :: k)
  = price_at rows (Channel (link I h)) t + lowest_ports I l h + hops_pay (t + latency I h) k.
Proof.
  unfold hops_pay. cbn [channel_begins sum fst snd]. rewrite slot_same, delay_latency by trivial.
  lia.
Qed.

Lemma last_hop a b k t p : channel I a b k -> passes I source stops a = true -> 1 <= t ->
  t + delays I [(a, b)] + duration I [(a, b)] <= T + 1 -> beaten c a t p ->
  beaten c b (t + delays I [(a, b)] + duration I [(a, b)]) (p + hops_pay t [(a, b)]).
Proof.
  intros H O L E D. rewrite hops_pay_cons. unfold hops_pay. cbn [delays duration] in *.
  rewrite delay_latency in * by trivial.
  assert (G : length_of I (a, b) = Z.max (snd (time I (a, b))) 1) by (unfold length_of; lia).
  pose proof (length_positive I (a, b)).
  eapply beaten_later; [eapply (hop_beaten a b k t p); trivial; lia| |].
  - destruct (waits I b); lia.
  - simpl. lia.
Qed.

(** The rest of a path leads to a pair of its last node. *)
Lemma path_beaten rest : kind I <> StoreAndForward -> forall pre a t p,
  rest <> [] -> simple I (pre ++ a :: rest) ->
  (pre <> [] \/ passes I source stops a = true) -> 1 <= t ->
  t + delays I (hops (a :: rest)) + duration I (hops (a :: rest)) <= T + 1 -> beaten c a t p ->
  beaten c (last_node (a :: rest))
    (t + delays I (hops (a :: rest)) + duration I (hops (a :: rest)))
    (p + hops_pay t (hops (a :: rest))).
Proof.
  intros K. induction rest as [|b rest IH]; intros pre a t p N A O L E D; [easy|].
  assert (R : passes I source stops a = true).
  { destruct O as [O|O]; trivial. unfold passes. destruct (kind I); trivial;
      (rewrite (simple_inner I pre a b rest A O); cbn [negb]; now rewrite orb_true_r). }
  destruct (simple_hop I pre a b rest A) as (k & H).
  destruct rest as [|b2 rest]; [now apply (last_hop a b k)|].
  set (r := b2 :: rest) in *.
  change (hops (a :: b :: r)) with ((a, b) :: hops (b :: r)) in *.
  change (last_node (a :: b :: r)) with (last_node (b :: r)).
  cbn [delays] in *. rewrite hops_pay_cons. rewrite delay_latency in * by trivial.
  assert (G : length_of I (a, b) <= duration I ((a, b) :: hops (b :: r)))
    by (apply duration_longest; now left).
  assert (G' : duration I (hops (b :: r)) <= duration I ((a, b) :: hops (b :: r)))
    by (cbn [duration]; lia).
  pose proof (delays_nonneg I S F (hops (b :: r))) as G2.
  pose proof (latency_nonneg I F (a, b)) as G3.
  assert (X : is_endpoint I b = false).
  { apply (simple_inner I (pre ++ [a]) b b2 rest); [now rewrite <- app_assoc|now destruct pre]. }
  assert (Y : waits I b = false) by (unfold waits; destruct (kind I); trivial; contradiction).
  pose proof (hop_beaten a b k t p H R L ltac:(lia) D) as Z. rewrite Y, Z.add_0_r in Z.
  eapply beaten_later.
  - eapply (IH (pre ++ [a]) b (t + latency I (a, b))); [easy| | |lia| |exact Z].
    + now rewrite <- app_assoc.
    + left. now destruct pre.
    + lia.
  - lia.
  - lia.
Qed.

(** A transfer from a pair leads to one. *)
Lemma transfer_beaten x p : In x (timed s) -> passes I source stops (sender x) = true ->
  beaten c (sender x) (fst x) p ->
  beaten c (receiver x) (finish I x + 1) (p + hops_pay (fst x) (hops (nodes (snd x)))).
Proof.
  intros X O D. pose proof (tick_steps I s T S F V W x X) as (T1 & T2 & T3 & T4).
  pose proof (rule_1 I s V x X) as A. rewrite T4. unfold sender, receiver in *.
  assert (kind I <> StoreAndForward \/ kind I = StoreAndForward) as [K|K]
    by (destruct (kind I); auto; left; easy).
  - apply allowed_simple in A; trivial.
    destruct (nodes (snd x)) as [|a [|b rest]]; try (destruct A as [A _]; simpl in A; lia).
    apply (path_beaten (b :: rest) K [] a); trivial; [easy|now right|lia].
  - unfold allowed in A. rewrite K in A. destruct A as (L & _ & H).
    destruct (nodes (snd x)) as [|a [|b [|? ?]]]; try discriminate L.
    destruct (H a b (or_introl eq_refl)) as (k & H').
    change (hops [a; b]) with [(a, b)] in *. apply (last_hop a b k); trivial. lia.
Qed.

Hypothesis senders : forall x, In x (transfers m s) -> passes I source stops (sender x) = true.

(** What a chain of transfers pays for its hops, and in wormhole switching for its two ports. *)
Definition chain_pays_in_ticks (k : list timed_transfer) (v : node) : Prop :=
  let hop_sum := sum (fun x => hops_pay (fst x) (hops (nodes (snd x)))) k in
  match kind I with
  | StoreAndForward => hop_sum
  | _ => Z.max 0 (low l (Inject source)) + hop_sum + Z.max 0 (low l (Accept v))
  end <= sum (tick_pays I rows (period s)) k.

Lemma transfer_pays x : In x (timed s) ->
  match kind I with
  | StoreAndForward => 0
  | _ => Z.max 0 (low l (Inject (sender x))) + Z.max 0 (low l (Accept (receiver x)))
  end + hops_pay (fst x) (hops (nodes (snd x))) <= tick_pays I rows (period s) x.
Proof.
  intros X. pose proof (tick_pays_channels I s T rows l S F V W C P x X) as H.
  pose proof (rule_1 I s V x X) as A. unfold hops_pay.
  destruct (kind I) eqn:K; [| |contradiction].
  - assert (E : sum (lowest_ports I l) (hops (nodes (snd x))) = 0).
    { apply sum_all_zero. intros h _. unfold lowest_ports. now rewrite K. }
    lia.
  - unfold allowed in A. rewrite K in A. destruct A as (L & _). unfold sender, receiver in H.
    destruct (nodes (snd x)) as [|a [|b [|? ?]]]; try discriminate L.
    unfold lowest_ports. rewrite K. unfold first_node, last_node in H.
    cbn [hops sum fst snd hd List.last] in *. lia.
Qed.

(** Every transfer ends a chain of transfers, whose price is no less than that of a pair. *)
Lemma chain_beaten x : In x (transfers m s) ->
  exists k, NoDup k /\ incl k (transfers m s) /\ (forall y, In y k -> fst y <= fst x)
    /\ beaten c (receiver x) (finish I x + 1)
         (sum (fun x => hops_pay (fst x) (hops (nodes (snd x)))) k)
    /\ chain_pays_in_ticks k (receiver x).
Proof.
  enough (H : forall n x, fst x < Z.of_nat n -> In x (transfers m s) ->
    exists k, NoDup k /\ incl k (transfers m s) /\ (forall y, In y k -> fst y <= fst x)
      /\ beaten c (receiver x) (finish I x + 1)
           (sum (fun x => hops_pay (fst x) (hops (nodes (snd x)))) k)
      /\ chain_pays_in_ticks k (receiver x)).
  { intros X. apply (H (Z.to_nat (fst x + 1)) x); trivial.
    apply (transfers_timed m), (tick_steps I s T S F V W) in X. lia. }
  clear x. induction n as [|n IH]; intros x L X;
    pose proof (transfers_timed m s x X) as J;
    pose proof (tick_steps I s T S F V W x J) as (T1 & T2 & T3 & T4); [lia|].
  pose proof (transfer_pays x J) as Y.
  destruct (rule_3 I s V _ _ _ M x X) as (R & _). unfold informed in R.
  assert (R' : sender x = source \/ exists y, In y (transfers m s) /\ receiver y = sender x
    /\ finish I y < fst x) by (destruct (kind I); [exact R|exact R|contradiction]).
  destruct R' as [R'|(y & Y1 & Y2 & Y3)].
  - exists [x]. repeat split.
    + constructor; [easy|constructor].
    + intros z [<-|[]]; trivial.
    + intros z [<-|[]]; lia.
    + cbn [sum]. rewrite Z.add_0_r, <- (Z.add_0_l (hops_pay _ _)).
      apply transfer_beaten; trivial; [now apply senders|]. rewrite R'.
      apply beaten_later with 1 0; trivial. lia.
    + unfold chain_pays_in_ticks. cbn [sum]. rewrite R' in Y. destruct (kind I); lia.
  - pose proof (tick_steps I s T S F V W y (transfers_timed m s y Y1)) as (U1 & U2 & U3 & U4).
    destruct (IH y) as (k & K1 & K2 & K3 & K4 & K5); [lia|trivial|].
    exists (k ++ [x]). repeat split.
    + apply distinct_snoc; trivial. intros Z. apply K3 in Z. lia.
    + intros z Z. apply in_app_iff in Z as [Z|[<-|[]]]; auto.
    + intros z Z. apply in_app_iff in Z as [Z|[<-|[]]]; [apply K3 in Z; lia|lia].
    + rewrite sum_app. cbn [sum]. rewrite Z.add_0_r.
      apply transfer_beaten; trivial; [now apply senders|]. rewrite <- Y2.
      eapply beaten_later; [exact K4|lia|lia].
    + unfold chain_pays_in_ticks in *. cbv zeta in *. rewrite !sum_app. cbn [sum].
      destruct (kind I); lia.
Qed.

(** Every destination has a pair whose price is no more than what the message pays. *)
Lemma destination_beaten d : In d destinations -> d <> source ->
  exists y, PM.find d (PM.map cheapest_pair c) = Some y
    /\ y + port_prices I l source d <= tick_message_pays I rows s m.
Proof.
  intros D N. destruct (rule_4_all I s V _ _ _ M d D) as [?|R]; [congruence|].
  unfold receivers in R. apply in_map_iff in R as (x & <- & X).
  destruct (chain_beaten x X) as (k & K1 & K2 & _ & K4 & K5).
  apply beaten_costs in K4 as (y & Y1 & Y2). exists y. split; trivial.
  assert (K6 : sum (tick_pays I rows (period s)) k <= tick_message_pays I rows s m).
  { apply sum_incl; trivial. intros. now apply tick_pays_nonneg. }
  unfold chain_pays_in_ticks in K5. unfold port_prices. cbv zeta in K5. destruct (kind I); lia.
Qed.

End Closed.

Lemma receiver_is_destination_in_ticks x :
  kind I <> StoreAndForward -> In x (transfers m s) -> In (receiver x) destinations.
Proof.
  intros K J. destruct (rule_3 _ _ V m source destinations M x J) as [_ R].
  unfold may_receive in R. destruct (kind I); trivial; contradiction.
Qed.

(** Every transfer begins at the source, or at a destination. *)
Lemma sender_in_ticks x : kind I <> StoreAndForward -> In x (transfers m s) ->
  sender x = source \/ In (sender x) destinations.
Proof.
  intros K X. destruct (rule_3 I s V _ _ _ M x X) as (R & _). unfold informed in R.
  assert (R' : sender x = source \/ exists y, In y (transfers m s) /\ receiver y = sender x
    /\ finish I y < fst x) by (destruct (kind I); [exact R|contradiction|contradiction]).
  destruct R' as [R'|(y & Y & <- & _)]; [now left|right].
  now apply receiver_is_destination_in_ticks.
Qed.

(** If there is one destination, at the source. *)
Lemma single_sender_in_ticks d x : kind I <> StoreAndForward -> destinations = [d] ->
  In x (transfers m s) -> sender x = source.
Proof.
  intros K E X. destruct (sender_in_ticks x K X) as [|R]; trivial. exfalso.
  pose proof (receiver_is_destination_in_ticks x K X) as Q. rewrite E in R, Q.
  destruct R as [R|[]], Q as [Q|[]].
  apply (simple_ends I (nodes (snd x))).
  - apply allowed_simple; trivial. apply (rule_1 I s V). now apply (transfers_timed m).
  - change (receiver x = sender x). congruence.
Qed.

Lemma walk_costs_pay stops c :
  walk_costs I T (tick_edges I l) source stops = Some c ->
  (forall x, In x (transfers m s) -> passes I source stops (sender x) = true) ->
  forall d, In d destinations -> exists y, PM.find d c = Some y
    /\ (d <> source -> y + port_prices I l source d <= tick_message_pays I rows s m).
Proof.
  unfold walk_costs. cbv zeta. intros H O d D.
  destruct (_ && _) eqn:E in H; [|discriminate]. injection H as <-.
  apply andb_true_iff in E as [B Q]. apply is_beaten_sound in B.
  destruct (Pos.eq_dec d source) as [->|N].
  - apply beaten_costs in B as (y & Y & _). now exists y.
  - destruct (destination_beaten stops _ B Q O d D N) as (y & Y1 & Y2). exists y. now split.
Qed.

(** With a table, one destination is reached by its path. *)
Lemma table_costs_pay d c : kind I <> StoreAndForward -> destinations = [d] ->
  single_costs I (low_hop I l) source d = Some c ->
  exists y, PM.find d c = Some y
    /\ (d <> source -> y + port_prices I l source d <= tick_message_pays I rows s m).
Proof.
  intros K E Q. destruct (Pos.eq_dec d source) as [->|N].
  - destruct (single_costs_source _ _ _ _ Q) as (y & Y & _). now exists y.
  - destruct (rule_4_all I s V _ _ _ M d) as [?|R]; [rewrite E; now left|congruence|].
    unfold receivers in R. apply in_map_iff in R as (x & R & X).
    pose proof (transfers_timed m s x X) as J. pose proof (rule_1 I s V x J) as A.
    pose proof (single_sender_in_ticks d x K E X) as O.
    destruct (single_costs_least I (low_hop I l) source d c (nodes (snd x)) K A O R N Q)
      as (y & Y1 & Y2).
    exists y. split; trivial. intros _.
    pose proof (tick_pays_channels I s T rows l S F V W C P x J) as H. rewrite O, R in H.
    pose proof (tick_steps I s T S F V W x J) as (T1 & T2 & T3 & T4).
    pose proof (duration_positive I (hops (nodes (snd x)))) as T5.
    assert (H' : sum (low_hop I l) (hops (nodes (snd x)))
      <= sum (fun u => price_at rows (fst u) (snd u))
           (channel_begins I (period s) (fst x) (hops (nodes (snd x))))).
    { apply (channels_pay I T rows S F); try lia.
      intros h t _ B. now apply low_price with T. }
    assert (G : tick_pays I rows (period s) x <= tick_message_pays I rows s m).
    { apply (sum_single (tick_pays I rows (period s))); trivial.
      intros. now apply tick_pays_nonneg. }
    unfold port_prices. destruct (kind I); [|contradiction|contradiction]. lia.
Qed.

Lemma route_costs_pay c :
  tick_route_costs I l T (tick_edges I l) source (route_key I destinations) = Some c ->
  forall d, In d destinations -> exists y, PM.find d c = Some y
    /\ (d <> source -> y + port_prices I l source d <= tick_message_pays I rows s m).
Proof.
  intros H.
  assert (kind I <> StoreAndForward \/ kind I = StoreAndForward) as [K|K]
    by (destruct (kind I); auto; left; easy).
  - assert (G : (exists d, destinations = [d] /\ single_costs I (low_hop I l) source d = Some c)
      \/ exists key, walk_costs I T (tick_edges I l) source (is_stop key) = Some c
         /\ (key = destinations \/ exists d, destinations = [d])).
    { unfold tick_route_costs, route_key in H. destruct (kind I); [|contradiction|contradiction].
      destruct (route I), destinations as [|d [|d2 rest]];
        ((left; eexists; split; [reflexivity|exact H])
         || (right; eexists; split; [exact H|]; (now left) || (right; now eexists))). }
    destruct G as [(d & E & Q)|(key & Q & E)].
    + intros d' D. rewrite E in D. destruct D as [<-|[]]. now apply table_costs_pay.
    + apply (walk_costs_pay (is_stop key) c Q). intros x X.
      assert (R : Pos.eqb (sender x) source || is_stop key (sender x) = true).
      { destruct E as [->|(d & E)].
        - destruct (sender_in_ticks x K X) as [->|R]; [now rewrite Pos.eqb_refl|].
          rewrite (stop_in _ _ R). apply orb_true_r.
        - rewrite (single_sender_in_ticks d x K E X). now rewrite Pos.eqb_refl. }
      unfold passes. destruct (kind I); trivial;
        (apply orb_true_iff in R as [R|R]; rewrite R; trivial; apply orb_true_r).
  - unfold tick_route_costs in H. rewrite K in H. apply (walk_costs_pay _ c H).
    intros x X. unfold passes. now rewrite K.
Qed.

Lemma routes_pay_in_ticks :
  match tick_route_payment I l
    (tick_route_costs I l T (tick_edges I l) source (route_key I destinations))
    source destinations with
  | Never => False
  | Pays y => y <= tick_message_pays I rows s m
  end.
Proof.
  assert (Z : 0 <= tick_message_pays I rows s m)
    by (apply sum_nonneg; intros; now apply tick_pays_nonneg).
  unfold tick_route_payment.
  destruct (tick_route_costs _ _ _ _ _ _) as [c|] eqn:H; [|exact Z].
  apply dearest_least; trivial. now apply route_costs_pay.
Qed.

End Message.

(** A message pays at least its cheapest routes in ticks. *)
Theorem tick_routes_pay I s T rows l m source destinations :
  kind I <> TimeSlots -> times_fit I = true -> Model.valid I s -> period s <= T ->
  covers rows T l -> (forall r, In r rows -> 0 <= price r) ->
  PM.find m (messages I) = Some (source, destinations) ->
  match tick_route_payment I l
    (tick_route_costs I l T (tick_edges I l) source (route_key I destinations))
    source destinations with
  | Never => False
  | Pays y => y <= tick_message_pays I rows s m
  end.
Proof. intros. now apply routes_pay_in_ticks. Qed.
