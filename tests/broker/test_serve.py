"""`triplewire serve` as people run it: real processes, the real Spark pipeline. Its pages: tests/web."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
import pytest

from tests.broker.clients import AUCTION, cloudevent, listening, publish, subscription
from tests.broker.test_sample import told
from tests.processes import descendants, name, still_there
from tests.subscriptions.test_profiles import PRINTED, of_its_own_case

pytestmark = pytest.mark.slow

NEWS = AUCTION.parent / "music-news"
SITE, PEOPLE = "http://example.org/news", "http://example.org/people#"


class Running:
    """A `triplewire serve` process and the lines that it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._new: queue.Queue[str | None] = queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            self._new.put(line.rstrip("\n"))
        self._new.put(None)

    def wait_for(self, pattern: str, patience: float = 240) -> re.Match[str]:
        """The first line, from where the last search ended, that the pattern is found in."""
        deadline = time.monotonic() + patience
        while True:
            line = self._new.get(timeout=max(deadline - time.monotonic(), 0.01))
            assert line is not None, f"it ended before {pattern!r} came:\n" + "\n".join(self.lines)
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found

    def rest(self) -> list[str]:
        """The lines that follow, up to the end of the process."""
        return list(iter(self._new.get, None))


@contextmanager
def serving(home: Path, *options: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(home), *options]
    # A session of its own stands for a terminal: its first process group is the foreground one.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", start_new_session=True
    )
    started = {process.pid}
    try:
        yield Running(process)
        started |= descendants(process.pid)
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(60)
        finally:
            for pid in still_there(started):
                os.kill(pid, signal.SIGKILL)
            assert process.stdout is not None
            process.stdout.close()


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("home"), "--port", "0", "--sample", str(AUCTION)) as running:
        yield running


@pytest.fixture(scope="module")
def address(auction: Running) -> str:
    return auction.wait_for(r"Triplewire is at (http://127\.0\.0\.1:\d+)/")[1]


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def matched(auction: Running, client: httpx.Client) -> None:
    """The sample has been matched; the last thing that is said of it is its dead letter."""
    auction.wait_for(r"^✗ event-7: not well-formed text/turtle")


@pytest.mark.usefixtures("matched")
def test_the_sample_is_matched_as_its_readme_says(auction: Running, client: httpx.Client) -> None:
    found: dict[str, list[str]] = {event: [] for event in told()}
    for item in client.get("/v1/notifications").json()["items"]:
        found[item["event"]].append(item["subscription"])
    assert found == told()
    printed = [line for line in auction.lines if line.startswith("✓")]
    assert len(printed) == sum(map(len, found.values()))
    assert '✓ s1 ← event-2   (?1 = _:pc, ?2 = _:price, ?3 = "380.00")' in printed
    [letter] = client.get("/v1/dead-letters").json()["items"]
    assert letter["event"] == "event-7"


@pytest.mark.usefixtures("matched")
def test_an_event_published_over_http_is_heard_on_the_stream(client: httpx.Client) -> None:
    client.post("/v1/subscriptions", json=subscription(id="over-http")).raise_for_status()
    with listening(client) as messages:
        receipt = publish(client, cloudevent("over-http")).json()
        found = next(data for _, data in messages if data["subscription"] == "over-http")
    assert (found["event"], found["position"]) == ("over-http", receipt["position"])
    assert found["bindings"] == [{"?1": "_:pc"}]
    client.delete("/v1/subscriptions/over-http")
    position = publish(client, cloudevent("unheard")).json()["position"]
    while client.get("/healthz").json()["pipeline"] < position:
        time.sleep(0.1)
    of_it = client.get("/v1/notifications", params={"subscription": "over-http"}).json()["items"]
    assert [item["event"] for item in of_it] == ["over-http"]


def test_a_port_in_use_is_one_line_that_names_the_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with serving(tmp_path, "--port", port) as running:
            lines = running.rest()
            status = running.process.wait(60)
    assert len(lines) == 1, lines
    assert "PORT" in lines[0]
    assert status not in (0, None)


