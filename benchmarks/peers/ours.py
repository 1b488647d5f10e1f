"""Our engine: given events as RDF, as users give them; and given them as numbers, as the others in native code are."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.engine import fastest
from benchmarks.peers.tasks import Answer, Filters, Graphs, Watch, taken, timed
from benchmarks.workloads.comparisons import Subscriptions, event_of
from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.encoded import EncodedEvents, EncodedPatterns
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.trie import Scratch, build_trie, expand, match_batch
from triplewire.rdf.graph import Event


def engine(task: Graphs | Filters, limit: float) -> Answer:
    """An index that was built, asked event by event; its answers name subscriptions."""
    if isinstance(task, Filters):
        subscriptions, events = list(Subscriptions().of(task.tests)), [event_of(values) for values in task.values]
    else:
        subscriptions, events = list(task.subscriptions), list(task.events)
    numbers = {one.id: number for number, one in enumerate(subscriptions)}
    ready, index = timed(lambda: Index.build(subscriptions, ConceptModel()))
    index.match(events[0])  # opens and compiles what has not been

    def match(event: Event) -> set[int]:
        return {numbers[one.subscription] for one in index.match(event)}

    return taken(match, events, Watch(limit), ready)


def trie(task: Graphs | Filters, limit: float) -> Answer:
    """The engine's inner loop alone: an encoded event in, the groups that match it out."""
    patterns, events = _encoded(task)
    ready, built = timed(lambda: build_trie(patterns))
    scratch = Scratch(built)
    offsets, groups = match_batch(built, events, scratch)
    found = [set(expand(built, groups[start:end]).tolist()) for start, end in pairwise(offsets)]
    return Answer(found, (fastest(built, events, scratch, 15) / 1e6).tolist(), ready)


def _encoded(task: Graphs | Filters) -> tuple[EncodedPatterns, EncodedEvents]:
    if isinstance(task, Filters):
        return task.patterns, task.encoded
    return task.encoded()
