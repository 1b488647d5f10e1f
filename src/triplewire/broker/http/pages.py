"""Lists, a page at a time: ``after`` is the cursor that the page before gave as ``next``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Request

from triplewire.broker.http.bodies import ExactJSONResponse

After = Annotated[int, Query(ge=0, lt=1 << 63, description="The cursor that the page before gave as `next`.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many items a page has at most.")]

Row = TypeVar("Row")


class Page:
    """The page of a list that is asked for. Lists are read with a row ``more``, which tells that a page follows."""

    def __init__(self, request: Request, after: After = 0, limit: Limit = 100) -> None:
        self.after = after
        self.limit = limit
        self.more = limit + 1
        self._url = request.url

    def of(
        self, rows: Sequence[Row], shown: Callable[[Row], Any], cursor: Callable[[Row], int], **besides: Any
    ) -> ExactJSONResponse:
        """The answer, with a link to the next page if there is one, and with what else there is to tell."""
        items = rows[: self.limit]
        following = cursor(items[-1]) if len(rows) > self.limit else None
        return self.told([shown(row) for row in items], following, **besides)

    def told(self, items: Sequence[Any], following: int | None, **besides: Any) -> ExactJSONResponse:
        """The answer where it is known with what the next page begins."""
        answer = ExactJSONResponse({"items": items, "next": following, **besides})
        if following is not None:
            url = self._url.include_query_params(after=following, limit=self.limit)
            answer.headers["Link"] = f'<{url.path}?{url.query}>; rel="next"'
        return answer

    def of_all(self, rows: Sequence[Row], shown: Callable[[Row], Any], **besides: Any) -> ExactJSONResponse:
        """The answer where all rows are at hand, and a cursor is a place among them."""
        numbered = list(enumerate(rows, 1))[self.after : self.after + self.more]
        return self.of(numbered, lambda one: shown(one[1]), lambda one: one[0], **besides)


Paged = Annotated[Page, Depends()]
