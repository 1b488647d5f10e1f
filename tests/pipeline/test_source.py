"""The event log as Spark reads it, without Spark."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable

from tests.pipeline.world import offer
from triplewire.pipeline.source import SLICE, EventLogReader, Slice
from triplewire.store import Store


@given(st.integers(0, 10_000), st.integers(0, 5_000))
def test_the_slices_of_a_batch_follow_one_another_from_its_start_to_its_end(start: int, length: int) -> None:
    slices = EventLogReader("", 1).partitions({"position": start}, {"position": start + length})
    edges = [start, *(s.upto for s in slices if isinstance(s, Slice))]
    assert [(s.after, s.upto) for s in slices if isinstance(s, Slice)] == list(pairwise(edges))
    assert edges[-1] == start + length
    assert all(upto - after <= SLICE for after, upto in pairwise(edges))


def test_a_backlog_is_taken_a_batch_at_a_time(store: Store) -> None:
    store.append([offer(n) for n in range(25)])
    reader = EventLogReader(store.url, batch=10)
    offsets = [reader.initialOffset()]
    while (end := reader.latestOffset(offsets[-1], reader.getDefaultReadLimit())) != offsets[-1]:
        offsets.append(end)
    assert [offset["position"] for offset in offsets] == [0, 10, 20, 25]
    assert reader.latestOffset(offsets[0], ReadAllAvailable()) == {"position": 25}


def test_a_slice_reads_its_events_in_order(store: Store) -> None:
    store.append([offer(n) for n in range(250)])
    batches = list(EventLogReader(store.url, batch=10).read(Slice(20, 240)))
    assert [position for batch in batches for position in batch["position"].to_pylist()] == list(range(21, 241))
    assert batches[0]["body"][0].as_py() == offer(20)[2]


def test_without_a_checkpoint_a_stream_begins_where_the_pipeline_ended(store: Store) -> None:
    store.append([offer(n) for n in range(5)])
    store.record([], [], upto=3)
    assert EventLogReader(store.url, batch=10).initialOffset() == {"position": 3}
