(** Networks, collectives, models, schedules, and which schedules are valid.

    The rules have the numbers and the words of docs/valid-schedule.md. Steps count from 1.
    Nodes and messages are positive numbers: node 0 of the files is node 1 here. *)

Require Import ZArith List Bool Lia FMapPositive.
Import ListNotations.
Open Scope Z_scope.

Module PM := PositiveMap.

Definition node := positive.
Definition hop : Type := node * node.
Definition path := list node.

Inductive switching := Wormhole | StoreAndForward | TimeSlots.

(** [ExtraHops 0] is minimal routing. A table gives, for a node and a goal, the next node on the
    path to the goal; with [by_source], for a node and a source, the node before it on the path
    from the source. *)
Inductive routing := AnyPath | ExtraHops (h : Z) | Table (by_source : bool) (next : PM.t (PM.t node)).

(** A network, a collective whose messages are copied, and a model.

    - [adjacent]: for a node [a] the nodes [b] to which it has a channel, with its capacity.
    - [shared]: channels that share the capacity of another one, by [a], as [(b, that one)];
      half-duplex pairs and groups are written this way.
    - [endpoints]: nodes that no path passes.
    - [times]: latency and length of channels in ticks, like [adjacent]; not listed: 0 and 1.
    - [messages]: source and destinations; each chunk is a message.
    - [injects], [accepts]: the ports of a node per round; not listed: all.
    - [rounds]: the rounds of the steps; the last number holds for all further steps. *)
Record instance := {
  adjacent : PM.t (list (node * Z));
  shared : PM.t (list (node * hop));
  endpoints : PM.t unit;
  times : PM.t (list (node * (Z * Z)));
  messages : PM.t (node * list node);
  kind : switching;
  route : routing;
  injects : PM.t Z;
  accepts : PM.t Z;
  rounds : list Z
}.

(** [parts] are those that a transfer of an allreduce or a scan carries as one sum. *)
Record transfer := { message : positive; nodes : path; parts : list node }.

Definition schedule := list (list transfer).

(** ** Channels *)

Definition neighbours (I : instance) (a : node) : list (node * Z) :=
  match PM.find a (adjacent I) with Some l => l | None => [] end.

Definition channel (I : instance) (a b : node) (capacity : Z) : Prop :=
  In (b, capacity) (neighbours I a).

Fixpoint look {A} (b : node) (l : list (node * A)) : option A :=
  match l with
  | [] => None
  | (c, x) :: rest => if Pos.eqb b c then Some x else look b rest
  end.

(** The channel whose capacity counts. *)
Definition link (I : instance) (h : hop) : hop :=
  match PM.find (fst h) (shared I) with
  | Some l => match look (snd h) l with Some other => other | None => h end
  | None => h
  end.

(** Latency and length of a channel in ticks. *)
Definition time (I : instance) (h : hop) : Z * Z :=
  match PM.find (fst h) (times I) with
  | Some l => match look (snd h) l with Some t => t | None => (0, 1) end
  | None => (0, 1)
  end.

Definition latency (I : instance) (h : hop) : Z := fst (time I h).

(** Steps are ticks: some channel has a latency, or a length of more than one tick. *)
Definition takes_time (next : node * (Z * Z)) : bool :=
  negb ((fst (snd next) =? 0) && (snd (snd next) =? 1)).

Definition in_ticks (I : instance) : bool :=
  existsb (fun each => existsb takes_time (snd each)) (PM.elements (times I)).

Definition is_endpoint (I : instance) (v : node) : bool := PM.mem v (endpoints I).

Fixpoint rounds_at (l : list Z) (t : Z) : Z :=
  match l with
  | [] => 1
  | [r] => r
  | r :: rest => if t <=? 1 then r else rounds_at rest (t - 1)
  end.

Definition in_step (I : instance) (t : Z) (capacity : Z) : Z := capacity * rounds_at (rounds I) t.

(** ** Paths (rule 1) *)

Fixpoint hops (p : path) : list hop :=
  match p with
  | a :: ((b :: _) as rest) => (a, b) :: hops rest
  | _ => []
  end.

Definition first_node (p : path) : node := hd 1%positive p.
Definition last_node (p : path) : node := last p 1%positive.
Definition inner (p : path) : list node := removelast (tl p).

(** A simple path of existing channels, with at least one hop, that passes no endpoint. *)
Definition simple (I : instance) (p : path) : Prop :=
  (2 <= length p)%nat /\ NoDup p
  /\ (forall a b, In (a, b) (hops p) -> exists c, channel I a b c)
  /\ (forall v, In v (inner p) -> is_endpoint I v = false).

(** The nodes from [v] on that a table gives on the way to [goal]; nothing if it does not arrive. *)
Fixpoint follow (next : PM.t (PM.t node)) (goal v : node) (fuel : list node) : option path :=
  if Pos.eqb v goal then Some [v]
  else match fuel, PM.find v next with
       | _ :: rest, Some row =>
           match PM.find goal row with
           | Some w => option_map (cons v) (follow next goal w rest)
           | None => None
           end
       | _, _ => None
       end.

