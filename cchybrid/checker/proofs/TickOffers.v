(** Prices in ticks: what transfers pay, and what all ticks offer.

    A transfer pays the price of a channel or port in the tick in which it begins to use it. What
    is used for at least L ticks, by as many transfers at a time as its capacity, is begun to be
    used by no more in any L ticks in a row, as all of them use it in the last of these. So a price
    for a range of R ticks offers at most price times capacity times R / L, rounded up; L is the
    length of the channel, for a port the least length of the channels that it serves.

    [make_row_tick_sized] proves that no valid schedule uses a place of a row more often than its
    size, [tick_paid_at_most_offered] that all messages pay at most what is offered. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Facts Prices Offers Verify.
Import ListNotations.
Open Scope Z_scope.

Definition tick_pays (I : instance) (rows : list row) (P : Z) (x : timed_transfer) : Z :=
  sum (fun u => price_at rows (fst u) (snd u)) (begins I P x).

Definition tick_message_pays (I : instance) (rows : list row) (s : schedule) (m : positive) : Z :=
  sum (tick_pays I rows (period s)) (transfers m s).

(** ** Times and lengths *)

Definition same_time (x y : Z * Z) : bool := (fst x =? fst y) && (snd x =? snd y).

(** No latency is negative, and channels that share a capacity have equal times. *)
Definition times_fit (I : instance) : bool :=
  forallb (fun each => forallb (fun next => 0 <=? fst (snd next)) (snd each))
    (PM.elements (times I))
  && forallb (fun each => let h := (fst each, fst (snd each)) in
       same_time (time I (link I h)) (time I h)) (all_channels I).

Definition length_of (I : instance) (h : hop) : Z := Z.max 1 (snd (time I h)).

(** The least length of the channels from a node. *)
Definition least_from (I : instance) (v : node) : Z :=
  match neighbours I v with
  | [] => 1
  | next :: rest =>
      fold_left (fun m other => Z.min m (length_of I (v, fst other))) rest
        (length_of I (v, fst next))
  end.

Definition add_length (I : instance) (m : PM.t Z) (each : node * (node * Z)) : PM.t Z :=
  let b := fst (snd each) in
  let x := length_of I (fst each, b) in
  PM.add b (match PM.find b m with Some y => Z.min x y | None => x end) m.

(** The least length of the channels to each node. *)
Definition least_into (I : instance) : PM.t Z :=
  fold_left (add_length I) (all_channels I) (PM.empty Z).

(** A transfer uses a place for at least so many ticks; [into] is [least_into I]. *)
Definition place_length (I : instance) (into : PM.t Z) (q : resource) : Z :=
  match q with
  | Channel h => length_of I h
  | Inject v => least_from I v
  | Accept v => match PM.find v into with Some x => x | None => 1 end
  end.

(** ** What all ticks offer *)

Definition tick_offer (I : instance) (into : PM.t Z) (r : row) : Z :=
  let L := place_length I into (place r) in
  price r * (size r * Z.max 0 ((last r - first r + L) / L)).

Definition tick_offered (I : instance) (rows : list row) : Z :=
  let into := least_into I in sum (tick_offer I into) rows.

(** The size of a row holds in every tick. *)
Definition tick_sized (I : instance) (s : schedule) (r : row) : Prop :=
  0 <= price r /\ 0 <= size r /\ forall t, used I s (place r) t <= size r.

(** ** Proofs: lengths *)

Lemma length_positive I h : 1 <= length_of I h.
Proof. unfold length_of. lia. Qed.

Lemma fold_least {A} (f : A -> Z) l m :
  let k := fold_left (fun m x => Z.min m (f x)) l m in
  k <= m /\ (forall x, In x l -> k <= f x) /\ (1 <= m -> (forall x, 1 <= f x) -> 1 <= k).
Proof.
  revert m. induction l as [|a l IH]; intros m; simpl; [repeat split; easy|].
  destruct (IH (Z.min m (f a))) as (A1 & A2 & A3). split; [lia|]. split.
  - intros x [<-|X]; [lia|now apply A2].
  - intros M F. apply A3; trivial. specialize (F a). lia.
Qed.

Lemma least_from_positive I v : 1 <= least_from I v.
Proof.
  unfold least_from. destruct (neighbours I v) as [|n l]; [lia|].
  apply (fold_least (fun other => length_of I (v, fst other))); intros; apply length_positive.
Qed.

Lemma least_from_least I v b c : channel I v b c -> least_from I v <= length_of I (v, b).
Proof.
  unfold channel, least_from. destruct (neighbours I v) as [|n l]; [easy|]. intros H.
  destruct (fold_least (fun other => length_of I (v, fst other)) l (length_of I (v, fst n)))
    as (A1 & A2 & _).
  destruct H as [->|H]; [exact A1|]. exact (A2 (b, c) H).
Qed.

Lemma least_into_spec I (v : node) :
  (forall x, PM.find v (least_into I) = Some x -> 1 <= x)
  /\ forall a c, channel I a v c ->
       exists x, PM.find v (least_into I) = Some x /\ x <= length_of I (a, v).
Proof.
  unfold least_into.
  assert (H : forall l m, (forall x, PM.find v m = Some x -> 1 <= x) ->
    (forall x, PM.find v (fold_left (add_length I) l m) = Some x -> 1 <= x)
    /\ (forall x, PM.find v m = Some x ->
         exists y, PM.find v (fold_left (add_length I) l m) = Some y /\ y <= x)
    /\ forall each, In each l -> fst (snd each) = v ->
       exists y, PM.find v (fold_left (add_length I) l m) = Some y
         /\ y <= length_of I (fst each, v)).
  { induction l as [|e l IH]; intros m M; cbn [fold_left].
    - repeat split; trivial; try easy. intros x F. exists x. split; [trivial|lia].
    - pose proof (length_positive I (fst e, fst (snd e))) as B.
      assert (N : forall x, PM.find v (add_length I m e) = Some x -> 1 <= x).
      { unfold add_length. cbv zeta. intros x. destruct (Pos.eq_dec v (fst (snd e))) as [->|D].
        - rewrite PM.gss. intros [= <-]. destruct (PM.find _ m) as [y|] eqn:F; trivial.
          specialize (M y eq_refl). lia.
        - rewrite PM.gso by trivial. apply M. }
      destruct (IH _ N) as (A1 & A2 & A3). repeat split; trivial.
      + intros x F.
        assert (exists y, PM.find v (add_length I m e) = Some y /\ y <= x) as (y & Y & L).
        { unfold add_length. cbv zeta. destruct (Pos.eq_dec v (fst (snd e))) as [E|D].
          - subst v. rewrite F, PM.gss. eexists. split; [reflexivity|lia].
          - exists x. rewrite PM.gso by trivial. split; [trivial|lia]. }
        destruct (A2 y Y) as (z & Z1 & Z2). exists z. split; [trivial|lia].
      + intros each [->|J] E; [|now apply A3].
        assert (exists y, PM.find v (add_length I m each) = Some y
          /\ y <= length_of I (fst each, v)) as (y & Y & L).
        { unfold add_length. cbv zeta. rewrite E, PM.gss. eexists. split; [reflexivity|].
          destruct (PM.find v m); lia. }
        destruct (A2 y Y) as (z & Z1 & Z2). exists z. split; [trivial|lia]. }
  destruct (H (all_channels I) (PM.empty Z)) as (A1 & _ & A3).
  { intros x F. now rewrite PM.gempty in F. }
  split; trivial. intros a c C. apply all_channels_in in C. now apply (A3 _ C).
Qed.

Lemma place_length_positive I q : 1 <= place_length I (least_into I) q.
Proof.
  destruct q as [h|v|v]; simpl; [apply length_positive|apply least_from_positive|].
  destruct (PM.find v (least_into I)) as [x|] eqn:F; [|lia].
  now apply (proj1 (least_into_spec I v)).
Qed.

Lemma duration_longest I l h : In h l -> length_of I h <= duration I l.
Proof.
  unfold length_of. induction l as [|g l IH]; [easy|]. intros [->|H]; simpl.
  - pose proof (duration_positive I l). lia.
  - specialize (IH H). lia.
Qed.

Lemma sum_all_zero {A} (f : A -> Z) l : (forall x, In x l -> f x = 0) -> sum f l = 0.
Proof. intros H. rewrite <- (sum_zero l). now apply sum_ext. Qed.

Section Ticks.
Variable I : instance.
Hypothesis S : kind I <> TimeSlots.
Hypothesis F : times_fit I = true.

Lemma slot_same P t : slot I P t = t.
Proof. unfold slot. now destruct (kind I). Qed.

Lemma delay_latency h : delay I h = latency I h.
Proof. unfold delay. now destruct (kind I). Qed.

Lemma arrival_delays t l : arrival I t l = t + delays I l.
Proof. unfold arrival. now destruct (kind I). Qed.

Lemma finish_arrival x :
  finish I x = arrival I (fst x) (hops (nodes (snd x))) + duration I (hops (nodes (snd x))) - 1.
Proof. unfold finish. now destruct (kind I). Qed.

Lemma latency_nonneg h : 0 <= latency I h.
Proof.
  apply andb_true_iff in F as [G _]. rewrite forallb_forall in G.
  unfold latency, time. destruct (PM.find (fst h) (times I)) as [l|] eqn:E; [|simpl; lia].
  apply PM.elements_correct, G in E. rewrite forallb_forall in E.
  destruct (look (snd h) l) as [t|] eqn:L; [|simpl; lia].
  apply look_in, E, Z.leb_le in L. exact L.
Qed.

Lemma delays_nonneg l : 0 <= delays I l.
Proof.
  induction l as [|h l IH]; simpl; [lia|]. rewrite delay_latency.
  pose proof (latency_nonneg h). lia.
Qed.

Lemma link_length a b c : channel I a b c -> length_of I (link I (a, b)) = length_of I (a, b).
Proof.
  intros C. apply andb_true_iff in F as [_ G]. rewrite forallb_forall in G.
  apply all_channels_in, G, andb_true_iff in C as [_ C]. apply Z.eqb_eq in C.
  unfold length_of. simpl in C. now rewrite C.
Qed.

(** ** Proofs: ticks of uses *)

Lemma channel_begins_in P l : forall t u, In u (channel_begins I P t l) ->
  t <= snd u <= t + delays I l /\ exists h, In h l /\ fst u = Channel (link I h).
Proof.
  induction l as [|h l IH]; intros t u U; [easy|]. cbn [channel_begins delays] in *.
  pose proof (delays_nonneg l). pose proof (latency_nonneg h). rewrite delay_latency in *.
  destruct U as [<-|U].
  - simpl. rewrite slot_same. split; [lia|]. exists h. split; [now left|reflexivity].
  - apply IH in U as (B & g & G & E). split; [lia|]. exists g. split; [now right|trivial].
Qed.

(** All uses of a transfer begin after it does, and end before its last tick. *)
Lemma begins_within P x u : In u (begins I P x) ->
  fst x <= snd u /\ snd u + duration I (hops (nodes (snd x))) <= finish I x + 1.
Proof.
  rewrite finish_arrival, arrival_delays. unfold begins.
  pose proof (delays_nonneg (hops (nodes (snd x)))).
  intros [<-|[<-|U]]; cbn [snd]; rewrite ?slot_same, ?arrival_delays; try lia.
  apply channel_begins_in in U as (B & _). lia.
Qed.

(** Nothing is used for less than the length of its place. *)
Lemma place_length_least P x u : allowed I (nodes (snd x)) -> In u (begins I P x) ->
  place_length I (least_into I) (fst u) <= duration I (hops (nodes (snd x))).
Proof.
  intros A. pose proof (allowed_length _ _ A) as L.
  pose proof (fun a b => allowed_channel I (nodes (snd x)) a b A) as C.
  unfold begins. intros [<-|[<-|U]]; cbn [fst place_length].
  - destruct (nodes (snd x)) as [|a [|b p]] eqn:E; simpl in L; try lia.
    destruct (C a b) as (c & H); [now left|].
    etransitivity; [exact (least_from_least I a b c H)|]. apply duration_longest. now left.
  - destruct (hops_last _ L) as (k & a & Q).
    assert (J : In (a, last_node (nodes (snd x))) (hops (nodes (snd x))))
      by (rewrite Q; apply in_app_iff; right; now left).
    destruct (C _ _ J) as (c & H).
    destruct (proj2 (least_into_spec I (last_node (nodes (snd x)))) a c H) as (y & -> & Y).
    etransitivity; [exact Y|]. now apply duration_longest.
  - apply channel_begins_in in U as (_ & (a & b) & J & ->). cbn [place_length].
    destruct (C _ _ J) as (c & H). rewrite (link_length a b c H). now apply duration_longest.
Qed.

(** ** Proofs: sizes *)

Variable s : schedule.
Hypothesis V : valid I s.

Lemma timed_finish x u : In x (timed s) -> In u (begins I (period s) x) ->
  1 <= snd u /\ snd u + duration I (hops (nodes (snd x))) <= period s + 1.
Proof.
  intros X U. apply begins_within in U. pose proof (rule_8_end I s V x X).
  apply timed_steps in X. lia.
Qed.

Lemma including_nonneg r t x : 0 <= including I (period s) r t x.
Proof. apply sum_nonneg. intros u _. destruct (includes _ _ _ _); lia. Qed.

Lemma used_nonneg r t : 0 <= used I s r t.
Proof. unfold used. apply count_nonneg. Qed.

Lemma used_outside r t : ~ 1 <= t <= period s -> used I s r t = 0.
Proof.
  intros N. rewrite used_including. apply sum_all_zero. intros x X.
  unfold including. apply sum_all_zero. intros u U.
  pose proof (timed_finish x u X U). unfold includes.
  destruct (resource_eqb r (fst u)), (Z.leb_spec (snd u) t),
    (Z.ltb_spec t (snd u + duration I (hops (nodes (snd x))))); cbn [andb]; lia.
Qed.

Lemma includes_some d r t u k : In u k -> includes d r t u = true ->
  1 <= sum (fun u => if includes d r t u then 1 else 0) k.
Proof.
  intros U E. pose proof (sum_single (fun u => if includes d r t u then 1 else 0) k u U) as H.
  cbv beta in H. rewrite E in H. apply H. intros y _. destruct (includes d r t y); lia.
Qed.

Lemma no_includes d r t k : (forall u, In u k -> resource_eqb r (fst u) = false) ->
  sum (fun u => if includes d r t u then 1 else 0) k = 0.
Proof.
  intros N. apply sum_all_zero. intros u U. unfold includes. now rewrite N.
Qed.

Lemma channels_only r t0 l u : (forall h, resource_eqb r (Channel h) = false) ->
  In u (channel_begins I (period s) t0 l) -> resource_eqb r (fst u) = false.
Proof. intros N U. apply channel_begins_in in U as (_ & h & _ & ->). apply N. Qed.

(** A port is used by no more transfers than the channels that it serves. *)
Lemma including_inject v t x : allowed I (nodes (snd x)) ->
  including I (period s) (Inject v) t x
  <= sum (fun next => including I (period s) (Channel (link I (v, fst next))) t x)
       (neighbours I v).
Proof.
  intros A. pose proof (allowed_length _ _ A) as L.
  pose proof (fun a b => allowed_channel I (nodes (snd x)) a b A) as C.
  unfold including at 1, begins. cbn [sum].
  rewrite no_includes by (intros u; now apply channels_only).
  set (d := duration I (hops (nodes (snd x)))).
  assert (N : forall w t', includes d (Inject v) t (Accept w, t') = false) by reflexivity.
  rewrite N. clear N.
  destruct (includes d (Inject v) t _) eqn:E;
    [|apply sum_nonneg; intros; apply including_nonneg].
  unfold includes in E. cbn [fst snd resource_eqb] in E. rewrite slot_same in E.
  apply andb_true_iff in E as [E E3]. apply andb_true_iff in E as [E1 E2].
  apply Pos.eqb_eq in E1. subst v.
  destruct (nodes (snd x)) as [|a [|b p]] eqn:Q; simpl in L; try lia. unfold first_node. simpl hd.
  destruct (C a b) as (c & H); [now left|].
  etransitivity; [|apply (sum_single
    (fun next => including I (period s) (Channel (link I (a, fst next))) t x) _ (b, c) H);
    intros; apply including_nonneg].
  cbn [fst]. unfold including. rewrite Q. fold d. rewrite !Z.add_0_r.
  apply includes_some with (Channel (link I (a, b)), fst x).
  - unfold begins. rewrite Q. right. right. left. now rewrite slot_same.
  - unfold includes. cbn [fst snd]. now rewrite resource_eqb_refl, E2, E3.
