"""The lab and the other benchmarks: every experiment runs, every figure draws, the page is what the kept data says.

What of the other benchmarks can be had in small runs as well, so that none rots.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path
from random import Random

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import broker, compilation, delivery, engine, engine_hierarchy, many, pipeline, shards, soak, way
from benchmarks.__main__ import CAPACITY
from benchmarks.lab import capacity, page
from benchmarks.lab.chart import Axis, Bars, Line, Panel, svg
from benchmarks.lab.experiment import EXPERIMENTS, Experiment, grid, load
from benchmarks.lab.figure import FIGURES
from benchmarks.lab.record import DATA, Record
from benchmarks.lab.run import run
from triplewire import load_model
from triplewire.matching.engine.index import Index
from triplewire.store import Store, store_url

ROOT = Path(__file__).parents[1]
COMMANDS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("_"))

load()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of every experiment that can be run here, in its tiny size."""
    folder = tmp_path_factory.mktemp("data")
    assert run(list(EXPERIMENTS.values()), "tiny", folder=folder) == []
    return folder


def test_every_experiment_finds_rows_at_its_tiny_points(tiny: Path) -> None:
    for one in EXPERIMENTS.values():
        record = Record.read(one.name, tiny)
        assert one.absent() or (record and record.complete and len(record.rows) >= len(one.points["tiny"])), one.name


def test_every_figure_is_drawn_from_tiny_data(tiny: Path, tmp_path: Path) -> None:
    missing = page.write(tiny, tmp_path / "lab.md")
    absent = {one.name for one in EXPERIMENTS.values() if one.absent()}
    assert {name for name in missing if not absent & {*FIGURES[name].experiments}} == set()
    for name in FIGURES.keys() - {*missing}:
        ElementTree.parse(tmp_path / page.IMAGES / f"{name}.svg")


def test_the_page_and_its_figures_are_what_the_kept_data_says(tmp_path: Path) -> None:
    assert page.write(DATA, tmp_path / "lab.md") == []
    assert (tmp_path / "lab.md").read_text() == page.PAGE.read_text()
    drawn, kept = (
        {path.name: path.read_text() for path in (place / page.IMAGES).glob("*.svg")}
        for place in (tmp_path, page.PAGE.parent)
    )
    assert drawn == kept


def test_the_page_on_capacity_is_what_the_kept_data_says() -> None:
    kept = capacity.kept()
    assert kept is not None
    assert capacity.page(*kept) == CAPACITY.read_text(encoding="utf-8")
    assert len(kept[1]) >= 2  # points that the model was not fitted on


def test_a_model_of_costs_tells_the_costs_that_it_was_made_from() -> None:
    growth = [{"subscriptions": n, "µs": 3 * n**0.5} for n in (1_000, 10_000, 100_000)]
    points = [
        {
            "subscriptions": n,
            "cores": c,
            "events a second": c * 1e6 / (40 + 2 * (n / 1000) ** 0.5),
            "index, MB": n / 1e4,
        }
        for n, c in ((1_000, 1), (4_000, 1), (9_000, 2), (100_000, 1))
    ]
    costs, checks = capacity.fitted(points, growth)
    assert [round(value, 6) for value in (costs.fixed, costs.slope, costs.power)] == [40, 2, 0.5]
    assert [round(check.error, 9) for check in checks] == [0, 0]
    assert costs.machines(1_000, 100) == 1
    assert costs.machines(1_000, 10**6) == 4  # 42 seconds of work a second, 11.2 a machine
    memory = capacity.MEMORY * capacity.USED / costs.bytes
    assert [costs.machines(memory * shards, 1) for shards in (0.9, 1.5, 2.5)] == [1, 2, 3]


def test_live_webhooks_are_measured_beside_dead_ones() -> None:
    waits = delivery.run(delivery.DEAD, events=1, live=3, dead=2)
    assert len(waits) >= 3
    assert all(wait > 0 for _, wait in waits)


@pytest.mark.slow
def test_a_broker_is_measured_under_load() -> None:
    with broker.running("sqlite") as served:
        told = broker.held(served, rate=100, seconds=1) | broker.latency(served, 1) | broker.idle(served, 5)
    assert told["matched_per_second_to_the_last"] > 0
    assert {"accepting_ms", "telling_ms", "brokers_share_ms", "idle_clients_mb"} <= told.keys()


