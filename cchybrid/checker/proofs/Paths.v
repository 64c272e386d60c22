(** The cheapest allowed paths from a node, and distances in hops. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums Walks.
Import ListNotations.
Open Scope Z_scope.

(** Channels that a path from [source] may take, and their prices: none leaves an endpoint, but the
    source and [stops]. *)
Definition edges (I : instance) (source : node) (stops : node -> bool) (price : hop -> Z)
    : list edge :=
  flat_map (fun each =>
      let a := fst each in
      if Pos.eqb a source || negb (is_endpoint I a) || stops a
      then map (fun next => (a, fst next, price (a, fst next))) (snd each)
      else [])
    (PM.elements (adjacent I)).

(** No edge makes a cost smaller. *)
Definition settled (l : list edge) (c : PM.t Z) : bool :=
  forallb (fun e => let '(a, b, w) := e in
    match PM.find a c with
    | None => true
    | Some x => match PM.find b c with Some y => y <=? x + w | None => false end
    end) l.

Fixpoint settle (fuel : list (node * list (node * Z))) (l : list edge) (c : PM.t Z) : PM.t Z :=
  if settled l c then c
  else match fuel with [] => c | _ :: rest => settle rest l (one_hop l c) end.

Definition start (source : node) : PM.t Z := PM.add source 0 (PM.empty Z).

(** Costs of walks of any length; [None] if they were not found. *)
Definition cheapest (I : instance) (l : list edge) (source : node) : option (PM.t Z) :=
  let c := settle (PM.elements (adjacent I)) l (start source) in
  if settled l c then Some c else None.

Definition nowhere (v : node) : bool := false.

(** The hops of the shortest path to each node, past no endpoint. *)
Definition distances (I : instance) (source : node) : option (PM.t Z) :=
  cheapest I (edges I source nowhere (fun _ => 1)) source.

(** Hop number [k] may lead to [b] if a path that is long enough may still end there. *)
Definition in_time (d : PM.t Z) (h k : Z) (e : edge) : bool :=
  match PM.find (snd (fst e)) d with Some x => k <=? x + h | None => false end.

Fixpoint layers (d : PM.t Z) (h : Z) (l : list edge) (k : Z) (n : nat) : list (list edge) :=
  match n with O => [] | S j => filter (in_time d h k) l :: layers d h l (k + 1) j end.

Definition farthest (d : PM.t Z) : Z := fold_left (fun m each => Z.max m (snd each)) (PM.elements d) 0.

(** Costs of the paths from [source] that the routing allows, or less. *)
Definition path_costs (I : instance) (price : hop -> Z) (source : node) : option (PM.t Z) :=
  let l := edges I source nowhere price in
  match route I with
  | AnyPath | Table _ _ => cheapest I l source
  | ExtraHops h =>
      match distances I source with
      | Some d => Some (all_hops (layers d h l 1 (Z.to_nat (farthest d + h))) (start source))
      | None => None
      end
  end.

(** ** Walks of any length over a set of edges *)

Inductive walk_in (l : list edge) : node -> node -> Z -> Prop :=
  | walk_in_nil v : walk_in l v v 0
  | walk_in_step a b v w x : In (a, b, w) l -> walk_in l b v x -> walk_in l a v (w + x).

Lemma settled_least l c a v x y :
  settled l c = true -> walk_in l a v x -> at_most c a y -> at_most c v (y + x).
Proof.
  intros S W. revert y. induction W as [v|a b v w x E W IH]; intros y A.
  - now rewrite Z.add_0_r.
  - destruct A as (z & F & L). unfold settled in S. rewrite forallb_forall in S.
    specialize (S _ E). simpl in S. rewrite F in S.
    destruct (PM.find b c) as [u|] eqn:B; [|discriminate]. apply Z.leb_le in S.
    replace (y + (w + x)) with ((y + w) + x) by lia. apply IH. exists u. split; [trivial|lia].
Qed.

Lemma settle_keeps fuel l c v x : at_most c v x -> at_most (settle fuel l c) v x.
Proof.
  revert c. induction fuel; intros c A; simpl; destruct (settled l c); trivial.
  apply IHfuel. now apply one_hop_keeps.
Qed.

Lemma start_source source : at_most (start source) source 0.
Proof. exists 0. unfold start. rewrite PM.gss. split; [trivial|lia]. Qed.

(** The computed costs are at most those of all walks. *)
Lemma cheapest_least I l source c v x :
  cheapest I l source = Some c -> walk_in l source v x -> at_most c v x.
Proof.
  unfold cheapest. intros C W.
  destruct (settled l (settle (PM.elements (adjacent I)) l (start source))) eqn:S; inversion C; subst.
  replace x with (0 + x) by lia. eapply settled_least; eauto. apply settle_keeps, start_source.
Qed.

Lemma in_edges I source stops price a b c :
  channel I a b c -> (a = source \/ is_endpoint I a = false \/ stops a = true) ->
  In (a, b, price (a, b)) (edges I source stops price).
Proof.
  unfold channel, neighbours, edges. intros H O.
  destruct (PM.find a (adjacent I)) as [l|] eqn:F; [|easy].
  apply in_flat_map. exists (a, l). split; [now apply PM.elements_correct|]. simpl.
  destruct (Pos.eqb a source || negb (is_endpoint I a) || stops a) eqn:E.
  - apply in_map_iff. now exists (b, c).
  - apply orb_false_iff in E as [E S]. apply orb_false_iff in E as [E N].
    apply Pos.eqb_neq in E. apply negb_false_iff in N. destruct O as [?|[?|?]]; congruence.
Qed.

Lemma edges_in I source stops price a b w :
  In (a, b, w) (edges I source stops price) ->
  (exists c, channel I a b c) /\ w = price (a, b)
  /\ (a = source \/ is_endpoint I a = false \/ stops a = true).
Proof.
  unfold edges. intros H. apply in_flat_map in H as ([a' l] & E & H). simpl in H.
  destruct (Pos.eqb a' source || negb (is_endpoint I a') || stops a') eqn:O; [|easy].
  apply in_map_iff in H as ([b' c] & Q & J). inversion Q; subst. simpl in *.
  apply PM.elements_complete in E. split; [|split; [reflexivity|]].
  - exists c. unfold channel, neighbours. now rewrite E.
  - apply orb_true_iff in O as [O|O]; auto. apply orb_true_iff in O as [O|O].
    + apply Pos.eqb_eq in O. auto.
    + apply negb_true_iff in O. auto.
Qed.

(** ** A walk past no endpoint can be shortened to a simple path *)

Inductive free_walk (I : instance) (s : node) : node -> Z -> Prop :=
  | free_nil : free_walk I s s 0
  | free_step a b c n : free_walk I s a n -> (a = s \/ is_endpoint I a = false) ->
      channel I a b c -> free_walk I s b (n + 1).

Lemma hops_snoc p a b : hops ((p ++ [a]) ++ [b]) = hops (p ++ [a]) ++ [(a, b)].
Proof.
  induction p as [|x p IH]; simpl; [reflexivity|].
  destruct p; simpl in *; [reflexivity|]. now rewrite IH.
Qed.

Lemma last_snoc (p : path) b : last_node (p ++ [b]) = b.
Proof. unfold last_node. apply last_last. Qed.

Lemma inner_snoc p b : p <> [] -> inner (p ++ [b]) = tl p.
Proof. destruct p as [|x p]; [easy|]. intros _. unfold inner. simpl. apply removelast_last. Qed.

Lemma first_snoc p b : p <> [] -> first_node (p ++ [b]) = first_node p.
Proof. now destruct p. Qed.

Lemma hops_prefix p q h : In h (hops p) -> In h (hops (p ++ q)).
Proof.
  induction p as [|a [|b p] IH]; simpl; [easy|easy|]. intros [?|H]; [now left|right].
  apply IH, H.
Qed.

Lemma nodup_snoc (p : path) b : NoDup p -> ~ In b p -> NoDup (p ++ [b]).
Proof.
  intros D N. induction D as [|x p X D IH]; simpl; [constructor; [easy|constructor]|].
  constructor.
  - rewrite in_app_iff. intros [?|[?|[]]]; [contradiction|]. subst. apply N. now left.
  - apply IH. intros H. apply N. now right.
Qed.

Lemma nodup_prefix (p q : path) : NoDup (p ++ q) -> NoDup p.
Proof.
  induction p; intros D; [constructor|]. inversion D; subst. constructor; [|now apply IHp].
  intros H. apply H1. apply in_app_iff. now left.
Qed.

Lemma simple_prefix I s p b q : simple I ((s :: p) ++ b :: q) -> simple I ((s :: p) ++ [b]).
Proof.
  intros S. assert (Q : exists r : path, simple I (r ++ q) /\ r = (s :: p) ++ [b]).
  { exists ((s :: p) ++ [b]). rewrite <- app_assoc. split; trivial. }
  destruct Q as (r & (_ & D & H & E) & ->). repeat split.
  - simpl. rewrite app_length. simpl. lia.
  - now apply nodup_prefix with q.
  - intros x y J. apply H. now apply hops_prefix.
  - intros x J. apply E. rewrite inner_snoc in J by easy. simpl in J.
    unfold inner. simpl. clear -J. rewrite <- app_assoc. simpl.
    rewrite removelast_app by easy. apply in_app_iff. now left.
Qed.

Lemma simple_tail I u b c rest : simple I (u :: b :: c :: rest) -> simple I (b :: c :: rest).
Proof.
  intros (_ & D & H & E). inversion D; subst. repeat split; trivial.
  - simpl. lia.
  - intros x y J. apply H. now right.
  - intros x J. apply E. unfold inner in *. simpl in *. now right.
Qed.

Lemma free_walk_simple I s v n :
  free_walk I s v n -> v <> s ->
  exists q, simple I q /\ first_node q = s /\ last_node q = v /\ Z.of_nat (length q) <= n + 1.
Proof.
  assert (P : forall v n, free_walk I s v n -> 0 <= n) by (induction 1; lia).
  induction 1 as [|a b c n W IH O C]; intros N; [easy|].
  destruct (Pos.eq_dec a s) as [->|A].
  - exists [s; b]. repeat split; simpl; try easy.
    + constructor; [|constructor; [easy|constructor]]. intros [?|[]]. congruence.
    + intros x y [E|[]]. inversion E; subst. now exists c.
    + apply P in W. lia.
  - destruct (IH A) as (q & (L & D & H & E) & F & T & M).
    assert (X : is_endpoint I a = false) by (destruct O; [contradiction|trivial]).
    destruct (in_dec Pos.eq_dec b q) as [B|B].
    + apply in_split in B as (q1 & q2 & ->).
      destruct q1 as [|s' q1]; [simpl in F; unfold first_node in F; simpl in F; congruence|].
      exists ((s' :: q1) ++ [b]).
      split; [|split; [exact F|split; [now rewrite last_snoc|]]].
      * apply simple_prefix with q2. repeat split; trivial.
      * rewrite app_length in *. simpl in *. lia.
    + destruct q as [|a0 q' _] using rev_ind; [simpl in L; lia|].
      rewrite last_snoc in T. subst a0.
      exists ((q' ++ [a]) ++ [b]). repeat split.
      * rewrite app_length. lia.
      * now apply nodup_snoc.
      * intros x y J. rewrite hops_snoc in J. apply in_app_iff in J as [J|[J|[]]].
        -- now apply H.
        -- inversion J; subst. now exists c.
      * intros x J. rewrite inner_snoc in J by (now destruct q').
        destruct q' as [|s' q']; [easy|]. simpl in J. apply in_app_iff in J as [J|[<-|[]]]; trivial.
        apply E. change (inner ((s' :: q') ++ [a])) with (removelast (q' ++ [a])).
        now rewrite removelast_last.
      * rewrite first_snoc by (now destruct q'). trivial.
      * now rewrite last_snoc.
      * rewrite app_length. simpl. lia.
Qed.

(** Every computed distance is that of a walk. *)
Definition realized (I : instance) (s : node) (c : PM.t Z) : Prop :=
  forall v x, PM.find v c = Some x -> free_walk I s v x.

Lemma improve_realized I s old found e :
  In e (edges I s nowhere (fun _ => 1)) ->
  realized I s old -> realized I s found -> realized I s (improve old found e).
Proof.
  destruct e as [[a b] w]. intros E O F. apply edges_in in E as ([c C] & -> & D).
  unfold improve. destruct (PM.find a old) as [x|] eqn:A; [|trivial].
  assert (N : realized I s (PM.add b (x + 1) found)).
  { intros v y. destruct (Pos.eq_dec v b) as [->|N].
    - rewrite PM.gss. intros Q. inversion Q; subst. apply free_step with a c; trivial.
      + now apply O.
      + destruct D as [?|[?|D]]; [now left|now right|discriminate D].
    - rewrite PM.gso by trivial. apply F. }
  destruct (PM.find b found) as [z|]; [destruct (z <=? x + 1)|]; trivial.
Qed.

Lemma one_hop_realized I s c :
  realized I s c -> realized I s (one_hop (edges I s nowhere (fun _ => 1)) c).
Proof.
  unfold one_hop. intros R.
  assert (H : forall l found, incl l (edges I s nowhere (fun _ => 1)) ->
    realized I s found -> realized I s (fold_left (improve c) l found)).
  { induction l as [|e l IH]; simpl; intros found S F; [trivial|].
    apply IH; [intros x X; apply S; now right|]. apply improve_realized; trivial. apply S. now left. }
  apply H; trivial. apply incl_refl.
Qed.

Lemma distances_realized I s d : distances I s = Some d -> realized I s d.
Proof.
  unfold distances, cheapest. intros D. destruct (settled _ _) eqn:S in D; [|discriminate].
  inversion D; subst. clear D S.
  assert (B : realized I s (start s)).
  { intros v x. unfold start. destruct (Pos.eq_dec v s) as [->|N].
    - rewrite PM.gss. intros Q. inversion Q. constructor.
    - rewrite PM.gso by trivial. now rewrite PM.gempty. }
  revert B. generalize (start s). induction (PM.elements (adjacent I)); intros c B; simpl;
    destruct (settled _ c); trivial. apply IHl. now apply one_hop_realized.
Qed.

(** ** Allowed paths are such walks *)

Lemma allowed_simple I p : kind I <> StoreAndForward -> allowed I p -> simple I p.
Proof. unfold allowed. intros K A. destruct (kind I); [|contradiction|]; now destruct A. Qed.

Lemma simple_inner I pre a b rest :
  simple I (pre ++ a :: b :: rest) -> pre <> [] -> is_endpoint I a = false.
Proof.
  intros (_ & _ & _ & E) N. apply E. unfold inner. destruct pre as [|s pre]; [easy|]. simpl.
  rewrite removelast_app by easy. apply in_app_iff. right. now left.
Qed.

Lemma simple_hop I pre a b rest :
  simple I (pre ++ a :: b :: rest) -> exists c, channel I a b c.
Proof.
  intros (_ & _ & H & _). apply H. clear. induction pre as [|x pre IH]; [now left|].
  simpl. destruct pre; simpl in *; right; [now left|exact IH].
Qed.

(** The part of a simple path after [pre] is a walk from its first node. *)
Lemma simple_walk I source stops price pre a rest :
  simple I (pre ++ a :: rest) -> (pre <> [] \/ a = source \/ stops a = true) ->
  walk_in (edges I source stops price) a (last_node (a :: rest)) (sum price (hops (a :: rest))).
Proof.
  revert pre a. induction rest as [|b rest IH]; intros pre a S Q.
  - constructor.
  - change (last_node (a :: b :: rest)) with (last_node (b :: rest)).
    change (sum price (hops (a :: b :: rest)))
      with (price (a, b) + sum price (hops (b :: rest))).
    destruct (simple_hop _ _ _ _ _ S) as [c C]. apply walk_in_step with b.
    + apply in_edges with c; trivial. destruct Q as [Q|[Q|Q]]; auto.
      right. left. now apply simple_inner with pre b rest.
    + apply IH with (pre ++ [a]); [now rewrite <- app_assoc|]. left. now destruct pre.
Qed.

Lemma free_walk_extend I s n pre a rest :
  simple I (pre ++ a :: rest) -> (a = s \/ pre <> []) -> free_walk I s a n ->
  free_walk I s (last_node (a :: rest)) (n + Z.of_nat (length rest)).
Proof.
  revert pre a n. induction rest as [|b rest IH]; intros pre a n S Q W.
  - simpl. now rewrite Z.add_0_r.
  - change (last_node (a :: b :: rest)) with (last_node (b :: rest)).
    replace (n + Z.of_nat (length (b :: rest))) with ((n + 1) + Z.of_nat (length rest))
      by (simpl length; lia).
    destruct (simple_hop _ _ _ _ _ S) as [c C].
    apply IH with (pre ++ [a]).
    + now rewrite <- app_assoc.
    + right. now destruct pre.
    + apply free_step with a c; trivial. destruct Q as [Q|Q]; [now left|].
      right. now apply simple_inner with pre b rest.
Qed.

Lemma free_walk_after I u b v n c :
  channel I u b c -> is_endpoint I b = false -> free_walk I b v n -> free_walk I u v (n + 1).
Proof.
  intros C E W. induction W as [|a b' c' n W IH O C'].
  - apply (free_step I u u b c 0); trivial; [constructor|now left].
  - apply free_step with a c'; trivial. right. destruct O as [->|O]; trivial.
Qed.

Lemma allowed_length I h p q :
  kind I <> StoreAndForward -> route I = ExtraHops h -> allowed I p -> simple I q ->
  first_node q = first_node p -> last_node q = last_node p ->
  Z.of_nat (length p) <= Z.of_nat (length q) + h.
Proof.
  unfold allowed. intros K R A. rewrite R in A.
  destruct (kind I); [|contradiction|]; destruct A as [_ A]; now apply A.
Qed.

Lemma simple_ends I p : simple I p -> last_node p <> first_node p.
Proof.
  intros (L & D & _). destruct p as [|a [|b p]]; try (simpl in L; lia).
  unfold first_node, last_node. simpl hd.
  inversion D as [|x y X Y]; subst. intros Q. apply X. rewrite <- Q.
  change (last (a :: b :: p) 1%positive) with (last (b :: p) 1%positive).
  clear. revert b. induction p as [|c p IH]; intros b; [now left|].
  change (last (b :: c :: p) 1%positive) with (last (c :: p) 1%positive). right. apply IH.
Qed.

(** An allowed path is at most [h] hops longer than a walk past no endpoint. *)
Lemma allowed_walk I h p n :
  kind I <> StoreAndForward -> route I = ExtraHops h -> allowed I p ->
  free_walk I (first_node p) (last_node p) n -> Z.of_nat (length p) <= n + 1 + h.
Proof.
  intros K R A W. pose proof (allowed_simple I p K A) as S.
  pose proof (simple_ends I p S) as N.
  destruct (free_walk_simple I _ _ _ W N) as (q & Q & F & T & M).
  pose proof (allowed_length I h p q K R A Q F T). lia.
Qed.

Lemma last_app (pre : path) a rest : last_node (pre ++ a :: rest) = last_node (a :: rest).
Proof.
  unfold last_node. induction pre as [|x pre IH]; [reflexivity|].
  change ((x :: pre) ++ a :: rest) with (x :: (pre ++ a :: rest)).
  destruct (pre ++ a :: rest) eqn:E; [now destruct pre|]. exact IH.
Qed.

(** The rest of an allowed path takes its hops in time. [o] hops lie before node [s], from which
    the distances [d] count; [k] hops of the rest have been taken. *)
Lemma rest_in_time I h (price : hop -> Z) d s o p : 
  kind I <> StoreAndForward -> route I = ExtraHops h -> allowed I p ->
  (forall v x, PM.find v d = Some x -> free_walk I (first_node p) v (x + o)) ->
  (forall pre v rest, p = pre ++ v :: rest -> Z.of_nat (length pre) >= o ->
     exists x, PM.find v d = Some x) ->
  forall rest pre a k n, p = pre ++ a :: rest -> Z.of_nat (length pre) = o + k ->
  0 <= k -> 0 <= o -> (length rest <= n)%nat ->
  (pre = [] -> a = s) -> (pre <> [] -> rest <> [] -> is_endpoint I a = false) ->
  walk (layers d h (edges I s nowhere price) (k + 1) n) a (last_node (a :: rest))
    (sum price (hops (a :: rest))).
Proof.
  intros K R A F X. induction rest as [|b rest IH]; intros pre a k n E L Pk Po N Z0 Z2.
  - constructor.
  - destruct n as [|n]; [simpl in N; lia|]. simpl layers.
    change (last_node (a :: b :: rest)) with (last_node (b :: rest)).
    change (sum price (hops (a :: b :: rest)))
      with (price (a, b) + sum price (hops (b :: rest))).
    pose proof (allowed_simple I p K A) as S. rewrite E in S.
    destruct (simple_hop _ _ _ _ _ S) as [c C].
    assert (E' : p = (pre ++ [a]) ++ b :: rest) by (now rewrite <- app_assoc).
    assert (L' : Z.of_nat (length (pre ++ [a])) = o + (k + 1))
      by (rewrite app_length; simpl; lia).
    apply walk_step with b.
    + apply filter_In. split.
      * apply in_edges with c; trivial. destruct (Pos.eq_dec a s) as [->|Ns]; [now left|].
        right. left. apply Z2; [|easy]. intros ->. apply Ns. now apply Z0.
      * unfold in_time. simpl. destruct (X _ _ _ E') as [x D]; [lia|]. rewrite D.
        apply Z.leb_le. pose proof (F _ _ D) as W.
        assert (W' : free_walk I (first_node p) (last_node p)
          (x + o + Z.of_nat (length rest))).
        { rewrite E', last_app. apply free_walk_extend with (pre ++ [a]).
          - now rewrite <- E', E.
          - right. now destruct pre.
          - rewrite <- E'. exact W. }
        pose proof (allowed_walk I h p _ K R A W') as M.
        rewrite E, app_length in M. simpl length in M. lia.
    + replace (k + 1 + 1) with ((k + 1) + 1) by lia.
      apply IH with (pre ++ [a]); trivial; try lia.
      * simpl in N. lia.
      * now destruct pre.
      * intros _ Q'. destruct rest as [|c' rest]; [easy|].
        apply simple_inner with (pre ++ [a]) c' rest; [now rewrite <- app_assoc|now destruct pre].
Qed.

Lemma fold_max (l : list (node * Z)) m :
  m <= fold_left (fun m each => Z.max m (snd each)) l m
  /\ forall each, In each l -> snd each <= fold_left (fun m each => Z.max m (snd each)) l m.
Proof.
  revert m. induction l as [|e l IH]; intros m; simpl; [split; [lia|easy]|].
  destruct (IH (Z.max m (snd e))) as [H1 H2]. split; [lia|].
  intros each [<-|J]; [lia|now apply H2].
Qed.

Lemma farthest_least d v x : PM.find v d = Some x -> x <= farthest d.
Proof.
  intros F. apply PM.elements_correct in F.
  apply (proj2 (fold_max (PM.elements d) 0) (v, x) F).
Qed.

Lemma path_end (a : node) rest : removelast (a :: rest) ++ [last_node (a :: rest)] = a :: rest.
Proof. unfold last_node. symmetry. now apply app_removelast_last. Qed.

(** Every node of a simple path has a distance from its first one. *)
Lemma has_distance I source v d pre rest :
  distances I source = Some d -> simple I (pre ++ v :: rest) ->
  first_node (pre ++ v :: rest) = source ->
  exists y, PM.find v d = Some y.
Proof.
  intros D S F. destruct pre as [|a pre].
  - unfold first_node in F. simpl in F. subst.
    destruct (cheapest_least _ _ _ _ source 0 D (walk_in_nil _ _)) as (y & H & _). now exists y.
  - apply simple_prefix in S. unfold first_node in F. simpl in F. subst a.
    pose proof (simple_walk I source nowhere (fun _ => 1) [] source (pre ++ [v]) S
      (or_intror (or_introl eq_refl))) as W.
    change (source :: pre ++ [v]) with ((source :: pre) ++ [v]) in W. rewrite last_snoc in W.
    destruct (cheapest_least _ _ _ _ _ _ D W) as (y & H & _). now exists y.
Qed.

(** The computed cost is at most what an allowed path costs. *)
Theorem path_costs_least I price source c p :
  kind I <> StoreAndForward -> allowed I p -> first_node p = source ->
  path_costs I price source = Some c -> at_most c (last_node p) (sum price (hops p)).
Proof.
  intros K A F C. pose proof (allowed_simple I p K A) as S.
  destruct p as [|a rest]; [destruct S as [L _]; simpl in L; lia|].
  unfold first_node in F. simpl in F. subst a. unfold path_costs in C.
  destruct (route I) as [|h|by_source next] eqn:R.
  1, 3: apply cheapest_least with (1 := C); apply simple_walk with []; auto.
  - destruct (distances I source) as [d|] eqn:D; [|discriminate]. inversion C; subst.
    change (sum price (hops (source :: rest))) with (0 + sum price (hops (source :: rest))).
    pose proof (distances_realized _ _ _ D) as Z.
    apply all_hops_least with source; [|apply start_source].
    change 1 with (0 + 1). apply rest_in_time with (o := 0) (p := source :: rest) (pre := []);
      trivial; try easy; try lia.
    + intros v x E. rewrite Z.add_0_r. now apply Z.
    + intros pre v r E _. apply (has_distance I source v d pre r); trivial; now rewrite <- E.
    + destruct (has_distance I source (last_node (source :: rest)) d
        (removelast (source :: rest)) []) as [x X]; trivial.
      * now rewrite path_end.
      * now rewrite path_end.
      * pose proof (farthest_least _ _ _ X) as M.
        pose proof (allowed_walk I h _ _ K R A (Z _ _ X)) as B. simpl length in B. lia.
Qed.

(** The same for the rest of an allowed path after its first hop. *)
Theorem tail_costs_least I price u b rest c :
  kind I <> StoreAndForward -> allowed I (u :: b :: rest) ->
  path_costs I price b = Some c ->
  at_most c (last_node (b :: rest)) (sum price (hops (b :: rest))).
Proof.
  intros K A C. pose proof (allowed_simple I _ K A) as S.
  assert (B : rest <> [] -> is_endpoint I b = false).
  { destruct rest as [|v rest]; [easy|]. intros _. now apply simple_inner with [u] v rest. }
  unfold path_costs in C. destruct (route I) as [|h|by_source next] eqn:R.
  1, 3: apply cheapest_least with (1 := C); destruct rest as [|v rest]; [constructor|];
    apply simple_walk with []; auto; now apply simple_tail in S.
  - destruct (distances I b) as [d|] eqn:D; [|discriminate]. inversion C; subst.
    change (sum price (hops (b :: rest))) with (0 + sum price (hops (b :: rest))).
    destruct rest as [|v0 rest']; [apply all_hops_keeps, start_source|].
    set (rest := v0 :: rest') in *. assert (B' : is_endpoint I b = false) by (now apply B).
    pose proof (distances_realized _ _ _ D) as Z.
    destruct (simple_hop I [] u b rest S) as [cap H].
    assert (W : forall v x, PM.find v d = Some x -> free_walk I u v (x + 1)).
    { intros v x E. apply free_walk_after with b cap; trivial. now apply Z. }
    assert (X : forall pre v r, u :: b :: rest = pre ++ v :: r -> Z.of_nat (length pre) >= 1 ->
      exists x, PM.find v d = Some x).
    { intros [|u' pre] v r E L; [simpl in L; lia|]. inversion E; subst.
      apply (has_distance I b v d pre r); trivial; rewrite <- H2; trivial.
      now apply simple_tail in S. }
    apply all_hops_least with b; [|apply start_source].
    change 1 with (0 + 1).
    apply rest_in_time with (o := 1) (p := u :: b :: rest) (pre := [u]); trivial; try easy; try lia.
    destruct (X (u :: removelast (b :: rest)) (last_node (b :: rest)) []) as [x E].
    + change (u :: b :: rest = u :: (removelast (b :: rest) ++ [last_node (b :: rest)])).
      now rewrite path_end.
    + simpl length. lia.
    + pose proof (farthest_least _ _ _ E) as M.
      pose proof (allowed_walk I h (u :: b :: rest) (x + 1) K R A) as Q.
      specialize (Q (W _ _ E)). simpl length in *. lia.
Qed.

Lemma hop_count a rest : sum (fun _ : hop => 1) (hops (a :: rest)) = Z.of_nat (length rest).
Proof.
  revert a. induction rest as [|b rest IH]; intros a; [reflexivity|].
  change (hops (a :: b :: rest)) with ((a, b) :: hops (b :: rest)).
  change (1 + sum (fun _ : hop => 1) (hops (b :: rest)) = Z.of_nat (length (b :: rest))).
  rewrite IH. simpl length. lia.
Qed.

(** After its first hop, an allowed path has no more than [h] hops too many. *)
Theorem tail_in_time I u b rest h near beyond :
  kind I <> StoreAndForward -> route I = ExtraHops h -> allowed I (u :: b :: rest) ->
  distances I u = Some near -> distances I b = Some beyond ->
  exists x y, PM.find (last_node (b :: rest)) near = Some x
    /\ PM.find (last_node (b :: rest)) beyond = Some y /\ y + 1 <= x + h.
Proof.
  intros K R A N Y. pose proof (allowed_simple I _ K A) as S.
  destruct (has_distance I u (last_node (b :: rest)) near
    (removelast (u :: b :: rest)) []) as [x X]; trivial.
  { exact (eq_ind_r (simple I) S (path_end u (b :: rest))). }
  pose proof (allowed_walk I h _ _ K R A (distances_realized _ _ _ N _ _ X)) as M.
  assert (L : at_most beyond (last_node (b :: rest)) (Z.of_nat (length rest))).
  { apply cheapest_least with (1 := Y). destruct rest as [|v rest]; [constructor|].
    rewrite <- (hop_count b (v :: rest)). apply simple_walk with []; auto.
    now apply simple_tail in S. }
  destruct L as (y & F & L). exists x, y. repeat split; trivial. simpl length in M. lia.
Qed.