Qed.

Lemma channel_begins_last P h l : forall t,
  In (Channel (link I h), t + delays I l) (channel_begins I P t (l ++ [h])).
Proof.
  induction l as [|g l IH]; intros t; cbn [app channel_begins delays].
  - left. now rewrite slot_same, Z.add_0_r.
  - right. rewrite Z.add_assoc. apply IH.
Qed.

Lemma delays_app l k : delays I (l ++ k) = delays I l + delays I k.
Proof. induction l; simpl; lia. Qed.

Lemma including_accept v t x : allowed I (nodes (snd x)) ->
  including I (period s) (Accept v) t x
  <= sum (fun each => including I (period s) (Channel (link I (fst each, v)))
              (t - latency I (fst each, v)) x)
       (filter (into_node v) (all_channels I)).
Proof.
  intros A. pose proof (allowed_length _ _ A) as L.
  pose proof (fun a b => allowed_channel I (nodes (snd x)) a b A) as C.
  unfold including at 1, begins. cbn [sum].
  rewrite no_includes by (intros u; now apply channels_only).
  set (d := duration I (hops (nodes (snd x)))).
  assert (N : forall w t', includes d (Accept v) t (Inject w, t') = false) by reflexivity.
  rewrite N. clear N.
  destruct (includes d (Accept v) t _) eqn:E;
    [|apply sum_nonneg; intros; apply including_nonneg].
  unfold includes in E. cbn [fst snd resource_eqb] in E. rewrite slot_same, arrival_delays in E.
  apply andb_true_iff in E as [E E3]. apply andb_true_iff in E as [E1 E2].
  apply Pos.eqb_eq in E1. apply Z.leb_le in E2. apply Z.ltb_lt in E3.
  destruct (hops_last _ L) as (k & a & Q). rewrite <- E1 in Q.
  assert (J : In (a, v) (hops (nodes (snd x)))) by (rewrite Q; apply in_app_iff; right; now left).
  destruct (C a v J) as (c & H).
  assert (M : In (a, (v, c)) (filter (into_node v) (all_channels I))).
  { apply filter_In. split; [now apply all_channels_in|]. apply Pos.eqb_refl. }
  etransitivity; [|apply (sum_single
    (fun each => including I (period s) (Channel (link I (fst each, v)))
       (t - latency I (fst each, v)) x) _ (a, (v, c)) M); intros; apply including_nonneg].
  cbn [fst]. unfold including. fold d. rewrite !Z.add_0_r.
  rewrite Q, delays_app in E2, E3. cbn [delays] in E2, E3. rewrite delay_latency in E2, E3.
  apply includes_some with (Channel (link I (a, v)), fst x + delays I k).
  - unfold begins. right. right. rewrite Q. apply channel_begins_last.
  - unfold includes. cbn [fst snd]. rewrite resource_eqb_refl. cbn [andb].
    apply andb_true_iff. split; [apply Z.leb_le|apply Z.ltb_lt]; lia.
