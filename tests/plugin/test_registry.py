"""Plugins: a broken one gives one warning with its name; the records of others are used."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cchybrid
from cchybrid.cli.app import app, run
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.imported import ImportRequest
from cchybrid.plugin.record_names import OPTIONS_OF_PROVE
from cchybrid.plugin.registry import MODULES_VARIABLE, PluginRow, Registry, load_registry

ROOT = Path(__file__).parents[2]

Load = Callable[..., Registry]

HEAD = """
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import (
    BoundInfo, CheckInfo, CollectiveInfo, DesignerInfo, EngineInfo, ExporterInfo, ImporterInfo,
    NameInfo, ProofFormatInfo, StrategyInfo, TopologyInfo,
)
SOUND = EngineInfo("sound", "nowhere:Sound", "another record of the same plugin")
"""


@pytest.fixture
def load(tmp_path, monkeypatch) -> Load:
    """Write modules, and return the registry that loads them as plugins, in this order."""

    def write_and_load(**modules: str) -> Registry:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(HEAD + text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv(MODULES_VARIABLE, ",".join(modules))
        return load_registry()

    return write_and_load


def row_of(registry: Registry, name: str) -> PluginRow:
    return next(row for row in registry.plugins if row.name == name)


def engines(text: str) -> str:
    return f"@hookimpl\ndef cchybrid_engines():\n    {text}\n"


GOOD = engines("return [EngineInfo('good', 'nowhere:Good', 'comes after the broken one')]")


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (engines("return [EngineInfo('e', 'a:B', '-', kind='magic')]"),
         "engine e: the kind 'magic' is none of heuristic, exact, construction"),
        (engines("return [EngineInfo('bad\\ud800', 'a:B', '-')]"),
         r"its name 'bad\ud800' is not one printable line"),
        (engines("return [EngineInfo('bad', 'a:B', 'two\\nlines')]"),
         r"engine bad: its summary 'two\nlines' is not one printable line"),
        (engines("return [EngineInfo('bad', 'a:B', '-', requires=(1, 2))]"),
         "engine bad: its requires 1 is not one printable line"),
        (engines("return [EngineInfo('bad', 'a:B', '-', former_names=('good', 'Auto'))]"),
         "engine bad: auto is the name of a part of cchybrid"),
        ("raise ValueError('no \\ud800 good')", "ValueError: no good"),
        ("class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
         "Odd: no reason given"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(:", "SyntaxError: invalid syntax (broken.py, line 8)"),
        ("class Panic(BaseException): pass\nraise Panic('rust')", "Panic: rust"),
        ("", "it implements no hook"),
        ("def cchybrid_engines(): return [SOUND]", "cchybrid_engines is not marked with @hookimpl"),
        ("@hookimpl\ndef cchybrid_engins(): return [SOUND]",
         "no hook is called cchybrid_engins; did you mean cchybrid_engines?"),
        (engines("raise KeyError('inside')"), "cchybrid_engines: KeyError: 'inside'"),
        (engines("pass"), "cchybrid_engines: PluginError: returned nothing"),
        (engines("return SOUND"), "cchybrid_engines: TypeError: 'EngineInfo' object is not iter"),
        (engines("return ['x']"), "the engine 'x' is of type str, not EngineInfo"),
        (engines("return [EngineInfo('new', 'a:B', '-', api=1)]"),
         "engine new is written for plugin interface 1, this is 2 (docs/hooks.md)"),
        (engines("return [EngineInfo('bad', None, '-')]"), "engine bad: the target None is no str"),
        (engines("return [EngineInfo('bad', 'a.B', '-')]"),
         "engine bad: the target 'a.B' does not name module:object"),
        (engines("return [EngineInfo('CPSAT', 'a:B', '-')]"),
         "engine CPSAT is already provided by plugin cchybrid.engines.cpsat"),
        (
            "@hookimpl\ndef cchybrid_topologies():\n"
            "    return [TopologyInfo('t', 't-N', 't-(', lambda: 0, '-', 't-1')]",
            "topology t: the pattern 't-(' is invalid: missing ), unterminated subpattern",
        ),
        ("@hookimpl\ndef cchybrid_bounds(): return [BoundInfo('b', 'a:b', '-', order='1')]",
         "bound b: the order '1' is no int"),
        ("@hookimpl\ndef cchybrid_exporters(): return [ExporterInfo('e', 'no', '-')]",
         "exporter e: the export 'no' is no Callable"),
        ("@hookimpl\ndef cchybrid_observers(): return [3]", "the observer 3 cannot be called"),
        ("@hookimpl\ndef cchybrid_engines(registry): return [SOUND]",
         "PluginValidationError: Plugin 'broken' for hook 'cchybrid_engines'"),
    ],
)  # fmt: skip
def test_a_broken_plugin_is_named_and_the_rest_loads(load, text, trouble):
    before = load()
    registry = load(broken=text, good=GOOD)
    row = row_of(registry, "broken")
    assert trouble.removeprefix("cchybrid_engines: PluginError: ") in row.trouble
    assert row.source == MODULES_VARIABLE
    assert row.provides == ()
    assert registry.warnings == [f"plugin broken: {row.trouble}"]
    assert row.trouble.isprintable()
    assert set(registry.engines) == {*before.engines, "good"}
    assert registry.topologies.keys() == before.topologies.keys()
    assert registry.engine("good").name == "good"


def test_one_bad_record_or_hook_does_not_affect_the_others(load):
    registry = load(
        mixed=engines("return [7, EngineInfo('umda', 'a:B', '-'), SOUND]")
        + "@hookimpl\ndef cchybrid_bounds(): raise OSError('disk')\n"
        + "@hookimpl\ndef cchybrid_bound(): pass\n"
        + "@hookimpl\ndef cchybrid_exporters(): return [ExporterInfo('e', str, '-')]\n"
    )
    row = row_of(registry, "mixed")
    assert row.provides == ("engine sound", "exporter e")
    assert set(row.trouble.split("; ")) == {
        "no hook is called cchybrid_bound",
        "did you mean cchybrid_bounds?",
        "the engine 7 is of type int, not EngineInfo",
        "engine umda is already provided by plugin cchybrid.engines.umda",
        "cchybrid_bounds: OSError: disk",
    }
    assert len(registry.warnings) == 1


def test_of_two_plugins_that_provide_the_same_both_are_named(load):
    registry = load(first=GOOD, second=GOOD.replace("good", "GOOD"))
    assert registry.warnings == ["plugin second: engine GOOD is already provided by plugin first"]
    assert registry.provider["engine", "good"] == "first"


def test_engines_of_other_distributions_are_external_whatever_they_say(load):
    registry = load(
        first=GOOD, second=engines("return [EngineInfo('own', 'a:B', '-', external=False)]")
    )
    assert all(registry.engine(name).external for name in ("good", "own"))
    assert not registry.engine("tabu").external


def test_the_variable_may_have_spaces_gaps_and_repetitions(load, monkeypatch):
    load(one=GOOD, two=engines("return [SOUND]"))
    monkeypatch.setenv(MODULES_VARIABLE, " one , ,two,, one ")
    registry = load_registry()
    assert registry.engine("good")
    assert registry.engine("sound")
    assert [row.name for row in registry.plugins][-3:] == ["one", "two", "one"]
    assert registry.warnings == [
        f"plugin one: another plugin is called one already, from {MODULES_VARIABLE}"
    ]


def test_what_a_plugin_prints_stays_out_of_the_output(load, capsys):
    load(chatty="print('hello')\n" + engines("print('again'); return [SOUND]"))
    out, error = capsys.readouterr()
    assert out == ""
    assert error == "hello\nagain\n"


def distribution(folder: Path, name: str, entry: str) -> None:
    """Write the metadata of an installed distribution with an entry point."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[cchybrid]\n{entry}\n")


