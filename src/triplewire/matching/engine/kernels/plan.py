"""Plans: in which order a pattern's vertices are looked for, the same order for the same pattern under other names.

A plan is a row of *steps*, one for each vertex. A step is words: how many arcs and labels it has, then the arcs to
earlier vertices, then the labels. An arc is ``place << 24 | key``, where place counts the plan's vertices from 1 and
key is ``FIRST_KEY + 2 * property``, plus 1 if the arc comes from the new vertex. Of twins it may tell more; see there.
"""

from __future__ import annotations

import numpy as np

from .jit import making
from .twins import EFFORT, FEW, find_twins
from .words import intern, mix

ROUNDS = 3
ANYWHERE, END, BEFORE, SPARE, FIRST_KEY = range(5)
"""Keys that are of no arc: of a vertex found by its labels alone; of no vertex, where a pattern ends and another goes
on, or where a detail is checked; of a vertex that must not come after the one that a place is mapped to; and, with a
number in place of a place, of one before which there must be so many others that would suit as well.
"""
SOMEWHERE = 255
"""In place of a place, in an arc that may come from any vertex."""
DETAIL = 1 << 31
"""Flags a step without a vertex of its own, a pattern's last. Its first word tells, in a byte each, how many labels and
arcs are asked of earlier places, and how many late vertices follow. A label is one word with the place, an arc two:
where it comes from, with the key, and where it leads to. A late vertex is two words: its arc, and its label. Labels
are numbered as in the trie.
"""


@making
def plan(
    first, last, vertices, arc_offsets, label_offsets, labels, arcs, own_label_offsets, own_labels, own_arcs, detailed,
    late, injective, weights, often, starts, steps, words, skeletons,
):  # fmt: skip
    """Write the steps of the patterns ``first … last`` to ``steps``, in the order of the plan, from ``starts`` on.

    The labels and arcs are those of the patterns' shapes, then their own. ``weights`` tells how few vertices are
    expected to have a label, ``often`` how many arcs have a property. ``words`` interns the steps and has room for all.
    ``skeletons`` are hashes of the steps before details.
    """
    most = longest_row(vertices, first, last)
    longest = longest_row(arc_offsets, first, last)
    hashes, finer = np.empty(most, np.uint64), np.empty(most, np.uint64)
    before = np.empty(most, np.uint64)
    place = np.empty(most, np.int64)
    step = np.empty(longest, np.uint32)
    best = np.empty(longest + 2, np.uint32)
    twins, after, scratch = np.empty(most, np.int64), np.empty(most, np.int64), np.empty((2, most), np.int64)
    most_labels = longest_row(own_label_offsets, vertices[first], vertices[last])
    buffer = np.empty(3 + 2 * longest + 2 * most * most_labels, np.uint32)
    for pattern in range(first, last):
        start = vertices[pattern]
        size = vertices[pattern + 1] - start
        here = arcs[arc_offsets[pattern] : arc_offsets[pattern + 1]]
        own = own_arcs[arc_offsets[pattern] : arc_offsets[pattern + 1]]
        refine(start, size, label_offsets, labels, here, hashes, before)
        if detailed[pattern]:
            refine(start, size, own_label_offsets, own_labels, own, finer, before)
        inner = 0
        for vertex in range(size):
            place[vertex] = after[vertex] = 0
            inner += not late[start + vertex]
        ties = finer if detailed[pattern] else hashes
        next_ = starts[pattern]
        skeleton = np.uint64(0)
        effort = EFFORT if injective[pattern] else 0
        for position in range(1, inner + 1):
            chosen, count = choose(
                start, size, label_offsets, labels, here, weights, hashes, ties, late, False, place, step, best
            )
            others, effort = find_twins(
                chosen, start, size, own_label_offsets, own_labels, own, ties, late, place, effort, scratch, twins
            )
            if others >= FEW:
                count = look_around(chosen, here, place, best, count)
                for number in range(others):
                    after[twins[number]] = position
            elif detailed[pattern] and label_offsets[start + chosen + 1] == label_offsets[start + chosen]:
                count = look_ahead(chosen, here, place, often, best, count)
            count = write_order(after[chosen], others, best, count)
            length = write_step(start + chosen, label_offsets, labels, best, count, buffer)
            steps[next_] = intern(buffer, length, words)
            skeleton = mix(skeleton * np.uint64(31) ^ np.uint64(steps[next_]))
            next_ += 1
            place[chosen] = position
        skeletons[pattern] = skeleton
        if detailed[pattern]:
            used = write_inner(
                start, size, label_offsets, labels, own_label_offsets, own_labels, here, own, late, place, buffer
            )
            for _ in range(inner, size):
                chosen, count = choose(
                    start, size, own_label_offsets, own_labels, own, weights, finer, ties, late, True, place, step, best
                )
                place[chosen] = size
                buffer[used], buffer[used + 1] = best[0], 1 + own_labels[own_label_offsets[start + chosen]]
                used += 2
            buffer[0] |= (size - inner) << 16
            steps[next_] = intern(buffer, used, words)