Qed.

Hypothesis R : forallb (Z.eqb 1) (rounds I) = true.

Lemma channel_used a b c t : 1 <= period s -> channel I a b c ->
  used I s (Channel (link I (a, b))) t <= c.
Proof.
  intros P C.
  assert (N : forall t, 1 <= t <= period s -> used I s (Channel (link I (a, b))) t <= c).
  { intros k K. destruct (rule_2 I s V k K) as (H & _). specialize (H a b c C).
    unfold in_step in H. now rewrite (one_round _ k R), Z.mul_1_r in H. }
  assert (1 <= t <= period s \/ ~ 1 <= t <= period s) as [T|T] by lia; [now apply N|].
  rewrite used_outside by trivial. specialize (N 1 ltac:(lia)).
  pose proof (used_nonneg (Channel (link I (a, b))) 1). lia.
Qed.

Lemma injected_in_ticks v t : 1 <= period s -> used I s (Inject v) t <= outgoing I v.
Proof.
  intros P. rewrite used_including. etransitivity.
  - apply sum_le. intros x X. apply including_inject. now apply (rule_1 I s V).
  - rewrite sum_swap. unfold outgoing. apply sum_le. intros [b c] C.
    rewrite <- used_including. now apply channel_used.
Qed.

Lemma accepted_in_ticks v t : 1 <= period s -> used I s (Accept v) t <= found (incoming I) v.
Proof.
  intros P. rewrite used_including, found_incoming. etransitivity.
  - apply sum_le. intros x X. apply including_accept. now apply (rule_1 I s V).
  - rewrite sum_swap. apply sum_le. intros [a [b c]] C. rewrite <- used_including.
    apply filter_In in C as [C E]. apply Pos.eqb_eq in E. simpl in E. subst b.
    apply all_channels_in in C. now apply channel_used.
