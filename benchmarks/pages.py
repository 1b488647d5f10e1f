"""How quickly the web page answers from a large store: ``python -m benchmarks.pages``.

A store is filled with 100,000 subscriptions and 1,000,000 notifications, half of them one user's, and dead letters,
sources and proposals. A broker without a pipeline is started on it. Every page is opened in a browser, if there is one,
to see what it asks of the API; then each page and each thing asked for is measured, as that user and as an
administrator. Nothing should take longer than 200 ms.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import psutil
from sqlalchemy import Table, insert

from benchmarks.report import report
from tests.broker.clients import AUCTION, COMPUTERS, PREFIXES, cloudevent
from triplewire.broker.access.users import COOKIE
from triplewire.broker.publishing.sample import load_sample
from triplewire.broker.web.frame import PAGES
from triplewire.store import Store, store_url
from triplewire.store.tables import dead_letters, deliveries, events, notifications, proposals, revisions, sources

SUBSCRIPTIONS, NOTIFICATIONS, EVENTS, LETTERS = 100_000, 1_000_000, 100_000, 20_000
AT_ONCE = 20_000
USERS = ("ann", "bob")
LIMIT = 200.0
RDFS_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
MOMENT = "2026-01-31T12:00:00.000Z"
ASKED = (
    "/v1/notifications?limit=50",
    "/v1/notifications?limit=50&after=500000",
    "/v1/notifications?limit=50&subscription=s-76",
    "/v1/notifications/500001/explanation",
    "/notifications?subscription=s-76",
    "/notifications?text=nowhere",
    "/notifications/500001",
    "/notifications/why-not",
    "/subscriptions/s-76",
    "/v1/dead-letters?newest=true&limit=50&contains=nowhere",
    "/notifications/why-not?subscription=s-76&position=50000",
    "/v1/inbox?limit=30&after=500000",
    "/v1/inbox?limit=30&text=nowhere",
    "/v1/inbox?limit=30&unread=true&subscription=s-76",
    "/v1/inbox?limit=30&since=2026-01-01T00:00:00Z&until=2026-01-31T12:00:00Z",
    "/v1/inbox/unread",
    "/v1/standings?limit=30&after=50000",
    "/v1/standings?limit=30&text=nowhere",
    "/v1/subscriptions?limit=100",
    "/v1/subscriptions?limit=100&after=50000",
    "/v1/subscriptions/s-76",
    "/v1/deliveries?limit=100",
    "/v1/dead-letters?newest=true&limit=50",
    "/v1/dead-letters?newest=true&limit=50&state=open",
    "/v1/sources",
    "/v1/concepts?limit=50",
    "/v1/concepts/proposals?limit=50",
    "/v1/ontologies",
    "/v1/activity",
    "/healthz",
)
"""What is asked for besides, as somebody goes on in a page."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=30, help="how often each is asked for")
    parser.add_argument("--only", default="", help="a part of the addresses to measure, for a try")
    parser.add_argument("--share", type=float, default=1.0, help="how much of the store to fill, for a try")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        began = time.perf_counter()
        tokens = fill(home, chosen.share)
        filled = time.perf_counter() - began
        with serving(home) as (address, broker):
            rows = [
                row for user in tokens.items() for row in measured(address, broker, *user, chosen.requests, chosen.only)
            ]
    rows.sort(key=lambda row: -row["p99 ms"])
    slow = [row for row in rows if row["p99 ms"] > LIMIT]
    told = (
        f"Pages and what they ask of the API, over {int(SUBSCRIPTIONS * chosen.share):,} subscriptions and "
        f"{int(NOTIFICATIONS * chosen.share):,} notifications (SQLite, filled in {filled:.0f} s), {chosen.requests} "
        f"requests each, one at a time; slowest first. `ann` has half of everything, `root` sees all of it. "
        f"{len(slow)} of {len(rows)} take longer than {LIMIT:.0f} ms."
    )
    report("pages", told, rows)


# The store


