"""From groups of patterns to the subscriptions that own them."""

from __future__ import annotations

import numpy as np

from .jit import kernel, making


@kernel
def count_members(groups, group_offsets):
    """How many patterns are in some groups."""
    total = np.int64(0)
    for group in groups:
        total += np.int64(group_offsets[group + 1]) - np.int64(group_offsets[group])
    return total


@making
def sort_out(
    offsets, groups, group_offsets, members, owners, decided, removed, seen, matched, match_ends, open_, open_ends
):  # fmt: skip
    """Of each event the subscriptions that match, ascending, and the owners of patterns that do not decide.

    ``seen`` has a place for each subscription, all zero, and is left so. An undecided owner may be among those that
    match, too.
    """
    found, left = np.int64(0), np.int64(0)
    for event in range(len(offsets) - 1):
        first, start = found, left
        for i in range(offsets[event], offsets[event + 1]):
            group = groups[i]
            for place in range(group_offsets[group], group_offsets[group + 1]):
                pattern = members[place]
                owner = owners[pattern]
                sign = 1 if decided[pattern] else 2
                if removed[owner] or seen[owner] & sign:
                    continue
                seen[owner] |= sign
                if sign == 1:
                    matched[found] = owner
                    found += 1
                else:
                    open_[left] = owner
                    left += 1
        for i in range(first, found):
            seen[matched[i]] = 0
        for i in range(start, left):
            seen[open_[i]] = 0
        matched[first:found] = np.sort(matched[first:found])
        match_ends[event] = found
        open_ends[event] = left
