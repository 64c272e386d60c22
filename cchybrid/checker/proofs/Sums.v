(** Sums over lists. *)

Require Import ZArith List Bool Lia Permutation.
Import ListNotations.
Open Scope Z_scope.

Fixpoint sum {A} (f : A -> Z) (l : list A) : Z :=
  match l with [] => 0 | x :: rest => f x + sum f rest end.

Lemma sum_app {A} (f : A -> Z) l k : sum f (l ++ k) = sum f l + sum f k.
Proof. induction l; simpl; lia. Qed.

Lemma sum_plus {A} (f g : A -> Z) l : sum (fun x => f x + g x) l = sum f l + sum g l.
Proof. induction l; simpl; lia. Qed.

Lemma sum_zero {A} (l : list A) : sum (fun _ => 0) l = 0.
Proof. induction l; simpl; lia. Qed.

Lemma sum_le {A} (f g : A -> Z) l :
  (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  intros H. induction l as [|a l IH]; simpl; [lia|].
  assert (f a <= g a) by (apply H; now left).
  assert (sum f l <= sum g l) by (apply IH; intros; apply H; now right). lia.
Qed.

Lemma sum_ext {A} (f g : A -> Z) l :
  (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof.
  intros H. induction l as [|a l IH]; simpl; [reflexivity|].
  rewrite (H a) by now left. rewrite IH; [reflexivity|]. intros; apply H; now right.
Qed.

Lemma sum_nonneg {A} (f : A -> Z) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. intros H. rewrite <- (sum_zero l). now apply sum_le. Qed.

Lemma sum_map {A B} (f : B -> Z) (g : A -> B) l : sum f (map g l) = sum (fun x => f (g x)) l.
Proof. induction l; simpl; lia. Qed.

Lemma sum_flat_map {A B} (f : B -> Z) (g : A -> list B) l :
  sum f (flat_map g l) = sum (fun x => sum f (g x)) l.
Proof. induction l; simpl; [reflexivity|]. rewrite sum_app. lia. Qed.

Lemma sum_scale {A} (f : A -> Z) k l : sum (fun x => k * f x) l = k * sum f l.
Proof. induction l; simpl; lia. Qed.

Lemma sum_swap {A B} (f : A -> B -> Z) l k :
  sum (fun x => sum (f x) k) l = sum (fun y => sum (fun x => f x y) l) k.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite sum_zero|].
  rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_filter {A} (f : A -> Z) (p : A -> bool) l :
  sum f (filter p l) = sum (fun x => if p x then f x else 0) l.
Proof. induction l; simpl; [reflexivity|]. destruct (p a); simpl; lia. Qed.

Lemma sum_permutation {A} (f : A -> Z) l k : Permutation l k -> sum f l = sum f k.
Proof. induction 1; simpl; lia. Qed.

(** Distinct elements of a list have at most the sum of the list. *)
Lemma sum_incl {A} (f : A -> Z) (l k : list A) :
  NoDup l -> incl l k -> (forall x, In x k -> 0 <= f x) -> sum f l <= sum f k.
Proof.
  revert k. induction l as [|a l IH]; intros k D S P; simpl.
  - now apply sum_nonneg.
  - inversion D as [|? ? N D']; subst.
    destruct (in_split a k (S a (or_introl eq_refl))) as (k1 & k2 & ->).
    assert (H : sum f l <= sum f (k1 ++ k2)).
    { apply IH; trivial.
      - intros x X. assert (In x (k1 ++ a :: k2)) as Q by (apply S; now right).
        apply in_app_iff in Q. apply in_app_iff. destruct Q as [|[->|]]; auto. contradiction.
      - intros x X. apply P. apply in_app_iff in X. apply in_app_iff. simpl. tauto. }
    rewrite sum_app in *. simpl. lia.
Qed.

(** The least and the largest of some values. *)
Lemma sum_single {A} (f : A -> Z) l a :
  In a l -> (forall x, In x l -> 0 <= f x) -> f a <= sum f l.
Proof.
  intros I P. assert (sum f [a] <= sum f l) as H.
  { apply sum_incl; trivial. - constructor; [easy|constructor]. - intros x [<-|[]]; trivial. }
  simpl in H. lia.
Qed.
