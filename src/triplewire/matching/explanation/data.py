"""An explanation as data for programs, with terms in N-Triples syntax; docs/reference/explanation.md tells the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from triplewire.concepts.derivation import Chain
from triplewire.matching.explanation.closeness import Closest, InterestReason
from triplewire.matching.explanation.conditions import Apart, Condition, Filter, HasHome
from triplewire.matching.explanation.explanation import Explanation
from triplewire.matching.explanation.reasons import (
    ApartReason,
    ArcReason,
    FilterReason,
    Finding,
    Reason,
    ResidualReason,
    VertexReason,
)
from triplewire.matching.explanation.text import Telling
from triplewire.subscriptions.pattern import Arc, ClassConstraint, Interest, IsA, Residual


def as_dict(explanation: Explanation, prefixes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The explanation under stable keys; only the texts within have short names."""
    telling = Telling(explanation, prefixes)
    return {
        "event": explanation.event.id,
        "source": explanation.event.source,
        "subscription": explanation.subscription.id,
        "matched": explanation.matched,
        "score": explanation.score,
        "alternative": explanation.alternative,
        "alternatives": len(explanation.subscription.alternatives),
        "mapping": {str(variable): str(term) for variable, term in explanation.mapping},
        "mappings": explanation.mappings,
        "missing": len(explanation.missing),
        "complete": explanation.complete,
        "conditions": [_finding(finding, telling) for finding in explanation.findings],
    }


def _finding(finding: Finding, telling: Telling) -> dict[str, Any]:
    told = {"holds": finding.holds, **_condition(finding.condition, telling), "text": telling.finding(finding)}
    return told | _reason(finding.reason, telling)


def _condition(condition: Condition, telling: Telling) -> dict[str, Any]:
    match condition:
        case Arc(subject, property_, object_, scope):
            parts = [str(subject), str(property_), str(object_)]
            return {"kind": "arc", "arc": parts, "scope": scope.value}
        case ClassConstraint(vertex, cls):
            return {"kind": "class", "vertex": str(vertex), "class": str(cls)}
        case IsA(vertex, operator, cls):
            return {"kind": "is-a", "vertex": str(vertex), "operator": operator, "class": str(cls)}
        case Filter(expression):
            return {"kind": "filter", "filter": telling.expression(expression)}
        case Apart(one, other):
            return {"kind": "apart", "vertices": [str(one), str(other)]}
        case HasHome():
            return {"kind": "home"}
        case Interest(concepts):
            return {"kind": "interest", "interest": _texts(concepts)}
        case Residual(query, form):
            return {"kind": "residual", "form": form, "query": query}


def _reason(reason: Reason, telling: Telling) -> dict[str, Any]:
    match reason:
        case ArcReason(subject, property_, object_, chain, instead, taken):
            parts = [None if part is None else str(part) for part in (subject, property_, object_)]
            return {"found": parts, "chain": _chain(chain), "instead": _texts(instead), "taken": taken}
        case VertexReason(vertex, there, chain, classes, nearest):
            found = None if vertex is None or not there else str(vertex)
            return {"found": found, "chain": _chain(chain), "classes": _texts(classes), "nearest": _texts(nearest)}
        case FilterReason(values, leaves, score):
            put_in = {str(variable): str(term) for variable, term in values}
            tests = [
                {
                    "test": telling.expression(leaf.expression),
                    "wanted": leaf.wanted,
                    "values": _texts(leaf.values),
                    "error": leaf.error or None,
                    "concepts": list(map(_closest, leaf.closest)),
                }
                for leaf in leaves
            ]
            return {"values": put_in, "tests": tests, "score": score}
        case InterestReason(score, threshold, concepts):
            closest = [_closest(one) | {"needed": reason.needed(one)} for one in concepts]
            return {"score": score, "threshold": threshold, "concepts": closest}
        case ResidualReason(asked, rows):
            return {"asked": asked, "rows": rows}
        case ApartReason(vertex):
            return {"found": str(vertex)}
        case None:
            return {}


def _closest(one: Closest) -> dict[str, Any]:
    return {
        "concept": str(one.concept),
        "closest": None if one.closest is None else str(one.closest),
        "similarity": one.similarity,
        "upward": _texts(one.upward),
        "downward": _texts(one.downward),
        "named_by": None if one.named_by is None else str(one.named_by),
    }


def _chain(chain: Chain) -> list[dict[str, Any]]:
    return [{"rule": s.rule, "fact": _texts(s.fact), "by": [_texts(fact) for fact in s.by]} for s in chain]


def _texts(terms: Iterable[object]) -> list[str | None]:
    return [None if term is None else str(term) for term in terms]
