"""``interest``: a profile of concepts, by IRI, prefixed name, label or synonym."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pyoxigraph import NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import Proposal, proposed, unfit, word_for
from triplewire.concepts.synonyms import resolve, words_in
from triplewire.errors import Place, SubscriptionError, nearest
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES
from triplewire.subscriptions.grammar import parse_json, place_in_json
from triplewire.subscriptions.pattern import Interest

MOST_CONCEPTS = 1_000
_JSON = re.compile(r"\s*(?:[{\[\"]|$)")
_PLAIN_WORD = re.compile(r"[^\s,;][^,;\n]*")


def parse_interest(
    pattern: object,
    prefixes: Mapping[str, str],
    model: ConceptModel,
    threshold: float,
    own: Mapping[str, str] | None = None,
) -> Interest:
    """The interest that ``{"concepts": [...]}``, the thesis's form of named fields, or a line of plain words says.

    ``own`` are words, or IRIs in angle brackets, that the subscriber uses for concepts of their own, each with the
    known concept that it is put under. They count as long as the model does not know them.
    """
    profile = _profile(pattern)
    known = WELL_KNOWN_PREFIXES | dict(prefixes)
    words = [(word, partial(_place, pattern, path)) for path, word in _words(profile, pattern)]
    new = _own_concepts(own or {}, known, model)
    choices = [_called(word, known, model, place) for word, place in words]
    certain = {choice[0] for choice in choices if len(choice) == 1}
    concepts: list[NamedNode] = []
    attached: dict[NamedNode, NamedNode] = {}
    for (word, place), choice in zip(words, choices, strict=True):
        earlier = [concept for concept in concepts if concept not in attached]
        refines = bool(earlier) and "concepts" not in profile
        if choice and not (refines and _is_new(choice[0], model)):
            concepts.append(_meant(word, choice, certain, model, place))
        elif words_in(word) in new:
            concept, parent = new[words_in(word)]
            concepts.append(concept)
            attached[concept] = parent
        elif not refines:
            near = nearest(word.casefold(), model.words.concepts)
            raise SubscriptionError(f"no concept is called {word!r}.", language="interest", place=place(), nearest=near)
        else:
            concepts.append(choice[0] if choice else _proposed(word, place))
            attached[concepts[-1]] = earlier[-1]
    return Interest(tuple(dict.fromkeys(concepts)), threshold, tuple(attached.items()))


def interest_proposals(pattern: object, interest: Interest, model: ConceptModel) -> Iterator[Proposal]:
    """The new concepts that an interest brings in, called as its pattern calls them."""
    called = {proposed(word): word.strip() for word in _said(pattern)}
    for concept, parent in interest.attached:
        yield Proposal.under(parent, concept, called.get(concept) or word_for(concept), model)


def words_of(pattern: object) -> set[tuple[str, ...]]:
    """The words that an interest's pattern names concepts by, as they are compared."""
    return {words_in(word) for word in _said(pattern)}


def _said(pattern: object) -> list[str]:
    return [word for _, word in _words(_profile(pattern), pattern)]


def _plain(pattern: object) -> list[re.Match[str]]:
    """The words of a pattern in plain words, which commas, semicolons or lines set apart; none of any other."""
    return [] if not isinstance(pattern, str) or _JSON.match(pattern) else list(_PLAIN_WORD.finditer(pattern))


def _place(pattern: object, path: tuple[str | int, ...]) -> Place:
    """Where a pattern says what its profile has at a path."""
    match _plain(pattern), path:
        case [_, *_] as words, (_, int(number)):
            return Place.at(words[number].string, words[number].start())
        case _:
            return place_in_json(pattern, path)


