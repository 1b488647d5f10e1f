"""The subscriptions of a segment as values, which are needed only where one is verified or tells its bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from zlib import crc32

from triplewire.errors import IndexFolderError
from triplewire.matching.engine.merge import Origin, taken
from triplewire.matching.engine.texts import Texts
from triplewire.subscriptions.pattern import Subscription
from triplewire.subscriptions.serial import from_json, to_json


class Records(Protocol):
    """Subscriptions by number."""

    def __getitem__(self, number: int) -> Subscription: ...

    def texts(self) -> Texts:
        """All of them as they are written to files, each with a checksum in front."""


class Kept:
    """Subscriptions in memory."""

    def __init__(self, subscriptions: Sequence[Subscription]) -> None:
        self.subscriptions = subscriptions

    def __getitem__(self, number: int) -> Subscription:
        return self.subscriptions[number]

    def texts(self) -> Texts:
        return Texts.of(map(_record, self.subscriptions))


class Written:
    """Subscriptions in a file, each read when it is asked for."""

    def __init__(self, texts: Callable[[], Texts], name: str) -> None:
        self.texts = texts
        self.name = name

    def __getitem__(self, number: int) -> Subscription:
        record = self.texts()[number]
        if int.from_bytes(record[:4], "little") != crc32(record[4:]):
            raise IndexFolderError(f"{self.name} is damaged: record {number} does not fit its checksum")
        return from_json(record[4:])


def written(subscriptions: Sequence[Subscription]) -> Written:
    """Subscriptions as they are written to files, which takes less room than values."""
    texts = Kept(subscriptions).texts()
    return Written(lambda: texts, "the index in memory")


def joined(parts: Sequence[Records], origin: Origin) -> Records:
    """The records of merged segments; in memory if all were."""
    if all(isinstance(part, Kept) for part in parts):
        pairs = zip(origin.parts.tolist(), origin.numbers.tolist(), strict=True)
        return Kept([parts[part][number] for part, number in pairs])
    texts = taken([part.texts() for part in parts], origin)
    return Written(lambda: texts, "the index in memory")


def _record(subscription: Subscription) -> bytes:
    text = to_json(subscription).encode()
    return crc32(text).to_bytes(4, "little") + text
