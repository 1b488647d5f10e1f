"""Synonyms from WordNet's database files: ``index.noun`` and ``data.noun``, in the format of wndb(5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.synonyms import words_in
from triplewire.errors import OntologyError

_HYPERNYMS = ("@", "@i")


@dataclass(frozen=True)
class Synset:
    """Words that mean the same, and the synsets right above, by their offsets in the file."""

    words: tuple[str, ...]
    hypernyms: tuple[int, ...]


class WordNet:
    """The nouns of WordNet: the senses of a word, the most frequent first, and what is above them.

    A sense is told by its synset's offset.
    """

    def __init__(self, folder: Path) -> None:
        self._senses = dict(map(_senses, _lines(folder / "index.noun")))
        self._synsets = dict(map(_synset, _lines(folder / "data.noun")))
        self.above = cache(self._above)

    def senses(self, label: str) -> tuple[int, ...]:
        """The senses of a word, or of the singular that it is the plural of."""
        found = self._senses.get(_lemma(label)) or self._senses.get("_".join(words_in(label)), ())
        return tuple(offset for offset in found if offset in self._synsets)

    def words(self, sense: int) -> tuple[str, ...]:
        """The words of a synset of which this is the most frequent sense, or the only one."""
        words = self._synsets[sense].words
        return tuple(word for word in words if (self._senses.get(_lemma(word)) or (sense,))[0] == sense)

    def _above(self, sense: int) -> frozenset[int]:
        """A sense, and every one above it."""
        found: set[int] = set()
        frontier = [sense]
        while frontier:
            offset = frontier.pop()
            if offset not in found and offset in self._synsets:
                found.add(offset)
                frontier += self._synsets[offset].hypernyms
        return frozenset(found)


def synonyms(model: ConceptModel, wordnet: WordNet) -> Iterator[tuple[NamedNode, Literal]]:
    """Words for the concepts of a model, in WordNet's order, that no concept is called by yet.

    A concept is taken for the sense of its labels that has most to do with the ontology: with the concept's other
    labels, with those of the concepts above it, and of those right below. If nothing speaks for any sense, a label must
    have but one. Of the words of a sense those are left out that mostly mean something else.
    """
    children: dict[NamedNode, list[NamedNode]] = defaultdict(list)
    for child in sorted(model.concept_parents, key=str):
        for parent in model.concept_parents[child]:
            children[parent].append(child)
    for concept in sorted(model.concept_parents, key=str):
        above = [wordnet.senses(label) for name in _ancestors(concept, model) for label in _labels(name, model)]
        below = [wordnet.senses(label) for name in children[concept] for label in _labels(name, model)]
        own = dict.fromkeys(wordnet.senses(label) for label in _labels(concept, model))  # spellings are one label
        sense = _best(list(own), above, below, wordnet)
        taken: dict[tuple[str, ...], None] = {}
        for word in () if sense is None else wordnet.words(sense):
            if words_in(word) not in taken and not model.dictionary.called(word):
                taken[words_in(word)] = None
                yield concept, Literal(word, language="en")


Senses = Iterable[tuple[int, ...]]
"""The senses of some labels, label by label."""


def _best(own: list[tuple[int, ...]], above: Senses, below: Senses, wordnet: WordNet) -> int | None:
    """The sense that a concept has, by the senses of its labels and of its relatives' labels; None if none tells."""
    upper = [frozenset(senses) for senses in above if senses]
    lower = [frozenset().union(*map(wordnet.above, senses)) for senses in below if senses]

    def support(sense: int) -> int:
        kin = wordnet.above(sense)
        labels = sum(sense in senses for senses in own) - 1
        return labels + sum(not kin.isdisjoint(senses) for senses in upper) + sum(sense in found for found in lower)

    candidates = list(dict.fromkeys(sense for senses in own for sense in senses))
    best = max(candidates, key=support, default=None)
    if best is None or support(best) > 0:
        return best
    return next((senses[0] for senses in own if len(senses) == 1), None)


def _ancestors(concept: NamedNode, model: ConceptModel) -> set[NamedNode]:
    found: set[NamedNode] = set()
    frontier: Iterable[NamedNode] = model.concept_parents[concept]
    while frontier:
        found |= set(frontier)
        frontier = {parent for here in frontier for parent in model.concept_parents[here]} - found
    return found - {concept}


def _labels(concept: NamedNode, model: ConceptModel) -> list[str]:
    """A concept's labels in English or no language."""
    labels = model.labels.get(concept, ())
    return [label.value for label in labels if not label.language or label.language.startswith("en")]


def _lemma(text: str) -> str:
    return "_".join(text.casefold().split())


def _lines(path: Path) -> Iterator[tuple[Path, int, list[str]]]:
    """The fields of each line; the licence at the top, whose lines begin with blanks, is passed over."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.startswith("  ") and line.strip():
                    yield path, number, line.partition(" | ")[0].split()
    except OSError as error:
        raise OntologyError(f"{path}: {error.strerror}; WordNet's database files are expected there") from None
    except UnicodeDecodeError as error:
        raise OntologyError(f"{path}: not UTF-8: {error.reason}") from None


def _senses(line: tuple[Path, int, list[str]]) -> tuple[str, tuple[int, ...]]:
    """``lemma pos synset_cnt p_cnt [symbol…] sense_cnt tagsense_cnt offset…``"""
    path, number, fields = line
    try:
        return fields[0], tuple(map(int, fields[6 + int(fields[3]) :]))
    except (IndexError, ValueError):
        raise _broken(path, number) from None


def _synset(line: tuple[Path, int, list[str]]) -> tuple[int, Synset]:
    """``offset lex_filenum ss_type w_cnt [word lex_id]… p_cnt [symbol offset pos source/target]…``, w_cnt in hex."""
    path, number, fields = line
    try:
        end = 4 + 2 * int(fields[3], 16)
        words = tuple(word.replace("_", " ") for word in fields[4:end:2])
        pointers = [fields[at : at + 4] for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4)]
        hypernyms = tuple(int(offset) for symbol, offset, _, _ in pointers if symbol in _HYPERNYMS)
        return int(fields[0]), Synset(words, hypernyms)
    except (IndexError, ValueError):
        raise _broken(path, number) from None


def _broken(path: Path, number: int) -> OntologyError:
    return OntologyError(f"{path}, line {number}: not in the format of WordNet's database files")
