(** The program extracted from the definitions, after what the theorems about it assume: nothing.

    Booleans, options, pairs and lists become those of OCaml. Numbers stay what they are in Coq, so
    none is too large. *)

Require Import ZArith ExtrOcamlBasic.
Require Import Model Verify Check.

Print Assumptions verify_sound.
Print Assumptions linear_sound.
Print Assumptions needed_sound.
Print Assumptions check_sound.

Extraction Language OCaml.
Extraction "verified.ml" check look add_neighbour
  PM.empty PM.add PM.find Z.add Z.mul Z.leb Z.ltb Z.to_pos.