Qed.

(** A row that [make_row] gives has a size that holds in every valid schedule. *)
Lemma row_tick_sized q a b p r : make_row I (incoming I) q a b p = Some r -> tick_sized I s r.
Proof.
  unfold make_row. destruct (capacity I (incoming I) q) as [c|] eqn:E; [|discriminate].
  destruct ((0 <=? c) && (0 <=? p) && (1 <=? a)) eqn:B; [|discriminate].
  intros [= <-]. unfold tick_sized. simpl.
  apply andb_true_iff in B as [B _]. apply andb_true_iff in B as [B1 B2].
  apply Z.leb_le in B1, B2. repeat split; trivial. intros t.
  assert (1 <= t <= period s \/ ~ 1 <= t <= period s) as [T|T] by lia;
    [|rewrite used_outside; trivial].
  destruct (rule_2 I s V t T) as (_ & H2 & H3). unfold in_step in H2, H3.
  rewrite (one_round _ t R) in H2, H3.
  setoid_rewrite Z.mul_1_r in H2. setoid_rewrite Z.mul_1_r in H3.
  destruct q as [[v w]|v|v]; cbn [capacity counted_place] in *.
  - apply channel_used; [lia|]. now apply look_in.
  - pose proof (injected_in_ticks v t ltac:(lia)). injection E as <-. unfold port.
    destruct (PM.find v (injects I)) as [k|] eqn:Q; [|trivial]. now apply Z.min_glb; [apply H2|].
  - pose proof (accepted_in_ticks v t ltac:(lia)). injection E as <-. unfold port.
    destruct (PM.find v (accepts I)) as [k|] eqn:Q; [|trivial]. now apply Z.min_glb; [apply H3|].
