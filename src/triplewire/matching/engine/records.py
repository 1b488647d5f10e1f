"""The subscriptions of a segment as values, which are needed only where one is verified or tells its bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Protocol
from zlib import DEFLATED, Z_DEFAULT_STRATEGY, compressobj, crc32, decompressobj

from triplewire.errors import IndexFolderError
from triplewire.matching.engine.encoded import Ids
from triplewire.matching.engine.merge import taken
from triplewire.matching.engine.texts import Texts
from triplewire.subscriptions.pattern import Subscription
from triplewire.subscriptions.serial import from_json, to_json

REMEMBERED = 10_000
"""So many subscriptions of a segment are kept as values, which take a few kilobytes each."""
_WINDOW = -12
_USUAL = (
    b'{"Subscription":{"id":"","alternatives":[{"Alternative":{"pattern":{"Pattern":{"interests":[{"Interest":{"concepts'
    b'":[{"iri":"http://"}],"threshold":0.7}}],"is_a":[{"IsA":{"vertex":{"Variable":{"name":"1"}},"operator":"<=","cls":{"'
    b'iri":"http://www.w3.org/2002/07/owl#Thing"}}}],"filters":[{"AttributeTest":{"path":[{"iri":"http://"}],"test":{"Call"'
    b':{"name":"<","arguments":[{"Variable":{"name":"value"}},{"literal":["1","http://www.w3.org/2001/XMLSchema#integer"]}]'
    b'}}}}],"arcs":[{"Arc":{"subject":{"Home":{}},"property":{"iri":"http://www.w3.org/1999/02/22-rdf-syntax-ns#value"},"ob'
    b'ject":{"Variable":{"name":"1"}},"scope":{"Scope":"relations"}}},{"Arc":{"subject":{"Variable":{"name":"1"}},"property'
    b'":{"iri":"http://"},"object":{"Variable":{"name":"2"}},"scope":{"Scope":"asserted"}}}],"classes":[{"ClassConstraint":'
    b'{"vertex":{"Home":{}},"cls":{"iri":"http://"}}},{"ClassConstraint":{"vertex":{"Variable":{"name":"2"}},"cls":{"iri":"'
    b'http://www.w3.org/2001/XMLSchema#decimal"}}}],"filters":[{"Call":{"name":"<=","arguments":[{"Variable":{"name":"2"}},'
    b'{"literal":["1.00","http://www.w3.org/2001/XMLSchema#decimal"]}]}}],"mapping":"injective"}}}}]}}'
)
"""What records have in common, and so need not say again. With another one, those written before cannot be read."""


class Records(Protocol):
    """Subscriptions by number."""

    def __getitem__(self, number: int) -> Subscription: ...

    def texts(self) -> Texts:
        """All of them as they are written to files, each compressed, with a checksum in front."""


class Kept:
    """Subscriptions in memory."""

    def __init__(self, subscriptions: Sequence[Subscription]) -> None:
        self.subscriptions = subscriptions

    def __getitem__(self, number: int) -> Subscription:
        return self.subscriptions[number]

    def texts(self) -> Texts:
        return Texts.of(map(_record, self.subscriptions))


class Written:
    """Subscriptions in a file, each read when it is asked for. Those that were asked for of late are remembered."""

    def __init__(self, texts: Callable[[], Texts], name: str) -> None:
        self.texts = texts
        self.name = name
        self._remembered = lru_cache(maxsize=REMEMBERED)(partial(_read, texts, name))

    def __getitem__(self, number: int) -> Subscription:
        return self._remembered(number)


def _read(texts: Callable[[], Texts], name: str, number: int) -> Subscription:
    record = texts()[number]
    if int.from_bytes(record[:4], "little") != crc32(record[4:]):
        raise IndexFolderError(f"{name} is damaged: record {number} does not fit its checksum")
    return from_json(decompressobj(_WINDOW, _USUAL).decompress(record[4:]))


def written(subscriptions: Sequence[Subscription]) -> Written:
    """Subscriptions as they are written to files, which takes less room than values."""
    texts = Kept(subscriptions).texts()
    return Written(lambda: texts, "the index in memory")


def joined(parts: Sequence[Records], owners: Sequence[Ids]) -> Records:
    """The records of merged segments; in memory if all were. ``owners`` are each part's numbers in the whole."""
    if all(isinstance(part, Kept) for part in parts):
        found = {
            own: part[number]
            for part, numbers in zip(parts, owners, strict=True)
            for number, own in enumerate(numbers.tolist())
            if own >= 0
        }
        return Kept([found[own] for own in range(len(found))])
    texts = taken([part.texts() for part in parts], owners)
    return Written(lambda: texts, "the index in memory")


def _record(subscription: Subscription) -> bytes:
    packer = compressobj(3, DEFLATED, _WINDOW, 5, Z_DEFAULT_STRATEGY, _USUAL)
    packed = packer.compress(to_json(subscription).encode()) + packer.flush()
    return crc32(packed).to_bytes(4, "little") + packed