@making
def write_order(after, others, step, count):
    """Add to a step where its vertex is, in the event's order, among its twins; tell how many words it has then."""
    if after > 0:
        step[count] = after << 24 | BEFORE
        count += 1
    if others >= FEW:
        step[count] = others << 24 | SPARE
        count += 1
    return count


@making
def write_step(vertex, label_offsets, labels, arcs, count, buffer):
    """Write the words of a step; tell how many these are."""
    length = label_offsets[vertex + 1] - label_offsets[vertex]
    buffer[0] = count | length << 16
    for number in range(count):
        buffer[1 + number] = arcs[number]
    for number in range(length):
        buffer[1 + count + number] = labels[label_offsets[vertex] + number]
    return 1 + count + length


@making
def write_inner(start, size, label_offsets, labels, own_label_offsets, own_labels, arcs, own_arcs, late, place, buffer):
    """Begin a detail with the labels and arcs of inner vertices that a pattern asks and its shape doesn't.

    Tell how many words that are.
    """
    used = 1
    for position in range(1, size + 1):
        for vertex in range(size):
            if place[vertex] != position:
                continue
            shared = label_offsets[start + vertex]
            for number in range(own_label_offsets[start + vertex], own_label_offsets[start + vertex + 1]):
                if shared < label_offsets[start + vertex + 1] and labels[shared] == own_labels[number]:
                    shared += 1
                    continue
                buffer[used] = position << 24 | 1 + own_labels[number]
                used += 1
    first = used
    for number in range(len(arcs)):
        subject, target = arcs[number, 0], arcs[number, 2]
        if arcs[number, 1] == own_arcs[number, 1] or late[start + subject] or late[start + target]:
            continue
        word = place[subject] << 24 | (FIRST_KEY + 2 * own_arcs[number, 1])
        hole = used
        while hole > first and (buffer[hole - 2], buffer[hole - 1]) > (word, place[target]):
            buffer[hole] = buffer[hole - 2]
            buffer[hole + 1] = buffer[hole - 1]
            hole -= 2
        buffer[hole] = word
        buffer[hole + 1] = place[target]
        used += 2
    buffer[0] = DETAIL | (first - 1) | (used - first) >> 1 << 8
    return used


@making
def look_ahead(vertex, arcs, place, often, step, count):
    """Add to a step of at most one arc the rarest of those that will lead from its vertex on, as one from anywhere."""
    rarest = -1
    word = np.uint32(0)
    for number in range(len(arcs)):
        subject, name, target = arcs[number, 0], np.int64(arcs[number, 1]), arcs[number, 2]
        other = target if subject == vertex else subject
        if (subject != vertex and target != vertex) or place[other] > 0:
            continue
        key = FIRST_KEY + 2 * name + (subject == vertex)
        better = rarest < 0 or often[name] < often[rarest] or (often[name] == often[rarest] and name < rarest)
        if better or (name == rarest and key < word & 0xFFFFFF):
            rarest = name
            word = np.uint32(SOMEWHERE << 24 | key)
    if rarest < 0 or count > 1:
        return count
    step[count] = word
    return count + 1


@making
def look_around(vertex, arcs, place, step, count):
    """Add to a step all the arcs that will lead from its vertex on, each once, as arcs from anywhere."""
    first = count
    for number in range(len(arcs)):
        subject, name, target = arcs[number, 0], arcs[number, 1], arcs[number, 2]
        other = target if subject == vertex else subject
        if (subject != vertex and target != vertex) or place[other] > 0:
            continue
        word = np.uint32(SOMEWHERE << 24 | (FIRST_KEY + 2 * name + (subject == vertex)))
        hole = count
        while hole > first and step[hole - 1] > word:
            hole -= 1
        if hole > first and step[hole - 1] == word:
            continue
        for place_ in range(count, hole, -1):
            step[place_] = step[place_ - 1]
        step[hole] = word
        count += 1
    return count


