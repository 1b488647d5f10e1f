"""Database, pipeline and broker killed in turn, while events are published and others wait to be told of them."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

from tests.broker.clients import messages
from tests.broker.sending import OLD, Receiver, process, receiver
from tests.conftest import new_database
from tests.pipeline.test_stream import catch_up, streaming
from tests.pipeline.world import broken, cheaper, eventually, expected, notified, offer
from tests.postgres import PostgreSQL
from tests.processes import command_line, descendants, still_there
from triplewire.store import Notification, Store

__all__ = ["process", "receiver"]

DAEMON = b"triplewire.pipeline.daemon"
SUBSCRIPTIONS = ("steady", "fickle")
PAUSE = 0.1
"""Seconds between two events, or two attempts."""


class Broker:
    """A broker that is killed and started again on the same folder, port and store."""

    def __init__(self, home: Path, store: str) -> None:
        self.home = home
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self.address = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "triplewire", "serve", "--home", str(home), "--port", port]
        self._command += ["--allow-network", "127.0.0.1"]
        self._environment = {**os.environ, "TRIPLEWIRE_STORE": store}

    @contextmanager
    def serving(self, *options: str) -> Iterator[None]:
        """The broker, and at the end of the block a sudden end of it alone."""
        self._process = subprocess.Popen([*self._command, *options], env=self._environment, start_new_session=True)
        try:
            yield
            self.check()
        finally:
            started = descendants(self._process.pid)
            self._process.kill()
            self._process.wait()
        assert still_there(started) == set()

    def check(self) -> None:
        assert self._process.poll() is None, "the broker ended by itself"

    def batches(self, log: str) -> set[str]:
        return {path.name for path in (self.home / "checkpoint" / log).glob("[0-9]*")}

    def kill_pipeline(self) -> None:
        """Kill the pipeline and its JVM. Spark's Python processes are in groups of their own, and notice themselves."""
        started = descendants(self._process.pid)
        assert any(DAEMON in command_line(pid) for pid in started), "there was no worker"
        [pipeline] = [pid for pid in started if os.getpgid(pid) == pid and b"stream" in command_line(pid)]
        os.killpg(pipeline, signal.SIGKILL)
        assert still_there(started) == set()


