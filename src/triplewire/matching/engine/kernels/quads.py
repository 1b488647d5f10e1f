"""Reading N-Quads: from bytes to numbers of terms, without an object for a triple or a term.

Only the plain form is read, as events are written inside the pipeline. A document with anything else in it (an escape
that could be left out, a comment, an unusual IRI or language tag, a mistake) is *odd*: it is left to the parser, which
knows all of the syntax.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, part

BLANK, IRI, LITERAL = 0, 1, 2
PLAIN, ODD, GRAPHS = 0, 1, 2
"""What a document is: plain, odd, or plain with names of graphs, which N-Triples may not have."""

_SPACE, _TAB, _FEED, _RETURN = 32, 9, 10, 13
_QUOTE, _HASH, _PERCENT, _LESS, _GREATER, _BACKSLASH = 34, 35, 37, 60, 62, 92
_UNDERSCORE, _COLON, _DOT, _AT, _CARET, _DASH, _SLASH, _QUESTION = 95, 58, 46, 64, 94, 45, 47, 63

_IN_IRI = np.array([byte > _SPACE and byte != 127 and chr(byte) not in '<"\\[]^`{|}' for byte in range(256)])
"""The bytes that an IRI may have."""


class Terms(NamedTuple):
    """Texts of terms, each with a number: text ``i`` is ``data[offsets[i] : offsets[i + 1]]``.

    ``slots`` is an open hash table of numbers, -1 where it is free; ``used`` has one element: how many there are.
    """

    slots: NDArray[np.int32]
    codes: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    used: NDArray[np.int64]


class Documents(NamedTuple):
    """Documents as they were read: ``d`` has the vertices ``vertices[d] … vertices[d + 1]``, and arcs likewise.

    ``terms`` are the vertices' terms, -1 for blank nodes. The ends of arcs are counted from the document's own first
    vertex; between them stands the term of the property.
    """

    vertices: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    terms: NDArray[np.int32]
    arc_offsets: NDArray[np.int64]
    arcs: NDArray[np.int32]
    home: NDArray[np.int32]
    status: NDArray[np.uint8]


class Local(NamedTuple):
    """What reading one document writes to: its vertices by text. ``stamps`` say to which document a slot belongs."""

    slots: NDArray[np.int32]
    stamps: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    codes: NDArray[np.uint64]


@kernel
def hashed(data, start, end):
    """A hash of some bytes."""
    code = np.uint64(14695981039346656037)
    for i in range(start, end):
        code = (code ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return code ^ (code >> np.uint64(29))


@kernel
def same(a, first, b, second, length):
    """Whether two runs of bytes are the same."""
    i = 0
    while i < length and a[first + i] == b[second + i]:
        i += 1
    return i == length


@kernel
def number_of(terms, data, start, end, code):
    """The number of a term, a new one if it was not there. The caller has seen to it that there is room."""
    mask = np.uint64(len(terms.slots) - 1)
    slot = code & mask
    length = end - start
    while True:
        found = terms.slots[slot]
        if found < 0:
            break
        first = terms.offsets[found]
        if (
            terms.codes[found] == code
            and terms.offsets[found + 1] - first == length
            and same(terms.data, first, data, start, length)
        ):
            return np.int64(found)
        slot = (slot + np.uint64(1)) & mask
    number = terms.used[0]
    terms.used[0] = number + 1
    terms.slots[slot] = number
    terms.codes[number] = code
    first = terms.offsets[number]
    terms.offsets[number + 1] = first + length
    for i in range(length):
        terms.data[first + i] = data[start + i]
    return number


@kernel
def _letter(byte):
    return 97 <= (byte | 32) <= 122


@kernel
def _digit(byte):
    return 48 <= byte <= 57


@kernel
def _escape(byte):
    """Whether a byte is the letter of an escape that plain form has: b, f, n, r or t."""
    return byte == 98 or byte == 102 or byte == 110 or byte == 114 or byte == 116


@kernel
def _hex(byte):
    return _digit(byte) or 97 <= (byte | 32) <= 102


@kernel
def end_of_iri(data, start, end):
    """Where an IRI in angle brackets ends, or -1 if it is odd."""
    if start + 3 > end or not _letter(data[start + 1]):
        return -1
    i = start + 2
    while i < end and (_letter(data[i]) or _digit(data[i]) or data[i] == 43 or data[i] == _DASH or data[i] == _DOT):
        i += 1
    if i >= end or data[i] != _COLON:
        return -1
    i += 1
    if i + 1 < end and data[i] == _SLASH and data[i + 1] == _SLASH:
        i = _end_of_authority(data, i + 2, end)
    fragment = False
    while i < end:
        byte = data[i]
        if byte == _GREATER:
            return i + 1
        if not _IN_IRI[byte] or (byte == _HASH and fragment):
            return -1
        if byte >= 0xEE or (byte == 0xC2 and (i + 1 >= end or data[i + 1] < 0xA0)):  # some of these no IRI may have
            return -1
        if byte == _PERCENT and (i + 2 >= end or not _hex(data[i + 1]) or not _hex(data[i + 2])):
            return -1
        fragment |= byte == _HASH
        i += 1
    return -1


@kernel
def _end_of_authority(data, i, end):
    """Where the name and port after ``//`` end; the end of all if there is anything else in it."""
    while i < end and (_letter(data[i]) or _digit(data[i]) or data[i] == _DASH or data[i] == _DOT):
        i += 1
    if i < end and data[i] == _COLON:
        i += 1
        while i < end and _digit(data[i]):
            i += 1
    ended = i < end and (data[i] == _SLASH or data[i] == _HASH or data[i] == _GREATER or data[i] == _QUESTION)
    return i if ended else end


