(* Reads a schedule and its certificate, asks the program extracted from the proofs, and prints
   its answer:

     verified-checker SCHEDULE CERTIFICATE
     verified-checker --lines     (one JSON list [schedule, certificate] per line of the input)

   Exit status: 0 the check holds, 1 it fails, 2 the files cannot be read, 3 no theorem covers it.
   With --lines it is the first word of each line of the output.

   This file and json.ml decide what the two files mean, so they are trusted; the decision itself is
   Verified.check. They accept of an instance what cchybrid/checker/instance.py accepts, except what
   no theorem covers. The hash in a certificate is not compared: what is shown is about the instance
   in the schedule file. Numbers become those of Coq, which have no largest one. *)

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

(* Channels that share the capacity of another one: the second of a half-duplex pair that of the
   first, those of a group that of its first. *)
let read_shared node channels network =
  let hop row =
    match wholes row with
    | [ a; b ] -> (node a, node b)
    | _ -> raise (Refused "a shared channel is a list of two numbers") in
  let capacity hop =
    let found = at hop channels in
    require (found <> None) "a shared channel that is not there";
    found in
  let in_no_pair pairs (a, b) =
    require (at (a, b) pairs = None && at (b, a) pairs = None) "a channel is shared twice" in
  let add_pair found row =
    let a, b = hop row in
    require (capacity (a, b) = capacity (b, a)) "a half-duplex pair of two capacities";
    in_no_pair found (a, b);
    put (b, a) (a, b) found in
  let pairs = List.fold_left add_pair Map.empty (list_in "half_duplex" network) in
  let add_group found rows =
    let hops = List.map hop (list rows) in
    require (hops <> []) "a group without channels";
    let first = List.hd hops in
    let add found hop =
      require (capacity hop = capacity first) "a group of two capacities";
      require (at hop found = None) "a channel is shared twice";
      in_no_pair pairs hop;
      put hop first found in
    List.fold_left add found hops in
  List.fold_left add_group pairs (list_in "groups" network)

(* Source and destinations of every message, of a reduction its destination and its sources; each
   message once for each of its chunks. *)
let read_messages node one_end many_ends collective =
  let read message =
    only [ one_end; many_ends ] message;
    let source = node (whole (get one_end message)) in
    let destinations = List.map node (wholes (get many_ends message)) in
    require (destinations <> []) "a message without an end";
    distinct (source :: destinations);
    (source, destinations) in
  let messages = List.map read (list (get "messages" collective)) in
  let chunks = get_or (Whole "1") "chunks" collective in
  ignore (limited (1 lsl 22) (Z.mul (z_of_int (List.length messages)) (whole chunks)));
  let copies = int_of_string (written chunks) in
  numbered (List.concat_map (fun message -> List.init copies (fun _ -> message)) messages)

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

(* What the rest of the files is read with: the instance, whether it is a reduction, and the scope
   that is its own routing. *)
type reading = { instance : V.instance; reduction : bool; scope : string; node : V.z -> V.node }

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
  if list_in "times" network <> [] then raise (Uncovered "times of channels");
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
  let reduction, one_end, many_ends =
    match text (get "kind" collective) with
    | "deliver" -> (false, "source", "destinations")
    | "combine" -> (true, "destination", "sources")
    | ("allreduce" | "scan" | "exscan") as sums when latest -> raise (Uncovered sums)
    | _ -> raise (Refused "no such kind of collective") in
  let route, scope =
    match get_or (Text "minimal") "routing" model with
    | Text "minimal" | Whole "0" -> (V.ExtraHops V.Z0, "minimal routing")
    | Text "any" -> (V.AnyPath, "any routing")
    | Object _ when latest -> raise (Uncovered "routing tables")
    | hops -> (V.ExtraHops (whole hops), "at most " ^ written hops ^ " extra hops") in
  (* Hop by hop neither endpoints nor the routing restrict a path. *)
  let hop_by_hop = kind = V.StoreAndForward in
  let rounds = List.map (fun each -> limited 1_000_000 (whole each)) (list_in "rounds" model) in
  require (kind <> V.TimeSlots || (not reduction && List.for_all (( = ) one) rounds))
    "time slots with rounds or reductions";
  let channels = read_channels node network in
  let endpoints = List.map whole (list_in "endpoints" network) in
  let order a b = if Z.ltb a b then -1 else if a = b then 0 else 1 in
  require (List.sort_uniq order endpoints = endpoints) "the endpoints are not in order";
  let add_endpoint found number = Map.add (node number) () found in
  let endpoints = List.fold_left add_endpoint Map.empty endpoints in
  let instance = {
    V.adjacent = channels;
    shared = read_shared node channels network;
    endpoints = (if hop_by_hop then Map.empty else endpoints);
    messages = read_messages node one_end many_ends collective;
    kind;
    route = (if hop_by_hop then V.AnyPath else route);
    injects = read_ports nodes "inject" model;
    accepts = read_ports nodes "accept" model;
    rounds;
  } in
  { instance; reduction; scope = (if hop_by_hop then "any routing" else scope); node }

