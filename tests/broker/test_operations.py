"""Running the broker: its logs, its health, its limits, and how it ends."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.broker.clients import cloudevent, notify, publish
from tests.broker.conftest import served
from tests.broker.sending import OLD
from triplewire.broker.operations.logs import JsonLines, TextLines
from triplewire.broker.publishing.pressure import Limits
from triplewire.broker.supervisor import Standing
from triplewire.store import Store, Webhook, store_url


@contextmanager
def client(store: Store, **settings: Any) -> Iterator[httpx.Client]:
    with served(store, **settings) as address, httpx.Client(base_url=address, timeout=60) as asked:
        yield asked


@contextmanager
def logged(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """What is logged from INFO on."""
    out, logger = io.StringIO(), logging.getLogger("triplewire")
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter)
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield out
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_a_request_is_logged_by_its_template_and_without_what_is_secret(store: Store) -> None:
    with logged(JsonLines()) as out, client(store) as asked:
        headers = {"X-Request-Id": "r-1"}
        answer = asked.get("/v1/subscriptions/private-id?token=swordfish", headers=headers)
        asked.get("/healthz")
    [line] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (answer.headers["x-request-id"], answer.json()["request"]) == ("r-1", "r-1")
    told = {name: line[name] for name in ("level", "message", "method", "route", "status", "request")}
    assert told == {
        "level": "info",
        "message": "request",
        "method": "GET",
        "route": "/v1/subscriptions/{subscription_id:path}",
        "status": 400,
        "request": "r-1",
    }
    assert line["ms"] > 0
    assert "swordfish" not in out.getvalue()
    assert "private-id" not in out.getvalue()


def test_what_a_client_calls_a_request_cannot_look_like_a_line_of_the_log(store: Store) -> None:
    with logged(TextLines()) as out, client(store) as asked:
        answer = asked.get("/v1/concepts", headers={"X-Request-Id": "r 1\t x"})
        logging.getLogger("triplewire.test").info("two\nlines")
    assert len(answer.headers["x-request-id"]) == 16
    assert "two\\nlines" in out.getvalue()
    assert out.getvalue().count("\n") == 2


def test_an_unforeseen_error_is_a_problem_with_an_id_that_the_log_knows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret reason")

    monkeypatch.setattr(store, "dead_letters", fail)
    with logged(JsonLines()) as out, client(store) as asked:
        answer = asked.get("/v1/dead-letters")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret reason" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert all(line["request"] == answer.json()["request"] for line in lines)
    assert "secret reason" in lines[0]["exception"]


def test_every_kind_of_refusal_is_a_problem_document(store: Store) -> None:
    with client(store) as asked:
        answers = _refusals(asked)
    assert answers[405].headers["allow"] == "GET, HEAD, POST"
    for status, answer in answers.items():
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert {"type", "title", "status", "detail", "request"} <= answer.json().keys()


def _refusals(asked: httpx.Client) -> dict[int, httpx.Response]:
    return {
        404: asked.get("/v1/nothing"),
        405: asked.put("/v1/events"),
        400: asked.get("/healthz", headers={"Host": "elsewhere.example"}),
        413: asked.post("/v1/events", content=b" " * (1 << 21), headers={"Content-Type": "text/turtle"}),
        415: asked.post("/v1/events", content=b"x", headers={"Content-Type": "image/png"}),
        422: asked.post("/v1/subscriptions", json={"language": "ops", "pattern": "("}),
    }


def test_readiness_tells_what_is_wrong_where_liveness_does_not(store: Store, tmp_path: Path) -> None:
    standing = Standing("running")
    with client(store, home=tmp_path, limits=Limits(lag=1, free=0), pipeline=standing) as asked:
        _becomes_unready(asked, standing)


def _becomes_unready(asked: httpx.Client, standing: Standing) -> None:
    found = asked.get("/readyz")
    assert (found.status_code, found.json()["status"], found.json()["reasons"]) == (200, "ready", [])
    assert found.json()["pipeline"] == {"state": "running", "restarts": 0, "position": 0, "lag": 0, "index": None}
    standing.state = "restarting"
    for number in range(2):
        assert publish(asked, cloudevent(f"e{number}")).status_code == 202
    found = asked.get("/readyz")
    assert (found.status_code, found.json()["status"]) == (503, "not ready")
    assert found.json()["reasons"] == [
        "2 events are waiting to be matched",
        "the pipeline ended, and is yet to be started again",
    ]
    assert asked.get("/healthz").json() == {"status": "ok", "log": 2, "pipeline": 0, "lag": 2}


def test_events_are_refused_while_the_pipeline_is_too_far_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplewire.broker.publishing.pressure.FRESH", 0)
    with client(store, limits=Limits(lag=1)) as asked:
        assert [publish(asked, cloudevent(f"e{n}")).status_code for n in range(4)] == [202, 202, 429, 429]
        refused = publish(asked, cloudevent("e9"))
        assert (refused.headers["retry-after"], refused.headers["content-type"]) == ("5", "application/problem+json")
        store.record([], [], 2)
        assert publish(asked, cloudevent("e9")).status_code == 202


def test_events_are_refused_while_the_disk_is_nearly_full(store: Store, tmp_path: Path) -> None:
    with client(store, home=tmp_path, limits=Limits(free=1 << 62)) as asked:
        refused = publish(asked, cloudevent())
    assert (refused.status_code, "the disk has" in refused.json()["detail"]) == (429, True)
    assert store.last_position() == 0


def test_a_slow_store_refuses_some_and_loses_none_that_it_accepted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first commit waits until so many events are queued behind it that one was refused."""
    append, refused = store.append, threading.Event()

    def slow(rows: Any) -> list[int]:
        assert refused.wait(30)
        return append(rows)

    monkeypatch.setattr(store, "append", slow)

    def send(number: int) -> tuple[int, int]:
        status = publish(asked, cloudevent(f"e{number}")).status_code
        if status == 429:
            refused.set()
        return number, status

    with client(store, limits=Limits(waiting=5)) as asked, ThreadPoolExecutor(20) as pool:
        answers = dict(pool.map(send, range(40)))
    assert set(answers.values()) == {202, 429}
    kept = {event.id for event in store.events(0, store.last_position())}
    assert kept == {f"e{number}" for number, status in answers.items() if status == 202}


