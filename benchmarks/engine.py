"""The trie on a workload file, beside a native matcher on the same file.

Timed is what the native one times too: an encoded event in, the groups that match it out, on one core; of several
repetitions the fastest counts for each event. The clock is read between the events of a batch, so the call from Python
is not in it. The native matcher writes out subscriptions, ours groups. Neither times building or hashing the result.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import time
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvents, EncodedPatterns, Ranges
from triplewire.matching.engine.kernels.batch import match_events
from triplewire.matching.engine.trie import Scratch, Trie, build_trie, expand, kernel_events, match_batch

PEER = re.compile(r"U=(\d+).*meanmin=([\d.]+).*nodevisits=(\d+).*hash=([0-9a-f]+)")


def read(path: Path) -> tuple[EncodedPatterns, EncodedEvents]:
    """A workload file. Its labels follow that of the home vertex, which is vertex 0 where patterns are anchored."""
    words = np.fromfile(path, np.int32)
    subscriptions, events, vertices, arcs, event_vertices, event_arcs, labels, _, anchored = words[:9].tolist()
    sizes = np.cumsum(
        [9, subscriptions * vertices, subscriptions * arcs * 3, events * event_vertices, events * event_arcs * 3]
    )
    patterns, pattern_arcs, given, given_arcs = (words[start:end] for start, end in pairwise(sizes))
    return encoded(
        patterns.reshape(-1, vertices),
        pattern_arcs.reshape(-1, arcs, 3),
        given.reshape(-1, event_vertices),
        given_arcs.reshape(-1, event_arcs, 3),
        labels,
        bool(anchored),
    )


def encoded(
    labels: NDArray[np.int32],
    arcs: NDArray[np.int32],
    event_labels: NDArray[np.int32],
    event_arcs: NDArray[np.int32],
    distinct: int,
    anchored: bool,
) -> tuple[EncodedPatterns, EncodedEvents]:
    """Patterns and events from their vertices' labels, -1 for none, and arcs, -1 where there is none."""
    subscriptions, vertices = labels.shape
    offsets, values = _labels(labels, anchored)
    arc_offsets, arc_rows = _arcs(arcs)
    nothing = np.zeros(0, np.int32)
    patterns = EncodedPatterns(
        np.arange(subscriptions + 1, dtype=np.int64) * vertices,
        offsets,
        values,
        arc_offsets,
        arc_rows,
        np.ones(subscriptions, np.bool_),
        Ranges(distinct + 1, nothing, nothing, nothing),
    )
    events, vertices = event_labels.shape
    offsets, values = _labels(event_labels, anchored)
    arc_offsets, arc_rows = _arcs(event_arcs)
    return patterns, EncodedEvents(
        np.arange(events + 1, dtype=np.int64) * vertices,
        offsets,
        values,
        np.zeros((0, events * vertices), np.int32),
        arc_offsets,
        arc_rows,
        np.ones(events * vertices, np.bool_),
    )


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


clock = ctypes.CDLL(None).clock_gettime
clock.argtypes = [ctypes.c_int, ctypes.c_void_p]


@njit(nogil=True)
def time_each(index, events, number, work, out, ends, least, now):
    """Lower ``least`` to the nanoseconds that each event takes, where it takes less."""
    for event in range(number):
        clock(1, now.ctypes)
        start = now[0] * 1_000_000_000 + now[1]
        match_events(index, events, event, event + 1, work, out, ends)
        clock(1, now.ctypes)
        least[event] = min(least[event], now[0] * 1_000_000_000 + now[1] - start)


def fastest(trie: Trie, events: EncodedEvents, scratch: Scratch, repetitions: int) -> NDArray[np.float64]:
    """Microseconds for each event, the fastest of some repetitions."""
    given = kernel_events(events)
    least = np.full(len(events), 1 << 60, np.int64)
    ends, now = np.zeros(1, np.int64), np.zeros(2, np.int64)
    for _ in range(repetitions):
        time_each(trie.index, given, len(events), scratch.work, scratch.groups, ends, least, now)
    return least / 1000


def few(patterns: EncodedPatterns, number: int) -> EncodedPatterns:
    """The first of many patterns."""
    return replace(patterns, vertices=patterns.vertices[: number + 1], injective=patterns.injective[:number])


def hash_of(found: list[NDArray[np.int32]]) -> int:
    """A hash of what all events matched, as the native matcher computes it."""
    whole = 0
    for number, subscriptions in enumerate(found, start=1):
        value = 1469598103934665603
        for subscription in np.sort(subscriptions).tolist():
            value = (value ^ subscription) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
        whole ^= value * number & 0xFFFFFFFFFFFFFFFF
    return whole


def measure(workload: Path, peer: Path | None, repetitions: int = 15) -> dict[str, object]:
    patterns, events = read(workload)
    build_trie(few(patterns, 100))  # compiles what is not compiled yet
    start = time.perf_counter()
    trie = build_trie(patterns)
    build = time.perf_counter() - start
    scratch = Scratch(trie)
    offsets, groups = match_batch(trie, events, scratch)
    found = [expand(trie, groups[start:end]) for start, end in pairwise(offsets)]
    visits = scratch.visits / len(events)
    least = fastest(trie, events, scratch, repetitions)
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
        told = subprocess.run(
            [peer, workload, str(len(events))],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "REPS": str(repetitions)},
        ).stdout
        _, time_of_peer, visits_of_peer, hash_of_peer = PEER.search(told).groups()  # type: ignore[union-attr]
        if hash_of_peer != result["hash"]:
            raise SystemExit(f"{workload}: the peer's hash is {hash_of_peer}, ours {result['hash']}")
        result["peer_visits"] = float(visits_of_peer)
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
