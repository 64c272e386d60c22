(** The cheapest walks from a node, of at most a number of hops. *)

Require Import ZArith List Bool Lia FMapPositive.
Require Import Model Sums.
Import ListNotations.
Open Scope Z_scope.

(** An edge and its price. *)
Definition edge : Type := node * node * Z.

(** One more hop: [c] has the costs so far, [e] the edges that the hop may take. *)
Definition improve (old : PM.t Z) (found : PM.t Z) (e : edge) : PM.t Z :=
  let '(a, b, w) := e in
  match PM.find a old with
  | None => found
  | Some x =>
      match PM.find b found with
      | Some z => if z <=? x + w then found else PM.add b (x + w) found
      | None => PM.add b (x + w) found
      end
  end.

Definition one_hop (edges : list edge) (old : PM.t Z) : PM.t Z := fold_left (improve old) edges old.

Definition at_most (c : PM.t Z) (v : node) (x : Z) : Prop :=
  exists y, PM.find v c = Some y /\ y <= x.

Lemma improve_keeps old c e v x : at_most c v x -> at_most (improve old c e) v x.
Proof.
  intros (y & F & L). destruct e as [[a b] w]. unfold improve.
  destruct (PM.find a old) as [xa|]; [|now exists y].
  destruct (Pos.eq_dec v b) as [->|N].
  - rewrite F. destruct (Z.leb_spec y (xa + w)); [now exists y|].
    exists (xa + w). rewrite PM.gss. split; [reflexivity|lia].
  - destruct (PM.find b c) as [z|]; [destruct (z <=? xa + w)|];
      try (now exists y); exists y; rewrite PM.gso by congruence; now split.
Qed.

Lemma improve_new old c a b w x : at_most old a x -> at_most (improve old c (a, b, w)) b (x + w).
Proof.
  intros (y & F & L). unfold improve. rewrite F.
  destruct (PM.find b c) as [z|] eqn:E.
  - destruct (Z.leb_spec z (y + w)).
    + exists z. split; [trivial|lia].
    + exists (y + w). rewrite PM.gss. split; [reflexivity|lia].
  - exists (y + w). rewrite PM.gss. split; [reflexivity|lia].
Qed.

Lemma fold_keeps old l c v x : at_most c v x -> at_most (fold_left (improve old) l c) v x.
Proof. revert c. induction l; simpl; intros; trivial. apply IHl. now apply improve_keeps. Qed.

Lemma one_hop_keeps l c v x : at_most c v x -> at_most (one_hop l c) v x.
Proof. apply fold_keeps. Qed.

Lemma one_hop_new l c a b w x :
  In (a, b, w) l -> at_most c a x -> at_most (one_hop l c) b (x + w).
Proof.
  unfold one_hop. intros I A. apply in_split in I as (l1 & l2 & ->).
  rewrite fold_left_app. simpl. apply fold_keeps. now apply improve_new.
Qed.

(** Walks as lists of edges in order: the k-th hop may take the edges [layers k]. *)
Inductive walk : list (list edge) -> node -> node -> Z -> Prop :=
  | walk_nil layers v : walk layers v v 0
  | walk_step edges layers a b v w x :
      In (a, b, w) edges -> walk layers b v x -> walk (edges :: layers) a v (w + x).

Fixpoint all_hops (layers : list (list edge)) (c : PM.t Z) : PM.t Z :=
  match layers with [] => c | edges :: rest => all_hops rest (one_hop edges c) end.

Lemma all_hops_keeps layers c v x : at_most c v x -> at_most (all_hops layers c) v x.
Proof. revert c. induction layers; simpl; intros; trivial. apply IHlayers. now apply one_hop_keeps. Qed.

(** The computed cost is at most the price of every walk. *)
Theorem all_hops_least layers a v x c y :
  walk layers a v x -> at_most c a y -> at_most (all_hops layers c) v (y + x).
Proof.
  intros W. revert c y. induction W; intros c y A; simpl.
  - replace (y + 0) with y by lia. now apply all_hops_keeps.
  - replace (y + (w + x)) with ((y + w) + x) by lia. apply IHW. now apply one_hop_new with a.
Qed.
