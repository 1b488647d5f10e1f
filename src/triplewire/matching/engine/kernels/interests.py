"""Which interests are near enough to an event."""

from __future__ import annotations

from .jit import kernel


@kernel
def near_enough(best, starts, postings, floors, firsts, sizes, cells, found):
    """How many interests have concepts with a mean of ``best`` similarities above their floor; in ``found``, which.

    A mean is above a floor only if one of its terms is. So interests are looked for at their concepts: concept ``c`` is
    one of the interests ``postings[starts[c] : starts[c + 1]]``, those with the lowest floors first. The concepts of
    the interest at place ``p`` are the ``sizes[p]`` cells from ``firsts[p]`` on. It is weighed at the first of them
    that is above its floor.
    """
    count = 0
    for concept in range(len(best)):
        for place in range(starts[concept], starts[concept + 1]):
            floor = floors[place]
            if best[concept] <= floor:
                break
            total, leader = 0.0, -1
            for cell in range(firsts[place], firsts[place] + sizes[place]):
                member = cells[cell]
                total += best[member]
                if leader < 0 and best[member] > floor:
                    leader = member
            if leader == concept and total > floor * sizes[place]:
                found[count] = postings[place]
                count += 1
    return count
