"""The machine in words: whatever the system does not tell is called unknown, or named coarsely."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from cchybrid.system import machine
from cchybrid.system.processes import processor_count


def test_it_names_processor_memory_system_and_python():
    text = machine.machine()
    model, processors, memory, *_ = text.split(", ")
    assert model == machine.processor_model() != ""
    assert processors.startswith(f"processors: {processor_count()}")
    assert float(memory.removeprefix("memory: ").removesuffix(" GiB")) > 0
    assert platform.platform() in text
    assert text.endswith(f"Python {platform.python_version()}")
    assert platform.node() not in (*text.split(", "), *text.split())  # nothing names its owner


def test_a_process_that_may_use_some_of_the_processors(monkeypatch):
    monkeypatch.setattr(machine, "processor_count", lambda: 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(machine, "total_memory", lambda: None)
    assert ", processors: 3 of 64, memory: unknown, " in machine.machine()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processor\t: 0\nmodel name\t: AMD  EPYC 7763\nmodel name\t: other\n", "AMD EPYC 7763"),
        ("processor\t: 0\nBogoMIPS\t: 50\n", "arch"),  # as of ARM
        (None, "arch"),  # as of macOS
    ],
)
def test_the_model_of_the_processor(text, expected, monkeypatch):
    def read(path: Path) -> str:
        if text is None:
            raise OSError
        return text

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arch")
    assert machine.processor_model() == expected
