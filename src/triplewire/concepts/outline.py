"""A hierarchy as people look at it: named terms under their parents, part of it if it is large."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal as Choice
from typing import get_args

from pyoxigraph import NamedNode

from triplewire.concepts.hierarchy import components
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.words import fold, local_name
from triplewire.rdf.names import Names
from triplewire.rdf.terms import Resource

Kind = Choice["classes", "properties", "concepts", "interests"]
"""Classes, properties and SKOS concepts; and all that interests may name: classes, SKOS concepts and instances."""
ALL_KINDS: tuple[Kind, ...] = get_args(Kind)
KINDS = ALL_KINDS[:3]


@dataclass(frozen=True)
class Node:
    """A term, together with those that are equivalent to it; ``note`` tells it from others of the same label."""

    terms: tuple[NamedNode, ...]
    label: str
    note: str = ""


@dataclass(frozen=True)
class Outline:
    """Nodes with the nodes directly above them, of which there may be several; there are no cycles."""

    kind: Kind
    parents: Mapping[Node, tuple[Node, ...]]

    @cached_property
    def children(self) -> Mapping[Node, tuple[Node, ...]]:
        below: dict[Node, list[Node]] = defaultdict(list)
        for node, above in self.parents.items():
            for parent in above:
                below[parent].append(node)
        return {node: tuple(below[node]) for node in self.parents}

    @cached_property
    def nodes(self) -> Mapping[NamedNode, Node]:
        """The node of each term."""
        return {term: node for node in self.parents for term in node.terms}

    @cached_property
    def tops(self) -> tuple[Node, ...]:
        """The nodes with nothing above them."""
        return tuple(node for node, above in self.parents.items() if not above)

    def only(self, nodes: Iterable[Node]) -> Outline:
        """The part with these nodes and the lines between them."""
        kept = frozenset(nodes)
        parents = {n: tuple(p for p in above if p in kept) for n, above in self.parents.items() if n in kept}
        return Outline(self.kind, parents)

    def down_to(self, depth: int | None) -> Outline:
        """The part that is at most so many steps below a top."""
        return self.only(self._reached(self.tops, self.children, depth))

    def around(self, found: Iterable[Node], depth: int | None) -> Outline:
        """The part with what is above some nodes, and at most so many steps below them."""
        found = list(found)
        return self.only([*self._reached(found, self.parents, None), *self._reached(found, self.children, depth)])

    def near(self, node: Node, up: int, down: int) -> list[Node]:
        """A node, what is at most so many steps above it and so many below it; those with fewer steps first."""
        above, below = (self._reached([node], ways, n) for ways, n in ((self.parents, up), (self.children, down)))
        return list(dict.fromkeys([*above, *below]))

    def nearest_to_tops(self) -> list[Node]:
        """All nodes, those with fewer steps to a top first."""
        return self._reached(self.tops, self.children, None)

    def _reached(self, start: Iterable[Node], ways: Mapping[Node, tuple[Node, ...]], steps: int | None) -> list[Node]:
        reached = dict.fromkeys(start)
        level = list(reached)
        while level and steps != 0:
            level = list(dict.fromkeys(node for one in level for node in ways[one] if node not in reached))
            reached |= dict.fromkeys(level)
            steps = None if steps is None else steps - 1
        return list(reached)


def outline(model: ConceptModel, kind: Kind) -> Outline:
    """A hierarchy of a model's, sorted by label."""
    parents: dict[NamedNode, set[NamedNode]] = defaultdict(set)
    for child, above in _stated(model, kind):
        for term in (child, *above):
            if isinstance(term, NamedNode) and isinstance(child, NamedNode):
                parents[child].add(term)
                parents[term].add(term)
    nodes = {term: node for node in _nodes(components(parents), model) for term in node.terms}
    above_node: dict[Node, set[Node]] = {node: set() for node in nodes.values()}
    for term, above_term in parents.items():
        above_node[nodes[term]] |= {nodes[parent] for parent in above_term} - {nodes[term]}
    ordered = sorted(above_node, key=_order)
    return Outline(kind, {node: tuple(sorted(above_node[node], key=_order)) for node in ordered})


def _stated(model: ConceptModel, kind: Kind) -> Iterable[tuple[Resource, frozenset[Resource]]]:
    """Each term with what the model puts directly above it."""
    match kind:
        case "classes":
            return model.class_parents.items()
        case "properties":
            return model.property_parents.items()
        case "concepts":
            return model.broader.items()
        case "interests":
            return model.concept_parents.items()


def search(model: ConceptModel, whole: Outline, word: str) -> list[Node]:
    """The nodes that are called just so; if none is, those with the word in a label or at the end of their IRIs."""
    wanted = fold(word)
    found: list[Node] = []
    exact: list[Node] = []
    for node in whole.parents:
        names = {fold(name) for term in node.terms for name in _names(term, model)} | {t.value for t in node.terms}
        if wanted in names or word in names:
            exact.append(node)
        elif any(wanted in name for name in names):
            found.append(node)
    return exact or found


def _names(term: Resource, model: ConceptModel) -> Iterable[str]:
    if isinstance(term, NamedNode):
        yield local_name(term)
    yield from (label.value for label in model.labels.get(term, ()))


def _nodes(groups: Iterable[list[NamedNode]], model: ConceptModel) -> Iterator[Node]:
    nodes = [Node(terms, _label(terms, model)) for terms in (tuple(sorted(group, key=str)) for group in groups)]
    called = Counter(node.label for node in nodes)
    names = Names.of(())
    for node in nodes:
        yield node if called[node.label] == 1 else replace(node, note=names.full(node.terms[0]))


def _label(terms: tuple[NamedNode, ...], model: ConceptModel) -> str:
    """What equivalent terms are called, each label once."""
    labels = {fold(label): label for label in reversed([model.label(term) or str(term) for term in terms])}
    return " = ".join(sorted(labels.values()))


def _order(node: Node) -> tuple[str, str]:
    return fold(node.label), str(node.terms[0])
