(** The program extracted from the definitions, after the assumptions of the theorems about it.

    Booleans, options, pairs and lists become those of OCaml. Numbers stay what they are in Coq, so
    none is too large. *)

Require Import ZArith ExtrOcamlBasic.
Require Import Model Check.

Print Assumptions check.

Extraction Language OCaml.
Extraction "verified.ml" check look add_neighbour
  PM.empty PM.add PM.find Z.add Z.mul Z.leb Z.ltb Z.to_pos.
