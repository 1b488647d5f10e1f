"""What the broker's tests send and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from triplewire.store import Outcome, Store
from triplewire.store.rights import USUAL

AUCTION = Path(__file__).parents[2] / "examples" / "auction"
PREFIXES = {"ex": "http://example.org/auction#"}
COMPUTERS = "(_:H, ?1, (ex:Selling, ex:target, ex:Computer))"
OFFER = "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:pc . _:pc a ex:NotebookPC ."


def cloudevent(id_: str = "e1", **attributes: Any) -> dict[str, Any]:
    event = {"specversion": "1.0", "id": id_, "source": "urn:test", "type": "offer", "datacontenttype": "text/turtle"}
    return event | {"data": OFFER} | attributes


def subscription(**members: Any) -> dict[str, Any]:
    return {"id": "s1", "language": "ops", "pattern": COMPUTERS, "prefixes": PREFIXES} | members


def publish(client: httpx.Client, event: Any, kind: str = "application/cloudevents+json") -> httpx.Response:
    return client.post("/v1/events", content=json.dumps(event), headers={"Content-Type": kind})


def notify(store: Store, *subscriptions: str) -> None:
    """Put an event into the log, and write what the pipeline would write if it tripped these subscriptions."""
    count = store.last_position() + 1
    [position] = store.append([("urn:test", f"e{count}", json.dumps(cloudevent(f"e{count}")))])
    found = [Outcome(position, f"e{count}", name, 1.0, json.dumps([{"?1": "_:pc"}])) for name in subscriptions]
    store.record(found, [], position)


def bearer(store: Store, name: str, *scopes: str) -> dict[str, str]:
    """The header by which a user is known, who is made if there is none; with some scopes, or those of most users."""
    if store.users.found(name) is None:
        store.users.add(name, scopes or USUAL)
    return {"Authorization": f"Bearer {store.users.issue(name, scopes=scopes or None)[1]}"}


@contextmanager
def listening(client: httpx.Client, url: str = "/v1/notifications/stream", **headers: str) -> Iterator[Iterator[Any]]:
    """An open SSE stream, as an iterator over its messages: ``(id, data)``."""
    with client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield messages(response.iter_lines())


def messages(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """The messages of an SSE stream: ``(id, data)``."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["id"], json.loads(fields["data"])
            fields = {}