(** The path that a table gives from [a] to [b]. *)
Definition table_path (by_source : bool) (next : PM.t (PM.t node)) (a b : node) : option path :=
  let fuel := map fst (PM.elements next) in
  if by_source then option_map (@rev node) (follow next a b fuel) else follow next b a fuel.

Definition allowed (I : instance) (p : path) : Prop :=
  match kind I with
  | StoreAndForward => length p = 2%nat /\ NoDup p
      /\ forall a b, In (a, b) (hops p) -> exists c, channel I a b c
  | _ => simple I p
      /\ match route I with
         | AnyPath => True
         | ExtraHops h => forall q, simple I q ->
             first_node q = first_node p -> last_node q = last_node p ->
             Z.of_nat (length p) <= Z.of_nat (length q) + h
         | Table by_source next =>
             table_path by_source next (first_node p) (last_node p) = Some p
         end
  end.

(** ** Steps *)

Definition timed_transfer : Type := Z * transfer.

Fixpoint numbered (t : Z) (s : schedule) : list timed_transfer :=
  match s with
  | [] => []
  | step :: rest => map (pair t) step ++ numbered (t + 1) rest
  end.

(** All transfers, each with its step. *)
Definition timed (s : schedule) : list timed_transfer := numbered 1 s.

Definition period (s : schedule) : Z := Z.of_nat (length s).

(** ** Capacities (rule 2), in time slots (rule 7) and in ticks (rule 8) *)

Inductive resource := Channel (h : hop) | Inject (v : node) | Accept (v : node).

(** Steps of a period follow each other round and round. *)
Definition slot (I : instance) (P t : Z) : Z :=
  match kind I with TimeSlots => (t - 1) mod P + 1 | _ => t end.

(** How much later than a channel the next one is used. *)
Definition delay (I : instance) (h : hop) : Z :=
  match kind I with TimeSlots => 1 | _ => latency I h end.

Fixpoint delays (I : instance) (l : list hop) : Z :=
  match l with [] => 0 | h :: rest => delay I h + delays I rest end.

(** A message is accepted in the slot of the last channel, in ticks after the latencies of all. *)
Definition arrival (I : instance) (t : Z) (l : list hop) : Z :=
  t + delays I (match kind I with TimeSlots => removelast l | _ => l end).

Fixpoint channel_begins (I : instance) (P t : Z) (l : list hop) : list (resource * Z) :=
  match l with
  | [] => []
  | h :: rest => (Channel (link I h), slot I P t) :: channel_begins I P (t + delay I h) rest
  end.

(** What a transfer begins to use, and in which steps, in a schedule of [P] steps. *)
Definition begins (I : instance) (P : Z) (x : timed_transfer) : list (resource * Z) :=
  let p := nodes (snd x) in
  let h := hops p in
  (Inject (first_node p), slot I P (fst x))
  :: (Accept (last_node p), slot I P (arrival I (fst x) h))
  :: channel_begins I P (fst x) h.

(** The largest length of the channels of a path: 1 if steps are no ticks. *)
Fixpoint duration (I : instance) (l : list hop) : Z :=
  match l with [] => 1 | h :: rest => Z.max (snd (time I h)) (duration I rest) end.

Fixpoint steps_from (t : Z) (n : nat) : list Z :=
  match n with O => [] | S k => t :: steps_from (t + 1) k end.

(** What a transfer uses, and in which steps: everything for as long as its duration. *)
Definition uses (I : instance) (P : Z) (x : timed_transfer) : list (resource * Z) :=
  flat_map (fun b => map (pair (fst b))
      (steps_from (snd b) (Z.to_nat (duration I (hops (nodes (snd x)))))))
    (begins I P x).

(** The last step in which a transfer uses anything; then its last node has the message. *)
Definition finish (I : instance) (x : timed_transfer) : Z :=
  let h := hops (nodes (snd x)) in
  match kind I with TimeSlots => fst x | _ => arrival I (fst x) h + duration I h - 1 end.

Definition hop_eqb (g h : hop) : bool := Pos.eqb (fst g) (fst h) && Pos.eqb (snd g) (snd h).

Definition resource_eqb (q r : resource) : bool :=
  match q, r with
  | Channel g, Channel h => hop_eqb g h
  | Inject v, Inject w => Pos.eqb v w
  | Accept v, Accept w => Pos.eqb v w
  | _, _ => false
  end.

Definition is_use (r : resource) (t : Z) (u : resource * Z) : bool :=
  resource_eqb r (fst u) && Z.eqb t (snd u).

Definition count {A} (f : A -> bool) (l : list A) : Z := Z.of_nat (length (filter f l)).

