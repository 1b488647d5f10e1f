"""Events as numbers: which labels each vertex has, where its values stand, and its arcs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.matching.engine.compile import ANY, ANY_VERTEX, SCOPES, STANDALONE
from triplewire.matching.engine.conditions import UNLIKE_LITERALS, UNLIKE_NUMBERS, text_of
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, offsets_of
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.nearness import SimilarLabels
from triplewire.matching.engine.ranks import Domains, is_nan
from triplewire.matching.engine.texts import Dictionary
from triplewire.rdf.terms import Resource, Term
from triplewire.subscriptions.pattern import Scope

Places = tuple[tuple[int, int, int], ...]
Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")

MOST_REMEMBERED = 100_000
"""How many terms an encoder remembers what it found out about."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of some patterns. Label ``n`` of the dictionary has the number ``n + 1``; 0 is the home vertex's."""

    labels: Dictionary
    properties: Dictionary
    domains: Domains

    @cached_property
    def kinds(self) -> frozenset[bytes]:
        """The kinds of labels that there are, by their first letters."""
        texts = self.labels.texts
        return frozenset(bytes([letter]) for letter in np.unique(texts.data[texts.offsets[:-1]]).tobytes())

    @cached_property
    def scopes(self) -> list[Scope]:
        """The scopes of arcs that there are."""
        texts = self.properties.texts
        used = frozenset(np.unique(texts.data[texts.offsets[:-1]]).tobytes())
        loops = b"o" in self.kinds
        return [scope for scope, letter in SCOPES.items() if letter[0] in used or loops]

    def label(self, text: bytes) -> int:
        """The number of a label, or -1."""
        found = self.labels.find(text) if text[:1] in self.kinds else -1
        return -1 if found < 0 else found + 1