def test_a_broker_that_is_asked_to_end_finishes_what_is_under_way(tmp_path: Path) -> None:
    """Events are published by four clients, one listens, and two webhooks are called, when it is asked to end.

    Nothing accepted is lost. What the one receiver takes now is written down; what the other never answers to waits.
    """
    prompt, silent = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    store = Store(store_url(tmp_path))
    for id_, place in (("prompt", prompt), ("silent", silent)):
        place.settimeout(60)
        store.subscribe({"id": id_}, webhook=Webhook(f"http://127.0.0.1:{place.getsockname()[1]}/?k=swordfish", OLD))
    for id_ in ("dead", "gone", "lost"):
        store.subscribe({"id": id_}, webhook=Webhook("http://127.0.0.1:1/?k=swordfish", OLD))
    notify(store, "prompt", "silent", "dead", "gone", "lost")
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(tmp_path), "--port", "0", "--log", "json"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        watched = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, "--pipeline", "elsewhere", "--metrics-port", str(watched), "--allow-network", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().split()[3].rstrip("/")
    asked = ("/healthz", "/metrics", "/v1/events")
    assert [httpx.get(f"http://127.0.0.1:{watched}{path}").status_code for path in asked] == [200, 200, 404]
    accepted: list[str] = []
    enough = threading.Event()

    def load(name: int) -> None:
        with httpx.Client(base_url=address, timeout=60) as sender:
            try:
                for number in range(100_000):
                    id_ = f"{name}-{number}"
                    if publish(sender, cloudevent(id_)).status_code == 202:
                        accepted.append(id_)
                    if len(accepted) > 100:
                        enough.set()
            except httpx.TransportError:
                pass

    def listen() -> str:
        with httpx.stream("GET", f"{address}/v1/notifications/stream", timeout=60) as response:
            listening.set()
            return response.read().decode()

    listening = threading.Event()
    with ThreadPoolExecutor(5) as pool:
        heard = pool.submit(listen)
        senders = [pool.submit(load, name) for name in range(4)]
        assert listening.wait(60)
        assert enough.wait(60)
        asked_often = (httpx.get(f"{address}/v1/deliveries/dead", timeout=60) for _ in range(1000))
        assert any(answer.json()["circuit"] for answer in asked_often), "what the dispatcher knows of a host is shown"
        with prompt, silent, prompt.accept()[0] as called, silent.accept()[0]:
            os.kill(process.pid, signal.SIGTERM)
            called.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            _, errors = process.communicate(timeout=60)
        assert "retry: 2000" in heard.result()
        for sender in senders:
            sender.result()
    assert process.returncode == 0, errors
    lines = [json.loads(line) for line in errors.splitlines()]
    assert "error" not in {line["level"] for line in lines}, errors
    [sent] = [line for line in lines if line["message"].startswith("delivery") and line["status"]]
    told = {name: sent[name] for name in ("message", "subscription", "host", "status", "attempt")}
    assert told == {
        "message": "delivery sent",
        "subscription": "prompt",
        "host": "127.0.0.1",
        "status": 204,
        "attempt": 1,
    }
    assert "swordfish" not in errors
    kept = {event.id for event in store.events(0, store.last_position())}
    pending = store.deliveries.pending(["prompt", "silent"])
    store.close()
    assert pending == {"silent": 1}
    assert set(accepted) <= kept