def test_installed_plugins_are_found_by_their_entry_points(load, tmp_path):
    distribution(tmp_path, "alpha", "sun = sunny")
    distribution(tmp_path, "beta", "sun = sunny")
    distribution(tmp_path, "gamma", "moon = sunny")
    distribution(tmp_path, "delta", "none = not_there")
    distribution(tmp_path, "epsilon", "list = sunny:THINGS")
    registry = load(sunny=GOOD + "THINGS = []\n")
    found = {(row.name, row.source): row.trouble for row in registry.plugins}
    assert found["moon", "gamma 1.0"] == ""
    assert found["none", "delta 1.0"] == "ModuleNotFoundError: No module named 'not_there'"
    assert found["list", "epsilon 1.0"] == "it implements no hook"
    assert found["sunny", MODULES_VARIABLE] == "is loaded already, as plugin moon"
    suns = {found["sun", "alpha 1.0"], found["sun", "beta 1.0"]}
    assert "is loaded already, as plugin moon" in suns
    assert suns & {f"another plugin is called sun already, from {d} 1.0" for d in ("alpha", "beta")}
    assert registry.engine("good")


def test_names_are_found_in_any_case_and_misspelt_ones_suggested(monkeypatch):
    monkeypatch.setenv(MODULES_VARIABLE, "tests.full_plugin")
    registry = load_registry()
    assert registry.engine("CpSat").name == "cpsat"
    assert registry.exporter("ARROWS").name == "arrows"
    with pytest.raises(InputError, match="no engine is called cpsta; did you mean cpsat"):
        registry.engine("cpsta")
    with pytest.raises(InputError, match="no export format is called q; see: cchybrid plugins"):
        registry.exporter("q")


