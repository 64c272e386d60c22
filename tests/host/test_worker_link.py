"""The watch over an engine: silent is one that does not call its run, not one that sends."""

from __future__ import annotations

import os
import threading
import time

import pytest

from cchybrid.host import worker_link
from cchybrid.host.worker_link import WorkerLink


@pytest.mark.parametrize("size", [0, 10_000_000])
def test_an_engine_whose_large_event_waits_to_be_read_is_not_silent(monkeypatch, size):
    monkeypatch.setattr(worker_link, "TICK_SECONDS", 0.01)
    near, far = os.pipe()
    with os.fdopen(near, "rb") as read, os.fdopen(far, "wb") as written:
        run = WorkerLink({"budget": {}, "seed": 0, "threads": 1}, written)
        threading.Thread(target=worker_link._watch, args=(run,), daemon=True).start()
        run.working = True
        if size:
            sender = threading.Thread(target=run.send, args=("offer",), kwargs={"x": " " * size})
            sender.start()
        time.sleep(1.0)
        run.working = False
        if size:
            assert len(read.readline()) > size
            sender.join()
        run.send("end")
        assert (b'"silent"' in read.readline()) == (not size)
