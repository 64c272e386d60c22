"""The machine on which this process runs, in words."""

import contextlib
import os
import platform
from pathlib import Path

from cchybrid.system.processes import processor_count, total_memory


def processor_model() -> str:
    """Return the model of the processor as the kernel names it (Linux), else its architecture."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name" and model.strip():
                return " ".join(model.split())
    return platform.processor() or platform.machine() or "unknown processor"


def machine() -> str:
    """Return processor, processors that this process may use, memory, system and Python."""
    usable, present = processor_count(), os.cpu_count() or 1
    count = f"{usable} of {present}" if usable < present else str(present)
    memory = total_memory()
    size = "unknown" if memory is None else f"{memory / (1 << 30):.1f} GiB"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        f"{processor_model()}, processors: {count}, memory: {size}, {platform.platform()}, {python}"
    )
