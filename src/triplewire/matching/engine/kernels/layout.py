"""From plans to nodes: level by level, siblings side by side and in order."""

from __future__ import annotations

import numpy as np

from .jit import making
from .plan import ANYWHERE, DETAIL, END, FIRST_KEY, SPARE
from .words import intern

LEAF, WIDE, MORE, TAIL = 1 << 31, 1 << 30, 1 << 29, 1 << 28
REST = TAIL - 1
PLACE_SHIFT = 20
KEY = (1 << PLACE_SHIFT) - 1
"""A node's last word. Flags: a pattern ends with it; its children are cut into runs; the rest is where its further
checks are, and otherwise a second arc, a place and a key; its children are the steps, in a row, of its only group.
"""

NONE, PLAIN, POINT, RISING, FALLING, BETWEEN = range(6)
"""What siblings of one run ask: nothing, a label each, a value each, at least, at most, or a range each.

Ranges of 2 to 3 ranks are of the kind ``BETWEEN + 1``, of 4 to 7 of the next, and so on: of those that begin near
enough below a value, half or more hold.
"""


@making
def describe(words, numbers, commonness, arcs, labels, checks, further):
    """Take each step apart: its first arc, its most telling label, and the row of ``further`` with all other checks.

    ``numbers`` are the labels' numbers inside the trie; the label with the least ``commonness`` is the most telling.
    Where others must be that suit as well, all that they must suit is in the row.
    """
    row = np.empty(len(further.text), np.uint32)
    for step in range(words.rows[0]):
        start = words.offsets[step]
        if words.text[start] & DETAIL:
            arcs[step], labels[step], checks[step] = END, 0, MORE | step
            continue
        count = np.int64(words.text[start] & 0xFFFF)
        length = np.int64(words.text[start] >> 16)
        first = start + 1 + count
        arcs[step] = ANYWHERE
        skipped = 0
        if count > 0 and words.text[start + 1] & 0xFFFFFF >= FIRST_KEY:
            arcs[step] = words.text[start + 1]
            skipped = 1
        spare = count > 0 and words.text[first - 1] & 0xFFFFFF == SPARE
        telling = -1
        for number in range(first, first if spare else first + length):
            if telling < 0 or commonness[words.text[number]] < commonness[words.text[telling]]:
                telling = number
        used = np.int64(1)
        for number in range(start + 1 + skipped, first):
            row[used] = words.text[number]
            used += 1
        for number in range(first, first + length):
            if number != telling:
                row[used] = numbers[words.text[number]]
                used += 1
        row[0] = (count - skipped) | (length - (telling >= 0)) << 16
        labels[step] = numbers[words.text[telling]] if telling >= 0 else np.uint32(0)
        if used == 1:
            checks[step] = 0
        elif used == 2 and count - skipped == 1 and not spare and row[1] & 0xFFFFFF <= KEY:
            checks[step] = row[1] >> 24 << PLACE_SHIFT | row[1] & KEY
        else:
            checks[step] = MORE | further.offsets[intern(row, used, further)]


@making
def level_keys(patterns, nodes, tails, above, vertices, steps, end, level, keys):
    """For each pattern, its node and its step at a level; ``end`` if it ends before, 0 if it is a tail's."""
    for number in range(len(patterns)):
        step = vertices[patterns[number]] + level
        rank = np.int64(steps[step]) if step < vertices[patterns[number] + 1] else end
        if tails[nodes[number] - above]:
            rank = 0
        keys[number] = np.uint64(nodes[number]) << np.uint64(32) | np.uint64(rank)


