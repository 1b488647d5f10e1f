"""``interest``: a profile of concepts, by IRI, prefixed name, label or synonym."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.words import fold
from triplewire.errors import SubscriptionError, nearest
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES
from triplewire.subscriptions.grammar import parse_json
from triplewire.subscriptions.pattern import Interest

DEFAULT_THRESHOLD = 0.7


def parse_interest(pattern: object, prefixes: Mapping[str, str], model: ConceptModel, threshold: float) -> Interest:
    """The interest that ``{"concepts": [...]}``, or the thesis's form of named fields, says."""
    profile = parse_json("interest", pattern) if isinstance(pattern, str) else pattern
    if not isinstance(profile, dict) or not profile:
        raise _error('expected {"concepts": ["Music", "Pop"]} or fields such as {"interest": "Music", "type": "Pop"}')
    known = WELL_KNOWN_PREFIXES | dict(prefixes)
    concepts: list[NamedNode] = []
    attached: dict[NamedNode, NamedNode] = {}
    for where, word in _words(profile):
        earlier = [concept for concept in concepts if concept not in attached]
        try:
            concepts.append(_concept(where, word, known, model))
        except _UnknownError:
            if "concepts" in profile or not earlier:
                raise
            concepts.append(_proposed(word))
            attached[concepts[-1]] = earlier[-1]
    return Interest(tuple(dict.fromkeys(concepts)), threshold, tuple(attached.items()))


class _UnknownError(SubscriptionError):
    """A word that no concept is called by. In a later field it becomes a new concept under the nearest known one."""


def _proposed(word: str) -> NamedNode:
    """The name of a concept that only its subscriber speaks of so far."""
    return NamedNode(f"urn:triplewire:proposed:{quote(fold(word), safe='')}")


def _words(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    listed = profile.get("concepts", [])
    if not isinstance(listed, list):
        raise _error(f"'concepts' should hold a list of concepts' names, not {json.dumps(listed)}")
    stated = [("concepts", word) for word in listed] if "concepts" in profile else list(profile.items())
    if not stated:
        raise _error("the profile names no concept")
    for where, word in stated:
        if not isinstance(word, str) or not word.strip():
            raise _error(f"'{where}' should hold a concept's name, not {json.dumps(word)}")
        yield where, word


def _concept(where: str, word: str, prefixes: Mapping[str, str], model: ConceptModel) -> NamedNode:
    if word.startswith("<") and word.endswith(">"):
        return _node(word[1:-1])
    prefix, colon, local = word.partition(":")
    if colon and prefix in prefixes:
        return _node(prefixes[prefix] + local)
    found = model.words.concepts_called(word)
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise _error(f"'{where}': {word!r} may mean {', '.join(map(str, found))}: write one of them in full")
    if colon and local.startswith("//"):
        return _node(word)
    near = nearest(word.casefold(), model.words.concepts)
    raise _UnknownError(f"'{where}': no concept is called {word!r}.", language="interest", nearest=near)


def _node(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as error:
        raise _error(f"{iri!r} is not an absolute IRI: {error}") from None


def _error(message: str, **hint: Any) -> SubscriptionError:
    return SubscriptionError(f"{message}.", language="interest", **hint)
