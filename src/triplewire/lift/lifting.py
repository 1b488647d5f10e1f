"""The settings of lifting: what names mean, which contexts are known, and how much is too much.

They are kept in a folder::

    contexts/www.w3.org%2Fns%2Factivitystreams.jsonld    a JSON-LD context, named after its address
    mappings/offers.json                                 what the names of one kind of event mean
    settings.json                                        the limits
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from triplewire.errors import EventError, UsageError
from triplewire.lift.documents import read_json
from triplewire.lift.names import Names, read_names


@dataclass(frozen=True, eq=False)
class Lifting:
    """How events are lifted. ``contexts`` by address, ``mappings`` by the ``dataschema`` or ``type`` of an event."""

    contexts: Mapping[str, Any] = field(default_factory=dict)
    mappings: Mapping[str, Names] = field(default_factory=dict)
    size_limit: int = 1 << 20
    literal_limit: int = 1 << 18
    depth_limit: int = 64
    entry_limit: int = 10_000

    def names(self, attributes: Mapping[str, Any]) -> Names:
        """What the names in an event mean, by its ``dataschema``, else by its ``type``, else by default."""
        for name in ("dataschema", "type"):
            if (found := self.mappings.get(attributes.get(name, ""))) is not None:
                return found
        return DEFAULT_NAMES

    def context(self, address: str) -> Any:
        """The registered context document of an address."""
        try:
            return self.contexts[short_address(address)]
        except KeyError:
            name = f"contexts/{quote(short_address(address), safe='')}.jsonld"
            raise EventError(
                f"the JSON-LD context {address} is not registered, and nothing is ever fetched: "
                f"put it into the lifting folder as {name}"
            ) from None


DEFAULT_NAMES = Names()
DEFAULT = Lifting()
LIMITS = ("size_limit", "literal_limit", "depth_limit", "entry_limit")


def load_lifting(folder: Path | None) -> Lifting:
    """The settings in a folder; the default ones if there is none."""
    if folder is None or not folder.is_dir():
        return DEFAULT
    contexts = {short_address(unquote(path.stem)): _read(path) for path in sorted(folder.glob("contexts/*.jsonld"))}
    mappings: dict[str, Names] = {}
    for path in sorted(folder.glob("mappings/*.json")):
        record = _read(path)
        try:
            names = read_names(record)
        except (EventError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from None
        for kind in _texts(path, record.get("for")):
            if kind in mappings:
                raise UsageError(f"{path}: there is a mapping for {kind!r} already")
            mappings[kind] = names
    return dataclasses.replace(DEFAULT, contexts=contexts, mappings=mappings, **_limits(folder / "settings.json"))


def short_address(address: str) -> str:
    """An address without what makes no difference: the scheme, a slash or number sign at the end."""
    return address.removeprefix("https://").removeprefix("http://").rstrip("#/")


def _limits(path: Path) -> dict[str, int]:
    record = _read(path) if path.exists() else {}
    for name, value in record.items():
        if name not in LIMITS or not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(
                f"{path}: {name!r}: {json.dumps(value, default=str)} is no limit; known are {', '.join(LIMITS)}"
            )
    return record


def _read(path: Path) -> dict[str, Any]:
    try:
        record = read_json(path.read_bytes())
    except (OSError, EventError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(record, dict):
        raise UsageError(f"{path} should hold a JSON object")
    return record


def _texts(path: Path, value: Any) -> Iterable[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{path}: 'for' should name the dataschema or type of the events that it is for")
    return texts
