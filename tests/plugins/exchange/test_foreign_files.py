"""Foreign files: compressed or not, within limits, and never a traceback."""

import gzip
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.exchange import foreign_files, xml_tree
from cchybrid_plugins.exchange.foreign_files import import_file, read_foreign_text
from cchybrid_plugins.exchange.xml_tree import parse_xml

from cchybrid.model import Collective, Instance, Message, Network, Schedule, Transfer
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.imported import BrokenRule, Imported, OwnBound
from cchybrid.plugin.records import ImporterInfo
from cchybrid.plugin.registry import Registry, load_registry
from tests.plugins.exchange.foreign_texts import ring_allgather, sccl_allgather
from tests.refusals import refused

LAUGHS = """<!DOCTYPE algo [
<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">
]><algo>&c;</algo>"""


@pytest.mark.parametrize("name", ["program.xml.gz", "program", "program.json"])
def test_compressed_files_are_read_whatever_their_name(name, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(ring_allgather().encode()))
    found, imported = import_file(tmp_path / name, load_registry())
    assert found == "msccl-xml"
    assert imported.schedule is not None


def test_a_file_that_decompresses_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign_files, "MAX_MIB", 1)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (3 << 20)))
    assert (tmp_path / "bomb.gz").stat().st_size < 10_000
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_foreign_text(tmp_path / "bomb.gz")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x1f\x8b broken", "the compressed file is damaged"),
        (gzip.compress(b"<algo/>" * 99, mtime=0)[:-9], "the compressed file is damaged"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"", "the file is empty"),
        (b'<?xml version="1.0" encoding="klingon"?><algo/>', "no XML: unknown encoding: klingon"),
        (b"hello", "no importer knows this file; formats of other tools, for audit --from: "),
        (b'{"msccl_type": ' + b"[" * 200_000, "not valid JSON"),
    ],
)
def test_what_is_no_file_of_a_tool_is_said_in_one_line(content, words, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with refused(f"{tmp_path / 'file'}: ", words):
        import_file(tmp_path / "file", load_registry())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent", "no such file"),
        (".", "is a folder, not a file"),
        ("no\0name", "no file has such a name"),
        ("pipe", "is a pipe, not a file"),
        ("/dev/null", "is a device, not a file"),
    ],
)
def test_what_is_no_file_at_all_is_said_in_one_line(name, words, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=words):
        import_file(tmp_path / name, load_registry())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "line 1: a document type declaration (DTD)"),
        ("<a>" * 100_000, "more than 16 levels of elements"),
        (f"<a>{'<b/>' * 20}</a>", "more than 20 elements"),
        ("<a {}/>".format(" ".join(f'k{k}="1"' for k in range(65))), "more than 64 attributes"),
    ],
    ids=["entities", "levels", "elements", "attributes"],
)
def test_deep_and_large_xml_is_refused(text, words, monkeypatch):
    monkeypatch.setattr(xml_tree, "MAX_ELEMENTS", 20)
    with refused(words):
        parse_xml(text)


def test_the_importer_can_be_named(tmp_path):
    (tmp_path / "a.json").write_text(sccl_allgather())
    registry = load_registry()
    assert import_file(tmp_path / "a.json", registry)[0] == "sccl-json"
    with pytest.raises(InputError, match="not well-formed XML"):
        import_file(tmp_path / "a.json", registry, format_name="msccl-xml")
    with pytest.raises(InputError, match=r"no import format is called tecl; did you mean teccl\?"):
        import_file(tmp_path / "a.json", registry, format_name="tecl")


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Return a function that reads a file by an importer that returns what is given."""
    (tmp_path / "file").write_text("?")

    def imported_by(imported: Any, recognises: Any = lambda text: True, **named: Any) -> Imported:
        info = ImporterInfo("odd", recognises, lambda text, request: imported, "-")
        return import_file(tmp_path / "file", Registry(importers={"odd": info}), **named)[1]

    return imported_by


def test_an_importer_that_raises_is_named(read):
    with pytest.raises(PluginError, match="importer odd failed: ValueError: invalid literal"):
        read(Imported(), recognises=int)


LINE = Instance(Network.from_links("line", 2, [(0, 1)]), Collective("m", (Message(0, (1,)),)))
ONE = Schedule(LINE, ((Transfer(0, (0, 1)),),))
OTHER = Network.from_links("other", 3, [(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("imported", "words"),
    [
        (Imported(replace(LINE, network=OTHER), ONE), "its schedule is of another instance"),
        (Imported(None, ONE), "its schedule is of another instance"),
        (Imported(LINE, "steps"), "its schedule is none"),
        (Imported("line"), "its instance is none"),
        (Imported(LINE, ONE, length="1"), "its counts are no whole numbers"),
        (Imported(LINE, ONE, length=-1), "its counts are no whole numbers"),
        (Imported(own=OwnBound(7.5, 1, "epochs")), "its counts are no whole numbers"),
        (Imported(own=OwnBound(7, 1, "steps")), "its own unit is 'steps'"),
        (Imported(own=OwnBound(7, 1, "")), "its own unit is ''"),
        (Imported(own=OwnBound(7, 1, "stepz")), "its own unit is 'stepz', no plural"),
        (Imported(own=OwnBound(7, 1, "step!")), "its own unit is 'step!', no plural"),
        (Imported(own=OwnBound(7, 1, None)), "its own bound is none"),
        (Imported(own=(7, 1, "epochs", "")), "its own bound is none"),
        (Imported(broken=7), "its broken rules are none"),
        (Imported(broken=(BrokenRule("a", "b\nvalid", "c"),)), "its broken rules are none"),
        (Imported(LINE, ONE, places=7), "its places are none"),
        (Imported(LINE, ONE, facts=5), "its facts or limits are no lines of text"),
        (Imported(LINE, ONE, limits=("a\nlower bound 5",)), "its facts or limits are no lines"),
    ],
)
def test_what_an_importer_returns_fits_together(imported, words, read):
    with pytest.raises(PluginError, match=f"importer odd: {words}"):
        read(imported)


def test_an_importer_reads_for_what_the_user_names(read):
    bound = Imported(own=OwnBound(5, 5, "epochs"))
    assert read(bound) == bound
    assert read(Imported(LINE, ONE), network=LINE.network).schedule == ONE
    both = {"network": OTHER, "collective": LINE.collective}
    other = Collective("m", (Message(1, (0,)),))
    for imported, named, words in (
        (bound, {"network": OTHER}, r"its own bound is about, so drop --topology$"),
        (bound, both, r"--topology and --collective$"),
        (Imported(LINE, ONE), {"network": OTHER}, "no file on another network"),
        (Imported(LINE, ONE), {"collective": other}, "no file for another collective"),
    ):
        with pytest.raises(PluginError, match=words):
            read(imported, **named)
