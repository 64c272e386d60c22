(* Reads a schedule and its certificate, asks the program extracted from the proofs, and prints
   its answer:

     verified-checker SCHEDULE CERTIFICATE
     verified-checker --lines     (one JSON list [schedule, certificate] per line of the input)

   Exit status: 0 the check holds, 1 it fails, 2 the files cannot be read, 3 no theorem covers it.
   With --lines it is the first word of each line of the output.

   This file and json.ml decide what the two files mean, so they are trusted; the decision itself is
   Verified.check. They accept of an instance what cchybrid/checker/instance.py accepts, except what
   no theorem covers. The hash in a certificate is not compared: what is shown is about the instance
   in the schedule file. The proof of a refutation is its text, unpacked. Numbers become those of
   Coq, which have no largest one. *)

module V = Verified
module Z = V.Z
module Map = V.PM
open Json

exception Refused of string (* not well-formed, or it does not show what it claims *)
exception Uncovered of string (* there is no theorem about it *)

(* Refuse what does not hold. *)
let require holds why = if not holds then raise (Refused why)

(* Numbers *)

(* The number of Coq for a machine integer of at least 0. *)
let rec z_of_int n =
  if n = 0 then V.Z0
  else
    let double = let half = z_of_int (n / 2) in Z.add half half in
    if n mod 2 = 0 then double else Z.add double (V.Zpos V.XH)

let one = z_of_int 1
let ten = z_of_int 10
let digits = Array.init 10 z_of_int

(* The number that decimal digits mean. *)
let z_of_digits word =
  let add found digit = Z.add (Z.mul ten found) digits.(Char.code digit - Char.code '0') in
  Seq.fold_left add V.Z0 (String.to_seq word)

(* Number k of the files is number k + 1 of the proofs, where nodes and messages are positive. *)
let positive_of number = Z.to_pos (Z.add number one)

(* A table of values by their places in a list: node 0 or message 0 first. *)
let numbered values =
  let add (place, found) value = (Z.add place one, Map.add (Z.to_pos place) value found) in
  snd (List.fold_left add (one, Map.empty) values)

(* Parts of JSON values *)

(* The entries of an object. *)
let entries = function Object found -> found | _ -> raise (Refused "an object is missing")

(* Refuse an object with other keys. *)
let only keys record =
  require (List.for_all (fun (key, _) -> List.mem key keys) (entries record))
    ("this is no object of " ^ String.concat ", " keys ^ " alone")

(* The entry of an object, or what counts where there is none. *)
let get_or default key record = Option.value (List.assoc_opt key (entries record)) ~default

(* The entry of an object. *)
let get key record =
  match List.assoc_opt key (entries record) with
  | Some found -> found
  | None -> raise (Refused (key ^ " is missing"))

(* Lists, texts, the digits of whole numbers, whole numbers, and lists of them. *)
let list = function List found -> found | _ -> raise (Refused "a list is missing")
let text = function Text found -> found | _ -> raise (Refused "a text is missing")
let written = function Whole word -> word | _ -> raise (Refused "no whole number up to 10^40")
let whole value = z_of_digits (written value)
let wholes value = List.map whole (list value)

(* The list in an object; an empty one where there is none. *)
let list_in key record = list (get_or (List []) key record)

(* Refuse a number that is not from 1 to the last one. *)
let limited last number =
  require (number <> V.Z0 && Z.leb number (z_of_int last)) "a number is too small or too large";
  number

(* Refuse a list that names something twice. *)
let distinct numbers =
  let add seen number =
    require (Map.find number seen = None) "something is listed twice";
    Map.add number () seen in
  ignore (List.fold_left add Map.empty numbers)

(* Instances. All functions here take the function [node], from a number to a node. *)

(* A channel in a table of channels, and a table with one more. *)
let at (a, b) table = V.look b (Option.value (Map.find a table) ~default:[])
let put (a, b) value table = V.add_neighbour a (b, value) table

