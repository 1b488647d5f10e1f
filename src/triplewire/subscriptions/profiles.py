"""Interests that people's profiles tell of in RDF: ``Subscriber –hasInterest→ Interest –isAbout→ concept``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import TW, Resource, Term, Triple


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
