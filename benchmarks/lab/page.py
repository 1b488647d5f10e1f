"""The page of the lab: every figure from the kept data, with its sentence, its command and its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.lab.chart import svg
from benchmarks.lab.experiment import EXPERIMENTS
from benchmarks.lab.figure import FIGURES, Drawn, Figure, Section
from benchmarks.lab.record import DATA, Record

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "lab.md"
IMAGES = "images/lab"

INTRO = """# The lab

Every figure of the papers' evaluations, measured again, and what else we claim about speed. Made by `make figures`
from the data in [`benchmarks/results/data`](../benchmarks/results/data). `make bench` takes the data anew in less than
twenty minutes on two cores, `make bench-full` with the large sizes and as long as it takes. Change neither this page
nor the figures by hand.

Each figure tells what is claimed, what was found, the command, and the data with its commit, versions and processor.
The verdicts are computed from the data. Where a paper's text was all that was left of its figure, its panel shows what
the text says: a ring is a number that it prints, a dashed line a shape that it describes, and an axis without numbers
means that it tells none. Papers' times are of the machines and of the Java of their time: compare shapes, not heights.

Times are processor time of one core. A *load* over 1 means that other work ran beside: then shapes and counts hold,
and times are too long.
"""


def write(data: Path = DATA, page: Path = PAGE) -> list[str]:
    """Draw every figure and write the page. The figures that lack data are left out, and told."""
    images = page.parent / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    for path in images.glob("*.svg"):
        path.unlink()
    parts, missing, section = [INTRO], list[str](), None
    for figure in sorted(FIGURES.values(), key=lambda one: one.section.order):
        records = [Record.read(name, data) for name in figure.experiments]
        known = [record for record in records if record is not None]
        if len(known) < len(records):
            missing.append(figure.name)
            continue
        if figure.section is not section:
            section = figure.section
            parts.append(_heading(section))
        drawn = figure.draw(*(record.rows for record in known))
        (images / f"{figure.name}.svg").write_text(svg(figure.title, drawn.sentence, drawn.panels), encoding="utf-8")
        parts.append(_told(figure, drawn, known))
    parts.append(_index())
    page.write_text("\n".join(parts), encoding="utf-8")
    return missing


def _heading(section: Section) -> str:
    return f"## {section.title}\n\n{section.intro}\n"


def _told(figure: Figure, drawn: Drawn, records: Sequence[Record]) -> str:
    far = "" if all(record.complete for record in records) else ", as far as it was measured"
    verdict = "" if drawn.holds == "no claim" else f"**It {drawn.holds}{far}.** "
    lines = [
        f"### {figure.title}\n",
        f"![{figure.title}]({IMAGES}/{figure.name}.svg)\n",
        f"Claimed: {figure.claim}\n",
        f"{verdict}{drawn.sentence}\n",
    ]
    return "\n".join(lines + [_source(record) for record in records]) + "\n"


def _source(record: Record) -> str:
    short = "" if record.complete else ", cut short by the time budget"
    return (
        f"`{record.command}` → [{record.experiment}.json](../benchmarks/results/data/{record.experiment}.json) "
        f"({record.date}, commit {record.commit}, load {record.load:g}{short})  "
    )


def _index() -> str:
    rows = [f"| `{one.name}` | {one.shows} |" for one in sorted(EXPERIMENTS.values(), key=lambda one: one.name)]
    head = "## All experiments\n\n`python -m benchmarks run NAME…` runs some, `--full` with large sizes.\n"
    return "\n".join([head, "| name | shows |", "|---|---|", *rows]) + "\n"
