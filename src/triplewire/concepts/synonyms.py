"""The synonym dictionary: which concepts are called by which words, and where a text names them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from triplewire.concepts.similarity import Similarity
from triplewire.rdf.terms import Resource

_VOICED = "\u3099\u309a"
_HAN = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(  # with the accents that stand for themselves; Chinese and Japanese have no spaces between words
    rf"[{_HAN}][{_VOICED}]?|(?:(?![{_HAN}])[\w\u0300-\u036f])+"
)
_SPARSENESS = 32
"""So many times as many steps could be told apart as there are."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MOST_REMEMBERED = 1 << 16
_LONGEST_REMEMBERED = 64
_SINGULARS = frozenset({"news", "series", "species", "means", "lens", "gas", "bias", "atlas", "canvas", "christmas"})
_IN_IE = frozenset(
    {"brownie", "calorie", "cookie", "genie", "hippie", "indie", "movie", "pixie", "prairie", "rookie", "zombie"}
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")


def words_in(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared: without case, accents and plural.

    Letters, digits and underscores make a word, anything else stands between words. Where words are written without
    spaces, in Chinese characters and kana, each character is one. Words put together again are the same words.
    """
    whole = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return tuple(filter(None, map(_normal, _WORD.findall(whole))))


@lru_cache(maxsize=_MOST_REMEMBERED)
def _normal(word: str) -> str:
    return _singular(unaccented(word.casefold()).casefold())


def unaccented(word: str) -> str:
    """A word with its letters' accents taken off."""
    if word.isascii():
        return word
    letters = (
        letter
        for letter in unicodedata.normalize("NFKD", word)
        if not unicodedata.combining(letter) or letter in _VOICED
    )
    return unicodedata.normalize("NFC", "".join(letters))


def _singular(word: str) -> str:
    """An English plural's singular, by its ending alone; any other word as it is."""
    if len(word) < 4 or word[-1] != "s" or word in _SINGULARS or word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies") and len(word) > 4 and word[:-1] not in _IN_IE:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes")) else word[:-1]


class Dictionary:
    """The concepts by the words of their labels and synonyms."""

    def __init__(self, concepts: Iterable[NamedNode], labels: Mapping[Resource, tuple[Literal, ...]]) -> None:
        found: dict[tuple[str, ...], dict[NamedNode, None]] = defaultdict(dict)
        for concept in concepts:
            for label in labels.get(concept, ()):
                found[words_in(label.value)][concept] = None
        found.pop((), None)
        self._called = {words: tuple(sorted(called, key=str)) for words, called in found.items()}

    def called(self, text: str) -> tuple[NamedNode, ...]:
        """The concepts that a text is the label of."""
        return self._called.get(words_in(text), ())

    def spot(self, text: str) -> Iterator[tuple[NamedNode, ...]]:
        """What a text names, one place after the other: whole words, at each place the longest label only.

        Each place gives the concepts that may be meant there, most often one. The time does not depend on the
        number of labels.
        """
        return self._trie.spot(text)

    def spot_beside(self, others: Dictionary, text: str) -> Iterator[tuple[NamedNode, ...]]:
        """What a text names by this dictionary and another one together."""
        tries = (self._trie, others._trie)
        rows = [trie.numbers(text) for trie in tries]
        free = 0
        for place in range(len(rows[0])):
            if place >= free:
                longest = [trie.longest(row, place) for trie, row in zip(tries, rows, strict=True)]
                free = max(after for after, _ in longest)
                found = {concept for after, meaning in longest if after == free for concept in meaning}
                if found:
                    yield tuple(sorted(found, key=str))

    def occurring(self, text: str) -> set[NamedNode]:
        """Every concept one of whose labels is anywhere in a text, be it within a longer one."""
        trie = self._trie
        numbers = trie.numbers(text)
        states = (state for place in range(len(numbers)) for state in trie.states(numbers, place))
        return {concept for state in states for concept in trie.meaning(state)}

    @cached_property
    def _trie(self) -> _Trie:
        return _Trie(self._called)


