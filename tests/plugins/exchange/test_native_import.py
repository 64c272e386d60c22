"""Our own schedule files, judged for a collective that the user names."""

import json
from pathlib import Path
from typing import Any

from cchybrid_plugins.exchange.audit import audit_file
from cchybrid_plugins.exchange.commands import judged_on
from cchybrid_plugins.exchange.export_text import export_csv

from cchybrid.plugin.registry import load_registry
from tests.plugins.exchange.schedules import schedule


def sentence(text: str, path: Path, collective: str) -> str:
    path.write_text(text)
    registry = load_registry()
    return audit_file(path, registry, *judged_on("ring-bi-4", collective, registry)).sentence


def test_messages_are_matched_by_their_ends_not_by_their_numbers(tmp_path: Path) -> None:
    found = schedule("ring-bi-4", "AAG")
    text = json.dumps(found.to_json())
    assert sentence(text, tmp_path / "aag", "AAS").startswith("valid, ")
    # Rows of hops do not say where a message ends; the column of members does.
    text = export_csv(found)
    for collective in ("AAG", "AAS"):
        assert sentence(text, tmp_path / "aag", collective).startswith("valid, ")


def test_equal_messages_are_the_chunks_of_the_named_collective(tmp_path: Path) -> None:
    found = schedule("ring-bi-4", "AAB", chunks=2)
    for text in (json.dumps(found.to_json()), export_csv(found)):
        assert sentence(text, tmp_path / "aab", "AAB").startswith("valid, ")


def test_other_messages_and_too_many_are_not_judged(tmp_path: Path) -> None:
    def of(**options: Any) -> str:
        return json.dumps(schedule("ring-bi-4", **options).to_json())

    text = sentence(of(collective="AAB"), tmp_path / "s", "AAS")
    assert text.startswith("not judged: --collective: the message from 0 to 1, 2, 3 is none of AAS")
    pairs = ((0, 1), (0, 1), (1, 2))
    text = sentence(of(collective=pairs), tmp_path / "s", "AAS")
    assert text.startswith(
        "not judged: --collective: the message from 0 to 1 is listed 2 times, in AAS 1"
    )


def test_a_missing_message_is_still_invalid(tmp_path: Path) -> None:
    text = json.dumps(schedule("ring-bi-4", ((0, 1),)).to_json())
    assert sentence(text, tmp_path / "s", "AAS").startswith("invalid because message 1 never")
