"""Connections: one on which nobody asks anything in time is closed, as each takes a file, and there are not so many."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 30.0
"""Seconds in which the head of a request has to come, once a connection is made or the first of it has come.

Bodies are waited for by whoever reads them, and between two requests uvicorn waits for five seconds.
"""


class Connection(H11Protocol):
    """A connection to a client."""

    _deadline = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._deadline = 0.0  # there is a request, and it is being answered
        elif self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._deadline = self._deadline or self.loop.time() + PATIENCE
        self.timeout_keep_alive_task = self.loop.call_at(self._deadline, self.timeout_keep_alive_handler)
