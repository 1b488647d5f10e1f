"""The home vertices of documents: the ones that are named, else by the rules of the contract."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .quads import ODD, read_document, vertex_named

_H = np.frombuffer(b"_:H", np.uint8)


@kernel
def find_homes(
    data, offsets, homes, home_offsets, terms, local, stamp, string_type, kinds, numbers, arcs, inner, status, spans
):  # fmt: skip
    """What each document is, and where in ``data`` its home vertex is written: ``spans[d]``, empty if there is none.

    ``homes[home_offsets[d] : home_offsets[d + 1]]`` names it; a home that is no vertex makes the document odd. If it is
    empty, the home vertex is ``_:H`` if there is one, else the one vertex that no arc leads to. ``kinds``, ``numbers``,
    ``arcs`` and ``inner`` are room for the largest document.
    """
    for d in range(len(offsets) - 1):
        vertices, count, status[d] = read_document(
            data, offsets[d], offsets[d + 1], stamp + d, terms, local, string_type, kinds, numbers, 0, arcs, 0
        )
        spans[d, 0], spans[d, 1] = 0, 0
        if status[d] == ODD:
            continue
        length = home_offsets[d + 1] - home_offsets[d]
        if length > 0:
            home = vertex_named(data, local, vertices, homes, home_offsets[d], length)
            if home < 0:
                status[d] = ODD
        else:
            home = vertex_named(data, local, vertices, _H, 0, len(_H))
            if home < 0:
                home = _only_top(arcs, count, inner, vertices)
        if home >= 0:
            spans[d, 0], spans[d, 1] = local.starts[home], local.ends[home]


@kernel
def _only_top(arcs, count, inner, vertices):
    """The one vertex that no arc leads to, or -1 if there is none, or several."""
    inner[:vertices] = False
    for a in range(count):
        inner[arcs[a, 2]] = True
    top = -1
    for v in range(vertices):
        if not inner[v]:
            if top >= 0:
                return -1
            top = v
    return top
