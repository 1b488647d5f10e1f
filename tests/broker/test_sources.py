"""Sources: each entry of a feed is published once, and servers are asked no more than they like."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.broker.clients import bearer
from tests.broker.conftest import served
from tests.broker.sending import ALLOWED, Clock, running
from triplewire.broker.publishing import poller as polling
from triplewire.broker.publishing.poller import LONGEST, Poller
from triplewire.broker.publishing.publisher import Publisher
from triplewire.lift.cloudevents import parse_event, parse_events
from triplewire.store import Reading, Store, moment_of

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:feed</id><title>News</title><updated>2026-01-01T00:00:00Z</updated>
{}</feed>"""
ENTRY = "<entry><id>urn:e:{0}</id><title>{0} {1}</title><updated>2026-01-01T00:00:00Z</updated></entry>"
RSS = """<rss version="2.0"><channel><title>T</title><link>http://x.example/</link><description>d</description>{}</channel></rss>"""


def atom(*numbers: int, title: str = "") -> str:
    """A feed with some entries, the newest first."""
    return ATOM.format("".join(ENTRY.format(number, title) for number in reversed(numbers)))


class Site:
    """A server whose answers are laid out in advance: status, headers, body. The last one is repeated."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], str | bytes]] = []
        self.asked: list[dict[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append({"path": self.path} | {n.lower(): v for n, v in self.headers.items()})
                status, headers, body = site.answers[0] if len(site.answers) == 1 else site.answers.pop(0)
                if "ETag" in headers and self.headers.get("If-None-Match") == headers["ETag"]:
                    status, body = 304, ""
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                sent = body if isinstance(body, bytes) else body.encode()
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/feed"


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    with running(found.server):
        yield found


def poll(store: Store, scenario: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]], clock: Clock) -> None:
    """Have a scenario read what is due, after the clock was put to where something is."""

    async def run() -> None:
        poller = Poller(store, ALLOWED, Publisher(store).publish, clock)

        async def read() -> None:
            [source] = store.sources.listed(0, 9)
            if source.due:
                clock.now = max(clock.now, datetime.fromisoformat(source.due))
            await poller.look()
            await poller.settled()

        await scenario(read)
        await poller.close()

    asyncio.run(run())


def published(store: Store) -> list[str]:
    return [event.id for event in store.events(0, store.last_position())]


def standing(store: Store) -> Any:
    [source] = store.sources.listed(0, 9)
    return source


def test_each_entry_is_published_once_by_its_id_and_what_is_unchanged_is_not_loaded(store: Store, site: Site) -> None:
    store.sources.add("ann", site.url)
    modified = format_datetime(datetime(2026, 1, 1, tzinfo=UTC), usegmt=True)
    site.answers = [
        (200, {"ETag": '"1"', "Last-Modified": modified}, atom(1, 2)),
        (200, {"ETag": '"1"'}, atom(1, 2)),
        (200, {"ETag": '"2"'}, atom(2, 3, title="mended")),
        (200, {}, atom(1, 3, 4)),
    ]
    pauses = []

    async def scenario(read: Callable[[], Awaitable[None]]) -> None:
        for expected in ([1, 2], [1, 2], [1, 2, 3], [1, 2, 3, 4]):
            pauses.append(standing(store).pause)
            await read()
            assert published(store) == [f"urn:e:{n}" for n in expected]

    poll(store, scenario, Clock())
    assert [one.get("if-none-match") for one in site.asked] == [None, '"1"', '"1"', '"2"']
    assert [one.get("if-modified-since") for one in site.asked] == [None, modified, modified, None]
    assert pauses[0] > pauses[1] < pauses[2] > pauses[3], "quicker where something is new, slower where not"
    found = standing(store)
    assert (found.reads, found.published, found.failing_since, found.state) == (4, 4, None, "active")
    [first, *_] = store.events(0, 1)
    event = parse_event(first.body)
    cloud = {"source": site.url, "id": "feed", "specversion": "1.0", "type": "t", "data": atom(1, 2)}
    lifted = parse_events(json.dumps(cloud | {"datacontenttype": "application/atom+xml"}))[1]
    assert (event.id, event.source, event.graph) == ("urn:e:1", site.url, lifted.graph)


def test_a_packed_feed_is_read_and_one_that_would_fill_the_memory_is_not(store: Store, site: Site) -> None:
    store.sources.add("ann", site.url)
    packed = {"Content-Encoding": "gzip"}
    site.answers = [(200, packed, gzip.compress(atom(1).encode())), (200, packed, gzip.compress(bytes(200 << 20), 1))]
    peaks = []

    async def scenario(read: Callable[[], Awaitable[None]]) -> None:
        for _ in range(2):
            tracemalloc.start()
            await read()
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    poll(store, scenario, Clock())
    assert (published(store), "larger than" in standing(store).reason) == (["urn:e:1"], True)
    assert peaks[1] < 40 << 20


def test_entries_without_an_id_are_known_by_what_they_say(store: Store, site: Site) -> None:
    store.sources.add("ann", site.url)
    items = [f"<item><title>{name}</title></item>" for name in "abc"]
    site.answers = [(200, {}, RSS.format("".join(items[1:]))), (200, {}, RSS.format("".join(items)))]

    async def scenario(read: Callable[[], Awaitable[None]]) -> None:
        await read()
        await read()

    poll(store, scenario, Clock())
    assert len(published(store)) == 3
    assert len(set(published(store))) == 3


def test_a_server_is_left_alone_for_as_long_as_it_asks_and_ever_longer_while_it_fails(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.sources.add("ann", site.url)
    monkeypatch.setattr(polling, "LARGEST", 2000)
    clock, waits, reasons = Clock(), [], []
    elsewhere = {"Location": "http://10.0.0.1/"}
    site.answers = [
        (200, {"Cache-Control": "public, max-age=40000"}, atom(1)),
        (503, {"Retry-After": "50000"}, ""),
        (500, {}, ""),
        (200, {}, "no feed at all"),
        (200, {}, atom(*range(50))),
        (302, elsewhere, ""),
        (301, {"Location": "/feed"}, ""),
        (200, {}, atom(1, 2)),
        (410, {}, ""),
    ]

    async def scenario(read: Callable[[], Awaitable[None]]) -> None:
        for _ in range(8):
            await read()
            waits.append(datetime.fromisoformat(standing(store).due) - clock.now)
            reasons.append(standing(store).reason)

    poll(store, scenario, clock)
    assert waits[0] >= timedelta(seconds=39_999)
    assert waits[1] >= timedelta(seconds=49_999)
    assert all(wait <= LONGEST for wait in waits)
    assert waits[2] < waits[3] <= waits[4]
    said = ["", "503", "500", "neither RSS nor Atom", "larger than", "leads to no public address", "", "410"]
    assert [part in reason for part, reason in zip(said, reasons, strict=True)] == [True] * 8, reasons
    assert (reasons[0], reasons[6], published(store)) == ("", "", ["urn:e:1", "urn:e:2"])
    assert (standing(store).state, len(site.asked)) == ("gone", 9)
    assert store.sources.due("9999") == []


def test_a_source_that_does_not_answer_keeps_nobody_waiting(store: Store, site: Site) -> None:
    silent = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    for number in range(40):
        store.sources.add("ann", f"http://127.0.0.1:{silent.server_port}/{number}")
    store.sources.add("ann", site.url)
    site.answers = [(200, {}, atom(1))]

    async def scenario() -> None:
        poller = Poller(store, ALLOWED, Publisher(store).publish, Clock())
        await poller.look()
        while not published(store):
            await asyncio.sleep(0.01)
        await poller.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))
    silent.server_close()
    assert sum(source.reads for source in store.sources.listed(0, 99)) <= 1


def test_sources_are_added_told_and_removed_by_their_owner(store: Store, tmp_path: Path) -> None:
    with served(store) as address, httpx.Client(base_url=address, timeout=60) as broker:
        ann, bob = bearer(store, "ann"), bearer(store, "bob")
        made = broker.post("/v1/sources", json={"url": "https://example.org/feed"}, headers=ann)
        assert (made.status_code, made.headers["location"]) == (201, "/v1/sources/1")
        again = broker.post("/v1/sources", json={"url": "https://example.org/feed"}, headers=ann)
        assert (again.status_code, again.json()) == (200, made.json())
        assert broker.post("/v1/sources", json={"url": "https://example.org/feed"}, headers=bob).json()["id"] == 2
        found = broker.get("/v1/sources", headers=ann).json()["items"]
        assert [(one["id"], one["state"], one["failing"], one["published"]) for one in found] == [
            (1, "active", None, 0)
        ]
        for wrong in (
            {},
            {"url": 1},
            {"url": "http://127.0.0.1/"},
            {"url": "file:///etc/passwd"},
            {"url": "x", "y": 1},
        ):
            assert broker.post("/v1/sources", json=wrong, headers=ann).status_code == 422
        assert broker.delete("/v1/sources/1", headers=bob).status_code == 404
        assert broker.delete("/v1/sources/1", headers=ann).status_code == 204
        assert broker.get("/v1/sources/1", headers=ann).status_code == 404


def test_a_source_is_left_alone_while_it_is_paused_and_read_at_once_when_asked_but_once_a_minute(
    broker: httpx.Client, store: Store, site: Site
) -> None:
    ann = bearer(store, "ann")
    number = store.sources.add("ann", site.url)[0].number
    address = f"/v1/sources/{number}"
    site.answers = [(200, {}, atom(1)), (410, {}, ""), (200, {}, atom(1, 2))]
    assert broker.post(f"{address}/read", headers=ann).status_code == 202

    async def scenario(read: Callable[[], Awaitable[None]]) -> None:
        await read()
        told = broker.get(address, headers=ann).json()
        assert (told["reads"], told["known"], told["state"]) == (1, 1, "active") and told["lastRead"] and told["next"]
        broker.patch(address, json={"paused": True}, headers=ann).raise_for_status()
        await read()
        assert broker.get(address, headers=ann).json()["reads"] == 1
        assert broker.post(f"{address}/read", headers=ann).status_code == 409
        assert broker.patch(address, json={"paused": False}, headers=ann).json()["state"] == "active"
        await read()
        assert broker.get(address, headers=ann).json()["state"] == "gone"
        store.sources.hurry(number)
        await read()
        told = broker.get(address, headers=ann).json()
        assert (told["state"], told["failing"], told["published"]) == ("active", None, 2)

    poll(store, scenario, Clock())
    store.sources.settle(standing(store), Reading(moment_of(datetime.now(UTC)), "", 60))
    refused = broker.post(f"{address}/read", headers=ann)
    assert refused.status_code == 429 and 0 < int(refused.headers["retry-after"]) <= 60


def test_a_source_that_is_paused_while_it_is_read_stays_so(store: Store) -> None:
    source = store.sources.add("ann", "https://example.org/feed")[0]
    store.sources.pause(source.number, True)
    store.sources.settle(source, Reading("2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z", 900))
    assert standing(store).state == "paused"