Qed.

(** ** Proofs: all messages pay at most what is offered *)

(** A use that begins in a range includes the last tick of one of its blocks of [L] ticks. *)
Lemma block_includes L f la d q u :
  1 <= L <= d -> f <= snd u <= la -> resource_eqb q (fst u) = true ->
  1 <= sum (fun k => if includes d q (f + k * L + L - 1) u then 1 else 0)
         (steps_from 0 (Z.to_nat ((la - f + L) / L))).
Proof.
  intros D B E. set (k := (snd u - f) / L).
  assert (K : snd u - f = L * k + (snd u - f) mod L) by (apply Z_div_mod_eq_full).
  pose proof (Z.mod_pos_bound (snd u - f) L ltac:(lia)) as M.
  assert (K0 : 0 <= k) by (apply Z.div_pos; lia).
  assert (K1 : k < (la - f + L) / L).
  { replace (la - f + L) with (la - f + 1 * L) by lia. rewrite Z.div_add by lia.
    assert (k <= (la - f) / L) by (apply Z.div_le_mono; lia). lia. }
  assert (W : includes d q (f + k * L + L - 1) u = true).
  { unfold includes. rewrite E. cbn [andb]. apply andb_true_iff.
    split; [apply Z.leb_le|apply Z.ltb_lt]; nia. }
  pose proof (sum_single (fun k => if includes d q (f + k * L + L - 1) u then 1 else 0)
    (steps_from 0 (Z.to_nat ((la - f + L) / L))) k) as H. cbv beta in H. rewrite W in H.
  apply H; [apply in_steps_from; lia|]. intros y _. cbv beta.
  destruct (includes d q (f + y * L + L - 1) u); lia.
