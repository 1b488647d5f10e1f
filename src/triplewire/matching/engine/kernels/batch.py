"""Matching event after event."""

from __future__ import annotations

from .jit import kernel
from .walk import match_small


@kernel
def match_events(trie, events, first, last, work, epoch, out, ends):
    """Match the events ``first … last``, as long as ``out`` surely has room; tell how many were matched.

    The groups of all are in ``out``, one event after the other; ``ends`` tells where those of each end.
    """
    found = 0
    for event in range(first, last):
        if event > first and found + len(trie.nodes) > len(out):
            return event - first
        found = match_small(trie, events, event, work, epoch + event - first, out, found)
        ends[event - first] = found
    return last - first