def fill(home: Path, share: float) -> dict[str, str]:
    """Fill a store; gives the tokens of those who are to look at it."""
    with closing(Store(store_url(home))) as store:
        load_sample(store, AUCTION)
        store.users.add("root", ["admin"])
        for name in USERS:
            store.users.add(name)
        count, found = int(SUBSCRIPTIONS * share), int(NOTIFICATIONS * share)
        first = store.last_position() + 1
        last = first + int(EVENTS * share)
        _insert(store, events, (_event(position) for position in range(first, last)))
        _insert(store, revisions, (_revision(number) for number in range(count)))
        _insert(store, notifications, (_notification(number, first, last, count) for number in range(found)))
        refused = range(first, last, max((last - first) // int(LETTERS * share), 1))
        _insert(store, dead_letters, (_letter(position) for position in refused))
        _insert(store, deliveries, (_delivery(number) for number in range(0, count, 5)))
        _insert(store, sources, (_source(number) for number in range(1000)))
        _insert(store, proposals, (_proposal(number) for number in range(1000)))
        store.record([], [], last - 1)
        return {name: store.users.issue(name)[1] for name in (USERS[0], "root")}


def _insert(store: Store, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    batch: list[dict[str, Any]] = []
    with store._database.writing() as connection:
        for row in rows:
            batch.append(row)
            if len(batch) == AT_ONCE:
                connection.execute(insert(table), batch)
                batch.clear()
        if batch:
            connection.execute(insert(table), batch)


def _owner(number: int) -> str:
    return USERS[number % 2]


def _event(position: int) -> dict[str, Any]:
    body = json.dumps(cloudevent(f"e{position}"))
    row = {"position": position, "source": "urn:pages", "id": f"e{position}", "body": body}
    return row | {"received": MOMENT, "publisher": _owner(position)}


def _revision(number: int) -> dict[str, Any]:
    record = {"id": f"s-{number}", "language": "ops", "pattern": COMPUTERS, "prefixes": PREFIXES}
    row = {"id": f"s-{number}", "owner": _owner(number), "record": json.dumps(record), "since": 0}
    return row | {"until": None, "created": MOMENT, "expires": None}


def _notification(number: int, first: int, last: int, subscriptions: int) -> dict[str, Any]:
    subscription = number % subscriptions
    position = first + number * (last - first) // max(subscriptions * 10, 1) % (last - first)
    row = {"position": position, "event": f"e{position}", "subscription": f"s-{subscription}", "owner": _owner(number)}
    row |= {"sequence": number // subscriptions + 1, "score": 1.0, "bindings": '[{"?1": "_:pc"}]', "version": "1@1"}
    return row | {"created": MOMENT}


def _letter(position: int) -> dict[str, Any]:
    row = {"position": position, "reason": "not well-formed text/turtle: line 1, column 7", "created": MOMENT}
    return row | {"publisher": _owner(position)}


def _delivery(number: int) -> dict[str, Any]:
    row = {
        "subscription": f"s-{number}",
        "channel": "webhook",
        "url": f"https://example.org/{number}",
        "format": "json",
    }
    return row | {"secret": "whsec_", "state": "paused", "since": 0, "last": 0, "due": MOMENT}


def _source(number: int) -> dict[str, Any]:
    texts = dict.fromkeys(("tag", "modified", "reason"), "") | {"seen": "[]"}
    row = {"owner": _owner(number), "url": f"https://example.org/feed/{number}", "state": "paused", "created": MOMENT}
    return row | texts | {"due": "9999", "pause": 3600, "reads": 1, "published": 1}


def _proposal(number: int) -> dict[str, Any]:
    row = {"concept": f"urn:pages:{number}", "word": f"word {number}", "relation": RDFS_SUBCLASS}
    row |= {"parent": f"{PREFIXES['ex']}Computer", "proposer": _owner(number), "origin": f"s-{number}"}
    return row | {"created": MOMENT, "state": "open"}


# The broker


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, psutil.Process]]:
    """A broker without a pipeline; gives its address and its process."""
    command = [sys.executable, "-m", "triplewire", "serve", "--home", str(home), "--port", "0"]
    with subprocess.Popen(
        [*command, "--pipeline", "elsewhere"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            found = (re.search(r"at (http://[\d.:]+)/", line) for line in process.stdout)
            yield next(place[1] for place in found if place), psutil.Process(process.pid)
        finally:
            process.terminate()


# Measuring


def measured(
    address: str, broker: psutil.Process, name: str, token: str, requests: int, only: str
) -> Iterator[dict[str, Any]]:
    """The wall time of each thing that is asked for, and the broker's own processor time, which is less noisy."""
    asked = dict.fromkeys([page for page, _ in PAGES] + opened(address, token) + list(ASKED))
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=120) as client:
        for path in (path for path in asked if only in path):
            taken = []
            answer = client.get(path)  # caches may be filled
            first = answer.elapsed.total_seconds() * 1000
            used = sum(broker.cpu_times()[:2])
            for _ in range(requests):
                began = time.perf_counter()
                answer = client.get(path)
                taken.append((time.perf_counter() - began) * 1000)
            assert answer.is_success, f"{path}: {answer.text}"
            yield {
                "asked for": f"`{path}`",
                "by": name,
                "kB": round(len(answer.content) / 1000, 1),
                "processor ms": round((sum(broker.cpu_times()[:2]) - used) / requests * 1000, 1),
                "first ms": round(first, 1),
                "median ms": round(median(taken), 1),
                "p99 ms": round(quantiles(taken, n=100, method="inclusive")[-1], 1),
            }


def opened(address: str, token: str) -> list[str]:
    """What the pages ask for by themselves, as a browser sees it."""
    from playwright.sync_api import sync_playwright

    from tests.web.conftest import CHROMIUM, FLAGS

    if CHROMIUM is None:
        print("no Chromium: only what is listed here is asked for", file=sys.stderr)
        return []
    seen: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(base_url=address)
        context.add_cookies([{"name": COOKIE, "value": token, "url": address, "sameSite": "Strict"}])
        context.on(
            "request", lambda request: seen.append(request.url.removeprefix(address)) if _is_get(request) else None
        )
        for path, _ in PAGES:
            page = context.new_page()
            page.goto(path)
            page.wait_for_timeout(2000)
            page.close()
        browser.close()
    return [path for path in dict.fromkeys(seen) if path.startswith("/v1/") and "/stream" not in path]


def _is_get(request: Any) -> bool:
    return bool(request.method == "GET")


if __name__ == "__main__":
    main()
