"""Texts on their way from one array into another."""

from __future__ import annotations

from .jit import kernel


@kernel
def put_texts(offsets, data, numbers, starts, out):
    """Copy each text ``i`` to where text ``numbers[i]`` begins in ``out``, unless that number is -1."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            place = starts[numbers[i]]
            for byte in range(offsets[i], offsets[i + 1]):
                out[place] = data[byte]
                place += 1