FAILING = """
def boom(*arguments): raise TypeError("no\\nway")
@hookimpl
def cchybrid_topologies():
    return [
        TopologyInfo("boom", "boom-N", r"boom-(\\d+)", boom, "-", "boom-3"),
        TopologyInfo("none", "none-N", r"none-(\\d+)", print, "-", "none-3"),
    ]
@hookimpl
def cchybrid_collectives(): return [CollectiveInfo("boom", "boom", boom, "-")]
@hookimpl
def cchybrid_exporters():
    made = {"boom": boom, "bytes": lambda schedule: b"", "half": lambda schedule: "\\ud800"}
    return [ExporterInfo(name, export, "-") for name, export in made.items()]
@hookimpl
def cchybrid_importers():
    made = {"boom": boom, "text": lambda text, request: text}
    return [ImporterInfo(name, bool, read, "-") for name, read in made.items()]
"""


def test_a_record_that_fails_when_it_is_used_is_named(load):
    registry = load(failing=FAILING)
    assert registry.warnings == []
    for topology, collective, words in (
        ("boom-3", "AAS", "topology boom failed: TypeError: no way"),
        ("none-3", "AAS", "topology none made a NoneType, not a Network"),
        ("ring-bi-4", "boom", "collective boom failed: TypeError: no way"),
    ):
        with pytest.raises(PluginError, match=f"^plugin failing: {words}$"):
            cchybrid.instance(topology, collective)
    for exporter, words in (
        ("boom", "boom failed: TypeError"),
        ("bytes", "bytes made a bytes, not a str"),
        ("half", "half failed: UnicodeEncodeError"),
    ):
        with pytest.raises(PluginError, match=f"^plugin failing: exporter {words}"):
            registry.exporter(exporter).export(None)  # type: ignore[arg-type]
    for importer, words in (
        ("boom", "boom failed: TypeError: no way"),
        ("text", "text made a str, not a Imported"),
    ):
        with pytest.raises(PluginError, match=f"^plugin failing: importer {words}"):
            registry.importer(importer).read("?", ImportRequest())


def test_an_engine_that_cannot_be_loaded_is_named(load, capsys):
    load(half=engines("return [EngineInfo('half', 'half:Absent', '-')]"))
    assert run(["engines", "half"]) == 2
    assert capsys.readouterr().err.startswith("cchybrid: engine half cannot be loaded: Attribute")


def test_cchybrid_plugins_shows_what_is_wrong(load):
    load(broken="print('{'); raise ValueError('out of order')", good=GOOD)
    done = CliRunner().invoke(app, ["plugins"])
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "ValueError: out of order" in shown
    assert "good CCHYBRID_PLUGINS ok engine good" in shown
    assert shown.index("broken CCHYBRID_PLUGINS") < shown.index("core cchybrid")
    done = CliRunner().invoke(app, ["network", "ring-bi-4", "--json"])
    assert json.loads(done.stdout)["nodes"] == 4
    assert done.stderr.count("broken") == 1
    assert "cchybrid: warning: plugin broken: ValueError: out of order" in done.stderr
    for words in ("engines", "engines good", "collectives", "topologies", "topologies ring-bi-4"):
        assert CliRunner().invoke(app, words.split()).stderr.count("plugin broken: ValueE") == 1


