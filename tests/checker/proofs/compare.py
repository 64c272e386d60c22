"""The verified checker and the Python one, compared on many schedules and certificates.

    python -m tests.checker.proofs.compare archive [FOLDER] > differences.jsonl
    python -m tests.checker.proofs.compare PAIRS [SEED] > differences.jsonl

The first compares all entries of the archive. The second compares mutants of the small ones; and of
the tiny instances of ``tests/exhaustive`` schedules of the plain search with what the finders
prove, with refutations, with prices, sets and worth drawn at random, for a number of steps and for
rounds per chunk, and with mutants of all these. A difference is a line of JSON. What was compared
is printed at the end.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import itertools
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError, Network, check, fingerprint
from cchybrid.checker.certificate import ANY_ROUTING, own_scope, prove, without_parts
from cchybrid.checker.instance import TooLargeError
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.prices import Prices
from cchybrid.checker.reading import read_json
from tests.checker import mutants as mutations
from tests.checker.proofs.built import HOLDS, ROOT, UNCOVERED, Program, build
from tests.checker.random_evidence import any_group, any_prices, any_sets
from tests.exhaustive import bounds
from tests.exhaustive.features import Case, cases
from tests.exhaustive.mutation import mutants as changed
from tests.exhaustive.neighbours import neighbours
from tests.exhaustive.plain_rules import Rules
from tests.exhaustive.plain_search import TooLargeError as SearchTooLargeError
from tests.exhaustive.plain_search import steps_of_file
from tests.exhaustive.plain_slots import search_of

Pair = tuple[str, Any, Any]
"""Origin, schedule and certificate; for the origin ``text`` the text of both and nothing."""
SMALL = 12_000
"""Characters of an entry of the archive of which there are mutants."""
SECONDS = 20.0
ARCHIVE = ROOT / "docs" / "archive"


def archive(folder: Path = ARCHIVE) -> Iterator[Pair]:
    """Yield all entries of the archive that have a certificate."""
    for path in sorted((folder / "entries").glob("*.gz")):
        schedule, certificate = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        if certificate is not None:
            yield "archive", schedule, certificate


def archive_mutants(rng: random.Random) -> Iterator[Pair]:
    """Yield mutants of entries of the archive, without end."""
    entries = [
        pair[1:]
        for pair in archive()
        if len(pair[1]["steps"]) > 1 and all(pair[1]["steps"]) and len(json.dumps(pair[1:])) < SMALL
    ]
    schedules = [schedule for schedule, _ in entries]
    while True:
        pair = rng.choice(entries)
        first = rng.randrange(1_000_000)
        for _, *mutant in mutations.mutants(*pair, schedules, 4, first):
            yield "archive mutant", *mutant
        for _ in range(2):
            schedule, certificate = copy.deepcopy(pair)
            (certificate["evidence"],) = changed(certificate["evidence"], [], 1, rng)
            yield "archive mutant", schedule, certificate


def tiny(case: Case, rng: random.Random) -> Iterator[Pair]:
    """Yield pairs of a tiny instance: proofs of finders, evidence at random, mutants of all."""
    instance = case.instance
    sums, rules, search = bounds.has_sums(instance), Rules(instance), search_of(instance, 3000)
    drawn = None
    with contextlib.suppress(SearchTooLargeError):
        drawn = (search.in_ticks if rules.times else search.greedy)(rng, 20)
    if drawn is None:
        return
    steps = steps_of_file(rules, drawn)
    form = f"cchybrid-schedule/{1 + sums}"
    schedule = {"format": form, "instance": instance, "steps": steps}
    names = [name for name in bounds.finders() if rng.random() < 0.4]
    found = [claim.evidence for claim in bounds.step_claims(instance, names)]
    origins = [("finder", each) for each in found]
    refuted = None
    if rng.random() < 0.5 and not rules.times and len(steps) > 1:
        refuted = bounds.refutation_claim(instance, rng.randrange(1, len(steps)))
    if refuted is not None:
        origins.append(("refutation", refuted.evidence))
    origins += [("random", at_random(instance, len(steps), rng)) for _ in range(6)]
    for origin, evidence in origins:
        scope = rng.choice((ANY_ROUTING, own_scope(instance), own_scope(instance)))
        yield origin, schedule, certificate_of(instance, evidence, scope)
        for mutant in changed(evidence, found, 4, rng):
            yield f"{origin} mutant", schedule, certificate_of(instance, mutant, scope)
        if evidence["kind"] == "refutation":
            about = certificate_of(instance, evidence, scope)
            for _ in range(4):
                yield "proof mutant", *mutations.proof_changed(rng, schedule, copy.deepcopy(about))
        if evidence["kind"] == "linear":
            whole = {key: value for key, value in evidence.items() if key != "steps"}
            for about in (whole, *changed(whole, found, 1, rng)):
                limit = rng.randint(len(steps), len(steps) + 2)
                yield "rounds", schedule, rounds_certificate_of(instance, about, limit)
    near = list(neighbours(instance, steps, rng))
    evidence = rng.choice(origins)[1]
    certificate = certificate_of(instance, evidence, own_scope(instance))
    for other in rng.sample(near, min(len(near), 8)):
        yield "neighbour", {**schedule, "steps": other}, certificate
    for mutant in changed(instance, [], 6, rng):
        about = certificate_of(mutant, evidence, own_scope(instance))
        yield "instance mutant", {**schedule, "instance": mutant}, about
    if evidence["kind"] == "refutation":
        return
    text = json.dumps([schedule, certificate])
    for _ in range(3):
        place, size = rng.randrange(len(text)), rng.choice((0, 1))
        edited = text[:place] + rng.choice((*'0",] -\\e9{', "")) + text[place + size :]
        yield "text", edited, None


def at_random(instance: dict[str, Any], steps: int, rng: random.Random) -> dict[str, Any]:
    """Return linear evidence for a few steps, maybe about a part: prices and groups at random."""
    network, shown = Network(instance), rng.randint(1, rng.randint(1, max(1, steps))) + 1
    if network.members:
        if rng.random() < 0.1:
            return {"kind": "exchanges"}
        node, back = rng.randrange(network.nodes), rng.random() < 0.5
        with contextlib.suppress(EvidenceError):
            network = network.part(node, back)
        about = linear_at_random(network, shown, rng)
        return {"kind": "part", "to" if back else "from": node, "evidence": about}
    return linear_at_random(network, shown, rng)


def linear_at_random(network: Network, shown: int, rng: random.Random) -> dict[str, Any]:
    """Return linear evidence for a number of steps: prices, groups and sets at random."""
    evidence: dict[str, Any] = {"kind": "linear", "steps": shown}
    evidence |= any_prices(network, shown - 1, rng)
    left = [*range(len(network.messages))]
    groups = []
    with contextlib.suppress(EvidenceError):
        prices = Prices(network, evidence, shown - 1)
        while left and rng.random() < 0.7:
            messages = rng.sample(left, rng.randint(1, len(left)))
            left = [message for message in left if message not in messages]
            if rng.random() < 0.5 or network.times:
                groups.append({"messages": messages, "sets": any_sets(network, prices, rng)})
            else:
                groups.append(any_group(network, shown - 1, rng, messages))
    return evidence | ({"groups": groups} if groups else {})


def certificate_of(instance: dict[str, Any], evidence: Any, scope: str) -> dict[str, Any]:
    """Return a certificate that claims what the evidence shows, or that it says itself."""
    digest, steps = "", 1
    with contextlib.suppress(Exception):  # of an instance in any form
        digest = fingerprint(instance)
    with contextlib.suppress(Exception):
        steps = evidence["steps"]
    with contextlib.suppress(Exception):
        steps = prove(instance, evidence, scope)
    return {
        "format": "cchybrid-certificate/1", "instance": {"sha256": digest},
        "claim": {"steps": steps, "scope": scope}, "evidence": evidence,
    }  # fmt: skip


def rounds_certificate_of(instance: dict[str, Any], evidence: Any, limit: int) -> dict[str, Any]:
    """Return a certificate about rounds per chunk, with what the evidence shows."""
    whole = without_parts(instance)
    claimed = "1"
    with contextlib.suppress(Exception):
        claimed = str(linear_rounds(Network(whole), evidence, limit))
    return {
        "format": "cchybrid-certificate/2", "instance": {"sha256": fingerprint(whole)},
        "claim": {"steps": limit, "rounds_per_chunk": claimed}, "evidence": evidence,
    }  # fmt: skip


def outcome(program: Program, pair: Pair) -> tuple[str, Any, Any]:
    """Return how the two answers compare, and both."""
    origin, schedule, certificate = pair
    try:
        if origin == "text":
            schedule, certificate = read_json(schedule)
        with contextlib.suppress(Exception):
            # The program does not compare the hash.
            about = schedule["instance"]
            about = without_parts(about) if "scope" not in certificate["claim"] else about
            certificate["instance"]["sha256"] = fingerprint(about)
        ours: Any = (HOLDS, check(schedule, certificate).sentence)
    except TooLargeError as error:
        return "Python: too large", str(error), None
    except (EvidenceError, ValueError, TypeError, RecursionError) as error:
        ours = (1, str(error))
    theirs = program.answer_line(pair[1]) if origin == "text" else program.answer(*pair[1:])
    if theirs is None:
        return "program: too long", ours, None
    if theirs[0] == UNCOVERED:
        return "not covered", ours, theirs
    if ours[0] == HOLDS and theirs[0] == HOLDS:
        return ("both accept" if ours[1] == theirs[1] else "other sentences"), ours, theirs
    if ours[0] == HOLDS:
        return "only Python accepts", ours, theirs
    return ("only the program accepts" if theirs[0] == HOLDS else "both refuse"), ours, theirs


DIFFERENCES = "only Python accepts", "only the program accepts", "other sentences"


def compare(pairs: Iterator[Pair], counts: Counter[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield the pairs where the answers differ; count all by origin and outcome."""
    program = Program(SECONDS)
    for pair in pairs:
        how, ours, theirs = outcome(program, pair)
        counts[pair[0], how] += 1
        if how in DIFFERENCES:
            yield {
                "how": how, "origin": pair[0], "python": ours, "program": theirs, "pair": pair[1:]
            }  # fmt: skip
    program.end()


def mixed(seed: int) -> Iterator[Pair]:
    """Yield pairs of tiny instances and mutants of the archive, without end."""
    rng = random.Random(seed)
    mutant = archive_mutants(rng)
    while True:
        for case in cases(bool(rng.randrange(2)), rng.randrange(200), 200):
            yield from tiny(case, rng)
            yield from itertools.islice(mutant, 4)


def main(words: list[str]) -> None:
    """Compare the archive, or as many other pairs."""
    build()
    if words[0] == "archive":
        pairs = archive(Path(words[1]) if words[1:] else ARCHIVE)
    else:
        pairs = itertools.islice(mixed(int(words[1]) if words[1:] else 0), int(words[0]))
    counts, differences = Counter[tuple[str, str]](), 0
    for each in compare(pairs, counts):
        print(json.dumps(each), flush=True)
        differences += 1
    for (origin, how), number in sorted(counts.items()):
        print(f"{origin}: {how}: {number:,}", file=sys.stderr)
    print(f"{counts.total():,} pairs, {differences:,} differences", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