class _Trie:
    """Labels word by word. Words have numbers; ``steps`` leads from a state and a word's number to the next state.

    Words that begin labels have the lowest numbers, and the state after such a word is its number. For all places of a
    text together it is looked up whether a label ends after one word, and whether one may go on after it.
    """

    def __init__(self, called: Mapping[tuple[str, ...], tuple[NamedNode, ...]]) -> None:
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words[0] for words in called))}
        self._begins = len(numbers)
        for words in called:
            for word in words:
                numbers.setdefault(word, len(numbers))
        self._size = len(numbers) + 1
        self._steps: dict[int, int] = {}
        self._meanings: list[tuple[NamedNode, ...]] = [()] * self._begins
        for words, meaning in called.items():
            state = numbers[words[0]]
            for word in words[1:]:
                state = self._steps.setdefault(state * self._size + numbers[word], len(self._meanings))
                if state == len(self._meanings):
                    self._meanings.append(())
            self._meanings[state] = meaning
        self._numbers = _Numbers(numbers)
        self._ends = np.zeros(self._size, np.bool_)
        self._ends[: self._begins] = list(map(bool, self._meanings[: self._begins]))
        self._shift = np.uint64(64 - (_SPARSENESS * len(self._steps) + 1).bit_length())
        self._goes_on = np.zeros(1 << (64 - int(self._shift)), np.bool_)
        self._goes_on[self._hashed(np.array(list(self._steps), np.uint64))] = True

    def meaning(self, state: int) -> tuple[NamedNode, ...]:
        """What a label means that ends in a state."""
        return self._meanings[state]

    def _hashed(self, steps: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return (steps * _MULTIPLIER) >> self._shift

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's words."""
        return list(chain.from_iterable(map(self._numbers.__getitem__, text.split())))

    def states(self, numbers: list[int], place: int) -> list[int]:
        """The states after the first word from a place on, the second, …, as far as labels go."""
        if place >= len(numbers) or numbers[place] >= self._begins:
            return []
        found = [numbers[place]]
        for after in range(place + 1, len(numbers)):
            following = self._steps.get(found[-1] * self._size + numbers[after])
            if following is None:
                break
            found.append(following)
        return found

    def longest(self, numbers: list[int], place: int) -> tuple[int, tuple[NamedNode, ...]]:
        """The longest label that begins at a place, if one does: the place after it, and what it means."""
        states = self._longest(numbers, place)
        return (place + len(states), self._meanings[states[-1]]) if states else (place, ())

    def _longest(self, numbers: list[int], place: int) -> list[int]:
        """The states of the longest label that begins at a place."""
        states = self.states(numbers, place)
        while states and not self._meanings[states[-1]]:
            states.pop()
        return states

    def spot(self, text: str) -> Iterator[tuple[NamedNode, ...]]:
        numbers = self.numbers(text)
        row = np.array(numbers, np.int64)
        steps = (row[:-1] * self._size + row[1:]).astype(np.uint64)
        states = np.where(self._ends[row], row, -1)  # in which a label ends that begins at each place
        free = 0
        for place in np.flatnonzero(self._goes_on[self._hashed(steps)]).tolist():
            if place >= free:
                longest = self._longest(numbers, place)
                if longest:
                    free = place + len(longest)
                    states[place:free] = -1
                    states[place] = longest[-1]
        return map(self._meanings.__getitem__, states[states >= 0].tolist())


class _Numbers(dict[str, tuple[int, ...]]):
    """The numbers of the words in a text without white space, of those texts that were asked for lately."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._known = numbers

    def __missing__(self, text: str) -> tuple[int, ...]:
        found = tuple(self._known.get(word, len(self._known)) for word in words_in(text))
        if len(text) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[text] = found
        return found


def resolve(
    choices: Iterable[tuple[NamedNode, ...]], others: Collection[NamedNode], similarity: Similarity
) -> Iterator[NamedNode]:
    """Of each choice, the concept that is most similar to one of the others; all that are equally so."""
    for choice in choices:
        nearness = {concept: max((similarity.concepts(concept, o) for o in others), default=0.0) for concept in choice}
        most = max(nearness.values())
        yield from (concept for concept in choice if nearness[concept] == most)