(* Schedules and certificates *)

(* The steps of a schedule file. *)
let read_steps node schedule =
  let transfer record =
    only [ "message"; "path" ] record;
    { V.message = positive_of (whole (get "message" record));
      nodes = List.map node (wholes (get "path" record)) } in
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

(* Messages that pay for sets, or by the worth of their destinations. *)
let read_group node group =
  let has key = List.mem_assoc key (entries group) in
  let chosen =
    if has "messages" then Some (List.map positive_of (wholes (get "messages" group))) else None in
  if has "once" || has "blocks" then raise (Uncovered "charges that are paid once, and blocks");
  only [ "messages"; (if has "sets" then "sets" else "worth") ] group;
  if has "sets" then V.SetsGroup (chosen, List.map (read_set node 1) (list (get "sets" group)))
  else begin
    let worth = List.map (read_worth node) (list (get "worth" group)) in
    distinct (List.map fst worth);
    V.WorthGroup (chosen, worth)
  end

(* The evidence of a certificate. *)
let read_evidence node evidence =
  match text (get "kind" evidence) with
  | "linear" ->
    only [ "kind"; "channels"; "inject"; "accept"; "groups"; "steps" ] evidence;
    let prices = List.concat_map (read_prices node evidence) [ "channels"; "inject"; "accept" ] in
    let groups = List.map (read_group node) (list_in "groups" evidence) in
    V.Linear (limited (1 lsl 40) (whole (get "steps" evidence)), prices, groups)
  | "nested-sets" ->
    only [ "kind"; "message"; "sets" ] evidence;
    let sets = List.map (read_set node 0) (list (get "sets" evidence)) in
    let precedes place (outer, _) = require (Z.leb outer (z_of_int place)) "no set comes before" in
    List.iteri precedes sets;
    V.NestedSets (positive_of (whole (get "message" evidence)), sets)
  | ("refutation" | "part" | "exchanges" | "unreachable") as kind -> raise (Uncovered kind)
  | _ -> raise (Refused "no such kind of evidence")

(* What the two files show, in a sentence. *)
let sentence_of schedule certificate =
  require (List.mem (text (get "format" schedule)) [ "cchybrid-schedule/1"; "cchybrid-schedule/2" ])
    "this is no cchybrid-schedule/1 or /2";
  let form = text (get "format" certificate) in
  if form = "cchybrid-certificate/2" then raise (Uncovered "rounds per chunk");
  require (form = "cchybrid-certificate/1") "this is no cchybrid-certificate/1";
  only [ "format"; "instance"; "claim"; "evidence"; "made_by" ] certificate;
  let { instance; reduction; scope = own; node } = read_instance (get "instance" schedule) in
  let steps = read_steps node schedule in
  let claim, evidence = (get "claim" certificate, get "evidence" certificate) in
  ignore (entries (get "instance" certificate));
  only [ "steps"; "scope" ] claim;
  let claimed, scope = (get "steps" claim, text (get "scope" claim)) in
  require (scope = "any routing" || scope = own) "the scope is not that of the instance";
  let read = read_evidence node evidence in
  match V.check instance reduction (scope = "any routing") steps read with
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