Definition all_uses (I : instance) (s : schedule) : list (resource * Z) :=
  flat_map (uses I (period s)) (timed s).

(** How often a resource is used in a step. *)
Definition used (I : instance) (s : schedule) (r : resource) (t : Z) : Z :=
  count (is_use r t) (all_uses I s).

Definition capacities (I : instance) (s : schedule) : Prop :=
  forall t, 1 <= t <= period s ->
    (forall a b c, channel I a b c -> used I s (Channel (link I (a, b))) t <= in_step I t c)
    /\ (forall v k, PM.find v (injects I) = Some k -> used I s (Inject v) t <= in_step I t k)
    /\ (forall v k, PM.find v (accepts I) = Some k -> used I s (Accept v) t <= in_step I t k).

(** ** Causality (rule 3), and the tree of rule 7 *)

Definition of_message (m : positive) (x : timed_transfer) : bool := Pos.eqb m (message (snd x)).

Definition transfers (m : positive) (s : schedule) : list timed_transfer :=
  filter (of_message m) (timed s).

Definition sender (x : timed_transfer) : node := first_node (nodes (snd x)).
Definition receiver (x : timed_transfer) : node := last_node (nodes (snd x)).

(** Nodes to which the transfers of a message lead from its source, in any order of the slots. *)
Inductive reached (s : schedule) (m : positive) (source : node) : node -> Prop :=
  | reached_source : reached s m source source
  | reached_next x : In x (transfers m s) -> reached s m source (sender x) ->
      reached s m source (receiver x).

Definition informed (I : instance) (s : schedule) (m : positive) (source : node)
    (x : timed_transfer) : Prop :=
  match kind I with
  | TimeSlots => reached s m source (sender x)
  | _ => sender x = source
      \/ exists y, In y (transfers m s) /\ receiver y = sender x /\ finish I y < fst x
  end.

Definition may_receive (I : instance) (destinations : list node) (v : node) : Prop :=
  match kind I with StoreAndForward => True | _ => In v destinations end.

(** ** Validity *)

Definition receivers (m : positive) (s : schedule) : list node := map receiver (transfers m s).

(** Steps have different numbers of rounds, or are slots or ticks: then they may be empty. *)
Definition may_be_empty (I : instance) : bool :=
  match kind I with
  | TimeSlots => true
  | _ => in_ticks I || existsb (fun r => negb (Z.eqb r (hd 1 (rounds I)))) (rounds I)
  end.

Record valid (I : instance) (s : schedule) : Prop := {
  rule_1 : forall x, In x (timed s) -> allowed I (nodes (snd x));
  rule_2 : capacities I s;
  rule_8_end : forall x, In x (timed s) -> finish I x <= period s;
  known : forall x, In x (timed s) -> PM.mem (message (snd x)) (messages I) = true;
  rule_3 : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) ->
    forall x, In x (transfers m s) ->
      informed I s m source x /\ may_receive I destinations (receiver x);
  rule_4_once : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) -> NoDup (source :: receivers m s);
  rule_4_all : forall m source destinations,
    PM.find m (messages I) = Some (source, destinations) ->
    forall d, In d destinations -> In d (source :: receivers m s);
  rule_4_empty : may_be_empty I = false -> ~ In [] s
}.

(** ** Combining (rule 5): read backwards, a broadcast on the reversed network *)

Definition add_neighbour {A} (a : node) (x : A) (m : PM.t (list A)) : PM.t (list A) :=
  PM.add a (x :: match PM.find a m with Some l => l | None => [] end) m.

Definition reversed_lists {A} (m : PM.t (list (node * A))) : PM.t (list (node * A)) :=
  fold_left (fun found each =>
    fold_left (fun found next => add_neighbour (fst next) (fst each, snd next) found)
      (snd each) found) (PM.elements m) (PM.empty _).

(** Both ends of the channel whose capacity counts are exchanged, too. *)
Definition reversed_shares (m : PM.t (list (node * hop))) : PM.t (list (node * hop)) :=
  PM.map (map (fun next => (fst next, (snd (snd next), fst (snd next))))) (reversed_lists m).

Definition reversed (I : instance) : instance := {|
  adjacent := reversed_lists (adjacent I);
  shared := reversed_shares (shared I);
  endpoints := endpoints I;
  times := reversed_lists (times I);
  messages := messages I;
  kind := kind I;
  route := match route I with Table by_source next => Table (negb by_source) next | r => r end;
  injects := accepts I;
  accepts := injects I;
  rounds := rounds I
|}.

Definition backwards (s : schedule) : schedule :=
  rev (map (map (fun x => {| message := message x; nodes := rev (nodes x); parts := parts x |})) s).

(** A reduction has its one destination where a broadcast has its source. *)
Definition valid_reduction (I : instance) (s : schedule) : Prop :=
  valid (reversed I) (backwards s).