def test_a_request_to_terminate_ends_it_cleanly_while_spark_is_starting(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as running:
        running.wait_for("Triplewire is at")
        wait_for_java(running)
        check_clean_end(running, running.process.terminate)


def wait_for_java(running: Running, patience: float = 240) -> None:
    deadline = time.monotonic() + patience
    while not any(name(pid) == "java" for pid in descendants(running.process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.usefixtures("matched")
def test_the_case_studies_notify_whom_the_thesis_says(client: httpx.Client) -> None:
    """Interests of both kinds; and what Paula hears of is offered to Alma until she declines."""
    ontologies = "".join((folder / "ontology.ttl").read_text() for folder in (AUCTION, NEWS))  # the others' go on
    headers = {"Content-Type": "text/turtle"}
    client.post("/v1/ontologies", content=ontologies, headers=headers).raise_for_status()
    client.post("/v1/profiles", content=(NEWS / "profiles.ttl").read_text(), headers=headers).raise_for_status()
    for line in (NEWS / "subscriptions.ndjson").read_text().splitlines():
        client.post("/v1/subscriptions", json=json.loads(line)).raise_for_status()
    for line in (NEWS / "events.ndjson").read_text().splitlines():
        publish(client, json.loads(line)).raise_for_status()
    wait_until_matched(client)
    items = client.get("/v1/notifications", params={"limit": 1000}).json()["items"]
    found = sorted(
        (item["event"], item["subscription"], f"{item['score']:.2f}") for item in items if item["source"] == SITE
    )
    page = (NEWS / "README.md").read_text()
    shown = re.findall(r"^\| `([\w.-]+)` \| `([\w.-]+)` \| ([\d.]+) \|$", page, re.MULTILINE)
    assert [one for one in found if not one[1].startswith(PEOPLE)] == shown
    assert [(e, s.removeprefix(PEOPLE), score) for e, s, score in found if s.startswith(PEOPLE)] == shown
    assert of_its_own_case((event, subscription) for event, subscription, _ in shown) == PRINTED

    def offered() -> list[str]:
        items = client.get("/v1/suggestions", params={"person": f"{PEOPLE}alma"}).json()["items"]
        return [item["event"] for item in items]

    assert offered() == ["case-1", "case-3", "section-3.2"]
    client.post("/v1/suggestions/1/decline", params={"person": f"{PEOPLE}alma"}).raise_for_status()
    again = json.loads((NEWS / "events.ndjson").read_text().splitlines()[-1]) | {"id": "section-3.2-again"}
    again["data"] = again["data"].replace("tw:link", 'tw:publicationSubType "Power pop" ; tw:link')
    publish(client, again).raise_for_status()
    wait_until_matched(client)
    assert offered() == ["case-1", "case-3", "section-3.2"]
    [new] = client.get("/v1/concepts/proposals").json()["items"]
    assert (new["word"], new["under"], new["proposer"]) == ("Power pop", f"{SITE}#Pop", SITE)


def wait_until_matched(client: httpx.Client) -> None:
    while (health := client.get("/healthz").json())["pipeline"] < health["log"]:
        time.sleep(0.1)


@pytest.mark.usefixtures("matched")
def test_ctrl_c_ends_it_cleanly_with_a_listener_connected(auction: Running, client: httpx.Client) -> None:
    with listening(client):
        check_clean_end(auction, lambda: os.killpg(auction.process.pid, signal.SIGINT))


def check_clean_end(running: Running, end: Callable[[], None]) -> None:
    """It ends with status 0 soon, says nothing of errors, and leaves no process behind."""
    started = descendants(running.process.pid)
    assert started, "there is no pipeline"
    end()
    assert running.process.wait(45) == 0
    assert not [line for line in running.rest() if "Traceback" in line or "Error" in line]
    assert still_there(started) == set()
