(** The propositional formula "there is a valid schedule of at most S steps".

    [formula I S order] gives, as lists of numbers, the clauses of the Python class
    cchybrid.checker.clauses.Formula, in the same order and with the same numbers of variables, so
    that proofs which name clauses and variables by number fit both. [formula_true] proves that a
    valid schedule of at most S steps gives an assignment that makes all clauses true: of wormhole
    or store-and-forward switching, with steps that are no ticks. With an order of messages, which
    fixes them to the first steps, its steps are arranged anew before ([order_fits]).

    Nodes are numbered from 1 to the largest number that the instance names; a reader that wants
    the numbers of the Python code in store-and-forward switching names all nodes, for example in
    [adjacent]. One difference to the Python code is meant: a path that uses the shared capacity of
    a group twice is listed once among the users of that channel. (Twice, the clauses would not
    follow; the Python checker refuses refutations of instances with groups.) *)

Require Import ZArith List Bool Lia FMapPositive Permutation.
Require Import Model Plain Sums Facts Prices Walks Paths Offers.
Import ListNotations.
Open Scope Z_scope.

(** ** Names of variables, and clauses over them *)

(** In the order of the Python code: node [v] receives message [m] in step [t]; in step [t] or
    earlier; over a path; over some path that uses a channel or port; and of the first [i + 1]
    users of a channel or port in step [t] more than [j] are true. *)
Inductive name :=
  | Gets (m : positive) (v : node) (t : Z)
  | Has (m : positive) (v : node) (t : Z)
  | Takes (m : positive) (v : node) (p : path) (t : Z)
  | Uses (m : positive) (v : node) (r : resource) (t : Z)
  | Counts (r : resource) (t i j : Z).

Definition literal : Type := bool * name.
Definition clause : Type := list literal.

Definition yes (x : name) : literal := (true, x).
Definition no (x : name) : literal := (false, x).

(** ** Keys: different things have different keys *)

Fixpoint code (p k : positive) : positive :=
  match p with
  | xH => xO k
  | xO q => xI (xO (code q k))
  | xI q => xI (xI (code q k))
  end.

Definition code_number (z : Z) (k : positive) : positive :=
  match z with
  | Z0 => xO k
  | Zpos p => xI (xO (code p k))
  | Zneg p => xI (xI (code p k))
  end.

Fixpoint code_path (p : path) (k : positive) : positive :=
  match p with [] => xO k | v :: rest => xI (code v (code_path rest k)) end.

Definition code_resource (r : resource) (k : positive) : positive :=
  match r with
  | Channel (a, b) => xO (code a (code b k))
  | Inject v => xI (xO (code v k))
  | Accept v => xI (xI (code v k))
  end.

Definition resource_key (r : resource) : positive := code_resource r xH.

Definition use_key (q : resource * Z) : positive := code_resource (fst q) (code_number (snd q) xH).

Definition name_key (x : name) : positive :=
  match x with
  | Gets m v t => xO (xO (code m (code v (code_number t xH))))
  | Has m v t => xO (xI (code m (code v (code_number t xH))))
  | Takes m v p t => xI (xO (code m (code v (code_path p (code_number t xH)))))
  | Uses m v r t => xI (xI (xO (code m (code v (code_resource r (code_number t xH))))))
  | Counts r t i j =>
      xI (xI (xI (code_resource r (code_number t (code_number i (code_number j xH))))))
  end.

(** ** Grouping by the first components, in the order in which these appear *)

Definition members_of {A} (m : PM.t (list A)) (k : positive) : list A :=
  match PM.find k m with Some l => l | None => [] end.

Definition add_member {A B} (key : A -> positive) (state : list A * PM.t (list B)) (e : A * B)
    : list A * PM.t (list B) :=
  let k := key (fst e) in
  match PM.find k (snd state) with
  | Some l => (fst state, PM.add k (snd e :: l) (snd state))
  | None => (fst e :: fst state, PM.add k [snd e] (snd state))
  end.

Definition grouped {A B} (key : A -> positive) (l : list (A * B)) : list (A * list B) :=
  let (order, m) := fold_left (add_member key) l ([], PM.empty (list B)) in
  fold_left (fun found a => (a, rev (members_of m (key a))) :: found) order [].

(** ** Allowed paths *)

(** The numbers from 1 on. *)
Definition sequence (n : positive) : list positive :=
  snd (Pos.iter (fun s : positive * list positive => (Pos.pred (fst s), fst s :: snd s)) (n, []) n).

Definition largest (l : list positive) (n : positive) : positive := fold_left Pos.max l n.

Definition keys {A} (m : PM.t A) : list positive := map fst (PM.elements m).

(** The largest number of a node that the instance names. *)
Definition node_count (I : instance) : positive :=
  fold_left (fun n each => largest (fst (snd each) :: snd (snd each)) n)
    (PM.elements (messages I))
    (fold_left (fun n each => largest (fst each :: map fst (snd each)) n)
      (PM.elements (adjacent I))
      (largest (keys (endpoints I) ++ keys (injects I) ++ keys (accepts I)) xH)).

(** The messages are numbered from 1 on. *)
Definition message_numbers (I : instance) : list positive :=
  sequence (Pos.of_nat (PM.cardinal (messages I))).

Definition set_of_nodes (l : list node) : PM.t unit :=
  fold_left (fun m v => PM.add v tt m) l (PM.empty unit).

(** All nodes that have channels are in the set. *)
Definition nodes_fit (I : instance) (set : PM.t unit) : bool :=
  forallb (fun each => PM.mem (fst each) set
      && forallb (fun next => PM.mem (fst next) set) (snd each))
    (PM.elements (adjacent I)).

Fixpoint insert (v : node) (l : list node) : list node :=
  match l with
  | [] => [v]
  | w :: rest => if Pos.leb v w then v :: l else w :: insert v rest
  end.

Definition in_order (l : list node) : list node := fold_right insert [] l.

(** The nodes to which a node has channels, in order. *)
Definition successors (I : instance) : PM.t (list node) :=
  PM.mapi (fun _ l => in_order (map fst l)) (adjacent I).

(** Hops back from a goal: past no endpoint. *)
Definition back_edges (I : instance) (goal : node) : list edge :=
  flat_map (fun each => flat_map (fun next =>
      if Pos.eqb (fst next) goal || negb (is_endpoint I (fst next))
      then [(fst next, fst each, 1)] else []) (snd each))
    (PM.elements (adjacent I)).

(** The hops from every node to the goal. *)
Definition hops_to (I : instance) (goal : node) : option (PM.t Z) :=
  cheapest I (back_edges I goal) goal.

(** Moves of the search that are left, and the paths found, the last one first. *)
Definition finding : Type := Z * list path.

(** From [v] to the goal, depth first. [taken] is the path to [v], the last node first; it has
    [size] nodes. *)
Fixpoint search (I : instance) (after : PM.t (list node)) (goal : node) (hops_left : PM.t Z)
    (longest : Z) (fuel : list node) (taken : list node) (size : Z) (v : node) (state : finding)
    : option finding :=
  let budget := fst state - if Pos.eqb v goal then 10 else 1 in
  if budget <? 0 then None
  else if Pos.eqb v goal then Some (budget, rev taken :: snd state)
  else match fuel with
       | [] => None
       | _ :: rest =>
           fold_left (fun found w =>
             match found with
             | None => None
             | Some state =>
                 if negb (existsb (Pos.eqb w) taken)
                    && (Pos.eqb w goal || negb (is_endpoint I w))
                    && match PM.find w hops_left with
                       | Some k => size + k <=? longest
                       | None => false
                       end
                 then search I after goal hops_left longest rest (w :: taken) (size + 1) w state
                 else found
             end) (members_of after v) (Some (budget, snd state))
       end.

Definition has_channel (I : instance) (h : hop) : bool :=
  match look (snd h) (neighbours I (fst h)) with Some _ => true | None => false end.

Fixpoint no_node_twice (p : path) : bool :=
  match p with [] => true | v :: rest => negb (existsb (Pos.eqb v) rest) && no_node_twice rest end.

Definition is_simple_path (I : instance) (p : path) : bool :=
  match p with _ :: _ :: _ => true | _ => false end
  && no_node_twice p && forallb (has_channel I) (hops p)
  && forallb (fun v => negb (is_endpoint I v)) (inner p).

(** The most hops that an allowed path has; [far] has the distances from its first node. *)
Definition most_hops (I : instance) (all : list node) (far : option (PM.t Z)) (b : node)
    : option Z :=
  let most := Z.of_nat (length all) - 1 in
  match route I with
  | ExtraHops h =>
      match far with
      | Some d => match PM.find b d with Some x => Some (Z.min (x + h) most) | None => None end
      | None => None
      end
  | _ => Some most
  end.

(** The allowed paths from [a] to [b], the last one first. *)
Definition pair_paths (I : instance) (all : list node) (after : PM.t (list node))
    (near : PM.t (option (PM.t Z))) (far : option (PM.t Z)) (a b : node) (budget : Z)
    : option finding :=
  match route I with
  | Table by_source next =>
      Some (budget, match table_path by_source next a b with
                  | Some p => if is_simple_path I p then [p] else []
                  | None => []
                  end)
  | _ =>
      match PM.find b near with
      | Some (Some c) =>
          match PM.find a c with
          | None => Some (budget, [])
          | Some _ =>
              match most_hops I all far b with
              | Some longest => search I after b c longest all [a] 1 a (budget, [])
              | None => None
              end
          end
      | _ => None
      end
  end.

(** Paths by their first and their last node. *)
Definition path_table : Type := PM.t (PM.t (list path)).

Definition row_of {A} (m : PM.t (PM.t A)) (a : positive) : PM.t A :=
  match PM.find a m with Some row => row | None => PM.empty A end.

(** The pairs of nodes of which the first may send to the second. *)
Definition pairs (I : instance) : PM.t (PM.t unit) :=
  fold_left (fun m each =>
    let (source, goals) := (snd each : node * list node) in
    fold_left (fun m a =>
      PM.add a (fold_left (fun row b => if Pos.eqb a b then row else PM.add b tt row)
        goals (row_of m a)) m) (source :: goals) m)
    (PM.elements (messages I)) (PM.empty _).

Definition needed_hops (I : instance) (wanted : PM.t (PM.t unit)) : PM.t (option (PM.t Z)) :=
  match route I with
  | Table _ _ => PM.empty _
  | _ =>
    PM.mapi (fun b _ => hops_to I b)
      (fold_left (fun m each => fold_left (fun m b => PM.add (fst b) tt m)
        (PM.elements (snd each)) m) (PM.elements wanted) (PM.empty unit))
  end.

Definition far_from (I : instance) (a : node) : option (PM.t Z) :=
  match route I with ExtraHops _ => distances I a | _ => None end.

Definition add_row_paths (I : instance) (all : list node) (after : PM.t (list node))
    (near : PM.t (option (PM.t Z))) (far : option (PM.t Z)) (a : node)
    (state : option (Z * PM.t (list path))) (b : node) : option (Z * PM.t (list path)) :=
  match state with
  | None => None
  | Some (budget, row) =>
      match pair_paths I all after near far a b budget with
      | None => None
      | Some (budget, found) => Some (budget, PM.add b (rev found) row)
      end
  end.

Definition add_paths (I : instance) (all : list node) (after : PM.t (list node))
    (near : PM.t (option (PM.t Z))) (state : option (Z * path_table))
    (each : node * PM.t unit) : option (Z * path_table) :=
  match state with
  | None => None
  | Some (budget, m) =>
      match fold_left (add_row_paths I all after near (far_from I (fst each)) (fst each))
        (keys (snd each)) (Some (budget, PM.empty _)) with
      | None => None
      | Some (budget, row) => Some (budget, PM.add (fst each) row m)
      end
  end.

Definition max_moves : Z := 3000000.

(** All allowed paths of all pairs; nothing if it takes too many moves to find them. *)
Definition all_paths (I : instance) (all : list node) : option path_table :=
  let wanted := pairs I in
  match fold_left (add_paths I all (successors I) (needed_hops I wanted)) (PM.elements wanted)
    (Some (max_moves, PM.empty _)) with
  | Some (_, m) => Some m
  | None => None
  end.

(** In store-and-forward switching: the channels to every node. *)
Definition hops_into (I : instance) (all : list node) (v : node) : list path :=
  flat_map (fun u => if negb (Pos.eqb u v) && has_channel I (u, v) then [[u; v]] else []) all.

Definition all_hops_into (I : instance) (all : list node) : PM.t (list path) :=
  fold_left (fun m v => PM.add v (hops_into I all v) m) all (PM.empty _).

(** ** What a formula is about: nodes that may receive messages, and over which paths *)

(** Which paths of a task use a channel or an injection port. *)
Inductive usage := ByAll | ByOne (p : path) | BySome (l : list path).

Record task := {
  about : positive;
  origin : node;
  goal_node : node;
  ways : list path;
  places : list (resource * usage)
}.

(** What a path uses, except the acceptance port. *)
Definition path_resources (I : instance) (p : path) : list resource :=
  Inject (first_node p) :: map (fun h => Channel (link I h)) (hops p).

Fixpoint first_ones (before l : list resource) : list resource :=
  match l with
  | [] => []
  | r :: rest =>
      if existsb (resource_eqb r) before then first_ones before rest
      else r :: first_ones (r :: before) rest
  end.

Definition path_events (I : instance) (p : path) : list (resource * path) :=
  map (fun r => (r, p)) (first_ones [] (path_resources I p)).

Definition usage_of (number : nat) (l : list path) : usage :=
  if Nat.eqb (length l) number then ByAll
  else match l with [p] => ByOne p | _ => BySome l end.

Definition places_of (I : instance) (l : list path) : list (resource * usage) :=
  let number := length l in
  map (fun e => (fst e, usage_of number (snd e)))
    (grouped resource_key (flat_map (path_events I) l)).

Definition make_task (I : instance) (m : positive) (source v : node) (l : list path)
    : option task :=
  let found := places_of I l in
  if distinct (PM.empty _) (map resource_key (Accept v :: map fst found))
  then Some {| about := m; origin := source; goal_node := v; ways := l; places := found |}
  else None.