class Visitor:
    """Somebody who talks to the broker all the time, in a thread; whatever happens to the broker, they come again."""

    def __init__(self, address: str) -> None:
        self.ended = Event()
        self._client = httpx.Client(base_url=address, timeout=60)
        self._thread = Thread(target=self._run)

    def _run(self) -> None:
        while not self.ended.wait(PAUSE):
            self.visit()

    def visit(self) -> None:
        raise NotImplementedError

    def check(self) -> None:
        assert self._thread.is_alive()

    @contextmanager
    def visiting(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        self.ended.set()
        self._thread.join()
        self._client.close()


class Publisher(Visitor):
    """Publishes one event after the other, each until it is accepted, and changes a subscription at times."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.accepted: dict[str, int] = {}
        self.refused = 0
        self._numbers = count(1)

    def subscribe(self, name: str, webhook: dict[str, Any]) -> None:
        self._ask("POST", "/v1/subscriptions", cheaper(name, 120, "Desktop") | {"delivery": webhook})

    def visit(self) -> None:
        """Every fifth event is a bad one."""
        number = next(self._numbers)
        _, id_, body = broken(number) if number % 5 == 0 else offer(number, number * 37 % 200)
        self.accepted[id_] = self._ask("POST", "/v1/events", json.loads(body))["position"]
        if number % 8 == 0:
            pattern = cheaper("fickle", number * 61 % 200, "Desktop")["pattern"]
            self._ask("PATCH", "/v1/subscriptions/fickle", {"pattern": pattern})

    def _ask(self, method: str, path: str, body: dict[str, Any]) -> Any:
        kind = "application/cloudevents+json" if path == "/v1/events" else "application/json"
        for _ in range(5000):
            try:
                answer = self._client.request(method, path, json=body, headers={"Content-Type": kind})
                if answer.is_success:
                    return answer.json()
                assert (answer.status_code, answer.headers.get("retry-after")) == (503, "1"), answer.text
                self.refused += 1
            except httpx.TransportError:
                pass  # it may have been accepted or not; the same again makes sure
            self.ended.wait(PAUSE)
        raise AssertionError(f"{method} {path} was never answered")


class Listener(Visitor):
    """Hears the notifications, each time from the last one on that they have heard."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.heard: list[int] = [0]

    def visit(self) -> None:
        headers = {"Last-Event-ID": str(self.heard[-1])}
        try:
            with self._client.stream("GET", "/v1/notifications/stream", headers=headers) as response:
                assert response.status_code in (200, 503)
                if response.is_success:
                    self.heard += (int(id_) for id_, _ in messages(response.iter_lines()))
        except httpx.TransportError:
            pass


@pytest.mark.slow
def test_killed_at_any_moment_all_of_it_together_tells_of_each_match(
    request: pytest.FixtureRequest, postgresql: PostgreSQL, receiver: Receiver, tmp_path: Path, spark: SparkSession
) -> None:
    chance = random.Random()
    with ExitStack() as stack:
        url = stack.enter_context(new_database(request))
        store = stack.enter_context(closing(Store(url)))
        broker = Broker(tmp_path, url)
        publisher, listener = Publisher(broker.address), Listener(broker.address)

        def until(what: str, condition: Callable[[], bool]) -> None:
            def is_so() -> bool:
                for one in (broker, publisher, listener):
                    one.check()
                return condition()

            eventually(is_so, what=what)

        def more(what: str) -> None:
            """Some more events are matched."""
            goal = store.pipeline_position() + chance.randint(1, 20)
            until(what, lambda: store.pipeline_position() >= goal)

        def batch_is_under_way() -> bool:
            return broker.batches("offsets") > broker.batches("commits")

        with broker.serving():
            for name in SUBSCRIPTIONS:
                webhook = {"channel": "webhook", "url": f"{receiver.address}/{name}", "secret": OLD}
                publisher.subscribe(name, webhook)
            stack.enter_context(publisher.visiting())
            stack.enter_context(listener.visiting())
            more("the first batch")
            until("a batch under way", batch_is_under_way)
            postgresql.kill()
            until("an answer without a database", lambda: publisher.refused > 0)
            postgresql.start()
            more("a batch after the database's end")
            until("a batch under way", batch_is_under_way)
            broker.kill_pipeline()
            more("a batch after the pipeline's end")
            # Now a batch has just been written, and Spark may not have noted it yet.
        with broker.serving("--pipeline", "elsewhere"):
            known = len(publisher.accepted)
            until("an event after the broker's end", lambda: len(publisher.accepted) > known)
            publisher.end()
            with streaming(spark, store, tmp_path) as query:
                catch_up(query, store)
            told = store.notifications(limit=1_000_000)
            eventually(lambda: listener.heard[-1] == told[-1].number, what="what is heard")
            last = [sequences(told, name)[-1:] for name in SUBSCRIPTIONS]
            received = "what the webhooks receive"
            eventually(lambda: [receiver.accepted(name)[-1:] for name in SUBSCRIPTIONS] == last, what=received)
            listener.ended.set()

        assert {event.id: event.position for event in store.events(0, store.last_position())} == publisher.accepted
        letters = {letter.position for letter in store.dead_letters(limit=1_000_000)}
        assert letters == {position for id_, position in publisher.accepted.items() if int(id_[1:]) % 5 == 0}
        assert notified(store) == expected(store)
        assert listener.heard[1:] == [one.number for one in told]
        for name in SUBSCRIPTIONS:
            check_received(receiver, name, sequences(told, name))


def sequences(told: list[Notification], name: str) -> list[int]:
    return [one.sequence for one in told if one.subscription == name]


def check_received(receiver: Receiver, name: str, written: list[int]) -> None:
    """Each at least once, in order, none left out, and all of them signed."""
    accepted = receiver.accepted(name)
    assert accepted == sorted(accepted)
    assert sorted(set(accepted)) == written == list(range(1, len(written) + 1))
    assert written
    assert all(one["good"] == [OLD] for one in receiver.received(name))