@pytest.mark.parametrize(("total", "status"), [(6, 0), (7, 1)])
def test_a_plugin_checks_files_of_its_format(total, status, tmp_path, monkeypatch):
    monkeypatch.setenv(MODULES_VARIABLE, "tests.full_plugin")
    file = tmp_path / "numbers.json"
    file.write_text(json.dumps({"format": "total/1", "numbers": [1, 2, 3], "total": total}))
    done = CliRunner().invoke(app, ["check", str(file), "--json"])
    assert (done.exit_code, json.loads(done.stdout)) == (status, {"holds": not status})
    with pytest.raises(InputError, match="no plugin checks it without a certificate"):
        CliRunner().invoke(app, ["check", str(tmp_path)], catch_exceptions=False)  # no such folder


def test_a_check_that_cannot_be_imported_is_named(load):
    registry = load(
        lost="from cchybrid.plugin import CheckInfo\n@hookimpl\n"
        "def cchybrid_checks(): return [CheckInfo('lost/1', 'nowhere:check', '-')]\n"
    )
    with pytest.raises(PluginError, match="plugin lost: check lost/1: ModuleNotFoundError"):
        registry.load("check", registry.checks["lost/1"])


@pytest.mark.slow
def test_a_plugins_bound_alone_proves_an_optimum(monkeypatch):
    monkeypatch.setenv(MODULES_VARIABLE, "tests.full_plugin")
    registry = load_registry()
    registry.bounds = {"halves": registry.bounds["halves"]}
    seen: list[Any] = []
    registry.observers.append(("test", seen.append))
    instance = cchybrid.instance("double-star-2", "swap")
    result = cchybrid.solve(instance, engines=["plain"], time_limit=20, registry=registry)
    assert (result.steps, result.status, result.certified) == (3, "optimal", True)
    assert result.bound_by == "halves"
    assert seen[-1]["event"] == "result"


def test_former_names_of_engines_work_and_name_the_present_one(load, capsys):
    text = "return [EngineInfo('new', 'nowhere:New', '-', former_names=('Old', 'Older'))]"
    registry = load(renamed=engines(text))
    assert registry.warnings == []
    assert registry.engine("OLD") is registry.engine("old") is registry.engine("new")
    assert capsys.readouterr().err == "cchybrid: engine old is now new\n"
    assert registry.engine("tabu").name == "tabu"
    assert [registry.current_name(name) for name in ("TABU", "growth")] == ["tabu", "growth"]
    assert capsys.readouterr().err == ""


@pytest.mark.long
def test_a_run_takes_the_former_names_of_engines_and_options(capsys):
    options = {"milp": {"starts": 2}, "covering": {"columns": 3}}
    mesh = cchybrid.instance("mesh-3x3", "AAS")
    result = cchybrid.solve(mesh, engines=["milp"], evaluations=5, options=options)
    found = result.options["covering"]
    assert (found["starts"], found["columns"]) == (2, 3)
    assert capsys.readouterr().err == "cchybrid: engine milp is now covering\n"


def test_a_plugin_names_others_and_each_is_loaded_by_itself(load):
    named = "@hookimpl\ndef cchybrid_plugins(): return ['first', 'absent', 'second']\n"
    registry = load(several=named, first=GOOD, second=GOOD.replace("good", "better"))
    # ``first`` and ``second`` are also in the variable, where they are refused as loaded already.
    assert [row.name for row in registry.plugins[-6:-2]] == [
        "several",
        *(f"several.{name}" for name in ("first", "absent", "second")),
    ]
    assert registry.provider["engine", "better"] == "several.second"
    assert row_of(registry, "several.absent").trouble.startswith("ModuleNotFoundError")
    assert row_of(registry, "several").trouble == ""
    wrong = "@hookimpl\ndef cchybrid_plugins(): return [7]\n"
    assert "7 is no name of a module" in row_of(load(wrong=wrong), "wrong").trouble


def test_a_plugin_adds_a_name_to_cchybrid(load):
    text = """
from cchybrid.plugin import NameInfo
def twice(x): return 2 * x
@hookimpl
def cchybrid_names():
    return [NameInfo("twice", f"{__name__}:twice"), NameInfo("solve", f"{__name__}:twice")]
"""
    load(naming=text)
    try:
        assert "twice" in dir(cchybrid)
        assert cchybrid.twice(4) == 8
        assert cchybrid.solve.__module__ == "cchybrid.host.api"
        with pytest.raises(AttributeError, match="did you mean twice"):
            cchybrid.twic  # noqa: B018
    finally:
        vars(cchybrid).pop("twice", None)