(* The capacities of channels. *)
let read_channels node network =
  let add found row =
    let hop, capacity =
      match wholes row with
      | [ a; b ] -> ((node a, node b), one)
      | [ a; b; capacity ] -> ((node a, node b), capacity)
      | _ -> raise (Refused "a channel is a list of two or three numbers") in
    require (fst hop <> snd hop && capacity <> V.Z0) "a channel to itself, or without capacity";
    require (at hop found = None) "a channel is listed twice";
    put hop capacity found in
  List.fold_left add Map.empty (list (get "channels" network))

(* Latency and length of the channels in ticks; an empty table if steps are no ticks. *)
let read_times node network =
  let channels, rows = (list (get "channels" network), list_in "times" network) in
  let read row =
    match wholes row with
    | [ latency; length ] when Z.leb latency (z_of_int 1_000_000) ->
      (latency, limited 1_000_000 length)
    | _ -> raise (Refused "a time is a list of two numbers that are not too large") in
  let times = List.map read rows in
  require (times = [] || List.length times = List.length channels) "not as many times as channels";
  let add found channel time =
    match wholes channel with a :: b :: _ -> put (node a, node b) time found | _ -> found in
  if List.for_all (( = ) (V.Z0, one)) times then Map.empty
  else List.fold_left2 add Map.empty channels times

(* Channels that share the capacity of another one: the second of a half-duplex pair that of the
   first, those of a group that of its first. *)
let read_shared node channels times network =
  let hop row =
    match wholes row with
    | [ a; b ] -> (node a, node b)
    | _ -> raise (Refused "a shared channel is a list of two numbers") in
  let measures hop =
    require (at hop channels <> None) "a shared channel that is not there";
    (at hop channels, at hop times) in
  let in_no_pair pairs (a, b) =
    require (at (a, b) pairs = None && at (b, a) pairs = None) "a channel is shared twice" in
  let add_pair found row =
    let a, b = hop row in
    require (measures (a, b) = measures (b, a)) "a half-duplex pair of two capacities or times";
    in_no_pair found (a, b);
    put (b, a) (a, b) found in
  let pairs = List.fold_left add_pair Map.empty (list_in "half_duplex" network) in
  let add_group found rows =
    let hops = List.map hop (list rows) in
    require (hops <> []) "a group without channels";
    let first = List.hd hops in
    let add found hop =
      require (measures hop = measures first) "a group of two capacities or times";
      require (at hop found = None) "a channel is shared twice";
      in_no_pair pairs hop;
      put hop first found in
    List.fold_left add found hops in
  List.fold_left add_group pairs (list_in "groups" network)

(* The nodes of every message: its source and its destinations, of a reduction its destination and
   its sources, of an allreduce or a scan its members; each message once for each of its chunks. *)
let read_messages node ends collective =
  let read message =
    only ends message;
    let nodes key =
      let value = get key message in
      if key.[String.length key - 1] = 's' then wholes value else [ whole value ] in
    let found = List.map node (List.concat_map nodes ends) in
    require (List.length found > 1) "a message without an end";
    distinct found;
    found in
  let messages = List.map read (list (get "messages" collective)) in
  let chunks = get_or (Whole "1") "chunks" collective in
  ignore (limited (1 lsl 22) (Z.mul (z_of_int (List.length messages)) (whole chunks)));
  let copies = int_of_string (written chunks) in
  List.concat_map (fun message -> List.init copies (fun _ -> message)) messages

(* The ports of every node on one side; an empty table if they are not limited. *)
let read_ports nodes side model =
  let ports = get_or (Text "all") "ports" model in
  let value =
    match ports with Object _ -> only [ "inject"; "accept" ] ports; get side ports | _ -> ports in
  match value with
  | Text "all" -> Map.empty
  | List each ->
    require (List.length each = nodes) "not as many ports as nodes";
    numbered (List.map whole each)
  | each -> let limit = whole each in numbered (List.init nodes (fun _ -> limit))

