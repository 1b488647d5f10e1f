"""The array of extended meta-statements, in which statement patterns wait."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, THINGS, ConceptModel
from triplewire.matching.papers.statements import Label, StatementPattern, SubscriptionGraph
from triplewire.rdf.terms import RDF, RDFS, Resource
from triplewire.subscriptions.pattern import Home

FULL = 5_000
"""The array holds every valid meta-statement if they are no more than this, else those that subscriptions name."""

REMEMBERED = 20_000
"""So many meta-statements of events are remembered together with what is above them."""

Contents = tuple[Home | NamedNode | Literal | None, Label | None]
"""What a statement pattern asks of its object: that it is the home vertex or a constant, and a label."""


class Entry:
    """A meta-statement with the statement patterns about the home vertex that wait for it.

    Patterns with equal contents wait as one, which their subscriptions observe.
    """

    __slots__ = ("meta", "users", "waiting")

    def __init__(self, meta: MetaStatement) -> None:
        self.meta = meta
        self.users = 0
        self.waiting: dict[Contents, dict[StatementPattern, SubscriptionGraph]] = {}

    def __repr__(self) -> str:
        return f"Entry({', '.join(map(str, self.meta))})"


class EMSArray:
    """Meta-statements in alphabetical order, each with its ancestors and its waiting patterns.

    Meta-statements that a subscription names are always there, also those that the model's do not allow.
    """

    def __init__(self, model: ConceptModel) -> None:
        self._model = model
        self._keys: list[tuple[str, ...]] = []
        self.entries: list[Entry] = []
        self._by_property: dict[NamedNode, list[Entry]] = defaultdict(list)
        self._ancestors: dict[tuple[MetaStatement, bool], tuple[Entry, ...]] = {}
        self._superproperties: dict[NamedNode, frozenset[NamedNode]] = {}
        for meta in _valid(model):
            self.enter(meta)

    def find(self, meta: MetaStatement) -> Entry | None:
        """The entry of a meta-statement, by binary search."""
        key = tuple(map(str, meta))
        place = bisect_left(self._keys, key)
        return self.entries[place] if place < len(self._keys) and self._keys[place] == key else None

    def number(self, entry: Entry) -> int:
        """The place of an entry in the array, counted from 1 as the paper does."""
        return bisect_left(self._keys, tuple(map(str, entry.meta))) + 1

    def enter(self, meta: MetaStatement) -> Entry:
        """The entry of a meta-statement that the model or a subscription names, made if need be."""
        entry = self.find(meta)
        if entry is None:
            entry = Entry(meta)
            key = tuple(map(str, meta))
            place = bisect_left(self._keys, key)
            self._keys.insert(place, key)
            self.entries.insert(place, entry)
            self._by_property[meta.property].append(entry)
            self._ancestors.clear()
        entry.users += 1
        return entry

    def leave(self, entry: Entry) -> None:
        """Undo one ``enter``; an entry that nobody names any more is dropped."""
        entry.users -= 1
        if not entry.users:
            place = self.number(entry) - 1
            del self._keys[place], self.entries[place]
            self._by_property[entry.meta.property].remove(entry)
            self._ancestors.clear()

    def at_or_above(self, meta: MetaStatement, literal: bool) -> tuple[Entry, ...]:
        """The entry of a meta-statement and its ancestors: whatever satisfies it satisfies them.

        ``literal`` says that the object class is the datatype of a literal, not the class of a resource.
        """
        key = (meta, literal)
        found = self._ancestors.get(key)
        if found is None:
            if len(self._ancestors) >= REMEMBERED:
                self._ancestors.clear()
            found = self._ancestors[key] = tuple(self._above(meta, literal))
        return found

    def _above(self, meta: MetaStatement, literal: bool) -> Iterator[Entry]:
        subject_classes = self._classes(meta.subject_class, literal=False)
        object_classes = self._classes(meta.object_class, literal)
        for property_ in self.superproperties(meta.property):
            for entry in self._by_property.get(property_, ()):
                if entry.meta.subject_class in subject_classes and entry.meta.object_class in object_classes:
                    yield entry

    def _classes(self, cls: NamedNode, literal: bool) -> frozenset[Resource]:
        if literal:
            return (self._model.superclasses(cls) | EVERY_LITERAL) - THINGS
        return EVERY_RESOURCE if cls == RDFS.Resource else self._model.superclasses(cls) | EVERY_RESOURCE

    def superproperties(self, property_: NamedNode) -> frozenset[NamedNode]:
        """The properties at or above one; a statement pattern never matches ``rdf:type``, which is therefore none."""
        found = self._superproperties.get(property_)
        if found is None:
            if len(self._superproperties) >= REMEMBERED:
                self._superproperties.clear()
            found = self._superproperties[property_] = self._model.superproperties(property_) - {RDF.type}
        return found


def _valid(model: ConceptModel) -> set[MetaStatement]:
    """Every meta-statement below one of the model's; none at all if they would be too many."""
    found: set[MetaStatement] = set()
    for stated in model.meta_statements:
        properties = [p for p in model.property_hierarchy.below(stated.property) if isinstance(p, NamedNode)]
        subjects, objects = model.subclasses(stated.subject_class), model.subclasses(stated.object_class)
        if len(found) + len(subjects) * len(properties) * len(objects) > FULL:
            return set()
        found.update(map(MetaStatement._make, product(subjects, properties, objects)))
    return found