Qed.

Lemma steps_from_sum (c : Z) n : forall t, sum (fun _ => c) (steps_from t n) = c * Z.of_nat n.
Proof.
  induction n as [|n IH]; intros t; [simpl; lia|]. cbn [steps_from sum]. rewrite IH. lia.
Qed.

Lemma row_tick_offers r : tick_sized I s r ->
  sum (fun x => sum (fun u =>
      if active (snd u) r && resource_eqb (place r) (fst u) then price r else 0)
      (begins I (period s) x)) (timed s)
  <= tick_offer I (least_into I) r.
Proof.
  intros (P & Z & U). unfold tick_offer. set (L := place_length I (least_into I) (place r)).
  pose proof (place_length_positive I (place r) : 1 <= L) as L1.
  set (blocks := steps_from 0 (Z.to_nat ((last r - first r + L) / L))).
  transitivity (sum (fun x => sum (fun u => price r * sum (fun k =>
    if includes (duration I (hops (nodes (snd x)))) (place r) (first r + k * L + L - 1) u
    then 1 else 0) blocks) (begins I (period s) x)) (timed s)).
  - apply sum_le. intros x X. apply sum_le. intros u J.
    assert (0 <= sum (fun k => if includes (duration I (hops (nodes (snd x)))) (place r)
      (first r + k * L + L - 1) u then 1 else 0) blocks)
      by (apply sum_nonneg; intros; destruct (includes _ _ _ _); lia).
    destruct (active (snd u) r && resource_eqb (place r) (fst u)) eqn:E; [|nia].
    apply andb_true_iff in E as [E Q]. unfold active in E.
    apply andb_true_iff in E as [E1 E2]. apply Z.leb_le in E1, E2.
    pose proof (place_length_least (period s) x u (rule_1 I s V x X) J) as D.
    apply resource_eqb_eq in Q as W. rewrite <- W in D. fold L in D.
    pose proof (block_includes L (first r) (last r) (duration I (hops (nodes (snd x)))) (place r) u
      ltac:(lia) ltac:(lia) Q) as B. fold blocks in B. nia.
  - transitivity (price r * sum (fun k => used I s (place r) (first r + k * L + L - 1)) blocks).
    + rewrite <- sum_scale. apply Z.eq_le_incl.
      rewrite (sum_ext _ (fun x => sum (fun k => price r
        * including I (period s) (place r) (first r + k * L + L - 1) x) blocks)).
      * rewrite sum_swap. apply sum_ext. intros k _. now rewrite sum_scale, used_including.
      * intros x _. unfold including.
        rewrite (sum_ext (fun k => price r * _) (fun k => sum (fun u => price r *
          if includes (duration I (hops (nodes (snd x)))) (place r) (first r + k * L + L - 1) u
          then 1 else 0) (begins I (period s) x)) blocks) by (intros; symmetry; apply sum_scale).
        rewrite <- sum_swap. apply sum_ext. intros u _. symmetry. apply sum_scale.
    + apply Z.mul_le_mono_nonneg_l; trivial. etransitivity.
      * apply sum_le with (g := fun _ => size r). intros. apply U.
      * unfold blocks. rewrite steps_from_sum.
        apply Z.mul_le_mono_nonneg_l; trivial. lia.
