"""Whoever matches, the same input has the same matches, in every language."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.test_batch import parts, plainly
from tests.pipeline.test_stream import catch_up, streaming
from tests.pipeline.world import document, write_lines
from tests.worlds import EX, QUERIES, graph
from triplewire.concepts.load import load_model
from triplewire.lift.lifting import DEFAULT
from triplewire.matching.engine.index import Index
from triplewire.matching.lines import Entry, read_lines, read_subscriptions
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
    subject, object_ = rng.choice([*CLASS, *3 * ["owl:Thing"]]), rng.choice([*CLASS, *3 * ["rdfs:Resource"]])
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
    records = [record(rng, number) for number in range(40)]
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


def test_batch_stream_and_store_say_what_the_command_says(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    rng = Random(1)
    statements = document(ontology(rng))
    (tmp_path / "o.ttl").write_text(statements["text"])
    records = [record(rng, number) for number in range(40)]
    bodies = [event(rng, number) for number in range(30)]
    subscriptions = write_lines(tmp_path / "s.ndjson", list(map(json.dumps, records)))
    files = [write_lines(tmp_path / "e.ndjson", bodies)]
    lines, refused = plainly([tmp_path / "o.ttl"], subscriptions, files, True, tmp_path)
    assert run_batch([tmp_path / "o.ttl"], subscriptions, files, tmp_path / "out", bindings=True) == refused
    assert parts(tmp_path / "out" / "matches") == lines

    store.put_ontology([statements])
    for one in records:
        store.subscribe(one)
    store.append([("/worlds", json.loads(body)["id"], body) for body in bodies])
    with streaming(spark, store, tmp_path) as query:
        catch_up(query, store)
    notified = store.notifications(limit=100_000)
    told = sorted((n.event, n.subscription, n.score, json.dumps(n.bindings)) for n in notified)
    matches = map(json.loads, lines.splitlines())
    assert told == sorted((m["event"], m["subscription"], m["score"], json.dumps(m["bindings"])) for m in matches)
    assert {n.version for n in notified} == {"1@1"}
    assert [letter.id for letter in store.dead_letters()] == [refusal["event"] for refusal in refused]
