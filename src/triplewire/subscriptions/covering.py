"""Covering: whether every event that matches one subscription matches another.

``b`` is taken for an event, and ``a`` is looked for in it (``frozen``). A *yes* is always right. It is found

- exactly, for conjunctions of ``filter`` predicates: comparisons, ``in``, ``startswith``, ``endswith``, ``contains``
  with constants, ``exists`` and ``not exists``
- exactly, for homomorphic patterns of closed arcs with constant properties and class constraints on subjects
- else as far as the rules below and the bounded search go: a *no* may then mean that we cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.frozen import FrozenPattern, Path, of_value, tested_vertex
from triplewire.subscriptions.implication import implies
from triplewire.subscriptions.normal import FALSE, ordered, variables
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Pattern,
    Subscription,
    Variable,
    Vertex,
)

MOST_STEPS = 20_000
"""The search for one pattern in another is given up after so many arcs tried."""
MOST_CASES = 64
"""A pattern whose filters leave open more cases than this is taken as a whole."""

Mu = dict[Variable, Vertex]


def covers(a: Subscription, b: Subscription, model: ConceptModel) -> bool:
    """Whether every event that matches ``b`` is sure to match ``a``: each alternative of ``b`` by one of ``a``'s."""
    return all(any(_covers(one, other, model) for one in a.alternatives) for other in b.alternatives)


def _covers(a: Alternative, b: Alternative, model: ConceptModel) -> bool:
    """A residual must have a solution: the same query has one wherever it has one, and of another we know nothing."""
    return (a.residual is None or a.residual == b.residual) and covers_pattern(a.pattern, b.pattern, model)


def covers_pattern(a: Pattern, b: Pattern, model: ConceptModel) -> bool:
    """Whether every event that matches the pattern ``b`` is sure to match ``a``."""
    one, other = canonical(a, model)[0], canonical(b, model)[0]
    if one == other:
        return True
    needs_more = a.needs_home and not b.needs_home
    frozen = (FrozenPattern(case, model) for case in _cases(other))
    return all(case.is_impossible or (not needs_more and _covers_case(one, case)) for case in frozen)


def _cases(pattern: Pattern) -> list[Pattern]:
    """Patterns without disjunctions among the filters, of which one matches where this one does."""
    pending, found = [pattern], []
    while pending:
        case = pending.pop()
        place = next((n for n, f in enumerate(case.filters) if isinstance(f, Call) and f.name == "or"), None)
        if place is None:
            found.append(case)
        else:
            others = case.filters[:place] + case.filters[place + 1 :]
            pending += [replace(case, filters=(*_conjuncts(part), *others)) for part in case.filters[place].arguments]  # type: ignore[union-attr]
        if len(pending) + len(found) > MOST_CASES:
            return [pattern]
    return found


def _conjuncts(filter_: Expression) -> tuple[Expression, ...]:
    return filter_.arguments if isinstance(filter_, Call) and filter_.name == "and" else (filter_,)


def _covers_case(a: Pattern, b: FrozenPattern) -> bool:
    for wanted in a.interests:
        like = [(i.concepts, i.attached) == (wanted.concepts, wanted.attached) for i in b.pattern.interests]
        high = [i.threshold >= wanted.threshold for i in b.pattern.interests]
        if not any(same and enough for same, enough in zip(like, high, strict=True)):
            return False
    return any(_holds(a, mu, b) for mu in islice(_mappings(a, b), MOST_STEPS))


def _mappings(a: Pattern, b: FrozenPattern) -> Iterator[Mu]:
    """The mappings of one pattern's variables to the other's vertices under which its arcs are among the other's."""
    steps = 0
    vertices = list(b.vertices)
    arcs = _connected(a.arcs)
    loose = sorted((v for v in a.vertices if isinstance(v, Variable)), key=str)
    loose = [v for v in loose if not any(v in (arc.subject, arc.property, arc.object) for arc in arcs)]
    pending: list[tuple[int, Mu]] = [(0, {})]
    while pending and steps < MOST_STEPS:
        depth, mu = pending.pop()
        if depth == len(arcs) + len(loose):
            yield mu
        elif depth < len(arcs):
            arc = arcs[depth]
            for fact in b.facts[arc.scope]:
                steps += 1
                extended = dict(mu)
                places = zip((arc.subject, arc.property, arc.object), fact, strict=True)
                if all(_bind(extended, part, vertex) for part, vertex in places):
                    pending.append((depth + 1, extended))
        else:
            steps += len(vertices)
            pending += [(depth + 1, {**mu, loose[depth - len(arcs)]: vertex}) for vertex in vertices]


