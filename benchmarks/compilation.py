"""How long it takes to compile many texts: understanding them, which Spark spreads over its cores, and what is left.

``python -m benchmarks.compilation SUBSCRIPTIONS [MASTER]`` prints one line of JSON. Without a master it compiles as the
tasks and the driver do, one after the other in this process, and tells the CPU time of each; with one, what the clock
says.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.subscriptions import PREFIXES, ops_text
from triplewire.concepts.load import load_model
from triplewire.matching.engine.chunks import compile_chunks, put_together, repeated
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import Entry, read_lines, read_subscriptions
from triplewire.pipeline.compilation import compile_on_spark
from triplewire.pipeline.session import session

ONTOLOGY = Path(__file__).parents[1] / "examples" / "auction" / "ontology.ttl"


def write_texts(path: Path, count: int) -> None:
    shape = random.Random(1)
    with path.open("w") as file:
        for number in range(count):
            record = {"id": f"s{number:08}", "language": "ops", "prefixes": PREFIXES}
            file.write(json.dumps(record | {"pattern": ops_text(shape, shape.randrange(1000))}) + "\n")


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
    return {
        "understood, CPU s": round(understood, 1),
        "put together, CPU s": round(put, 1),
        "subscriptions": len(index),
    }


def on_spark(path: Path, out: Path, master: str) -> dict[str, object]:
    """Seconds by the clock, with Spark started already."""
    spark = session(master, "benchmark")
    try:
        start = time.perf_counter()
        count, _ = compile_on_spark(spark, [ONTOLOGY], path, out)
        return {"master": master, "s": round(time.perf_counter() - start, 1), "subscriptions": count}
    finally:
        spark.stop()


def main() -> None:
    with TemporaryDirectory() as folder:
        path, out = Path(folder, "texts.ndjson"), Path(folder, "index")
        write_texts(path, int(sys.argv[1]))
        told = on_spark(path, out, sys.argv[2]) if len(sys.argv) > 2 else here(path, out)
        size = sum(one.stat().st_size for one in out.rglob("*.bin"))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(told | {"index, MB": round(size / 1e6), "driver's memory, MB": round(most)}))


if __name__ == "__main__":
    main()