@pytest.mark.parametrize(
    ("hook", "record", "words"),
    [
        ("collectives", "CollectiveInfo('allgather', 'x', print, '-')",
         "collective allgather is already provided by plugin core"),
        ("collectives", "CollectiveInfo('A_A-B', 'x', print, '-')",
         "collective A_A-B is already provided by plugin core"),
        ("collectives", "CollectiveInfo('own', 'x', print, '-', aliases=('mine', 'aab'))",
         "its name aab is one of AAB"),
        ("engines", "EngineInfo('MILP', 'nowhere:New', '-')",
         "is already provided by plugin cchybrid.engines.covering"),
        ("engines", "EngineInfo('new', 'nowhere:New', '-', former_names=('Tabu',))",
         "is already provided by plugin cchybrid.engines.tabu"),
        ("engines", "EngineInfo('Cut', 'nowhere:New', '-')",
         "engine Cut: cut is the name of a part of cchybrid"),
        ("engines", "EngineInfo('new', 'nowhere:New', '-', former_names=('growth',))",
         "engine new: growth is the name of a part of cchybrid"),
        ("engines", "EngineInfo('new', 'nowhere:New', '-', former_names=('host',))",
         "engine new: host is the name of a part of cchybrid"),
        ("engines", "EngineInfo('Refutation', 'nowhere:New', '-')",
         "engine Refutation: refutation is the name of a part of cchybrid"),
        ("engines", "EngineInfo('Partial-sums', 'nowhere:New', '-')",
         "engine Partial-sums: partial-sums is the name of a part of cchybrid"),
        ("engines", "EngineInfo('fewest-rounds', 'nowhere:New', '-')",
         "engine fewest-rounds: fewest-rounds is the name of a part of cchybrid"),
        ("designers", "DesignerInfo('start', 'nowhere:New', '-')",
         "designer start: start is the name of a part of cchybrid"),
        ("bounds", "BoundInfo('Linear', 'nowhere:new', '-')",
         "bound Linear: linear is the name of a part of cchybrid"),
        ("bounds", "BoundInfo('reach', 'nowhere:new', '-')",
         "bound reach: reach is the name of a part of cchybrid"),
        ("bounds", "BoundInfo('MILP', 'nowhere:new', 'as covering was called')",
         "bound MILP: milp is the name of a part of cchybrid"),
        ("strategies", "StrategyInfo('liquid', 'nowhere:New', 'as covering was called')",
         "strategy liquid: liquid is the name of a part of cchybrid"),
        ("checks", "CheckInfo('CCHYBRID-schedule/2', 'nowhere:check', '-')",
         "such files are checked by cchybrid alone"),
        ("names", "NameInfo('checker', 'nowhere:there', '-')",
         "name checker: cchybrid has it already"),
        ("names", "NameInfo('solve', 'nowhere:there', '-')", "name solve: cchybrid has it already"),
        ("proof_formats", "ProofFormatInfo('JSON', 'nowhere:write', '-')",
         "proof format JSON: prove has an option of this name"),
    ],
)  # fmt: skip
def test_no_plugin_takes_what_is_of_cchybrid(load, hook, record, words):
    registry = load(thief=f"@hookimpl\ndef cchybrid_{hook}(): return [{record}]\n")
    (warning,) = registry.warnings
    assert words in warning
    assert row_of(registry, "thief").provides == ()


SUBCLASS = """
from cchybrid.model import Network
from cchybrid.plugin import TopologyInfo, hookimpl
class Other(Network):
    def to_json(self):
        return Network.from_links("pair", 2, [(0, 1)]).to_json()
def build():
    return Other("ring", 3, ((0, 1, 1), (1, 2, 1), (2, 0, 1)))
@hookimpl
def cchybrid_topologies():
    return [TopologyInfo("other", "other", "other", build, "-", "other")]
"""


def test_a_topology_that_makes_a_subclass_of_a_network_is_refused(load):
    """Files and the checker would get another network than the referee."""
    registry = load(liar=SUBCLASS)
    with pytest.raises(PluginError, match="topology other made a Other, not a Network"):
        registry.topologies["other"].build()


def test_the_options_of_prove_are_those_that_no_format_may_have(capsys):
    assert run(["prove", "--help"]) == 0
    shown = set(re.findall(r"(?<![\w-])-{1,2}([a-z][a-z-]*)", capsys.readouterr().out))
    formats = {*load_registry().proof_formats, "claim-text"}  # that of tests.full_plugin
    assert shown - formats == OPTIONS_OF_PROVE
