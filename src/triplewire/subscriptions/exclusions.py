"""Ways to ask for less: what can be put into a subscription so that an event that tripped it would not any more.

Each is a proposal, in the words of the subscription's own language; whether it does what it is for is to be tried.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.graph import Graph
from triplewire.rdf.names import Names
from triplewire.rdf.terms import RDF, XSD, Term
from triplewire.subscriptions.pattern import DEFAULT_THRESHOLD

THRESHOLD, EXCLUSION = "threshold", "exclusion"
_NEARLY = 0.99
"""More similar than so is the concept itself."""
_TEXTS = (XSD.string, RDF.langString)


@dataclass(frozen=True)
class Less:
    """A change of a subscription's record, as a merge patch, and what it says."""

    kind: str
    says: str
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """What is to be seen less of: the event, what the variables stood for, the score and the concepts that made it.

    ``interest`` are those that were asked for, ``closest`` those of the event.
    """

    graph: Graph
    mapping: Mapping[str, Term]
    score: float = 1.0
    interest: tuple[NamedNode, ...] = ()
    closest: tuple[NamedNode, ...] = ()


def exclusions(record: Mapping[str, Any], seen: Seen) -> Iterator[Less]:
    """What might be changed in a record, the plainest first."""
    if seen.score < 1:
        threshold = math.ceil(seen.score * 1000) / 1000
        says = f"Only what is more similar than {threshold:g}; this was {seen.score:.3f}"
        yield Less(THRESHOLD, says, {"threshold": threshold})
    match record.get("language"):
        case "ops":
            yield from _each(_Ops(record), seen)
        case "sparql":
            yield from _each(_Sparql(record), seen)
        case "gtopss":
            yield from _each(_Gtopss(record), seen)
        case "filter":
            yield from _attributes(record, seen)
            yield from _concepts(f"({record['pattern']})", seen)
        case "interest":
            yield from _interest(record, seen)


class _Ops:
    """Filters on variables, put into a statement that is there already."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.text: str = record["pattern"]

    def unlike(self, variable: str, term: Term) -> str:
        return self._with(f"{variable} != {term}")

    def no(self, variable: str, cls: NamedNode) -> str:
        return self._with(f"not {variable} ~ {cls} @ {_NEARLY}")

    def _with(self, condition: str) -> str:
        """The text with a copy of its first statement, which asks for nothing new, and the condition in it."""
        begin = self.text.index("(")
        depth = 0
        for end in range(begin, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            if depth == 1 and self.text[end] == ")":
                break  # the end of the meta-statement
        return f"{self.text.rstrip()}\n{self.text[begin : end + 1]}, {condition})\n"


class _Sparql:
    """Filters at the end of the query's pattern."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.text: str = record["pattern"]

    def unlike(self, variable: str, term: Term) -> str:
        return self._with(f"FILTER({variable} != {term})")

    def no(self, variable: str, cls: NamedNode) -> str:
        return self._with(f"FILTER NOT EXISTS {{ {variable} a {cls} }}")

    def _with(self, condition: str) -> str:
        before, brace, after = self.text.rpartition("}")
        return f"{before.rstrip()}\n  {condition}\n{brace}{after}"


class _Gtopss:
    """Constraints at the first place of a variable."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.pattern = record["pattern"]

    def unlike(self, variable: str, term: Term) -> Any:
        return None if isinstance(term, NamedNode) else self._with(variable, str(term))

    def no(self, variable: str, cls: NamedNode) -> Any:
        return self._with(variable, str(cls))

    def _with(self, variable: str, value: str) -> Any:
        tuples = json.loads(self.pattern) if isinstance(self.pattern, str) else self.pattern
        changed = []
        done = False
        for tuple_ in tuples:
            subject, property_, object_, *constraints = tuple_
            own = [list(some) for some in (*constraints, [], [])[:2]]
            for place, end in enumerate((subject, object_)):
                if end == variable and not done:
                    own[place].append([variable, "!=", value])
                    done = True
            changed.append([subject, property_, object_, *own])
        return changed if done else None


def _each(language: _Ops | _Sparql | _Gtopss, seen: Seen) -> Iterator[Less]:
    """Without what a variable stood for, or without its kind."""
    names = _names(seen)
    for variable, term in seen.mapping.items():
        if isinstance(term, NamedNode) or _is_text(term):
            pattern = language.unlike(variable, term)
            if pattern is not None:
                yield Less(EXCLUSION, f"Not {names.short(term)} (for {variable})", {"pattern": pattern})
        for cls in _classes(seen.graph, term):
            pattern = language.no(variable, cls)
            if pattern is not None:
                yield Less(EXCLUSION, f"No {names.short(cls)} (for {variable})", {"pattern": pattern})


def _attributes(record: Mapping[str, Any], seen: Seen) -> Iterator[Less]:
    """Without a value of an attribute of the event."""
    names = _names(seen)
    for triple in sorted(seen.graph.triples, key=str):
        if triple.subject != seen.graph.home or triple.property == RDF.type:
            continue
        if isinstance(triple.object, NamedNode) or _is_text(triple.object):
            there = f"not exists {triple.property} or not ({triple.property} = {triple.object})"
            says = f"Not where {names.short(triple.property)} is {names.short(triple.object)}"
            yield Less(EXCLUSION, says, {"pattern": f"({record['pattern']}) and ({there})"})


def _concepts(pattern: str, seen: Seen, **others: Any) -> Iterator[Less]:
    """Without the concepts that brought the event near."""
    names = _names(seen)
    about = [*seen.closest, *(cls for cls in _classes(seen.graph, seen.graph.home) if cls not in seen.closest)]
    for concept in about:
        changed = {"pattern": f"{pattern} and not (~ {concept} @ {_NEARLY})"} | others
        yield Less(EXCLUSION, f"Nothing about {names.short(concept)}", changed)


def _interest(record: Mapping[str, Any], seen: Seen) -> Iterator[Less]:
    """An interest in one thing is a filter as well, which can say what it does not want; a mean of several is not."""
    if len(seen.interest) == 1 and "own" not in record:
        threshold = record.get("threshold", DEFAULT_THRESHOLD)
        yield from _concepts(f"~ {seen.interest[0]} @ {threshold:g}", seen, language="filter", threshold=None)


def _classes(graph: Graph, term: Term | None) -> list[NamedNode]:
    found = (t.object for t in graph.triples if t.subject == term and t.property == RDF.type)
    return sorted((cls for cls in found if isinstance(cls, NamedNode)), key=str)


def _is_text(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype in _TEXTS and len(term.value) < 100


def _names(seen: Seen) -> Names:
    return Names.of([*(term for triple in seen.graph.triples for term in triple), *seen.closest], bare=True)
