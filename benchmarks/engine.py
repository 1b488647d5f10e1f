"""The trie on a workload file, beside a native matcher on the same file.

Timed is what the native one times too: an encoded event in, the groups that match it out, on one core; of several
repetitions the fastest counts for each event. The clock is read between events of a batch, by the kernel's caller.
Not timed: building, expanding groups to subscriptions, hashing the result.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, EncodedPatterns, Ranges
from triplewire.matching.engine.trie import Scratch, Trie, build_trie, expand, match

PEER = re.compile(r"U=(\d+).*meanmin=([\d.]+).*nodevisits=(\d+).*hash=([0-9a-f]+)")


def read(path: Path) -> tuple[EncodedPatterns, list[EncodedEvent]]:
    """A workload file. Its labels follow that of the home vertex, which is vertex 0 where patterns are anchored."""
    words = np.fromfile(path, np.int32)
    subscriptions, events, vertices, arcs, event_vertices, event_arcs, labels, _, anchored = words[:9].tolist()
    sizes = np.cumsum(
        [9, subscriptions * vertices, subscriptions * arcs * 3, events * event_vertices, events * event_arcs * 3]
    )
    parts = [words[start:end] for start, end in pairwise(sizes)]
    offsets, values = _labels(parts[0].reshape(-1, vertices), bool(anchored))
    arc_offsets, arc_rows = _arcs(parts[1].reshape(-1, arcs, 3))
    nothing = np.zeros(0, np.int32)
    patterns = EncodedPatterns(
        np.arange(subscriptions + 1, dtype=np.int64) * vertices,
        offsets,
        values,
        arc_offsets,
        arc_rows,
        np.ones(subscriptions, np.bool_),
        Ranges(labels + 1, nothing, nothing, nothing),
    )
    encoded = []
    for label_row, arc_row in zip(
        parts[2].reshape(-1, event_vertices), parts[3].reshape(-1, event_arcs, 3), strict=True
    ):
        offsets, values = _labels(label_row[None], bool(anchored))
        encoded.append(
            EncodedEvent(
                offsets,
                values,
                np.zeros((0, event_vertices), np.int32),
                _arcs(arc_row[None])[1],
                np.ones(event_vertices, np.bool_),
            )
        )
    return patterns, encoded


def _labels(rows: NDArray[np.int32], anchored: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    home = np.full((*rows.shape, 1), -1, np.int32)
    if anchored:
        home[:, 0] = HOME_LABEL
    both = np.concatenate([home, np.where(rows < 0, -1, rows + 1)[:, :, None]], axis=2)
    return _offsets((both >= 0).sum(axis=2).ravel()), both[both >= 0].astype(np.int32)


def _arcs(rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    there = rows[:, :, 0] >= 0
    return _offsets(there.sum(axis=1)), np.ascontiguousarray(rows[there])


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def fastest(trie: Trie, events: list[EncodedEvent], scratch: Scratch, repetitions: int) -> NDArray[np.float64]:
    """Seconds for each event, the fastest of some repetitions."""
    least = np.full(len(events), np.inf)
    for _ in range(repetitions):
        for number, event in enumerate(events):
            start = time.perf_counter()
            match(trie, event, scratch)
            least[number] = min(least[number], time.perf_counter() - start)
    return least


def hash_of(found: list[NDArray[np.int32]]) -> int:
    """A hash of what all events matched, as the native matcher computes it."""
    whole = 0
    for number, subscriptions in enumerate(found, start=1):
        value = 1469598103934665603
        for subscription in np.sort(subscriptions).tolist():
            value = (value ^ subscription) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
        whole ^= value * number & 0xFFFFFFFFFFFFFFFF
    return whole


def measure(workload: Path, peer: Path | None, repetitions: int = 5) -> dict[str, object]:
    patterns, events = read(workload)
    start = time.perf_counter()
    trie = build_trie(patterns)
    build = time.perf_counter() - start
    scratch = Scratch(trie)
    found = [expand(trie, match(trie, event, scratch)) for event in events]
    visits = scratch.visits / len(events)
    least = fastest(trie, events, scratch, repetitions) * 1e6
    distinct = int((np.diff(trie.offsets) > 0).sum())
    size = sum(getattr(trie, field.name).nbytes for field in fields(trie)) + scratch.work.stamps.nbytes
    result: dict[str, object] = {
        "workload": workload.name,
        "subscriptions": len(patterns),
        "distinct": distinct,
        "us_per_event": round(float(least.mean()), 1),
        "p95": round(float(np.sort(least)[len(events) * 95 // 100]), 1),
        "matches": sum(len(subscriptions) for subscriptions in found) / len(events),
        "hash": f"{hash_of(found):016x}",
        "visits": visits,
        "bytes_per_subscription": round(size / distinct, 1),
        "build_s": round(build, 2),
    }
    if peer:
        told = subprocess.run([peer, workload, str(len(events))], capture_output=True, text=True, check=True).stdout
        _, time_of_peer, _, hash_of_peer = PEER.search(told).groups()  # type: ignore[union-attr]
        if hash_of_peer != result["hash"]:
            raise SystemExit(f"{workload}: the peer's hash is {hash_of_peer}, ours {result['hash']}")
        result["peer_us_per_event"] = float(time_of_peer)
        result["ratio"] = round(float(least.mean()) / float(time_of_peer), 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--peer", type=Path)
    given = parser.parse_args()
    print(json.dumps(measure(given.workload, given.peer)))


if __name__ == "__main__":
    main()
