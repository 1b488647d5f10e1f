"""The trie: the plans of many patterns, sharing what they begin with, in flat arrays.

Patterns that are the same but for the names of their vertices are one **group**. What matching finds is groups; their
members are told apart only when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .encoded import EncodedEvent, EncodedEvents, EncodedPatterns, Ids, Offsets

Groups = NDArray[np.uint32]


@dataclass(frozen=True)
class Trie:
    """Arrays only, so that it can be saved and mapped into memory as it is, read-only.

    Group ``g`` is the patterns ``members[offsets[g] : offsets[g + 1]]``. Group numbers have gaps: some are empty.
    """

    offsets: NDArray[np.uint32]
    members: Ids


class Scratch:
    """What matching with one trie writes to; one for each thread, used for event after event."""

    visits: int
    """Nodes looked at so far."""

    def __init__(self, trie: Trie) -> None:
        raise NotImplementedError


def build_trie(patterns: EncodedPatterns) -> Trie:
    """Plan each pattern and lay the plans out."""
    raise NotImplementedError


def match(trie: Trie, event: EncodedEvent, scratch: Scratch) -> Groups:
    """The groups that match, each once, in no particular order.

    Labels and properties that no pattern names may be any other number, and are ignored. The result is valid until
    the next match with the same scratch.
    """
    raise NotImplementedError


def match_batch(trie: Trie, events: EncodedEvents, scratch: Scratch) -> tuple[Offsets, Groups]:
    """The groups of each event ``i``: ``groups[offsets[i] : offsets[i + 1]]``."""
    raise NotImplementedError


def expand(trie: Trie, groups: Groups) -> Ids:
    """The numbers of the patterns in some groups, in no particular order."""
    raise NotImplementedError
