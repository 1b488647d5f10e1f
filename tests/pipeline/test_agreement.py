"""Whoever matches, the same input has the same matches, in every language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.broker.conftest import served
from tests.pipeline.test_batch import parts, plainly
from tests.pipeline.test_stream import catch_up, streaming
from tests.pipeline.world import document, write_lines
from tests.worlds import EX, QUERIES, graph
from triplewire.broker.publishing.events import BATCH
from triplewire.concepts.load import load_model
from triplewire.lift.lifting import DEFAULT
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import Entry, Refusal, read_lines, read_subscriptions
from triplewire.pipeline import canonical, stage
from triplewire.pipeline.batch import run_batch
from triplewire.pipeline.lines import expand
from triplewire.rdf.syntax import write
from triplewire.store import Store

LANGUAGES = {"ops", "gtopss", "sparql", "filter", "interest"}
CLASS = [f"ex:{name}" for name in "ABCDE"]
PROPERTY = [f"ex:p{number}" for number in range(4)]


def ontology(rng: Random) -> str:
    """Some classes and properties below others, some names of a class."""
    lines = [f"{rng.choice(CLASS)} rdfs:subClassOf {rng.choice(CLASS)} ." for _ in range(4)]
    lines += [f"{rng.choice(PROPERTY)} rdfs:subPropertyOf {rng.choice(PROPERTY)} ." for _ in range(2)]
    return "\n".join([*lines, f"ex:n{rng.randrange(4)} a {rng.choice(CLASS)} ."])


def ops(rng: Random) -> str:
    subject, object_ = rng.choice([*CLASS, *9 * ["owl:Thing"]]), rng.choice([*CLASS, *9 * ["rdfs:Resource"]])
    statement = f"(_:H, ?1, ({subject}, {rng.choice(PROPERTY)}, {object_})"
    more = [")", ", ?1 < 2)", f")\n(?1, ?2, (owl:Thing, {rng.choice(PROPERTY)}, rdfs:Resource))"]
    return statement + rng.choice(more)


def gtopss(rng: Random) -> list[Any]:
    kind = [["?x", rng.choice(["<", "<=", "=", ">="]), rng.choice(CLASS)]]
    value = rng.choice([[], [["?y", rng.choice(["<", "!=", ">="]), 2]]])
    return [["?x", rng.choice([*PROPERTY, "?p"]), "?y", rng.choice([[], kind]), value]]


def filter_(rng: Random) -> str:
    name = rng.choice(PROPERTY)
    return rng.choice([f"{name} < 2", f"exists {name}", f"not exists {name}", f"{name} = 'abc' or {name} >= 1.5"])


def interest(rng: Random) -> dict[str, Any]:
    return {"concepts": rng.sample(CLASS, rng.choice([1, 2]))}


def record(rng: Random, number: int) -> dict[str, Any]:
    language, pattern = rng.choice(
        [
            ("ops", ops(rng)),
            ("gtopss", gtopss(rng)),
            ("sparql", rng.choice(QUERIES)),
            ("filter", filter_(rng)),
            ("interest", interest(rng)),
        ]
    )
    return {"id": f"{language} {number}", "language": language, "pattern": pattern, "prefixes": {"ex": EX}}


def event(rng: Random, number: int) -> str:
    """As it is published: in lines, in Turtle, as JSON, as a table of several, or broken."""
    text = write(graph(rng, 12).triples)
    media_type, data = rng.choice(
        [
            ("application/n-quads", text),
            ("application/n-triples", text),
            ("text/turtle", text),
            ("application/json", json.dumps({"p0": rng.randrange(4), "name": "abc"})),
            ("application/ld+json", json.dumps({"@context": {"@vocab": EX}, "@type": "A", "p0": 2, "p1": "abc"})),
            ("text/csv", "p0,p1\n1,abc\n2,x\n"),
            ("application/n-quads", text + "and more"),
        ]
    )
    envelope = {"specversion": "1.0", "id": f"e{number}", "source": "/worlds", "type": "world"}
    return json.dumps(envelope | {"datacontenttype": media_type, "data": data})


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_stages_say_what_the_command_says_for_every_language(
    tmp_path: Path, seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical, "is_whole", lambda: compiled)
    rng = Random(seed)
    (tmp_path / "o.ttl").write_text(document(ontology(rng))["text"])
    records = [record(rng, number) for number in range(60)]
    bodies = [event(rng, number) for number in range(30)]
    subscriptions = write_lines(tmp_path / "s.ndjson", list(map(json.dumps, records)))
    files = [write_lines(tmp_path / "e.ndjson", bodies)]
    model = load_model([tmp_path / "o.ttl"])
    entries = read_subscriptions(read_lines(subscriptions), model)
    index = Index.build((entry.subscription for entry in entries if isinstance(entry, Entry)), model)
    batch = pa.RecordBatch.from_pydict({"position": range(len(bodies)), "body": bodies})
    for bindings in (True, False):
        lines, refused = plainly([tmp_path / "o.ttl"], subscriptions, files, bindings, tmp_path)
        groups = list(stage.match_events(canonical.lift_events([batch], DEFAULT), index, bindings))
        texts = [text for group in groups for text in expand(group, index.ids).column("text").to_pylist()]
        assert "".join(f"{text}\n" for text in texts) == lines
        rows = [row for group in groups for row in group.to_pylist() if row["refusal"]]
        assert [row["envelope"] for row in rows] == [refusal["event"] for refusal in refused]
        assert {json.loads(line)["subscription"].split()[0] for line in lines.splitlines()} == LANGUAGES


WORLDS = 8
"""So many worlds share a log, each under names of its own."""


class Stage(NamedTuple):
    """What stands for a part of the log: an ontology, the subscriptions under it, and the events."""

    ontology: str
    records: list[dict[str, Any]]
    bodies: list[str]

    def plainly(self, folder: Path, matcher: str) -> tuple[str, list[Refusal]]:
        return plainly(*self.files(folder), True, folder, matcher)

    def files(self, folder: Path) -> tuple[list[Path], Path, list[Path]]:
        """The same as files, as commands take them."""
        folder.mkdir(exist_ok=True)
        (folder / "o.ttl").write_text(self.ontology)
        subscriptions = write_lines(folder / "s.ndjson", list(map(json.dumps, self.records)))
        return [folder / "o.ttl"], subscriptions, [write_lines(folder / "e.ndjson", self.bodies)]


def stage_of(number: int, standing: list[dict[str, Any]]) -> Stage:
    """All worlds at a stage: of what stood before, some goes on."""
    rngs = {f"w{world}": Random(10 * number + world) for world in range(WORLDS)}
    records = [one for one in standing if Random(one["id"]).random() < 0.5]
    classes = " ".join(f"{name} a rdfs:Class ." for name in CLASS)
    texts, bodies = [], []
    for name, rng in rngs.items():
        own = f"{EX}{name}/"
        texts.append(f"@prefix ex: <{own}> . {classes} {ontology(rng)}")
        for count in range(15):
            one = record(rng, count)
            records.append(one | {"id": f"{one['id']} {name} {number}", "prefixes": {"ex": own}})
        for count in range(10):
            body = json.loads(event(rng, count)) | {"id": f"{name} e{count} {number}"}
            bodies.append(json.dumps(body | {"data": body["data"].replace(EX, own)}))
    rng.shuffle(bodies)
    return Stage(document(" ".join(texts))["text"], records, bodies)


def put(client: httpx.Client, before: Stage, now: Stage) -> None:
    """Tell the broker what a stage changes, and publish its events."""
    told = client.post("/v1/ontologies", content=now.ontology, headers={"Content-Type": "text/turtle"})
    assert told.status_code == HTTPStatus.CREATED, told.text
    for one in (one for one in before.records if one not in now.records):
        assert client.delete(f"/v1/subscriptions/{one['id']}").is_success
    for one in (one for one in now.records if one not in before.records):
        assert client.post("/v1/subscriptions", json=one).status_code == HTTPStatus.CREATED
    batch = f"[{','.join(now.bodies)}]"
    assert client.post("/v1/events", content=batch, headers={"Content-Type": BATCH}).status_code == HTTPStatus.ACCEPTED


def items(client: httpx.Client, path: str) -> Iterator[dict[str, Any]]:
    """All items of a list, page by page."""
    after: int | None = 0
    while after is not None:
        page = client.get(path, params={"after": after, "limit": 500}).json()
        yield from page["items"]
        after = page["next"]


def test_batch_stream_and_broker_say_what_the_command_and_the_definition_say_of_many_worlds(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    """What is posted to the broker, and read from it, is what the commands say of files with the same."""
    lines, letters = "", []
    now = Stage("", [], [])
    with (
        served(store) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        streaming(spark, store, tmp_path) as query,
    ):
        for number in range(2):
            before, now = now, stage_of(number, now.records)
            put(client, before, now)
            folder = tmp_path / f"stage {number}"
            said, refused = now.plainly(folder, "brute")
            assert now.plainly(folder, "engine") == (said, refused)
            assert run_batch(*now.files(folder), folder / "out", bindings=True) == refused
            assert parts(folder / "out" / "matches") == said
            lines, letters = lines + said, letters + [refusal["event"] for refusal in refused]
        catch_up(query, store)
        notifications, dead_letters = (list(items(client, path)) for path in ("/v1/notifications", "/v1/dead-letters"))
    told = sorted((n["event"], n["subscription"], n["score"], str(n["bindings"])) for n in notifications)
    matches = [json.loads(line) for line in lines.splitlines()]
    assert told == sorted((m["event"], m["subscription"], m["score"], str(m["bindings"])) for m in matches)
    assert {match["subscription"].split()[0] for match in matches} == LANGUAGES
    assert any("#" in match["event"] for match in matches)
    assert [letter["event"] for letter in dead_letters] == letters != []
    assert {notification.version for notification in store.notifications(limit=100_000)} == {
        "1@1",
        f"2@{len(before.bodies) + 1}",
    }
