"""Whether details are worth it: whether many patterns of one shape can match together."""

from __future__ import annotations

import numpy as np

from .jit import making

FEW, SHARE = 16, 8
"""Of more patterns than this, at least one in so many must be able to match with each vertex."""
MOST_SLOTS = 256


@making
def drop_unlike(order, starts, steps, words, skeletons, offsets, above, wanted):
    """Take those patterns from ``wanted`` that are many, are alike but for their details, and differ too much there.

    ``order`` are the patterns with details, by skeleton. A label's *slot* is the place or the late arc that it is asked
    of. Patterns differ too much if, in some slot, a vertex of whatever class suits few of them.
    """
    counts = np.zeros(len(offsets) + 1, np.int64)
    slots = np.empty(MOST_SLOTS, np.uint32)
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and skeletons[order[end]] == skeletons[order[begin]]:
            end += 1
        if end - begin > FEW:
            same = order[begin:end]
            for slot in slots[: collect(same, starts, steps, words, slots)]:
                if SHARE * suiting(slot, same, starts, steps, words, offsets, above, counts) < end - begin:
                    for pattern in same:
                        wanted[pattern] = False
                    break
        begin = end


@making
def asked(pattern, starts, steps, words):
    """Where the detail of a pattern begins, and how many labels of inner and of late vertices it asks."""
    start = words.offsets[steps[starts[pattern + 1] - 1]]
    head = words.text[start]
    return start, np.int64(head & 0xFF), np.int64(head >> 16 & 0xFF)


@making
def question(number, start, inner, late, words):
    """The slot and the label of one of the labels that a detail asks."""
    if number < inner:
        word = words.text[start + 1 + number]
        return word >> 24, np.int64(word & 0xFFFFFF) - 1
    end = start + 1 + inner + 2 * np.int64(words.text[start] >> 8 & 0xFF) + 2 * (number - inner)
    return words.text[end], np.int64(words.text[end + 1]) - 1


@making
def collect(patterns, starts, steps, words, slots):
    """Write the slots of some patterns' labels to ``slots``, each once; tell how many these are."""
    count = 0
    for pattern in patterns:
        start, inner, late = asked(pattern, starts, steps, words)
        for number in range(inner + late):
            slot = question(number, start, inner, late, words)[0]
            known = count == len(slots)
            for other in range(count):
                known |= slots[other] == slot
            if not known:
                slots[count] = slot
                count += 1
    return count


@making
def suiting(slot, patterns, starts, steps, words, offsets, above, counts):
    """How many patterns one vertex can suit, in a slot. ``counts`` is zero before and after."""
    asking = 0
    for pattern in patterns:
        start, inner, late = asked(pattern, starts, steps, words)
        for number in range(inner + late):
            there, label = question(number, start, inner, late, words)
            if there == slot:
                counts[label] += 1
                asking += 1
    best = 0
    for pattern in patterns:
        start, inner, late = asked(pattern, starts, steps, words)
        for number in range(inner + late):
            there, label = question(number, start, inner, late, words)
            if there == slot:
                sum_ = 0
                for upper in range(offsets[label], offsets[label + 1]):
                    sum_ += counts[above[upper]]
                best = max(best, sum_)
    for pattern in patterns:
        start, inner, late = asked(pattern, starts, steps, words)
        for number in range(inner + late):
            there, label = question(number, start, inner, late, words)
            if there == slot:
                counts[label] = 0
    return best + max(len(patterns) - asking, 0)
