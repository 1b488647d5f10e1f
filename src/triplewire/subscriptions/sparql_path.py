"""Property paths as ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from pyoxigraph import Literal, NamedNode
from rdflib.plugins.sparql.parserutils import CompValue

from triplewire.rdf.terms import RDFS
from triplewire.subscriptions.pattern import Arc, Call, ClassConstraint, Expression, Variable, Vertex
from triplewire.subscriptions.sparql_joins import Reach
from triplewire.subscriptions.sparql_tree import children
from triplewire.subscriptions.sparql_ways import Fresh, Strength, Way, Ways, join, union

Property = Callable[[Any], NamedNode]

NEVER = Ways(())
_LISTS = ("PathAlternative", "PathSequence")


class Paths:
    """Unfolds paths; ``property_`` gives the property that a leaf of the parse tree is."""

    def __init__(self, property_: Property, fresh: Fresh) -> None:
        self.property = property_
        self.fresh = fresh

    def between(self, subject: Vertex, path: Any, object_: Vertex) -> Ways:
        """The ways from a subject to an object.

        Oxigraph counts the steps of a sequence, and the ends of anything else once.
        """
        while isinstance(path, CompValue) and path.name in _LISTS and len(path.part) == 1:
            path = path.part[0]
        if isinstance(path, CompValue) and path.name == "PathSequence":
            return self._sequence(subject, path, object_)
        return self._element(subject, path, object_)

    def steps(self, subject: Vertex, path: Any, object_: Vertex) -> Iterator[Arc]:
        """The arcs that a path may have to join, one after the other. One of several may have any property."""
        if not isinstance(path, CompValue) or path.name == "pname":
            yield Arc(subject, self.property(path), object_)
            return
        match path.name:
            case "PathEltOrInverse":
                yield from self.steps(object_, path.part, subject)
            case "PathElt" if path.mod in ("*", "+"):
                yield Reach(subject, self.fresh() if _is_path(path.part) else self.property(path.part), object_)
            case "PathElt":
                yield from self.steps(subject, path.part, object_)
            case "PathSequence":
                ends = [subject, *(self.fresh() for _ in path.part[1:]), object_]
                for part, (start, end) in zip(path.part, pairwise(ends), strict=True):
                    yield from self.steps(start, part, end)
            case "PathAlternative" if len(path.part) == 1:
                yield from self.steps(subject, path.part[0], object_)
            case _:
                yield Reach(subject, self.fresh(), object_) if _is_long(path) else Arc(subject, self.fresh(), object_)

    def _sequence(self, subject: Vertex, path: CompValue, object_: Vertex) -> Ways:
        inner: list[Vertex] = [self.fresh() for _ in path.part[1:]]
        ends = [subject, *inner, object_]
        found = Ways()
        for part, (start, end) in zip(path.part, pairwise(ends), strict=True):
            found = join(found, self._element(start, part, end))
        return found

    def _element(self, subject: Vertex, path: Any, object_: Vertex) -> Ways:
        """One step of a sequence; of a step that is itself a path only the ends count."""
        if not isinstance(path, CompValue) or path.name == "pname":
            return arc(subject, self.property(path), object_)
        match path.name:
            case "PathEltOrInverse":
                return self._element(object_, path.part, subject)
            case "PathElt" if path.mod:
                return self._repeated(subject, path, object_)
            case "PathElt":
                return self._element(subject, path.part, object_)
            case "PathNegatedPropertySet":
                return self._other(subject, path, object_)
            case _ if len(path.part) == 1:
                return self._element(subject, path.part[0], object_)
            case "PathAlternative":
                ways = union([self.between(subject, part, object_) for part in path.part])
                return ways.weakened(Strength.TELLING)
            case _:
                return self._sequence(subject, path, object_).weakened(Strength.TELLING)

    def _repeated(self, subject: Vertex, path: CompValue, object_: Vertex) -> Ways:
        ends = [end for end in (subject, object_) if isinstance(end, Variable)]
        if path.mod == "*":
            return Ways((Way(),), Strength.NECESSARY, frozenset(ends))
        if path.mod == "+":
            first = self._element(subject, path.part, self.fresh())
            return join(first, self._element(self.fresh(), path.part, object_)).weakened(Strength.NECESSARY)
        once = self._element(subject, path.part, object_)
        if isinstance(path.part, CompValue):
            return union([no_step(subject, object_), once]).weakened(Strength.TELLING)
        apart = Call("not", (Call("sameterm", (subject, object_)),))
        return union([no_step(subject, object_), join(once, Ways((Way(filters=(apart,)),)))])

    def _other(self, subject: Vertex, path: CompValue, object_: Vertex) -> Ways:
        """An arc of any property but some. rdflib's tree does not tell those that are to be gone back."""
        property_ = self.fresh()
        found = Ways((Way((Arc(subject, property_, object_),)),))
        if isinstance(subject, Literal):
            return NEVER
        if any(isinstance(part, CompValue) and part.name == "InversePath" for part in path.part):
            ends = [end for end in (subject, object_) if isinstance(end, Variable)]
            return Ways((Way(),), Strength.NECESSARY, frozenset(ends))
        excluded = (Literal(self.property(part).value) for part in path.part)
        called = Call("str", (property_,))  # the text: as a name, the property might be a vertex of another name
        filters: tuple[Expression, ...] = tuple(Call("!=", (called, one)) for one in excluded)
        return join(found, Ways((Way(filters=filters),))).weakened(Strength.TELLING)


def _is_path(node: Any) -> bool:
    return isinstance(node, CompValue) and node.name != "pname"


def _is_long(node: Any) -> bool:
    """Whether a path may have several steps."""
    if isinstance(node, CompValue) and (node.mod in ("*", "+") or (node.name == "PathSequence" and len(node.part) > 1)):
        return True
    return any(map(_is_long, children(node)))


def arc(subject: Vertex, property_: NamedNode | Variable, object_: Vertex) -> Ways:
    """The way that a triple is."""
    return NEVER if isinstance(subject, Literal) else Ways((Way((Arc(subject, property_, object_),)),))


def no_step(subject: Vertex, object_: Vertex) -> Ways:
    """Subject and object are one vertex, of which nothing is asked but that it is there."""
    if isinstance(subject, Variable) and subject != object_:
        return Ways((Way(classes=(ClassConstraint(object_, RDFS.Resource),), known={subject: object_}),))
    there = (ClassConstraint(subject, RDFS.Resource),)
    if isinstance(object_, Variable) and subject != object_:
        return Ways((Way(classes=there, known={object_: subject}),))
    if subject == object_:
        return Ways((Way(classes=there),))
    if isinstance(subject, Literal) or isinstance(object_, Literal):
        return NEVER
    return Ways((Way(classes=there, filters=(Call("sameterm", (subject, object_)),)),))
