"""Plans: in which order a pattern's vertices are looked for, the same order for the same pattern under other names.

A plan is a row of *steps*, one for each vertex. A step is words: how many arcs and labels it has, then the arcs to
earlier vertices, then the labels. An arc is ``place << 24 | key``, where place counts the plan's vertices from 1 and
key is ``2 + 2 * property``, plus 1 if the arc comes from the new vertex.
"""

from __future__ import annotations

import numpy as np

from .jit import making
from .words import intern, mix

ROUNDS = 3


@making
def plan(first, last, vertices, label_offsets, labels, arc_offsets, arcs, weights, steps, words):
    """Write the steps of the patterns ``first … last`` to ``steps``, one for each vertex, in the order of the plan.

    ``weights`` tells how few vertices are expected to have a label. ``words`` interns the steps and has room for all.
    """
    most = longest_row(vertices, first, last)
    longest = longest_row(arc_offsets, first, last)
    hashes, before = np.empty(most, np.uint64), np.empty(most, np.uint64)
    place = np.empty(most, np.int64)
    step = np.empty(longest, np.uint32)
    best = np.empty(longest, np.uint32)
    buffer = np.empty(1 + longest + longest_row(label_offsets, vertices[first], vertices[last]), np.uint32)
    for pattern in range(first, last):
        start = vertices[pattern]
        size = vertices[pattern + 1] - start
        here = arcs[arc_offsets[pattern] : arc_offsets[pattern + 1]]
        refine(start, size, label_offsets, labels, here, hashes, before)
        for vertex in range(size):
            place[vertex] = 0
        for position in range(1, size + 1):
            chosen, count = choose(start, size, label_offsets, labels, here, weights, hashes, place, step, best)
            length = label_offsets[start + chosen + 1] - label_offsets[start + chosen]
            buffer[0] = count | length << 16
            for number in range(count):
                buffer[1 + number] = best[number]
            for number in range(length):
                buffer[1 + count + number] = labels[label_offsets[start + chosen] + number]
            steps[start + position - 1] = intern(buffer, 1 + count + length, words)
            place[chosen] = position


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
def choose(start, size, label_offsets, labels, arcs, weights, hashes, place, step, best):
    """The vertex to look for next, and how many arcs of it lead to vertices that have a place; they are in ``best``.

    That is the one expected to fit fewest: by its labels, then by its arcs; ties are broken by how it reads, then by
    its hash. Vertices without an arc to those that have a place come only when no others are left.
    """
    chosen = -1
    highest = -1
    count = 0
    for vertex in range(size):
        if place[vertex] > 0:
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
            if order < 0 or (order == 0 and hashes[chosen] <= hashes[vertex]):
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
        subject, key, target = arcs[number, 0], 2 + 2 * arcs[number, 1], arcs[number, 2]
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