(* A routing table: rows of as many nodes as there are, one for each. *)
let read_table node nodes routing =
  match List.remove_assoc "name" (entries routing) with
  | [ (("next" | "previous") as key, rows) ] ->
    let rows = List.map (fun row -> List.map node (wholes row)) (list rows) in
    require (List.for_all (fun row -> List.length row = nodes) rows && List.length rows = nodes)
      "a routing table has a row for each node, with a node for each";
    V.Table (key = "previous", numbered (List.map numbered rows))
  | _ -> raise (Refused "a routing table is an object of next or of previous")

(* What the rest of the files is read with: the instance, whether it is a reduction, the members of
   an allreduce or a scan, and the scope that is its own routing. *)
type reading = { instance : V.instance; reduction : bool; scope : string; node : V.z -> V.node;
                 sums : (V.collective * V.groups) option }

(* The instance of a schedule file. *)
let read_instance record =
  let latest =
    match text (get "format" record) with
    | "cchybrid-instance/1" -> false
    | "cchybrid-instance/2" -> true
    | _ -> raise (Refused "this is no cchybrid-instance/1 or /2") in
  let newer keys = if latest then keys else [] in
  let network, collective = (get "network" record, get "collective" record) in
  let model = get_or (Object []) "model" record in
  let labels = [ "name"; "positions"; "node_names"; "switches"; "tick" ] in
  only [ "format"; "name"; "network"; "collective"; "model" ] record;
  only ([ "nodes"; "channels"; "half_duplex"; "endpoints" ] @ newer [ "times"; "groups" ] @ labels)
    network;
  only ([ "name"; "kind"; "messages" ] @ newer [ "chunks" ]) collective;
  only ([ "switching"; "ports"; "routing" ] @ newer [ "rounds" ]) model;
  let count = limited (1 lsl 20) (whole (get "nodes" network)) in
  let nodes = int_of_string (written (get "nodes" network)) in
  let node number =
    require (Z.ltb number count) "a node that the network does not have";
    positive_of number in
  let kind =
    match text (get_or (Text "wormhole") "switching" model) with
    | "wormhole" -> V.Wormhole
    | "store-and-forward" -> V.StoreAndForward
    | "tdm" when latest -> V.TimeSlots
    | _ -> raise (Refused "no such switching") in
  let sums, ends =
    match text (get "kind" collective) with
    | "deliver" -> (None, [ "source"; "destinations" ])
    | "combine" -> (None, [ "destination"; "sources" ])
    | "allreduce" when latest -> (Some V.Allreduce, [ "members" ])
    | "scan" when latest -> (Some V.Scan, [ "members" ])
    | "exscan" when latest -> (Some V.Exscan, [ "members" ])
    | _ -> raise (Refused "no such kind of collective") in
  let reduction = List.mem "sources" ends in
  let route, scope =
    match get_or (Text "minimal") "routing" model with
    | Text "minimal" | Whole "0" -> (V.ExtraHops V.Z0, "minimal routing")
    | Text "any" -> (V.AnyPath, "any routing")
    | Object _ as routing when latest ->
      require (kind <> V.StoreAndForward) "a routing table hop by hop";
      (read_table node nodes routing, "routing table")
    | hops -> (V.ExtraHops (whole hops), "at most " ^ written hops ^ " extra hops") in
  (* Hop by hop neither endpoints nor the routing restrict a path. *)
  let hop_by_hop = kind = V.StoreAndForward in
  let rounds = List.map (fun each -> limited 1_000_000 (whole each)) (list_in "rounds" model) in
  let channels, times = (read_channels node network, read_times node network) in
  let in_slots, in_ticks, has_sums = (kind = V.TimeSlots, times <> Map.empty, sums <> None) in
  require (not (in_slots || in_ticks) || List.for_all (( = ) one) rounds) "slots or ticks, rounds";
  require (not (in_slots && (reduction || has_sums))) "time slots with reductions or sums";
  require (not (in_ticks && (in_slots || has_sums))) "ticks with time slots or sums";
  let endpoints = List.map whole (list_in "endpoints" network) in
  let order a b = if Z.ltb a b then -1 else if a = b then 0 else 1 in
  require (List.sort_uniq order endpoints = endpoints) "the endpoints are not in order";
  let add_endpoint found number = Map.add (node number) () found in
  let endpoints = List.fold_left add_endpoint Map.empty endpoints in
  let found = read_messages node ends collective in
  let last = Z.to_pos count in
  let instance = {
    (* The last node is named, whether it has channels or not. *)
    V.adjacent = (if Map.find last channels = None then Map.add last [] channels else channels);
    shared = read_shared node channels times network;
    times;
    endpoints = (if hop_by_hop then Map.empty else endpoints);
    messages = numbered (List.map (fun ends -> (List.hd ends, List.tl ends)) found);
    kind;
    route = (if hop_by_hop then V.AnyPath else route);
    injects = read_ports nodes "inject" model;
    accepts = read_ports nodes "accept" model;
    rounds;
  } in
  let sums = Option.map (fun kind -> (kind, numbered found)) sums in
  { instance; reduction; sums; scope = (if hop_by_hop then "any routing" else scope); node }

