"""JSON merge patches (RFC 7396)."""

from __future__ import annotations

from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """What a patch makes of a value: objects are merged member by member, null removes one, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