def test_a_budget_cuts_points_off_the_end_but_never_the_first_two(tmp_path: Path) -> None:
    measured: list[int] = []
    one = Experiment("one", "", {"tiny": grid(n=(1, 2, 3, 4))}, 1, lambda n: measured.append(n) or {}, lambda: None)
    run([one], "tiny", minutes=1e-9, folder=tmp_path)
    record = Record.read(one.name, tmp_path)
    assert record is not None
    assert not record.complete
    assert [row["n"] for row in record.rows] == measured == [1, 2]


def test_an_experiment_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    bad, good = (
        Experiment(name, "", {"tiny": grid(n=n)}, 1, lambda n: {"x": 1 // n}, lambda: None)
        for name, n in (("bad", 0), ("good", 1))
    )
    assert run([bad, good], "tiny", folder=tmp_path) == ["bad"]
    assert [path.stem for path in tmp_path.iterdir()] == ["good"]


def test_a_chart_puts_larger_values_higher_and_escapes_its_words() -> None:
    panel = Panel("<a>", Axis("x", "log"), Axis("y"), [Line("l & m", [(1, 1), (10, 2), (100, 4)])])
    text = svg("t", "d", [panel, Bars("b", "s", [("one", 1.0), ("two", 2.0)])])
    root = ElementTree.fromstring(text)
    line = root.find(".//{*}polyline").get("points")
    heights = [float(point.split(",")[1]) for point in line.split()]
    widths = [float(bar.get("width")) for bar in root.findall(".//{*}rect[@class]") if "bar" in bar.get("class", "")]
    assert heights == sorted(heights, reverse=True)
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.01)
    assert "<a>" not in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_benchmark_can_be_imported_and_says_what_it_measures(name: str) -> None:
    assert import_module(f"benchmarks.{name}").__doc__


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """A file of patterns and events of two labels, as the native matcher takes it."""
    subscriptions, events, vertices, arcs, event_vertices, event_arcs, labels = 4, 3, 2, 1, 3, 3, 2
    rng = np.random.default_rng(1)
    drawn = [
        [subscriptions, events, vertices, arcs, event_vertices, event_arcs, labels, labels, 1],
        rng.integers(0, labels, (subscriptions, vertices)),
        [[[0, number % labels, 1]] for number in range(subscriptions)],
        rng.integers(0, labels, (events, event_vertices)),
        [[[0, 0, 1], [0, 1, 2], [1, 0, 2]]] * events,
    ]
    path = tmp_path / "workload"
    path.write_bytes(b"".join(np.array(part, np.int32).tobytes() for part in drawn))
    return path


def test_the_engine_is_measured_on_a_workload_file(workload: Path) -> None:
    told = engine.measure(workload, None, repetitions=1)
    assert (told["subscriptions"], told["us_per_event"] > 0, told["visits"] > 0) == (4, True, True)


def test_what_a_hierarchy_costs_is_measured(workload: Path) -> None:
    model = load_model([ROOT / "examples/auction/ontology.ttl"])
    told = engine_hierarchy.compare(workload, model, 2, deepest=True)
    assert told["all levels"]["matches"] >= 0
    assert told["ratio"] > 0


def test_texts_are_compiled(tmp_path: Path) -> None:
    compilation.write_texts(tmp_path / "texts", 5)
    assert compilation.here(tmp_path / "texts", tmp_path / "index")["subscriptions"] == 5


def test_the_pipelines_events_match_its_index_and_visit_its_shards(tmp_path: Path) -> None:
    pipeline.prepare(tmp_path, 12, 40, 2)
    shards.prepare_shards(tmp_path, 40, [3])
    index = Index.open(tmp_path / "index")
    batches = [pq.read_table(file).combine_chunks().to_batches()[0] for file in (tmp_path / "events").iterdir()]
    assert sum(len(index.match_batch(batch).subscriptions) for batch in batches) > 0
    assert 0 < shards.visits(tmp_path, tmp_path / "shards-3")["shards visited"] <= 3


def test_the_soak_knows_what_is_to_be_notified(tmp_path: Path) -> None:
    with_load = Store(store_url(tmp_path))
    traffic = soak.Load(with_load, Random(1), 5)
    traffic.publish(400)
    assert soak.expected(with_load)
    with_load.close()


def test_streams_are_given_subscriptions_and_events(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    many._subscribe(store, 3)
    position = way._publish(store, 7)
    assert len(store.revisions(0, position)) == 3
    assert json.loads(next(iter(store.events(0, position))).body)["data"].endswith(" 7 .")
    assert way._percentile([1.0, 2.0, 3.0], 50) == 2.0
    store.close()