(* Schedules and certificates *)

(* The steps of a schedule file; of an allreduce or a scan every transfer has the parts of a sum. *)
let read_steps node has_sums schedule =
  let transfer record =
    only ([ "message"; "path" ] @ if has_sums then [ "sum" ] else []) record;
    let parts = if has_sums then List.map node (wholes (get "sum" record)) else [] in
    { V.message = positive_of (whole (get "message" record));
      nodes = List.map node (wholes (get "path" record));
      parts } in
  List.map (fun step -> List.map transfer (list step)) (list (get "steps" schedule))

(* The prices of channels, or of the ports on one side, each with or without its steps. *)
let read_prices node evidence key =
  let price row =
    let place, rest =
      match (key, wholes row) with
      | "channels", a :: b :: rest -> (V.PriceChannel (node a, node b), rest)
      | "inject", v :: rest -> (V.PriceInject (node v), rest)
      | "accept", v :: rest -> (V.PriceAccept (node v), rest)
      | _ -> raise (Refused "a price without a place") in
    match rest with
    | [ amount ] -> { V.at_place = place; range = None; amount }
    | [ first; last; amount ] -> { V.at_place = place; range = Some (first, last); amount }
    | _ -> raise (Refused "a price has the wrong length") in
  List.map price (list_in key evidence)

(* A number and then nodes, at least so many. *)
let read_set node fewest row =
  match wholes row with
  | number :: nodes when List.length nodes >= fewest -> (number, List.map node nodes)
  | _ -> raise (Refused "a set is a list of a number and nodes")

(* A node and what a message is worth there. *)
let read_worth node row =
  match wholes row with
  | [ v; worth ] -> (node v, worth)
  | _ -> raise (Refused "a worth is a list of two numbers")

(* The lines of a proof, up to the first that adds the empty clause: "NUMBER LITERALS 0 HINTS 0", or
   "NUMBER d NUMBERS 0". Numbers that are the same are one object, to save memory. *)
