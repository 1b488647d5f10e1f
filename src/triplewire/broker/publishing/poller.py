"""Reading sources: politely, more often where something happens, and each by itself."""

from __future__ import annotations

import asyncio
import logging
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import httpx

import triplewire
from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.delivery.circuits import Circuits
from triplewire.broker.delivery.retries import answer_of, no_answer
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.publishing.entries import entries, events, remembered
from triplewire.errors import EventError
from triplewire.lift.cloudevents import Envelope
from triplewire.store import Reading, Source, Store, moment_of

INTERVAL = 1.0
AT_ONCE = 32
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=1)
QUICKER, SLOWER, FAILING = 0.5, 1.5, 2.0
TIMEOUT = httpx.Timeout(15, connect=5)
WHOLE_TIMEOUT = 30
LARGEST = 5 << 20
GZIP = 16  # as zlib has it
MOST_REDIRECTS = 5
ACCEPT = "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, */*;q=0.1"

Publish = Callable[[Sequence[Envelope], str], Awaitable[object]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Document:
    """What a source answered: its status, what it sent, and what it says of it."""

    status: int
    body: bytes
    headers: httpx.Headers


class Poller:
    """Reads the sources of a store, and has what is new in them published by their owners. One per store."""

    def __init__(
        self,
        store: Store,
        addresses: Addresses,
        publish: Publish,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._publish = publish
        self._clock = clock
        self._client = addresses.client(
            timeout=TIMEOUT,
            follow_redirects=True,  # each way is checked where it is taken
            max_redirects=MOST_REDIRECTS,
            headers={"User-Agent": f"Triplewire/{triplewire.__version__}", "Accept": ACCEPT, "Accept-Encoding": "gzip"},
        )
        self._circuits = Circuits()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._under_way: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Read until cancelled."""
        try:
            while True:
                try:
                    await self.look()
                except Exception as error:  # the sources are still there when the store answers again
                    log.error("cannot read sources: %s", error)
                await asyncio.sleep(INTERVAL)
        finally:
            await self.close()

    async def look(self) -> None:
        """Begin to read what is due now."""
        for source in await asyncio.to_thread(self._store.sources.due, moment_of(self._clock())):
            if source.number not in self._under_way:
                self._under_way[source.number] = asyncio.create_task(self._read(source))

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._under_way:
            await asyncio.wait(self._under_way.values())

    async def close(self) -> None:
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._client.aclose()

    async def _read(self, source: Source) -> None:
        circuit = self._circuits.of(source.url)
        circuit.under_way += 1
        try:
            async with circuit.slots, self._slots:
                reading = await self._reading(source)
            await asyncio.to_thread(self._store.sources.settle, source, reading)
        except Exception as error:
            log.error("the reading of source %s was interrupted: %s", source.number, type(error).__name__)
        finally:
            circuit.under_way -= 1
            self._circuits.forget(source.url)
            del self._under_way[source.number]

    async def _reading(self, source: Source) -> Reading:
        try:
            async with asyncio.timeout(WHOLE_TIMEOUT):
                found = await self._fetch(source)
            return await self._read_document(source, found)
        except ProblemError as error:  # we cannot take more in
            return self._failed(source, error.detail)
        except EventError as error:
            return self._failed(source, str(error))
        except Exception as error:  # whatever goes wrong with one source is a matter of this one
            return self._failed(source, no_answer(error).reason)

    async def _fetch(self, source: Source) -> Document:
        headers = {"If-None-Match": source.tag, "If-Modified-Since": source.modified}
        known = {name: value for name, value in headers.items() if value}
        async with self._client.stream("GET", source.url, headers=known) as answer:
            body, packed = bytearray(), answer.headers.get("content-encoding", "identity").lower() != "identity"
            unpacking = zlib.decompressobj(zlib.MAX_WBITS | GZIP)
            async for chunk in answer.aiter_raw():  # a little that is packed may be very much
                body += unpacking.decompress(chunk, LARGEST + 1) if packed else chunk
                if len(body) > LARGEST:
                    raise EventError(f"it is larger than {LARGEST:,} bytes")
            return Document(answer.status_code, bytes(body), answer.headers)

    async def _read_document(self, source: Source, document: Document) -> Reading:
        if document.status == HTTPStatus.NOT_MODIFIED:
            return self._done(source, document, source, source.seen, 0)
        if document.status != HTTPStatus.OK:
            answer = answer_of(document.status, document.headers.get("retry-after", ""), self._clock())
            failed = self._failed(source, answer.reason, answer.after)
            return replace(failed, state="gone") if answer.gone else failed
        found = await asyncio.to_thread(entries, document.body)
        new = await asyncio.to_thread(lambda: list(events(source.url, found, source.seen)))
        if new:
            await self._publish(new, source.owner)
        said = document.headers
        tagged = replace(source, tag=said.get("etag", ""), modified=said.get("last-modified", ""))
        return self._done(source, document, tagged, remembered(found, source.seen), len(new))

    def _done(self, source: Source, document: Document, said: Source, seen: tuple[str, ...], published: int) -> Reading:
        now = self._clock()
        pause = _bounded(timedelta(seconds=source.pause) * (QUICKER if published else SLOWER))
        fresh = re.search(r"max-age\s*=\s*(\d{1,9})", document.headers.get("cache-control", ""))
        wait = max(pause, min(timedelta(seconds=int(fresh[1])) if fresh else timedelta(), LONGEST))
        due = moment_of(now + wait)
        seconds = int(pause.total_seconds())
        return Reading(
            moment_of(now), due, seconds, tag=said.tag, modified=said.modified, seen=seen, published=published
        )

    def _failed(self, source: Source, reason: str, after: timedelta = timedelta()) -> Reading:
        now = self._clock()
        pause = _bounded(timedelta(seconds=source.pause) * FAILING)
        due = now + max(pause, min(after, LONGEST))
        return Reading(moment_of(now), moment_of(due), int(pause.total_seconds()), reason[:500])


def _bounded(pause: timedelta) -> timedelta:
    return max(SHORTEST, min(pause, LONGEST))
