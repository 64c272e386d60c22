(** The program extracted from the definitions, after what the theorems about it assume: nothing.

    Booleans, options, pairs and lists become those of OCaml. Numbers stay what they are in Coq, so
    none is too large. *)

Require Import ZArith ExtrOcamlBasic.
Require Import Model Verify Check Pieces.

Print Assumptions verify_sound.
Print Assumptions linear_sound.
Print Assumptions needed_sound.
Print Assumptions check_sound.
Print Assumptions check_sums_sound.
Print Assumptions rounds_per_chunk_sound.

Extraction Language OCaml.
Extraction "verified.ml" check check_sums AllreduceParts.part rounds_per_chunk uses_worth verify
  direction in_direction look add_neighbour PM.empty PM.add PM.find PM.elements
  Z.add Z.mul Z.gcd Z.leb Z.ltb Z.to_pos.