Qed.

Lemma tick_pays_nonneg rows x : (forall r, In r rows -> 0 <= price r) ->
  0 <= tick_pays I rows (period s) x.
Proof. intros H. apply sum_nonneg. intros. now apply price_nonneg. Qed.

(** All transfers pay at most what the rows offer. *)
Lemma transfers_pay_in_ticks rows : (forall r, In r rows -> tick_sized I s r) ->
  sum (tick_pays I rows (period s)) (timed s) <= tick_offered I rows.
Proof.
  intros H. unfold tick_offered. cbv zeta.
  transitivity (sum (fun r => sum (fun x => sum (fun u =>
      if active (snd u) r && resource_eqb (place r) (fst u) then price r else 0)
      (begins I (period s) x)) (timed s)) rows).
  - apply Z.eq_le_incl. rewrite <- sum_swap. apply sum_ext. intros x _.
    unfold tick_pays, price_at. apply sum_swap.
  - apply sum_le. intros r Q. now apply row_tick_offers, H.
Qed.

Lemma messages_pay_in_ticks rows : (forall r, In r rows -> tick_sized I s r) ->
  sum (tick_message_pays I rows s) (map fst (PM.elements (messages I))) <= tick_offered I rows.
Proof.
  intros H. etransitivity; [|now apply transfers_pay_in_ticks].
  unfold tick_message_pays, transfers.
  rewrite (sum_ext _ (fun m => sum (fun x =>
    if of_message m x then tick_pays I rows (period s) x else 0) (timed s)))
    by (intros; apply sum_filter).
  rewrite sum_swap. apply sum_le. intros x _.
  apply (sum_of_key _ (message (snd x)) (tick_pays I rows (period s) x)); [apply keys_distinct|].
  apply tick_pays_nonneg. intros r Q. now apply (H r Q).
Qed.

End Ticks.

(** A row that [make_row] gives has a size that holds in every valid schedule. *)
Theorem make_row_tick_sized I q a b p r s :
  kind I <> TimeSlots -> times_fit I = true -> forallb (Z.eqb 1) (rounds I) = true ->
  make_row I (incoming I) q a b p = Some r -> valid I s -> tick_sized I s r.
Proof. intros. now apply row_tick_sized with q a b p. Qed.

(** All messages together pay at most what the rows offer. *)
Theorem tick_paid_at_most_offered I s rows :
  kind I <> TimeSlots -> times_fit I = true -> valid I s ->
  (forall r, In r rows -> tick_sized I s r) ->
  sum (tick_message_pays I rows s) (map fst (PM.elements (messages I))) <= tick_offered I rows.
Proof. intros. now apply messages_pay_in_ticks. Qed.