@making
def split(keys, order, patterns, vertices, steps, level, base, first_child, tails, found, told, left):
    """Make a node for each different key, and for each step of a tail, numbered from ``base`` on.

    ``first_child`` and ``tails`` are of the level above, whose nodes come just before ``base``. ``found`` are the new
    nodes' steps, the numbers of their members, and whether they are tails; ``told`` the members; ``left`` the other
    patterns and their nodes. Returns how many of these there are; writes none of them if ``found`` is empty.
    """
    nodes, members, others = 0, 0, 0
    above = base - len(first_child)
    next_parent = 0
    start = 0
    write = len(found) > 0
    while start < len(order):
        key = keys[order[start]]
        end = start + 1
        while end < len(order) and keys[order[end]] == key:
            end += 1
        parent = np.int64(key >> np.uint64(32)) - above
        while next_parent <= parent:
            first_child[next_parent] = base + nodes
            next_parent += 1
        pattern = patterns[order[start]]
        one = tails[parent] or alike(order[start:end], patterns, vertices, steps, level + 1)
        last = vertices[pattern + 1] if tails[parent] else vertices[pattern] + level + 1
        ends = one and last >= vertices[pattern + 1]
        for step in range(vertices[pattern] + level, last):
            if write:
                found[nodes, 0] = steps[step] if tails[parent] else np.uint32(key & np.uint64(0xFFFFFFFF))
                found[nodes, 1] = end - start if ends and step == last - 1 else 0
                found[nodes, 2] = one and not ends
            nodes += 1
        for number in range(start, end):
            if ends:
                if write:
                    told[members] = patterns[order[number]]
                members += 1
            else:
                if write:
                    left[0, others] = patterns[order[number]]
                    left[1, others] = base + nodes - 1
                others += 1
        start = end
    while next_parent < len(first_child):
        first_child[next_parent] = base + nodes
        next_parent += 1
    return nodes, members, others


@making
def alike(numbers, patterns, vertices, steps, level):
    """Whether some patterns go on in the same way from a level on."""
    first = patterns[numbers[0]]
    length = vertices[first + 1] - vertices[first]
    for number in numbers[1:]:
        other = patterns[number]
        if vertices[other + 1] - vertices[other] != length:
            return False
        for step in range(level, length):
            if steps[vertices[first] + step] != steps[vertices[other] + step]:
                return False
    return True


@making
def find_runs(nodes, least, kinds, ranges, plain, wide, runs):
    """Cut the children of nodes that have at least so many into runs, if those are half as many at most.

    Returns the number of such nodes, and of their runs; writes none if ``runs`` is empty.
    """
    count, total = 0, 0
    write = len(runs) > 0
    for node in range(len(nodes) - 1):
        begin, end = np.int64(nodes[node, 0]), np.int64(nodes[node + 1, 0])
        if end - begin < least or nodes[node, 3] & TAIL:
            continue
        before = total
        for child in range(begin, end):
            if child == begin or not same_run(child - 1, child, nodes, kinds, ranges, plain):
                if write and total < len(runs):
                    write_run(child, nodes, kinds, ranges, plain, runs[total])
                total += 1
            if write and total <= len(runs):
                runs[total - 1, 1] = child + 1
        if 2 * (total - before) > end - begin:
            total = before
            continue
        if write:
            wide[count, 0] = node
            wide[count, 1] = before
        count += 1
    return count, total


@making
def write_run(child, nodes, kinds, ranges, plain, run):
    """Begin a run with a child."""
    run[0] = child
    run[2], run[3] = question(nodes[child, 1], kinds, ranges, plain)
    run[4] = nodes[child, 2]
    run[5] = nodes[child, 3] & (MORE | REST)


@making
def same_run(one, other, nodes, kinds, ranges, plain):
    """Whether two siblings differ only in their labels, and those not in their kinds."""
    return (
        nodes[one, 2] == nodes[other, 2]
        and nodes[one, 3] & (MORE | REST) == nodes[other, 3] & (MORE | REST)
        and question(nodes[one, 1], kinds, ranges, plain) == question(nodes[other, 1], kinds, ranges, plain)
    )


@making
def question(label, kinds, ranges, plain):
    """What kind of question a label is, and in which domain of values."""
    if label == 0:
        return np.int64(NONE), np.int64(0)
    if label < plain:
        return np.int64(PLAIN), np.int64(0)
    return np.int64(kinds[label - plain]), np.int64(ranges[label - plain, 0])