let read_proof text =
  let known = Hashtbl.create 65536 in
  let positive number =
    require (number > 0) "a line of the proof has a number that is not positive";
    match Hashtbl.find_opt known number with
    | Some found -> found
    | None -> let found = Z.to_pos (z_of_int number) in Hashtbl.add known number found; found in
  let number word =
    let plain = String.for_all (fun c -> c = '-' || ('0' <= c && c <= '9')) word in
    match int_of_string_opt word with
    | Some found when plain -> found
    | _ -> raise (Refused "a word of the proof is no number") in
  let literal number =
    if number > 0 then V.Zpos (positive number) else V.Zneg (positive (-number)) in
  let rec before_zero found = function
    | 0 :: rest -> (List.rev found, rest)
    | number :: rest -> before_zero (number :: found) rest
    | [] -> raise (Refused "a line of the proof does not end in 0") in
  let rec lines found = function
    | [] -> List.rev found
    | line :: rest ->
      match List.filter (( <> ) "") (String.split_on_char ' ' line) with
      | [] -> lines found rest
      | _ :: "d" :: words ->
        let deleted = match List.rev words with _ :: before -> before | [] -> [] in
        lines (V.Delete (List.map (fun word -> positive (number word)) deleted) :: found) rest
      | name :: words ->
        let clause, after = before_zero [] (List.map number words) in
        let hints, after = before_zero [] after in
        require (after = []) "a line of the proof does not end after its hints";
        let name = positive (number name) in
        let found = V.Add (name, List.map literal clause, List.map positive hints) :: found in
        if clause = [] then List.rev found else lines found rest in
  lines [] (String.split_on_char '\n' text)

(* A charge of a receiver, in steps before the last of those that are ruled out. *)
let read_charge node steps row =
  match wholes row with
  | [ v; first; last; size ] ->
    require (first <> V.Z0 && Z.leb first last && Z.ltb (Z.add last one) steps)
      "a charge in steps that are not there";
    { V.charged = node v; charged_from = first; charged_to = last; charge_size = size }
  | _ -> raise (Refused "a charge is a list of four numbers")

(* Messages that pay for sets, or by the worth of their destinations; [message] is the function
   from the number of a message in evidence to the message. *)
let read_group node message steps group =
  let has key = List.mem_assoc key (entries group) in
  let chosen =
    if has "messages" then Some (List.map message (wholes (get "messages" group))) else None in
  only ("messages" :: if has "sets" then [ "sets" ] else [ "worth"; "once"; "blocks" ]) group;
  if has "sets" then V.SetsGroup (chosen, List.map (read_set node 1) (list (get "sets" group)))
  else begin
    let worth = List.map (read_worth node) (list (get "worth" group)) in
    distinct (List.map fst worth);
    let once = List.map (read_charge node steps) (list_in "once" group) in
    let read_block row = List.sort_uniq compare (List.map node (wholes row)) in
    let blocks = List.map read_block (list_in "blocks" group) in
    require (not (List.mem [] blocks)) "a block without nodes";
    distinct (List.concat blocks);
    V.WorthGroup (chosen, worth, once, blocks)
  end

(* The prices and the groups of linear evidence, which may have other keys. *)
let read_linear node message steps more evidence =
  only ([ "kind"; "channels"; "inject"; "accept"; "groups" ] @ more) evidence;
  ( List.concat_map (read_prices node evidence) [ "channels"; "inject"; "accept" ],
    List.map (read_group node message steps) (list_in "groups" evidence) )

(* Evidence about messages that are copied. *)
let read_evidence node message evidence =
  match text (get "kind" evidence) with
  | "linear" ->
    let steps = limited (1 lsl 40) (whole (get "steps" evidence)) in
    let prices, groups = read_linear node message steps [ "steps" ] evidence in
    V.Linear (steps, prices, groups)
  | "nested-sets" ->
    only [ "kind"; "message"; "sets" ] evidence;
    let sets = List.map (read_set node 0) (list (get "sets" evidence)) in
    let precedes place (outer, _) = require (Z.leb outer (z_of_int place)) "no set comes before" in
    List.iteri precedes sets;
    V.NestedSets (message (whole (get "message" evidence)), sets)
  | "refutation" ->
    only [ "kind"; "steps"; "order"; "proof" ] evidence;
    let order = List.map message (wholes (get_or (List []) "order" evidence)) in
    V.Refuted0 (limited 10_000 (whole (get "steps" evidence)), order,
      read_proof (text (get "proof" evidence)))
  | "unreachable" as kind -> raise (Uncovered kind)
  | _ -> raise (Refused "no such kind of evidence")

