"""The index: how fast it changes and opens.

A change outlives its process when ``add`` or ``remove`` returns, and a crash of the machine after ``sync``.
Times are the process's own, but for opening, where they are the clock's.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from zlib import crc32

from pyoxigraph import NamedNode

from benchmarks.report import report
from benchmarks.workloads import attributes as filters
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.files import HEADER
from triplewire.matching.engine.folder import current_name
from triplewire.matching.engine.index import Index
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    ClassConstraint,
    Pattern,
    Scope,
    Subscription,
    Variable,
)

T = TypeVar("T")

MODEL = ConceptModel()
PROPERTIES = [NamedNode(f"http://example.org/p{n}") for n in range(10)]
CLASSES = [NamedNode(f"http://example.org/C{n}") for n in range(100)]


def ops_sized(rng: random.Random, number: int) -> Subscription:
    """A pattern as in the OPS paper's figure 8: ten vertices, each of a class, and eleven arcs."""
    vertices = [HOME, *(Variable(str(n)) for n in range(1, 10))]
    ends = [(vertices[rng.randrange(n)], vertices[n]) for n in range(1, 10)]
    ends += [tuple(rng.sample(vertices, 2)) for _ in range(2)]  # type: ignore[misc]
    arcs = tuple(Arc(s, rng.choice(PROPERTIES), o, Scope.RELATIONS) for s, o in ends)
    classes = tuple(ClassConstraint(vertex, rng.choice(CLASSES)) for vertex in vertices)
    return Subscription(f"s{number:07}", (Alternative(Pattern(arcs, classes, mapping="injective")),))


def changes(size: int, changed: int = 3000) -> dict[str, object]:
    """A row of the table of changes: an index of a size, in memory and then in a folder."""
    rng = random.Random(1)
    drawn = [ops_sized(rng, number) for number in range(size + 2 * changed)]
    index = Index.build(drawn[:size], MODEL)
    in_memory, _ = _seconds(lambda: [index.add(one) for one in drawn[size : size + changed]])
    with TemporaryDirectory() as folder:
        index.save(Path(folder, "index"))
        in_folder, _ = _seconds(lambda: [index.add(one) for one in drawn[size + changed :]])
        removed, _ = _seconds(lambda: [index.remove(one.id) for one in drawn[size:]])
        index.merge()
        index.close()
        opened = min(_clock(lambda: Index.open(Path(folder, "index"))) for _ in range(5))
        first = _clock(lambda: Index.open(Path(folder, "index")).match(filters.event(rng, 1)))
        size_on_disk = sum(path.stat().st_size for path in Path(folder, "index").rglob("tables.bin")) / 2
    return {
        "subscriptions": f"{size:,}",
        "added a second": f"{changed / in_memory:,.0f}",
        "with a journal": f"{changed / in_folder:,.0f}",
        "removed a second": f"{2 * changed / removed:,.0f}",
        "opened, ms": f"{opened * 1000:.1f}",
        "opened and first match, ms": f"{first * 1000:.0f}",
        "bytes a subscription": f"{size_on_disk / size:.0f}",
    }


def opening(sizes: tuple[int, ...] = (10_000, 1_000_000, 10_000_000)) -> list[dict[str, object]]:
    """The rows of the table of opening: the folder of the first size, and others with files as large as that makes."""
    rng = random.Random(1)
    rows: list[dict[str, object]] = []
    with TemporaryDirectory() as folder:
        index = Index.build((ops_sized(rng, number) for number in range(sizes[0])), MODEL)
        index.save(Path(folder, "index"))
        index.close()
        for size in sizes:
            place = Path(folder, str(size))
            shutil.copytree(Path(folder, "index"), place)
            total = _enlarge(place / current_name(place), size // sizes[0])
            opened = sorted(_clock(lambda place=place: Index.open(place)) for _ in range(9))  # type: ignore[misc]
            rows.append(
                {
                    "subscriptions": f"{size:,}",
                    "MB": f"{total >> 20:,}",
                    "opened, ms": f"{opened[0] * 1000:.1f}",
                    "the middle of nine": f"{opened[4] * 1000:.1f}",
                }
            )
    return rows


def _enlarge(version: Path, times: int) -> int:
    """Make the files of a version many times as large, with nothing in them; returns how large all are then.

    Nothing but their size is looked at when they are opened, if they are large.
    """
    header = json.loads((version / HEADER).read_text().splitlines()[0])
    for name, told in header["files"].items():
        if name != "model.bin":
            told["size"] *= times
            os.truncate(version / name, told["size"])
    head = json.dumps(header).encode()
    (version / HEADER).write_bytes(b"%s\n%08x\n" % (head, crc32(head)))
    return sum(told["size"] for told in header["files"].values())


def _seconds(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    changes(100)  # so that everything is compiled
    told = (
        "Patterns of ten vertices and eleven arcs; 3,000 added in memory, 3,000 in a folder, all of them removed again."
    )
    report("index", told, [changes(size) for size in (1_000, 10_000, 100_000)])
    told = "A folder's files are mapped, and checked when they are first used. The larger ones have nothing in them."
    report("opening", told, opening())


if __name__ == "__main__":
    main()
