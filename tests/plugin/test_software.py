"""Versions of plugins, and digests of the code of engines."""

from pathlib import Path

import pytest

from cchybrid.plugin.software import digest_of_code, software


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "alone_engine.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("y = 1\n")
    (tmp_path / "packed_engine" / "inner").mkdir(parents=True)
    for name in ("__init__.py", "engine.py", "inner/__init__.py", "inner/moves.py"):
        (tmp_path / "packed_engine" / name).write_text(f"# {name}\n")
    return tmp_path


def test_the_digest_of_a_module_is_of_its_file_alone(folder):
    before = digest_of_code("alone_engine")
    (folder / "other.py").write_text("y = 2\n")
    assert digest_of_code("alone_engine") == before
    (folder / "alone_engine.py").write_text("x = 2\n")
    assert digest_of_code("alone_engine") != before


def test_the_digest_of_a_package_is_of_all_its_files(folder):
    before = digest_of_code("packed_engine.engine")
    (folder / "packed_engine" / "inner" / "moves.py").write_text("z = 1\n")
    assert digest_of_code("packed_engine.engine") != before


def test_the_digest_is_also_of_what_is_imported_beside_it(folder):
    (folder / "alone_engine.py").write_text("def f():\n    from other import y\n")
    before = digest_of_code("alone_engine")
    (folder / "other.py").write_text("y = 2\n")
    assert digest_of_code("alone_engine") != before


@pytest.mark.parametrize(
    "code",
    [
        '"""Targets come from .. import them."""\nfrom other import y\n',
        'SEP = "#"; from other import y\n',
        "import os, \\\r\n    other\r\n",
        "from os import (  # this\n    path,  # and that\n)\nimport other  # too\n",
        "from\fother\fimport y\n",
    ],
)
def test_texts_and_comments_hide_no_import(folder, code):
    (folder / "alone_engine.py").write_text(code, newline="")
    (folder / "other.py").write_text("y = 1\n")
    before = digest_of_code("alone_engine")
    (folder / "other.py").write_text("y = 2\n")
    assert digest_of_code("alone_engine") != before


def test_the_digest_is_also_of_a_package_beside_a_module(folder):
    (folder / "alone_engine.py").write_text("import packed_engine\nimport numpy\n")
    (folder / "packed_engine" / "__init__.py").write_text("from .inner.moves import z\n")
    before = [digest_of_code("alone_engine")]
    (folder / "packed_engine" / "inner" / "moves.py").write_text("import other\n")
    before.append(digest_of_code("alone_engine"))
    (folder / "other.py").write_text("y = 2\n")
    assert len({*before, digest_of_code("alone_engine")}) == 3
    (folder / "packed_engine" / "engine.py").write_text("unused = 1\n")
    changed = digest_of_code("alone_engine")
    (folder / "installed-1.dist-info").mkdir()  # a folder of installed packages is not its own
    assert digest_of_code("alone_engine") != changed


@pytest.mark.parametrize("name", ["engine", "__init__", "moves", "inner/moves", "inner/__init__"])
def test_the_digest_is_also_of_a_module_beside_a_package(folder, name):
    (folder / "packed_engine" / f"{name}.py").write_text("from other import y\n")
    (folder / "packed_engine" / "inner" / "no_python.py").write_text("print 1\n")
    before = digest_of_code("packed_engine.engine")
    (folder / "other.py").write_text("y = 2\n")
    assert digest_of_code("packed_engine.engine") != before


@pytest.mark.parametrize("line", ["from ..moves import a", "from .. import moves",
                                  "import packed_engine.moves"])  # fmt: skip
def test_the_digest_is_of_imported_modules_of_the_package(folder, line):
    (folder / "packed_engine" / "inner" / "engine.py").write_text(line)
    moves = folder / "packed_engine" / "moves.py"
    moves.write_text("from packed_engine import values\n")
    before = [digest_of_code("packed_engine.inner.engine")]
    (folder / "packed_engine" / "values.py").write_text("b = 1\n")
    before.append(digest_of_code("packed_engine.inner.engine"))
    moves.write_text("a = 2\n")
    changed = digest_of_code("packed_engine.inner.engine")
    assert len({*before, changed}) == 3
    (folder / "packed_engine" / "unused.py").write_text("c = 1\n")
    assert digest_of_code("packed_engine.inner.engine") == changed


def test_what_cannot_be_read_is_unknown(folder):
    assert digest_of_code("no_such_module.engine") == "unknown"
    (folder / "packed_engine" / "bad.py").mkdir()
    assert digest_of_code("packed_engine.engine") == "unknown"


def test_plugins_and_engines_by_name(folder, monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", " alone_engine ,")
    found = software({"b": "packed_engine.engine:B", "a": "alone_engine:A"})
    assert list(found) == ["plugin alone_engine", "engine a", "engine b"]
    assert found["plugin alone_engine"] == found["engine a"] != found["engine b"]
