"""Many texts in two arrays, and a table that finds one of them: saved and mapped into memory as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from triplewire.matching.engine.encoded import Offsets, offsets_of

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Texts(Sequence[bytes]):
    """Text ``i`` is ``data[offsets[i] : offsets[i + 1]]``."""

    offsets: Offsets
    data: Bytes

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> Texts:
        texts = list(texts)
        return cls(offsets_of(map(len, texts)), np.frombuffer(b"".join(texts), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[bytes]:
        whole = self.data.tobytes()
        return (whole[start:end] for start, end in pairwise(self.offsets.tolist()))

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes()

    def some(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Texts by their numbers, many times as quick as one by one."""
        places = np.asarray(numbers, np.int64)
        whole = self.data.data
        ends = zip(self.offsets[places].tolist(), self.offsets[places + 1].tolist(), strict=True)
        return (bytes(whole[start:end]) for start, end in ends)


@dataclass(frozen=True)
class Dictionary:
    """Distinct texts in the order of their hashes; a text's number is its place.

    The hash is CRC-32. ``starts[b]`` is the first number whose hash begins with the bits ``b``.
    """

    texts: Texts
    hashes: NDArray[np.uint32]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> Dictionary:
        """The dictionary of some texts, of which several may be the same."""
        hashed = sorted((crc32(text), text) for text in set(texts))
        hashes = np.array([code for code, _ in hashed], np.uint32)
        bits = max(len(hashed) - 1, 1).bit_length()
        edges = np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(32 - bits)
        starts = np.searchsorted(hashes.astype(np.uint64), edges).astype(np.int32)
        return cls(Texts.of(text for _, text in hashed), hashes, starts)

    def __len__(self) -> int:
        return len(self.texts)

    def find(self, text: bytes) -> int:
        """The number of a text, or -1."""
        code = crc32(text)
        bucket = code >> (33 - len(self.starts).bit_length())
        for number in range(int(self.starts[bucket]), int(self.starts[bucket + 1])):
            if int(self.hashes[number]) == code and self.texts[number] == text:
                return number
        return -1
