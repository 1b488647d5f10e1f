"""The five subscription languages behind one call."""

from __future__ import annotations

import re
import weakref
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import Proposal
from triplewire.errors import SubscriptionError, nearest
from triplewire.subscriptions import validation
from triplewire.subscriptions.filter import parse_filter
from triplewire.subscriptions.gtopss import parse_gtopss
from triplewire.subscriptions.interest import interest_proposals, parse_interest
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import DEFAULT_THRESHOLD, Alternative, Pattern, Subscription

_PREFIX = re.compile(r"([A-Za-z][\w\-]*)?")
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\]*")
LANGUAGES = ("ops", "gtopss", "sparql", "filter", "interest")
MAPPINGS = ("injective", "homomorphic")
MOST_REMEMBERED = 4_096
"""So many texts are remembered before all are forgotten."""


def parse_subscription(record: Mapping[str, Any], model: ConceptModel) -> Subscription:
    """A subscription from its record, ``{"id": …, "language": …, "pattern": …}``."""
    id_, language, mapping, threshold, prefixes = _checked(record)
    pattern, own = record["pattern"], record.get("own", {})
    if not isinstance(pattern, str) or own:
        return replace(_parsed(language, pattern, mapping, threshold, prefixes, model, own), id=id_)
    key = (language, pattern, mapping, threshold, tuple(prefixes.items()))
    known = _remembered(model)
    found = known.get(key)
    if found is None:
        found = _parsed(language, pattern, mapping, threshold, prefixes, model)
        if len(known) >= MOST_REMEMBERED:
            known.clear()
        known[key] = found
    return replace(found, id=id_)


def proposals(record: Mapping[str, Any], subscription: Subscription, model: ConceptModel) -> Iterator[Proposal]:
    """The new concepts that a subscription brings in."""
    for alternative in subscription.alternatives:
        for interest in alternative.pattern.interests:
            if interest.attached:
                yield from interest_proposals(record["pattern"], interest, model)


def _parsed(
    language: str,
    pattern: Any,
    mapping: Any,
    threshold: float | None,
    prefixes: Mapping[str, str],
    model: ConceptModel,
    own: Mapping[str, str] | None = None,
) -> Subscription:
    """A subscription without an id."""
    warnings: list[str] = []
    usual = DEFAULT_THRESHOLD if threshold is None else threshold
    if language == "sparql":
        from triplewire.subscriptions.sparql import parse_sparql  # whose grammar takes longer to load than all the rest

        query = parse_sparql(pattern, prefixes)
        found = (*query.warnings, *validation.warnings(query.alternatives, model))
        return Subscription("", query.alternatives, found, query.bindings, query.answer)
    if language == "interest":
        interest = parse_interest(pattern, prefixes, model, usual, own)
        alternative = Alternative(Pattern(interests=(interest,)))
        warnings += [f"{new} is a new concept, put under {known}" for new, known in interest.attached]
    elif language == "filter":
        alternative = Alternative(parse_filter(pattern, prefixes, model, usual))
    elif language == "gtopss":
        alternative = Alternative(parse_gtopss(pattern, prefixes, mapping or "homomorphic"))
    else:
        alternative = Alternative(parse_ops(pattern, prefixes, mapping or "injective", usual))
    return Subscription("", (alternative,), (*warnings, *validation.warnings((alternative,), model)))


_memory: dict[int, dict[Hashable, Subscription]] = {}


def _remembered(model: ConceptModel) -> dict[Hashable, Subscription]:
    """What texts were found to say under a model: the same text is parsed once."""
    known = _memory.get(id(model))
    if known is None:
        known = _memory[id(model)] = {}
        weakref.finalize(model, _memory.pop, id(model), None)
    return known


def _checked(record: Mapping[str, Any]) -> tuple[str, str, Any, float | None, Mapping[str, str]]:
    """The record's fields, each of the right kind."""
    id_, language, pattern = record.get("id"), record.get("language"), record.get("pattern")
    if not isinstance(id_, str) or not id_:
        raise SubscriptionError("a subscription needs an 'id', a non-empty text")
    if not _has_whole_characters(id_):
        raise SubscriptionError(f"the 'id' {id_!r} has half a surrogate pair, which no encoding can hold")
    if language not in LANGUAGES:
        near = nearest(language, LANGUAGES) if isinstance(language, str) else None
        what = "'language' is missing." if language is None else f"{language!r} is no subscription language."
        raise SubscriptionError(what, expected=LANGUAGES, nearest=near)
    if pattern is None or (language in ("ops", "sparql", "filter") and not isinstance(pattern, str)):
        raise SubscriptionError("'pattern' should be a text", language=language)
    mapping, threshold, prefixes = record.get("mapping"), record.get("threshold"), record.get("prefixes", {})
    if mapping is not None and mapping not in MAPPINGS:
        raise SubscriptionError(f"'mapping' is {mapping!r}.", language=language, expected=MAPPINGS)
    if mapping is not None and language not in ("ops", "gtopss"):
        raise SubscriptionError("'mapping' has a meaning for ops and gtopss only", language=language)
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
        raise SubscriptionError(f"'threshold' should be a number, not {threshold!r}", language=language)
    if threshold is not None and not 0 <= threshold <= 1:
        raise SubscriptionError(f"'threshold' should be between 0 and 1, not {threshold!r}", language=language)
    if not isinstance(prefixes, Mapping) or not all(isinstance(part, str) for row in prefixes.items() for part in row):
        raise SubscriptionError("'prefixes' should map prefixes to IRIs", language=language)
    own = record.get("own", {})
    if not isinstance(own, Mapping) or not all(isinstance(part, str) for row in own.items() for part in row):
        raise SubscriptionError("'own' should map words to what they are put under", language=language)
    if own and language != "interest":
        raise SubscriptionError("'own' has a meaning for interest only", language=language)
    for prefix, iri in prefixes.items():
        if not _PREFIX.fullmatch(prefix) or not _NAMESPACE.fullmatch(iri):
            raise SubscriptionError(f"{prefix!r}: {iri!r} is no prefix with its IRI", language=language)
    return id_, language, mapping, threshold, prefixes


def _has_whole_characters(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
