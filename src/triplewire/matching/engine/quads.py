"""Many events at once, from N-Quads: the quick way from bytes to numbers.

What a term means is worked out once, and then only numbers are moved. An event that cannot be understood term by
term (it uses names that the model declares the same, lists, …) is *odd*, and goes the other way, through ``Facts``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.matching.engine.compile import ANY, ANY_VERTEX
from triplewire.matching.engine.conditions import text_of
from triplewire.matching.engine.encoded import EncodedEvents, Offsets
from triplewire.matching.engine.events import Encoder
from triplewire.matching.engine.kernels.homes import find_homes
from triplewire.matching.engine.kernels.meanings import Meanings, encode, mark_odd, measure
from triplewire.matching.engine.kernels.quads import (
    Documents,
    Local,
    Terms,
    hashed,
    number_of,
    place_all,
    read_documents,
)
from triplewire.rdf.terms import RDF, XSD, Resource

Bytes = NDArray[np.uint8]

MOST_TERMS = 1_000_000
"""So many terms are remembered before all are forgotten."""
TYPE_TERM = 0
"""The number of ``rdf:type``."""

_STRING = np.frombuffer(text_of(XSD.string), np.uint8)
_TYPE = np.frombuffer(text_of(RDF.type), np.uint8)
_OUT_OF_REACH = {b"L", b"g", b"G", b"~", ANY_VERTEX}
"""The kinds of labels that depend on more than one term, or that classes have which are only superclasses."""


class Reader:
    """Reads documents, and numbers the terms it meets."""

    def __init__(self) -> None:
        self.forgot = 0
        self._stamp = 1
        self._local = _local(0)
        self.terms: Terms
        self._forget()

    def __len__(self) -> int:
        return int(self.terms.used[0])

    def read(self, data: Bytes, offsets: Offsets, homes: Bytes, home_offsets: Offsets) -> Documents:
        """The documents ``data[offsets[d] : offsets[d + 1]]``, in UTF-8, with homes by N-Triples name or empty."""
        count = len(offsets) - 1
        lines = np.diff(np.searchsorted(np.flatnonzero(data == ord("\n")), offsets)) + 1
        total = int(lines.sum())
        self._make_room(3 * total, len(data))
        self._make_room_for_vertices(int(lines.max(initial=0)))
        documents = Documents(
            vertices=np.zeros(count + 1, np.int64),
            kinds=np.empty(2 * total, np.uint8),
            terms=np.empty(2 * total, np.int32),
            arc_offsets=np.zeros(count + 1, np.int64),
            arcs=np.empty((total, 3), np.int32),
            home=np.empty(count, np.int32),
            status=np.empty(count, np.uint8),
        )
        given = (data, offsets, homes, home_offsets)
        read_documents(*given, self.terms, self._local, self._stamp, _STRING, documents)
        self._stamp += count
        return documents

    def homes(
        self, data: Bytes, offsets: Offsets, homes: Bytes, home_offsets: Offsets
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """What each document is, and where in ``data`` its home vertex is written, which is looked for if not named."""
        count = len(offsets) - 1
        lines = np.diff(np.searchsorted(np.flatnonzero(data == ord("\n")), offsets)) + 1
        most = int(lines.max(initial=0))
        self._make_room(3 * int(lines.sum()), len(data))
        self._make_room_for_vertices(most)
        status, spans = np.empty(count, np.uint8), np.empty((count, 2), np.int64)
        find_homes(
            data, offsets, homes, home_offsets, self.terms, self._local, self._stamp, _STRING,
            np.empty(2 * most, np.uint8), np.empty(2 * most, np.int32), np.empty((most, 3), np.int32),
            np.empty(2 * most, np.bool_), status, spans,
        )  # fmt: skip
        self._stamp += count
        return status, spans

    def text(self, term: int) -> bytes:
        """The text of a term."""
        return self.terms.data[self.terms.offsets[term] : self.terms.offsets[term + 1]].tobytes()

    def _make_room(self, terms: int, size: int) -> None:
        if len(self) > MOST_TERMS:
            self._forget()
        used = int(self.terms.offsets[len(self)])
        if len(self) + terms > len(self.terms.codes) or used + size > len(self.terms.data):
            old, count = self.terms, len(self)
            self.terms = _terms(2 * (count + terms), 2 * (used + size))
            self.terms.codes[:count] = old.codes[:count]
            self.terms.offsets[: count + 1] = old.offsets[: count + 1]
            self.terms.data[:used] = old.data[:used]
            self.terms.used[0] = count
            place_all(self.terms)

    def _make_room_for_vertices(self, lines: int) -> None:
        """Of a document of so many lines."""
        if 4 * lines > len(self._local.slots):
            self._local = _local(4 * lines)

    def _forget(self) -> None:
        self.forgot += 1
        self.terms = _terms(1, len(_TYPE))
        number_of(self.terms, _TYPE, 0, len(_TYPE), hashed(_TYPE, 0, len(_TYPE)))


def _terms(count: int, size: int) -> Terms:
    slots = np.full(1 << (2 * count).bit_length(), -1, np.int32)
    return Terms(
        slots,
        np.empty(count, np.uint64),
        np.zeros(count + 1, np.int64),
        np.empty(size, np.uint8),
        np.zeros(1, np.int64),
    )


def _local(vertices: int) -> Local:
    size = 1 << vertices.bit_length()
    return Local(
        slots=np.empty(size, np.int32),
        stamps=np.zeros(size, np.int64),
        starts=np.empty(size, np.int64),
        ends=np.empty(size, np.int64),
        codes=np.empty(size, np.uint64),
    )


class QuickEncoder:
    """Puts documents that one reader has read into the numbers of an encoder's vocabulary.

    It is ``able`` to if what every term means depends on that term alone. It learns what a term means when it first
    meets it in a document, and not before: the reader may know a million that never come again. ``learned`` counts
    them.
    """

    _rows: dict[tuple[int, ...], int]
    _ranks: dict[tuple[int, ...], int]
    _known: NDArray[np.bool_]
    _meanings: Meanings

    def __init__(self, encoder: Encoder, reader: Reader) -> None:
        self._encoder = encoder
        self._reader = reader
        self._forgot = -1
        self.learned = 0
        self.able = _is_able(encoder)
        self._universal = {*encoder.universal, *(label for cls in EVERY_RESOURCE for label in self._below(cls))}

    def encode(self, documents: Documents) -> EncodedEvents:
        """The documents as events. Those that are odd, of which more are marked now, have no labels and no arcs."""
        meanings = self._meanings_in(documents)
        mark_odd(documents, meanings, b"o" in self._encoder.vocabulary.kinds)
        most_labels, most_arcs = measure(documents, meanings, TYPE_TERM)
        vertices = int(documents.vertices[-1])
        events = EncodedEvents(
            vertices=documents.vertices,
            label_offsets=np.empty(vertices + 1, np.int64),
            labels=np.empty(most_labels, np.int32),
            ranks=np.empty((meanings.ranks.shape[1], vertices), np.int32),
            arc_offsets=np.zeros(len(documents.status) + 1, np.int64),
            arcs=np.empty((most_arcs, 3), np.int32),
            resource=np.empty(vertices, np.bool_),
        )
        encode(
            documents, meanings, TYPE_TERM, np.empty(vertices, np.int32), np.empty(len(documents.arcs), np.int32),
            events.label_offsets, events.labels, events.ranks, events.resource, events.arc_offsets, events.arcs,
        )  # fmt: skip
        return events

    def _meanings_in(self, documents: Documents) -> Meanings:
        """The meanings of all terms in some documents, and of those met before."""
        if self._forgot != self._reader.forgot:
            self._begin()
        if len(self._known) < len(self._reader):
            size = 2 * len(self._reader)
            self._known = _grown(self._known, size)
            of, odd = _grown(self._meanings.of, size), _grown(self._meanings.odd, size)
            self._meanings = self._meanings._replace(of=of, odd=odd)
        vertices = documents.terms[: documents.vertices[-1]]
        terms = np.concatenate([vertices[vertices >= 0], documents.arcs[: documents.arc_offsets[-1], 1]])
        unknown = np.unique(terms[~self._known[terms]])
        if len(unknown):
            self._learn(unknown)
        return self._meanings

    def _begin(self) -> None:
        """Know nothing, as the reader has begun to number terms anew."""
        self._forgot = self._reader.forgot
        self._rows, self._ranks = {}, {}
        self._known = np.empty(0, np.bool_)
        self._meanings = Meanings(
            of=np.empty((0, 5), np.int32),
            odd=np.empty(0, np.bool_),
            rows=np.zeros(1, np.int64),
            lists=np.empty(0, np.int32),
            ranks=np.empty((0, len(self._encoder.vocabulary.domains.names)), np.int32),
        )
        _number(self._rows, self._universal)

    def _learn(self, terms: NDArray[np.int32]) -> None:
        """Have the meanings of further terms."""
        learned = [self._learned(self._reader.text(term)) for term in terms.tolist()]
        old = self._meanings
        old.of[terms] = [numbers for numbers, _ in learned]
        old.odd[terms] = [odd for _, odd in learned]
        self._known[terms] = True
        self.learned += len(learned)
        rows = list(self._rows)[len(old.rows) - 1 :]
        ranks = list(self._ranks)[len(old.ranks) :]
        self._meanings = old._replace(
            rows=np.concatenate([old.rows, old.rows[-1] + np.cumsum([len(row) for row in rows], dtype=np.int64)]),
            lists=np.concatenate([old.lists, np.array([number for row in rows for number in row], np.int32)]),
            ranks=np.concatenate([old.ranks, np.array(ranks, np.int32).reshape(len(ranks), old.ranks.shape[1])]),
        )

    def _learned(self, text: bytes) -> tuple[tuple[int, ...], bool]:
        """What a term means as a vertex, as a class and as a property."""
        encoder = self._encoder
        ranks = [-1] * len(encoder.vocabulary.domains.names)
        if text.startswith(b"<"):
            term = NamedNode(text[1:-1].decode())
            own, typed = self._own(term), self._typed(term)
            linked, told = set(self._linked(term)), set(self._told(term))
            odd = _is_odd(term, encoder.model)
        else:
            literal = _literal(text)
            places = encoder.places(literal)
            own = {*encoder.labels_of_literal(literal), *self._stated(literal.datatype)}
            typed, linked, told = set(), set(), set()
            for domain, first, _ in places:
                ranks[domain] = first
            odd = any(first != last for _, first, last in places)
        rows = (_number(self._rows, row) for row in (own, typed, linked, told))
        return (*rows, _number(self._ranks, ranks, False)), odd

    def _own(self, term: NamedNode) -> set[int]:
        """The labels of a vertex of that name, those by the types included that the model asserts."""
        model = self._encoder.model
        classes = model.types.get(term, frozenset())
        parents = model.class_parents.get(term, frozenset())
        found = {*self._universal, *self._encoder.labels_of_name(term), *self._below(term)}
        for cls in classes:
            found.update(self._typed(cls, stated=cls != term))
        return found.union(*(self._stated(cls) for cls in parents if cls != term))

    def _typed(self, cls: Resource, stated: bool = True) -> set[int]:
        """The labels of what is stated to be of a class."""
        found = {
            label for upper in self._encoder.model.superclasses(cls) for label in self._encoder.labels_of_type(upper)
        }
        return found.union(self._below(cls), self._stated(cls) if stated else ())

    def _below(self, cls: Resource) -> Iterable[int]:
        """The labels of being at or below the classes above one."""
        return (label for label, _ in self._encoder.labels_above(cls) if label >= 0)

    def _stated(self, cls: Resource) -> Iterable[int]:
        label = self._encoder.vocabulary.label(b"e" + text_of(cls))
        return (label,) if label >= 0 else ()

    def _linked(self, property_: NamedNode) -> Iterable[int]:
        return self._arcs(property_, self._encoder.model.entailed(property_))

    def _told(self, property_: NamedNode) -> Iterable[int]:
        return self._arcs(property_, ((above, False) for above in self._encoder.model.superproperties(property_)))

    def _arcs(self, property_: NamedNode, entailed: Iterable[tuple[NamedNode, bool]]) -> Iterable[int]:
        """The arcs that an arc of a property is entered as, in all scopes."""
        find = self._encoder.vocabulary.properties.find
        yield from (2 * number for text in (text_of(property_), ANY) if (number := find(b"a" + text)) >= 0)
        if property_ != RDF.type:
            for upper, back in entailed:
                for text in (b"c" + text_of(upper), b"r" + text_of(upper), b"r" + ANY):
                    if (number := find(text)) >= 0:
                        yield 2 * number + back


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """An array with more room, of zeros, which cost nothing before they are touched."""
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _number(rows: dict[tuple[int, ...], int], row: Iterable[int], ascending: bool = True) -> int:
    """The number of a row among others, a new one if it was not there."""
    key = tuple(sorted(set(row))) if ascending else tuple(row)
    return rows.setdefault(key, len(rows))


def _literal(text: bytes) -> Literal:
    (triple,) = parse(b"<a:a> <a:a> " + text + b" .", RdfFormat.N_TRIPLES)
    literal: Literal = triple.object
    return literal


def _is_able(encoder: Encoder) -> bool:
    """Whether nothing is asked that depends on more than single terms, such as arcs to the classes above a class."""
    vocabulary, model = encoder.vocabulary, encoder.model
    closed = [ANY, *(text_of(upper) for upper, _ in model.entailed(RDF.type))]
    return (
        model.typing == "asserted"
        and vocabulary.kinds.isdisjoint(_OUT_OF_REACH)
        and all(vocabulary.properties.find(b"c" + text) < 0 for text in closed)
        and not any(isinstance(name, BlankNode) for name in model.names)
    )


def _is_odd(term: NamedNode, model: ConceptModel) -> bool:
    """Whether what a term means depends on what else the event says."""
    properties = {upper for upper, _ in model.entailed(term)}
    return term in model.names or term in (RDF.first, RDF.rest) or (term != RDF.type and RDF.type in properties)
