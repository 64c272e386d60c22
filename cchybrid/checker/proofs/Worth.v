(** What a message pays at least, given the worth of its destinations.

    A transfer to a destination earns its worth and pays its prices. Each node receives a message
    at most once, from a node that had it before: so the transfers are a tree, and what they earn
    minus what they pay is the income of the source. Incomes are bounded from the last step
    backwards, for every node.

    A receiver may in addition be charged once: a transfer to it earns less by its charges for that
    step; all of them together are at most the largest charges of each receiver in any step, as each
    receives once.

    Nodes may be put into blocks, which take the place of their nodes. Before the last step only the
    first transfer to a block without the source counts, with the worth of all its destinations; in
    the last step, to a block that has nothing yet, one transfer to each destination counts.

    Defined: the bounds of the incomes and of the payment of a message. Proved: a message pays at
    least that bound in every valid schedule (not in time slots). *)

Require Import ZArith List Bool Lia FMapPositive SetoidList Sorting.Mergesort Orders.
Require Import Model Plain Sums Facts Prices Walks Paths.
Import ListNotations.
Open Scope Z_scope.

(** ** Computed: what a message can earn *)

(** *** The largest of some gains *)

Module Largest_first <: TotalLeBool.
  Definition t := Z.
  Definition leb (x y : Z) : bool := y <=? x.
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb. destruct (Z.leb_spec y x), (Z.leb_spec x y); auto; lia. Qed.
End Largest_first.
Module Sorting_of_gains := Sort Largest_first.

(** The element of number [k] of a list, from 1; 0 if it has fewer. *)
Fixpoint element (k : Z) (l : list Z) : Z :=
  match l with
  | [] => 0
  | x :: rest => if k <=? 1 then x else element (k - 1) rest
  end.

(** The [k]-th largest gain; nothing depends on this being right. *)
Definition threshold (k : Z) (l : list (node * Z)) : Z :=
  if k <=? 1 then fold_left (fun x e => Z.max x (snd e)) l 0
  else Z.max 0 (element k (Sorting_of_gains.sort (map snd l))).

(** At least the sum of any [k] of the gains. *)
Definition largest (k : option Z) (l : list (node * Z)) : Z :=
  match l with
  | [] => 0
  | _ =>
      match k with
      | None => sum (fun e => Z.max 0 (snd e)) l
      | Some k => let x := threshold k l in k * x + sum (fun e => Z.max 0 (snd e - x)) l
      end
  end.

(** The best gain for each receiver, of old ones and the listed ones. *)
Definition keep_best (old : PM.t Z) (l : list (node * Z)) : PM.t Z :=
  fold_left (fun m e =>
    match PM.find (fst e) m with
    | Some y => if snd e <=? y then m else PM.add (fst e) (snd e) m
    | None => PM.add (fst e) (snd e) m
    end) l old.

(** *** What is computed once for all messages *)

(** The least price of paths that begin with a channel, without the port of the receiver:
    only to its end; to any node, by node; or not found, at least that price. *)
Inductive reach := Direct (cost : Z) | Beyond (costs : PM.t (option Z)) | Unknown (cost : Z).

Record beginning := { neighbour : node; capacity : Z; reached_by : reach }.

(** Results of a function, computed once. *)
Definition remember {A B} (f : node -> A) (m : PM.t B) : PM.t A := PM.mapi (fun v _ => f v) m.
Definition recall {A} (f : node -> A) (m : PM.t A) (v : node) : A :=
  match PM.find v m with Some y => y | None => f v end.

(** Whether a node can be the end of a path that begins with a channel, by its hops. *)
Definition no_detour (I : instance) (near beyond : option (PM.t Z)) (v : node) : bool :=
  match route I with
  | AnyPath | Table _ _ => true
  | ExtraHops h =>
      match near, beyond with
      | Some near, Some beyond =>
          match PM.find v near, PM.find v beyond with
          | Some x, Some y => y + 1 <=? x + h
          | _, _ => false
          end
      | _, _ => true
      end
  end.

Definition reach_of (I : instance) (tb : table) (dist tail : node -> option (PM.t Z))
    (u b : node) : reach :=
  let paid := table_price tb (Inject u) + hop_price I tb (u, b) in
  let direct := match kind I with StoreAndForward => true | _ => is_endpoint I b end in
  if direct then Direct paid
  else match tail b with
       | None => Unknown paid
       | Some c =>
           let near := dist u in
           let beyond := dist b in
           Beyond (PM.mapi (fun v x =>
             if negb (Pos.eqb v u) && no_detour I near beyond v then Some (paid + x) else None) c)
       end.

(** The costs of the paths from a node, if a path may pass it and it may send others on. *)
Definition tail_of (I : instance) (tb : table) (b : node) : option (PM.t Z) :=
  match kind I with
  | StoreAndForward => None
  | _ => if is_endpoint I b then None else path_costs I (hop_price I tb) b
  end.

(** Distances from a node, where paths are limited in hops. *)
Definition distance_of (I : instance) (v : node) : option (PM.t Z) :=
  match kind I, route I with
  | StoreAndForward, _ | _, AnyPath | _, Table _ _ => None
  | _, _ => distances I v
  end.

(** An interval, its prices, and for each node what begins with each of its channels. *)
Record prepared := {
  first_step : Z;
  last_step : Z;
  accepting : table;
  beginnings : PM.t (list beginning)
}.

Definition prepare_interval (I : instance) (dist : PM.t (option (PM.t Z))) (i : interval)
    : prepared :=
  let tails := remember (tail_of I (prices i)) (adjacent I) in
  {| first_step := from i;
     last_step := to i;
     accepting := prices i;
     beginnings := PM.mapi (fun u l =>
       map (fun next =>
         {| neighbour := fst next;
            capacity := snd next;
            reached_by := reach_of I (prices i) (recall (distance_of I) dist)
              (recall (tail_of I (prices i)) tails) u (fst next) |}) l) (adjacent I) |}.

Definition is_in (v : node) (l : list (node * Z)) : bool :=
  existsb (fun e => Pos.eqb v (fst e)) l.

(** How many neighbours a node has, and whether those before it are all among them. *)
Definition fan_of (I : instance) (u : node) : Z * bool :=
  let l := neighbours I u in
  (Z.of_nat (length (nodup Pos.eq_dec (map fst l))),
   forallb (fun each => negb (is_in u (snd each)) || is_in (fst each) l)
     (PM.elements (adjacent I))).

(** All that is computed once for all messages. *)
Record preparation := { intervals_of : list prepared; fans : PM.t (Z * bool) }.

Definition prepare (I : instance) (l : list interval) : preparation :=
  let dist := remember (distance_of I) (adjacent I) in
  {| intervals_of := map (prepare_interval I dist) l;
     fans := match kind I with
             | StoreAndForward => remember (fan_of I) (adjacent I)
             | _ => PM.empty _
             end |}.

(** Hop by hop, a node sends a message to each neighbour once, and not to where it came from. *)
Definition sends_at_most (p : preparation) (source u : node) : option Z :=
  match PM.find u (fans p) with
  | None => None
  | Some (n, both_ways) =>
      Some (if both_ways && negb (Pos.eqb u source) then Z.max 0 (n - 1) else n)
  end.

(** *** Blocks *)

(** The block of a node, named by one of its nodes; a node that is not listed is its own block. *)
Definition block_of (blocks : PM.t node) (v : node) : node :=
  match PM.find v blocks with Some b => b | None => v end.

(** Blocks as lists of nodes; of a node in two of them, the last one counts. *)
Definition make_blocks (l : list (list node)) : PM.t node :=
  fold_left (fun m nodes =>
    match nodes with
    | [] => m
    | b :: _ => fold_left (fun m v => PM.add v b m) nodes m
    end) l (PM.empty node).

(** The name of each block is in it. *)
Definition blocks_fit (blocks : PM.t node) : bool :=
  forallb (fun e =>
    match PM.find (snd e) blocks with Some b => Pos.eqb b (snd e) | None => false end)
    (PM.elements blocks).

(** Nodes in blocks that may have the message. *)
Definition holders_in_blocks (I : instance) (blocks : PM.t node) (source : node)
    (destinations : list node) : list node :=
  match kind I with
  | StoreAndForward => map fst (PM.elements blocks)
  | _ => source :: filter (fun d => negb (Pos.eqb d source)) destinations
  end.

(** The nodes of the block of a node that may have the message. *)
Definition members_of (blocks : PM.t node) (may_hold : list node) (u : node) : list node :=
  match PM.find u blocks with
  | None => [u]
  | Some b => filter (fun w => Pos.eqb (block_of blocks w) b) may_hold
  end.

(** The worth of the destinations in the block of a node. *)
Definition worth_in_block (blocks : PM.t node) (values : PM.t Z) (v : node) : Z :=
  match PM.find v blocks with
  | None => found values v
  | Some b => sum (fun e => if Pos.eqb (block_of blocks (fst e)) b then snd e else 0)
                (PM.elements values)
  end.

(** To what a transfer counts: in the last step to its receiver, before to the block of it. *)
Definition goal_in (blocks : PM.t node) (t T : Z) (v : node) : node :=
  if t =? T then v else block_of blocks v.

(** The best gains by what they count to, without those for the block itself. *)
Definition gains_by_goal (blocks : PM.t node) (t T : Z) (u : node) (gains : list (node * Z))
    : list (node * Z) :=
  if PM.is_empty blocks then gains
  else PM.elements (keep_best (PM.empty Z)
    (map (fun e => (goal_in blocks t T (fst e), snd e))
       (filter (fun e => negb (Pos.eqb (block_of blocks (fst e)) (block_of blocks u))) gains))).

(** The gains by block: in the last step those for nodes of a block add up. *)
Definition gains_by_block (blocks : PM.t node) (t T : Z) (gains : list (node * Z))
    : list (node * Z) :=
  if PM.is_empty blocks || negb (t =? T) then gains
  else
    let l := PM.elements (keep_best (PM.empty Z) gains) in
    map (fun e =>
      let b := block_of blocks (fst e) in
      (b, largest None (filter (fun e => Pos.eqb (block_of blocks (fst e)) b) l))) l.

(** *** Charges *)

(** What a transfer to a node is charged in the steps of a range; at least 0. *)
Record charge := { charged : node; charged_from : Z; charged_to : Z; charge_size : Z }.

(** The charges of a step, by node: those of the same node are added. *)
Definition charges_at (once : list charge) (t : Z) : PM.t Z :=
  fold_left (fun m c =>
    if (charged_from c <=? t) && (t <=? charged_to c)
    then PM.add (charged c) (found m (charged c) + Z.max 0 (charge_size c)) m else m)
    once (PM.empty Z).

(** The largest charges of nodes in a step until [T], of all nodes together. *)
Definition all_charges (once : list charge) (T : Z) : Z :=
  match once with
  | [] => 0
  | _ => largest None (PM.elements (fold_left (fun m t =>
           keep_best m (PM.elements (charges_at once t))) (steps_from 1 (Z.to_nat T))
           (PM.empty Z)))
  end.

(** *** Incomes from the last step backwards *)

(** Of a block from a step on: what it earns in all steps, hop by hop the best gain for each
    block that receives, and its income, at most. *)
Record account := { sums : Z; best : PM.t Z; income : Z }.

Definition nothing : account := {| sums := 0; best := PM.empty Z; income := 0 |}.

Definition accounts_at_end (I : instance) (blocks : PM.t node) (source : node)
    (destinations : list node) : PM.t account :=
  fold_left (fun m d => PM.add d nothing m)
    (match kind I with StoreAndForward => map fst (PM.elements blocks) | _ => [] end
     ++ source :: destinations)
    (match kind I with
     | StoreAndForward => PM.map (fun _ => nothing) (adjacent I)
     | _ => PM.empty _
     end).

(** How many transfers to blocks the nodes of a block can send. *)
Fixpoint all_fans (p : preparation) (l : list node) : option Z :=
  match l with
  | [] => Some 0
  | w :: rest =>
      match PM.find w (fans p), all_fans p rest with
      | Some (n, _), Some y => Some (n + y)
      | _, _ => None
      end
  end.

Definition block_sends_at_most (p : preparation) (source : node) (nodes : list node) : option Z :=
  match nodes with
  | [w] => sends_at_most p source w
  | _ => all_fans p nodes
  end.

(** What is the same for all steps of a message: [own] is [worth_in_block], [members] are those that
    may have it. Accounts are by node: all nodes of a block have the account of the block. *)
Record task := {
  home : node;
  end_step : Z;
  values : PM.t Z;
  total : Z;
  blocks : PM.t node;
  own : node -> Z;
  members : node -> list node;
  once : list charge
}.

(** What a receipt is worth at most at each node, minus the price of its port and its charge. *)
Definition amounts (k : task) (tb : table) (t : Z) (charges : PM.t Z) (old : PM.t account)
    : PM.t Z :=
  let at_home := block_of (blocks k) (home k) in
  let at_end := t =? end_step k in
  PM.mapi (fun v a =>
    let b := block_of (blocks k) v in
    if Pos.eqb b at_home then 0
    else if at_end then found (values k) v - table_price tb (Accept v)
    else Z.min (total k) (own k v + income a) - table_price tb (Accept v) - found charges b) old.

Definition gain_if_positive (v : node) (g : Z) : list (node * Z) :=
  if 0 <? g then [(v, g)] else [].

Definition gains_from (amount : PM.t Z) (listed : list (node * Z)) (b : beginning)
    : list (node * Z) :=
  match reached_by b with
  | Direct y =>
      match PM.find (neighbour b) amount with
      | Some a => gain_if_positive (neighbour b) (a - y)
      | None => []
      end
  | Beyond c =>
      flat_map (fun e =>
        match PM.find (fst e) c with
        | Some (Some y) => gain_if_positive (fst e) (snd e - y)
        | _ => []
        end) listed
  | Unknown y => flat_map (fun e => gain_if_positive (fst e) (snd e - y)) listed
  end.

(** How many transfers a capacity allows in a step. *)
Definition carried (I : instance) (t c : Z) : Z := Z.max 0 (in_step I t c).

(** The same for the ports of a node and all its channels, which carry [flow]. *)
Definition port_limit (I : instance) (u : node) (t : Z) (flow : Z) : Z :=
  match PM.find u (injects I) with Some k => Z.min flow (carried I t k) | None => flow end.

Definition beginnings_at (part : prepared) (u : node) : list beginning :=
  match PM.find u (beginnings part) with Some l => l | None => [] end.

(** [flat_map], quick for one element. *)
Definition over_all {A B} (f : A -> list B) (l : list A) : list B :=
  match l with [x] => f x | _ => flat_map f l end.

(** How many transfers the nodes of a block can send in a step. *)
Definition sent_by (I : instance) (part : prepared) (t : Z) (nodes : list node) : Z :=
  sum (fun w => port_limit I w t
    (sum (fun b => carried I t (capacity b)) (beginnings_at part w))) nodes.

(** What the nodes of a block earn in a step at most: by their channels, and by their ports. *)
Definition earned (I : instance) (t limit : Z) (by_channel : list (Z * list (node * Z))) : Z :=
  Z.min (sum (fun each => largest (Some (carried I t (fst each))) (snd each)) by_channel)
    (largest (Some limit) (PM.elements (keep_best (PM.empty Z) (flat_map snd by_channel)))).

