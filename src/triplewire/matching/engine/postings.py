"""Interests by their concepts, laid out so that those that an event may be near to are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triplewire.matching.engine.encoded import Ids, Offsets, offsets_of, spans
from triplewire.matching.engine.interests import Interests, Scores
from triplewire.matching.engine.kernels.interests import GROUPS, near_enough

SLACK = 2e-6
"""A floor is so much below the threshold: means are rounded to single precision, which leaves more than half of it."""


@dataclass(frozen=True)
class Postings:
    """For each concept the interests that it is one of, in groups by how many concepts they have.

    Group ``g`` of concept ``c`` has the number ``n = c * GROUPS + g``. It is ``interests[starts[n] : starts[n + 1]]``,
    those of ``g + 1`` concepts, or more in the last one, and those with the lowest floors first. Their other concepts
    stand in ``cells`` from ``firsts[n]`` on, interest by interest; those of the last group stay with the interests.
    """

    starts: Offsets
    interests: Ids
    floors: NDArray[np.float32]
    firsts: Offsets
    cells: Ids

    @classmethod
    def of(cls, interests: Interests) -> Postings:
        lengths = np.diff(interests.offsets)
        owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        groups = interests.members.astype(np.int64) * GROUPS + np.minimum(lengths, GROUPS)[owners] - 1
        order = np.lexsort((interests.thresholds[owners], groups))
        count = len(interests.concepts) * GROUPS
        posted = owners[order]
        sizes = np.where(lengths[posted] < GROUPS, lengths[posted], 0)
        cells = interests.members[spans(interests.offsets[posted], sizes)]
        own = (np.cumsum(sizes) - sizes + order - interests.offsets[posted])[sizes > 0]
        others = offsets_of(np.bincount(groups[order], np.maximum(sizes - 1, 0), minlength=count).astype(np.int64))
        return cls(
            starts=offsets_of(np.bincount(groups, minlength=count)),
            interests=posted,
            floors=(interests.thresholds[posted] - SLACK).astype(np.float32),
            firsts=others[:-1],
            cells=np.delete(cells, own),
        )

    def candidates(self, best: Scores, interests: Interests) -> Ids:
        """The interests that may be above their thresholds, by the best similarity to each concept."""
        found = np.empty(len(self.interests), np.int32)
        tables = (self.starts, self.interests, self.floors, self.firsts, self.cells)
        return found[: near_enough(best.astype(np.float32), *tables, interests.offsets, interests.members, found)]