@making
def longest_row(offsets, first, last):
    """How long the longest of some rows is."""
    longest = np.int64(0)
    for row in range(first, last):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@making
def refine(start, size, label_offsets, labels, arcs, hashes, before):
    """Hash each vertex with what is around it, so that vertices that look alike get equal hashes."""
    for vertex in range(size):
        value = np.uint64(17)
        for number in range(label_offsets[start + vertex], label_offsets[start + vertex + 1]):
            value = mix(value ^ np.uint64(labels[number]))
        hashes[vertex] = value
    for _ in range(ROUNDS):
        for vertex in range(size):
            before[vertex] = hashes[vertex]
        for number in range(len(arcs)):
            subject, key, target = arcs[number, 0], np.uint64(arcs[number, 1]) * np.uint64(2), arcs[number, 2]
            hashes[subject] += mix(before[target] * np.uint64(31) ^ mix(key + np.uint64(1)))
            hashes[target] += mix(before[subject] * np.uint64(37) ^ mix(key))
        for vertex in range(size):
            hashes[vertex] = mix(hashes[vertex])


@making
def choose(start, size, label_offsets, labels, arcs, weights, hashes, finer, late, phase, place, step, best):
    """The vertex to look for next, and how many arcs of it lead to vertices that have a place; they are in ``best``.

    That is the one expected to fit fewest: by its labels, then by its arcs; ties are broken by how it reads, then by
    its hash. Vertices without an arc to those that have a place come only when no others are left.
    """
    chosen = -1
    highest = -1
    count = 0
    for vertex in range(size):
        if place[vertex] > 0 or late[start + vertex] != phase:
            continue
        known, degree = gather(vertex, arcs, place, step)
        weight = np.int64(0)
        for number in range(label_offsets[start + vertex], label_offsets[start + vertex + 1]):
            weight = max(weight, weights[labels[number]])
        score = weight + 16 * (known if known > 0 else degree)
        if known > 0:
            score += np.int64(1) << 40
        if score < highest:
            continue
        if score == highest:
            order = compare(start + chosen, start + vertex, label_offsets, labels, best, count, step, known)
            if order == 0:
                order = below(hashes[chosen], hashes[vertex])
            if order < 0 or (order == 0 and finer[chosen] <= finer[vertex]):
                continue
        chosen, highest, count = vertex, score, known
        for number in range(known):
            best[number] = step[number]
    return chosen, count


@making
def gather(vertex, arcs, place, step):
    """Put a vertex's arcs to those that have a place into ``step``, sorted; tell how many these are, and all."""
    known = 0
    degree = 0
    for number in range(len(arcs)):
        subject, key, target = arcs[number, 0], FIRST_KEY + 2 * arcs[number, 1], arcs[number, 2]
        if target == vertex:
            other = place[subject]
        elif subject == vertex:
            other = place[target]
            key += 1
        else:
            continue
        degree += 1
        if other > 0:
            word = np.uint32(other << 24 | key)
            hole = known
            while hole > 0 and step[hole - 1] > word:
                step[hole] = step[hole - 1]
                hole -= 1
            step[hole] = word
            known += 1
    return known, degree


@making
def compare(one, other, label_offsets, labels, arcs_of_one, count_of_one, arcs_of_other, count_of_other):
    """Which of two steps reads first: below zero for the one, above for the other, zero if they read the same."""
    if count_of_one != count_of_other:
        return count_of_one - count_of_other
    for number in range(count_of_one):
        if arcs_of_one[number] != arcs_of_other[number]:
            return np.int64(arcs_of_one[number]) - np.int64(arcs_of_other[number])
    length = label_offsets[one + 1] - label_offsets[one]
    difference = length - (label_offsets[other + 1] - label_offsets[other])
    if difference != 0:
        return difference
    for number in range(length):
        difference = np.int64(labels[label_offsets[one] + number]) - np.int64(labels[label_offsets[other] + number])
        if difference != 0:
            return difference
    return np.int64(0)


@making
def below(one, other):
    """Which of two hashes is less, as ``compare`` tells."""
    return np.int64(-1) if one < other else np.int64(one > other)
