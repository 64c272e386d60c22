(** Weighted sets of nodes in ticks: what a message pays at least because it enters them.

    As in Sets.v, but a transfer pays each channel in the tick in which it begins to use it, and a
    port perhaps in another one. So the weights of the sets that a channel leads into add up to no
    more than its price in any tick; in store-and-forward switching the lowest prices of the ports
    at both ends count, too. [tick_sets_fit] is the check, [tick_sets_pay] the theorem. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Facts Prices Offers Verify TickOffers Routes Sets.
Import ListNotations.
Open Scope Z_scope.

(** In store-and-forward switching: the lowest prices of the ports at both ends of a channel. *)
Definition lowest_ports (I : instance) (l : list interval) (h : hop) : Z :=
  match kind I with
  | StoreAndForward => low l (Inject (fst h)) + low l (Accept (snd h))
  | _ => 0
  end.

(** No weight is negative, and no channel into sets costs less than they weigh. *)
Definition tick_sets_fit (I : instance) (l : list interval) (sets : list weighted_set) : bool :=
  forallb (fun each => 0 <=? fst each) sets
  && forallb (fun each =>
       let h := (fst each, fst (snd each)) in
       let weight := entered sets h - lowest_ports I l h in
       forallb (fun i => weight <=? hop_price I (prices i) h) l) (all_channels I).

Section Ticks.
Variables (I : instance) (s : schedule) (T : Z) (rows : list row) (l : list interval).
Hypothesis S : kind I <> TimeSlots.
Hypothesis F : times_fit I = true.
Hypothesis V : Model.valid I s.
Hypothesis W : period s <= T.
Hypothesis C : covers rows T l.
Hypothesis N : forall r, In r rows -> 0 <= price r.

Lemma tick_steps x : In x (timed s) ->
  1 <= fst x /\ fst x <= finish I x /\ finish I x <= T
  /\ finish I x + 1 = fst x + delays I (hops (nodes (snd x))) + duration I (hops (nodes (snd x))).
Proof.
  intros X. pose proof (rule_8_end I s V x X) as E. apply timed_steps in X.
  rewrite finish_arrival, arrival_delays in * by trivial.
  pose proof (delays_nonneg I S F (hops (nodes (snd x)))).
  pose proof (duration_positive I (hops (nodes (snd x)))). lia.
Qed.

(** What costs no more than channels in any tick costs no more than a transfer pays for them. *)
Lemma channels_pay (f : hop -> Z) P k :
  (forall h t, In h k -> 1 <= t <= T -> f h <= price_at rows (Channel (link I h)) t) ->
  forall t, 1 <= t -> t + delays I k <= T ->
  sum f k <= sum (fun u => price_at rows (fst u) (snd u)) (channel_begins I P t k).
Proof.
  induction k as [|h k IH]; intros H t B E; [simpl; lia|]. cbn [channel_begins sum delays] in *.
  pose proof (delays_nonneg I S F k). pose proof (latency_nonneg I F h).
  rewrite delay_latency, slot_same in * by trivial. cbn [fst snd].
  specialize (H h t (or_introl eq_refl)) as Q.
  assert (R : sum f k <= sum (fun u => price_at rows (fst u) (snd u))
    (channel_begins I P (t + latency I h) k)).
  { apply IH; try lia. intros g j J. apply H. now right. }
  lia.
Qed.

Lemma low_port q t : 1 <= t <= T -> Z.max 0 (low l q) <= price_at rows q t.
Proof.
  intros B. apply Z.max_lub; [now apply price_nonneg|]. now apply low_price with T.
Qed.

(** What a transfer pays: for its channels, and at least the lowest prices for its ports. *)
Lemma tick_pays_channels x : In x (timed s) ->
  Z.max 0 (low l (Inject (sender x))) + Z.max 0 (low l (Accept (receiver x)))
  + sum (fun u => price_at rows (fst u) (snd u))
      (channel_begins I (period s) (fst x) (hops (nodes (snd x))))
  <= tick_pays I rows (period s) x.
Proof.
  intros X. pose proof (tick_steps x X) as B. unfold tick_pays, begins. cbn [sum fst snd].
  rewrite !slot_same, arrival_delays by trivial.
  pose proof (delays_nonneg I S F (hops (nodes (snd x)))).
  pose proof (duration_positive I (hops (nodes (snd x)))).
  pose proof (low_port (Inject (sender x)) (fst x) ltac:(lia)).
  pose proof (low_port (Accept (receiver x)) (fst x + delays I (hops (nodes (snd x))))
    ltac:(lia)).
  unfold sender, receiver in *. lia.
Qed.

(** The sender of every transfer is reached from the source. *)
Lemma tick_sender_reached m source destinations x :
  PM.find m (messages I) = Some (source, destinations) ->
  In x (transfers m s) -> reached s m source (sender x).
Proof.
  intros M.
  enough (H : forall n x, In x (transfers m s) -> fst x < Z.of_nat n ->
    reached s m source (sender x)).
  { intros X. apply (H (Z.to_nat (fst x + 1)) x X).
    apply (transfers_timed m), tick_steps in X. lia. }
  clear x. induction n as [|n IH]; intros x X L.
  - apply (transfers_timed m), tick_steps in X. lia.
  - destruct (rule_3 I s V _ _ _ M x X) as (Q & _). unfold informed in Q.
    assert (Q' : sender x = source \/ exists y, In y (transfers m s) /\ receiver y = sender x
      /\ finish I y < fst x) by (destruct (kind I); [exact Q|exact Q|contradiction]).
    destruct Q' as [->|(y & Y & <- & E)]; [constructor 1|]. constructor 2; trivial.
    apply IH; trivial. apply (transfers_timed m), tick_steps in Y. lia.
Qed.

Lemma tick_destination_reached m source destinations d :
  PM.find m (messages I) = Some (source, destinations) -> In d destinations ->
  reached s m source d.
Proof.
  intros M D. destruct (rule_4_all I s V _ _ _ M d D) as [<-|R]; [constructor 1|].
  unfold receivers in R. apply in_map_iff in R as (x & <- & X).
  constructor 2; trivial. now apply (tick_sender_reached m source destinations).
Qed.

Variable sets : list weighted_set.
Hypothesis fit : tick_sets_fit I l sets = true.

Lemma entered_price_in_ticks h t : (exists c, channel I (fst h) (snd h) c) -> 1 <= t <= T ->
  entered sets h - lowest_ports I l h <= price_at rows (Channel (link I h)) t.
Proof.
  destruct h as [a b]. intros (c & H) B. destruct (C t B) as (i & J & _ & E).
  apply andb_true_iff in fit as [_ G]. rewrite forallb_forall in G.
  apply all_channels_in, G in H. cbn [fst snd] in H. rewrite forallb_forall in H.
  apply H, Z.leb_le in J. rewrite E. exact J.
Qed.

(** A transfer pays the weights of the sets that its hops lead into. *)
Lemma entered_pays_in_ticks x : In x (timed s) ->
  sum (entered sets) (hops (nodes (snd x))) <= tick_pays I rows (period s) x.
Proof.
  intros X. assert (A := rule_1 I s V x X). assert (B := tick_steps x X).
  pose proof (tick_pays_channels x X) as Q.
  pose proof (duration_positive I (hops (nodes (snd x)))).
  assert (R : sum (fun h => entered sets h - lowest_ports I l h) (hops (nodes (snd x)))
    <= sum (fun u => price_at rows (fst u) (snd u))
         (channel_begins I (period s) (fst x) (hops (nodes (snd x))))).
  { apply channels_pay; try lia. intros h t J. apply entered_price_in_ticks.
    destruct h as [a b]. now apply (allowed_channels I (nodes (snd x))). }
  destruct (kind I) eqn:K; [| |contradiction].
  - assert (E : sum (fun h => entered sets h - lowest_ports I l h) (hops (nodes (snd x)))
      = sum (entered sets) (hops (nodes (snd x)))).
    { apply sum_ext. intros h _. unfold lowest_ports. rewrite K. lia. }
    lia.
  - unfold allowed in A. rewrite K in A. destruct A as (L & _). unfold sender, receiver in Q.
    destruct (nodes (snd x)) as [|a [|b [|? ?]]]; try discriminate L.
    unfold lowest_ports in R. rewrite K in R. unfold first_node, last_node in Q.
    cbn [hops sum fst snd hd List.last] in *. lia.
Qed.

Lemma sets_pay_in_ticks m source destinations :
  PM.find m (messages I) = Some (source, destinations) ->
  sets_bound sets source destinations <= tick_message_pays I rows s m.
Proof.
  intros M. apply paid_for_sets.
  - intros each E. apply andb_true_iff in fit as [G _].
    rewrite forallb_forall in G. specialize (G _ E). now apply Z.leb_le in G.
  - intros d D. now apply (tick_destination_reached m source destinations).
  - intros x X. apply entered_pays_in_ticks. now apply (transfers_timed m).
Qed.

End Ticks.

(** A message pays at least the weights of the sets that have a destination and not its source. *)
Theorem tick_sets_pay I s T rows l sets m source destinations :
  kind I <> TimeSlots -> times_fit I = true -> Model.valid I s -> period s <= T ->
  covers rows T l -> (forall r, In r rows -> 0 <= price r) -> tick_sets_fit I l sets = true ->
  PM.find m (messages I) = Some (source, destinations) ->
  sets_bound sets source destinations <= tick_message_pays I rows s m.
Proof. intros. now apply sets_pay_in_ticks with T l. Qed.
