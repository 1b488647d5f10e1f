"""Publishing over HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from secrets import token_hex
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode

from tests.broker.clients import OFFER, cloudevent, publish, subscription
from triplewire.broker.publishing.publisher import Publisher
from triplewire.concepts.proposed import Proposal
from triplewire.errors import StoreError
from triplewire.lift.cloudevents import parse_envelope, parse_event, parse_events
from triplewire.rdf.terms import SKOS
from triplewire.store import Outcome, Store

BATCH = "application/cloudevents-batch+json"
STRUCTURED = "application/cloudevents+json"


def logged(store: Store) -> list[dict[str, Any]]:
    return [json.loads(event.body) for event in store.events(0, store.last_position())]


def test_a_structured_event_is_logged_as_it_came(broker: httpx.Client, store: Store) -> None:
    answer = publish(broker, cloudevent(home="_:pc", myextension=7))
    assert answer.status_code == 202
    assert answer.json() == {"id": "e1", "source": "urn:test", "position": 1}
    assert logged(store) == [cloudevent(home="_:pc", myextension=7)]


def test_a_batch_is_answered_in_its_order(broker: httpx.Client, store: Store) -> None:
    answer = publish(broker, [cloudevent("a"), cloudevent("b"), cloudevent("a")], BATCH)
    assert answer.status_code == 202
    assert [(receipt["id"], receipt["position"]) for receipt in answer.json()] == [("a", 1), ("b", 2), ("a", 1)]
    assert publish(broker, [], BATCH).json() == []


def test_a_binary_event_has_its_attributes_in_headers(broker: httpx.Client, store: Store) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "caf%C3%A9", "ce-source": "urn:test", "ce-type": "offer"}
    answer = broker.post("/v1/events", content=OFFER, headers={**headers, "Content-Type": "text/turtle; charset=utf-8"})
    assert answer.status_code == 202
    assert logged(store) == [cloudevent("café")]


def test_a_binary_event_may_be_in_any_format_that_is_lifted(broker: httpx.Client, store: Store) -> None:
    headers = {"ce-specversion": "1.0", "ce-source": "urn:test", "ce-type": "offer"}
    latin = '<?xml version="1.0" encoding="iso-8859-1"?><a>Café</a>'.encode("iso-8859-1")
    bodies = {"application/json": b'{"price": 3.50}', "text/csv": b"a\n1\n", "application/xml": latin}
    bodies |= {"application/rss+xml": b"<rss>\xff</rss>", "application/pdf": b"%PDF-"}
    for kind, body in bodies.items():
        sent = {**headers, "ce-id": kind, "Content-Type": kind}
        assert broker.post("/v1/events", content=body, headers=sent).status_code == 202
    found = {event["datacontenttype"]: event.get("data", event.get("data_base64")) for event in logged(store)}
    assert found == {
        "application/json": '{"price": 3.50}',
        "text/csv": "a\n1\n",
        "application/xml": '<?xml version="1.0"?><a>Café</a>',
        "application/rss+xml": "PHJzcz7/PC9yc3M+",
        "application/pdf": "JVBERi0=",
    }
    assert broker.post("/v1/events", content="{}", headers={"Content-Type": "application/json"}).status_code == 415


def test_numbers_are_logged_as_they_were_written(broker: httpx.Client, store: Store) -> None:
    text = json.dumps(cloudevent(datacontenttype="application/json", data=0)).replace(": 0}", ": 380.50}")
    assert '"data": 380.50' in text
    assert broker.post("/v1/events", content=text, headers={"Content-Type": STRUCTURED}).status_code == 202
    [event] = store.events(0, 1)
    assert '"data":380.50' in event.body


def test_a_bare_document_becomes_an_event_of_its_own(broker: httpx.Client, store: Store) -> None:
    headers = {"Content-Type": "text/turtle", "ce-home": "_:pc"}
    receipts = [broker.post("/v1/events", content=OFFER, headers=headers).json() for _ in range(2)]
    assert [receipt["position"] for receipt in receipts] == [1, 2]
    assert [event["id"] for event in logged(store)] == [receipt["id"] for receipt in receipts]
    assert [str(parse_event(event).graph.home) for event in logged(store)] == ["_:pc", "_:pc"]


def test_publishing_again_changes_nothing(broker: httpx.Client, store: Store) -> None:
    first = publish(broker, cloudevent(data="first")).json()
    assert publish(broker, cloudevent("another")).json()["position"] == 2
    assert publish(broker, cloudevent(data="second")).json() == first
    assert [event["data"] for event in logged(store)] == ["first", OFFER]


@pytest.mark.parametrize(
    ("kind", "body", "status", "words"),
    [
        (STRUCTURED, "{", 400, "not JSON"),
        (STRUCTURED, "[]", 400, "a CloudEvent is a JSON object"),
        (STRUCTURED, "\xff", 400, "not JSON"),
        (STRUCTURED, "[" * 100_000, 400, "not JSON"),
        (STRUCTURED, json.dumps(cloudevent(x=float("nan"))), 400, "NaN"),
        (STRUCTURED, json.dumps(cloudevent(id_="\ud800")), 400, "not JSON"),
        (STRUCTURED, json.dumps(cloudevent(source="")), 400, "'source'"),
        (STRUCTURED, json.dumps(cloudevent(time="yesterday")), 400, "'time'"),
        (STRUCTURED, json.dumps(cloudevent(data_base64="")), 400, "not both"),
        (BATCH, "{}", 400, "a batch is a JSON array"),
        (BATCH, json.dumps([cloudevent(), 7]), 400, "event 2 of the batch"),
        (BATCH, json.dumps([cloudevent(), cloudevent(data="x" * (1 << 20))]), 413, "event 2 of the batch"),
        ("text/turtle", "\xff", 400, "not UTF-8"),
        ("text/turtle", " \n", 400, "empty"),
        ("text/turtle", "#" * ((1 << 20) + 1), 413, "1,048,576"),
        ("text/plain", OFFER, 415, "text/plain is not understood"),
        ("application/x-www-form-urlencoded", OFFER, 415, "text/turtle"),
        ("", OFFER, 415, "Content-Type is missing"),
    ],
)
def test_what_is_wrong_is_a_problem_document(
    broker: httpx.Client, store: Store, kind: str, body: str, status: int, words: str
) -> None:
    answer = broker.post("/v1/events", content=body.encode("latin-1"), headers={"Content-Type": kind})
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"]) == (status, status)
    assert words in problem["detail"]
    assert store.last_position() == 0


def test_a_binary_event_that_lacks_an_attribute_is_refused(broker: httpx.Client) -> None:
    answer = broker.post("/v1/events", content=OFFER, headers={"Content-Type": "text/turtle", "ce-id": "1"})
    assert (answer.status_code, "specversion" in answer.json()["detail"]) == (400, True)


def test_many_publishers_at_once_get_a_position_each(broker: httpx.Client, store: Store) -> None:
    def send(number: int) -> tuple[int, str]:
        answer = publish(broker, cloudevent(f"e{number}")).json()
        return answer["position"], answer["id"]

    with ThreadPoolExecutor(16) as pool:
        receipts = list(pool.map(send, range(200)))
    assert sorted(receipts) == [(event.position, event.id) for event in store.events(0, store.last_position())]
    assert len(receipts) == 200


def test_events_that_wait_share_a_commit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first_began, go_on = threading.Event(), threading.Event()
    commits: list[int] = []
    append = store.append

    def counted(rows: Any) -> list[int]:
        commits.append(len(rows))
        first_began.set()
        go_on.wait(60)
        return append(rows)

    monkeypatch.setattr(store, "append", counted)

    async def publish_all() -> list[list[int]]:
        publisher = Publisher(store)
        envelopes = [parse_envelope(cloudevent(f"e{number}")) for number in range(50)]
        first = asyncio.create_task(publisher.publish(envelopes[:1], "ann"))
        await asyncio.to_thread(first_began.wait, 60)
        others = [asyncio.create_task(publisher.publish([envelope], "ann")) for envelope in envelopes[1:]]
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, *others)

    assert asyncio.run(publish_all()) == [[number + 1] for number in range(50)]
    assert commits == [1, 49]


def test_an_event_that_cannot_be_written_out_keeps_nobody_waiting(store: Store) -> None:
    async def publish_both() -> list[Any]:
        publisher = Publisher(store)
        bad = replace(parse_envelope(cloudevent("bad")), attributes={"x": object()})
        both = (publisher.publish([envelope], "ann") for envelope in (bad, parse_envelope(cloudevent("good"))))
        return await asyncio.wait_for(asyncio.gather(*both, return_exceptions=True), 60)

    failed, written = asyncio.run(publish_both())
    assert isinstance(failed, TypeError)
    assert written == [1]


def test_a_store_that_fails_is_no_acceptance(broker: httpx.Client, store: Store, monkeypatch: Any) -> None:
    def fail(_rows: Any) -> list[int]:
        raise StoreError("/secret/path: disk full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "append", fail)
        answer = publish(broker, cloudevent())
    assert answer.status_code == 503
    assert "secret" not in answer.text
    assert publish(broker, cloudevent()).status_code == 202


def test_a_name_that_no_index_takes_is_refused_before_it_takes_others_with_it(
    broker: httpx.Client, store: Store
) -> None:
    """PostgreSQL refuses all that is written with it; and what the pipeline writes, for ever."""
    id_, source, key = token_hex(512), f"urn:{token_hex(748)}", token_hex(5_000)
    for many in ({"id_": f"{id_}x"}, {"source": f"{source}x"}):
        answer = publish(broker, cloudevent(**many))
        assert (answer.status_code, "should have at most" in answer.json()["detail"]) == (400, True)
    assert broker.post("/v1/subscriptions", json=subscription(id=f"{id_}x")).status_code == 422
    assert broker.post("/v1/sources", json={"url": f"https://example.org/{key}"}).status_code == 422
    assert broker.post("/v1/subscriptions", json=subscription(id=id_)).status_code == 201
    feed = f"<rss version='2.0'><channel><item><guid>{key}</guid><title>t</title></item></channel></rss>"
    envelope = cloudevent(id_, source=source, datacontenttype="application/rss+xml", data=feed)
    assert publish(broker, envelope).status_code == 202
    [entry] = parse_events(envelope)
    store.record([Outcome(1, entry.id, id_, 1.0, "[]")], [], 1)
    concept = Proposal(NamedNode(f"urn:{key}"), "word", SKOS.broader, NamedNode("urn:parent"))
    store.propose([concept], source, entry.id)
    assert (len(store.notifications()), store.proposals()) == (1, [])
