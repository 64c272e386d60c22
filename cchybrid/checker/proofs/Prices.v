(** Prices of channels and ports, and what all steps offer at them. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Plain Sums Facts.
Import ListNotations.
Open Scope Z_scope.

(** A price of a resource for the steps from [first] to [last]; [place] is a channel whose
    capacity counts ([link]), or a port; [size] is its capacity per round. *)
Record row := { place : resource; size : Z; first : Z; last : Z; price : Z }.

Definition active (t : Z) (r : row) : bool := (first r <=? t) && (t <=? last r).

(** The price of a resource in a step: prices of the same resource and step are added. *)
Definition price_at (rows : list row) (q : resource) (t : Z) : Z :=
  sum (fun r => if active t r && resource_eqb (place r) q then price r else 0) rows.

(** What a transfer pays, and what a message pays. *)
Definition pays (I : instance) (rows : list row) (P : Z) (x : timed_transfer) : Z :=
  sum (fun u => price_at rows (fst u) (snd u)) (uses I P x).

Definition message_pays (I : instance) (rows : list row) (s : schedule) (m : positive) : Z :=
  sum (pays I rows (period s)) (transfers m s).

(** The capacities of the rows hold: they are those of channels and ports of the instance. *)
Definition sized (I : instance) (s : schedule) (r : row) : Prop :=
  0 <= price r /\ 0 <= size r
  /\ forall t, 1 <= t <= period s -> used I s (place r) t <= in_step I t (size r).

(** What all messages pay is at most what [T] steps offer. *)
Definition offer (I : instance) (T : Z) (r : row) : Z :=
  price r * sum (fun t => if active t r then in_step I t (size r) else 0)
              (steps_from 1 (Z.to_nat T)).

Definition offered (I : instance) (T : Z) (rows : list row) : Z := sum (offer I T) rows.

(** The theorem that Routes, Sets and Worth use: proved in Offers.v.

    Theorem paid_at_most_offered : valid I s -> period s <= T -> (forall r, In r rows -> sized I s r)
      -> sum (message_pays I rows s) (map fst (PM.elements (messages I))) <= offered I T rows. *)

(** ** Intervals of steps with equal prices

    A table has the price of every channel (by its first node), and of every port. *)
Record table := { of_channels : PM.t (list (node * Z)); of_inject : PM.t Z; of_accept : PM.t Z }.

Definition found (m : PM.t Z) (v : node) : Z :=
  match PM.find v m with Some x => x | None => 0 end.

(** The price of a channel, before it is replaced by the one whose capacity counts. *)
Definition table_price (tb : table) (q : resource) : Z :=
  match q with
  | Channel (a, b) =>
      match PM.find a (of_channels tb) with
      | Some l => match look b l with Some x => x | None => 0 end
      | None => 0
      end
  | Inject v => found (of_inject tb) v
  | Accept v => found (of_accept tb) v
  end.

Record interval := { from : Z; to : Z; prices : table }.

(** Every step from 1 to [T] lies in an interval, whose table has the prices of that step. *)
Definition covers (rows : list row) (T : Z) (l : list interval) : Prop :=
  forall t, 1 <= t <= T -> exists i, In i l /\ from i <= t <= to i
    /\ forall q, price_at rows q t = table_price (prices i) q.

(** The price of the channel from [a] to [b] in an interval. *)
Definition hop_price (I : instance) (tb : table) (h : hop) : Z :=
  table_price tb (Channel (link I h)).

Lemma price_nonneg rows q t : (forall r, In r rows -> 0 <= price r) -> 0 <= price_at rows q t.
Proof.
  intros H. apply sum_nonneg. intros r R. specialize (H r R).
  destruct (active t r && resource_eqb (place r) q); lia.
Qed.

Lemma pays_nonneg I rows P x : (forall r, In r rows -> 0 <= price r) -> 0 <= pays I rows P x.
Proof. intros H. apply sum_nonneg. intros. now apply price_nonneg. Qed.