@kernel
def end_of_blank(data, start, end):
    """Where a blank node's label ends, or -1 if it is odd."""
    i = start + 2
    if i >= end or data[start + 1] != _COLON or not (_letter(data[i]) or _digit(data[i]) or data[i] == _UNDERSCORE):
        return -1
    while i < end and (
        _letter(data[i]) or _digit(data[i]) or data[i] == _UNDERSCORE or data[i] == _DASH or data[i] == _DOT
    ):
        i += 1
    return -1 if data[i - 1] == _DOT or (i < end and data[i] >= 128) else i


@kernel
def end_of_literal(data, start, end, string_type):
    """Where a literal ends, or -1 if it is odd. ``string_type`` is the datatype that plain form leaves out."""
    i = start + 1
    while i < end and data[i] != _QUOTE:
        byte = data[i]
        if byte < _SPACE or byte == 127:
            return -1
        if byte == _BACKSLASH:
            i += 1
            if i >= end or not (data[i] == _QUOTE or data[i] == _BACKSLASH or _escape(data[i])):
                return -1
        i += 1
    i += 1
    if i >= end:
        return -1
    if data[i] == _AT:
        return _end_of_tag(data, i + 1, end)
    if data[i] == _CARET:
        if i + 2 >= end or data[i + 1] != _CARET or data[i + 2] != _LESS:
            return -1
        last = end_of_iri(data, i + 2, end)
        if last - i - 2 == len(string_type) and same(data, i + 2, string_type, 0, len(string_type)):
            return -1
        return last
    return i


@kernel
def _end_of_tag(data, i, end):
    """Where a language tag ends, or -1 if it is odd: a language's two or three small letters, and a country's two."""
    first = i
    while i < end and 97 <= data[i] <= 122:
        i += 1
    if not 2 <= i - first <= 3:
        return -1
    if i + 2 < end and data[i] == _DASH and 97 <= data[i + 1] <= 122 and 97 <= data[i + 2] <= 122:
        i += 3
    return -1 if i < end and (_letter(data[i]) or _digit(data[i]) or data[i] == _DASH) else i


@kernel
def _space(data, i, end):
    while i < end and (data[i] == _SPACE or data[i] == _TAB):
        i += 1
    return i


@kernel
def _vertex(local, data, start, end, document, count):
    """The number of a vertex in its document, ``count`` if it is a new one."""
    code = hashed(data, start, end)
    mask = np.uint64(len(local.slots) - 1)
    slot = code & mask
    while local.stamps[slot] == document:
        found = local.slots[slot]
        first = local.starts[found]
        if (
            local.codes[found] == code
            and local.ends[found] - first == end - start
            and same(data, first, data, start, end - start)
        ):
            return np.int64(found)
        slot = (slot + np.uint64(1)) & mask
    local.stamps[slot] = document
    local.slots[slot] = count
    local.starts[count] = start
    local.ends[count] = end
    local.codes[count] = code
    return count


@kernel
def vertex_named(data, local, vertices, names, start, length):
    """The vertex of the document just read whose text is ``names[start : start + length]``, or -1."""
    for v in range(vertices):
        first = local.starts[v]
        if local.ends[v] - first == length and same(data, first, names, start, length):
            return v
    return -1


@part
def _object(data, i, end, string_type):
    """Where an object ends, -1 if it is odd, and its kind."""
    kind = BLANK
    if i < end and data[i] == _LESS:
        kind, i = IRI, end_of_iri(data, i, end)
    elif i < end and data[i] == _QUOTE:
        kind, i = LITERAL, end_of_literal(data, i, end, string_type)
    elif i < end and data[i] == _UNDERSCORE:
        i = end_of_blank(data, i, end)
    else:
        i = -1
    return i, kind


