"""Snapshots of the store's subscriptions: index folders that the workers of a machine open, map and share.

A snapshot holds the subscriptions as they stood at a log position, read under one ontology version. It is never
changed. What has changed since, a worker takes from the store. So any snapshot will do, and a near one is quicker.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError, OntologyError
from triplewire.matching.engine.chunks import Chunk, compile_chunks, put_together
from triplewire.matching.engine.files import ArrayFolder, write_arrays
from triplewire.matching.engine.folder import open_current
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.segment import Segment
from triplewire.pipeline.packing import BETWEEN, unpack
from triplewire.pipeline.session import LOG_LINE
from triplewire.store import Revision, Store
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import Subscription

log = logging.getLogger(__name__)

STORE = "TRIPLEWIRE_STORE"
FEW = 1000
"""So few subscriptions every worker reads for itself."""
DUE = 2000, 20
"""So many changes, and one to so many subscriptions, are worth a new snapshot."""
KEPT = 2
"""How many snapshots of an ontology version are kept: one may just be being opened."""

SHARE = 5000
"""So many subscriptions are worth a process more to compile them."""
MODULE = "triplewire.pipeline.snapshots"

_NAME = re.compile(r"\d+@\d+\.\d+")


class Snapshot(NamedTuple):
    """The subscriptions that were valid for the next event after ``position``, up to the ``change`` of that number."""

    ontology: int
    position: int
    change: int

    @property
    def name(self) -> str:
        return f"{self.ontology}@{self.position}.{self.change}"

    @classmethod
    def called(cls, name: str) -> Snapshot:
        """The snapshot of a name."""
        return cls(*map(int, re.split("[@.]", name)))


class Snapshots:
    """The snapshots in a folder. Whoever lacks one makes it, and whoever lacks the same one meanwhile waits for it."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self._store = store

    def newest(self, ontology: int | None = None) -> Snapshot | None:
        """The newest snapshot, if told under an ontology version."""
        return max((one for one in self._all() if ontology in (None, one.ontology)), default=None)

    def path(self, snapshot: Snapshot) -> Path:
        return self.folder / snapshot.name

    def find(self, ontology: int) -> Snapshot | None:
        """A snapshot under an ontology version, made if there is none; None if there are few subscriptions."""
        return self.newest(ontology) or self.make(ontology)

    def make(self, ontology: int) -> Snapshot | None:
        """Make a snapshot of what is now if one is due; returns the newest."""
        if self.is_due(ontology):
            with self._alone():
                if self.is_due(ontology):
                    self._write(Snapshot(ontology, self._store.last_position(), self._store.last_change()))
        return self.newest(ontology)

    def is_due(self, ontology: int) -> bool:
        """Whether enough has changed since the newest snapshot, or there is none and more than a few subscriptions."""
        now = self._store.last_position() + 1
        newest = self.newest(ontology)
        if newest is None:
            return self._store.count_revisions(now) > FEW
        least, share = DUE
        changed = self._store.count_changes(newest.position, now, newest.change)
        return changed > least and changed > self._store.count_revisions(now) // share  # to count all takes long

    def take(self, packages: Iterable[Path]) -> None:
        """Unpack snapshots that were sent here, and remove those that nobody needs any more."""
        for package in packages:
            name = package.stem.rpartition(BETWEEN)[2]
            if unpack(package, self.folder / name):
                log.info("snapshot %s has come", name)
                self._clean(max(self._all()).ontology)

    def _write(self, snapshot: Snapshot) -> None:
        unfinished = self.folder / "unfinished"
        for left in (unfinished, *self.folder.glob("chunks-*")):  # by one who was killed
            shutil.rmtree(left, ignore_errors=True)
        model = load_version(self._store, snapshot.ontology)
        with TemporaryDirectory(prefix="chunks-", dir=self.folder) as chunks:
            put = self._put_together(snapshot, model, Path(chunks))
        index = Index.of(put, model)
        index.save(unfinished)
        index.close()
        unfinished.rename(self.path(snapshot))
        log.info("made snapshot %s of %d subscriptions", snapshot.name, len(index))
        self._clean(snapshot.ontology)

    def _put_together(self, snapshot: Snapshot, model: ConceptModel, folder: Path) -> Segment:
        """The subscriptions of a snapshot, of which each core understands a part."""
        cores = len(os.sched_getaffinity(0))
        parts = max(min(cores, self._store.count_revisions(snapshot.position + 1) // SHARE), 1)
        helpers = [
            _run(self._store, self.folder, snapshot.name, folder / str(part), part, parts) for part in range(1, parts)
        ]
        try:
            chunks = list(self._chunks(snapshot, model, 0, parts))
            for part, helper in enumerate(helpers, start=1):
                if helper.wait() != 0:
                    raise RuntimeError(f"part {part} of snapshot {snapshot.name} could not be compiled")
                found = sorted((folder / str(part)).iterdir())
                chunks += [ArrayFolder.open(one).value("chunk", Chunk) for one in found]
        finally:
            for helper in helpers:
                helper.terminate()
                helper.wait()
        return put_together(chunks, model, [np.zeros(len(chunk), np.bool_) for chunk in chunks])

    def write_part(self, snapshot: Snapshot, folder: Path, part: int, parts: int) -> None:
        """Write one of some parts of what a snapshot will hold, as chunks."""
        folder.mkdir()
        model = load_version(self._store, snapshot.ontology)
        for number, chunk in enumerate(self._chunks(snapshot, model, part, parts)):
            write_arrays(folder / f"{number:06}", {"chunk": chunk}, {})

    def _chunks(self, snapshot: Snapshot, model: ConceptModel, part: int, parts: int) -> Iterator[Chunk]:
        valid = self._store.valid_revisions(snapshot.position + 1, part, parts)
        return compile_chunks((one for r in valid if (one := read_revision(r, model)) is not None), model)

    def drop_unfit(self) -> None:
        """Remove the snapshots that another version of the software has written, and this one cannot read."""
        with self._alone():
            for one in self._all():
                try:
                    open_current(self.path(one))
                except IndexFolderError as error:
                    log.info("snapshot %s is made anew: %s", one.name, error)
                    shutil.rmtree(self.path(one), ignore_errors=True)

    def _clean(self, ontology: int) -> None:
        """Remove what nobody begins from any more: all but the latest of this ontology version and the latest two."""
        found = sorted(self._all())
        for one in found:
            later = [other for other in found if other.ontology == one.ontology and other > one]
            if len(later) >= KEPT or one.ontology < min(ontology, found[-1].ontology - 1):
                shutil.rmtree(self.path(one), ignore_errors=True)

    def _all(self) -> list[Snapshot]:
        names = (_NAME.fullmatch(path.name) for path in self.folder.glob("*@*"))
        return [Snapshot.called(name[0]) for name in names if name]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "LOCK").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Keeper:
    """Has snapshots made before a worker would have to wait for one, by a process of its own."""

    def __init__(self, snapshots: Snapshots, store: Store) -> None:
        self._snapshots = snapshots
        self._store = store
        self._seen = (-1, -1, -1)
        self._process: subprocess.Popen[bytes] | None = None

    def look(self) -> None:
        """Begin to make a snapshot if one is due and none is being made."""
        now = self._store.last_position() + 1
        seen = (self._store.ontology_version(now), self._store.last_boundary(now), self._store.last_change())
        if seen != self._seen and not self.at_work():
            self._seen = seen
            if self._snapshots.is_due(seen[0]):
                self._process = _run(self._store, self._snapshots.folder, seen[0])

    def at_work(self) -> bool:
        """Whether a snapshot is being made."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


def _run(store: Store, *arguments: object) -> subprocess.Popen[bytes]:
    """Run this module in a process of its own."""
    where = {**os.environ, STORE: store.url}  # which may hold a password, so it is no argument
    return subprocess.Popen([sys.executable, "-m", MODULE, *map(str, arguments)], env=where)


def load_version(store: Store, version: int) -> ConceptModel:
    """The concept model of an ontology version; a document that cannot be read is left out."""

    def leave_out(error: OntologyError) -> None:
        log.error("ontology version %d: a document is left out: %s", version, error)

    ontology = store.ontology(version)
    return model_of_documents(ontology.documents if ontology else (), leave_out)


def read_revision(revision: Revision, model: ConceptModel) -> Subscription | None:
    """The subscription of a revision. Whatever is wrong with one, the others go on."""
    try:
        return parse_subscription(revision.record, model)
    except Exception as error:
        log.warning("subscription %r is left out: %s", revision.id, error)
        return None


def main(folder: str, asked: str, *rest: str) -> None:
    """Make the snapshot of an ontology version that is due, or a part of the one of a name."""
    logging.basicConfig(format=LOG_LINE)
    log.setLevel(logging.INFO)
    snapshots = Snapshots(Path(folder), Store(os.environ[STORE]))
    if rest:
        place, part, parts = rest
        snapshots.write_part(Snapshot.called(asked), Path(place), int(part), int(parts))
    else:
        snapshots.make(int(asked))


if __name__ == "__main__":
    main(*sys.argv[1:])
