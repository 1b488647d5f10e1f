"""How long it takes to compile many subscriptions, and in how much memory.

``python -m benchmarks.compilation texts N [MASTER]`` compiles ``ops`` texts that differ in shape, names and constants.
Without a master it compiles as the tasks and the driver do, one after the other in this process, and tells the CPU
time of each. ``python -m benchmarks.compilation encoded FILE MASTER`` puts chunks together that are encoded already,
from a workload file as ``benchmarks.engine`` takes it. The time is that of the job, with Spark started and the chunks
written before. Memory is what all processes hold at most (PSS), with the pages of mapped files. One line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.index import MODEL, ops_sized
from benchmarks.pipeline import below, cpu_below, pss
from benchmarks.subscriptions import PREFIXES, ops_text
from triplewire.concepts.load import load_model
from triplewire.matching.engine.chunks import Chunk, compile_chunk, compile_chunks, put_together, repeated
from triplewire.matching.engine.encoded import EncodedPatterns, Ranges, offsets_of
from triplewire.matching.engine.events import Vocabulary
from triplewire.matching.engine.files import write_arrays
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.interests import Interests
from triplewire.matching.engine.ranks import Domains
from triplewire.matching.engine.roots import ANYTHING
from triplewire.matching.engine.tables import Layout
from triplewire.matching.engine.texts import Dictionary, Texts
from triplewire.matching.lines import Entry, read_lines, read_subscriptions
from triplewire.pipeline.compilation import compile_on_spark
from triplewire.pipeline.session import session

ONTOLOGY = Path(__file__).parents[1] / "examples" / "auction" / "ontology.ttl"
CHUNK = 20_000


def write_texts(path: Path, count: int) -> None:
    shape = random.Random(1)
    with path.open("w") as file:
        for number in range(count):
            record = {"id": f"s{number:08}", "language": "ops", "prefixes": PREFIXES}
            file.write(json.dumps(record | {"pattern": ops_text(shape, shape.randrange(1000))}) + "\n")


def write_encoded(workload: Path, folder: Path) -> None:
    """A workload file's patterns as chunks."""
    words = np.memmap(workload, np.int32, "r")
    count, _, vertices, arcs, _, _, labels, properties, _ = words[:9].tolist()
    of_vertices = words[9:][: count * vertices].reshape(count, vertices)
    of_arcs = words[9 + count * vertices :][: count * arcs * 3].reshape(count, arcs, 3)
    vocabulary = Vocabulary(
        Dictionary.of(b"c<http://example.org/C%d>" % n for n in range(labels)),
        Dictionary.of(b"r<http://example.org/p%d>" % n for n in range(properties)),
        Domains.of([]),
    )
    for number, first in enumerate(range(0, count, CHUNK)):
        some = slice(first, first + CHUNK)
        chunk = _chunk(first, np.array(of_vertices[some]) + 1, np.array(of_arcs[some]), vocabulary)
        write_arrays(folder / f"{number:06}", {"chunk": chunk}, {"model": MODEL.content_hash})


def _chunk(first: int, labels: NDArray[np.int32], arcs: NDArray[np.int32], vocabulary: Vocabulary) -> Chunk:
    """Patterns whose vertices have a label each, and the first is home, of subscriptions that all have one record."""
    count = len(labels)
    having = np.ones(labels.shape, np.int64)
    having[:, 0] = 2
    nothing = np.zeros(0, np.int32)
    patterns = EncodedPatterns(
        vertices=np.arange(count + 1) * labels.shape[1],
        label_offsets=offsets_of(having.ravel()),
        labels=np.insert(labels, 0, 0, axis=1).ravel(),
        arc_offsets=np.arange(count + 1) * arcs.shape[1],
        arcs=arcs.reshape(-1, 3),
        injective=np.ones(count, np.bool_),
        ranges=Ranges(len(vocabulary.labels) + 1, nothing, nothing, nothing),
    )
    layout = Layout(
        ids=Texts.of(b"s%08d" % number for number in range(first, first + count)),
        vocabulary=vocabulary,
        owners=np.arange(count, dtype=np.int32),
        decided=np.ones(count, np.bool_),
        loose=nothing,
        interests=Interests.of([]),
    )
    record = compile_chunk([ops_sized(random.Random(1), 1)], MODEL).records[0]
    each = np.zeros(count, np.int32)
    return Chunk(layout, patterns, Texts.of([record] * count), Texts.of([ANYTHING]), np.arange(count + 1), each)


def here(path: Path, out: Path) -> dict[str, object]:
    """CPU seconds of the two steps, in this process."""
    model = load_model([ONTOLOGY])
    start = time.process_time()
    found = read_subscriptions(read_lines(path), model)
    chunks = list(compile_chunks((one.subscription for one in found if isinstance(one, Entry)), model))
    understood = time.process_time() - start
    index = Index.of(put_together(chunks, model, repeated(chunks)), model)
    index.save(out)
    index.close()
    put = time.process_time() - start - understood
    told = {"understood, CPU s": round(understood, 1), "put together, CPU s": round(put, 1)}
    return {"subscriptions": len(index)} | told


def on_spark(ontology: list[Path], subscriptions: Path, out: Path, master: str) -> dict[str, object]:
    """Seconds by the clock and of the processors, with Spark started already."""
    spark = session(master, "benchmark")
    try:
        start, before = time.perf_counter(), cpu()
        count, _ = compile_on_spark(spark, ontology, subscriptions, out)
        took = {"s": round(time.perf_counter() - start, 1), "CPU s": round(cpu() - before, 1)}
        return {"subscriptions": count, "master": master} | took
    finally:
        spark.stop()


def cpu() -> float:
    """CPU seconds of this process, and of all that it and they have started."""
    return time.process_time() + cpu_below(os.getpid())


class Most(threading.Thread):
    """What this process, and it and all below it together, hold in memory at most, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.all = 0

    def run(self) -> None:
        while True:
            own = pss(os.getpid()) >> 20
            self.own, self.all = (
                max(self.own, own),
                max(self.all, own + sum(pss(pid) >> 20 for pid in below(os.getpid()))),
            )
            time.sleep(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["texts", "encoded"])
    parser.add_argument("given", help="how many texts, or the workload file")
    parser.add_argument("master", nargs="?")
    parser.add_argument("--folder", type=Path, help="where input and index are kept")
    asked = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = asked.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        given, out = folder / asked.what, folder / "index"
        if not given.exists():
            if asked.what == "encoded":
                given.mkdir()
                write_encoded(Path(asked.given), given)
            else:
                write_texts(given, int(asked.given))
        most = Most()
        most.start()
        ontology = [ONTOLOGY] if asked.what == "texts" else []
        told = on_spark(ontology, given, out, asked.master) if asked.master else here(given, out)
        size = sum(one.stat().st_size for one in out.rglob("*.bin"))
    memory = {"driver's memory, MB": most.own, "with all below it, MB": most.all}
    print(json.dumps(told | {"index, MB": round(size / 1e6)} | memory))


if __name__ == "__main__":
    main()
