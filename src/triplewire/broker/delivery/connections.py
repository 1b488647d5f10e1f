"""Connections to those who receive what we send: cheap to make, and kept for the next time.

A general client does for each request what few requests need, and takes several times as long. This one sends a POST
and reads what is answered, in the words of ``h11``; it follows no redirects and takes no proxy.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import h11

import triplewire
from triplewire.broker.delivery.addresses import Addresses, Host, Place, place_of

CONNECTING, ANSWERING, ENDING = 5.0, 15.0, 2.0
"""Seconds that a host has to let us in, then to take something and to answer, and to come to the answer's end."""
MOST_HOSTS, MOST_OF_ONE, KEPT_FOR = 200, 2, 30.0
"""To so many hosts connections are kept that are not used, so many to one of them, for so many seconds."""
MOST_READ, CHUNK = 64 * 1024, 16 * 1024
USER_AGENT = f"Triplewire/{triplewire.__version__}"


@dataclass(eq=False)
class Connection:
    """A connection to a host, for one request at a time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    talk: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))
    used: float = 0.0

    def is_good(self) -> bool:
        """Whether it was used not long ago, and the other side has neither closed it since nor said anything."""
        return monotonic() - self.used < KEPT_FOR and not self.writer.transport.is_closing() and self._is_silent()

    def _is_silent(self) -> bool:
        """Whether somebody who reads would have to wait."""
        reading = self.reader.read(1)
        try:
            reading.send(None)
        except (StopIteration, OSError):
            return False
        reading.close()
        return True

    async def post(self, place: Place, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """The status of the answer, and its ``Retry-After``."""
        first = {"Host": place.authority, "User-Agent": USER_AGENT, "Content-Length": str(len(body))}
        request = h11.Request(method="POST", target=place.target, headers=[*(first | dict(headers)).items()])
        sent = [self.talk.send(part) for part in (request, h11.Data(data=body), h11.EndOfMessage())]
        self.writer.write(b"".join(filter(None, sent)))
        async with asyncio.timeout(ANSWERING):
            while not isinstance(answer := await self._next(), h11.Response):
                pass  # it is announced
        with suppress(OSError, h11.RemoteProtocolError):  # it is answered, whatever becomes of the rest
            async with asyncio.timeout(ENDING):
                await self._read_on()
        again = (value.decode("latin-1") for name, value in answer.headers if name == b"retry-after")
        return answer.status_code, next(again, "")

    async def _read_on(self) -> None:
        """Read an answer to its end, if that is near: then the connection can be used again."""
        read = 0
        while read <= MOST_READ and isinstance(part := await self._next(), h11.Data):
            read += len(part.data)

    async def _next(self) -> object:
        while (found := self.talk.next_event()) is h11.NEED_DATA:
            data = await self.reader.read(CHUNK)
            if not data and self.talk.their_state is h11.SEND_RESPONSE:
                raise ConnectionResetError("the connection was closed without an answer")
            self.talk.receive_data(data)
        return found

    def is_free(self) -> bool:
        """Whether another request can follow the last one."""
        if not self.talk.our_state is self.talk.their_state is h11.DONE or self.talk.trailing_data[0]:
            return False
        self.talk.start_next_cycle()
        self.used = monotonic()
        return True

    def close(self) -> None:
        """Close it at once: to wait until all that was written is taken may be for ever."""
        self.writer.transport.abort()


class Connections:
    """Calls hosts at the addresses that they may be called at, and keeps the connections for a while."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._context = ssl.create_default_context()
        self._kept: OrderedDict[Host, list[Connection]] = OrderedDict()  # the one that was used last comes last

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """The status of the answer to a POST, and its ``Retry-After``."""
        place = place_of(url)
        while (kept := self._take(place.host)) is not None:
            try:
                return await self._post(kept, place, body, headers)
            except ConnectionError:  # the other side closed it at the same moment
                continue
        return await self._post(await self._connect(place.host), place, body, headers)

    async def close(self) -> None:
        for host in list(self._kept):
            self._let_go(host)
        await asyncio.sleep(0)  # it takes the loop another turn

    async def _post(
        self, connection: Connection, place: Place, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, str]:
        free = False
        try:
            answer = await connection.post(place, body, headers)
            free = connection.is_free()
            return answer
        finally:
            if free:
                self._keep(place.host, connection)
            else:
                connection.close()

    async def _connect(self, host: Host) -> Connection:
        context, name = (self._context, host.name) if host.scheme == "https" else (None, None)

        async def connect(address: str) -> Connection:
            async with asyncio.timeout(CONNECTING):
                opened = await asyncio.open_connection(address, host.port, ssl=context, server_hostname=name)
            return Connection(*opened)

        try:
            return await self._addresses.connected(host.name, host.port, connect, CONNECTING)
        except TimeoutError:
            raise
        except OSError as error:
            raise ConnectionError(_why(error)) from None

    def _take(self, host: Host) -> Connection | None:
        """A connection that is there."""
        own = self._kept.get(host, [])
        while own:
            if (found := own.pop()).is_good():
                return found
            found.close()
        self._kept.pop(host, None)
        return None

    def _keep(self, host: Host, connection: Connection) -> None:
        own = self._kept.setdefault(host, [])
        if len(own) < MOST_OF_ONE:
            own.append(connection)
        else:
            connection.close()
        self._kept.move_to_end(host)
        if len(self._kept) > MOST_HOSTS:
            self._let_go(next(iter(self._kept)))

    def _let_go(self, host: Host) -> None:
        for connection in self._kept.pop(host):
            connection.close()


def _why(error: OSError) -> str:
    """Why there is no connection, without the address that a name leads to."""
    if isinstance(error, ssl.SSLError):
        return getattr(error, "verify_message", "") or error.reason or "TLS failed"
    return os.strerror(error.errno) if error.errno else str(error)
