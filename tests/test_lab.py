"""The lab: every experiment runs, every figure draws, and the page is what the kept data says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks.lab import page
from benchmarks.lab.chart import Axis, Bars, Line, Panel, svg
from benchmarks.lab.experiment import EXPERIMENTS, load
from benchmarks.lab.figure import FIGURES
from benchmarks.lab.record import DATA, Record
from benchmarks.lab.run import run

load()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of every experiment that can be run here, in its tiny size."""
    folder = tmp_path_factory.mktemp("data")
    run(list(EXPERIMENTS.values()), "tiny", folder=folder)
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


def test_a_budget_cuts_points_off_the_end_but_never_the_first(tmp_path: Path) -> None:
    one = EXPERIMENTS["ops-subscriptions"]
    run([one], "tiny", minutes=1e-9, folder=tmp_path)
    record = Record.read(one.name, tmp_path)
    assert record is not None
    assert not record.complete
    assert [row["subscriptions"] for row in record.rows] == [one.points["tiny"][0]["subscriptions"]]


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