@part
def _end_of_statement(data, i, end):
    """Where a statement ends after its object, -1 if it is odd; and whether it names a graph, which is the event's."""
    i = _space(data, i, end)
    named = i < end and (data[i] == _LESS or data[i] == _UNDERSCORE)
    if named:
        i = end_of_iri(data, i, end) if data[i] == _LESS else end_of_blank(data, i, end)
        i = _space(data, i, end) if i >= 0 else end
    if i >= end or data[i] != _DOT:
        i = -1
    else:
        i = _space(data, i + 1, end)
        if i < end and data[i] != _FEED and data[i] != _RETURN:
            i = -1
    return i, named


@part
def _statement(data, i, end, document, terms, local, string_type, kinds, vertex, vertices, arcs, arc):
    """Read a statement. Returns where it ends, -1 if it is odd; how many vertices there are; if it names a graph."""
    begins = i
    named = False
    blank = data[i] == _UNDERSCORE
    i = end_of_blank(data, i, end) if blank else end_of_iri(data, i, end) if data[i] == _LESS else -1
    if i >= 0:
        subject = _vertex(local, data, begins, i, document, vertices)
        if subject == vertices:
            kinds[vertex + vertices] = BLANK if blank else IRI
            vertices += 1
        begins = _space(data, i, end)
        i = end_of_iri(data, begins, end) if begins < end and data[begins] == _LESS else -1
    if i >= 0:
        property_ = number_of(terms, data, begins, i, hashed(data, begins, i))
        begins = _space(data, i, end)
        i, kind = _object(data, begins, end, string_type)
    if i >= 0:
        object_ = _vertex(local, data, begins, i, document, vertices)
        if object_ == vertices:
            kinds[vertex + vertices] = kind
            vertices += 1
        arcs[arc, 0] = subject
        arcs[arc, 1] = property_
        arcs[arc, 2] = object_
        i, named = _end_of_statement(data, i, end)
    return i, vertices, named


@kernel
def read_document(data, start, end, document, terms, local, string_type, kinds, numbers, vertex, arcs, arc):
    """Read a document. Returns how many vertices and arcs there are, and what the document is.

    From ``vertex`` on, ``kinds`` and ``numbers`` get each vertex's kind and term, -1 for a blank node; from ``arc`` on,
    ``arcs`` get subject, term of the property, object, the ends counted from the document's own first vertex.
    """
    vertices = np.int64(0)
    count = np.int64(0)
    status = PLAIN
    i = start
    while True:
        while i < end and (data[i] == _SPACE or data[i] == _TAB or data[i] == _FEED or data[i] == _RETURN):
            i += 1
        if i >= end:
            break
        i, vertices, named = _statement(
            data, i, end, document, terms, local, string_type, kinds, vertex, vertices, arcs, arc + count
        )
        if i < 0:
            return vertices, count, ODD
        if named:
            status = GRAPHS
        count += 1
    for v in range(vertices):
        blank = kinds[vertex + v] == BLANK
        first, last = local.starts[v], local.ends[v]
        numbers[vertex + v] = -1 if blank else number_of(terms, data, first, last, local.codes[v])
    return vertices, count, status


@kernel
def read_documents(data, offsets, homes, home_offsets, terms, local, stamp, string_type, documents):
    """Read documents ``data[offsets[d] : offsets[d + 1]]`` and find the home vertex of each, -1 for none.

    ``homes[home_offsets[d] : home_offsets[d + 1]]`` names it; a home that is no vertex makes the document odd.
    """
    for d in range(len(offsets) - 1):
        vertex, arc = documents.vertices[d], documents.arc_offsets[d]
        found, count, status = read_document(
            data, offsets[d], offsets[d + 1], stamp + d, terms, local, string_type, documents.kinds, documents.terms,
            vertex, documents.arcs, arc,
        )  # fmt: skip
        home, length = -1, home_offsets[d + 1] - home_offsets[d]
        if length > 0 and status != ODD:
            home = vertex_named(data, local, found, homes, home_offsets[d], length)
            if home < 0:
                status = ODD
        plain = status != ODD
        documents.home[d] = home
        documents.status[d] = status
        documents.vertices[d + 1] = vertex + (found if plain else 0)
        documents.arc_offsets[d + 1] = arc + (count if plain else 0)


@kernel
def place_all(terms):
    """Fill the empty table ``slots`` with all the terms."""
    mask = np.uint64(len(terms.slots) - 1)
    for number in range(terms.used[0]):
        slot = terms.codes[number] & mask
        while terms.slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        terms.slots[slot] = number
