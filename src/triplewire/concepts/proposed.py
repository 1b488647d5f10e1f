"""Concepts that the model does not know yet, and the words that they are called by."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.synonyms import Dictionary, words_in
from triplewire.concepts.words import fold, local_name
from triplewire.rdf.terms import TW

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def proposed(word: str) -> NamedNode:
    """The new concept that a word stands for: the same for all words that are read alike."""
    return NamedNode(f"{TW.proposed.value}:{quote(' '.join(words_in(word)) or fold(word), safe='')}")


def word_for(concept: NamedNode) -> str:
    """What a new concept is called, by the end of its IRI."""
    return _CAPITAL.sub(" ", unquote(local_name(concept)))


@lru_cache(maxsize=1000)
def words_for(concepts: frozenset[NamedNode]) -> Dictionary:
    """The dictionary of new concepts."""
    return Dictionary(concepts, {concept: (Literal(word_for(concept)),) for concept in concepts})
