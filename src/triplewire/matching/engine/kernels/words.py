"""Interning: equal rows of words get equal numbers, counted from 0 in the order of their first use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import making


class Words(NamedTuple):
    """Rows of words by number, and the hash table that finds them.

    Row ``i`` is ``text[offsets[i] : offsets[i + 1]]``; ``rows[0]`` tells how many there are. The table has a power
    of two places, each the number of a row or -1.
    """

    text: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    table: NDArray[np.int32]
    rows: NDArray[np.int64]


def no_words() -> Words:
    return Words(np.zeros(0, np.uint32), np.zeros(1, np.int64), np.full(16, -1, np.int32), np.zeros(1, np.int64))


def with_room(words: Words, rows: int, length: int) -> Words:
    """The same rows, with room for more rows that are that long together."""
    count = int(words.rows[0])
    used = int(words.offsets[count])
    text, offsets, table, _ = words
    if used + length > len(text):
        text = _longer(text, used, max(used + length, 2 * len(text)))
    if count + rows + 1 > len(offsets):
        offsets = _longer(offsets, count + 1, max(count + rows + 1, 2 * len(offsets)))
    if 2 * (count + rows) > len(table):
        table = np.full(1 << int(2 * (count + rows)).bit_length(), -1, np.int32)
        enter(text, offsets, table, count)
    return Words(text, offsets, table, words.rows)


def _longer(array: NDArray[Any], used: int, length: int) -> NDArray[Any]:
    longer = np.empty(length, array.dtype)
    longer[:used] = array[:used]
    return longer


@making
def mix(value):
    """Scatter the bits of a 64-bit word."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> np.uint64(33)
    return value


@making
def place_of(text, start, length, size):
    """Where in a table of some size a row of words belongs."""
    value = np.uint64(length)
    for number in range(start, start + length):
        value = mix(value * np.uint64(31) ^ np.uint64(text[number]))
    return np.int64(value & np.uint64(size - 1))


@making
def enter(text, offsets, table, count):
    """Enter the first rows, which all differ, into an empty table."""
    for row in range(count):
        place = place_of(text, offsets[row], offsets[row + 1] - offsets[row], len(table))
        while table[place] >= 0:
            place = (place + 1) & (len(table) - 1)
        table[place] = row


@making
def intern(row, length, words):
    """The number of a row of words, which is entered if it is new. There must be room for it."""
    place = place_of(row, 0, length, len(words.table))
    while words.table[place] >= 0:
        found = np.int64(words.table[place])
        start = words.offsets[found]
        if words.offsets[found + 1] - start == length:
            same = True
            for number in range(length):
                if words.text[start + number] != row[number]:
                    same = False
                    break
            if same:
                return found
        place = (place + 1) & (len(words.table) - 1)
    new = words.rows[0]
    start = words.offsets[new]
    for number in range(length):
        words.text[start + number] = row[number]
    words.offsets[new + 1] = start + length
    words.table[place] = new
    words.rows[0] = new + 1
    return new
