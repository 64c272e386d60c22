"""One term for one thing: no identifier or text uses a word that the field does not know."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("cchybrid", "plugins", "tests", "docs", "instances")


def read(text: str) -> dict[str, str]:
    """Return words, and the terms to use instead."""
    pairs = (each.split(": ") for each in text.split(";"))
    return {word.strip(): " ".join(term.split()) for word, term in pairs}


PARTS = read(
    """
    announcer: event bus; asked: requested, or what was requested; beginnings: initial solutions;
    course: run history; crew: worker pool; dear: expensive; division: group action;
    flaw: violation; glance: probe; ground: shared data, or growable problem; informer: sender;
    informers: senders; intake: event handler; least: min; looks: signature; mend: hint;
    milp: column generation; most: max; muster: wait for all; nobody: none; promise: score;
    question: instance spec; questions: instance specs; rehearsal: warm-up problem;
    slaves: annealing processes; somebody: any; stretch: steps per round; takers: receivers;
    tally: counts; told: reported; tour: quotient search; turn: slice, move or index;
    wanted: target, or what is wanted; way: arm, or what it is; ways: arms, or what they are;
    welcome: immigrate; whoever: the actor's name; worth: score, value or price
    """
)
"""Words that no identifier may contain, and the terms to use instead."""

NAMES = read(
    """
    Account: EvaluationBudget; Bench: Scratch; Board: Blackboard; Listening: SearchRun;
    Order: RunConfig; Partial: PartialSchedule; Room: ResidualCapacity; Setting: Context;
    Uses: UsageMatrix; Visit: Candidate; Work: Scratch; _fit: _capacity_constraints;
    _follow: _precedence_constraints; _happen: _assignment_constraints;
    _help: _optional_deliveries; _lead: _symmetry_constraints;
    begin: start, initial_solution or warm_start; fixed_steps: target; left_over: unscheduled;
    press: increase_weights; relax: decay_weights
    """
)
"""Identifiers that are not used, and the terms to use instead."""

LIBRARIES = {"add_at_most_one", "at_least_one", "at_most_one", "press", "ZeroDivisionError"}
"""Identifiers of Python, OR-Tools' constraints and Playwright that contain such words."""

TEXT = {
    r"\bnobody\b": "none", r"\bsomebody\b": "any", r"\bwhoever\b": "the actor's name",
    r"\bso many\b": "N, or the count's name", r"\btold\b": "reported",
    r"keeps? to the group": "invariant under the group", r"\binformers?\b": "sender",
    r"\btakers\b": "receivers",
}  # fmt: skip
"""Words that code, comments and docs do not use, and the terms to use instead."""

PRONOUNS = """he her his how it its she that their these they this those what whatever where which
    who whoever whom whose why"""
"""Words that no docstring begins with."""


NO_CODE = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*''', re.DOTALL
)
"""Strings and comments of Python."""


def _files(suffix: str) -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob(f"*{suffix}")]
    return sorted(path for path in found if path != Path(__file__).resolve())


def test_identifiers_use_the_terms_of_the_field():
    wrong = []
    for path in _files(".py"):
        code = NO_CODE.sub(lambda found: "\n" * found[0].count("\n"), path.read_text())
        for name in {*re.findall(r"[^\W\d]\w*", code)}:
            if instead := _instead(name):
                wrong += [
                    f"{path.relative_to(ROOT)}:{number}: {name} (use {instead})"
                    for number, line in enumerate(code.splitlines(), 1)
                    if re.search(rf"\b{name}\b", line)
                ]
    assert not wrong, f"{len(wrong)} identifiers\n" + "\n".join(wrong)


@cache
def _instead(name: str) -> str | None:
    """Return the term for an identifier that is not to be used."""
    if name in LIBRARIES or name in NAMES:
        return NAMES.get(name)
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return next((PARTS[word.lower()] for word in words if word.lower() in PARTS), None)


def test_texts_use_the_terms_of_the_field():
    wrong = []
    any_term = re.compile("|".join(TEXT), re.IGNORECASE)
    for path in [
        *_files(".py"),
        *_files(".md"),
        *_files(".toml"),
        *_files(".j2"),
        ROOT / "README.md",
    ]:
        text = path.read_text()
        if {"reports", "generated"} & {*path.parts} or not any_term.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, instead in TEXT.items():
                if re.search(pattern, line, re.IGNORECASE):
                    where = f"{path.relative_to(ROOT)}:{number}"
                    wrong.append(f"{where}: {line.strip()} (use {instead})")
    assert not wrong, f"{len(wrong)} lines\n" + "\n".join(wrong)


def test_no_docstring_begins_with_a_pronoun():
    wrong = []
    for path in _files(".py"):
        text = path.read_text()
        for found in NO_CODE.finditer(text):
            before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
            first = re.match(r'"""\W*(\w+)', found[0])
            if first and not before and first[1].lower() in PRONOUNS.split():
                line = text.count("\n", 0, found.start()) + 1
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {found[0].splitlines()[0]}")
    assert not wrong, f"{len(wrong)} docstrings\n" + "\n".join(wrong)