def _profile(pattern: object) -> dict[str, Any]:
    """The pattern as JSON."""
    if words := _plain(pattern):
        return {"concepts": [word.group().strip() for word in words]}
    profile = parse_json("interest", pattern) if isinstance(pattern, str) else pattern
    if not isinstance(profile, dict) or not profile:
        raise _error(
            'expected {"concepts": ["Music", "Pop"]} or fields such as {"interest": "Music", "type": "Pop"}',
            place_in_json(pattern, ()),
        )
    return profile


def _own_concepts(
    own: Mapping[str, str], prefixes: Mapping[str, str], model: ConceptModel
) -> dict[tuple[str, ...], tuple[NamedNode, NamedNode]]:
    """The subscriber's own concepts, each with the one that it is put under, by their words."""
    found = {}
    for name, parent in own.items():
        place = partial(Place.of, name, 1, 1)
        concept = _node(name[1:-1], place) if name.startswith("<") and name.endswith(">") else _proposed(name, place)
        above = _called(parent, prefixes, model, place)
        if len(above) != 1:
            raise _error(f"{name!r} cannot be put under {parent!r}, which is no concept's name, or several's", place())
        if concept not in model.concept_parents:
            found[words_in(word_for(concept))] = concept, above[0]
    return found


def _words(profile: Mapping[str, Any], pattern: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The concepts' names, each with its path into the profile."""
    listed = profile.get("concepts", [])
    if not isinstance(listed, list):
        message = f"'concepts' should hold a list of concepts' names, not {json.dumps(listed)}"
        raise _error(message, place_in_json(pattern, ("concepts",)))
    in_list: list[tuple[tuple[str | int, ...], Any]] = [(("concepts", i), word) for i, word in enumerate(listed)]
    stated = in_list if "concepts" in profile else [((field,), word) for field, word in profile.items()]
    if not stated:
        raise _error("the profile names no concept", place_in_json(pattern, ()))
    if len(stated) > MOST_CONCEPTS:
        raise _error(f"the profile has {len(stated)} concepts; at most {MOST_CONCEPTS} are read", None)
    for path, word in stated:
        if not isinstance(word, str) or not word.strip():
            message = f"'{path[0]}' should hold a concept's name, not {json.dumps(word)}"
            raise _error(message, place_in_json(pattern, path))
        yield path, word


def _called(
    word: str, prefixes: Mapping[str, str], model: ConceptModel, place: Callable[[], Place]
) -> tuple[NamedNode, ...]:
    """The concepts that a word may mean."""
    if word.startswith("<") and word.endswith(">"):
        return (_node(word[1:-1], place),)
    prefix, colon, local = word.partition(":")
    if colon and prefix in prefixes:
        return (_node(prefixes[prefix] + local, place),)
    found = model.concepts_called(word)
    if not found and proposed(word) in model.concept_parents:  # accepted, and given another label since
        return (proposed(word),)
    return (_node(word, place),) if not found and colon and local.startswith("//") else found


def _meant(
    word: str, choice: tuple[NamedNode, ...], others: set[NamedNode], model: ConceptModel, place: Callable[[], Place]
) -> NamedNode:
    """The concept that a word means beside the profile's others."""
    found = choice if len(choice) == 1 else list(resolve([choice], others, model.similarity))
    if len(found) > 1:
        raise _error(f"{word!r} may mean {', '.join(map(str, found))}: write one of them in full", place())
    return found[0]


def _is_new(concept: NamedNode, model: ConceptModel) -> bool:
    """Whether a concept that is told by its IRI is new, and can be called by a word."""
    return model.concept_parents.keys().isdisjoint(model.aliases(concept)) and not unfit(word_for(concept))


def _proposed(word: str, place: Callable[[], Place]) -> NamedNode:
    if reason := unfit(word):
        raise _error(reason, place())
    return proposed(word)


def _node(iri: str, place: Callable[[], Place]) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as error:
        raise _error(f"{iri!r} is not an absolute IRI: {error}", place()) from None


def _error(message: str, place: Place | None) -> SubscriptionError:
    return SubscriptionError(f"{message}.", language="interest", place=place)
