"""Twins: vertices of a pattern that can be swapped, each with all that hangs by it, and the pattern is the same.

If a pattern can be mapped to an event, it can be such that twins stand in any order that one likes. So they are looked
for in one order only, that of the event's vertices, last first: none must come after its twin before it. So what the
first of some twins is mapped to must have as many others before it that would suit as well. Otherwise an order of
twelve items would be looked for in one of eleven in all the ways in which these can be lined up.
"""

from __future__ import annotations

from .jit import making

FEW = 2
"""A vertex of fewer twins is looked for like any other: that is quick, and what it begins with is shared by more."""
EFFORT = 1 << 22
"""So many arcs are looked at in search of a pattern's twins. What is not found by then only takes longer to match."""


@making
def find_twins(vertex, start, size, label_offsets, labels, arcs, hashes, late, place, effort, scratch, twins):
    """Write to ``twins`` those of a vertex among the vertices that have no place yet, keeping those that have one.

    Tell how many there are, and what is left of an ``effort``.
    """
    count = 0
    for other in range(size):
        alike = other != vertex and place[other] == 0 and hashes[other] == hashes[vertex] and not late[start + other]
        if effort <= 0 or not alike:
            continue
        effort = swap(vertex, other, size, arcs, hashes, place, effort, scratch)
        effort = verify(start, size, label_offsets, labels, arcs, effort, scratch[0])
        if effort > 0 and scratch[0, vertex] >= 0:
            twins[count] = other
            count += 1
    return count, effort


@making
def swap(one, other, size, arcs, hashes, place, effort, scratch):
    """Try to swap two vertices, and what hangs by the one with what hangs by the other, all that looks alike.

    ``scratch[0]`` tells what each vertex is swapped with, -1 for those that stay.
    """
    image, queue = scratch[0], scratch[1]
    for vertex in range(size):
        image[vertex] = -1
    image[one], image[other] = other, one
    queue[0] = one
    head, end = 0, 1
    while head < end and effort > 0:
        here = queue[head]
        head += 1
        effort -= len(arcs)
        for number in range(len(arcs)):
            next_ = arcs[number, 2] if arcs[number, 0] == here else arcs[number, 0]
            if (arcs[number, 0] != here and arcs[number, 2] != here) or image[next_] >= 0 or place[next_] > 0:
                continue
            effort -= len(arcs)
            partner = counterpart(
                next_, image[here], arcs, arcs[number, 1], arcs[number, 0] == here, hashes, place, image
            )
            if partner >= 0 and partner != next_:
                image[next_], image[partner] = partner, next_
                queue[end] = next_
                end += 1
    return effort


@making
def counterpart(vertex, there, arcs, name, outward, hashes, place, image):
    """A vertex that hangs by one as another vertex does by its own, and looks like it; itself, if it hangs by both."""
    found = -1
    for number in range(len(arcs)):
        near, far = (0, 2) if outward else (2, 0)
        other = arcs[number, far]
        if arcs[number, 1] != name or arcs[number, near] != there or image[other] >= 0 or place[other] > 0:
            continue
        if other == vertex or (found < 0 and hashes[other] == hashes[vertex]):
            found = other
    return found


@making
def verify(start, size, label_offsets, labels, arcs, effort, image):
    """Whether a pattern is the same with its vertices swapped; if not, none is. Tell what is left of the effort."""
    same = True
    for vertex in range(size):
        if image[vertex] >= 0:
            same &= same_labels(start + vertex, start + image[vertex], label_offsets, labels)
    for number in range(len(arcs)):
        subject, target = arcs[number, 0], arcs[number, 2]
        if not same or (image[subject] < 0 and image[target] < 0):
            continue
        effort -= len(arcs)
        subject = image[subject] if image[subject] >= 0 else subject
        target = image[target] if image[target] >= 0 else target
        there = False
        for other in range(len(arcs)):
            there |= arcs[other, 0] == subject and arcs[other, 1] == arcs[number, 1] and arcs[other, 2] == target
        same = there
    if not same:
        for vertex in range(size):
            image[vertex] = -1
    return effort


@making
def same_labels(one, other, label_offsets, labels):
    """Whether two vertices are asked the same."""
    length = label_offsets[one + 1] - label_offsets[one]
    if length != label_offsets[other + 1] - label_offsets[other]:
        return False
    same = True
    for number in range(length):
        same &= labels[label_offsets[one] + number] == labels[label_offsets[other] + number]
    return same