(** An account that has reached all worth stays as it is. *)
Definition account_before (I : instance) (p : preparation) (part : prepared) (k : task)
    (t : Z) (amount : PM.t Z) (listed : list (node * Z)) (u : node) (a : account) : account :=
  if total k <=? income a then a
  else
    let by_channel :=
      over_all (fun w => map (fun b =>
        (capacity b,
         gains_by_goal (blocks k) t (end_step k) u (gains_from amount listed b)))
        (beginnings_at part w)) (members k u) in
    let more := sums a + earned I t (sent_by I part t (members k u)) by_channel in
    match kind I with
    | StoreAndForward =>
        let kept := keep_best (best a)
          (gains_by_block (blocks k) t (end_step k) (flat_map snd by_channel)) in
        {| sums := more;
           best := kept;
           income := Z.min (Z.min (total k) more)
             (largest (block_sends_at_most p (home k) (members k u)) (PM.elements kept)) |}
    | _ => {| sums := more; best := best a; income := Z.min (total k) more |}
    end.

(** One step back. *)
Definition step_back (I : instance) (p : preparation) (part : prepared) (k : task) (t : Z)
    (old : PM.t account) : PM.t account :=
  let amount := amounts k (accepting part) t (charges_at (once k) t) old in
  let listed :=
    match kind I with
    | StoreAndForward => []
    | _ => filter (fun e => 0 <? snd e) (PM.elements amount)
    end in
  PM.mapi (account_before I p part k t amount listed) old.

Fixpoint steps_back (step : Z -> PM.t account -> PM.t account) (t : Z) (n : nat)
    (old : PM.t account) : PM.t account :=
  match n with O => old | S k => steps_back step (t - 1) k (step t old) end.

(** All steps of the intervals. *)
Fixpoint accounts (I : instance) (p : preparation) (k : task) (parts : list prepared)
    (at_end : PM.t account) : PM.t account :=
  match parts with
  | [] => at_end
  | part :: rest =>
      steps_back (step_back I p part k) (last_step part)
        (Z.to_nat (last_step part + 1 - first_step part))
        (accounts I p k rest at_end)
  end.

(** The intervals follow each other, from step [t] to step [T]. *)
Fixpoint in_order (t T : Z) (parts : list prepared) : bool :=
  match parts with
  | [] => T <? t
  | part :: rest =>
      (first_step part =? t) && (t <=? last_step part) && (last_step part <=? T)
      && in_order (last_step part + 1) T rest
  end.

(** The worth of the destinations but those in the block of the source. *)
Definition values_of (blocks : PM.t node) (worth : PM.t Z) (source : node)
    (destinations : list node) : PM.t Z :=
  fold_left (fun m d =>
    if Pos.eqb (block_of blocks d) (block_of blocks source) then m
    else PM.add d (Z.max 0 (found worth d)) m)
    destinations (PM.empty Z).

Definition total_of (values : PM.t Z) : Z := sum snd (PM.elements values).

Definition make_task (I : instance) (T : Z) (worth : PM.t Z) (once : list charge)
    (blocks : PM.t node) (source : node) (destinations : list node) : task :=
  let values := values_of blocks worth source destinations in
  let own := worth_in_block blocks values in
  let members := members_of blocks (holders_in_blocks I blocks source destinations) in
  {| home := source;
     end_step := T;
     values := values;
     total := total_of values;
     blocks := blocks;
     own := if PM.is_empty blocks then found values else recall own (remember own blocks);
     members :=
       if PM.is_empty blocks then fun u => [u] else recall members (remember members blocks);
     once := once |}.

(** The charges of blocks; those that do not receive the message are left out. *)
Definition charges_of_blocks (I : instance) (blocks : PM.t node) (source : node)
    (destinations : list node) (at_end : PM.t account) (once : list charge) : list charge :=
  filter (fun c => negb (Pos.eqb (charged c) (block_of blocks source))
    && existsb (fun w => PM.mem w at_end)
         (members_of blocks (holders_in_blocks I blocks source destinations) (charged c)))
    (map (fun c => {| charged := block_of blocks (charged c); charged_from := charged_from c;
       charged_to := charged_to c; charge_size := charge_size c |}) once).

(** What a message pays at least. *)
Definition worth_bound (I : instance) (p : preparation) (T : Z) (worth : PM.t Z)
    (once : list charge) (blocks : PM.t node) (source : node) (destinations : list node) : Z :=
  if in_order 1 T (intervals_of p) then
    let blocks := if blocks_fit blocks then blocks else PM.empty node in
    let at_end := accounts_at_end I blocks source destinations in
    let once := charges_of_blocks I blocks source destinations at_end once in
    let k := make_task I T worth once blocks source destinations in
    let at_start := accounts I p k (intervals_of p) at_end in
    Z.max 0 (total k - all_charges once T
             - match PM.find source at_start with Some a => income a | None => 0 end)
  else 0.

(** ** Sums of the largest *)

Lemma sum_distinct (l : list node) (v : node) (y : Z) :
  0 <= y -> NoDup l -> sum (fun u => if Pos.eqb u v then y else 0) l <= y.
Proof.
  intros Y D. induction D as [|u l N D IH]; simpl; [lia|].
  destruct (Pos.eqb_spec u v) as [->|]; [|lia].
  rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
  intros x X. destruct (Pos.eqb_spec x v) as [->|]; [contradiction|reflexivity].
Qed.

(** A gain that is positive is among some listed ones, or a better one for the same node. *)
Definition listed_gain (l : list (node * Z)) (v : node) (g : Z) : Prop :=
  g <= 0 \/ exists y, In (v, y) l /\ g <= y.

Lemma fold_max_nonneg l x : 0 <= x -> 0 <= fold_left (fun x (e : node * Z) => Z.max x (snd e)) l x.
Proof. revert x. induction l; simpl; intros; trivial. apply IHl. lia. Qed.

Lemma threshold_nonneg k l : 0 <= threshold k l.
Proof. unfold threshold. destruct (k <=? 1); [apply fold_max_nonneg; lia|lia]. Qed.

Definition within (number : Z) (k : option Z) : Prop :=
  match k with Some k => number <= k | None => True end.

(** At most [k] gains for distinct nodes are at most [largest k]. *)
Lemma largest_bounds {A} (g : A -> Z) (at_node : A -> node) (k : option Z) (xs : list A)
    (l : list (node * Z)) :
  NoDup (map at_node xs) -> (forall x, In x xs -> listed_gain l (at_node x) (g x)) ->
  within (Z.of_nat (length xs)) k -> sum g xs <= largest k l.
Proof.
  intros D L K.
  assert (E : forall y, 0 <= y ->
    sum g xs <= Z.of_nat (length xs) * y + sum (fun e => Z.max 0 (snd e - y)) l).
  { intros y Y.
    assert (B : sum (fun x => Z.max 0 (g x - y)) xs <= sum (fun e => Z.max 0 (snd e - y)) l).
    { transitivity (sum (fun x => sum (fun e =>
        if Pos.eqb (at_node x) (fst e) then Z.max 0 (snd e - y) else 0) l) xs).
      - apply sum_le. intros x V. destruct (L x V) as [|(z & Z0 & G)].
        + transitivity 0; [lia|]. apply sum_nonneg. intros e _.
          destruct (Pos.eqb (at_node x) (fst e)); lia.
        + transitivity (Z.max 0 (z - y)); [lia|].
          assert (H := sum_single (fun e : node * Z =>
            if Pos.eqb (at_node x) (fst e) then Z.max 0 (snd e - y) else 0) l (at_node x, z) Z0).
          simpl in H. rewrite Pos.eqb_refl in H. apply H.
          intros e _. destruct (Pos.eqb (at_node x) (fst e)); lia.
      - rewrite sum_swap. apply sum_le. intros e _.
        rewrite <- (sum_map
          (fun v => if Pos.eqb v (fst e) then Z.max 0 (snd e - y) else 0) at_node).
        apply sum_distinct; trivial; lia. }
    transitivity (sum (fun x => y + Z.max 0 (g x - y)) xs); [apply sum_le; intros; lia|].
    rewrite sum_plus. replace (sum (fun _ => y) xs) with (Z.of_nat (length xs) * y); [lia|].
    clear. induction xs as [|a xs IH]; [reflexivity|].
    simpl length. rewrite Nat2Z.inj_succ. simpl sum. rewrite <- IH. lia. }
  unfold largest. destruct l as [|e l].
  - specialize (E 0 ltac:(lia)). simpl in E. lia.
  - destruct k as [k|].
    + specialize (E _ (threshold_nonneg k (e :: l))). simpl in K.
      assert (0 <= threshold k (e :: l)) by apply threshold_nonneg. cbv zeta. nia.
    + specialize (E 0 ltac:(lia)).
      rewrite (sum_ext (fun e => Z.max 0 (snd e)) (fun e => Z.max 0 (snd e - 0))); [lia|].
      intros. now rewrite Z.sub_0_r.
Qed.

(** ** The best gains *)

Definition above (m : PM.t Z) (v : node) (g : Z) : Prop :=
  g <= 0 \/ exists y, PM.find v m = Some y /\ g <= y.

Lemma above_listed m v g : above m v g -> listed_gain (PM.elements m) v g.
Proof.
  intros [|(y & F & G)]; [now left|right; exists y].
  split; trivial. now apply PM.elements_correct.
Qed.

Lemma keep_best_keeps l m v g : above m v g -> above (keep_best m l) v g.
Proof.
  revert m. induction l as [|[w z] l IH]; intros m A; trivial. simpl. apply IH.
  destruct A as [|(y & F & G)]; [now left|right].
  destruct (Pos.eq_dec v w) as [->|N].
  - rewrite F. destruct (Z.leb_spec z y); [now exists y|].
    exists z. rewrite PM.gss. split; [reflexivity|lia].
  - exists y. split; trivial.
    destruct (PM.find w m) as [u|]; [destruct (z <=? u)|]; trivial; now rewrite PM.gso.
Qed.

Lemma keep_best_new l m v g : listed_gain l v g -> above (keep_best m l) v g.
Proof.
  intros [|(y & Y & G)]; [now left|].
  apply in_split in Y as (l1 & l2 & ->). unfold keep_best. rewrite fold_left_app. simpl.
  set (k := fold_left _ l1 m).
  change (above (keep_best match PM.find v k with
    | Some z => if y <=? z then k else PM.add v y k | None => PM.add v y k end l2) v g).
  apply keep_best_keeps. right.
  destruct (PM.find v k) as [z|] eqn:E.
  - destruct (Z.leb_spec y z).
    + exists z. split; [trivial|lia].
    + exists y. rewrite PM.gss. now split.
  - exists y. rewrite PM.gss. now split.
Qed.

(** ** Charges *)

Lemma charges_at_nonneg once t v : 0 <= found (charges_at once t) v.
Proof.
  unfold charges_at.
  assert (H : forall l m, (forall v, 0 <= found m v) -> 0 <= found (fold_left (fun m c =>
    if (charged_from c <=? t) && (t <=? charged_to c)
    then PM.add (charged c) (found m (charged c) + Z.max 0 (charge_size c)) m else m) l m) v).
  { induction l as [|c l IH]; intros m O; [apply O|]. apply IH. intros w.
    destruct ((charged_from c <=? t) && (t <=? charged_to c)); [|apply O].
    specialize (O (charged c)) as O'. unfold found at 1.
    destruct (Pos.eq_dec w (charged c)) as [->|D].
    - rewrite PM.gss. lia.
    - rewrite PM.gso by trivial. apply O. }
  apply H. intros w. unfold found. now rewrite PM.gempty.
Qed.

Lemma in_steps t n k : t <= k < t + Z.of_nat n -> In k (steps_from t n).
Proof.
  revert t. induction n as [|n IH]; intros t H; [simpl in H; lia|]. rewrite Nat2Z.inj_succ in H.
  destruct (Z.eq_dec k t) as [->|]; [now left|right]. apply IH. lia.
Qed.

(** Each node is charged once, in one of the steps, so all charges are at most these. *)
Lemma charges_bounded {A} (at_node : A -> node) (at_step : A -> Z) (once : list charge) (T : Z)
    (xs : list A) :
  NoDup (map at_node xs) -> (forall x, In x xs -> 1 <= at_step x <= T) ->
  sum (fun x => found (charges_at once (at_step x)) (at_node x)) xs <= all_charges once T.
Proof.
  intros D L. unfold all_charges.
  destruct once as [|c l] eqn:E.
  { rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
    intros x _. unfold charges_at, found. simpl. now rewrite PM.gempty. }
  rewrite <- E. clear c l E. apply largest_bounds with (at_node := at_node); trivial; [|easy].
  intros x X. apply above_listed. specialize (L x X).
  assert (H : In (at_step x) (steps_from 1 (Z.to_nat T))) by (apply in_steps; lia).
  revert H. generalize (PM.empty Z). induction (steps_from 1 (Z.to_nat T)) as [|t l IH];
    intros m H; [easy|]. simpl.
  assert (Keep : forall l m v g, above m v g -> above (fold_left (fun m t =>
    keep_best m (PM.elements (charges_at once t))) l m) v g).
  { clear. induction l as [|t l IH]; intros m v g H; trivial. simpl.
    now apply IH, keep_best_keeps. }
  destruct H as [->|H]; [|now apply IH]. apply Keep, keep_best_new.
  unfold found. destruct (PM.find (at_node x) (charges_at once (at_step x))) as [y|] eqn:F.
  - right. exists y. split; [now apply PM.elements_correct|lia].
  - left. lia.
Qed.

(** ** Steps counted backwards *)

Lemma sum_zeros {A} (f : A -> Z) l : (forall x, In x l -> f x = 0) -> sum f l = 0.
Proof. intros H. rewrite (sum_ext _ (fun _ => 0)) by trivial. apply sum_zero. Qed.


Lemma backwards_from (Q : Z -> Prop) (T : Z) :
  Q (T + 1) -> (forall t, t <= T -> Q (t + 1) -> Q t) -> forall t, t <= T + 1 -> Q t.
Proof.
  intros Base Step.
  assert (H : forall n t, (Z.to_nat (T + 1 - t) = n)%nat -> t <= T + 1 -> Q t).
  { induction n as [|n IH]; intros t E L.
    - now replace t with (T + 1) by lia.
    - apply Step; [lia|]. apply IH; lia. }
  intros t. now apply (H _ t eq_refl).
Qed.

(** ** The tree of the transfers of a message *)

Section Tree.

(** Transfers of one message until step [T], from nodes or blocks that have it, to each once. *)
Variables (origin goal : timed_transfer -> node).
Variables (xs : list timed_transfer) (source : node) (T : Z).
Hypothesis in_time : forall x, In x xs -> 1 <= fst x <= T.
Hypothesis once : NoDup (source :: map goal xs).
Hypothesis cause : forall x, In x xs -> origin x = source
  \/ exists y, In y xs /\ goal y = origin x /\ fst y < fst x.

Definition sends_now (u : node) (t : Z) (x : timed_transfer) : bool :=
  Pos.eqb (origin x) u && Z.eqb (fst x) t.
Definition sends_later (u : node) (t : Z) (x : timed_transfer) : bool :=
  Pos.eqb (origin x) u && (t <=? fst x).

(** The gains of the transfers that a node causes in [n] steps from step [t] on. *)
Fixpoint tree (g : timed_transfer -> Z) (n : nat) (t : Z) (u : node) : Z :=
  match n with
  | O => 0
  | S k => sum (fun x => g x + tree g k (t + 1) (goal x)) (filter (sends_now u t) xs)
      + tree g k (t + 1) u
  end.