Fixpoint all_done {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | x :: rest =>
      match f x with
      | None => None
      | Some y => match all_done f rest with Some r => Some (y :: r) | None => None end
      end
  end.

(** The paths from some nodes to one. *)
Definition paths_from (m : path_table) (holders : list node) (v : node) : option (list path) :=
  option_map (@concat path) (all_done (fun u =>
    if Pos.eqb u v then Some []
    else match PM.find u m with Some row => PM.find v row | None => None end) holders).

Definition message_tasks (I : instance) (all : list node) (ways_to : list node -> node ->
    option (list path)) (m : positive) : option (list task) :=
  match PM.find m (messages I) with
  | None => None
  | Some (source, goals) =>
      if distinct (PM.empty _) (source :: goals) then
        let holders := match kind I with StoreAndForward => all | _ => source :: goals end in
        all_done (fun v =>
            match ways_to holders v with Some l => make_task I m source v l | None => None end)
          (filter (fun v => negb (Pos.eqb v source)) holders)
      else None
  end.

Definition task_key (k : task) : positive := code (about k) (code (goal_node k) xH).

(** The tasks of all messages, in order. *)
Definition all_tasks (I : instance) : option (list task) :=
  let all := sequence (node_count I) in
  if nodes_fit I (set_of_nodes all) then
    let ways_to :=
      match kind I with
      | StoreAndForward =>
          let m := all_hops_into I all in Some (fun _ v => PM.find v m)
      | _ => match all_paths I all with Some m => Some (paths_from m) | None => None end
      end in
    match ways_to with
    | None => None
    | Some ways_to =>
        match all_done (message_tasks I all ways_to) (message_numbers I) with
        | Some l =>
            let l := concat l in
            if distinct (PM.empty _) (map task_key l) then Some l else None
        | None => None
        end
    end
  else None.

(** ** Clauses *)

Definition is_one {A} (l : list A) : bool := match l with [_] => true | _ => false end.

(** A task with one path takes it when it receives. *)
Definition way_name (k : task) (t : Z) (p : path) : name :=
  if is_one (ways k) then Gets (about k) (goal_node k) t else Takes (about k) (goal_node k) p t.

Definition used_name (k : task) (t : Z) (e : resource * usage) : name :=
  match snd e with
  | ByAll => Gets (about k) (goal_node k) t
  | ByOne p => way_name k t p
  | BySome _ => Uses (about k) (goal_node k) (fst e) t
  end.

Definition way_clauses (k : task) (t : Z) (p : path) : list clause :=
  let way := way_name k t p in
  (if is_one (ways k) then [] else [[no way; yes (Gets (about k) (goal_node k) t)]])
  ++ (if Pos.eqb (first_node p) (origin k) then []
      else [no way :: if 1 <? t then [yes (Has (about k) (first_node p) (t - 1))] else []]).

Definition place_clauses (k : task) (t : Z) (e : resource * usage) : list clause :=
  match snd e with
  | BySome l => map (fun p => [no (way_name k t p); yes (used_name k t e)]) l
  | _ => []
  end.

(** The clauses of a task in step [t]. *)
Definition task_clauses (k : task) (t : Z) : list clause :=
  let gets := Gets (about k) (goal_node k) t in
  let has := Has (about k) (goal_node k) t in
  let had := Has (about k) (goal_node k) (t - 1) in
  ([no gets; yes has]
    :: (if 1 <? t then [[no had; yes has]; [no had; no gets]; [no has; yes had; yes gets]]
        else [[no has; yes gets]]))
  ++ (if is_one (ways k) then [] else [no gets :: map (fun p => yes (way_name k t p)) (ways k)])
  ++ flat_map (way_clauses k t) (ways k)
  ++ flat_map (place_clauses k t) (places k).

(** What uses channels and ports in step [t]. *)
Definition task_events (k : task) (t : Z) : list ((resource * Z) * name) :=
  ((Accept (goal_node k), t), Gets (about k) (goal_node k) t)
  :: map (fun e => ((fst e, t), used_name k t e)) (places k).

(** Each destination receives. *)
Definition goal_clause (m : positive) (l : list Z) (v : node) : clause :=
  map (fun t => yes (Gets m v t)) l.

(** At most [limit] of the names are true: C. Sinz's sequential counter. *)
Fixpoint counter (r : resource) (t limit i : Z) (l : list name) : list clause :=
  match l with
  | [] => []
  | x :: rest =>
      (if limit <=? i
       then [no x :: if 0 <? limit then [no (Counts r t (i - 1) (limit - 1))] else []] else [])
      ++ match rest with
         | [] => []
         | _ =>
             (no x :: if 0 <? limit then [yes (Counts r t i 0)] else [])
             :: flat_map (fun j =>
                  [no (Counts r t (i - 1) j); yes (Counts r t i j)]
                  :: if j + 1 <? limit
                     then [[no x; no (Counts r t (i - 1) j); yes (Counts r t i (j + 1))]] else [])
                (steps_from 0 (Z.to_nat (Z.min i limit)))
             ++ counter r t limit (i + 1) rest
         end
  end.

(** Literals that are left, and the clauses, the last one first. *)
Definition output : Type := option (Z * list clause).

Definition max_literals : Z := 8000000.

Definition literal_count (l : list clause) : Z := fold_left (fun n c => n + Z.of_nat (length c)) l 0.

Definition emit (o : output) (l : list clause) : output :=
  match o with
  | None => None
  | Some (budget, found) =>
      let budget := budget - literal_count l in
      if budget <? 0 then None else Some (budget, rev_append l found)
  end.

(** A channel whose own capacity counts has the capacity that all that share it have. *)
Definition limit_of (I : instance) (into : PM.t Z) (q : resource * Z) : option Z :=
  match capacity I into (fst q) with
  | Some c =>
      let limit := in_step I (snd q) c in
      if resource_eqb (counted_place I (fst q)) (fst q) && (0 <=? limit) then Some limit else None
  | None => None
  end.

Definition emit_limit (I : instance) (into : PM.t Z) (o : output)
    (e : (resource * Z) * list name) : output :=
  let number := Z.of_nat (length (snd e)) in
  match limit_of I into (fst e) with
  | Some limit =>
      if number <=? limit then o
      else if max_literals <? number * limit then None
      else emit o (counter (fst (fst e)) (snd (fst e)) limit 0 (snd e))
  | None => None
  end.

Definition all_events (l : list task) (steps : list Z) : list ((resource * Z) * name) :=
  rev_append (fold_left (fun found k => fold_left (fun found t =>
    rev_append (task_events k t) found) steps found) l []) [].

(** A lower estimate of the literals, so that huge formulas are refused before they are made. *)
Definition estimate (l : list task) : Z :=
  sum (fun k => sum (fun p => 2 * Z.of_nat (length p) + 3) (ways k)) l.

(** An order of messages fixes the first of them to step 1, the next one to step 2, and so on. It
    may: all steps are alike, every message has one destination, and there is a channel or port of
    capacity 1 that all messages of the order use. *)
Definition all_alike (I : instance) : bool :=
  match kind I with Wormhole => true | _ => false end
  && forallb (fun each => is_one (snd (snd each))) (PM.elements (messages I))
  && forallb (fun r => Z.eqb r (hd 1 (rounds I))) (rounds I).

(** All paths of the task use a channel or port. *)
Definition certain (I : instance) (r : resource) (k : task) : bool :=
  match r with
  | Inject v => Pos.eqb v (origin k)
  | Accept v => Pos.eqb v (goal_node k)
  | Channel _ =>
      match ways k with [] => false | _ => true end
      && forallb (fun p => existsb (resource_eqb r) (path_resources I p)) (ways k)
  end.

Definition holds_one (I : instance) (into : PM.t Z) (r : resource) : bool :=
  match limit_of I into (r, 1) with Some limit => Z.eqb limit 1 | None => false end.

Definition candidates (I : instance) (k : task) : list resource :=
  Accept (goal_node k) :: Inject (origin k)
  :: match ways k with p :: _ => path_resources I p | [] => [] end.

Fixpoint pin_clauses (t : Z) (l : list task) : list clause :=
  match l with
  | [] => []
  | k :: rest => [yes (Gets (about k) (goal_node k) t)] :: pin_clauses (t + 1) rest
  end.

(** The clauses of an order; none if the order is not allowed. *)
Definition pins (I : instance) (l : list task) (order : list positive) : option (list clause) :=
  match order with
  | [] => Some []
  | _ =>
      if all_alike I && distinct (PM.empty _) order then
        match all_done (fun m => find (fun k => Pos.eqb (about k) m) l) order with
        | Some ((k :: _) as chosen) =>
            let into := incoming I in
            if existsb (fun r => forallb (certain I r) chosen && holds_one I into r)
                (candidates I k)
            then Some (pin_clauses 1 chosen) else None
        | _ => None
        end
      else None
  end.

(** The clauses over names, the last one first. *)
Definition named_clauses (I : instance) (steps : Z) (order : list positive)
    : option (list clause) :=
  match all_tasks I with
  | None => None
  | Some l =>
      if max_literals <? steps * Z.max 1 (estimate l) then None
      else
        let each := steps_from 1 (Z.to_nat steps) in
        let o := fold_left (fun o k => fold_left (fun o t => emit o (task_clauses k t)) each o)
          l (Some (max_literals, [])) in
        let o := fold_left (fun o m =>
            match PM.find m (messages I) with
            | Some (source, goals) =>
                if existsb (Pos.eqb source) goals then None
                else emit o (map (goal_clause m each) goals)
            | None => None
            end) (message_numbers I) o in
        let into := incoming I in
        let o := fold_left (emit_limit I into) (grouped use_key (all_events l each)) o in
        match pins I l order with
        | Some p => match emit o p with Some (_, found) => Some found | None => None end
        | None => None
        end
  end.

(** ** Numbers of variables: first named, first numbered *)

(** The next number, and the numbers by keys. *)
Definition numbers : Type := positive * PM.t positive.

Definition number_literal (n : numbers) (x : literal) : numbers * Z :=
  let k := name_key (snd x) in
  let sign (v : positive) := if fst x then Zpos v else Zneg v in
  match PM.find k (snd n) with
  | Some v => (n, sign v)
  | None => ((Pos.succ (fst n), PM.add k (fst n) (snd n)), sign (fst n))
  end.

Fixpoint number_clause (n : numbers) (c : clause) : numbers * list Z :=
  match c with
  | [] => (n, [])
  | x :: rest =>
      let (n, l) := number_literal n x in
      let (n, k) := number_clause n rest in (n, l :: k)
  end.

Definition number_next (state : numbers * list (list Z)) (c : clause)
    : numbers * list (list Z) :=
  let (n, l) := number_clause (fst state) c in (n, l :: snd state).

Definition numbered_clauses (l : list clause) : list (list Z) :=
  rev_append (snd (fold_left number_next l ((1%positive, PM.empty positive), []))) [].

(** The formula; none if it would be too large, and none if the order is not allowed. *)
Definition formula (I : instance) (steps : Z) (order : list positive) : option (list (list Z)) :=
  match named_clauses I steps order with
  | Some l => Some (numbered_clauses (rev_append l []))
  | None => None
  end.

(** ** What numbers mean *)

(** A literal is true under an assignment of truth values to variables. *)
Definition holds (a : positive -> bool) (l : Z) : bool :=
  match l with Z0 => false | Zpos n => a n | Zneg n => negb (a n) end.

Definition clause_holds (a : positive -> bool) (c : list Z) : bool := existsb (holds a) c.

Lemma code_injective p q k l : code p k = code q l -> p = q /\ k = l.
Proof.
  revert q. induction p as [p IH|p IH|]; intros [q|q|] E; simpl in E; try discriminate E;
    injection E; intros H; try (apply IH in H as [-> ->]); now subst.
Qed.

Lemma code_number_injective x y k l : code_number x k = code_number y l -> x = y /\ k = l.
Proof.
  destruct x, y; simpl; intros E; try discriminate E; injection E; intros H;
    try (apply code_injective in H as [-> ->]); now subst.
Qed.

Lemma code_path_injective p q k l : code_path p k = code_path q l -> p = q /\ k = l.
Proof.
  revert q. induction p as [|v p IH]; intros [|w q] E; simpl in E; try discriminate E;
    injection E; intros H; [now subst|].
  apply code_injective in H as [-> H]. apply IH in H as [-> ->]. now subst.
Qed.

Lemma code_resource_injective q r k l : code_resource q k = code_resource r l -> q = r /\ k = l.
Proof.
  destruct q as [[a b]|v|v], r as [[c d]|w|w]; simpl; intros E; try discriminate E;
    injection E; intros H; apply code_injective in H as [-> H]; [|now subst|now subst].
  apply code_injective in H as [-> ->]. now subst.
Qed.

Lemma use_key_injective q r : use_key q = use_key r -> q = r.
Proof.
  destruct q as [q t], r as [r u]. unfold use_key. simpl. intros E.
  apply code_resource_injective in E as [-> E]. now apply code_number_injective in E as [-> _].
Qed.

Lemma name_key_injective x y : name_key x = name_key y -> x = y.
Proof.
  destruct x, y; simpl; intros E; try discriminate E; injection E; clear E; intros E;
    repeat match goal with
    | H : code _ _ = code _ _ |- _ => apply code_injective in H as [? H]
    | H : code_number _ _ = code_number _ _ |- _ => apply code_number_injective in H as [? H]
    | H : code_path _ _ = code_path _ _ |- _ => apply code_path_injective in H as [? H]
    | H : code_resource _ _ = code_resource _ _ |- _ => apply code_resource_injective in H as [? H]
    end; now subst.
Qed.

(** A literal over names is true for given truth values of names. *)
Definition is_true_literal (value : name -> bool) (x : literal) : bool :=
  if fst x then value (snd x) else negb (value (snd x)).

Definition is_true (value : name -> bool) (c : clause) : bool := existsb (is_true_literal value) c.

Section Numbering.
Variable value : name -> bool.

(** The numbers that are in use are below the next one, and the assignment is that of the names. *)
Definition agrees (a : positive -> bool) (n : numbers) : Prop :=
  forall x v, PM.find (name_key x) (snd n) = Some v -> (v < fst n)%positive /\ a v = value x.

Definition same_below (n : positive) (a b : positive -> bool) : Prop :=
  forall v, (v < n)%positive -> a v = b v.

Definition below (n : positive) (l : Z) : Prop :=
  match l with Z0 => True | Zpos v | Zneg v => (v < n)%positive end.

Lemma holds_same n a b l : same_below n a b -> below n l -> holds a l = holds b l.
Proof. intros S B. destruct l; simpl in *; trivial; now rewrite (S _ B). Qed.

Lemma below_le n k l : (n <= k)%positive -> below n l -> below k l.
Proof. destruct l; simpl; lia. Qed.

Lemma same_le n k a b : (n <= k)%positive -> same_below k a b -> same_below n a b.
Proof. intros L S v V. apply S. lia. Qed.

Lemma number_literal_true n x n' l a :
  number_literal n x = (n', l) -> agrees a n ->
  exists b, same_below (fst n) a b /\ agrees b n' /\ (fst n <= fst n')%positive
    /\ below (fst n') l /\ holds b l = is_true_literal value x.
Proof.
  unfold number_literal. destruct (PM.find (name_key (snd x)) (snd n)) as [v|] eqn:F;
    intros [= <- <-] A.
  - exists a. destruct (A _ _ F) as [L E].
    split; [easy|split; [trivial|split; [lia|split]]].
    + destruct (fst x); exact L.
    + unfold is_true_literal. destruct (fst x); simpl; now rewrite E.
  - exists (fun v => if Pos.eqb v (fst n) then value (snd x) else a v). simpl.
    split; [|split; [|split; [lia|split]]].
    + intros v V. destruct (Pos.eqb_spec v (fst n)); [lia|trivial].
    + intros y v. simpl. destruct (Pos.eq_dec (name_key y) (name_key (snd x))) as [E|N].
      * rewrite E, PM.gss. intros [= <-]. rewrite Pos.eqb_refl. apply name_key_injective in E.
        rewrite E. split; [lia|trivial].
      * rewrite PM.gso by trivial. intros H. apply A in H as [L E].
        destruct (Pos.eqb_spec v (fst n)); [lia|]. split; [lia|trivial].
    + destruct (fst x); simpl; lia.
    + unfold is_true_literal. destruct (fst x); simpl; now rewrite Pos.eqb_refl.
Qed.

Lemma number_clause_true c : forall n n' l a,
  number_clause n c = (n', l) -> agrees a n ->
  exists b, same_below (fst n) a b /\ agrees b n' /\ (fst n <= fst n')%positive
    /\ Forall (below (fst n')) l /\ clause_holds b l = is_true value c.
Proof.
  induction c as [|x c IH]; simpl; intros n n' l a E A.
  - injection E as <- <-. exists a. split; [easy|split; [trivial|]].
    split; [lia|now split; constructor].
  - destruct (number_literal n x) as [n1 k] eqn:E1.
    destruct (number_clause n1 c) as [n2 r] eqn:E2. injection E as <- <-.
    destruct (number_literal_true _ _ _ _ _ E1 A) as (b & S1 & A1 & L1 & B1 & T1).
    destruct (IH _ _ _ _ E2 A1) as (d & S2 & A2 & L2 & B2 & T2).
    exists d. split; [|split; [trivial|split; [lia|split]]].
    + intros v V. rewrite (S1 v V). apply S2. lia.
    + constructor; [|trivial]. now apply below_le with (fst n1).
    + simpl. rewrite T2, <- T1. f_equal. symmetry. now apply holds_same with (fst n1).
Qed.

Lemma clause_same n a b l :
  same_below n a b -> Forall (below n) l -> clause_holds a l = clause_holds b l.
Proof.
  intros S B. induction B as [|k l K B IH]; simpl; [trivial|].
  now rewrite IH, (holds_same n a b k).
Qed.

Lemma number_all_true l : forall n found a,
  agrees a n -> (forall c, In c l -> is_true value c = true) ->
  (forall c, In c found -> Forall (below (fst n)) c /\ clause_holds a c = true) ->
  exists b, forall c, In c (snd (fold_left number_next l (n, found))) -> clause_holds b c = true.
Proof.
  induction l as [|c l IH]; simpl; intros n found a A T F.
  - exists a. intros c C. now apply F.
  - unfold number_next at 2. simpl. destruct (number_clause n c) as [n' k] eqn:E.
    destruct (number_clause_true _ _ _ _ _ E A) as (b & S & A' & L & B & H).
    apply (IH n' (k :: found) b); trivial.
    + intros d D. apply T. now right.
    + intros d [<-|D].
      * split; trivial. rewrite H. apply T. now left.
      * destruct (F d D) as [D1 D2]. split.
        -- revert D1. apply Forall_impl. intros x. now apply below_le.
        -- now rewrite <- (clause_same (fst n) a b d).
Qed.

(** If all clauses over names are true, an assignment makes all numbered ones true. *)
Lemma numbered_true l : (forall c, In c l -> is_true value c = true) ->
  exists a, forall c, In c (numbered_clauses l) -> clause_holds a c = true.
Proof.
  intros T. destruct (number_all_true l (1%positive, PM.empty positive) [] (fun _ => true))
    as (a & H); trivial; try easy.
  - intros x v. simpl. now rewrite PM.gempty.
  - exists a. intros c C. apply H. unfold numbered_clauses in C.
    rewrite rev_append_rev, app_nil_r in C. now apply in_rev.
Qed.

End Numbering.

(** ** Lists *)

Lemma add_members_spec {A B} (key : A -> positive) (l : list (A * B)) k : forall state,
  members_of (snd (fold_left (add_member key) l state)) k
  = rev (map snd (filter (fun e => Pos.eqb (key (fst e)) k) l)) ++ members_of (snd state) k.
Proof.
  induction l as [|e l IH]; intros state; [reflexivity|]. cbn [fold_left]. rewrite IH. clear IH.
  assert (E : members_of (snd (add_member key state e)) k
    = (if Pos.eqb (key (fst e)) k then [snd e] else []) ++ members_of (snd state) k).
  { unfold add_member, members_of. destruct (Pos.eqb_spec (key (fst e)) k) as [->|N].
    - destruct (PM.find k (snd state)) eqn:F; simpl; now rewrite PM.gss.
    - destruct (PM.find (key (fst e)) (snd state)) eqn:F; simpl; now rewrite PM.gso by congruence. }
  rewrite E. simpl filter. destruct (Pos.eqb (key (fst e)) k); simpl; [|reflexivity].
  now rewrite <- app_assoc.
Qed.

(** What is grouped with [a] are all second components of pairs with the key of [a], in order. *)
Lemma grouped_members {A B} (key : A -> positive) (l : list (A * B)) a bs :
  In (a, bs) (grouped key l) ->
  bs = map snd (filter (fun e => Pos.eqb (key (fst e)) (key a)) l).
Proof.
  unfold grouped. pose proof (add_members_spec key l) as S.
  destruct (fold_left (add_member key) l ([], PM.empty _)) as [order m] eqn:E.
  assert (G : forall order found,
    In (a, bs) (fold_left (fun found a => (a, rev (members_of m (key a))) :: found) order found) ->
    In (a, bs) found \/ bs = rev (members_of m (key a))).
  { induction order0 as [|b order0 IH]; simpl; intros found H; [now left|].
    apply IH in H as [[H|H]|H]; auto. injection H as <- <-. now right. }
  intros H. apply G in H as [[]| ->].
  specialize (S (key a) ([], PM.empty _)). rewrite E in S. simpl in S. rewrite S.
  unfold members_of. rewrite PM.gempty, app_nil_r. apply rev_involutive.
Qed.

Lemma all_done_in {A B} (f : A -> option B) l r x :
  all_done f l = Some r -> In x l -> exists y, f x = Some y /\ In y r.
Proof.
  revert r. induction l as [|a l IH]; simpl; intros r E I; [easy|].
  destruct (f a) as [y|] eqn:F; [|discriminate]. destruct (all_done f l) as [k|]; [|discriminate].
  injection E as <-. destruct I as [<-|I].
  - exists y. split; [trivial|now left].
  - destruct (IH k eq_refl I) as (z & Z & J). exists z. split; [trivial|now right].
Qed.

Lemma all_done_from {A B} (f : A -> option B) l r y :
  all_done f l = Some r -> In y r -> exists x, In x l /\ f x = Some y.
Proof.
  revert r. induction l as [|a l IH]; simpl; intros r E I.
  - injection E as <-. easy.
  - destruct (f a) as [z|] eqn:F; [|discriminate].
    destruct (all_done f l) as [k|]; [|discriminate]. injection E as <-. destruct I as [<-|I].
    + exists a. split; [now left|trivial].
    + destruct (IH k eq_refl I) as (x & X & G). exists x. split; [now right|trivial].
Qed.

(** A fold that may fail: what holds of the first result and is kept holds of the last one. *)
Lemma fold_some {A B} (f : option A -> B -> option A) (R : A -> A -> Prop) l :
  (forall b, f None b = None) -> (forall s, R s s) -> (forall s u v, R s u -> R u v -> R s v) ->
  (forall s b u, In b l -> f (Some s) b = Some u -> R s u) ->
  forall s u, fold_left f l (Some s) = Some u ->
  R s u /\ forall b, In b l -> exists s1 s2, f (Some s1) b = Some s2 /\ R s s1 /\ R s2 u.
Proof.
  intros N R1 R2. induction l as [|b l IH]; simpl; intros K s u E.
  - injection E as <-. split; [trivial|easy].
  - assert (G : forall l, fold_left f l None = None).
    { intros k. induction k as [|c k IHk]; simpl; trivial. now rewrite N. }
    destruct (f (Some s) b) as [s1|] eqn:F; [|now rewrite G in E].
    pose proof (K s b s1 (or_introl eq_refl) F) as K1.
    destruct (IH (fun s b u I => K s b u (or_intror I)) s1 u E) as [K2 H].
    split; [now apply R2 with s1|]. intros c [<-|I].
    + exists s, s1. repeat split; trivial.
    + destruct (H c I) as (s2 & s3 & F2 & L1 & L2). exists s2, s3. repeat split; trivial.
      now apply R2 with s1.
Qed.

Lemma fold_invariant {A B} (f : A -> B -> A) (P : A -> Prop) l :
  (forall s b, In b l -> P s -> P (f s b)) -> forall s, P s -> P (fold_left f l s).
Proof.
  induction l as [|b l IH]; simpl; intros K s S; [trivial|].
  apply IH; [intros; apply K; auto|]. apply K; auto.
Qed.

Lemma in_insert v w l : In v (insert w l) <-> v = w \/ In v l.
Proof.
  induction l as [|x l IH]; simpl; [intuition|]. destruct (Pos.leb w x); simpl; [intuition|].
  rewrite IH. intuition.
Qed.

Lemma in_in_order v l : In v (in_order l) <-> In v l.
Proof. induction l as [|w l IH]; simpl; [reflexivity|]. rewrite in_insert, IH. intuition. Qed.

(** ** The sequential counter *)

Section Counter.
Variables (value : name -> bool) (r : resource) (t limit : Z) (all : list name).
Hypothesis C : forall i j,
  value (Counts r t i j) = (j <? count value (firstn (Z.to_nat (i + 1)) all)).
Hypothesis L : count value all <= limit.

Lemma count_app {A} (f : A -> bool) l k : count f (l ++ k) = count f l + count f k.
Proof. unfold count. rewrite filter_app, app_length. lia. Qed.

Lemma counter_true l : forall before, all = before ++ l ->
  forall c, In c (counter r t limit (Z.of_nat (length before)) l) -> is_true value c = true.
Proof.
  induction l as [|x l IH]; intros before E c; [easy|]. cbn [counter].
  set (i := Z.of_nat (length before)).
  assert (C1 : forall j, value (Counts r t (i - 1) j) = (j <? count value before)).
  { intros j. rewrite C. replace (Z.to_nat (i - 1 + 1)) with (length before + 0)%nat by lia.
    rewrite E, firstn_app_2. simpl. now rewrite app_nil_r. }
  assert (C2 : forall j, value (Counts r t i j) = (j <? count value before + count value [x])).
  { intros j. rewrite C. replace (Z.to_nat (i + 1)) with (length before + 1)%nat by lia.
    rewrite E, firstn_app_2. simpl. now rewrite count_app. }
  assert (X : count value [x] = if value x then 1 else 0)
    by (unfold count; simpl; now destruct (value x)).
  assert (T : count value before + count value [x] <= limit).
  { rewrite E in L. replace (before ++ x :: l) with ((before ++ [x]) ++ l) in L
      by now rewrite <- app_assoc.
    rewrite !count_app in L. pose proof (count_nonneg value l). lia. }
  pose proof (count_nonneg value before) as P.
  intros I. apply in_app_iff in I as [I|I].
  - destruct (limit <=? i) eqn:Q; [|easy]. destruct I as [<-|[]].
    unfold is_true, is_true_literal, yes, no. simpl. rewrite X in T.
    destruct (value x); simpl; trivial. destruct (Z.ltb_spec 0 limit); simpl; [|lia].
    rewrite C1. destruct (Z.ltb_spec (limit - 1) (count value before)); simpl; [lia|trivial].
  - destruct l as [|y l]; [easy|]. destruct I as [<-|I].
    + unfold is_true, is_true_literal, yes, no. simpl. rewrite X in T.
      destruct (value x) eqn:V; simpl; trivial. destruct (Z.ltb_spec 0 limit); simpl; [|lia].
      rewrite C2, X. destruct (Z.ltb_spec 0 (count value before + 1)); simpl; [trivial|lia].
    + apply in_app_iff in I as [I|I].
      * apply in_flat_map in I as (j & J & I). destruct I as [<-|I].
        -- unfold is_true, is_true_literal, yes, no. simpl. rewrite C1, C2, X.
           destruct (Z.ltb_spec j (count value before)); simpl; trivial.
           destruct (value x), (Z.ltb_spec j (count value before + 1)),
             (Z.ltb_spec j (count value before + 0)); simpl; trivial; lia.
        -- destruct (j + 1 <? limit); [|easy]. destruct I as [<-|[]].
           unfold is_true, is_true_literal, yes, no. simpl. rewrite C1, C2, X.
           destruct (value x); simpl; trivial.
           destruct (Z.ltb_spec j (count value before)); simpl; trivial.
           destruct (Z.ltb_spec (j + 1) (count value before + 1)); simpl; [trivial|lia].
      * apply (IH (before ++ [x])).
        -- now rewrite <- app_assoc.
        -- rewrite app_length. simpl length.
           replace (Z.of_nat (length before + 1)) with (i + 1) by lia. exact I.
Qed.

End Counter.

(** ** All allowed paths are found *)

Lemma set_of_nodes_in l v : PM.mem v (set_of_nodes l) = true -> In v l.
Proof.
  unfold set_of_nodes.
  assert (H : forall m, PM.mem v (fold_left (fun m v => PM.add v tt m) l m) = true ->
    In v l \/ PM.mem v m = true).
  { induction l as [|w l IH]; simpl; intros m M; [now right|].
    apply IH in M as [M|M]; [auto|]. rewrite mem_add in M.
    apply orb_true_iff in M as [M|M]; [|auto]. apply Pos.eqb_eq in M. auto. }
  intros M. apply H in M as [M|M]; trivial. now rewrite PM.mem_find, PM.gempty in M.
Qed.

Lemma nodes_fit_channel I all a b c :
  nodes_fit I (set_of_nodes all) = true -> channel I a b c -> In a all /\ In b all.
Proof.
  unfold nodes_fit, channel, neighbours. intros F C. rewrite forallb_forall in F.
  destruct (PM.find a (adjacent I)) as [l|] eqn:E; [|easy]. apply PM.elements_correct in E.
  specialize (F _ E). simpl in F. apply andb_true_iff in F as [F1 F2].
  rewrite forallb_forall in F2. specialize (F2 _ C). split; now apply set_of_nodes_in.
Qed.

Lemma has_channel_complete I a b c : channel I a b c -> has_channel I (a, b) = true.
Proof.
  unfold has_channel, channel. simpl. generalize (neighbours I a).
  induction l as [|[d x] l IH]; simpl; [easy|]. intros [E|H].
  - injection E as -> ->. now rewrite Pos.eqb_refl.
  - destruct (Pos.eqb b d); trivial. now apply IH.
Qed.

Lemma successors_in I a b c : channel I a b c -> In b (members_of (successors I) a).
Proof.
  unfold members_of, successors, channel, neighbours. rewrite PM.gmapi.
  destruct (PM.find a (adjacent I)) as [l|]; simpl; [|easy]. intros H.
  apply in_in_order. apply in_map_iff. now exists (b, c).
Qed.

Lemma not_taken (v : node) l : ~ In v l -> existsb (Pos.eqb v) l = false.
Proof.
  intros N. apply not_true_is_false. intros E. apply existsb_exists in E as (w & W & E).
  apply Pos.eqb_eq in E. now subst.
Qed.

Lemma is_simple_path_complete I p : simple I p -> is_simple_path I p = true.
Proof.
  intros (L & D & H & E). unfold is_simple_path. repeat (apply andb_true_iff; split).
  - destruct p as [|a [|b p]]; simpl in L; trivial; lia.
  - clear -D. induction D as [|v p N D IH]; simpl; trivial. now rewrite (not_taken v p N).
  - apply forallb_forall. intros [a b] J. destruct (H a b J) as [c C].
    now apply has_channel_complete with c.
  - apply forallb_forall. intros v V. now rewrite (E v V).
Qed.

Lemma path_in I all p : nodes_fit I (set_of_nodes all) = true -> simple I p ->
  incl p all.
Proof.
  intros F S v V. apply in_split in V as (pre & rest & ->). destruct rest as [|w rest].
  - destruct (exists_last (l := pre)) as (q & u & ->).
    { intros ->. destruct S as [L _]. simpl in L. lia. }
    rewrite <- app_assoc in S. destruct (simple_hop _ _ _ _ _ S) as [c C].
    now apply (nodes_fit_channel I all) in C.
  - destruct (simple_hop _ _ _ _ _ S) as [c C]. now apply (nodes_fit_channel I all) in C.
Qed.

Lemma path_short I all p : nodes_fit I (set_of_nodes all) = true -> simple I p ->
  (length p <= length all)%nat.
Proof.
  intros F S. apply NoDup_incl_length; [apply S|]. now apply path_in with I.
Qed.

Lemma last_in (a : node) rest : In (last_node (a :: rest)) (a :: rest).
Proof.
  revert a. induction rest as [|b rest IH]; intros a; [now left|].
  change (last_node (a :: b :: rest)) with (last_node (b :: rest)). right. apply IH.
Qed.

(** The hops to the goal are at most those of the rest of a simple path to it. *)
Lemma hops_to_least I p c rest : forall pre v, hops_to I (last_node p) = Some c -> simple I p ->
  p = pre ++ v :: rest -> at_most c v (Z.of_nat (length rest)).
Proof.
  induction rest as [|w rest IH]; intros pre v H S E.
  - unfold hops_to in H. apply (cheapest_least _ _ _ _ v 0 H).
    rewrite E, last_app. constructor.
  - assert (A : at_most c w (Z.of_nat (length rest))).
    { apply (IH (pre ++ [v])); trivial. now rewrite <- app_assoc. }
    unfold hops_to, cheapest in H. destruct (settled _ _) eqn:Q in H; [|discriminate].
    injection H as H. rewrite H in Q. simpl length.
    rewrite Nat2Z.inj_succ. unfold Z.succ. change 1 with (1 + 0) at 1.
    apply (settled_least _ _ w v (1 + 0) _ Q); trivial. apply walk_in_step with v; [|constructor].
    rewrite E in S. destruct (simple_hop _ _ _ _ _ S) as [x X].
    unfold channel, neighbours in X. destruct (PM.find v (adjacent I)) as [l|] eqn:F; [|easy].
    apply in_flat_map. exists (v, l). split; [now apply PM.elements_correct|].
    apply in_flat_map. exists (w, x). split; [exact X|]. simpl.
    assert (O : Pos.eqb w (last_node p) || negb (is_endpoint I w) = true).
    { destruct rest as [|u rest].
      - rewrite E, last_app. change (last_node [v; w]) with w. now rewrite Pos.eqb_refl.
      - rewrite (simple_inner I (pre ++ [v]) w u rest).
        + now rewrite orb_true_r.
        + now rewrite <- app_assoc.
        + now destruct pre. }
    rewrite O. now left.
Qed.

(** What the search finds on the way: the rest of a path after [v]. *)
Fixpoint leads (I : instance) (after : PM.t (list node)) (goal : node) (c : PM.t Z) (longest : Z)
    (taken : list node) (size : Z) (v : node) (rest : list node) : Prop :=
  match rest with
  | [] => v = goal
  | w :: others =>
      v <> goal /\ In w (members_of after v) /\ existsb (Pos.eqb w) taken = false
      /\ (w = goal \/ is_endpoint I w = false)
      /\ (exists k, PM.find w c = Some k /\ size + k <= longest)
      /\ leads I after goal c longest (w :: taken) (size + 1) w others
  end.

Lemma search_finds I after goal c longest fuel : forall taken size v s u,
  search I after goal c longest fuel taken size v s = Some u ->
  incl (snd s) (snd u)
  /\ forall rest, leads I after goal c longest taken size v rest ->
     In (rev taken ++ rest) (snd u).
Proof.
  induction fuel as [|f fuel IH]; intros taken size v s u E; cbn [search] in E;
    destruct (fst s - (if Pos.eqb v goal then 10 else 1) <? 0); try discriminate E;
    destruct (Pos.eqb_spec v goal) as [Q|Q]; try discriminate E.
  1, 2: injection E as <-; split; [intros p P; now right|]; intros rest R;
    destruct rest as [|w rest]; [rewrite app_nil_r; now left|]; simpl in R; tauto.
  apply (fold_some _ (fun s u : finding => incl (snd s) (snd u))) in E; trivial.
  - destruct E as [K1 K2]. split; [exact K1|]. intros rest R.
    destruct rest as [|w rest]; [simpl in R; contradiction|].
    destruct R as (_ & W & T & O & (k & F & L) & R).
    destruct (K2 w W) as (s1 & s2 & E & _ & J). rewrite T, F in E.
    replace (Pos.eqb w goal || negb (is_endpoint I w)) with true in E
      by (destruct O as [->| ->]; [now rewrite Pos.eqb_refl|now rewrite orb_true_r]).
    replace (size + k <=? longest) with true in E by (symmetry; now apply Z.leb_le).
    simpl in E. apply IH in E as [_ E]. apply J. apply E in R. simpl in R.
    now rewrite <- app_assoc in R.
  - intros; apply incl_refl.
  - intros x y z X Y. now apply incl_tran with (snd y).
  - intros x w y _ H. destruct (negb _ && _ && _) in H.
    + now apply IH in H.
    + injection H as <-. apply incl_refl.
Qed.

Lemma simple_leads I after c longest p :
  (forall a b x, channel I a b x -> In b (members_of after a)) ->
  hops_to I (last_node p) = Some c -> simple I p -> Z.of_nat (length p) - 1 <= longest ->
  forall rest pre v, p = pre ++ v :: rest ->
  leads I after (last_node p) c longest (v :: rev pre) (Z.of_nat (length pre) + 1) v rest.
Proof.
  intros A H S L. induction rest as [|w rest IH]; intros pre v E.
  - simpl. now rewrite E, last_app.
  - assert (E' : p = (pre ++ [v]) ++ w :: rest) by now rewrite <- app_assoc.
    assert (D : NoDup p) by apply S.
    assert (Q : last_node p = last_node (w :: rest)) by now rewrite E', last_app.
    cbn [leads]. split; [|split; [|split; [|split; [|split]]]].
    + intros X. rewrite E in D. apply NoDup_remove_2 in D. apply D. apply in_or_app. right.
      rewrite X, Q. apply last_in.
    + rewrite E in S. destruct (simple_hop _ _ _ _ _ S) as [x X]. now apply A with x.
    + apply not_taken. intros X. rewrite E' in D. apply NoDup_remove_2 in D. apply D.
      apply in_or_app. left. apply in_or_app. destruct X as [<-|X]; [right; now left|left].
      now apply in_rev.
    + destruct rest as [|u rest]; [left; now rewrite Q|right].
      apply (simple_inner I (pre ++ [v]) w u rest); [now rewrite <- E'|now destruct pre].
    + destruct (hops_to_least I p c rest _ w H S E') as (k & F & K). exists k.
      split; trivial. rewrite E', app_length, app_length in L. simpl length in L. lia.
    + specialize (IH _ _ E'). rewrite rev_app_distr, app_length in IH. simpl in IH.
      replace (Z.of_nat (length pre) + 1 + 1) with (Z.of_nat (length pre + 1) + 1) by lia.
      exact IH.
Qed.

(** The computed paths of a pair are all allowed ones. *)
Lemma pair_paths_complete I all near a b budget spare found p :
  kind I = Wormhole -> nodes_fit I (set_of_nodes all) = true ->
  (forall x, PM.find b near = Some x -> x = hops_to I b) ->
  pair_paths I all (successors I) near (far_from I a) a b budget = Some (spare, found) ->
  allowed I p -> first_node p = a -> last_node p = b -> In p found.
Proof.
  intros K N H E A F T. assert (Q : kind I <> StoreAndForward) by congruence.
  pose proof (allowed_simple I p Q A) as S. unfold pair_paths in E.
  pose proof (path_short I all p N S) as M.
  assert (G : forall longest c, hops_to I b = Some c -> Z.of_nat (length p) - 1 <= longest ->
    search I (successors I) b c longest all [a] 1 a (budget, []) = Some (spare, found) ->
    In p found).
  { intros longest c C L X. apply search_finds in X as [_ X]. rewrite <- T in C.
    pose proof (simple_leads I (successors I) c longest p (successors_in I) C S L) as Y.
    destruct p as [|v rest]; [destruct S as [S _]; simpl in S; lia|].
    specialize (Y rest [] v eq_refl). unfold first_node in F. simpl in F. subst v.
    rewrite T in Y. now apply X in Y. }
  assert (R : forall c, hops_to I b = Some c -> exists y, PM.find a c = Some y).
  { intros c C. rewrite <- T in C.
    destruct p as [|v rest]; [destruct S as [S _]; simpl in S; lia|].
    destruct (hops_to_least I (v :: rest) c rest [] v C S eq_refl) as (y & Y & _).
    unfold first_node in F. simpl in F. subst v. now exists y. }
  destruct (route I) as [|h|by_source next] eqn:O.
  - destruct (PM.find b near) as [x|] eqn:X; [|discriminate]. specialize (H x eq_refl).
    destruct x as [c|]; [|discriminate]. symmetry in H. destruct (R c H) as [y Y].
    rewrite Y in E. unfold most_hops in E. rewrite O in E. apply (G _ c H) in E; trivial. lia.
  - destruct (PM.find b near) as [x|] eqn:X; [|discriminate]. specialize (H x eq_refl).
    destruct x as [c|]; [|discriminate]. symmetry in H. destruct (R c H) as [y Y].
    rewrite Y in E. unfold most_hops, far_from in E. rewrite O in E.
    destruct (distances I a) as [d|] eqn:D; [|discriminate].
    destruct (PM.find b d) as [x|] eqn:B; [|discriminate].
    apply (G _ c H) in E; trivial. apply distances_realized in D. apply D in B.
    rewrite <- F, <- T in B. pose proof (allowed_walk I h p x Q O A B). lia.
  - injection E as <- <-. unfold allowed in A. rewrite K, O, F, T in A.
    destruct A as [_ ->]. rewrite is_simple_path_complete by trivial. now left.
Qed.

(** Every entry of a table has all allowed paths. *)
Definition complete_row (I : instance) (a : node) (row : PM.t (list path)) : Prop :=
  forall b l p, PM.find b row = Some l -> allowed I p -> first_node p = a -> last_node p = b ->
  In p l.

Definition complete_table (I : instance) (m : path_table) : Prop :=
  forall a row, PM.find a m = Some row -> complete_row I a row.

Lemma needed_hops_right I wanted b x :
  PM.find b (needed_hops I wanted) = Some x -> x = hops_to I b.
Proof.
  unfold needed_hops. destruct (route I); try (rewrite PM.gempty; discriminate);
    rewrite PM.gmapi; destruct (PM.find b _); simpl; congruence.
Qed.

Lemma all_paths_complete I all m :
  kind I = Wormhole -> nodes_fit I (set_of_nodes all) = true ->
  all_paths I all = Some m -> complete_table I m.
Proof.
  intros K N. unfold all_paths.
  match goal with |- context [fold_left ?f ?l ?s] =>
    assert (G : match fold_left f l s with Some (_, m) => complete_table I m | None => True end)
  end.
  { apply (fold_invariant _ (fun o : option (Z * path_table) =>
      match o with Some (_, m) => complete_table I m | None => True end)).
    2: { intros a row. now rewrite PM.gempty. }
    intros [[budget t]|] [a wanted] _ T; simpl; trivial.
    match goal with |- context [fold_left ?f ?l ?s] =>
      assert (G : match fold_left f l s with
        Some (_, row) => complete_row I a row | None => True end)
    end.
    { apply (fold_invariant _ (fun o : option (Z * PM.t (list path)) =>
        match o with Some (_, row) => complete_row I a row | None => True end)).
      2: { intros b l p. now rewrite PM.gempty. }
      intros [[spare row]|] b _ R; simpl; trivial.
      destruct (pair_paths _ _ _ _ _ _ _ _) as [[other found]|] eqn:P; trivial.
      intros c l p. destruct (Pos.eq_dec c b) as [->|D].
      - rewrite PM.gss. intros [= <-] A F L. apply -> in_rev.
        apply (pair_paths_complete I all _ a b spare other found p K N (needed_hops_right _ _ _) P);
          trivial.
      - rewrite PM.gso by trivial. apply R. }
    destruct (fold_left _ _ _) as [[spare row]|]; trivial.
    intros c r. destruct (Pos.eq_dec c a) as [->|D].
    - rewrite PM.gss. now intros [= <-].
    - rewrite PM.gso by trivial. apply T. }
  destruct (fold_left _ _ _) as [[spare t]|]; [|discriminate]. now intros [= <-].
Qed.

Lemma paths_from_complete I m holders v l p :
  complete_table I m -> paths_from m holders v = Some l -> allowed I p -> kind I = Wormhole ->
  In (first_node p) holders -> last_node p = v -> In p l.
Proof.
  intros C E A K H T. unfold paths_from in E.
  match type of E with option_map _ ?o = _ => destruct o as [found|] eqn:D end; [|discriminate].
  injection E as <-.
  destruct (all_done_in _ _ _ _ D H) as (k & F & J). apply in_concat. exists k.
  split; trivial. destruct (Pos.eqb_spec (first_node p) v) as [X|X].
  - exfalso. apply (simple_ends I p); [|congruence]. apply allowed_simple; congruence.
  - destruct (PM.find (first_node p) m) as [row|] eqn:R; [|discriminate].
    now apply (C _ _ R v k p F A).
Qed.

Lemma hops_into_complete I all v l p :
  kind I = StoreAndForward -> nodes_fit I (set_of_nodes all) = true ->
  PM.find v (all_hops_into I all) = Some l -> allowed I p -> last_node p = v -> In p l.
Proof.
  intros K N. unfold all_hops_into.
  assert (G : forall k m, (forall l, PM.find v m = Some l -> l = hops_into I all v) ->
    forall l, PM.find v (fold_left (fun m v => PM.add v (hops_into I all v) m) k m) = Some l ->
    l = hops_into I all v).
  { induction k as [|w k IH]; simpl; intros m M; [trivial|]. apply IH. intros x.
    destruct (Pos.eq_dec v w) as [->|D]; [rewrite PM.gss; congruence|].
    rewrite PM.gso by trivial. apply M. }
  intros F A T. apply G in F; [|intros x; now rewrite PM.gempty]. subst l.
  unfold allowed in A. rewrite K in A. destruct A as (L & D & C).
  destruct p as [|u [|w [|? ?]]]; try discriminate L. change (w = v) in T. subst w.
  destruct (C u v (or_introl eq_refl)) as [c X]. apply in_flat_map. exists u.
  split; [now apply (nodes_fit_channel I all) in X|].
  match goal with |- context [has_channel I ?h] =>
    replace (has_channel I h) with true by (symmetry; exact (has_channel_complete I u v c X))
  end.
  destruct (Pos.eqb_spec u v) as [->|Q].
  - inversion D as [|x y Z _]. subst. exfalso. apply Z. now left.
  - now left.
Qed.

(** ** Tasks *)

Lemma first_ones_in before l r : In r (first_ones before l) -> In r l.
Proof.
  revert before. induction l as [|q l IH]; simpl; intros before H; [easy|].
  destruct (existsb _ before); [right; now apply IH with before|].
  destruct H as [H|H]; [now left|right; eapply IH; eassumption].
Qed.

Lemma first_ones_once l r : forall before,
  count (resource_eqb r) (first_ones before l)
  <= if existsb (resource_eqb r) before then 0 else 1.
Proof.
  induction l as [|q l IH]; intros before; cbn [first_ones].
  - unfold count. simpl. destruct (existsb _ before); lia.
  - destruct (existsb (resource_eqb q) before) eqn:E; [apply IH|].
    specialize (IH (q :: before)). rewrite !count_sum in *. cbn [sum existsb] in *.
    destruct (resource_eqb r q) eqn:Q.
    + apply resource_eqb_eq in Q. subst q. rewrite E. simpl in IH. lia.
    + simpl in IH. lia.
Qed.

Lemma sum_all_ones {A} (f : A -> Z) l :
  (forall x, In x l -> f x <= 1) -> sum f l = Z.of_nat (length l) ->
  forall x, In x l -> 1 <= f x.
Proof.
  induction l as [|a l IH]; [easy|]. cbn [sum length]. intros B E.
  assert (L : sum f l <= Z.of_nat (length l)).
  { clear -B. induction l as [|b l IH]; [simpl; lia|]. cbn [sum length].
    specialize (IH ltac:(intros x [<-|X]; apply B; simpl; auto)).
    specialize (B b ltac:(simpl; auto)). lia. }
  pose proof (B a (or_introl eq_refl)) as A1.
  intros x [<-|X]; [lia|]. apply IH; trivial; [|lia]. intros y Y. apply B. now right.
Qed.

Lemma count_map {A B} (f : B -> bool) (g : A -> B) l :
  count f (map g l) = count (fun x => f (g x)) l.
Proof. rewrite !count_sum, sum_map. reflexivity. Qed.

Lemma count_ext {A} (f g : A -> bool) l :
  (forall x, In x l -> f x = g x) -> count f l = count g l.
Proof. intros H. rewrite !count_sum. apply sum_ext. intros x X. now rewrite (H x X). Qed.

Lemma count_some {A} (f : A -> bool) l : 1 <= count f l -> exists x, In x l /\ f x = true.
Proof.
  unfold count. destruct (filter f l) as [|x k] eqn:E; simpl; [lia|]. intros _. exists x.
  apply filter_In. rewrite E. now left.
Qed.

Lemma resource_key_injective q r : resource_key q = resource_key r -> q = r.
Proof. intros E. now apply code_resource_injective in E as [-> _]. Qed.

Lemma resource_key_eqb q r : Pos.eqb (resource_key q) (resource_key r) = resource_eqb r q.
Proof.
  destruct (resource_eqb r q) eqn:E.
  - apply resource_eqb_eq in E as ->. apply Pos.eqb_refl.
  - destruct (Pos.eqb_spec (resource_key q) (resource_key r)) as [H|]; trivial.
    apply resource_key_injective in H as ->. now rewrite resource_eqb_refl in E.
Qed.

(** The paths that are listed for a place use it; if all are listed, all use it. *)
Lemma grouped_places I l r ps :
  In (r, ps) (grouped resource_key (flat_map (path_events I) l)) ->
  (forall p, In p ps -> In p l /\ In r (path_resources I p))
  /\ (length ps = length l -> forall p, In p l -> In r (path_resources I p)).
Proof.
  intros H. apply grouped_members in H. subst ps. split.
  - intros p P. apply in_map_iff in P as ([q p'] & <- & P). apply filter_In in P as [P E].
    apply in_flat_map in P as (p & L & P). apply in_map_iff in P as (q' & X & P).
    injection X as -> <-. simpl in E |- *. apply Pos.eqb_eq, resource_key_injective in E. subst q.
    split; trivial. now apply first_ones_in in P.
  - rewrite map_length. intros E.
    set (f := fun e : resource * path => (resource_key (fst e) =? resource_key r)%positive) in *.
    assert (Q : sum (fun p => count f (path_events I p)) l = Z.of_nat (length l)).
    { rewrite <- count_flat_map. unfold count. now rewrite E. }
    intros p P. assert (G : 1 <= count f (path_events I p)).
    { apply (sum_all_ones _ l) with (x := p) in Q; trivial. intros q _. unfold path_events.
      rewrite count_map. rewrite (count_ext _ (resource_eqb r)).
      - exact (first_ones_once _ r []).
      - intros x _. unfold f. cbn [fst]. apply resource_key_eqb. }
    apply count_some in G as ([q p'] & J & F). apply in_map_iff in J as (q' & X & J).
    injection X as -> <-. apply Pos.eqb_eq, resource_key_injective in F. simpl in F. subst q.
    now apply first_ones_in in J.
Qed.

Definition usage_fits (I : instance) (l : list path) (e : resource * usage) : Prop :=
  match snd e with
  | ByAll => forall p, In p l -> In (fst e) (path_resources I p)
  | ByOne p => In p l /\ In (fst e) (path_resources I p)
  | BySome ps => forall p, In p ps -> In p l /\ In (fst e) (path_resources I p)
  end.

Lemma places_fit I l e : In e (places_of I l) -> usage_fits I l e.
Proof.
  unfold places_of. intros H. apply in_map_iff in H as ([r ps] & <- & H).
  apply grouped_places in H as [H1 H2]. unfold usage_fits, usage_of. simpl.
  destruct (Nat.eqb_spec (length ps) (length l)); [now apply H2|].
  destruct ps as [|p [|q ps]]; trivial. apply H1. now left.
Qed.

Section Schedule.
Variables (I : instance) (s : schedule).
Hypothesis V : valid I s.
Hypothesis K : kind I <> TimeSlots.

Record task_fits (k : task) : Prop := {
  known_message : exists goals, PM.find (about k) (messages I) = Some (origin k, goals)
    /\ (kind I = Wormhole -> In (goal_node k) goals);
  not_origin : goal_node k <> origin k;
  all_ways : forall x, In x (timed s) -> message (snd x) = about k -> receiver x = goal_node k ->
    In (nodes (snd x)) (ways k);
  all_usages : forall e, In e (places k) -> usage_fits I (ways k) e;
  different_places :
    NoDup (map resource_key (Accept (goal_node k) :: map fst (places k)))
}.

Lemma in_transfers m x : In x (transfers m s) <-> In x (timed s) /\ message (snd x) = m.
Proof.
  unfold transfers, of_message. rewrite filter_In, Pos.eqb_eq. intuition.
Qed.

Lemma make_task_fits m source goals v l k :
  PM.find m (messages I) = Some (source, goals) -> v <> source ->
  (kind I = Wormhole -> In v goals) ->
  (forall x, In x (timed s) -> message (snd x) = m -> receiver x = v -> In (nodes (snd x)) l) ->
  make_task I m source v l = Some k -> task_fits k.
Proof.
  intros M N G W E. unfold make_task in E.
  match type of E with (if ?c then _ else _) = _ => destruct c eqn:D end; [|discriminate].
  apply distinct_sound in D as [D _].
  injection E as <-. constructor; simpl; trivial.
  - now exists goals.
  - apply places_fit.
Qed.

Lemma sender_holds m source goals x : kind I = Wormhole ->
  PM.find m (messages I) = Some (source, goals) -> In x (transfers m s) ->
  In (sender x) (source :: goals).
Proof.
  intros W M X. destruct (rule_3 _ _ V m source goals M x X) as [N _]. unfold informed in N.
  rewrite W in N. destruct N as [->|(y & Y & <- & _)]; [now left|right].
  destruct (rule_3 _ _ V m source goals M y Y) as [_ R]. unfold may_receive in R.
  now rewrite W in R.
Qed.

Lemma message_tasks_fit all ways_to m l k :
  (forall holders v found x, ways_to holders v = Some found -> In x (timed s) ->
    (kind I = Wormhole -> In (sender x) holders) -> receiver x = v ->
    In (nodes (snd x)) found) ->
  message_tasks I all ways_to m = Some l -> In k l -> task_fits k.
Proof.
  unfold message_tasks. intros W E J.
  destruct (PM.find m (messages I)) as [[source goals]|] eqn:M; [|discriminate].
  destruct (distinct _ (source :: goals)); [|discriminate].
  destruct (all_done_from _ _ _ _ E J) as (v & F & T). apply filter_In in F as [F N].
  apply negb_true_iff, Pos.eqb_neq in N.
  match type of T with match ways_to ?h v with _ => _ end = _ =>
    destruct (ways_to h v) as [found|] eqn:Q; [|discriminate] end.
  apply (make_task_fits m source goals v found); trivial.
  { intros O. rewrite O in F. destruct F as [F|F]; [congruence|trivial]. }
  intros x X Y R. apply (W _ _ _ _ Q); trivial. intros O. rewrite O.
  apply (sender_holds m source goals); trivial. now apply in_transfers.
Qed.

Lemma all_tasks_fit l : all_tasks I = Some l ->
  NoDup (map task_key l) /\ forall k, In k l -> task_fits k.
Proof.
  unfold all_tasks. set (all := sequence (node_count I)).
  destruct (nodes_fit I (set_of_nodes all)) eqn:F; [|discriminate].
  match goal with |- match ?o with _ => _ end = _ -> _ =>
    assert (G : match o with
      | Some ways_to => forall holders v found x, ways_to holders v = Some found ->
          In x (timed s) -> (kind I = Wormhole -> In (sender x) holders) -> receiver x = v ->
          In (nodes (snd x)) found
      | None => True end); [|destruct o as [ways_to|]; [|discriminate]]
  end.
  { destruct (kind I) eqn:Q.
    - destruct (all_paths I all) as [m|] eqn:P; trivial. intros holders v found x E X H R.
      apply (paths_from_complete I m holders v found); trivial.
      + now apply all_paths_complete with all.
      + now apply (rule_1 _ _ V).
      + now apply H.
    - intros holders v found x E X _ R.
      apply (hops_into_complete I all v found); trivial. now apply (rule_1 _ _ V).
    - congruence. }
  match goal with |- match ?o with _ => _ end = _ -> _ => destruct o as [k|] eqn:E end;
    [|discriminate].
  destruct (distinct _ (map task_key (concat k))) eqn:D; [|discriminate].
  intros [= <-]. apply distinct_sound in D as [D _]. split; trivial.
  intros t T. apply in_concat in T as (r & R & T).
  destruct (all_done_from _ _ _ _ E R) as (m & _ & M). now apply (message_tasks_fit _ _ _ _ _ G M).
Qed.

(** ** What names mean in the schedule *)

Definition delivers (m : positive) (v : node) (x : timed_transfer) : bool :=
  Pos.eqb m (message (snd x)) && Pos.eqb v (receiver x).

Definition same_path (p q : path) : bool := if list_eq_dec Pos.eq_dec p q then true else false.

Definition basic_value (x : name) : bool :=
  match x with
  | Gets m v t => existsb (fun y => delivers m v y && Z.eqb (fst y) t) (timed s)
  | Has m v t => existsb (fun y => delivers m v y && Z.leb (fst y) t) (timed s)
  | Takes m v p t =>
      existsb (fun y => delivers m v y && Z.eqb (fst y) t && same_path p (nodes (snd y))) (timed s)
  | Uses m v r t =>
      existsb (fun y => delivers m v y && Z.eqb (fst y) t
        && existsb (resource_eqb r) (path_resources I (nodes (snd y)))) (timed s)
  | Counts _ _ _ _ => false
  end.
End Schedule.

(** ** All clauses are true *)

Section Truth.
Variables (I : instance) (s : schedule).
Hypothesis V : valid I s.
Hypothesis K : kind I <> TimeSlots.

(** What uses channels and ports, by name. *)
Variable events : list ((resource * Z) * name).

Definition users (q : resource * Z) : list name :=
  map snd (filter (fun e => Pos.eqb (use_key (fst e)) (use_key q)) events).

Definition value (x : name) : bool :=
  match x with
  | Counts r t i j =>
      j <? count (basic_value I s) (firstn (Z.to_nat (i + 1)) (users (r, t)))
  | _ => basic_value I s x
  end.

Lemma delivers_iff m v x : delivers m v x = true <-> message (snd x) = m /\ receiver x = v.
Proof. unfold delivers. rewrite andb_true_iff, !Pos.eqb_eq. intuition. Qed.

Lemma gets_iff m v t : value (Gets m v t) = true <->
  exists x, In x (timed s) /\ message (snd x) = m /\ receiver x = v /\ fst x = t.
Proof.
  simpl. rewrite existsb_exists. split; intros (x & X & H); exists x.
  - apply andb_true_iff in H as [H E]. apply delivers_iff in H as [H1 H2].
    apply Z.eqb_eq in E. auto.
  - destruct H as (H1 & H2 & <-). split; trivial. apply andb_true_iff. split.
    + now apply delivers_iff.
    + apply Z.eqb_refl.
Qed.

Lemma has_iff m v t : value (Has m v t) = true <->
  exists x, In x (timed s) /\ message (snd x) = m /\ receiver x = v /\ fst x <= t.
Proof.
  simpl. rewrite existsb_exists. split; intros (x & X & H); exists x.
  - apply andb_true_iff in H as [H E]. apply delivers_iff in H as [H1 H2].
    apply Z.leb_le in E. auto.
  - destruct H as (H1 & H2 & H3). split; trivial. apply andb_true_iff. split.
    + now apply delivers_iff.
    + now apply Z.leb_le.
Qed.

Lemma takes_iff m v p t : value (Takes m v p t) = true <->
  exists x, In x (timed s) /\ message (snd x) = m /\ receiver x = v /\ fst x = t
    /\ nodes (snd x) = p.
Proof.
  simpl. unfold same_path. rewrite existsb_exists. split; intros (x & X & H); exists x.
  - apply andb_true_iff in H as [H P]. apply andb_true_iff in H as [H E].
    apply delivers_iff in H as [H1 H2]. apply Z.eqb_eq in E.
    destruct (list_eq_dec _ _ _); [auto 6|discriminate].
  - destruct H as (H1 & H2 & <- & <-). split; trivial.
    apply andb_true_iff; split; [apply andb_true_iff; split|].
    + now apply delivers_iff.
    + apply Z.eqb_refl.
    + now destruct (list_eq_dec _ _ _).
Qed.

Lemma uses_iff m v r t : value (Uses m v r t) = true <->
  exists x, In x (timed s) /\ message (snd x) = m /\ receiver x = v /\ fst x = t
    /\ In r (path_resources I (nodes (snd x))).
Proof.
  cbn [value basic_value]. rewrite existsb_exists. split; intros (x & X & H); exists x.
  - apply andb_true_iff in H as [H P]. apply andb_true_iff in H as [H E].
    apply delivers_iff in H as [H1 H2]. apply Z.eqb_eq in E.
    apply existsb_exists in P as (q & Q & P). apply resource_eqb_eq in P. subst q. auto 6.
  - destruct H as (H1 & H2 & <- & R). split; trivial.
    apply andb_true_iff; split; [apply andb_true_iff; split|].
    + now apply delivers_iff.
    + apply Z.eqb_refl.
    + apply existsb_exists. exists r. split; trivial. apply resource_eqb_refl.
Qed.

Lemma same_image {A B} (f : A -> B) l x y :
  NoDup (map f l) -> In x l -> In y l -> f x = f y -> x = y.
Proof.
  induction l as [|a l IH]; simpl; intros D X Y E; [easy|]. inversion D as [|? ? N D']; subst.
  destruct X as [->|X], Y as [->|Y]; trivial.
  - exfalso. apply N. rewrite E. now apply in_map.
  - exfalso. apply N. rewrite <- E. now apply in_map.
  - now apply IH.
Qed.

(** A node receives a message once. *)
Lemma same_transfer m source goals x y : PM.find m (messages I) = Some (source, goals) ->
  In x (timed s) -> In y (timed s) -> message (snd x) = m -> message (snd y) = m ->
  receiver x = receiver y -> x = y.
Proof.
  intros M X Y EX EY R. pose proof (rule_4_once _ _ V m source goals M) as D.
  assert (D' : NoDup (receivers m s)) by now inversion D.
  apply (same_image receiver (transfers m s) x y D'); trivial; now apply in_transfers.
Qed.

Lemma in_step_1 x : In x (timed s) -> 1 <= fst x.
Proof. intros H. now apply timed_steps in H. Qed.

Lemma implies x c : (value x = true -> is_true value c = true) -> is_true value (no x :: c) = true.
Proof.
  unfold is_true at 2. simpl. unfold is_true_literal at 1. simpl.
  destruct (value x); simpl; auto.
Qed.

Lemma says x c : In (yes x) c -> value x = true -> is_true value c = true.
Proof.
  intros H X. unfold is_true. apply existsb_exists. exists (yes x). split; trivial.
Qed.

Lemma denies x c : In (no x) c -> value x = false -> is_true value c = true.
Proof.
  intros H X. unfold is_true. apply existsb_exists. exists (no x). split; trivial.
  unfold is_true_literal. simpl. now rewrite X.
Qed.

Section Task.
Variable k : task.
Hypothesis T : task_fits I s k.

Lemma one_way (l : list path) p q : is_one l = true -> In p l -> In q l -> p = q.
Proof. destruct l as [|a [|b l]]; try discriminate. intros _ [<-|[]] [<-|[]]. reflexivity. Qed.

Lemma way_true t p : In p (ways k) ->
  (value (way_name k t p) = true <->
   exists x, In x (timed s) /\ message (snd x) = about k /\ receiver x = goal_node k
     /\ fst x = t /\ nodes (snd x) = p).
Proof.
  intros P. unfold way_name. destruct (is_one (ways k)) eqn:O; [|apply takes_iff].
  rewrite gets_iff. split; intros (x & X & H); exists x; [|tauto].
  destruct H as (H1 & H2 & H3). repeat split; trivial.
  apply (one_way (ways k)); trivial. now apply (all_ways _ _ _ T).
Qed.

(** A name that uses a place is true only if a transfer uses it. *)
Lemma used_true t e : In e (places k) -> value (used_name k t e) = true ->
  exists x, In x (timed s) /\ message (snd x) = about k /\ receiver x = goal_node k
    /\ fst x = t /\ In (fst e) (path_resources I (nodes (snd x))).
Proof.
  intros E H. pose proof (all_usages _ _ _ T e E) as U. unfold usage_fits in U.
  unfold used_name in H. destruct (snd e) as [|p|ps].
  - apply gets_iff in H as (x & X & H1 & H2 & H3). exists x. repeat split; trivial.
    apply U. now apply (all_ways _ _ _ T).
  - destruct U as [P R]. apply (way_true t p P) in H as (x & X & H1 & H2 & H3 & <-).
    exists x. auto.
  - now apply uses_iff in H.
Qed.

Lemma way_clauses_true t p c : In p (ways k) -> In c (way_clauses k t p) -> is_true value c = true.
Proof.
  intros P C. unfold way_clauses in C. apply in_app_iff in C as [C|C].
  - destruct (is_one (ways k)); [easy|]. destruct C as [<-|[]]. apply implies. intros H.
    apply (way_true t p P) in H as (x & X & H1 & H2 & H3 & _).
    apply says with (Gets (about k) (goal_node k) t); [now left|]. apply gets_iff. now exists x.
  - destruct (Pos.eqb_spec (first_node p) (origin k)) as [|N]; [easy|].
    destruct C as [<-|[]]. apply implies. intros H.
    apply (way_true t p P) in H as (x & X & H1 & H2 & H3 & H4).
    destruct (known_message _ _ _ T) as (goals & M & _).
    destruct (rule_3 _ _ V _ _ _ M x) as [Q _]; [now apply in_transfers|].
    unfold informed in Q.
    assert (Q' : sender x = origin k
      \/ exists y, In y (transfers (about k) s) /\ receiver y = sender x /\ fst y < fst x)
      by (destruct (kind I); tauto).
    unfold sender in Q'. rewrite H4 in Q'. destruct Q' as [Q'|(y & Y & R & L)]; [contradiction|].
    apply in_transfers in Y as [Y1 Y2]. pose proof (in_step_1 y Y1) as L'.
    destruct (Z.ltb_spec 1 t); [|lia].
    apply says with (Has (about k) (first_node p) (t - 1)); [now left|]. apply has_iff.
    exists y. repeat split; trivial. lia.
Qed.

Lemma task_clauses_true t c : 1 <= t -> In c (task_clauses k t) -> is_true value c = true.
Proof.
  intros B C. destruct (known_message _ _ _ T) as (goals & M & _). unfold task_clauses in C.
  set (m := about k) in *. set (v := goal_node k) in *.
  apply in_app_iff in C as [[<-|C]|C]; [| |apply in_app_iff in C as [C|C];
    [|apply in_app_iff in C as [C|C]]].
  - apply implies. intros H. apply gets_iff in H as (x & X & H1 & H2 & H3).
    apply says with (Has m v t); [now left|]. apply has_iff. exists x. repeat split; trivial. lia.
  - destruct (Z.ltb_spec 1 t) as [L|L]; simpl in C.
    + destruct C as [<-|[<-|[<-|[]]]]; apply implies; intros H;
        apply has_iff in H as (x & X & H1 & H2 & H3).
      * apply says with (Has m v t); [now left|]. apply has_iff. exists x.
        repeat split; trivial. lia.
      * apply denies with (Gets m v t); [now left|].
        destruct (value (Gets m v t)) eqn:G; trivial. exfalso.
        apply gets_iff in G as (y & Y & G1 & G2 & G3).
        assert (E : x = y) by (apply (same_transfer m (origin k) goals); congruence).
        subst y. lia.
      * destruct (Z.eq_dec (fst x) t) as [E|N].
        -- apply says with (Gets m v t); [now right; left|]. apply gets_iff. now exists x.
        -- apply says with (Has m v (t - 1)); [now left|]. apply has_iff. exists x.
           repeat split; trivial. lia.
    + destruct C as [<-|[]]. apply implies. intros H.
      apply has_iff in H as (x & X & H1 & H2 & H3). pose proof (in_step_1 x X).
      apply says with (Gets m v t); [now left|]. apply gets_iff. exists x.
      repeat split; trivial. lia.
  - destruct (is_one (ways k)); [easy|]. destruct C as [<-|[]]. apply implies. intros H.
    apply gets_iff in H as (x & X & H1 & H2 & H3).
    assert (P : In (nodes (snd x)) (ways k)) by now apply (all_ways _ _ _ T).
    apply says with (way_name k t (nodes (snd x))).
    + apply in_map_iff. now exists (nodes (snd x)).
    + apply way_true; trivial. now exists x.
  - apply in_flat_map in C as (p & P & C). now apply way_clauses_true in C.
  - apply in_flat_map in C as (e & E & C). unfold place_clauses in C.
    destruct (snd e) as [|p|ps] eqn:U; try easy. apply in_map_iff in C as (p & <- & P).
    pose proof (all_usages _ _ _ T e E) as F. unfold usage_fits in F. rewrite U in F.
    destruct (F p P) as [W R]. apply implies. intros H.
    apply (way_true t p W) in H as (x & X & H1 & H2 & H3 & H4).
    apply says with (used_name k t e); [now left|]. unfold used_name. rewrite U.
    apply uses_iff. exists x. rewrite H4. auto.
Qed.

(** ** Uses of channels and ports *)

Lemma channel_used l h t P : In h l -> In (Channel (link I h), t) (channel_uses I P t l).
Proof.
  assert (L : late I 1 = 0) by (unfold late; destruct (kind I); trivial; contradiction).
  assert (S : slot I P t = t) by (unfold slot; destruct (kind I); trivial; contradiction).
  induction l as [|g l IH]; [easy|]. simpl. rewrite L, Z.add_0_r, S.
  intros [->|H]; [now left|right; auto].
Qed.

Lemma path_resources_used x r P :
  In r (Accept (receiver x) :: path_resources I (nodes (snd x))) -> In (r, fst x) (uses I P x).
Proof.
  assert (L : forall i, late I i = 0)
    by (intros; unfold late; destruct (kind I); trivial; contradiction).
  assert (S : forall t, slot I P t = t)
    by (intros; unfold slot; destruct (kind I); trivial; contradiction).
  unfold uses, path_resources. rewrite L, Z.add_0_r, S.
  intros [<-|[<-|H]].
  - right. now left.
  - now left.
  - do 2 right. apply in_map_iff in H as (h & <- & H). now apply channel_used.
Qed.

(** What the transfers of a task use. *)
Definition task_uses (r : resource) (t : Z) : Z :=
  sum (fun x => if delivers (about k) (goal_node k) x
    then count (is_use r t) (uses I (period s) x) else 0) (timed s).

Lemma task_uses_nonneg r t : 0 <= task_uses r t.
Proof.
  apply sum_nonneg. intros x _. destruct (delivers _ _ x); [apply count_nonneg|lia].
Qed.

Lemma count_once {A B} (h : A -> B) (f : A -> bool) q l :
  NoDup (map h l) -> (forall x, In x l -> f x = true -> h x = q) -> count f l <= 1.
Proof.
  induction l as [|a l IH]; intros D H; [unfold count; simpl; lia|].
  inversion D as [|? ? N D']; subst. rewrite count_sum. cbn [sum]. rewrite <- count_sum.
  destruct (f a) eqn:F.
  - enough (count f l = 0) by lia. pose proof (count_nonneg f l).
    destruct (Z.le_gt_cases 1 (count f l)) as [L|L]; [|lia]. exfalso.
    apply count_some in L as (b & B' & G). apply N.
    rewrite (H a (or_introl eq_refl) F), <- (H b (or_intror B') G). now apply in_map.
  - specialize (IH D' (fun x X => H x (or_intror X))). lia.
Qed.

Definition used_by (q : resource * Z) (e : (resource * Z) * name) : bool :=
  Pos.eqb (use_key (fst e)) (use_key q) && value (snd e).

Lemma task_events_in_step r t u :
  count (used_by (r, t)) (task_events k u) <= if Z.eqb u t then task_uses r t else 0.
Proof.
  destruct (Z.le_gt_cases 1 (count (used_by (r, t)) (task_events k u))) as [L|L].
  2: { pose proof (task_uses_nonneg r t). destruct (Z.eqb u t); lia. }
  pose proof (count_some _ _ L) as (e & E & F).
  apply andb_true_iff in F as [Q F]. apply Pos.eqb_eq, use_key_injective in Q.
  assert (G : exists x, In x (timed s) /\ message (snd x) = about k /\ receiver x = goal_node k
    /\ fst x = u /\ In (fst (fst e)) (Accept (receiver x) :: path_resources I (nodes (snd x)))
    /\ snd (fst e) = u).
  { destruct E as [<-|E].
    - apply gets_iff in F as (x & X & H1 & H2 & H3). exists x. repeat split; trivial. left.
      simpl. congruence.
    - apply in_map_iff in E as (p & <- & E). apply used_true in F as (x & X & H1 & H2 & H3 & H4);
        trivial. exists x. repeat split; trivial. now right. }
  destruct G as (x & X & H1 & H2 & H3 & H4 & H5). rewrite Q in H4, H5. simpl in H4, H5.
  subst u. rewrite <- H5, Z.eqb_refl. apply Z.le_trans with 1.
  - apply (count_once (fun e => resource_key (fst (fst e))) _ (resource_key r)).
    + unfold task_events. cbn [map]. rewrite map_map. cbn [fst].
      pose proof (different_places _ _ _ T) as D. cbn [map] in D. now rewrite map_map in D.
    + intros d _ H. apply andb_true_iff in H as [H _].
      apply Pos.eqb_eq, use_key_injective in H. now rewrite H.
  - assert (C : 1 <= count (is_use r t) (uses I (period s) x)).
    { apply count_in with (r, fst x); [now apply path_resources_used|].
      unfold is_use. simpl. rewrite resource_eqb_refl. simpl. apply Z.eqb_eq. congruence. }
    apply Z.le_trans with (1 := C). unfold task_uses.
    pose proof (sum_single (fun x => if delivers (about k) (goal_node k) x
      then count (is_use r t) (uses I (period s) x) else 0) (timed s) x X) as Y.
    cbv beta in Y. rewrite (proj2 (delivers_iff _ _ x) (conj H1 H2)) in Y. apply Y.
    intros y _. destruct (delivers _ _ y); [apply count_nonneg|lia].
Qed.

Lemma sum_one_step c t n : 0 <= c -> forall a,
  sum (fun u => if Z.eqb u t then c else 0) (steps_from a n) <= c
  /\ (t < a -> sum (fun u => if Z.eqb u t then c else 0) (steps_from a n) = 0).
Proof.
  intros P. induction n as [|n IH]; intros a; cbn [steps_from sum]; [lia|].
  destruct (IH (a + 1)) as [H1 H2]. destruct (Z.eqb_spec a t); split; lia.
Qed.

Lemma task_events_used r t a n :
  sum (fun u => count (used_by (r, t)) (task_events k u)) (steps_from a n) <= task_uses r t.
Proof.
  apply Z.le_trans with (sum (fun u => if Z.eqb u t then task_uses r t else 0) (steps_from a n)).
  - apply sum_le. intros u _. apply task_events_in_step.
  - apply sum_one_step, task_uses_nonneg.
Qed.

End Task.

(** All tasks together use a place at most as often as the schedule. *)
Lemma all_tasks_use l r t : NoDup (map task_key l) ->
  sum (fun k => task_uses k r t) l <= used I s r t.
Proof.
  intros D. unfold task_uses. rewrite sum_swap, used_sum. apply sum_le. intros x _.
  pose proof (count_nonneg (is_use r t) (uses I (period s) x)) as P.
  set (c := count _ _) in *.
  assert (H : sum (fun k => if delivers (about k) (goal_node k) x then c else 0) l
    = c * count (fun k => delivers (about k) (goal_node k) x) l).
  { rewrite count_sum, <- sum_scale. apply sum_ext. intros k _.
    destruct (delivers _ _ x); lia. }
  rewrite H. enough (count (fun k => delivers (about k) (goal_node k) x) l <= 1) by nia.
  apply (count_once task_key _ (code (message (snd x)) (code (receiver x) 1)) l D).
  intros k _ F. apply delivers_iff in F as [-> ->]. reflexivity.
Qed.

Lemma unused r t : t < 1 \/ period s < t -> used I s r t = 0.
Proof.
  intros B. unfold used. pose proof (count_nonneg (is_use r t) (all_uses I s)) as P.
  destruct (Z.le_gt_cases 1 (count (is_use r t) (all_uses I s))) as [L|L]; [|lia].
  apply count_some in L as (u & U & F). apply all_uses_steps in U; trivial.
  apply andb_true_iff in F as [_ F]. apply Z.eqb_eq in F. lia.
Qed.

Lemma limit_holds r t limit : limit_of I (incoming I) (r, t) = Some limit ->
  0 <= limit /\ used I s r t <= limit.
Proof.
  unfold limit_of. simpl. destruct (capacity I (incoming I) r) as [c|] eqn:C; [|discriminate].
  destruct (resource_eqb _ r && _) eqn:E; [|discriminate]. intros [= <-].
  apply andb_true_iff in E as [E P]. apply resource_eqb_eq in E. apply Z.leb_le in P.
  split; trivial.
  destruct (Z_le_gt_dec 1 t) as [L|L]; [destruct (Z_le_gt_dec t (period s)) as [M|M]|].
  - rewrite <- E. now apply capacity_holds.
  - now rewrite unused by lia.
  - now rewrite unused by lia.
Qed.
End Truth.

(** ** The formula *)

Lemma reversed_fold {A B} (g : A -> list B) l : forall found,
  fold_left (fun found x => rev_append (g x) found) l found = rev (flat_map g l) ++ found.
Proof.
  induction l as [|a l IH]; intros found; [reflexivity|]. cbn [fold_left flat_map].
  now rewrite IH, rev_append_rev, rev_app_distr, <- app_assoc.
Qed.

Lemma all_events_map l steps :
  all_events l steps = flat_map (fun k => flat_map (task_events k) steps) l.
Proof.
  unfold all_events.
  assert (H : forall found,
    fold_left (fun found k => fold_left (fun found t => rev_append (task_events k t) found)
      steps found) l found
    = rev (flat_map (fun k => flat_map (task_events k) steps) l) ++ found).
  { induction l as [|k l IH]; intros found; [reflexivity|]. cbn [fold_left flat_map].
    now rewrite IH, reversed_fold, rev_app_distr, <- app_assoc. }
  rewrite H, rev_append_rev, !app_nil_r. apply rev_involutive.
Qed.

Definition output_true (v : name -> bool) (o : output) : Prop :=
  match o with Some (_, l) => forall c, In c l -> is_true v c = true | None => True end.

Lemma emit_true v o l : output_true v o -> (forall c, In c l -> is_true v c = true) ->
  output_true v (emit o l).
Proof.
  destruct o as [[budget found]|]; simpl; trivial. intros O L.
  destruct (budget - literal_count l <? 0); simpl; trivial. intros c C.
  rewrite rev_append_rev in C. apply in_app_iff in C as [C|C]; auto.
  apply L. now apply in_rev.
Qed.

(** No user is a counter. *)
Lemma event_value I s events e l steps : In e (all_events l steps) ->
  value I s events (snd e) = basic_value I s (snd e).
Proof.
  rewrite all_events_map. intros E. apply in_flat_map in E as (k & _ & E).
  apply in_flat_map in E as (t & _ & [<-|E]); [reflexivity|].
  apply in_map_iff in E as (p & <- & _). unfold used_name, way_name. simpl.
  destruct (snd p), (is_one (ways k)); reflexivity.
Qed.

(** The clauses over names are true in the meaning that a valid schedule gives to names, if those
    of the order are. *)
Lemma named_true I s steps order f : valid I s -> kind I <> TimeSlots -> period s <= steps ->
  (forall l p events c, all_tasks I = Some l -> pins I l order = Some p -> In c p ->
    is_true (value I s events) c = true) ->
  named_clauses I steps order = Some f -> exists v, forall c, In c f -> is_true v c = true.
Proof.
  intros V K P Pins. unfold named_clauses. destruct (all_tasks I) as [l|] eqn:E; [|discriminate].
  destruct (max_literals <? _); [discriminate|]. intros H.
  destruct (all_tasks_fit I s V K l E) as [D T].
  set (each := steps_from 1 (Z.to_nat steps)) in *. set (events := all_events l each) in *.
  exists (value I s events). revert H. cbv zeta.
  assert (G : output_true (value I s events)
    (fold_left (fun o k => fold_left (fun o t => emit o (task_clauses k t)) each o)
      l (Some (max_literals, [])))).
  { apply fold_invariant; [|easy]. intros o k J O. apply fold_invariant; trivial.
    intros o' t U O'. apply emit_true; trivial. intros c C.
    apply in_steps_from in U. apply (task_clauses_true I s V K events k (T k J) t); [lia|trivial]. }
  revert G. match goal with |- output_true _ ?o -> _ => generalize o end. intros o O.
  match goal with |- context [fold_left ?f (message_numbers I) o] =>
    assert (O' : output_true (value I s events) (fold_left f (message_numbers I) o));
    [|revert O'; generalize (fold_left f (message_numbers I) o)]
  end.
  { apply fold_invariant; trivial. clear o O. intros o m _ O.
    destruct (PM.find m (messages I)) as [[source goals]|] eqn:M; [|easy].
    destruct (existsb (Pos.eqb source) goals) eqn:N; [easy|]. apply emit_true; trivial.
    intros c C. apply in_map_iff in C as (v & <- & G).
    destruct (rule_4_all _ _ V m source goals M v G) as [Q|Q].
    { subst v. assert (existsb (Pos.eqb source) goals = true); [|congruence].
      apply existsb_exists. exists source. split; trivial. apply Pos.eqb_refl. }
    apply in_map_iff in Q as (x & R & X). apply in_transfers in X as [X H].
    pose proof (timed_steps s x X) as B. apply (says I s events (Gets m v (fst x))).
    - apply in_map_iff. exists (fst x). split; trivial. apply in_steps_from. lia.
    - apply gets_iff. now exists x. }
  clear o O. intros o O.
  assert (O' : output_true (value I s events)
    (fold_left (emit_limit I (incoming I)) (grouped use_key events) o)).
  { apply fold_invariant; trivial. clear o O. intros o [[r t] names] J O.
    unfold emit_limit. cbn [fst snd].
    destruct (limit_of I (incoming I) (r, t)) as [limit|] eqn:L; [|easy].
    destruct (Z.of_nat (length names) <=? limit); trivial.
    destruct (max_literals <? _); [easy|]. apply emit_true; trivial.
    apply limit_holds with (s := s) in L as [_ L]; trivial.
    apply grouped_members in J.
    assert (Q : count (value I s events) names = sum (fun k => sum (fun u =>
      count (used_by I s events (r, t)) (task_events k u)) each) l).
    { rewrite J, count_map. unfold count at 1.
      assert (F : forall (k : list ((resource * Z) * name)),
        length (filter (fun x => value I s events (snd x))
          (filter (fun e => (use_key (fst e) =? use_key (r, t))%positive) k))
        = length (filter (used_by I s events (r, t)) k)).
      { induction k as [|e k IH]; [reflexivity|]. unfold used_by at 1. simpl.
        fold (used_by I s events (r, t)).
        destruct (use_key (fst e) =? use_key (r, t))%positive; simpl; [|exact IH].
        destruct (value I s events (snd e)); simpl; now rewrite IH. }
      rewrite F. fold (count (used_by I s events (r, t)) events). unfold events at 2.
      rewrite all_events_map, count_flat_map. apply sum_ext. intros k _. apply count_flat_map. }
    assert (B : count (value I s events) names <= limit).
    { rewrite Q. apply Z.le_trans with (2 := L).
      apply Z.le_trans with (sum (fun k => task_uses I s k r t) l).
      - apply sum_le. intros k J'. now apply task_events_used, T.
      - now apply all_tasks_use. }
    intros c. apply (counter_true _ r t limit names) with (before := []); trivial.
    intros i j. cbn [value]. unfold users. rewrite <- J. f_equal. apply count_ext.
    intros x X. symmetry. assert (X' : In x names)
      by (rewrite <- (firstn_skipn (Z.to_nat (i + 1)) names); apply in_or_app; now left).
    rewrite J in X'. apply in_map_iff in X' as (e & <- & X'). apply filter_In in X' as [X' _].
    now apply event_value with (l := l) (steps := each). }
  revert O'. generalize (fold_left (emit_limit I (incoming I)) (grouped use_key events) o).
  clear o O. intros o O. specialize (Pins l). destruct (pins I l order) as [p|]; [|discriminate].
  assert (O' : output_true (value I s events) (emit o p))
    by (apply emit_true; trivial; intros c C; now apply (Pins p)).
  destruct (emit o p) as [[budget found]|]; [|discriminate]. intros [= <-]. exact O'.
Qed.

(** ** An order of messages *)

Section Rearranged.
Variables (I : instance) (s : schedule).
Hypothesis V : valid I s.
Hypothesis W : kind I = Wormhole.
Hypothesis O : forall m source goals, PM.find m (messages I) = Some (source, goals) ->
  is_one goals = true.
Hypothesis R : forall t, rounds_at (rounds I) t = rounds_at (rounds I) 1.

Lemma in_numbered_step s' x : forall t, In x (numbered t s') ->
  exists a, In a s' /\ In (snd x) a.
Proof.
  induction s' as [|b s' IH]; simpl; intros t X; [easy|]. apply in_app_iff in X as [X|X].
  - apply in_map_iff in X as (y & <- & Y). exists b. auto.
  - destruct (IH _ X) as (a & A & Y). exists a. auto.
Qed.

Lemma step_numbered s' a : In a s' -> forall t, exists u,
  t <= u < t + Z.of_nat (length s') /\ forall y, In y a -> In (u, y) (numbered t s').
Proof.
  induction s' as [|b s' IH]; simpl; [easy|]. intros A t. destruct A as [->|A].
  - exists t. split; [lia|]. intros y Y. apply in_app_iff. left. now apply in_map.
  - destruct (IH A (t + 1)) as (u & U & H). exists u. split; [lia|]. intros y Y.
    apply in_app_iff. right. auto.
Qed.

(** A message goes from its source to its one destination. *)
Lemma only_transfer m source goals x : PM.find m (messages I) = Some (source, goals) ->
  In x (transfers m s) -> sender x = source /\ goals = [receiver x].
Proof.
  intros M X. pose proof (O _ _ _ M) as G.
  destruct goals as [|g [|? ?]]; try discriminate G.
  assert (Q : forall y, In y (transfers m s) -> receiver y = g).
  { intros y Y. destruct (rule_3 _ _ V m source [g] M y Y) as [_ H]. unfold may_receive in H.
    rewrite W in H. now destruct H as [H|[]]. }
  rewrite (Q x X). split; trivial.
  destruct (rule_3 _ _ V m source [g] M x X) as [N _]. unfold informed in N. rewrite W in N.
  destruct N as [|(y & Y & E & _)]; trivial. exfalso. rewrite (Q y Y), <- (Q x X) in E.
  apply in_transfers in X as [X _]. apply (simple_ends I (nodes (snd x))); trivial.
  apply allowed_simple; [congruence|]. now apply (rule_1 _ _ V).
Qed.

Definition all_resources (y : transfer) : list resource :=
  Accept (last_node (nodes y)) :: path_resources I (nodes y).

Lemma uses_counted P r t x : count (is_use r t) (uses I P x)
  = if Z.eqb t (fst x) then count (resource_eqb r) (all_resources (snd x)) else 0.
Proof.
  assert (L : forall u k, channel_uses I P u k = map (fun h => (Channel (link I h), u)) k).
  { intros u k. revert u. induction k as [|h k IH]; intros u; simpl; trivial.
    rewrite IH. unfold late, slot. rewrite W. now rewrite Z.add_0_r. }
  unfold uses, all_resources, path_resources, late, slot. rewrite W, L, Z.add_0_r.
  rewrite !count_sum. cbn [sum]. rewrite !sum_map. unfold is_use. cbn [fst snd].
  destruct (Z.eqb t (fst x)).
  - rewrite !andb_true_r.
    rewrite (sum_ext _ (fun h => if resource_eqb r (Channel (link I h)) then 1 else 0)); [lia|].
    intros h _. now rewrite andb_true_r.
  - rewrite !andb_false_r.
    rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_zero; lia|].
    intros h _. now rewrite andb_false_r.
Qed.

Lemma numbered_sum (f : transfer -> Z) s' t : forall u, u <= t < u + Z.of_nat (length s') ->
  sum (fun x => if Z.eqb t (fst x) then f (snd x) else 0) (numbered u s')
  = sum f (nth (Z.to_nat (t - u)) s' []).
Proof.
  assert (E : forall k u, t < u ->
    sum (fun x => if Z.eqb t (fst x) then f (snd x) else 0) (numbered u k) = 0).
  { induction k as [|a k IH]; intros u U; [reflexivity|]. cbn [numbered].
    rewrite sum_app, IH by lia. rewrite sum_map. cbn [fst snd].
    destruct (Z.eqb_spec t u); [lia|]. now rewrite sum_zero. }
  induction s' as [|a s' IH]; intros u U; [simpl in U; lia|]. cbn [numbered length] in U |- *.
  rewrite sum_app, sum_map. cbn [fst snd]. destruct (Z.eqb_spec t u) as [->|N].
  - rewrite Z.sub_diag, E by lia. rewrite Z.add_0_r. reflexivity.
  - rewrite sum_zero, IH by lia.
    replace (Z.to_nat (t - u)) with (S (Z.to_nat (t - (u + 1)))) by lia.
    reflexivity.
Qed.

(** What is used in a step depends on its transfers alone. *)
Lemma used_step s' r t : 1 <= t <= period s' ->
  used I s' r t = sum (fun y => count (resource_eqb r) (all_resources y))
    (nth (Z.to_nat (t - 1)) s' []).
Proof.
  intros T. rewrite used_sum. rewrite (sum_ext _ (fun x => if Z.eqb t (fst x)
    then count (resource_eqb r) (all_resources (snd x)) else 0)) by (intros; apply uses_counted).
  apply (numbered_sum (fun y => count (resource_eqb r) (all_resources y))).
  unfold period in T. lia.
Qed.

Lemma receivers_steps m s' : receivers m s' = flat_map (fun a =>
  map (fun y => last_node (nodes y)) (filter (fun y => Pos.eqb m (message y)) a)) s'.
Proof.
  unfold receivers, transfers, timed. generalize 1. induction s' as [|a s' IH]; intros t; trivial.
  cbn [numbered flat_map]. rewrite filter_app, map_app, IH. f_equal.
  induction a as [|y a IHa]; trivial. cbn [map filter]. unfold of_message at 1. cbn [snd].
  destruct (Pos.eqb m (message y)); [cbn [map]; f_equal|]; exact IHa.
Qed.

(** The steps of the schedule in another order. *)
Variable s' : schedule.
Hypothesis Q : Permutation s s'.

Lemma same_period : period s' = period s.
Proof. unfold period. now rewrite (Permutation_length Q). Qed.

Lemma same_transfers x : In x (timed s') -> exists t, In (t, snd x) (timed s).
Proof.
  intros X. apply in_numbered_step in X as (a & A & Y).
  apply (Permutation_in _ (Permutation_sym Q)) in A.
  destruct (step_numbered s a A 1) as (t & _ & H). exists t. now apply H.
Qed.

Lemma rearranged_valid : valid I s'.
Proof.
  assert (T : forall m x, In x (transfers m s') -> exists t, In (t, snd x) (transfers m s)).
  { intros m x X. apply in_transfers in X as [X M]. destruct (same_transfers x X) as [t H].
    exists t. now apply in_transfers. }
  constructor.
  - intros x X. destruct (same_transfers x X) as [t H]. now apply (rule_1 _ _ V) in H.
  - intros t B. pose proof B as B'. rewrite same_period in B'.
    assert (N : exists u, 1 <= u <= period s /\ forall r, used I s' r t = used I s r u).
    { assert (J : In (nth (Z.to_nat (t - 1)) s' []) s).
      { apply (Permutation_in _ (Permutation_sym Q)), nth_In. unfold period in B. lia. }
      destruct (In_nth _ _ [] J) as (n & N & E). exists (1 + Z.of_nat n).
      assert (C : 1 <= 1 + Z.of_nat n <= period s) by (unfold period; lia).
      split; trivial. intros r. rewrite (used_step s') by trivial. rewrite (used_step s) by trivial.
      rewrite <- E. do 2 f_equal. lia. }
    destruct N as (u & U & N). destruct (rule_2 _ _ V u U) as (H1 & H2 & H3).
    assert (E : forall c, in_step I t c = in_step I u c)
      by (intros; unfold in_step; now rewrite (R t), (R u)).
    repeat split; intros; rewrite N, E; eauto.
  - intros x X. destruct (same_transfers x X) as [t H]. now apply (known _ _ V) in H.
  - intros m source goals M x X. destruct (T m x X) as [t H]. unfold informed. rewrite W.
    split.
    + left. now destruct (only_transfer m source goals _ M H).
    + now destruct (rule_3 _ _ V m source goals M _ H).
  - intros m source goals M. pose proof (rule_4_once _ _ V m source goals M) as D.
    rewrite receivers_steps in D |- *. apply (Permutation_NoDup (l := source :: flat_map
      (fun a => map (fun y => last_node (nodes y)) (filter (fun y => Pos.eqb m (message y)) a)) s));
      trivial. apply perm_skip. now apply Permutation_flat_map.
  - intros m source goals M d G. pose proof (rule_4_all _ _ V m source goals M d G) as H.
    rewrite receivers_steps in H |- *. destruct H as [H|H]; [now left|right].
    revert H. apply Permutation_in. now apply Permutation_flat_map.
Qed.

End Rearranged.

Definition has_message (m : positive) (a : list transfer) : Prop :=
  exists y, In y a /\ message y = m.

(** The first steps have the messages of an order. *)
Fixpoint starts (order : list positive) (s : schedule) : Prop :=
  match order, s with
  | [], _ => True
  | m :: rest, a :: others => has_message m a /\ starts rest others
  | _, [] => False
  end.

(** Messages that need a step each can be moved to the first steps. *)
Lemma arrange order : NoDup order -> forall s,
  (forall m, In m order -> exists a, In a s /\ has_message m a) ->
  (forall a m n, In a s -> In m order -> In n order -> has_message m a -> has_message n a ->
    m = n) ->
  exists s', Permutation s s' /\ starts order s'.
Proof.
  induction 1 as [|m order N D IH]; intros s E U; [now exists s|].
  destruct (E m (or_introl eq_refl)) as (a & A & H).
  apply in_split in A as (s1 & s2 & ->).
  destruct (IH (s1 ++ s2)) as (s' & P & S).
  - intros n J. destruct (E n (or_intror J)) as (b & B & G). exists b. split; trivial.
    apply in_app_iff in B as [B|[<-|B]]; apply in_app_iff; auto. exfalso.
    assert (m = n); [|congruence]. apply (U a); auto.
    + apply in_app_iff. right. now left.
    + now left.
    + now right.
  - intros b n k B J J'. apply U; try (now right). apply in_app_iff in B as [B|B];
      apply in_app_iff; simpl; auto.
  - exists (a :: s'). split; [|now split].
    apply Permutation_sym, Permutation_cons_app, Permutation_sym. exact P.
Qed.

Lemma constant_rounds l : forallb (fun r => Z.eqb r (hd 1 l)) l = true ->
  forall t, rounds_at l t = rounds_at l 1.
Proof.
  intros H. rewrite forallb_forall in H.
  assert (G : forall c k, (forall r, In r k -> r = c) -> k <> [] -> forall t, rounds_at k t = c).
  { intros c. induction k as [|r k IH]; intros E N t; [easy|]. simpl. destruct k as [|q k].
    - apply E. now left.
    - destruct (t <=? 1); [apply E; now left|]. apply IH; [|easy]. intros x X. apply E. now right. }
  destruct l as [|c l]; trivial. intros t.
  assert (E : forall r, In r (c :: l) -> r = c) by (intros r X; now apply H, Z.eqb_eq in X).
  now rewrite !(G c).
Qed.

Lemma task_receiver I s k x : valid I s -> kind I = Wormhole ->
  (forall m source goals, PM.find m (messages I) = Some (source, goals) -> is_one goals = true) ->
  task_fits I s k -> In x (timed s) -> message (snd x) = about k ->
  receiver x = goal_node k /\ sender x = origin k.
Proof.
  intros V W O F X M. destruct (known_message _ _ _ F) as (goals & H & G). specialize (G W).
  destruct (only_transfer I s V W O (about k) (origin k) goals x H) as [E ->];
    [now apply in_transfers|]. split; trivial. now destruct G as [G|[]].
Qed.

Lemma pins_true I s chosen : valid I s -> kind I = Wormhole ->
  (forall m source goals, PM.find m (messages I) = Some (source, goals) -> is_one goals = true) ->
  (forall k, In k chosen -> task_fits I s k) -> starts (map about chosen) s ->
  forall events c, In c (pin_clauses 1 chosen) -> is_true (value I s events) c = true.
Proof.
  intros V W O T S events.
  assert (G : forall l u, (forall x, In x (numbered u l) -> In x (timed s)) ->
    starts (map about chosen) l -> forall c, In c (pin_clauses u chosen) ->
    is_true (value I s events) c = true).
  { clear S. induction chosen as [|k chosen IH]; simpl; intros l u L S c C; [easy|].
    destruct l as [|a l]; [easy|]. destruct S as [(y & Y & M) S]. destruct C as [<-|C].
    - apply (says I s events (Gets (about k) (goal_node k) u)); [now left|].
      apply gets_iff. exists (u, y).
      assert (X : In (u, y) (timed s))
        by (apply L; simpl; apply in_app_iff; left; now apply in_map).
      repeat split; trivial.
      now apply (task_receiver I s k (u, y) V W O (T k (or_introl eq_refl))).
    - apply (IH (fun k K => T k (or_intror K)) l (u + 1)); trivial.
      intros x X. apply L. simpl. apply in_app_iff. now right. }
  now apply (G s 1).
Qed.

(** All transfers of a task use what is certain to be used. *)
Lemma certain_used I s r k x : valid I s -> kind I = Wormhole ->
  (forall m source goals, PM.find m (messages I) = Some (source, goals) -> is_one goals = true) ->
  task_fits I s k -> certain I r k = true -> In x (timed s) -> message (snd x) = about k ->
  In r (all_resources I (snd x)).
Proof.
  intros V W O F C X M. destruct (task_receiver I s k x V W O F X M) as [R S].
  destruct r as [h|v|v]; simpl in C.
  - apply andb_true_iff in C as [_ C]. rewrite forallb_forall in C.
    specialize (C _ (all_ways _ _ _ F x X M R)). apply existsb_exists in C as (q & Q & C).
    apply resource_eqb_eq in C. rewrite C. right. right. exact Q.
  - apply Pos.eqb_eq in C. right. left. rewrite C, <- S. reflexivity.
  - apply Pos.eqb_eq in C. left. rewrite C, <- R. reflexivity.
Qed.

(** With an order, the steps of a valid schedule can be arranged so that its clauses are true. *)
Lemma order_fits I s l order p : valid I s -> kind I <> TimeSlots ->
  all_tasks I = Some l -> pins I l order = Some p ->
  exists s', valid I s' /\ period s' = period s
    /\ forall events c, In c p -> is_true (value I s' events) c = true.
Proof.
  intros V K T P. unfold pins in P.
  assert (P' : order <> [] -> (if all_alike I && distinct (PM.empty _) order then
      match all_done (fun m => find (fun k => Pos.eqb (about k) m) l) order with
      | Some ((k :: _) as chosen) =>
          if existsb (fun r => forallb (certain I r) chosen && holds_one I (incoming I) r)
              (candidates I k)
          then Some (pin_clauses 1 chosen) else None
      | _ => None
      end else None) = Some p) by (intros N; destruct order; [easy|exact P]).
  assert (E : order = [] \/ order <> []) by (destruct order; [now left|now right]).
  destruct E as [->|E].
  { injection P as <-. exists s. split; [trivial|split; [trivial|easy]]. }
  specialize (P' E). clear P E. destruct (all_alike I) eqn:A; [|discriminate].
  destruct (distinct (PM.empty unit) order) eqn:D; [|discriminate].
  apply distinct_sound in D as [D _]. cbn [andb] in P'.
  destruct (all_done _ order) as [chosen|] eqn:C in P'; [|discriminate].
  assert (E : exists r, forallb (certain I r) chosen = true /\ holds_one I (incoming I) r = true
    /\ p = pin_clauses 1 chosen).
  { destruct chosen as [|k chosen]; [discriminate|]. destruct (existsb _ _) eqn:X in P';
      [|discriminate]. injection P' as <-. apply existsb_exists in X as (r & _ & X).
    apply andb_true_iff in X as [X1 X2]. now exists r. }
  destruct E as (r & C1 & C2 & ->). clear P'. rewrite forallb_forall in C1.
  unfold all_alike in A. apply andb_true_iff in A as [A R]. apply andb_true_iff in A as [W O].
  assert (W' : kind I = Wormhole) by (destruct (kind I); trivial; discriminate). clear W.
  rewrite forallb_forall in O.
  assert (O' : forall m source goals, PM.find m (messages I) = Some (source, goals) ->
    is_one goals = true).
  { intros m source goals M. apply PM.elements_correct in M. now apply O in M. }
  pose proof (constant_rounds _ R) as R'.
  assert (N : map about chosen = order /\ forall k, In k chosen -> In k l).
  { clear -C. revert chosen C. induction order as [|m order IH]; simpl; intros chosen C.
    - injection C as <-. easy.
    - destruct (find _ l) as [k|] eqn:F; [|discriminate]. apply find_some in F as [F1 F2].
      apply Pos.eqb_eq in F2. destruct (all_done _ order) as [rest|]; [|discriminate].
      injection C as <-. destruct (IH rest eq_refl) as [I1 I2]. simpl. split; [congruence|].
      intros q [<-|J]; auto. }
  destruct N as [N1 N2].
  assert (F : forall s, valid I s -> forall k, In k chosen -> task_fits I s k).
  { intros q Q k J. destruct (all_tasks_fit I q Q K l T) as [_ H]. apply H. now apply N2. }
  destruct (arrange order D s) as (s' & Q & S).
  - intros m M. rewrite <- N1 in M. apply in_map_iff in M as (k & <- & J).
    destruct (known_message _ _ _ (F s V k J)) as (goals & H & G). specialize (G W').
    destruct (rule_4_all _ _ V _ _ _ H _ G) as [B|B].
    + exfalso. now apply (not_origin _ _ _ (F s V k J)).
    + apply in_map_iff in B as (x & _ & X). apply in_transfers in X as [X M].
      apply in_numbered_step in X as (a & X & Y). exists a. split; trivial. now exists (snd x).
  - intros a m n A M M' (y & Y & Y') (z & Z & Z'). destruct (Pos.eq_dec m n) as [|X]; trivial.
    exfalso. destruct (step_numbered s a A 1) as (u & U & H).
    rewrite <- N1 in M, M'. apply in_map_iff in M as (k & <- & J).
    apply in_map_iff in M' as (k' & <- & J').
    assert (G : forall k y, In k chosen -> In y a -> message y = about k ->
      1 <= count (is_use r u) (uses I (period s) (u, y))).
    { intros q w Q1 Q2 Q3. rewrite uses_counted by trivial. cbn [fst snd]. rewrite Z.eqb_refl.
      apply count_in with r; [|apply resource_eqb_refl].
      apply (certain_used I s r q (u, w)); auto. }
    assert (L : used I s r u <= 1).
    { unfold holds_one in C2. destruct (limit_of I (incoming I) (r, 1)) as [limit|] eqn:B;
        [|discriminate]. apply Z.eqb_eq in C2. subst limit.
      apply (limit_holds I s V r u). rewrite <- B. unfold limit_of, in_step. cbn [fst snd].
      now rewrite (R' u). }
    rewrite used_sum in L.
    assert (B : sum (fun x => count (is_use r u) (uses I (period s) x)) [(u, y); (u, z)]
      <= sum (fun x => count (is_use r u) (uses I (period s) x)) (timed s)).
    { apply sum_incl.
      - constructor; [|constructor; [easy|constructor]]. intros [B|[]]. congruence.
      - intros x [<-|[<-|[]]]; now apply H.
      - intros. apply count_nonneg. }
    cbn [sum] in B. pose proof (G k y J Y Y'). pose proof (G k' z J' Z Z'). lia.
  - pose proof (rearranged_valid I s V W' O' R' s' Q) as V'. exists s'.
    split; [trivial|split; [now apply same_period|]]. intros events c H.
    apply (pins_true I s' chosen); auto. now rewrite N1.
Qed.

(** A valid schedule of at most so many steps gives an assignment that makes all clauses of the
    formula true. *)
Theorem formula_true_plain I s steps order f : valid I s -> kind I <> TimeSlots ->
  period s <= steps -> formula I steps order = Some f ->
  exists a, forall c, In c f -> clause_holds a c = true.
Proof.
  unfold formula. intros V K P.
  destruct (named_clauses I steps order) as [l|] eqn:E; [|discriminate]. intros [= <-].
  assert (G : exists v, forall c, In c l -> is_true v c = true).
  { pose proof E as E'. unfold named_clauses in E'. cbv zeta in E'.
    destruct (all_tasks I) as [k|] eqn:T; [|discriminate].
    destruct (max_literals <? _) in E'; [discriminate|].
    destruct (pins I k order) as [p|] eqn:Q; [|discriminate]. clear E'.
    destruct (order_fits I s k order p V K T Q) as (s' & V' & S & H).
    apply (named_true I s' steps order); trivial; [now rewrite S|].
    intros k' p' events c T' Q' C. apply (H events). congruence. }
  destruct G as (v & G). apply (numbered_true v).
  intros c C. apply G. rewrite rev_append_rev, app_nil_r in C. now apply in_rev.
Qed.

(** The same for the rules of Model.v. *)
Theorem formula_true I s steps order f : in_ticks I = false -> kind I <> TimeSlots ->
  Model.valid I s -> period s <= steps -> formula I steps order = Some f ->
  exists a, forall c, In c f -> clause_holds a c = true.
Proof. intros N K V. apply formula_true_plain; trivial. now apply plain_valid. Qed.
