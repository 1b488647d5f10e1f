"""Which interests are near enough to an event, and how near exactly."""

from __future__ import annotations

from .jit import kernel

GROUPS = 9
"""Interests of fewer concepts than this are looked for together with those that have as many."""


@kernel
def near_enough(best, starts, postings, floors, firsts, cells, offsets, members, found):
    """How many interests have a mean of ``best`` similarities above their floor; in ``found``, which.

    A mean is above a floor only if one of its terms is: so interests are looked for at their concepts, and found at the
    first that is. The arrays are those of ``Postings``, and the concepts of interest ``i`` are
    ``members[offsets[i] : offsets[i + 1]]``.
    """
    count = 0
    for concept in range(len(best)):
        near = best[concept]
        for group in range(GROUPS):
            number = concept * GROUPS + group
            cell = firsts[number]
            for place in range(starts[number], starts[number + 1]):
                floor = floors[place]
                if near <= floor:
                    break
                total, size = near, group + 1
                if size < GROUPS:
                    for other in range(cell, cell + group):
                        total += best[cells[other]]
                    cell += group
                else:
                    first, end = offsets[postings[place]], offsets[postings[place] + 1]
                    total, size = best[members[first]], end - first
                    for other in range(first + 1, end):
                        total += best[members[other]]
                if total > floor * size:
                    first_one = True
                    for other in range(offsets[postings[place]], offsets[postings[place] + 1]):
                        first_one &= members[other] >= concept or best[members[other]] <= floor
                    if first_one:
                        found[count] = postings[place]
                        count += 1
    return count


@kernel
def exact_sums(terms, ends, partials, sums):
    """The sum of the ``terms`` up to each of the ``ends`` from the one before, rounded once, as if added exactly.

    ``partials`` has room for as many numbers as are added at most. It holds what was added so far as numbers of growing
    size that do not overlap, so that their sum loses nothing.
    """
    start = 0
    for row in range(len(ends)):
        count = 0
        for place in range(start, ends[row]):
            x = terms[place]
            kept = 0
            for i in range(count):
                y = partials[i]
                if abs(x) < abs(y):
                    x, y = y, x
                high = x + y
                low = y - (high - x)
                if low != 0.0:
                    partials[kept] = low
                    kept += 1
                x = high
            partials[kept] = x
            count = kept + 1
        sums[row] = rounded(partials, count)
        start = ends[row]
    return len(ends)


@kernel
def rounded(partials, count):
    """The sum of numbers of growing size that do not overlap; of two nearest ones the even one where it is between."""
    if count == 0:
        return 0.0
    count -= 1
    high, low = partials[count], 0.0
    while count > 0 and low == 0.0:
        count -= 1
        x, y = high, partials[count]
        high = x + y
        low = y - (high - x)
    if count > 0 and ((low < 0.0 and partials[count - 1] < 0.0) or (low > 0.0 and partials[count - 1] > 0.0)):
        twice = low * 2.0
        x = high + twice
        if twice == x - high:
            high = x
    return high
