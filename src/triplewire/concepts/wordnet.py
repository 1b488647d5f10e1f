"""Synonyms from WordNet's database files: ``index.noun`` and ``data.noun``, in the format of wndb(5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    """The nouns of WordNet: the senses of a word, the most frequent first, and what is above them."""

    def __init__(self, folder: Path) -> None:
        self._senses = dict(map(_senses, _lines(folder / "index.noun")))
        self._synsets = dict(map(_synset, _lines(folder / "data.noun")))

    def senses(self, label: str) -> list[Synset]:
        """The senses of a word, or of the singular that it is the plural of."""
        found = self._senses.get(_lemma(label)) or self._senses.get("_".join(words_in(label)), ())
        return [self._synsets[offset] for offset in found if offset in self._synsets]

    def above(self, sense: Synset) -> Iterator[Synset]:
        """Every synset above one."""
        seen: set[int] = set()
        frontier = list(sense.hypernyms)
        while frontier:
            offset = frontier.pop()
            if offset not in seen and offset in self._synsets:
                seen.add(offset)
                yield self._synsets[offset]
                frontier += self._synsets[offset].hypernyms


def synonyms(model: ConceptModel, wordnet: WordNet) -> Iterator[tuple[NamedNode, Literal]]:
    """Words for the concepts of a model, in WordNet's order, that no concept is called by yet.

    Of the senses of a concept's label, the one is taken that has most of the concept's ancestors above it; the most
    frequent, if that does not tell.
    """
    for concept in sorted(model.concept_parents, key=str):
        above = {words_in(label) for name in _ancestors(concept, model) for label in _labels(name, model)}
        taken: dict[tuple[str, ...], None] = {}
        for label in _labels(concept, model):
            sense = _best(wordnet.senses(label), above, wordnet)
            for word in sense.words if sense else ():
                if words_in(word) not in taken and not model.dictionary.called(word):
                    taken[words_in(word)] = None
                    yield concept, Literal(word, language="en")


def _best(senses: list[Synset], above: set[tuple[str, ...]], wordnet: WordNet) -> Synset | None:
    def shared(sense: Synset) -> int:
        return len(above & {words_in(word) for synset in wordnet.above(sense) for word in synset.words})

    return max(senses, key=shared, default=None)


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
