"""People's profiles in RDF: ``Subscriber –hasInterest→ Interest –isAbout→ concept``, and whom they know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import FOAF, RDF, TW, XSD, Resource, Term, Triple

_USERS = frozenset({TW.User, TW.Publisher, TW.Subscriber})


@dataclass(frozen=True)
class Person:
    """Somebody who takes part, and whom they know.

    One who ``shares`` lets those they know be offered what they are told of; one who ``declines`` is offered nothing.
    """

    id: str
    knows: frozenset[str] = frozenset()
    shares: bool = False
    declines: bool = False


def people(profiles: Iterable[Triple]) -> Iterator[Person]:
    """Everybody whom profiles tell of, by IRI. Consent is what is stated, and nothing else is."""
    known: dict[NamedNode, set[str]] = defaultdict(set)
    said: dict[NamedNode, set[NamedNode]] = defaultdict(set)
    for subject, property_, object_ in profiles:
        if not isinstance(subject, NamedNode):
            continue
        if property_ == FOAF.knows and isinstance(object_, NamedNode):
            known[subject].add(object_.value)
        elif property_ in (TW.sharesWithFriends, TW.declinesSuggestions):
            said[subject] |= {property_} if _true(subject, property_, object_) else set()
        elif property_ == TW.hasInterest or (property_ == RDF.type and object_ in _USERS):
            known[subject] |= set()
    for one in sorted(known.keys() | said.keys(), key=str):
        shares, declines = (word in said[one] for word in (TW.sharesWithFriends, TW.declinesSuggestions))
        yield Person(one.value, frozenset(known[one]), shares, declines)


def holders(profiles: Iterable[Triple]) -> dict[str, str]:
    """Whose each interest is, by IRI."""
    return {_interest(s, o).value: s.value for s, p, o in profiles if p == TW.hasInterest and isinstance(s, NamedNode)}


def _true(subject: Resource, property_: NamedNode, value: Term) -> bool:
    if not isinstance(value, Literal) or value.datatype != XSD.boolean:
        raise SubscriptionError(f"{property_} of {subject} should be true or false, not {value}")
    return value.value in ("true", "1")


def interests(profiles: Iterable[Triple]) -> Iterator[dict[str, Any]]:
    """The record of a subscription for each interest that somebody has, by IRI, which is its id.

    An interest is about concepts by their IRIs, or by words for them. Whose it is stays in the profile.
    """
    about: dict[Resource, list[Term]] = defaultdict(list)
    thresholds: dict[Resource, Term] = {}
    held: set[Resource] = set()
    for subject, property_, object_ in profiles:
        if property_ == TW.isAbout:
            about[subject].append(object_)
        elif property_ == TW.threshold:
            thresholds[subject] = object_
        elif property_ == TW.hasInterest:
            held.add(_interest(subject, object_))
    for interest in sorted(held, key=str):
        names = sorted(term.value if isinstance(term, Literal) else str(term) for term in about[interest])
        record = {"id": interest.value, "language": "interest", "pattern": {"concepts": names}}
        yield record | ({"threshold": _number(interest, thresholds[interest])} if interest in thresholds else {})


def _interest(subscriber: Resource, interest: Term) -> NamedNode:
    if not isinstance(interest, NamedNode):
        raise SubscriptionError(f"an interest of {subscriber} has no IRI, which is to be its subscription's id")
    return interest


def _number(interest: Resource, threshold: Term) -> float:
    try:
        return float(threshold.value)
    except ValueError:
        raise SubscriptionError(f"the threshold of {interest} should be a number, not {threshold}") from None
