"""Mail: nobody gets any who has not agreed, and who has gets everything, and can stop it by a click."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import httpx
import pytest
from aiosmtpd.controller import Controller

from tests.broker.clients import notify, subscription
from tests.broker.conftest import served
from tests.broker.sending import ALLOWED, Clock, of, turn
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.broker.delivery.mailer import Mailer
from triplewire.store import Mailbox, Store

ANN = {"channel": "email", "to": "ann@example.org", "format": "application/n-triples"}


DELIVERING = """
import asyncio, sys
from datetime import UTC, datetime, timedelta
from triplewire.broker.delivery.addresses import Addresses
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.broker.delivery.mailer import Mailer
from triplewire.store import Mailbox, Store

async def deliver(url, port):
    mailer = Mailer("127.0.0.1", int(port), "us@triplewire.example", "https://triplewire.example", "none")
    later = lambda: datetime.now(UTC) + timedelta(hours=2)
    await Dispatcher(Store(url), Addresses(), clock=later, mailer=mailer).run()

asyncio.run(deliver(*sys.argv[1:]))
"""


class Server:
    """A mail server: what it was sent, and what it says to it. When it has so many, it has their sender killed."""

    def __init__(self) -> None:
        self.received: list[tuple[list[str], EmailMessage]] = []
        self.raw = b""
        self.says = "250 fine"
        self.enough = 0
        self.kill: Callable[[], None] = lambda: None

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.says.startswith("250"):
            message = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            self.received.append((envelope.rcpt_tos, message))
            self.raw = envelope.content
            if len(self.received) == self.enough:
                self.kill()
        return self.says


@pytest.fixture
def server() -> Iterator[tuple[Server, int]]:
    handler = Server()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(handler, "127.0.0.1", port)
    controller.start()
    yield handler, port
    controller.stop()


@pytest.fixture
def mailer(server: tuple[Server, int]) -> Mailer:
    return Mailer("127.0.0.1", server[1], "us@triplewire.example", "https://triplewire.example", "none")


@pytest.fixture
def broker(store: Store, mailer: Mailer) -> Iterator[httpx.Client]:
    with served(store, mailer=mailer) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def send(store: Store, mailer: Mailer | None, clock: Clock | None = None) -> None:
    async def scenario() -> None:
        dispatcher = Dispatcher(store, ALLOWED, clock=clock or Clock(), mailer=mailer)
        await turn(dispatcher)
        await dispatcher.close()

    asyncio.run(scenario())


def link(message: EmailMessage) -> str:
    """The way of the first link, without our name."""
    body = message.get_body(("plain",))
    assert body is not None
    return re.findall(r"https://triplewire\.example(/\S+)", body.get_content())[0]


def test_nobody_is_sent_mail_who_has_not_agreed(
    broker: httpx.Client, store: Store, mailer: Mailer, server: tuple[Server, int]
) -> None:
    handler, _ = server
    created = broker.post("/v1/subscriptions", json=subscription(id="s", delivery=ANN))
    assert created.json()["delivery"] == ANN
    [(to, question)] = handler.received
    assert (to, of(store).state) == (["ann@example.org"], "unconfirmed")
    notify(store, "s")
    send(store, mailer)
    store.pause("s", False)
    send(store, mailer)
    assert len(handler.received) == 1
    again = broker.post("/v1/subscriptions", json=subscription(id="t", delivery=ANN))
    assert (again.status_code, len(handler.received)) == (429, 1), "nobody is asked over and over"
    way = link(question)
    assert "<form" in broker.get(way).text
    assert of(store).state == "unconfirmed", "what looks through mail opens links"
    assert broker.post(way[:-1]).status_code == 404
    assert broker.post(way).status_code == 200
    assert of(store).state == "active"
    send(store, mailer)
    assert len(handler.received) == 2
    other = broker.post("/v1/subscriptions", json=subscription(id="u", owner="bob", delivery=ANN))
    assert (other.status_code, of(store, "u").state) == (201, "unconfirmed"), "she agreed to the one user's mail"


def confirmed(store: Store, mailer: Mailer, **terms: Any) -> None:
    with served(store, mailer=mailer) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.post("/v1/subscriptions", json=subscription(id="s", delivery=ANN, **terms)).raise_for_status()
        token = store.mailboxes.ask("local", "bob@example.org", Clock().now)
        assert token is not None
        assert store.mailboxes.confirm(token, Clock().now) == "bob@example.org"
        client.patch("/v1/subscriptions/s", json={"delivery": {"to": "bob@example.org"}}).raise_for_status()


def test_a_message_tells_the_notification_in_text_and_html_and_a_click_pauses_it(
    broker: httpx.Client, store: Store, mailer: Mailer, server: tuple[Server, int]
) -> None:
    confirmed(store, mailer)
    notify(store, "s")
    send(store, mailer)
    to, message = server[0].received[-1]
    assert (to, message["to"], message["subject"]) == (["bob@example.org"], "bob@example.org", "s: e1")
    plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None and html is not None
    for part in (plain.get_content(), html.get_content().replace("&lt;", "<").replace("&gt;", ">")):
        assert "?1 = _:pc" in part
        assert "_:H <http://example.org/auction#target> _:pc ." in part
        assert "https://triplewire.example/notifications/1" in part
        assert "number 1, score 1" in part
    assert message["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
    assert f"\r\nList-Unsubscribe: {message['list-unsubscribe']}\r\n".encode() in server[0].raw, "no program decodes it"
    way = message["list-unsubscribe"].strip("<>").removeprefix("https://triplewire.example")
    assert broker.get(way).status_code == 200
    assert broker.post(way[:-1], data={"List-Unsubscribe": "One-Click"}).status_code == 404
    assert of(store).state == "active"
    assert broker.post(way, data={"List-Unsubscribe": "One-Click"}).status_code == 200
    assert (of(store).state, broker.get("/v1/subscriptions/s").json()["state"]) == ("paused", "paused")


def test_a_digest_is_one_message_and_what_the_server_refuses_is_tried_again(
    store: Store, mailer: Mailer, server: tuple[Server, int]
) -> None:
    handler, _ = server
    confirmed(store, mailer, digest="daily")
    for _ in range(3):
        notify(store, "s")
    clock = Clock()
    send(store, mailer, clock)
    before = len(handler.received)
    clock.forward(timedelta(days=1))
    handler.says = "451 not now"
    send(store, mailer, clock)
    assert of(store).reason == "the mail server said 451 not now"
    assert (len(handler.received), store.deliveries.pending(["s"])) == (before, {"s": 3})
    clock.forward(timedelta(minutes=1))
    handler.says = "250 fine"
    send(store, None, clock)
    assert of(store).reason.startswith("there is no mail server")
    clock.forward(timedelta(hours=1))
    send(store, mailer, clock)
    [(_, message)] = handler.received[before:]
    assert message["subject"] == "s: 3 notifications"
    body = message.get_body(("plain",))
    assert body is not None and body.get_content().count("Why: ") == 3
    assert (of(store).delivered, of(store).sent) == (3, 9)


def test_a_broker_that_is_killed_while_it_sends_digests_leaves_none_unsent(
    store: Store, mailer: Mailer, server: tuple[Server, int]
) -> None:
    handler, port = server
    names = [f"s{n}" for n in range(6)]
    for name in names:
        address = f"{name}@example.org"
        store.mailboxes.confirm(store.mailboxes.ask("local", address, Clock().now) or "", Clock().now)
        store.subscribe({"id": name, "digest": "hourly"}, webhook=Mailbox(f"mailto:{address}", "secret"))
    for _ in range(3):
        notify(store, *names)
    handler.enough = 3
    with subprocess.Popen([sys.executable, "-c", DELIVERING, store.url, str(port)]) as running:
        handler.kill = running.kill  # this one is received, and nobody is left to write that down
        assert running.wait(60) == -signal.SIGKILL
    assert 1 <= len(store.deliveries.pending(names)) <= len(names), "in the midst of it"
    handler.enough = 0
    clock = Clock()
    clock.forward(timedelta(hours=2))
    send(store, mailer, clock)
    assert (store.deliveries.pending(names), {of(store, name).delivered for name in names}) == ({}, {3})
    digests: dict[str, list[EmailMessage]] = {}
    for (to,), message in handler.received:
        digests.setdefault(to, []).append(message)
    assert set(digests) == {f"{name}@example.org" for name in names}
    for same in digests.values():
        assert len({message["message-id"] for message in same}) == 1, "what comes twice is known by its id"
        assert {message["subject"].partition(": ")[2] for message in same} == {"3 notifications"}
    assert len(handler.received) > len(names), "one was sent again at least"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"to": "ann"}, "ann@example.org"),
        ({"to": "ann@example.org\nBcc: all@example.org"}, "ann@example.org"),
        ({"to": "a@x.org,b@x.org"}, "ann@example.org"),
        ({"to": "a\u2028b@x.org"}, "ann@example.org"),
        ({"to": "a\0b@x.org"}, "ann@example.org"),
        ({"secret": "whsec_"}, "'secret'"),
        ({"format": "text/html"}, "text/turtle"),
    ],
)
def test_an_address_that_is_none_is_refused(
    broker: httpx.Client, server: tuple[Server, int], asked: dict[str, str], said: str
) -> None:
    answer = broker.post("/v1/subscriptions", json=subscription(delivery=ANN | asked))
    assert (answer.status_code, said in answer.json()["detail"], server[0].received) == (422, True, [])


def test_without_a_mail_server_there_is_no_mail_and_with_a_dead_one_nobody_counts_as_asked(
    store: Store, mailer: Mailer, server: tuple[Server, int]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nowhere = Mailer("127.0.0.1", free.getsockname()[1], "us@x", "https://x", "none")
    for found, status in ((None, 422), (nowhere, 503), (mailer, 201)):
        with served(store, mailer=found) as address:
            answer = httpx.post(f"{address}/v1/subscriptions", json=subscription(delivery=ANN), timeout=60)
            assert answer.status_code == status
