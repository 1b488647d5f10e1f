"""From plans to nodes: level by level, siblings side by side and in order."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .words import intern

LEAF = 1 << 31
WIDE = 1 << 30
PLACE = WIDE - 1
"""A node's last word: whether a pattern ends with it, whether its children have runs, where its further checks are."""

NONE, PLAIN, POINT, RISING, FALLING, BETWEEN = range(6)
"""What siblings of one run ask: nothing, a label each, a value each, at least, at most, or a range each."""


@kernel
def describe(words, numbers, commonness, arcs, labels, checks, further):
    """Take each step apart: its first arc, its most telling label, and the row of ``further`` with all other checks.

    ``numbers`` are the labels' numbers inside the trie; the label with the least ``commonness`` is the most telling.
    """
    row = np.empty(len(further.text), np.uint32)
    row[0] = 0
    intern(row, 1, further)
    for step in range(words.rows[0]):
        start = words.offsets[step]
        count = np.int64(words.text[start] & 0xFFFF)
        length = np.int64(words.text[start] >> 16)
        first = start + 1 + count
        telling = -1
        for number in range(first, first + length):
            if telling < 0 or commonness[words.text[number]] < commonness[words.text[telling]]:
                telling = number
        used = 1
        for number in range(start + 2, first):
            row[used] = words.text[number]
            used += 1
        for number in range(first, first + length):
            if number != telling:
                row[used] = numbers[words.text[number]]
                used += 1
        row[0] = max(count - 1, 0) | max(length - 1, 0) << 16
        arcs[step] = words.text[start + 1] if count > 0 else np.uint32(0)
        labels[step] = numbers[words.text[telling]] if telling >= 0 else np.uint32(0)
        checks[step] = further.offsets[intern(row, used, further)]


@kernel
def level_keys(patterns, nodes, vertices, steps, ranks, end, level, keys):
    """For each pattern, its node and the rank of its step at a level; ``end`` if it ends before."""
    for number in range(len(patterns)):
        pattern = patterns[number]
        step = vertices[pattern] + level
        rank = ranks[steps[step]] if step < vertices[pattern + 1] else end
        keys[number] = np.uint64(nodes[number]) << np.uint64(32) | np.uint64(rank)


@kernel
def split(keys, order, patterns, vertices, level, base, first_child, ranks, sizes, members, rest, nodes):
    """Make a node for each different key, numbered from ``base`` on.

    ``first_child`` is of the level above, whose nodes come just before ``base``. The patterns of nodes where all end go
    to ``members``, and their number to ``sizes``; the others go to ``rest``, with their ``nodes``. Returns how many
    nodes, members and others there are.
    """
    found, told, left = 0, 0, 0
    above = base - len(first_child)
    next_parent = 0
    start = 0
    while start < len(order):
        key = keys[order[start]]
        end = start + 1
        while end < len(order) and keys[order[end]] == key:
            end += 1
        parent = np.int64(key >> np.uint64(32)) - above
        while next_parent <= parent:
            first_child[next_parent] = base + found
            next_parent += 1
        ends = True
        for number in range(start, end):
            pattern = patterns[order[number]]
            ends &= vertices[pattern + 1] - vertices[pattern] <= level + 1
        ranks[found] = np.uint32(key & np.uint64(0xFFFFFFFF))
        sizes[found] = end - start if ends else 0
        for number in range(start, end):
            if ends:
                members[told] = patterns[order[number]]
                told += 1
            else:
                rest[left] = patterns[order[number]]
                nodes[left] = base + found
                left += 1
        found += 1
        start = end
    while next_parent < len(first_child):
        first_child[next_parent] = base + found
        next_parent += 1
    return found, told, left


@kernel
def find_runs(nodes, least, kinds, domains, first_range, wide, offsets, runs):
    """Cut the children of nodes with at least so many into runs: same arc, same further checks, same kind of label.

    A run is its first child, the one after its last, its kind, the domain of its ranges, its arc, its further checks.
    Returns the number of wide nodes and of runs; writes nothing if ``runs`` is empty.
    """
    count, total = 0, 0
    write = len(runs) > 0
    for node in range(len(nodes) - 1):
        first, last = np.int64(nodes[node, 0]), np.int64(nodes[node + 1, 0])
        if last - first < least:
            continue
        if write:
            wide[count] = node
            offsets[count] = total
        count += 1
        for child in range(first, last):
            kind, domain = label_kind(nodes[child, 1], kinds, domains, first_range)
            place = nodes[child, 3] & PLACE
            fresh = child == first
            if not fresh:
                before, there = label_kind(nodes[child - 1, 1], kinds, domains, first_range)
                fresh = (
                    before != kind
                    or there != domain
                    or nodes[child - 1, 2] != nodes[child, 2]
                    or nodes[child - 1, 3] & PLACE != place
                )
            if fresh:
                if write:
                    runs[total, 0] = child
                    runs[total, 2] = kind
                    runs[total, 3] = domain
                    runs[total, 4] = nodes[child, 2]
                    runs[total, 5] = place
                total += 1
            if write:
                runs[total - 1, 1] = child + 1
    if write:
        offsets[count] = total
    return count, total


@kernel
def label_kind(label, kinds, domains, first_range):
    """What kind of question a label is, and in which domain of values."""
    if label == 0:
        return NONE, 0
    if label < first_range:
        return PLAIN, 0
    return np.int64(kinds[label - first_range]), np.int64(domains[label - first_range])