(** The same from step [t] to the end. *)
Definition caused (g : timed_transfer -> Z) (t : Z) (u : node) : Z :=
  tree g (Z.to_nat (T + 1 - t)) t u.

(** The gain of a transfer, with all that it causes. *)
Definition with_caused (g : timed_transfer -> Z) (x : timed_transfer) : Z :=
  g x + caused g (fst x + 1) (goal x).

Lemma caused_end g t u : T < t -> caused g t u = 0.
Proof. intros. unfold caused. now replace (Z.to_nat (T + 1 - t)) with O by lia. Qed.

Lemma caused_step g t u : t <= T ->
  caused g t u = sum (with_caused g) (filter (sends_now u t) xs) + caused g (t + 1) u.
Proof.
  intros L. unfold caused at 1.
  replace (Z.to_nat (T + 1 - t)) with (S (Z.to_nat (T + 1 - (t + 1)))) by lia.
  simpl. f_equal. apply sum_ext. intros x X. apply filter_In in X as [_ X].
  unfold sends_now in X. apply andb_true_iff in X as [_ X]. apply Z.eqb_eq in X.
  unfold with_caused, caused. now rewrite X.
Qed.

(** What a node causes is what all its transfers bring, each with what it causes. *)
Lemma caused_sum g t u : t <= T + 1 ->
  caused g t u = sum (with_caused g) (filter (sends_later u t) xs).
Proof.
  revert t. apply backwards_from.
  - rewrite caused_end by lia. rewrite sum_filter. symmetry. apply sum_zeros.
    intros x X. pose proof (in_time x X). unfold sends_later.
    destruct (Z.leb_spec (T + 1) (fst x)); [lia|]. now rewrite andb_false_r.
  - intros t L E. rewrite caused_step, E, !sum_filter, <- sum_plus by trivial.
    apply sum_ext. intros x _. unfold sends_now, sends_later.
    destruct (Pos.eqb (origin x) u); [simpl|reflexivity].
    destruct (Z.eqb_spec (fst x) t), (Z.leb_spec t (fst x)), (Z.leb_spec (t + 1) (fst x)); lia.
Qed.

Lemma caused_le g h t u :
  (forall x, In x xs -> g x <= h x) -> caused g t u <= caused h t u.
Proof.
  intros L. unfold caused. generalize (Z.to_nat (T + 1 - t)). intros n.
  revert t u. induction n as [|n IH]; intros t u; simpl; [lia|].
  specialize (IH (t + 1)) as IH'. specialize (IH' u).
  match goal with |- ?a + _ <= ?b + _ => assert (a <= b); [|lia] end.
  apply sum_le. intros x X. apply filter_In in X as [X _].
  specialize (L x X). specialize (IH (t + 1) (goal x)). lia.
Qed.

Lemma caused_nonneg g t u : (forall x, In x xs -> 0 <= g x) -> 0 <= caused g t u.
Proof.
  intros L. unfold caused. generalize (Z.to_nat (T + 1 - t)). intros n.
  revert t u. induction n as [|n IH]; intros t u; simpl; [lia|].
  specialize (IH (t + 1)) as IH'. specialize (IH' u).
  match goal with |- 0 <= ?a + _ => assert (0 <= a); [|lia] end.
  apply sum_nonneg. intros x X. apply filter_In in X as [X _].
  specialize (L x X). specialize (IH (t + 1) (goal x)). lia.
Qed.

(** The nodes that have the message before step [t]. *)
Definition holders (t : Z) : list node :=
  source :: map goal (filter (fun x => fst x <? t) xs).

Lemma holder_later t u : In u (holders t) -> In u (holders (t + 1)).
Proof.
  intros [E|H]; [now left|right]. apply in_map_iff in H as (x & <- & X).
  apply filter_In in X as [X L]. apply in_map, filter_In. split; trivial.
  apply Z.ltb_lt in L. apply Z.ltb_lt. lia.
Qed.

Lemma holder_new t x : In x xs -> fst x < t -> In (goal x) (holders t).
Proof. intros X L. right. apply in_map, filter_In. split; trivial. now apply Z.ltb_lt. Qed.

Lemma origin_holds x : In x xs -> In (origin x) (holders (fst x)).
Proof.
  intros X. destruct (cause x X) as [->|(y & Y & <- & L)]; [now left|now apply holder_new].
Qed.

Lemma NoDup_map_filter {A B} (f : A -> B) (p : A -> bool) l :
  NoDup (map f l) -> NoDup (map f (filter p l)).