(* Evidence about an allreduce or a scan. The messages of a part have its own numbers, in order. *)
let read_sums node instance (collective, members) evidence =
  match text (get "kind" evidence) with
  | "exchanges" -> only [ "kind" ] evidence; V.Exchanges
  | "part" ->
    let back = List.mem_assoc "to" (entries evidence) in
    let key = if back then "to" else "from" in
    only [ "kind"; "evidence"; key ] evidence;
    let member = node (whole (get key evidence)) in
    let part = V.part0 instance collective members member back in
    let numbers = numbered (List.map fst (Map.elements part.messages)) in
    let message number =
      match Map.find (positive_of number) numbers with
      | Some found -> found
      | None -> raise (Refused "a message that the part does not have") in
    let found = read_evidence node message (get "evidence" evidence) in
    let all_alike = List.for_all (fun (a, b) -> a = b) (Map.elements numbers) in
    (match found with
     | V.Refuted0 _ when not all_alike -> raise (Uncovered "a refutation of some messages alone")
     | _ -> V.Part (member, back, found))
  | _ -> raise (Refused "no such kind of evidence about sums")

(* The object of an instance without its chunks and rounds, in the oldest format that has it. *)
let without_parts record =
  let network = entries (get "network" record) in
  let change (key, value) =
    match key with
    | "format" when not (List.mem_assoc "times" network || List.mem_assoc "groups" network) ->
      (key, Text "cchybrid-instance/1")
    | "collective" -> (key, Object (List.remove_assoc "chunks" (entries value)))
    | "model" -> (key, Object (List.remove_assoc "rounds" (entries value)))
    | _ -> (key, value) in
  Object (List.map change (entries record))

(* What a certificate about rounds per chunk shows, in a sentence. *)
let sentence_of_rounds { instance; reduction; node; _ } steps record claim evidence =
  only [ "steps"; "rounds_per_chunk" ] claim;
  let limit, claimed = (whole (get "steps" claim), text (get "rounds_per_chunk" claim)) in
  let number = List.length steps in
  require (Z.leb (z_of_int number) limit) "the schedule has more steps than the claim is about";
  if Z.ltb (z_of_int 1_000_000) limit then raise (Uncovered "rounds in more than a million steps");
  require (V.verify (V.direction reduction instance) (V.in_direction reduction steps))
    "the schedule is not valid";
  let { instance; _ } = read_instance (without_parts record) in
  require (get "kind" evidence = Text "linear") "evidence about rounds is linear";
  let prices, groups = read_linear node positive_of (Z.add limit one) [] evidence in
  if V.uses_worth groups then raise (Uncovered "rounds per chunk by worth");
  let above, below =
    match String.split_on_char '/' claimed with
    | [ above ] when is_whole above -> (z_of_digits above, one)
    | [ above; below ] when is_whole above && is_whole below && below <> "1" ->
      (z_of_digits above, z_of_digits below)
    | _ -> raise (Refused "the rounds per chunk are no fraction") in
  require (above <> V.Z0 && Z.gcd above below = one) "the fraction is not reduced";
  match V.rounds_per_chunk (V.direction reduction instance) limit prices groups with
  | Some (paid, most) when most <> V.Z0 && Z.mul paid below = Z.mul most above ->
    let int value = int_of_string (written value) in
    let chunks = int (get_or (Whole "1") "chunks" (get "collective" record)) in
    let rec add left = function
      | first :: (_ :: _ as rest) when left > 0 -> first + add (left - 1) rest
      | last -> left * List.fold_left max 1 last in
    let given = list_in "rounds" (get_or (Object []) "model" record) in
    let rounds = add number (List.map int given) in
    let fewer, needed = (Z.mul (z_of_int (rounds - 1)) below, Z.mul (z_of_int chunks) above) in
    Printf.sprintf
      "%d chunks, %d steps, %d rounds, %s: no schedule of as many steps has fewer than %s rounds \
       per chunk (linear)"
      chunks number rounds (if Z.ltb fewer needed then "optimal" else "valid") claimed
  | _ -> raise (Refused "the evidence does not show this number of rounds")

