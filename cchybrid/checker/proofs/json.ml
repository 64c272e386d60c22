(* JSON from any source, read as strictly as reading.py reads it: a repeated key is an error, and of
   numbers only whole ones from 0 to 10^40 have a value, which is kept as its digits. *)

exception Unreadable of string (* this is no JSON *)

type json =
  | Null
  | Bool of bool
  | Whole of string
  | Other_number
  | Text of string
  | List of json list
  | Object of (string * json) list

(* Whether a word is written as a whole number from 0 to 10^40. *)
let is_whole word =
  let length = String.length word in
  let is_digit c = '0' <= c && c <= '9' in
  length > 0
  && Seq.fold_left (fun all c -> all && is_digit c) true (String.to_seq word)
  && (length = 1 || word.[0] <> '0')
  && (length <= 40 || word = "1" ^ String.make 40 '0')

(* The JSON value that a text is. *)
let parse text =
  let place = ref 0 in
  let fail why = raise (Unreadable (Printf.sprintf "%s at byte %d" why !place)) in
  let peek () = if !place < String.length text then text.[!place] else '\000' in
  let take () = let c = peek () in incr place; c in
  let expect c = if take () <> c then fail (Printf.sprintf "no %C" c) in
  let rec skip_space () =
    match peek () with ' ' | '\t' | '\n' | '\r' -> incr place; skip_space () | _ -> () in
  let word_of is_inside =
    let start = !place in
    while is_inside (peek ()) do incr place done;
    String.sub text start (!place - start) in
  let code () = (* the four digits after \u *)
    let hexadecimal _ =
      match take () with '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' as c -> c | _ -> fail "no digit" in
    int_of_string ("0x" ^ String.init 4 hexadecimal) in
  let rec rest_of_string found =
    match take () with
    | '"' -> Buffer.contents found
    | '\\' ->
      (match take () with
       | ('"' | '\\' | '/') as c -> Buffer.add_char found c
       | 'b' -> Buffer.add_char found '\b'
       | 'f' -> Buffer.add_char found '\012'
       | 'n' -> Buffer.add_char found '\n'
       | 'r' -> Buffer.add_char found '\r'
       | 't' -> Buffer.add_char found '\t'
       | 'u' ->
         let c = code () in
         Buffer.add_utf_8_uchar found (if Uchar.is_valid c then Uchar.of_int c else Uchar.rep)
       | _ -> fail "no such character after a backslash");
      rest_of_string found
    | c when c < ' ' -> fail "no end of a text"
    | c -> Buffer.add_char found c; rest_of_string found in
  let string () = expect '"'; rest_of_string (Buffer.create 16) in
  (* What is between brackets: items with a comma between two of them. *)
  let items close item =
    incr place;
    let rec next found =
      let found = item found in
      skip_space ();
      match take () with
      | ',' -> next found
      | c when c = close -> found
      | _ -> fail (Printf.sprintf "no comma and no %C" close) in
    skip_space ();
    if peek () = close then (incr place; []) else List.rev (next []) in
  let rec value () =
    skip_space ();
    match peek () with
    | '"' -> Text (string ())
    | '[' -> List (items ']' (fun found -> value () :: found))
    | '{' -> Object (items '}' member)
    | 'a' .. 'z' ->
      (match word_of (fun c -> 'a' <= c && c <= 'z') with
       | "null" -> Null
       | "true" -> Bool true
       | "false" -> Bool false
       | _ -> fail "no such word")
    | _ ->
      let inside = function '0' .. '9' | '-' | '+' | '.' | 'e' | 'E' -> true | _ -> false in
      let word = word_of inside in
      if is_whole word then Whole word
      else if word = "-0" then Whole "0"
      else if float_of_string_opt word = None then fail "no value"
      else Other_number
  and member found =
    skip_space ();
    let key = string () in
    if List.mem_assoc key found then fail "a key is listed twice";
    skip_space ();
    expect ':';
    (key, value ()) :: found in
  let found = value () in
  skip_space ();
  if !place < String.length text then fail "something follows";
  found
