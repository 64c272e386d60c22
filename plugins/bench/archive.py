"""The archive: the best known schedule and certificate of every instance, as files.

``index.csv`` has a line per suite and instance; ``entries/`` has the files that it names. A file
has two lines of JSON, the schedule and its certificate (``null`` without one), compressed by gzip.
A better entry is a new file, which counts from the moment in which the index is replaced: an
interrupted write leaves the old entry.
"""

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections import namedtuple
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError, Verdict, check
from cchybrid.checker.certificate import own_scope
from cchybrid.host.certificates import certificate
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder, read_text, write_bytes, write_text
from cchybrid.model.shown import counted
from cchybrid.model.text import csv_text
from cchybrid.referee.verify import refuse_invalid

INDEX, ENTRIES = "index.csv", "entries"
OTHER = "other"
"""The suite of instances that belong to none."""
MAX_ENTRY_BYTES = 1_000_000
"""Size above which the file of an entry is left out."""
DAMAGED_HINT = "take it from the repository again"
NEW_HINT = "name an archive, or a new folder"


_Columns = namedtuple(
    "_Columns", "suite instance steps bound certified engine version seed file note digest"
)


class Entry(_Columns):
    """A line of the index.

    Attributes
    ----------
    suite, instance
        The suite, and the name of its row.
    steps
        The steps of the schedule.
    bound, certified
        Steps that the certificate proves to be needed, 0 without one; and ``yes`` or ``no``.
    engine, version, seed
        The engine that found the schedule, the version of cchybrid and the seed, if they are known.
    file, note
        The file in ``entries/``, or the reason why there is none.
    digest
        The SHA-256 of the instance.
    """

    @property
    def words(self) -> str:
        """The steps and the bound in words."""
        word = f"at least {self.bound}" if self.bound else "no bound"
        return f"{counted(self.steps, 'step')}, {'optimal' if self.steps == self.bound else word}"


class Archive:
    """A folder of best known schedules, which is made when it gets its first entry.

    Raises
    ------
    InputError
        Its index is damaged, or it has files but no index.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: dict[tuple[str, str], Entry] = {}
        path = folder / INDEX
        if not path.exists():
            if folder.is_dir() and any(folder.iterdir()):
                raise InputError("no archive, and not empty", where=str(folder), hint=NEW_HINT)
            return
        head, *lines = [*csv.reader(io.StringIO(read_text(path)))] or [[]]
        try:
            if tuple(head) != Entry._fields:
                raise ValueError("its first line names other columns")
            for suite, row, steps, bound, *rest in lines:
                entry = Entry._make((suite, row, int(steps), int(bound), *rest))
                self.entries[suite, row] = entry
        except (ValueError, TypeError, csv.Error) as error:
            raise InputError(f"damaged: {error}", where=str(path), hint=DAMAGED_HINT) from None

    def records(self, entry: Entry) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return the JSON objects of the schedule and the certificate of an entry with a file."""
        path = self.folder / ENTRIES / entry.file
        try:
            schedule, proof = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise InputError(f"damaged: {error}", where=str(path), hint=DAMAGED_HINT) from None
        return schedule, proof

    def add(
        self, schedule: Schedule, proof: Any = None, names: Collection[tuple[str, str]] = ()
    ) -> tuple[str, Entry]:
        """Verify a schedule and its certificate; replace the archive's where they are better.

        Parameters
        ----------
        proof
            A certificate about steps; by default it is made of the lower bound of the schedule.
        names
            Suites and rows of the instance, beside those that the archive has already.

        Returns
        -------
        tuple
            ``new``, ``better`` or ``not better``, and an entry of the instance.

        Raises
        ------
        InputError
            The schedule is not valid, or another instance has one of the names.
        EvidenceError
            The bound is not proven.
        """
        refuse_invalid(schedule)
        record, digest = schedule.to_json(), schedule.instance.digest
        stated = record.pop("lower_bound", None)
        if proof is None and stated is not None and stated["evidence"]:
            claim = {"steps": stated["steps"], "scope": own_scope(record["instance"])}
            made_by = record.get("made_by", {})
            proof = certificate(record["instance"], claim, stated["evidence"], made_by)
        bound = _bound(record, proof)
        known = next((each for each in self.entries.values() if each.digest == digest), None)
        names = names or ([] if known else [(OTHER, schedule.instance.full_name)])
        for name in names:
            if name in self.entries and self.entries[name].digest != digest:
                words = "the archive has another instance of this name"
                raise InputError(words, where=": ".join(name), hint="name it otherwise")
        if known is not None:
            fewer, higher = len(schedule.steps) < known.steps, bound > known.bound
            if known.file and fewer != higher:
                old = self.records(known)
                record, proof = (record, old[1]) if fewer else (old[0], proof)
                bound = _bound(record, proof)
            worse = len(record["steps"]) > known.steps or bound < known.bound
            if worse or not (fewer or higher):
                if known.file:
                    self.records(known)
                return "not better", self._write_index(known, names)
        make_folder(self.folder / ENTRIES)
        text = f"{json.dumps(record)}\n{json.dumps(proof)}\n"
        packed = gzip.compress(text.encode(), mtime=0)
        words = re.sub(r"[^a-z0-9]+", "-", schedule.instance.name.lower()).strip("-")[:60]
        file, note = f"{words}-{hashlib.sha256(packed).hexdigest()[:8]}.jsonl.gz", ""
        if len(packed) > MAX_ENTRY_BYTES:
            file, note = "", f"no file: {len(packed):,} of {MAX_ENTRY_BYTES:,} bytes"
        else:
            write_bytes(packed, self.folder / ENTRIES / file)
        made_by, certified = record.get("made_by", {}), "no" if proof is None else "yes"
        found_by = (str(made_by.get(key, "")) for key in ("engine", "version", "seed"))
        values = len(record["steps"]), bound, certified, *found_by, file, note, digest
        found = self._write_index(Entry("", "", *values), names)
        if known is not None and known.file and known.file != file:
            (self.folder / ENTRIES / known.file).unlink(missing_ok=True)
        return "better" if known else "new", found

    def _write_index(self, found: Entry, names: Collection[tuple[str, str]]) -> Entry:
        """Write the index with an entry under all names of its instance; return one of them."""
        old = [name for name, entry in self.entries.items() if entry.digest == found.digest]
        for suite, row in [*old, *names]:
            found = self.entries[suite, row] = found._replace(suite=suite, instance=row)
        rows = (self.entries[name] for name in sorted(self.entries))
        write_text(csv_text([Entry._fields, *rows]), self.folder / INDEX)
        return found


def _bound(record: Mapping[str, Any], proof: Mapping[str, Any] | None) -> int:
    """Return the steps that a certificate proves, checked with its schedule; 0 without one."""
    if proof is None:
        return 0
    verdict = check(record, proof)
    if not isinstance(verdict, Verdict):
        raise EvidenceError("the certificate is about rounds, and the archive is about steps")
    return verdict.bound
