"""The known word nearest to a misspelt one, found by binary search.

Two words within two edits of each other share a form from which at most two letters are deleted. The forms of all known
words are kept as sorted hashes; a misspelt word is looked up under its own forms.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations

import numpy as np
from pyoxigraph import NamedNode

from triplewire.concepts.words import fold, local_name

PREFIX = 10
"""Letters deleted are looked for among the first ones only; the rest is compared as it is."""
LIKELY = 0.7


class Spelling:
    """An index of known words."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(set(words))
        pairs = [(form, number) for number, word in enumerate(self.words) for form in _forms(word)]
        hashes = np.array([form for form, _ in pairs], np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._numbers = np.array([number for _, number in pairs], np.int32)[order]
        self.nearest = lru_cache(maxsize=10_000)(self._nearest)

    def _nearest(self, word: str) -> str | None:
        """The likeliest known word within two edits; the first in code-point order of equally likely ones."""
        forms = np.array(list(_forms(word)), np.uint64)
        starts = np.searchsorted(self._hashes, forms, "left")
        ends = np.searchsorted(self._hashes, forms, "right")
        found = {int(n) for a, b in zip(starts, ends, strict=True) for n in self._numbers[a:b]}
        best = max(((_likeness(word, self.words[n]), -n) for n in found), default=(0.0, 0))
        return self.words[-best[1]] if best[0] >= LIKELY else None


class Names:
    """An index of IRIs by their last parts."""

    def __init__(self, terms: Iterable[NamedNode]) -> None:
        self._called = {fold(local_name(term)): term for term in sorted(terms, key=str, reverse=True)}
        self._spelling = Spelling(self._called)

    def nearest(self, term: NamedNode) -> NamedNode | None:
        """The known IRI that ends most nearly like a misspelt one, if any does."""
        word = self._spelling.nearest(fold(local_name(term)))
        return None if word is None else self._called[word]


def _likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _forms(word: str) -> Iterator[int]:
    """The hashes of a word's beginning with none, one or two of its letters deleted."""
    head = word[:PREFIX]
    for many in range(min(2, len(head)) + 1):
        for gone in combinations(range(len(head)), many):
            kept = "".join(letter for place, letter in enumerate(head) if place not in gone)
            yield int.from_bytes(blake2b(kept.encode("utf-8", "replace"), digest_size=8).digest(), "little")