(* What the two files show, in a sentence. *)
let sentence_of schedule certificate =
  let schedule_form, form = (text (get "format" schedule), text (get "format" certificate)) in
  require (List.mem schedule_form [ "cchybrid-schedule/1"; "cchybrid-schedule/2" ])
    "this is no cchybrid-schedule/1 or /2";
  require (List.mem form [ "cchybrid-certificate/1"; "cchybrid-certificate/2" ])
    "this is no cchybrid-certificate/1 or /2";
  only [ "format"; "instance"; "claim"; "evidence"; "made_by" ] certificate;
  let record = get "instance" schedule in
  let { instance; reduction; sums; scope = own; node } as reading = read_instance record in
  require (sums = None || schedule_form = "cchybrid-schedule/2") "sums are in cchybrid-schedule/2";
  let steps = read_steps node (sums <> None) schedule in
  let claim, evidence = (get "claim" certificate, get "evidence" certificate) in
  ignore (entries (get "instance" certificate));
  if form = "cchybrid-certificate/2" then begin
    require (sums = None) "rounds per chunk of sums";
    sentence_of_rounds reading steps record claim evidence
  end else
  let () = only [ "steps"; "scope" ] claim in
  let claimed, scope = (get "steps" claim, text (get "scope" claim)) in
  require (scope = "any routing" || scope = own) "the scope is not that of the instance";
  let any = scope = "any routing" in
  let shown =
    match sums with
    | None -> V.check instance reduction any steps (read_evidence node positive_of evidence)
    | Some (collective, members) ->
      let read = read_sums node instance (collective, members) evidence in
      V.check_sums0 instance collective members any steps read in
  match shown with
  | None -> raise (Refused "the schedule is not valid, or the evidence does not show its claim")
  | Some shown ->
    require (shown = whole claimed) "the evidence shows another number of steps than the claim";
    let number = List.length steps in
    Printf.sprintf "%d steps, %s: no schedule (%s) has fewer than %s (%s)" number
      (if shown = z_of_int number then "optimal" else "valid")
      scope (written claimed) (text (get "kind" evidence))

(* The exit status and the line about two files, which the function returns. *)
let judged read =
  try let schedule, certificate = read () in (0, sentence_of schedule certificate) with
  | Refused why -> (1, "FAILED: " ^ why)
  | Unreadable why | Sys_error why -> (2, "cannot be read: " ^ why)
  | Uncovered what -> (3, "not proved by machine: " ^ what)
  | Stack_overflow | Out_of_memory -> (2, "cannot be read: too large")

(* The JSON value in a file. *)
let read_file name =
  let channel = open_in_bin name in
  parse (really_input_string channel (in_channel_length channel))

(* Answer every line of the input. *)
let rec answer_lines () =
  match input_line stdin with
  | exception End_of_file -> ()
  | line ->
    let read () =
      match parse line with
      | List [ schedule; certificate ] -> (schedule, certificate)
      | _ -> raise (Unreadable "this is no list of a schedule and a certificate") in
    let status, answer = judged read in
    Printf.printf "%d %s\n%!" status answer;
    answer_lines ()

let () =
  match Array.to_list Sys.argv with
  | [ _; "--lines" ] -> answer_lines ()
  | [ _; schedule; certificate ] ->
    let status, answer = judged (fun () -> (read_file schedule, read_file certificate)) in
    print_endline answer;
    exit status
  | _ ->
    prerr_endline "usage: verified-checker SCHEDULE CERTIFICATE, or --lines";
    exit 2