class Encoder:
    """Puts events into the numbers of one vocabulary, and remembers what it found out about terms."""

    def __init__(self, vocabulary: Vocabulary, model: ConceptModel) -> None:
        self.vocabulary = vocabulary
        self.model = model
        self.labels_of_type = _Memory(self._labels_of_type)
        self.labels_of_literal = _Memory(self._labels_of_literal)
        self._labels_of_datatype = _Memory(self._labels_of_any)
        self.labels_of_name = _Memory(self._labels_of_name)
        self.labels_above = _Memory(self._labels_above)
        self._properties = _Memory(self._property)
        self.places = _Memory(self._places_of)
        everywhere = (b"c" + text_of(cls) for cls in EVERY_RESOURCE)
        self.universal = self._labels([ANY_VERTEX, STANDALONE, UNLIKE_NUMBERS, UNLIKE_LITERALS, *everywhere])
        self._standalone = vocabulary.label(STANDALONE) >= 0
        self._compares = not vocabulary.kinds.isdisjoint({b"l", b"L", b"e", b"g", b"G"})

    def encode(self, facts: Facts) -> tuple[EncodedEvent, bool]:
        """The event, and whether that is all that there is to say.

        It is not if a value is rounded onto several bounds: then it stands there once for each, and some that match
        may not.
        """
        arcs, loops = self.arcs(facts)
        entered = self.entered(facts, arcs)
        terms = [facts.vertices[vertex] for vertex in entered]
        numbers = {term: number for number, term in enumerate(terms)}
        labels = [self._vertex(term, facts) for term in terms]
        if facts.closed.home is not None:
            labels[numbers[facts.closed.home]].add(HOME_LABEL)
        for vertex, loop in loops:
            if facts.vertices[vertex] in numbers:
                labels[numbers[facts.vertices[vertex]]].add(loop)
        if self._compares:
            self._compare(facts, numbers, labels)
        if self._similar is not None:
            for term, own in zip(terms, labels, strict=True):
                own.update(self._similar.of(facts.closed.profiles.of(term)))
        ranks, copies = self._ranks(terms)
        places = np.full(len(facts.vertices), -1, np.int32)
        places[entered] = np.arange(len(entered))
        rows = np.array(arcs, np.int32).reshape(-1, 3)
        rows[:, [0, 2]] = places[rows[:, [0, 2]]]
        more = [rows[rows[:, 2] == original] for original in copies]
        for number, some in enumerate(more):
            some[:, 2] = len(terms) + number
        resource = [not isinstance(term, Literal) for term in terms] + [False] * len(copies)
        labels += [labels[original] for original in copies]
        return _encoded(labels, ranks, np.concatenate([rows, *more]), resource), not copies

    def entered(self, facts: Facts, arcs: list[tuple[int, int, int]]) -> list[int]:
        """The vertices that patterns can reach: if none asks for a vertex by itself, those at the ends of arcs."""
        if self._standalone:
            return list(range(len(facts.vertices)))
        ends = {arc[0] for arc in arcs} | {arc[2] for arc in arcs}
        if facts.closed.home is not None:
            ends.add(facts.numbers[facts.closed.home])
        return sorted(ends)

    def _vertex(self, term: Term, facts: Facts) -> set[int]:
        """The labels of a vertex by itself, without comparisons in the taxonomy and loops."""
        if isinstance(term, Literal):
            return set(self.labels_of_literal(term))
        found = set(self.universal)
        if isinstance(term, NamedNode) or term in self.model.names:
            found.update(self.labels_of_name(term))
        for cls in facts.types.get(term, ()):
            found.update(self.labels_of_type(cls))
        return found

    def _labels(self, texts: Iterable[bytes]) -> tuple[int, ...]:
        return tuple(number for text in texts if (number := self.vocabulary.label(text)) >= 0)

    def _labels_of_name(self, term: Resource) -> tuple[int, ...]:
        return self._labels([b"i" + text_of(self.model.names.get(term, term))])

    def _labels_of_type(self, cls: Resource) -> tuple[int, ...]:
        return self._labels(kind + text_of(name) for name in self.model.aliases(cls) for kind in (b"c", b"t"))

    def _labels_of_literal(self, literal: Literal) -> tuple[int, ...]:
        own = [b"i" + text_of(literal), *((UNLIKE_NUMBERS,) if is_nan(literal) else ())]
        return self._labels(own) + self._labels_of_datatype(literal.datatype)

    def _labels_of_any(self, datatype: NamedNode) -> tuple[int, ...]:
        """The labels of whatever literal of a datatype."""
        classes = self.model.datatype_classes(datatype)
        above = {upper for cls in classes for upper in self.model.class_hierarchy.above(cls)}
        own = [ANY_VERTEX, STANDALONE, *(b"c" + text_of(cls) for cls in classes)]
        return self._labels([*own, *(kind + text_of(cls) for cls in above for kind in (b"l", b"L"))])

    def _labels_above(self, cls: Resource) -> tuple[tuple[int, int], ...]:
        """For each class above one, the labels of being at or below it and of being below it; -1 for no such label."""
        texts = map(text_of, self.model.class_hierarchy.above(cls))
        pairs = ((self.vocabulary.label(b"l" + text), self.vocabulary.label(b"L" + text)) for text in texts)
        return tuple(pair for pair in pairs if pair != (-1, -1))

    def _compare(self, facts: Facts, numbers: dict[Term, int], labels: list[set[int]]) -> None:
        """Add the labels of comparisons in the taxonomy."""
        for term, own in zip(numbers, labels, strict=True):
            own.update(self._stated(term, facts))
            if not isinstance(term, Literal):
                own.update(self._at_or_below(term, facts))
        for upper, label in self._at_or_above(facts):
            if upper in numbers:
                labels[numbers[upper]].add(label)

    def _stated(self, term: Term, facts: Facts) -> Iterator[int]:
        """The labels of the classes that are stated outright."""
        for cls in facts.closed.asserted_classes(term):
            names = () if isinstance(cls, Literal) else self.model.aliases(cls)
            yield from self._labels(b"e" + text_of(name) for name in names if facts.closed.name(name) == cls)

    def _at_or_below(self, term: Resource, facts: Facts) -> Iterator[int]:
        """The labels of the classes that a resource is at or below."""
        hierarchy = self.model.class_hierarchy
        same = {up for up in hierarchy.above(term) if hierarchy.is_below(up, term)}
        excluded = {-1, *self._labels(b"L" + text_of(name) for name in same)}
        for cls in self._classes(term, facts):
            for at_or_below, below in self.labels_above(cls):
                yield from {at_or_below, below} - excluded

    def _at_or_above(self, facts: Facts) -> Iterator[tuple[Term, int]]:
        """The labels of being above some class, each with a term that is."""
        hierarchy = self.model.class_hierarchy
        for cls, numbers in self._lower:
            node = facts.closed.names.get(cls, cls)
            for upper in {up for one in self._classes(node, facts) for up in hierarchy.above(one)}:
                same = hierarchy.is_below(upper, node) and hierarchy.is_below(node, upper)
                yield from ((facts.closed.name(upper), label) for label, higher in numbers if not (higher and same))

    def _classes(self, term: Resource, facts: Facts) -> Iterator[Resource]:
        """A resource itself and its classes, whether or not it is a vertex of the event."""
        yield term
        yield from EVERY_RESOURCE
        yield from facts.types.get(term, ())
        for name in self.model.aliases(term):
            yield from self.model.types.get(name, ())

    @cached_property
    def _similar(self) -> SimilarLabels | None:
        """The labels of similarity, if any are asked for."""
        if b"~" not in self.vocabulary.kinds:
            return None
        asked = ((n + 1, text) for n, text in enumerate(self.vocabulary.labels.texts) if text[:1] == b"~")
        return SimilarLabels(asked, self.model)

    @cached_property
    def _lower(self) -> list[tuple[NamedNode, list[tuple[int, bool]]]]:
        """The classes that something is asked to be above of, and the numbers of the labels that ask it."""
        found: dict[bytes, list[tuple[int, bool]]] = {}
        for number, text in enumerate(self.vocabulary.labels.texts):
            if text[:1] in (b"g", b"G"):
                found.setdefault(text[1:], []).append((number + 1, text[:1] == b"G"))
        return [(NamedNode(text.decode("utf-8", "surrogatepass")[1:-1]), numbers) for text, numbers in found.items()]

    def _property(self, key: tuple[bytes, NamedNode]) -> tuple[int, int]:
        """The number of a property in a scope, and the number of the label for a loop; -1 where there is none."""
        text = key[0] + text_of(key[1])
        return self.vocabulary.properties.find(text), self.vocabulary.label(b"o" + text)

    def arcs(self, facts: Facts) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
        """The arcs that patterns name; and the loops that they do, each with its vertex."""
        arcs: list[tuple[int, int, int]] = []
        loops: list[tuple[int, int]] = []
        for scope in self.vocabulary.scopes:
            letter = SCOPES[scope]
            by_property = facts.arcs(scope)
            for property_, ends in by_property.items():
                number, loop = self._properties((letter, property_))
                if number >= 0:
                    arcs += [(s, number, o) for s, o in ends]
                if loop >= 0:
                    loops += [(s, loop) for s, o in ends if s == o]
            number, loop = self._any(letter)
            if number >= 0 or loop >= 0:
                pairs = {pair for ends in by_property.values() for pair in ends}
                arcs += [(s, number, o) for s, o in pairs if number >= 0]
                loops += [(s, loop) for s, o in pairs if s == o and loop >= 0]
        return arcs, loops

    def _any(self, letter: bytes) -> tuple[int, int]:
        """The number of any property in a scope, and of the label for a loop of any."""
        return self.vocabulary.properties.find(letter + ANY), self.vocabulary.label(b"o" + letter + ANY)

    def _places_of(self, literal: Literal) -> Places:
        return tuple(self.vocabulary.domains.places(literal))

    def _ranks(self, terms: list[Term]) -> tuple[NDArray[np.int32], list[int]]:
        """The ranks of values, and the vertices that stand in several places and are entered once more for each."""
        count = len(self.vocabulary.domains.names)
        columns: list[list[int]] = []
        copies: list[int] = []
        more: list[list[int]] = []
        for vertex, term in enumerate(terms):
            column = [-1] * count
            if count and isinstance(term, Literal):
                places = self.places(term)
                for domain, first, _ in places:
                    column[domain] = first
                choices = [range(first, last + 1, 2) for _, first, last in places]
                if any(len(choice) > 1 for choice in choices):
                    for chosen in islice(product(*choices), 1, None):
                        ranks = dict(zip((domain for domain, _, _ in places), chosen, strict=True))
                        more.append([ranks.get(domain, -1) for domain in range(count)])
                        copies.append(vertex)
            columns.append(column)
        columns += more
        return np.array(columns, np.int32).reshape(len(columns), count).T, copies


class _Memory(dict[Key, Answer]):
    """A function's answers, kept until they are very many."""

    def __init__(self, function: Callable[[Key], Answer]) -> None:
        super().__init__()
        self.function = function

    def __call__(self, key: Key) -> Answer:
        return self[key]

    def __missing__(self, key: Key) -> Answer:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        answer = self[key] = self.function(key)
        return answer


def _encoded(
    labels: list[set[int]], ranks: NDArray[np.int32], arcs: NDArray[np.int32], resource: list[bool]
) -> EncodedEvent:
    return EncodedEvent(
        label_offsets=offsets_of(map(len, labels)),
        labels=np.array([label for own in labels for label in sorted(own)], np.int32),
        ranks=np.ascontiguousarray(ranks),
        arcs=arcs,
        resource=np.array(resource, np.bool_),
    )