Proof.
  induction l as [|a l IH]; simpl; trivial. intros D. inversion D as [|? ? N D']; subst.
  destruct (p a); [|now apply IH]. simpl. constructor; [|now apply IH].
  intros H. apply N. apply in_map_iff in H as (x & <- & X). apply filter_In in X as [X _].
  now apply in_map.
Qed.

Lemma goals_distinct p : NoDup (map goal (filter p xs)).
Proof. apply NoDup_map_filter. now inversion once. Qed.

Lemma source_receives_nothing x : In x xs -> goal x <> source.
Proof.
  intros X E. destruct (proj1 (NoDup_cons_iff _ _) once) as [N _]. apply N. rewrite <- E.
  now apply in_map.
Qed.

Lemma holders_distinct t : NoDup (holders t).
Proof.
  constructor; [|apply goals_distinct].
  intros H. apply in_map_iff in H as (x & E & X). apply filter_In in X as [X _].
  now apply (source_receives_nothing x).
Qed.

Lemma sum_holders f t :
  sum f (holders t) = f source + sum (fun x => if fst x <? t then f (goal x) else 0) xs.
Proof. simpl. now rewrite sum_map, sum_filter. Qed.

Lemma sum_at_one (l : list node) (v : node) (y : Z) :
  In v l -> NoDup l -> sum (fun u => if Pos.eqb v u then y else 0) l = y.
Proof.
  intros H D. induction D as [|u l N D IH]; simpl; [contradiction|].
  destruct (Pos.eqb_spec v u) as [->|M].
  - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
    intros x X. destruct (Pos.eqb_spec u x) as [->|]; [contradiction|reflexivity].
  - destruct H as [->|H]; [congruence|]. now apply IH.
Qed.

(** What the holders cause from a step on is all that comes from then on. *)
Lemma caused_total g t : t <= T + 1 ->
  sum (caused g t) (holders t) = sum g (filter (fun x => t <=? fst x) xs).
Proof.
  revert t. apply backwards_from.
  - rewrite (sum_ext _ (fun _ => 0)) by (intros; apply caused_end; lia).
    rewrite sum_zero, sum_filter. symmetry. apply sum_zeros. intros x X.
    pose proof (in_time x X). destruct (Z.leb_spec (T + 1) (fst x)); lia.
  - intros t L E.
    rewrite (sum_ext _ (fun u => sum (with_caused g) (filter (sends_now u t) xs)
      + caused g (t + 1) u)) by (intros; now apply caused_step).
    rewrite sum_plus.
    rewrite (sum_ext _ (fun u => sum (fun x =>
      if Pos.eqb (origin x) u then if fst x =? t then with_caused g x else 0 else 0) xs)).
    2:{ intros u _. rewrite sum_filter. apply sum_ext. intros x _. unfold sends_now.
        now destruct (Pos.eqb (origin x) u). }
    rewrite sum_swap.
    rewrite (sum_ext _ (fun x => if fst x =? t then with_caused g x else 0)).
    2:{ intros x X. destruct (Z.eqb_spec (fst x) t) as [<-|].
        - apply sum_at_one; [now apply origin_holds|apply holders_distinct].
        - apply sum_zeros. intros u _.
          now destruct (Pos.eqb (origin x) u). }
    rewrite sum_holders, sum_filter in E |- *.
    transitivity (sum (fun x => if fst x =? t then g x else 0) xs
      + sum (fun x => if t + 1 <=? fst x then g x else 0) xs).
    + cbv beta in E. etransitivity; [|apply f_equal, E]. cbv beta.
      match goal with |- ?a + (?b + ?c) = ?d + (?b + ?e) =>
        assert (a + c = d + e); [|lia] end.
      rewrite <- !sum_plus. apply sum_ext. intros x _. unfold with_caused.
      destruct (Z.eqb_spec (fst x) t) as [N|N]; [rewrite N; clear N|];
        repeat match goal with |- context [?a <? ?b] => destruct (Z.ltb_spec a b) end; lia.
    + rewrite <- sum_plus. apply sum_ext. intros x _.
      destruct (Z.eqb_spec (fst x) t), (Z.leb_spec t (fst x)), (Z.leb_spec (t + 1) (fst x)); lia.
Qed.

(** All gains together are what the source causes. *)
Lemma caused_by_source g : 0 <= T -> caused g 1 source = sum g xs.
Proof.
  intros P. assert (H := caused_total g 1 ltac:(lia)). rewrite sum_filter, sum_holders in H.
  rewrite (sum_ext _ (fun _ => 0)), sum_zero in H.
  2:{ intros x X. pose proof (in_time x X). destruct (Z.ltb_spec (fst x) 1); lia. }
  rewrite (sum_ext _ g xs) in H.
  2:{ intros x X. pose proof (in_time x X). destruct (Z.leb_spec 1 (fst x)); lia. }
  lia.
Qed.

(** What a holder causes is at most all. *)
Lemma caused_within g t u :
  (forall x, In x xs -> 0 <= g x) -> t <= T + 1 -> In u (holders t) -> caused g t u <= sum g xs.
Proof.
  intros P L U. transitivity (sum (caused g t) (holders t)).
  - apply (sum_single (caused g t)); trivial. intros v _. now apply caused_nonneg.
  - rewrite caused_total, sum_filter by trivial. apply sum_le. intros x X. specialize (P x X).
    destruct (t <=? fst x); lia.
Qed.

(** So is what a transfer earns with all that it causes. *)
Lemma with_caused_within g x :
  (forall x, In x xs -> 0 <= g x) -> In x xs -> with_caused g x <= sum g xs.
Proof.
  intros P X. pose proof (in_time x X) as R.
  transitivity (caused g (fst x) (origin x)).
  2: { apply caused_within; trivial; [lia|now apply origin_holds]. }
  rewrite caused_step by lia.
  pose proof (caused_nonneg g (fst x + 1) (origin x) P).
  enough (with_caused g x <= sum (with_caused g) (filter (sends_now (origin x) (fst x)) xs)) by lia.
  apply sum_single.
  - apply filter_In. split; trivial. unfold sends_now. now rewrite Pos.eqb_refl, Z.eqb_refl.
  - intros y Y. apply filter_In in Y as [Y _]. unfold with_caused.
    pose proof (caused_nonneg g (fst y + 1) (goal y) P). specialize (P y Y). lia.
Qed.

End Tree.

(** ** Paths and prices *)

Lemma recall_remember {A B} (f : node -> A) (m : PM.t B) v : recall f (remember f m) v = f v.
Proof.
  unfold recall, remember. rewrite PM.gmapi. now destruct (PM.find v m).
Qed.

Lemma path_parts I p : allowed I p -> exists u b rest, p = u :: b :: rest
  /\ (exists c, channel I u b c)
  /\ (rest <> [] -> kind I <> StoreAndForward /\ is_endpoint I b = false).
Proof.
  intros A. destruct p as [|u [|b rest]].
  1, 2: exfalso; unfold allowed, simple in A; destruct (kind I); simpl in A; lia.
  exists u, b, rest. split; [reflexivity|].
  assert (H : In (u, b) (hops (u :: b :: rest))) by now left.
  split; [unfold allowed, simple in A; destruct (kind I); intuition eauto|].
  intros R. destruct rest as [|v rest]; [congruence|].
  destruct (kind I) eqn:K.
  - split; [congruence|]. unfold allowed, simple in A. rewrite K in A.
    apply A. unfold inner. now left.
  - exfalso. unfold allowed in A. rewrite K in A. simpl in A. lia.
  - split; [congruence|]. unfold allowed, simple in A. rewrite K in A.
    apply A. unfold inner. now left.
Qed.

Lemma no_return I u rest : allowed I (u :: rest) -> ~ In u rest.
Proof.
  intros A.
  assert (D : NoDup (u :: rest)) by (unfold allowed, simple in A; destruct (kind I); tauto).
  now apply NoDup_cons_iff in D.
Qed.

Lemma last_in (b : node) (rest : path) : In (last_node (b :: rest)) (b :: rest).
Proof.
  revert b. induction rest as [|c rest IH]; intros b; [now left|right].
  change (In (last_node (c :: rest)) (c :: rest)). apply IH.
Qed.

(** A path that begins with a channel leads to a node at a cost. *)
Definition reaches (b : beginning) (v : node) (y : Z) : Prop :=
  match reached_by b with
  | Direct z => v = neighbour b /\ y = z
  | Beyond c => PM.find v c = Some (Some y)
  | Unknown z => y = z
  end.

(** The computed costs are at most what an allowed path pays. *)
Lemma reach_right I tb dist tail u b rest capacity :
  (forall v, dist v = distance_of I v) -> (forall v, tail v = tail_of I tb v) ->
  (forall q, 0 <= table_price tb q) -> allowed I (u :: b :: rest) ->
  exists y,
    reaches {| neighbour := b; capacity := capacity;
               reached_by := reach_of I tb dist tail u b |} (last_node (b :: rest)) y
    /\ y <= table_price tb (Inject u) + sum (hop_price I tb) (hops (u :: b :: rest)).
Proof.
  intros HD HT N A.
  set (paid := table_price tb (Inject u) + hop_price I tb (u, b)).
  assert (E : table_price tb (Inject u) + sum (hop_price I tb) (hops (u :: b :: rest))
    = paid + sum (hop_price I tb) (hops (b :: rest))).
  { unfold paid. change (hops (u :: b :: rest)) with ((u, b) :: hops (b :: rest)).
    cbn [sum]. lia. }
  rewrite E. clear E.
  assert (P : 0 <= sum (hop_price I tb) (hops (b :: rest))) by (apply sum_nonneg; intros; apply N).
  destruct (path_parts I _ A) as (u' & b' & rest' & [= <- <- <-] & _ & Inner).
  assert (Away : negb (Pos.eqb (last_node (b :: rest)) u) = true).
  { apply negb_true_iff, Pos.eqb_neq. intros E. apply (no_return I u (b :: rest)); trivial.
    rewrite <- E. apply last_in. }
  assert (One : rest = [] -> exists y, (last_node (b :: rest) = b /\ y = paid)
    /\ y <= paid + sum (hop_price I tb) (hops (b :: rest))).
  { intros ->. exists paid. simpl in *. repeat split; lia. }
  assert (Far : kind I <> StoreAndForward -> is_endpoint I b = false ->
    reach_of I tb dist tail u b =
      match path_costs I (hop_price I tb) b with
      | None => Unknown paid
      | Some c => Beyond (PM.mapi (fun v x =>
          if negb (Pos.eqb v u) && no_detour I (distance_of I u) (distance_of I b) v
          then Some (paid + x) else None) c)
      end).
  { intros K B. unfold reach_of. rewrite HT, !HD. unfold tail_of. rewrite B.
    destruct (kind I); [|congruence|]; reflexivity. }
  unfold reaches. simpl reached_by. simpl neighbour.
  destruct (kind I) eqn:K.
  2: { unfold reach_of. rewrite K. apply One.
       destruct rest; [reflexivity|]. destruct Inner; congruence. }
  1, 2: destruct (is_endpoint I b) eqn:B;
    [unfold reach_of; rewrite K, B; apply One; destruct rest; [reflexivity|];
     destruct Inner; congruence|].
  1, 2: rewrite Far by congruence;
    destruct (path_costs I (hop_price I tb) b) as [c|] eqn:C; [|exists paid; lia];
    destruct (tail_costs_least I (hop_price I tb) u b rest c ltac:(congruence) A C)
      as (x & F & L);
    exists (paid + x); split; [|lia]; rewrite PM.gmapi, F; simpl; rewrite Away;
    replace (no_detour I (distance_of I u) (distance_of I b) (last_node (b :: rest)))
      with true; [reflexivity|]; symmetry;
    unfold no_detour, distance_of; rewrite K; destruct (route I) as [|h|? ?] eqn:R; trivial;
    destruct (distances I u) as [near|] eqn:Near; trivial;
    destruct (distances I b) as [beyond|] eqn:Far'; trivial;
    destruct (tail_in_time I u b rest h near beyond ltac:(congruence) R A Near Far')
      as (x' & y' & -> & -> & L'); now apply Z.leb_le.
Qed.

(** ** Steps and uses *)

Lemma channel_uses_now I P t l : kind I <> TimeSlots ->
  channel_uses I P t l = map (fun h => (Channel (link I h), t)) l.
Proof.
  intros K. induction l as [|h l IH]; trivial. simpl.
  replace (t + late I 1) with t by (unfold late; destruct (kind I); lia || congruence).
  rewrite IH. unfold slot. now destruct (kind I).
Qed.

Lemma uses_now I P x : kind I <> TimeSlots ->
  uses I P x = (Inject (sender x), fst x) :: (Accept (receiver x), fst x)
    :: map (fun h => (Channel (link I h), fst x)) (hops (nodes (snd x))).
Proof.
  intros K. unfold uses. rewrite channel_uses_now by trivial.
  assert (E : forall i, fst x + late I i = fst x)
    by (intros; unfold late; destruct (kind I); lia || congruence).
  assert (S : slot I P (fst x) = fst x) by (unfold slot; destruct (kind I); congruence).
  now rewrite E, S.
Qed.

Lemma pays_by_table I rows P x tb : kind I <> TimeSlots ->
  (forall q, price_at rows q (fst x) = table_price tb q) ->
  pays I rows P x = table_price tb (Inject (sender x)) + table_price tb (Accept (receiver x))
    + sum (hop_price I tb) (hops (nodes (snd x))).
Proof.
  intros K E. unfold pays. rewrite uses_now by trivial. simpl sum. rewrite !E, sum_map.
  rewrite (sum_ext _ (hop_price I tb)); [lia|]. intros h _. apply E.
Qed.

Lemma resource_eqb_same q : resource_eqb q q = true.
Proof. destruct q; simpl; unfold hop_eqb; now rewrite ?Pos.eqb_refl. Qed.

(** Transfers that use a resource in a step are not more than its uses. *)
Lemma users_counted I s r t (f : timed_transfer -> bool) (m : positive) :
  (forall x, In x (transfers m s) -> f x = true -> In (r, t) (uses I (period s) x)) ->
  Z.of_nat (length (filter f (transfers m s))) <= used I s r t.
Proof.
  unfold transfers, used, all_uses, count. generalize (timed s) (uses I (period s)).
  intros l us H. apply inj_le. induction l as [|x l IH]; simpl; [lia|].
  rewrite filter_app, app_length.
  assert (L : (length (filter f (filter (of_message m) l))
    <= length (filter (is_use r t) (flat_map us l)))%nat).
  { apply IH. intros y Y. apply H. simpl. destruct (of_message m x); [now right|trivial]. }
  simpl in H. destruct (of_message m x); simpl in *; [|lia].
  destruct (f x) eqn:F; simpl; [|lia].
  assert (U : In (r, t) (filter (is_use r t) (us x))).
  { apply filter_In. split; [apply H; trivial; now left|].
    unfold is_use. simpl. now rewrite resource_eqb_same, Z.eqb_refl. }
  destruct (filter (is_use r t) (us x)); [contradiction|simpl; lia].
Qed.

(** ** Small facts *)

Lemma filter_filter {A} (p q : A -> bool) l :
  filter p (filter q l) = filter (fun x => q x && p x) l.
Proof.
  induction l as [|a l IH]; trivial. simpl. destruct (q a); simpl; [|trivial].
  now rewrite IH.
Qed.

Lemma same_key {A B} (f : A -> B) l x y :
  NoDup (map f l) -> In x l -> In y l -> f x = f y -> x = y.
Proof.
  induction l as [|a l IH]; [easy|]. simpl. intros D X Y E. apply NoDup_cons_iff in D as [N D].
  destruct X as [->|X], Y as [->|Y]; trivial.
  - exfalso. apply N. rewrite E. now apply in_map.
  - exfalso. apply N. rewrite <- E. now apply in_map.
  - now apply IH.
Qed.

Lemma sum_ones {A} (l : list A) : sum (fun _ => 1) l = Z.of_nat (length l).
Proof. induction l; [reflexivity|]. simpl length. rewrite Nat2Z.inj_succ. cbn [sum]. lia. Qed.

(** A sum is at most that of the groups of its elements. *)
Lemma sum_grouped {A B} (f : A -> Z) (belongs : A -> B -> bool) (l : list B) xs :
  (forall x, In x xs -> 0 <= f x) ->
  (forall x, In x xs -> exists b, In b l /\ belongs x b = true) ->
  sum f xs <= sum (fun b => sum f (filter (fun x => belongs x b) xs)) l.
Proof.
  intros P H.
  rewrite (sum_ext _ (fun b => sum (fun x => if belongs x b then f x else 0) xs))
    by (intros; apply sum_filter).
  rewrite sum_swap. apply sum_le. intros x X. specialize (P x X). destruct (H x X) as (b & C & E).
  pose proof (sum_single (fun b => if belongs x b then f x else 0) l _ C)
    as S. cbv beta in S. rewrite E in S. apply S.
  intros c _. destruct (belongs x c); lia.
Qed.

(** A sum with one element that counts. *)
Lemma sum_only {A} (p : A -> bool) (l : list A) (x : A) (y : Z) :
  NoDup l -> In x l -> p x = true -> (forall z, In z l -> p z = true -> z = x) ->
  sum (fun z => if p z then y else 0) l = y.
Proof.
  intros D X E U. apply in_split in X as (l1 & l2 & ->).
  apply NoDup_remove_2 in D. rewrite sum_app. cbn [sum]. rewrite E.
  rewrite !sum_zeros; [lia| |].
  - intros z Z. destruct (p z) eqn:F; trivial. exfalso. apply D. apply in_app_iff. right.
    rewrite (U z) in Z; trivial. apply in_app_iff. right. now right.
  - intros z Z. destruct (p z) eqn:F; trivial. exfalso. apply D. apply in_app_iff. left.
    rewrite (U z) in Z; trivial. apply in_app_iff. now left.
Qed.

Lemma NoDup_map_on {A B} (f : A -> B) (l : list A) :
  NoDup l -> (forall x y, In x l -> In y l -> f x = f y -> x = y) -> NoDup (map f l).
Proof.
  intros D. induction D as [|a l N D IH]; simpl; intros H; [constructor|]. constructor.
  - intros F. apply in_map_iff in F as (x & E & X). apply N.
    replace a with x; trivial. apply H; auto.
  - apply IH. intros x y X Y. apply H; auto.
Qed.

Lemma filter_length {A} (p q : A -> bool) (l : list A) :
  (forall x, p x = true -> q x = true) -> (length (filter p l) <= length (filter q l))%nat.
Proof.
  intros H. induction l as [|a l IH]; [reflexivity|]. simpl. specialize (H a).
  destruct (p a); [rewrite H by trivial; simpl; lia|]. destruct (q a); simpl; lia.
Qed.

(** Of some transfers that are not none, one is the first, by its step and its receiver. *)
Lemma first_transfer (p : timed_transfer -> bool) (l : list timed_transfer) x :
  In x l -> p x = true -> exists z, In z l /\ p z = true /\ forall y, In y l -> p y = true ->
    fst z < fst y \/ fst z = fst y /\ (receiver z <= receiver y)%positive.
Proof.
  revert x. induction l as [|a l IH]; intros x X E; [easy|].
  destruct (existsb p l) eqn:B.
  - apply existsb_exists in B as (w & W & F). destruct (IH w W F) as (z & Z & G & H).
    destruct (p a) eqn:Pa.
    + assert (C : fst a < fst z \/ fst a = fst z /\ (receiver a <= receiver z)%positive
        \/ (fst z < fst a \/ fst z = fst a /\ (receiver z <= receiver a)%positive)) by lia.
      destruct C as [C|[C|C]].
      1, 2: exists a; repeat split; trivial; [now left|];
        intros y [<-|Y] Ey; [right; split; [reflexivity|lia]|specialize (H y Y Ey); lia].
      exists z. repeat split; trivial; [now right|]. intros y [<-|Y] Ey; [lia|now apply H].
    + exists z. repeat split; trivial; [now right|]. intros y [<-|Y] Ey; [congruence|now apply H].
  - assert (N : forall y, In y l -> p y = false).
    { intros y Y. destruct (p y) eqn:F; trivial.
      rewrite <- B. symmetry. apply existsb_exists. now exists y. }
    destruct X as [->|X]; [|rewrite (N x X) in E; discriminate].
    exists x. repeat split; trivial; [now left|]. intros y [<-|Y] Ey; [lia|].
    rewrite (N y Y) in Ey. discriminate.
Qed.

Lemma found_sum (m : PM.t Z) v :
  found m v = sum (fun e => if Pos.eqb (fst e) v then snd e else 0) (PM.elements m).
Proof.
  unfold found. destruct (PM.find v m) as [y|] eqn:F.
  - apply PM.elements_correct in F. symmetry.
    rewrite (sum_ext _ (fun e => if Pos.eqb (fst e) v then y else 0)).
    + apply sum_only with (v, y); trivial; [|apply Pos.eqb_refl|].
      * apply NoDup_map_inv with (f := fst). apply keys_distinct.
      * intros z Z E. apply Pos.eqb_eq in E. now apply (same_key fst _ z _ (keys_distinct m)).
    + intros e Z. destruct (Pos.eqb_spec (fst e) v); trivial.
      now rewrite (same_key fst _ e (v, y) (keys_distinct m)).
  - symmetry. apply sum_zeros. intros [w y] E. simpl. destruct (Pos.eqb_spec w v) as [->|]; trivial.
    apply PM.elements_complete in E. congruence.
Qed.

Lemma listed_gain_max l v g : listed_gain l v g -> listed_gain l v (Z.max 0 g).
Proof.
  intros [|(y & Y & L)]; [left; lia|].
  destruct (Z_le_gt_dec g 0); [left; lia|right; exists y; split; trivial; lia].
Qed.

Lemma gain_if_positive_in v g h : g <= h -> listed_gain (gain_if_positive v h) v g.
Proof.
  intros L. unfold gain_if_positive. destruct (Z.ltb_spec 0 h); [|left; lia].
  right. exists h. split; [now left|trivial].
Qed.

Lemma listed_in_flat_map {A} (f : A -> list (node * Z)) l a v g :
  In a l -> listed_gain (f a) v g -> listed_gain (flat_map f l) v g.
Proof.
  intros H [|(y & Y & L)]; [now left|]. right. exists y. split; trivial.
  apply in_flat_map. now exists a.
Qed.

(** What a transfer brings is among the gains of the channel with which it begins. *)
Lemma gains_listed amount listed b v a y g :
  PM.find v amount = Some a -> reaches b v y ->
  (0 < a -> In (v, a) listed) \/ (exists z, reached_by b = Direct z) ->
  g <= a -> g <= a - y -> listed_gain (gains_from amount listed b) v g.
Proof.
  unfold reaches, gains_from. intros F R L G H.
  destruct (reached_by b) as [z|c|z].
  - destruct R as [-> ->]. rewrite F. now apply gain_if_positive_in.
  - destruct L as [L|[z L]]; [|discriminate].
    destruct (Z_le_gt_dec a 0); [left; lia|].
    apply listed_in_flat_map with (v, a); [apply L; lia|]. simpl. rewrite R.
    now apply gain_if_positive_in.
  - destruct L as [L|[z' L]]; [|discriminate]. subst z.
    destruct (Z_le_gt_dec a 0); [left; lia|].
    apply listed_in_flat_map with (v, a); [apply L; lia|]. simpl.
    now apply gain_if_positive_in.
Qed.

Definition second_node (p : path) : node := hd 1%positive (tl p).

(** ** The message *)

Section Message.

Variables (I : instance) (s : schedule) (rows : list row) (T : Z) (m : positive).
Variables (source : node) (destinations : list node) (worth : PM.t Z) (charges : list charge).
Variable grouping : PM.t node.
Hypothesis V : valid I s.
Hypothesis K : kind I <> TimeSlots.
Hypothesis P : period s <= T.
Hypothesis N : forall r, In r rows -> 0 <= price r.
Hypothesis M : PM.find m (messages I) = Some (source, destinations).
Hypothesis named : forall v b, PM.find v grouping = Some b -> PM.find b grouping = Some b.

Let k := make_task I T worth charges grouping source destinations.
Let every := transfers m s.
Let block := block_of grouping.

Lemma two_kinds : kind I = Wormhole \/ kind I = StoreAndForward.
Proof. destruct (kind I); auto. congruence. Qed.

Lemma block_twice v : block (block v) = block v.
Proof.
  unfold block, block_of. destruct (PM.find v grouping) eqn:F.
  - now rewrite (named _ _ F).
  - now rewrite F.
Qed.

(** A node that is not listed is a block by itself. *)
Lemma block_alone v w : PM.find v grouping = None -> block w = v -> w = v.
Proof.
  unfold block, block_of. intros F E. destruct (PM.find w grouping) as [b|] eqn:G; trivial.
  apply named in G. congruence.
Qed.

(** *** All transfers of the message *)

Lemma transfer_in_time x : In x every -> 1 <= fst x <= period s.
Proof.
  intros X. apply filter_In in X as [X _]. apply numbered_steps in X. unfold period. lia.
Qed.

Lemma transfers_once : NoDup (source :: map receiver every).
Proof. exact (rule_4_once I s V m source destinations M). Qed.

Lemma transfer_cause x : In x every -> sender x = source
  \/ exists y, In y every /\ receiver y = sender x /\ fst y < fst x.
Proof.
  intros X. destruct (rule_3 I s V m source destinations M x X) as [C _].
  unfold informed in C. destruct (kind I); trivial. congruence.
Qed.

Lemma transfer_allowed x : In x every -> allowed I (nodes (snd x)).
Proof. intros X. apply filter_In in X as [X _]. now apply (rule_1 I s V). Qed.

Lemma receives_well x : In x every -> kind I <> StoreAndForward -> In (receiver x) destinations.
Proof.
  intros X Kind. destruct (rule_3 I s V m source destinations M x X) as [_ R].
  unfold may_receive in R. now destruct (kind I).
Qed.

Lemma transfer_known x y : In x every -> In y every -> receiver x = receiver y -> x = y.
Proof.
  intros X Y. apply (same_key receiver every); trivial.
  pose proof transfers_once as D. now apply NoDup_cons_iff in D as [_ D].
Qed.

(** *** The transfers that count

    Before the last step only the first transfer to a block without the source counts (in the
    same step, the one to the lowest number), in the last step all to a block that has nothing. *)

Definition counts (x : timed_transfer) : bool :=
  negb (Pos.eqb (block (receiver x)) (block source))
  && forallb (fun y => negb (Pos.eqb (block (receiver y)) (block (receiver x)))
       || (fst x <? fst y)
       || (fst x =? fst y) && ((fst x =? T) || (receiver x <=? receiver y)%positive)) every.

Let xs := filter counts every.

Lemma counts_spec x : In x xs <-> In x every /\ block (receiver x) <> block source
  /\ forall y, In y every -> block (receiver y) = block (receiver x) ->
     fst x < fst y \/ fst x = fst y /\ (fst x = T \/ (receiver x <= receiver y)%positive).
Proof.
  unfold xs. rewrite filter_In. unfold counts.
  rewrite andb_true_iff, negb_true_iff, Pos.eqb_neq, forallb_forall.
  split; intros (X & A & B); repeat split; trivial; intros y Y.
  - intros E. specialize (B y Y). rewrite E, Pos.eqb_refl in B. simpl in B.
    rewrite orb_true_iff, andb_true_iff, orb_true_iff, Z.ltb_lt, !Z.eqb_eq, Pos.leb_le in B.
    exact B.
  - destruct (Pos.eqb_spec (block (receiver y)) (block (receiver x))) as [E|]; [|reflexivity].
    specialize (B y Y E). simpl.
    rewrite orb_true_iff, andb_true_iff, orb_true_iff, Z.ltb_lt, !Z.eqb_eq, Pos.leb_le.
    exact B.
Qed.

Lemma counted x : In x xs -> In x every.
Proof. intros X. now apply counts_spec in X. Qed.

Lemma until_end x : In x xs -> 1 <= fst x <= T.
Proof. intros X. apply counted, transfer_in_time in X. lia. Qed.

Let from_block x := block (sender x).
Let goal x := goal_in grouping (fst x) T (receiver x).

Lemma goal_block x : block (goal x) = block (receiver x).
Proof. unfold goal, goal_in. destruct (fst x =? T); [reflexivity|apply block_twice]. Qed.

Lemma same_step x y : In x xs -> In y xs -> block (receiver x) = block (receiver y) ->
  fst x = fst y /\ (fst x = T \/ x = y).
Proof.
  intros X Y E. apply counts_spec in X as (X & _ & X'). apply counts_spec in Y as (Y & _ & Y').
  specialize (X' y Y (eq_sym E)). specialize (Y' x X E).
  split; [lia|]. destruct (Z.eq_dec (fst x) T); [now left|right].
  apply transfer_known; trivial. lia.
Qed.

Lemma xs_distinct : NoDup xs.
Proof.
  apply NoDup_filter. apply NoDup_map_inv with (f := receiver).
  pose proof transfers_once as D. now apply NoDup_cons_iff in D as [_ D].
Qed.

Lemma goals_once : NoDup (block source :: map goal xs).
Proof.
  constructor.
  - intros H. apply in_map_iff in H as (x & E & X). apply counts_spec in X as (_ & A & _).
    apply A. now rewrite <- goal_block, E, block_twice.
  - apply NoDup_map_on; [exact xs_distinct|]. intros x y X Y E.
    assert (B : block (receiver x) = block (receiver y)) by now rewrite <- !goal_block, E.
    destruct (same_step x y X Y B) as [Same [Last|]]; trivial.
    apply transfer_known; try now apply counted.
    unfold goal, goal_in in E. rewrite <- Same, Last, Z.eqb_refl in E. exact E.
Qed.

(** If a block has something, a first transfer has brought it. *)
Lemma first_into x : In x every -> exists z, In z every /\ block (receiver z) = block (receiver x)
  /\ forall y, In y every -> block (receiver y) = block (receiver x) ->
     fst z < fst y \/ fst z = fst y /\ (receiver z <= receiver y)%positive.
Proof.
  intros X.
  destruct (first_transfer (fun y => Pos.eqb (block (receiver y)) (block (receiver x))) every x X
    (Pos.eqb_refl _)) as (z & Z & E & H).
  exists z. apply Pos.eqb_eq in E. repeat split; trivial. intros y Y F. apply H; trivial.
  now apply Pos.eqb_eq.
Qed.

Lemma goal_cause x : In x xs -> from_block x = block source
  \/ exists y, In y xs /\ goal y = from_block x /\ fst y < fst x.
Proof.
  intros X. unfold from_block.
  destruct (Pos.eq_dec (block (sender x)) (block source)) as [|O]; [now left|right].
  destruct (transfer_cause x (counted x X)) as [E|(y & Y & E & L)]; [congruence|].
  destruct (first_into y Y) as (z & Z & F & H). rewrite E in F, H.
  pose proof (H y Y ltac:(now rewrite E)) as H'. pose proof (until_end x X).
  exists z. repeat split; [| |lia].
  - apply counts_spec. repeat split; trivial; [congruence|]. intros w W G.
    rewrite F in G. specialize (H w W G). tauto.
  - unfold goal, goal_in. destruct (Z.eqb_spec (fst z) T); [lia|trivial].
Qed.

Lemma other_block x : In x xs -> block (receiver x) <> block (sender x).
Proof.
  intros X E. apply counts_spec in X as (X & A & B).
  destruct (transfer_cause x X) as [F|(y & Y & F & L)]; [congruence|].
  specialize (B y Y ltac:(congruence)). lia.
Qed.

(** *** Worth and gains *)

Lemma values_spec v y : PM.find v (values k) = Some y ->
  In v destinations /\ block v <> block source /\ 0 <= y.
Proof.
  simpl. unfold values_of.
  assert (H : forall l old,
    (PM.find v old = Some y -> In v destinations /\ block v <> block source /\ 0 <= y) ->
    incl l destinations ->
    PM.find v (fold_left (fun m d =>
      if Pos.eqb (block_of grouping d) (block_of grouping source) then m
      else PM.add d (Z.max 0 (found worth d)) m) l old) = Some y ->
    In v destinations /\ block v <> block source /\ 0 <= y).
  { induction l as [|d l IH]; intros old O L F; [now apply O|]. simpl in F.
    apply IH in F; trivial; [|intros e E; apply L; now right].
    destruct (Pos.eqb_spec (block_of grouping d) (block_of grouping source)); trivial.
    destruct (Pos.eq_dec v d) as [->|D].
    - rewrite PM.gss. intros [= <-]. repeat split; trivial; [apply L; now left|lia].
    - now rewrite PM.gso. }
  apply H; [|now intros e E]. rewrite PM.gempty. discriminate.
Qed.

Lemma value_nonneg v : 0 <= found (values k) v.
Proof.
  unfold found. destruct (PM.find v (values k)) eqn:E; [|lia]. now apply values_spec in E.
Qed.

Lemma empty_blocks v : PM.is_empty grouping = true -> PM.find v grouping = None.
Proof.
  intros E. apply PM.is_empty_2 in E. destruct (PM.find v grouping) eqn:F; trivial.
  now apply E in F.
Qed.

Lemma own_right v : own k v = worth_in_block grouping (values k) v.
Proof.
  simpl. destruct (PM.is_empty grouping) eqn:E; [|apply recall_remember].
  unfold worth_in_block. now rewrite empty_blocks.
Qed.

Lemma members_right u :
  members k u = members_of grouping (holders_in_blocks I grouping source destinations) u.
Proof.
  simpl. destruct (PM.is_empty grouping) eqn:E; [|apply recall_remember].
  unfold members_of. now rewrite empty_blocks.
Qed.

Lemma own_sum v : own k v
  = sum (fun e => if Pos.eqb (block (fst e)) (block v) then snd e else 0)
      (PM.elements (values k)).
Proof.
  rewrite own_right. unfold worth_in_block. unfold block at 2, block_of.
  destruct (PM.find v grouping) as [b|] eqn:F; [reflexivity|].
  rewrite found_sum. apply sum_ext. intros [w y] _. simpl.
  replace (Pos.eqb (block w) v) with (Pos.eqb w v); trivial.
  unfold block, block_of. destruct (PM.find w grouping) as [c|] eqn:G; trivial.
  destruct (Pos.eqb_spec w v) as [->|]; [congruence|].
  destruct (Pos.eqb_spec c v) as [->|]; trivial.
  apply named in G. congruence.
Qed.

Lemma own_alone v : PM.find v grouping = None -> own k v = found (values k) v.
Proof. intros F. rewrite own_right. unfold worth_in_block. now rewrite F. Qed.

Lemma own_nonneg v : 0 <= own k v.
Proof.
  rewrite own_sum. apply sum_nonneg. intros [w y] E.
  apply PM.elements_complete in E. apply values_spec in E. simpl.
  destruct (Pos.eqb (block w) (block v)); lia.
Qed.

(** What a transfer brings that counts: in the last step the worth of its receiver, before it that
    of the block. *)
Definition worth_of (x : timed_transfer) : Z :=
  if fst x =? T then found (values k) (receiver x) else own k (receiver x).

Lemma worth_of_nonneg x : 0 <= worth_of x.
Proof. unfold worth_of. destruct (fst x =? T); [apply value_nonneg|apply own_nonneg]. Qed.

Definition brings_to (x : timed_transfer) (d : node) : bool :=
  if fst x =? T then Pos.eqb d (receiver x) else Pos.eqb (block d) (block (receiver x)).

Lemma brings_to_block x d : brings_to x d = true -> block d = block (receiver x).
Proof.
  unfold brings_to. destruct (fst x =? T); intros E; apply Pos.eqb_eq in E; congruence.
Qed.

(** All worth is earned by the transfers that count. *)
Lemma total_earned : total k = sum worth_of xs.
Proof.
  rewrite (sum_ext worth_of (fun x =>
    sum (fun e => if brings_to x (fst e) then snd e else 0) (PM.elements (values k)))).
  2:{ intros x _. unfold worth_of, brings_to.
      destruct (fst x =? T); [apply found_sum|apply own_sum]. }
  rewrite sum_swap. change (total k) with (sum snd (PM.elements (values k))).
  apply sum_ext. intros [d y] E. apply PM.elements_complete, values_spec in E.
  destruct E as (D & O & _). simpl.
  assert (R : In d (map receiver every)).
  { destruct (rule_4_all I s V m source destinations M d D); [congruence|trivial]. }
  apply in_map_iff in R as (x & E & X).
  destruct (first_into x X) as (z & Z & F & H). rewrite E in F, H.
  assert (C : exists w, In w xs /\ brings_to w d = true).
  { destruct (Z.eq_dec (fst z) T) as [L|L].
    - exists x. pose proof (H x X ltac:(congruence)) as H'.
      apply transfer_in_time in X as R. split.
      + apply counts_spec. repeat split; trivial; [congruence|]. intros w W G. rewrite E in G.
        pose proof (transfer_in_time w W). specialize (H w W G). lia.
      + unfold brings_to. destruct (Z.eqb_spec (fst x) T); [|lia].
        apply Pos.eqb_eq. congruence.
    - exists z. split.
      + apply counts_spec. repeat split; trivial; [congruence|]. intros w W G. rewrite F in G.
        specialize (H w W G). tauto.
      + unfold brings_to. destruct (Z.eqb_spec (fst z) T); [lia|]. apply Pos.eqb_eq. congruence. }
  destruct C as (w & W & G). symmetry.
  apply (sum_only (fun z => brings_to z d) xs w); trivial; [exact xs_distinct|].
  intros v Q B. apply brings_to_block in G as G', B as B'.
  destruct (same_step v w Q W ltac:(congruence)) as [Same [Last|]]; trivial.
  unfold brings_to in G, B. rewrite <- Same in G. rewrite Last, Z.eqb_refl in G, B.
  apply Pos.eqb_eq in G, B. apply transfer_known; try now apply counted. congruence.
Qed.

Definition charge_of (x : timed_transfer) : Z :=
  if fst x =? T then 0 else found (charges_at charges (fst x)) (block (receiver x)).

Lemma charge_of_nonneg x : 0 <= charge_of x.
Proof. unfold charge_of. destruct (fst x =? T); [lia|apply charges_at_nonneg]. Qed.

(** What a transfer earns: what it brings, minus what it pays and is charged. *)
Definition gain (x : timed_transfer) : Z :=
  worth_of x - pays I rows (period s) x - charge_of x.

Lemma total_gain : total k - message_pays I rows s m - sum charge_of xs <= sum gain xs.
Proof.
  rewrite total_earned. unfold message_pays. fold every.
  assert (E : sum gain xs = sum worth_of xs + -1 * sum (pays I rows (period s)) xs
    + -1 * sum charge_of xs).
  { rewrite <- !sum_scale, <- !sum_plus. apply sum_ext. intros x _. unfold gain. lia. }
  enough (sum (pays I rows (period s)) xs <= sum (pays I rows (period s)) every) by lia.
  apply sum_incl; [exact xs_distinct|intros x; apply counted|].
  intros. now apply pays_nonneg.
Qed.

Lemma charges_of_all : sum charge_of xs <= all_charges charges T.
Proof.
  transitivity (sum (fun x => found (charges_at charges (fst x)) (goal x)) xs).
  - apply sum_le. intros x _. unfold charge_of, goal, goal_in.
    destruct (fst x =? T); [apply charges_at_nonneg|unfold block; lia].
  - apply charges_bounded; [|exact until_end].
    pose proof goals_once as D. now apply NoDup_cons_iff in D as [_ D].
Qed.

Let brings := with_caused from_block goal xs T gain.
Let causes := caused from_block goal xs T gain.
Let holding := holders goal xs (block source).

Lemma gain_at_most_worth x : gain x <= worth_of x.
Proof.
  unfold gain. pose proof (pays_nonneg I rows (period s) x N).
  pose proof (charge_of_nonneg x). lia.
Qed.

(** What a holder causes is at most all worth. *)
Lemma causes_within t u : t <= T + 1 -> In u (holding t) -> causes t u <= total k.
Proof.
  intros L U. rewrite total_earned.
  transitivity (caused from_block goal xs T worth_of t u).
  - apply caused_le. intros x _. apply gain_at_most_worth.
  - apply (caused_within from_block goal xs (block source) T until_end goals_once goal_cause);
      trivial.
    intros x _. apply worth_of_nonneg.
Qed.

(** So is what a transfer brings, and all that it causes. *)
Lemma worth_within x : In x xs -> worth_of x + causes (fst x + 1) (goal x) <= total k.
Proof.
  intros X. rewrite total_earned.
  transitivity (with_caused from_block goal xs T worth_of x).
  - unfold with_caused, causes.
    enough (caused from_block goal xs T gain (fst x + 1) (goal x)
      <= caused from_block goal xs T worth_of (fst x + 1) (goal x)) by lia.
    apply caused_le. intros y _. apply gain_at_most_worth.
  - apply (with_caused_within from_block goal xs (block source) T until_end goals_once goal_cause);
      trivial.
    intros y _. apply worth_of_nonneg.
Qed.

(** ** Accounts that hold *)

(** Transfers to a block. *)
Definition into (b : node) (x : timed_transfer) : bool := Pos.eqb (block (receiver x)) b.

Definition account_fits (t : Z) (u : node) (a : account) : Prop :=
  causes t (block u) <= income a
  /\ (income a < total k -> causes t (block u) <= sums a
      /\ (kind I = StoreAndForward -> forall b, above (best a) b
          (sum brings (filter (into b) (filter (sends_later from_block (block u) t) xs))))).

Definition fits (t : Z) (all : PM.t account) : Prop :=
  forall u a, In (block u) (holding t) -> PM.find u all = Some a -> account_fits t u a.

(** All senders and destinations have accounts, and the source, and hop by hop all nodes that are
    listed in blocks. *)
Definition complete (all : PM.t account) : Prop :=
  (forall x, In x every -> PM.find (sender x) all <> None)
  /\ (forall d, In d (source :: destinations) -> PM.find d all <> None)
  /\ (kind I = StoreAndForward ->
      forall v, PM.find v grouping <> None -> PM.find v all <> None).

Lemma no_account t u all : kind I = StoreAndForward -> t <= T + 1 -> complete all ->
  PM.find u all = None -> PM.find u grouping = None /\ causes t u = 0.
Proof.
  intros Kind L (C1 & _ & C3) F.
  assert (G : PM.find u grouping = None).
  { destruct (PM.find u grouping) eqn:G; trivial. exfalso.
    apply (C3 Kind u); trivial. congruence. }
  split; trivial. unfold causes. rewrite (caused_sum _ _ _ _ until_end) by trivial.
  rewrite sum_filter. apply sum_zeros. intros x X. unfold sends_later, from_block.
  destruct (Pos.eqb_spec (block (sender x)) u) as [E|]; trivial. exfalso.
  apply (C1 x (counted x X)). now rewrite (block_alone _ _ G E).
Qed.

Lemma fits_at_end t : T < t -> fits t (accounts_at_end I grouping source destinations).
Proof.
  intros L u a _ F.
  assert (E : a = nothing).
  { revert F. unfold accounts_at_end.
    assert (H : forall l old, (PM.find u old = Some a -> a = nothing) ->
      PM.find u (fold_left (fun m d => PM.add d nothing m) l old) = Some a -> a = nothing).
    { induction l as [|d l IH]; intros old O; [exact O|]. apply IH.
      destruct (Pos.eq_dec u d) as [->|D]; [rewrite PM.gss; congruence|now rewrite PM.gso]. }
    apply H. destruct (kind I); try (rewrite PM.gempty; discriminate).
    unfold PM.map. rewrite PM.gmapi. destruct (PM.find u (adjacent I)); simpl; congruence. }
  subst a. unfold account_fits, causes. rewrite caused_end by trivial. simpl.
  repeat split; try lia. intros _ b. left. rewrite filter_filter, sum_filter.
  rewrite sum_zeros; [lia|]. intros x X. apply until_end in X. unfold sends_later.
  destruct (Z.leb_spec t (fst x)); [lia|]. now rewrite andb_false_r.
Qed.

Lemma complete_at_end : complete (accounts_at_end I grouping source destinations).
Proof.
  unfold accounts_at_end.
  assert (Keep : forall l old v, PM.find v old <> None ->
    PM.find v (fold_left (fun m d => PM.add d nothing m) l old) <> None).
  { induction l as [|d l IH]; intros old v O; [exact O|]. apply IH.
    destruct (Pos.eq_dec v d) as [->|D]; [rewrite PM.gss; congruence|now rewrite PM.gso]. }
  assert (New : forall l old v, In v l ->
    PM.find v (fold_left (fun m d => PM.add d nothing m) l old) <> None).
  { induction l as [|d l IH]; intros old v O; [easy|]. simpl.
    destruct O as [->|O]; [|now apply IH]. apply Keep. rewrite PM.gss. congruence. }
  split; [|split].
  2:{ intros d D. apply New, in_app_iff. now right. }
  2:{ intros Kind v F. apply New, in_app_iff. left. rewrite Kind.
      destruct (PM.find v grouping) as [b|] eqn:G; [|easy].
      apply in_map_iff. exists (v, b). split; trivial. now apply PM.elements_correct. }
  intros x X. destruct two_kinds as [E|E]; rewrite E.
  2:{ apply Keep.
      destruct (path_parts I _ (transfer_allowed x X)) as (u & b & rest & Q & [c C] & _).
      unfold sender. rewrite Q. simpl. unfold PM.map. rewrite PM.gmapi.
      unfold channel, neighbours in C. destruct (PM.find u (adjacent I)); [easy|contradiction]. }
  apply New, in_app_iff. right.
  destruct (transfer_cause x X) as [->|(y & Y & <- & _)]; [now left|right].
  apply receives_well; trivial. congruence.
Qed.

(** The sender of a transfer is one of the members of its block. *)
Lemma sender_member x u : In x every -> block (sender x) = block u ->
  In (sender x) (members k u).
Proof.
  intros X E. rewrite members_right. unfold members_of.
  destruct (PM.find u grouping) as [b|] eqn:F.
  - assert (B : block u = b) by (unfold block, block_of; now rewrite F).
    apply filter_In. split; [|apply Pos.eqb_eq; unfold block in *; congruence].
    unfold holders_in_blocks. destruct two_kinds as [Kind|Kind]; rewrite Kind.
    2:{ rewrite B in E. unfold block, block_of in E.
        destruct (PM.find (sender x) grouping) as [c|] eqn:G.
        - apply in_map_iff. exists (sender x, c). split; trivial. now apply PM.elements_correct.
        - apply named in F. congruence. }
    destruct (Pos.eq_dec (sender x) source) as [->|O]; [now left|right].
    apply filter_In. split; [|now apply negb_true_iff, Pos.eqb_neq].
    destruct (transfer_cause x X) as [|(y & Y & <- & _)]; [contradiction|].
    apply receives_well; trivial. congruence.
  - left. unfold block, block_of in E. rewrite F in E.
    destruct (PM.find (sender x) grouping) as [c|] eqn:G; [|easy].
    apply named in G. congruence.
Qed.

(** ** One step back *)

Section Step.

Variables (p : preparation) (part : prepared) (tb : table) (t : Z).
Variables (dist tail : node -> option (PM.t Z)).
Hypothesis right_dist : forall v, dist v = distance_of I v.
Hypothesis right_tail : forall v, tail v = tail_of I tb v.
Hypothesis right_table : accepting part = tb.
Hypothesis right_beginnings : forall u, beginnings_at part u = map (fun next =>
  {| neighbour := fst next; capacity := snd next;
     reached_by := reach_of I tb dist tail u (fst next) |}) (neighbours I u).
Hypothesis right_fans : forall u, PM.find u (fans p) = None
  \/ kind I = StoreAndForward /\ PM.find u (fans p) = Some (fan_of I u).
Hypothesis step_in_time : 1 <= t <= T.
Hypothesis right_prices : forall q, price_at rows q t = table_price tb q.

Variable old : PM.t account.
Hypothesis old_complete : complete old.
Hypothesis old_fits : fits (t + 1) old.

Let amount := amounts k (accepting part) t (charges_at charges t) old.
Let listed :=
  match kind I with
  | StoreAndForward => []
  | _ => filter (fun e => 0 <? snd e) (PM.elements amount)
  end.
Let by_channel u := over_all (fun w => map (fun b =>
  (capacity b, gains_by_goal grouping t T u (gains_from amount listed b)))
  (beginnings_at part w)) (members k u).

Lemma over_all_map {A B} (f : A -> list B) l : over_all f l = flat_map f l.
Proof. destruct l as [|x [|y l]]; trivial. symmetry. apply app_nil_r. Qed.

Lemma table_nonneg q : 0 <= table_price tb q.
Proof. rewrite <- right_prices. now apply price_nonneg. Qed.

(** What a receipt is worth is computed. *)
Lemma amount_right x a : In x xs -> fst x = t -> PM.find (receiver x) old = Some a ->
  exists y, PM.find (receiver x) amount = Some (y - table_price tb (Accept (receiver x)))
  /\ brings x + pays I rows (period s) x <= y.
Proof.
  intros X E F. unfold amount, amounts. rewrite PM.gmapi, F, right_table.
  cbn [option_map]. cbv zeta.
  change (blocks k) with grouping. change (home k) with source. change (end_step k) with T.
  pose proof (proj1 (counts_spec x) X) as (_ & Other & _). fold block.
  destruct (Pos.eqb_spec (block (receiver x)) (block source)); [contradiction|].
  assert (G : brings x = gain x + causes (t + 1) (goal x))
    by (unfold brings, with_caused; now rewrite E).
  pose proof (worth_within x X) as W. rewrite E in W.
  unfold gain, worth_of, charge_of in G, W. rewrite E in G, W. revert G W.
  destruct (Z.eqb_spec t T) as [Last|Before]; intros G W.
  - eexists. split; [reflexivity|].
    assert (causes (t + 1) (goal x) = 0) by (unfold causes; apply caused_end; lia). lia.
  - exists (Z.min (total k) (own k (receiver x) + income a)
      - found (charges_at charges t) (block (receiver x))).
    split; [f_equal; fold block; lia|].
    assert (B : goal x = block (receiver x)).
    { unfold goal, goal_in. rewrite E. destruct (Z.eqb_spec t T); [lia|reflexivity]. }
    assert (H : In (block (receiver x)) (holding (t + 1)))
      by (rewrite <- B; apply holder_new; trivial; lia).
    destruct (old_fits _ _ H F) as [Income _]. rewrite <- B in Income.
    pose proof (charges_at_nonneg charges t (block (receiver x))). lia.
Qed.

(** A gain is listed for what it counts to. *)
Lemma gains_by_goal_listed u gains v g : block v <> block u -> listed_gain gains v g ->
  listed_gain (gains_by_goal grouping t T u gains) (goal_in grouping t T v) g.
Proof.
  intros D L. unfold gains_by_goal. destruct (PM.is_empty grouping) eqn:E.
  - replace (goal_in grouping t T v) with v; trivial. unfold goal_in, block_of.
    rewrite empty_blocks by trivial. now destruct (t =? T).
  - apply above_listed, keep_best_new. destruct L as [|(y & Y & L)]; [now left|right].
    exists y. split; trivial. apply in_map_iff. exists (v, y). split; [reflexivity|].
    apply filter_In. split; trivial. simpl. now apply negb_true_iff, Pos.eqb_neq.
Qed.

(** The gain of a transfer in this step, with all that it causes, is computed. *)
Lemma brings_listed x c u : In x xs -> fst x = t -> from_block x = block u ->
  listed_gain (gains_by_goal grouping t T u (gains_from amount listed
    {| neighbour := second_node (nodes (snd x)); capacity := c;
       reached_by := reach_of I tb dist tail (sender x) (second_node (nodes (snd x))) |}))
    (goal x) (brings x).
Proof.
  intros X E From. unfold goal. rewrite E. apply gains_by_goal_listed.
  { rewrite <- From. now apply other_block. }
  clear u From.
  pose proof (pays_by_table I rows (period s) x tb K
    ltac:(intros; rewrite E; apply right_prices)) as Y.
  pose proof (transfer_allowed x (counted x X)) as A.
  destruct (path_parts I _ A) as (u & b & rest & Q & _ & _). rewrite Q in A.
  destruct (reach_right I tb dist tail u b rest c right_dist right_tail table_nonneg A)
    as (y & R & L).
  assert (S : sender x = u) by (unfold sender; now rewrite Q).
  assert (W : receiver x = last_node (b :: rest)) by (unfold receiver; now rewrite Q).
  assert (B : second_node (nodes (snd x)) = b) by now rewrite Q.
  rewrite B, S. rewrite Q in Y. rewrite S in Y. rewrite <- W in R.
  assert (Z1 : 0 <= sum (hop_price I tb) (hops (u :: b :: rest)))
    by (apply sum_nonneg; intros; apply table_nonneg).
  pose proof (table_nonneg (Inject u)) as Z2.
  destruct (PM.find (receiver x) old) as [a|] eqn:F.
  - destruct (amount_right x a X E F) as (z & Find & Less).
    apply gains_listed with (a := z - table_price tb (Accept (receiver x))) (y := y); trivial;
      try lia.
    destruct two_kinds as [Kind|Kind]; [left|right].
    + intros Positive. unfold listed. rewrite Kind. apply filter_In.
      split; [|now apply Z.ltb_lt]. now apply PM.elements_correct.
    + simpl. unfold reach_of. rewrite Kind. eauto.
  - left. destruct two_kinds as [Kind|Kind].
    { exfalso. destruct old_complete as (_ & Key & _). apply (Key (receiver x)); trivial. right.
      apply receives_well; [now apply counted|congruence]. }
    assert (G : brings x = gain x + causes (t + 1) (goal x))
      by (unfold brings, with_caused; now rewrite E).
    destruct (no_account (t + 1) (receiver x) old) as [Listed Zero0]; trivial; [lia|].
    assert (H : goal x = receiver x).
    { unfold goal, goal_in, block_of. rewrite Listed. now destruct (fst x =? T). }
    rewrite H, Zero0 in G.
    assert (Worth : worth_of x = 0).
    { assert (Zero : PM.find (receiver x) (values k) = None).
      { destruct (PM.find (receiver x) (values k)) eqn:D; trivial.
        apply values_spec in D as [D _]. exfalso. destruct old_complete as (_ & Key & _).
        now apply (Key (receiver x) (or_intror D)). }
      unfold worth_of. rewrite own_alone by trivial. unfold found. rewrite Zero.
      now destruct (fst x =? T). }
    pose proof (table_nonneg (Accept (receiver x))). pose proof (charge_of_nonneg x).
    unfold gain in G. lia.
Qed.

Lemma first_channel x : In x every ->
  exists c, In (second_node (nodes (snd x)), c) (neighbours I (sender x)).
Proof.
  intros X. destruct (path_parts I _ (transfer_allowed x X)) as (u & b & rest & Q & [c C] & _).
  exists c. unfold sender. rewrite Q. exact C.
Qed.

Lemma brings_in_channels x u : In x xs -> fst x = t -> from_block x = block u ->
  listed_gain (flat_map snd (by_channel u)) (goal x) (brings x).
Proof.
  intros X E From. destruct (first_channel x (counted x X)) as [c C].
  apply listed_in_flat_map with (c, gains_by_goal grouping t T u (gains_from amount listed
    {| neighbour := second_node (nodes (snd x)); capacity := c;
       reached_by := reach_of I tb dist tail (sender x) (second_node (nodes (snd x))) |})).
  - unfold by_channel. rewrite over_all_map. apply in_flat_map. exists (sender x).
    split; [apply sender_member; trivial; now apply counted|].
    rewrite right_beginnings, map_map. apply in_map_iff.
    exists (second_node (nodes (snd x)), c). now split.
  - simpl snd. now apply brings_listed.
Qed.

Let now u := filter (sends_now from_block (block u) t) xs.
Let now_from u w := filter (fun x => Pos.eqb (sender x) w) (now u).

Lemma now_spec u x : In x (now u) -> In x xs /\ from_block x = block u /\ fst x = t.
Proof.
  intros X. apply filter_In in X as [X E]. unfold sends_now in E.
  apply andb_true_iff in E as [E F]. apply Pos.eqb_eq in E. apply Z.eqb_eq in F. auto.
Qed.

(** Transfers of this step are counted by a resource that all of them use. *)
Lemma now_counted u r c (f : timed_transfer -> bool) :
  (forall x, In x (filter f (now u)) -> In (r, t) (uses I (period s) x)) ->
  (1 <= t <= period s -> used I s r t <= in_step I t c) ->
  Z.of_nat (length (filter f (now u))) <= carried I t c.
Proof.
  intros U C. unfold carried.
  set (g := fun x => counts x && sends_now from_block (block u) t x && f x).
  assert (Same : filter f (now u) = filter g every).
  { unfold now, xs. rewrite !filter_filter. apply filter_ext. intros x. unfold g.
    apply andb_assoc. }
  rewrite Same in *.
  pose proof (users_counted I s r t g m
    ltac:(intros x X G; apply U, filter_In; now split)) as H. fold every in H.
  destruct (filter g every) as [|x l] eqn:E; [simpl; lia|].
  assert (X : In x (filter g every)) by (rewrite E; now left).
  apply filter_In in X as [X G]. unfold g, sends_now in G.
  apply andb_true_iff in G as [G _]. apply andb_true_iff in G as [_ G].
  apply andb_true_iff in G as [_ G]. apply Z.eqb_eq in G.
  apply transfer_in_time in X. specialize (C ltac:(lia)). lia.
Qed.

Lemma channel_counted u w b c : In (b, c) (neighbours I w) ->
  Z.of_nat (length (filter (fun x => Pos.eqb (second_node (nodes (snd x))) b) (now_from u w)))
    <= carried I t c.
Proof.
  intros C. unfold now_from. rewrite filter_filter.
  apply now_counted with (r := Channel (link I (w, b))).
  - intros x X. apply filter_In in X as [X B]. apply now_spec in X as (X & _ & E).
    apply andb_true_iff in B as [S B]. apply Pos.eqb_eq in S, B.
    rewrite uses_now by trivial. right. right.
    apply in_map_iff. exists (w, b). split; [now rewrite E|].
    destruct (path_parts I _ (transfer_allowed x (counted x X))) as (u' & b' & rest & Q & _).
    unfold sender in S. rewrite Q in *. simpl in S, B. subst. now left.
  - intros R. now apply (rule_2 I s V t R).
Qed.

Lemma ports_counted u w :
  Z.of_nat (length (now_from u w))
    <= port_limit I w t (sum (fun b => carried I t (capacity b)) (beginnings_at part w)).
Proof.
  assert (Flow : Z.of_nat (length (now_from u w))
    <= sum (fun b => carried I t (capacity b)) (beginnings_at part w)).
  { rewrite <- sum_ones. rewrite right_beginnings, sum_map.
    etransitivity; [apply (sum_grouped _
      (fun x next => Pos.eqb (second_node (nodes (snd x))) (fst next)) (neighbours I w)); [lia|]|].
    - intros x X. apply filter_In in X as [X S]. apply Pos.eqb_eq in S.
      apply now_spec in X as (X & _). destruct (first_channel x (counted x X)) as [c C].
      rewrite S in C. eexists. split; [exact C|apply Pos.eqb_refl].
    - apply sum_le. intros [b c] C. rewrite sum_ones. simpl. now apply channel_counted. }
  unfold port_limit. destruct (PM.find w (injects I)) as [c|] eqn:F; trivial.
  apply Z.min_glb; trivial. apply now_counted with (r := Inject w).
  - intros x X. apply filter_In in X as [X S]. apply now_spec in X as (X & _ & E).
    apply Pos.eqb_eq in S. rewrite uses_now by trivial. left. congruence.
  - intros R. now apply (rule_2 I s V t R).
Qed.

(** What a sum over the transfers of a block is, by their senders. *)
Lemma by_sender (f : timed_transfer -> Z) u : (forall x, In x (now u) -> 0 <= f x) ->
  sum f (now u) <= sum (fun w => sum f (now_from u w)) (members k u).
Proof.
  intros H. apply (sum_grouped f (fun x w => Pos.eqb (sender x) w)); trivial.
  intros x X. apply now_spec in X as (X & From & _). exists (sender x).
  split; [apply sender_member; trivial; now apply counted|apply Pos.eqb_refl].
Qed.

(** What a block earns in this step. *)
Lemma brings_at_most_earned u :
  sum brings (now u) <= earned I t (sent_by I part t (members k u)) (by_channel u).
Proof.
  pose proof goals_once as D. apply NoDup_cons_iff in D as [_ D].
  assert (Dnow : NoDup (map goal (now u))) by now apply NoDup_map_filter.
  unfold earned. apply Z.min_glb.
  - transitivity (sum (fun x => Z.max 0 (brings x)) (now u)); [apply sum_le; lia|].
    etransitivity; [apply by_sender; lia|].
    unfold by_channel. rewrite over_all_map, sum_flat_map. apply sum_le. intros w W.
    rewrite right_beginnings, map_map, sum_map.
    etransitivity; [apply (sum_grouped _
      (fun x next => Pos.eqb (second_node (nodes (snd x))) (fst next)) (neighbours I w)); [lia|]|].
    + intros x X. apply filter_In in X as [X S]. apply Pos.eqb_eq in S.
      apply now_spec in X as (X & _). destruct (first_channel x (counted x X)) as [c C].
      rewrite S in C. eexists. split; [exact C|apply Pos.eqb_refl].
    + apply sum_le. intros [b c] C. simpl fst. simpl snd. simpl capacity.
      apply largest_bounds with (at_node := goal).
      * now apply NoDup_map_filter, NoDup_map_filter.
      * intros x X. apply filter_In in X as [X B]. apply filter_In in X as [X S].
        apply Pos.eqb_eq in B, S. apply now_spec in X as (X & From & E). subst b w.
        apply listed_gain_max. now apply brings_listed.
      * now apply channel_counted.
  - apply largest_bounds with (at_node := goal); trivial.
    + intros x X. apply now_spec in X as (X & From & E).
      apply above_listed, keep_best_new. now apply brings_in_channels.
    + simpl. rewrite <- sum_ones. etransitivity; [apply by_sender; lia|].
      apply sum_le. intros w _. rewrite sum_ones. apply ports_counted.
Qed.

(** Hop by hop, a node sends to neighbours only, and not to where it had the message from. *)
Lemma fan_counted w : kind I = StoreAndForward ->
  Z.of_nat (length (filter (sends_later sender w t) every)) <= fst (fan_of I w).
Proof.
  intros Kind. simpl. apply inj_le.
  pose proof transfers_once as D. apply NoDup_cons_iff in D as [_ D].
  rewrite <- (map_length receiver).
  apply NoDup_incl_length; [now apply NoDup_map_filter|].
  intros v H. apply in_map_iff in H as (x & <- & X). apply filter_In in X as [X E].
  unfold sends_later in E. apply andb_true_iff in E as [E _]. apply Pos.eqb_eq in E. subst w.
  apply nodup_In, in_map_iff. destruct (path_parts I _ (transfer_allowed x X))
    as (a & b & rest & Q & [c C] & R).
  exists (receiver x, c). split; trivial. unfold sender, receiver. rewrite Q.
  destruct rest as [|v rest]; [exact C|]. destruct R; congruence.
Qed.

Lemma node_sends_few u : kind I = StoreAndForward ->
  within (Z.of_nat (length (filter (sends_later sender u t) every))) (sends_at_most p source u).
Proof.
  intros Kind. unfold sends_at_most.
  destruct (right_fans u) as [->|[_ ->]]; [easy|].
  destruct (fan_of I u) as [n both_ways] eqn:Fan. simpl.
  set (later := filter (sends_later sender u t) every).
  unfold fan_of in Fan. injection Fan as Count Both.
  set (near := nodup Pos.eq_dec (map fst (neighbours I u))) in *.
  change (Z.of_nat (@length node near) = n) in Count.
  assert (Spec : forall x, In x later -> In x every /\ sender x = u).
  { intros x X. apply filter_In in X as [X E]. unfold sends_later in E.
    apply andb_true_iff in E as [E _]. apply Pos.eqb_eq in E. auto. }
  assert (Hop : forall x, In x every -> exists c, channel I (sender x) (receiver x) c).
  { intros x X. pose proof (transfer_allowed x X) as A.
    destruct (path_parts I _ A) as (a & b & rest & Q & C & R).
    unfold sender, receiver. rewrite Q. destruct rest as [|v rest]; [exact C|].
    destruct R; congruence. }
  assert (Near : incl (map receiver later) near).
  { intros v H. apply in_map_iff in H as (x & <- & X). apply Spec in X as [X <-].
    apply nodup_In, in_map_iff. destruct (Hop x X) as [c C]. now exists (receiver x, c). }
  pose proof transfers_once as D. apply NoDup_cons_iff in D as [_ D].
  assert (Dlater : NoDup (map receiver later)) by now apply NoDup_map_filter.
  pose proof (NoDup_incl_length Dlater Near) as All. rewrite map_length in All.
  apply inj_le in All. rewrite Count in All.
  destruct (Pos.eqb_spec u source) as [|Other]; [rewrite andb_false_r; exact All|].
  destruct both_ways; [simpl|exact All].
  destruct later as [|x l] eqn:Empty; [simpl; lia|].
  destruct (Spec x (or_introl eq_refl)) as [X Sx].
  assert (Before : forall x, In x every -> sender x = u ->
    exists y, In y every /\ receiver y = u /\ fst y < fst x).
  { intros z Z Sz. destruct (transfer_cause z Z) as [|(y & Y & R & L)]; [congruence|].
    exists y. rewrite R, Sz in *. auto. }
  destruct (Before x X Sx) as (y & Y & Ry & _).
  assert (Back : In (sender y) near).
  { destruct (Hop y Y) as [c C]. rewrite Ry in C. unfold channel in C.
    unfold neighbours at 1 in C.
    destruct (PM.find (sender y) (adjacent I)) as [next|] eqn:F; [|contradiction].
    apply PM.elements_correct in F. rewrite forallb_forall in Both.
    specialize (Both _ F). simpl in Both. apply orb_true_iff in Both as [Both|Both].
    - exfalso. apply negb_true_iff in Both.
      assert (is_in u next = true); [|congruence].
      apply existsb_exists. exists (u, c). split; trivial. apply Pos.eqb_refl.
    - apply existsb_exists in Both as ([v d] & W & E). apply Pos.eqb_eq in E. simpl in E. subst v.
      apply nodup_In, in_map_iff. now exists (sender y, d). }
  assert (Not : ~ In (sender y) (map receiver (x :: l))).
  { intros H. apply in_map_iff in H as (z & E & Z). apply Spec in Z as [Z Sz].
    destruct (transfer_cause y Y) as [Q|(w & W & Rw & L)].
    - rewrite Q in E. now apply (source_receives_nothing receiver every source transfers_once z Z).
    - assert (w = z) by (apply transfer_known; trivial; congruence). subst w.
      destruct (Before z Z Sz) as (y' & Y' & Ry' & L').
      assert (y' = y) by (apply transfer_known; trivial; congruence). subst y'. lia. }
  assert (All' : (length (sender y :: map receiver (x :: l)) <= @length node near)%nat).
  { apply NoDup_incl_length; [now constructor|]. intros v [<-|H]; [trivial|now apply Near]. }
  apply inj_le in All'. rewrite Count in All'.
  change (length (sender y :: map receiver (x :: l))) with (S (length (map receiver (x :: l))))
    in All'.
  rewrite map_length, Nat2Z.inj_succ in All'.
  apply Z.le_trans with (n - 1); [|lia]. apply Z.lt_le_pred. now apply Z.le_succ_l.
Qed.

Let later u := filter (sends_later from_block (block u) t) xs.

Lemma later_spec u x : In x (later u) -> In x xs /\ from_block x = block u /\ t <= fst x.
Proof.
  intros X. apply filter_In in X as [X E]. unfold sends_later in E.
  apply andb_true_iff in E as [E F]. apply Pos.eqb_eq in E. apply Z.leb_le in F. auto.
Qed.

(** Hop by hop, a block sends what its nodes send. *)
Lemma sends_few u : kind I = StoreAndForward ->
  within (Z.of_nat (length (later u))) (block_sends_at_most p source (members k u)).
Proof.
  intros Kind.
  assert (Member : forall x, In x (later u) -> In (sender x) (members k u)).
  { intros x X. apply later_spec in X as (X & E & _). apply sender_member; trivial.
    now apply counted. }
  assert (From : forall w,
    (length (filter (fun x => Pos.eqb (sender x) w) (later u))
     <= length (filter (sends_later sender w t) every))%nat).
  { intros w. unfold later, xs. rewrite !filter_filter. apply filter_length. intros x E.
    apply andb_true_iff in E as [_ E]. apply andb_true_iff in E as [E S].
    unfold sends_later in *. apply andb_true_iff in E as [_ E]. now rewrite S, E. }
  assert (Many : Z.of_nat (length (later u)) <= sum (fun w =>
    Z.of_nat (length (filter (sends_later sender w t) every))) (members k u)).
  { rewrite <- sum_ones.
    etransitivity; [apply (sum_grouped _ (fun x w => Pos.eqb (sender x) w) (members k u)); [lia|]|].
    - intros x X. exists (sender x). split; [now apply Member|apply Pos.eqb_refl].
    - apply sum_le. intros w _. rewrite sum_ones. apply inj_le, From. }
  assert (All : forall l y, all_fans p l = Some y -> sum (fun w =>
    Z.of_nat (length (filter (sends_later sender w t) every))) l <= y).
  { induction l as [|w l IH]; simpl; intros y E; [injection E as <-; lia|].
    destruct (right_fans w) as [F|[_ F]]; rewrite F in E; [discriminate|].
    pose proof (fan_counted w Kind) as Fan.
    destruct (fan_of I w) as [n both_ways]. destruct (all_fans p l) as [z|]; [|discriminate].
    injection E as <-. specialize (IH z eq_refl). simpl in Fan. lia. }
  unfold block_sends_at_most.
  destruct (members k u) as [|w [|v l]].
  - simpl in *. exact Many.
  - pose proof (node_sends_few w Kind) as H. cbn [sum] in Many.
    destruct (sends_at_most p source w); [|easy]. simpl in *. lia.
  - destruct (all_fans p (w :: v :: l)) as [y|] eqn:E; [|easy].
    specialize (All _ _ E). simpl within. lia.
Qed.

(** What a block brings to another one in this step is computed. *)
Lemma group_listed u b : listed_gain
  (gains_by_block grouping t T (flat_map snd (by_channel u))) b
  (sum brings (filter (into b) (now u))).
Proof.
  set (l := filter (into b) (now u)).
  assert (Spec : forall x, In x l -> In x (now u) /\ block (receiver x) = b).
  { intros x X. apply filter_In in X as [X E]. apply Pos.eqb_eq in E. auto. }
  assert (D : NoDup (map goal l)).
  { pose proof goals_once as D. apply NoDup_cons_iff in D as [_ D].
    now apply NoDup_map_filter, NoDup_map_filter. }
  unfold gains_by_block. destruct (PM.is_empty grouping || negb (t =? T)) eqn:E.
  - assert (Goal : forall x, In x l -> goal x = b).
    { intros x X. apply Spec in X as [X <-]. apply now_spec in X as (_ & _ & L).
      unfold goal, goal_in. rewrite L. apply orb_true_iff in E as [E|E].
      - unfold block, block_of. rewrite empty_blocks by trivial. now destruct (t =? T).
      - apply negb_true_iff in E. now rewrite E. }
    destruct l as [|x [|y l']] eqn:L; [left; simpl; lia| |].
    + rewrite <- (Goal x (or_introl eq_refl)). cbn [sum]. rewrite Z.add_0_r.
      destruct (Spec x (or_introl eq_refl)) as [X _]. apply now_spec in X as (X & From & Now).
      now apply brings_in_channels.
    + exfalso. simpl in D. apply NoDup_cons_iff in D as [D _]. apply D. left.
      rewrite (Goal x), (Goal y); simpl; auto.
  - apply orb_false_iff in E as [_ E]. apply negb_false_iff in E.
    set (kept := PM.elements (keep_best (PM.empty Z) (flat_map snd (by_channel u)))).
    assert (Goal : forall x, In x l -> goal x = receiver x).
    { intros x X. apply Spec in X as [X _]. apply now_spec in X as (_ & _ & L).
      unfold goal, goal_in. now rewrite L, E. }
    assert (Listed : forall x, In x l -> listed_gain kept (receiver x) (brings x)).
    { intros x X. rewrite <- Goal by trivial. destruct (Spec x X) as [X' _].
      apply now_spec in X' as (X' & From & Now).
      apply above_listed, keep_best_new. now apply brings_in_channels. }
    destruct (existsb (fun x => 0 <? brings x) l) eqn:Some_gain.
    + right. apply existsb_exists in Some_gain as (x & X & Positive). apply Z.ltb_lt in Positive.
      destruct (Listed x X) as [|(y & Y & _)]; [lia|]. destruct (Spec x X) as [_ B].
      exists (largest None (filter (fun e => Pos.eqb (block_of grouping (fst e)) b) kept)). split.
      * apply in_map_iff. exists (receiver x, y). split; trivial. cbn [fst].
        fold block. now rewrite B.
      * apply largest_bounds with (at_node := goal); trivial; [|easy].
        intros z Z. rewrite Goal by trivial. 
        destruct (Listed z Z) as [|(w & W & Less)]; [now left|].
        right. exists w. split; trivial. apply filter_In. split; trivial. cbn [fst].
        apply Pos.eqb_eq. destruct (Spec z Z) as [_ ?]. trivial.
    + left. rewrite <- (sum_zero l). apply sum_le. intros x X.
      destruct (Z.ltb_spec 0 (brings x)) as [Positive|]; trivial. exfalso.
      enough (existsb (fun x => 0 <? brings x) l = true) by congruence.
      apply existsb_exists. exists x. split; trivial. now apply Z.ltb_lt.
Qed.

(** A sum is that of its groups. *)
Lemma groups_sum {A} (f : A -> Z) (key : A -> node) (l : list A) :
  sum f l = sum (fun b => sum f (filter (fun x => Pos.eqb (key x) b) l))
    (nodup Pos.eq_dec (map key l)).
Proof.
  rewrite (sum_ext (fun b => sum f (filter (fun x => Pos.eqb (key x) b) l))
    (fun b => sum (fun x => if Pos.eqb (key x) b then f x else 0) l)) by (intros; apply sum_filter).
  rewrite sum_swap. apply sum_ext. intros x X. symmetry. apply sum_at_one; [|apply NoDup_nodup].
  apply nodup_In. now apply in_map.
Qed.

(** One step back, accounts hold again. *)
Lemma step_fits :
  complete (step_back I p part k t old) /\ fits t (step_back I p part k t old).
Proof.
  set (new := step_back I p part k t old).
  assert (Find : forall u, PM.find u new = option_map
    (account_before I p part k t amount listed u) (PM.find u old)).
  { intros u. unfold new, step_back. rewrite PM.gmapi. reflexivity. }
  split.
  - destruct old_complete as (C1 & C2 & C3).
    split; [intros x X|split; [intros d D|intros Kind v F]]; rewrite Find;
      [specialize (C1 x X); destruct (PM.find (sender x) old)
      |specialize (C2 d D); destruct (PM.find d old)
      |specialize (C3 Kind v F); destruct (PM.find v old)]; simpl; congruence.
  - intros u a U F. rewrite Find in F.
    destruct (PM.find u old) as [b|] eqn:G; [|discriminate].
    injection F as <-.
    assert (U' : In (block u) (holding (t + 1))) by now apply holder_later.
    destruct (old_fits u b U' G) as [_ Rest].
    pose proof (causes_within t (block u) ltac:(lia) U) as All.
    unfold account_before. destruct (Z.leb_spec (total k) (income b)) as [Full|Less].
    { split; lia. }
    destruct (Rest Less) as [Sums Best].
    change (blocks k) with grouping. change (end_step k) with T. change (home k) with source.
    fold (by_channel u). cbv zeta.
    assert (More : causes t (block u)
      <= sums b + earned I t (sent_by I part t (members k u)) (by_channel u)).
    { pose proof (brings_at_most_earned u) as E. unfold causes in Sums |- *.
      rewrite caused_step by lia. unfold brings, now in E. lia. }
    assert (Kept : kind I = StoreAndForward -> forall b', above (keep_best (best b)
      (gains_by_block grouping t T (flat_map snd (by_channel u)))) b'
      (sum brings (filter (into b') (later u)))).
    { intros Kind b'.
      assert (Split : sum brings (filter (into b') (later u))
        = sum brings (filter (into b') (now u))
          + sum brings (filter (into b') (filter (sends_later from_block (block u) (t + 1)) xs))).
      { unfold later, now. rewrite !filter_filter, !sum_filter, <- sum_plus. apply sum_ext.
        intros x _. unfold sends_later, sends_now.
        destruct (Pos.eqb (from_block x) (block u)); [|reflexivity].
        destruct (into b' x); rewrite ?andb_true_r, ?andb_false_r; [simpl|reflexivity].
        destruct (Z.eqb_spec (fst x) t), (Z.leb_spec t (fst x)), (Z.leb_spec (t + 1) (fst x));
          lia. }
      destruct (filter (into b') (now u)) as [|x l] eqn:E.
      - rewrite Split. cbn [sum]. rewrite Z.add_0_l. now apply keep_best_keeps, Best.
      - apply keep_best_new. rewrite Split, (sum_zeros _ (filter (into b') (filter _ xs))),
          Z.add_0_r, <- E; [apply group_listed|].
        intros y Y. exfalso.
        assert (X : In x (filter (into b') (now u))) by (rewrite E; now left).
        apply filter_In in X as [X Bx]. apply now_spec in X as (X & _ & Tx).
        apply filter_In in Y as [Y By]. apply filter_In in Y as [Y Ty].
        unfold sends_later in Ty. apply andb_true_iff in Ty as [_ Ty]. apply Z.leb_le in Ty.
        apply Pos.eqb_eq in Bx, By. destruct (same_step x y X Y ltac:(congruence)). lia. }
    destruct two_kinds as [Kind|Kind]; rewrite Kind.
    + repeat split; cbn [income sums]; try lia. congruence.
    + split; cbn [income sums best];
        [|intros _; split; [lia|intros _; now apply Kept]].
      apply Z.min_glb; [lia|]. unfold causes. rewrite (caused_sum _ _ _ _ until_end) by lia.
      fold (later u). fold brings.
      rewrite (groups_sum brings (fun x => block (receiver x)) (later u)).
      apply largest_bounds with (at_node := fun b => b).
      * rewrite map_id. apply NoDup_nodup.
      * intros b' _. apply above_listed. now apply Kept.
      * pose proof (sends_few u Kind) as Few.
        destruct (block_sends_at_most p source (members k u)) as [y|]; [|easy].
        simpl within in *. etransitivity; [|exact Few]. apply inj_le.
        rewrite <- (map_length (fun x => block (receiver x)) (later u)).
        apply NoDup_incl_length; [apply NoDup_nodup|]. intros v. apply nodup_In.
Qed.

End Step.

(** ** All steps *)

Variable intervals : list interval.
Hypothesis C : covers rows T intervals.

Let p := prepare I intervals.

Lemma in_order_unique t0 parts q r t :
  in_order t0 T parts = true -> In q parts -> In r parts ->
  first_step q <= t <= last_step q -> first_step r <= t <= last_step r -> q = r.
Proof.
  assert (After : forall l t1 x, in_order t1 T l = true -> In x l -> t1 <= first_step x).
  { induction l as [|y l IH]; intros t1 x O X; [easy|]. simpl in O.
    apply andb_true_iff in O as [O O4]. apply andb_true_iff in O as [O O3].
    apply andb_true_iff in O as [O1 O2].
    apply Z.eqb_eq in O1. apply Z.leb_le in O2, O3.
    destruct X as [->|X]; [lia|]. specialize (IH _ _ O4 X). lia. }
  revert t0. induction parts as [|y l IH]; intros t0 O Q R Tq Tr; [easy|]. simpl in O.
  apply andb_true_iff in O as [_ O]. destruct Q as [->|Q], R as [->|R]; trivial.
  - specialize (After _ _ _ O R). lia.
  - specialize (After _ _ _ O Q). lia.
  - now apply IH with (last_step y + 1).
Qed.

Lemma part_prices part t : in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  1 <= t <= T -> first_step part <= t <= last_step part ->
  forall q, price_at rows q t = table_price (accepting part) q.
Proof.
  intros O H L R q. destruct (C t L) as (i & Hi & Ri & E).
  assert (S : part = prepare_interval I (remember (distance_of I) (adjacent I)) i).
  { apply (in_order_unique 1 (intervals_of p) _ _ t); trivial.
    simpl. now apply in_map. }
  rewrite S. apply E.
Qed.

Lemma fans_right u : PM.find u (fans p) = None
  \/ kind I = StoreAndForward /\ PM.find u (fans p) = Some (fan_of I u).
Proof.
  simpl. destruct two_kinds as [E|E]; rewrite E; [left; apply PM.gempty|].
  unfold remember. rewrite PM.gmapi. destruct (PM.find u (adjacent I)); simpl; auto.
Qed.

(** One step back in an interval. *)
Lemma part_step_fits part t old :
  in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  1 <= t <= T -> first_step part <= t <= last_step part ->
  complete old -> fits (t + 1) old ->
  complete (step_back I p part k t old)
  /\ fits t (step_back I p part k t old).
Proof.
  intros O H L R Old Fits.
  destruct (proj1 (in_map_iff _ _ _) H) as (i & E & Hi).
  apply step_fits with (tb := prices i) (dist := recall (distance_of I)
      (remember (distance_of I) (adjacent I)))
    (tail := recall (tail_of I (prices i)) (remember (tail_of I (prices i)) (adjacent I)));
    trivial; try (intros v; apply recall_remember).
  - now rewrite <- E.
  - intros u. rewrite <- E. unfold beginnings_at, neighbours. simpl. rewrite PM.gmapi.
    now destruct (PM.find u (adjacent I)).
  - apply fans_right.
  - intros q. rewrite (part_prices part t O H L R q). now rewrite <- E.
Qed.

Lemma steps_fit part n : forall t old,
  in_order 1 T (intervals_of p) = true -> In part (intervals_of p) ->
  t <= T -> t <= last_step part -> 1 <= first_step part -> first_step part + Z.of_nat n <= t + 1 ->
  complete old -> fits (t + 1) old ->
  complete (steps_back (step_back I p part k) t n old)
  /\ fits (t + 1 - Z.of_nat n) (steps_back (step_back I p part k) t n old).
Proof.
  induction n as [|n IH]; intros t old O H L R F S Old Fits.
  - simpl. now rewrite Z.sub_0_r.
  - rewrite Nat2Z.inj_succ in *. simpl steps_back.
    destruct (part_step_fits part t old) as [Old' Fits']; trivial; try lia.
    replace (t + 1 - Z.succ (Z.of_nat n)) with (t - 1 + 1 - Z.of_nat n) by lia.
    apply IH; trivial; try lia. now replace (t - 1 + 1) with t by lia.
Qed.

Lemma accounts_fit parts t :
  in_order 1 T (intervals_of p) = true -> incl parts (intervals_of p) ->
  1 <= t -> in_order t T parts = true ->
  complete (accounts I p k parts (accounts_at_end I grouping source destinations))
  /\ fits t (accounts I p k parts (accounts_at_end I grouping source destinations)).
Proof.
  intros O. revert t. induction parts as [|part l IH]; intros t H L Q.
  - simpl in *. apply Z.ltb_lt in Q. split; [apply complete_at_end|now apply fits_at_end].
  - simpl in Q.
    apply andb_true_iff in Q as [Q Q4]. apply andb_true_iff in Q as [Q Q3].
    apply andb_true_iff in Q as [Q1 Q2].
    apply Z.eqb_eq in Q1. apply Z.leb_le in Q2, Q3.
    destruct (IH (last_step part + 1)) as [Old Fits]; trivial; try lia.
    { intros x X. apply H. now right. }
    simpl.
    destruct (steps_fit part (Z.to_nat (last_step part + 1 - first_step part)) (last_step part)
      (accounts I p k l (accounts_at_end I grouping source destinations)))
      as [Old' Fits']; trivial; try lia.
    { apply H. now left. }
    split; trivial.
    replace t with (last_step part + 1
      - Z.of_nat (Z.to_nat (last_step part + 1 - first_step part))) by lia.
    trivial.
Qed.

(** The bound, for any charges and blocks that fit. *)
Lemma message_pays_but_charges :
  in_order 1 T (intervals_of p) = true ->
  total k - all_charges charges T - match PM.find source
    (accounts I p k (intervals_of p) (accounts_at_end I grouping source destinations))
    with Some a => income a | None => 0 end
  <= message_pays I rows s m.
Proof.
  intros O.
  destruct (accounts_fit (intervals_of p) 1) as [Old Fits]; trivial; try lia.
  { now intros x X. }
  set (all := accounts I p k (intervals_of p)
    (accounts_at_end I grouping source destinations)) in *.
  assert (Zt : 0 <= T) by (unfold period in P; lia).
  assert (H : causes 1 (block source) = sum gain xs).
  { unfold causes. now apply (caused_by_source from_block goal xs (block source) T until_end
      goals_once goal_cause). }
  pose proof charges_of_all as Charges. pose proof total_gain as Gain.
  destruct (PM.find source all) as [a|] eqn:F.
  - destruct (Fits source a ltac:(now left) F) as [Income _]. lia.
  - exfalso. destruct Old as (_ & Key & _). now apply (Key source (or_introl eq_refl)).
Qed.

End Message.

(** A message pays at least the worth of its destinations minus the income of its source and all
    charges. *)
Theorem worth_pays (I : instance) (s : schedule) (rows : list row) (T : Z)
    (intervals : list interval) (worth : PM.t Z) (once : list charge) (blocks : PM.t node)
    (m : positive) (source : node) (destinations : list node) :
  valid I s -> kind I <> TimeSlots -> period s <= T -> covers rows T intervals ->
  (forall r, In r rows -> 0 <= price r) ->
  PM.find m (messages I) = Some (source, destinations) ->
  worth_bound I (prepare I intervals) T worth once blocks source destinations
    <= message_pays I rows s m.
Proof.
  intros V K P C N M. unfold worth_bound.
  destruct (in_order 1 T (intervals_of (prepare I intervals))) eqn:O;
    [|apply sum_nonneg; intros x _; now apply pays_nonneg].
  apply Z.max_lub; [apply sum_nonneg; intros x _; now apply pays_nonneg|].
  apply message_pays_but_charges; trivial.
  intros v b. destruct (blocks_fit blocks) eqn:F; [|rewrite PM.gempty; discriminate].
  intros E. apply PM.elements_correct in E. unfold blocks_fit in F.
  rewrite forallb_forall in F. specialize (F _ E). simpl in F.
  destruct (PM.find b blocks) as [c|]; [|discriminate]. apply Pos.eqb_eq in F. congruence.
Qed.
