"""From numbers of terms to the numbers of one vocabulary: labels, ranks and arcs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, part
from .quads import BLANK, LITERAL, ODD

OWN, TYPED, LINKED, TOLD, RANK = range(5)
"""What there is to know of a term: see ``Meanings``."""


class Meanings(NamedTuple):
    """What terms mean in one vocabulary. Row ``r`` of numbers is ``lists[rows[r] : rows[r + 1]]``.

    ``of[term]`` are the numbers of rows: of the labels that a vertex has by its OWN name or value; of those that a
    vertex TYPED by it has; of arcs between resources (LINKED) and to literals (TOLD), each ``2 * property``, plus 1 if
    it runs back; and its row of ``ranks``. ``odd`` terms cannot be understood one by one. Row 0 is that of the
    labels that every resource has.
    """

    of: NDArray[np.int32]
    odd: NDArray[np.bool_]
    rows: NDArray[np.int64]
    lists: NDArray[np.int32]
    ranks: NDArray[np.int32]


@kernel
def mark_odd(documents, meanings, loops):
    """Mark the documents with odd terms; and those with loops, if ``loops`` matter."""
    for d in range(len(documents.status)):
        for v in range(documents.vertices[d], documents.vertices[d + 1]):
            if documents.terms[v] >= 0 and meanings.odd[documents.terms[v]]:
                documents.status[d] = ODD
        for a in range(documents.arc_offsets[d], documents.arc_offsets[d + 1]):
            s, p, o = documents.arcs[a]
            if meanings.odd[p] or (loops and s == o):
                documents.status[d] = ODD


@kernel
def _length(meanings, row):
    return meanings.rows[row + 1] - meanings.rows[row]


@kernel
def measure(documents, meanings, type_term):
    """The most labels and arcs that the documents can come to."""
    labels = np.int64(len(documents.status))
    arcs = np.int64(0)
    for v in range(documents.vertices[-1]):
        labels += _length(meanings, meanings.of[documents.terms[v], OWN] if documents.terms[v] >= 0 else 0)
    for d in range(len(documents.status)):
        first = documents.vertices[d]
        for a in range(documents.arc_offsets[d], documents.arc_offsets[d + 1]):
            o = first + documents.arcs[a, 2]
            p = documents.arcs[a, 1]
            arcs += _length(meanings, meanings.of[p, TOLD] if documents.kinds[o] == LITERAL else meanings.of[p, LINKED])
            if p == type_term and documents.terms[o] >= 0:
                labels += _length(meanings, meanings.of[documents.terms[o], TYPED])
    return labels, arcs


@kernel
def _insert(labels, first, end, label):
    """Put a label into the ascending row ``labels[first:end]`` unless it is there; returns where the row ends then."""
    i = end
    while i > first and labels[i - 1] > label:
        i -= 1
    if i > first and labels[i - 1] == label:
        return end
    for j in range(end, i, -1):
        labels[j] = labels[j - 1]
    labels[i] = label
    return end + 1


@part
def _enter_arcs(d, documents, meanings, type_term, heads, nexts, arcs, count):
    """Enter the arcs that a document's arcs mean; tell how many there are. Arcs to classes are chained by subject."""
    first = documents.vertices[d]
    for a in range(documents.arc_offsets[d], documents.arc_offsets[d + 1]):
        s, p, o = documents.arcs[a]
        if p == type_term:
            nexts[a] = heads[first + s]
            heads[first + s] = a
        row = meanings.of[p, TOLD] if documents.kinds[first + o] == LITERAL else meanings.of[p, LINKED]
        for i in range(meanings.rows[row], meanings.rows[row + 1]):
            back = meanings.lists[i] & 1
            arcs[count, 0] = o if back else s
            arcs[count, 1] = meanings.lists[i] >> 1
            arcs[count, 2] = s if back else o
            count += 1
    return count


@part
def _enter_labels(v, first, home, documents, meanings, heads, nexts, labels, end):
    """Enter the labels of a vertex, ascending, behind all others; tell where they end."""
    start = end
    if home:
        labels[end] = 0
        end += 1
    row = meanings.of[documents.terms[v], OWN] if documents.kinds[v] != BLANK else 0
    for i in range(meanings.rows[row], meanings.rows[row + 1]):
        labels[end] = meanings.lists[i]
        end += 1
    a = heads[v]
    while a >= 0:
        cls = documents.terms[first + documents.arcs[a, 2]]
        if cls >= 0:
            row = meanings.of[cls, TYPED]
            for i in range(meanings.rows[row], meanings.rows[row + 1]):
                end = _insert(labels, start, end, meanings.lists[i])
        a = nexts[a]
    return end


@kernel
def encode(documents, meanings, type_term, heads, nexts, label_offsets, labels, ranks, resource, arc_offsets, arcs):
    """Fill the arrays of encoded events. A document that is odd becomes an event without vertices' labels and arcs.

    ``heads`` and ``nexts`` are room for chains of the vertices' type arcs: one for each vertex, and for each arc.
    """
    end = np.int64(0)
    count = np.int64(0)
    for d in range(len(documents.status)):
        first, last = documents.vertices[d], documents.vertices[d + 1]
        plain = documents.status[d] != ODD
        heads[first:last] = -1
        if plain:
            count = _enter_arcs(d, documents, meanings, type_term, heads, nexts, arcs, count)
        for v in range(first, last):
            label_offsets[v] = end
            term = documents.terms[v]
            resource[v] = documents.kinds[v] != LITERAL
            for domain in range(ranks.shape[0]):
                ranks[domain, v] = meanings.ranks[meanings.of[term, RANK], domain] if term >= 0 else -1
            if plain:
                home = v - first == documents.home[d]
                end = _enter_labels(v, first, home, documents, meanings, heads, nexts, labels, end)
        arc_offsets[d + 1] = count
    label_offsets[documents.vertices[-1]] = end
