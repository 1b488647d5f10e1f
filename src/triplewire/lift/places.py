"""Where in an event's data the reason of a refusal points to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from triplewire.errors import Place

LONGEST_LINE = 120
_WHERE = re.compile(r"\bline (\d{1,9})(?:,? column (\d{1,9})| between columns (\d{1,9}) and \d+)?")


def place_in(attributes: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Line, column and excerpt of a CloudEvent's data, as far as a reason names them and the data is a text.

    The column is 1 where only a line is named. Of a long line, the excerpt is the piece around the place.
    """
    data, found = attributes.get("data"), _WHERE.search(reason)
    if not isinstance(data, str) or found is None:
        return {}
    lines, line, column = data.split("\n"), int(found[1]), int(found[2] or found[3] or 1)
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return {}
    start = max(column - 1 - LONGEST_LINE // 2, 0)
    piece = lines[line - 1].rstrip("\r")[start : start + LONGEST_LINE]
    return {"line": line, "column": column, "excerpt": Place(line, column - start, piece).caret()}
