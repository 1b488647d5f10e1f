"""Which interests are near enough to an event."""

from __future__ import annotations

from .jit import kernel


@kernel
def near_enough(best, starts, postings, offsets, members, floors, found):
    """How many interests have concepts with a mean of ``best`` similarities above their floor; in ``found``, which.

    A mean is above a floor only if one of its terms is. So interests are looked for at their concepts: concept ``c`` is
    one of the interests ``postings[starts[c] : starts[c + 1]]``, those with the lowest floors first. An interest is
    weighed at the first of its concepts, ``members[offsets[i] : offsets[i + 1]]``, that is above its floor.
    """
    count = 0
    for concept in range(len(best)):
        for place in range(starts[concept], starts[concept + 1]):
            interest = postings[place]
            floor = floors[interest]
            if best[concept] <= floor:
                break
            first, end = offsets[interest], offsets[interest + 1]
            here = first
            while best[members[here]] <= floor:
                here += 1
            if members[here] != concept:
                continue
            total = 0.0
            for member in members[first:end]:
                total += best[member]
            if total > floor * (end - first):
                found[count] = interest
                count += 1
    return count
