"""Dead letters: they are found again, dismissed or mended, and none is lost."""

from __future__ import annotations

import json

import httpx

from tests.broker.clients import OFFER, bearer, cloudevent
from triplewire.store import DeadLetter, Store

STRUCTURED, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"
BROKEN = "@prefix ex: <http://example.org/auction#> .\n_:H a ex:Selling ;\n  ex:price oops .\n"


def refuse(store: Store, id_: str, reason: str, publisher: str = "local", data: str = BROKEN) -> int:
    [position] = store.append([("urn:test", id_, json.dumps(cloudevent(id_, data=data)), publisher)])
    store.record([], [DeadLetter(position, reason)], position)
    return position


def test_a_refused_event_that_is_mended_is_marked_with_where_it_is_now(broker: httpx.Client, store: Store) -> None:
    position = refuse(store, "e1", "not well-formed text/turtle: Parser error at line 3 column 12: no")
    letter = broker.get(f"/v1/dead-letters/{position}").json()
    assert (letter["state"], letter["place"]["line"], letter["cloudevent"]["data"]) == ("open", 3, BROKEN)
    mended = json.dumps(letter["cloudevent"] | {"data": OFFER})
    headers = {"Content-Type": STRUCTURED}
    same = broker.post(f"/v1/events?mends={position}", content=mended, headers=headers)
    assert same.status_code == 422 and "a new id" in same.json()["detail"]
    assert broker.get(f"/v1/dead-letters/{position}").json()["state"] == "open"
    mended = json.dumps(letter["cloudevent"] | {"data": OFFER, "id": "e1-mended"})
    receipt = broker.post(f"/v1/events?mends={position}", content=mended, headers=headers).json()
    letter = broker.get(f"/v1/dead-letters/{position}").json()
    assert (letter["state"], letter["republished"]) == ("republished", receipt["position"])
    assert [one["position"] for one in broker.get("/v1/dead-letters?state=open").json()["items"]] == []
    batch = broker.post("/v1/events?mends=1", content="[]", headers={"Content-Type": BATCH})
    assert batch.status_code == 422
    assert broker.post("/v1/events?mends=99", content=mended, headers=headers).status_code == 404


def test_dead_letters_are_found_by_state_and_text_from_either_end(broker: httpx.Client, store: Store) -> None:
    ann = bearer(store, "ann")
    mine = [refuse(store, f"e{n}", "Too LARGE" if n % 2 else "not JSON", "ann") for n in range(6)]
    refuse(store, "other", "Too large", "bob")
    broker.patch(f"/v1/dead-letters/{mine[1]}", json={"state": "dismissed"}, headers=ann).raise_for_status()

    def found(query: str) -> list[int]:
        return [one["position"] for one in broker.get(f"/v1/dead-letters?{query}", headers=ann).json()["items"]]

    assert found("newest=true&limit=2") == mine[:-3:-1]
    assert found(f"newest=true&limit=3&after={mine[4]}") == mine[3:0:-1]
    assert found("contains=large") == mine[1::2]
    assert found("contains=E4") == [mine[4]]
    assert found("contains=large&state=open") == mine[3::2]
    assert found("state=dismissed") == [mine[1]]
    assert broker.patch(f"/v1/dead-letters/{mine[1]}", json={"state": "open"}, headers=ann).json()["settled"] is None
    assert broker.patch(f"/v1/dead-letters/{mine[1]}", json={"state": "gone"}, headers=ann).status_code == 422