def _bind(mu: Mu, part: Vertex, vertex: Vertex) -> bool:
    return mu.setdefault(part, vertex) == vertex if isinstance(part, Variable) else part == vertex


def _connected(arcs: tuple[Arc, ...]) -> list[Arc]:
    """The arcs in an order in which each has, if possible, an end that is known by then."""
    left, found, known = list(arcs), [], set[Vertex]({HOME})
    while left:
        best = max(left, key=lambda arc: sum(_is_known(end, known) for end in (arc.subject, arc.object)))
        left.remove(best)
        found.append(best)
        known |= {best.subject, best.object}
    return found


def _is_known(vertex: Vertex, known: set[Vertex]) -> bool:
    return not isinstance(vertex, Variable) or vertex in known


def _holds(a: Pattern, mu: Mu, b: FrozenPattern) -> bool:
    """Whether constraints, filters and injectivity are sure to hold under a mapping."""
    vertices = b.vertices
    images = {vertex: _image(vertex, mu) for vertex in a.vertices}
    return (
        all(images[c.vertex] in vertices and b.has_class(images[c.vertex], c.cls) for c in a.classes)
        and all(b.compares(images[c.vertex], c) for c in a.is_a)
        and (a.mapping == "homomorphic" or _stay_apart(list(images.values()), b.pattern))
        and all(_is_true(filter_, mu, b) for filter_ in a.filters)
    )


def _image(vertex: Vertex, mu: Mu) -> Vertex:
    return mu[vertex] if isinstance(vertex, Variable) else vertex


def _stay_apart(images: list[Vertex], b: Pattern) -> bool:
    """Whether vertices of ``b`` are sure to stand for different resources.

    They are if ``b`` is injective too, or if they are different constants. Literals need not differ. A homomorphic
    ``b`` may take two of its vertices for one resource of the event, where an injective ``a`` then finds only one.
    """
    return all(
        isinstance(one, Literal)
        or isinstance(other, Literal)
        or (
            one != other
            and (
                (isinstance(one, NamedNode) and isinstance(other, NamedNode))
                or (b.mapping == "injective" and one in b.vertices and other in b.vertices)
            )
        )
        for one, other in combinations(images, 2)
    )


def _is_true(filter_: Expression, mu: Mu, b: FrozenPattern) -> bool:
    """Whether a filter of the one pattern is sure to be true where the other matches."""
    match filter_:
        case AttributeTest(path, test):
            return any(b.passes(vertex, test) for vertex in b.walk(path))
        case AttributeExists(path):
            return bool(b.walk(path))
        case Call("not", (AttributeExists(path),)):
            return any(_alone(path, b).walk(absent) for absent in b.absent)
        case Call("not", (AttributeTest(path, test),)):
            return bool(b.walk(path)) and _fails(path, test, b)
        case Call("and", parts):
            return all(_is_true(part, mu, b) for part in parts)
        case Call("or", parts) if any(_is_true(part, mu, b) for part in parts):
            return True
    vertex = tested_vertex(filter_)
    if vertex is not None:
        place = mu.get(vertex) if isinstance(vertex, Variable) else vertex
        return place is not None and b.passes(place, of_value(filter_))
    names = {v: image for v in variables(filter_) if isinstance(image := mu.get(v), Variable)}
    return set(names) == set(variables(filter_)) and ordered(filter_, names.__getitem__)[0] in b.filters


def _fails(path: Path, test: Expression, b: FrozenPattern) -> bool:
    """Whether no value of an attribute passes a test: none of a wider attribute passes a weaker one."""
    if implies(((test, True),), FALSE):
        return True
    alone = _alone(path, b)
    (end,) = (object_ for _, _, object_ in alone.chain[-1:])
    return any(end in alone.walk(wider) and implies(((test, True),), weaker) for wider, weaker in b.failing)


def _alone(path: Path, b: FrozenPattern) -> FrozenPattern:
    """What follows from there being a value at the end of a path."""
    return FrozenPattern(Pattern(filters=(AttributeExists(path),)), b.model)
