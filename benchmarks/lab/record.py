"""What an experiment found, kept as JSON with how it was found."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.lab.experiment import Experiment, Row, Scale
from benchmarks.report import commit

DATA = Path(__file__).parents[1] / "results" / "data"
LIBRARIES = ("duckdb", "numba", "numpy", "pyarrow", "pyoxigraph", "pyspark", "rdflib")


@dataclass(frozen=True)
class Record:
    """Rows and their circumstances. ``load`` is how many processes were running when it began: under 1, it was alone.

    ``complete`` is false if the time budget cut points off the end.
    """

    experiment: str
    shows: str
    command: str
    scale: Scale
    date: str
    commit: str
    cpu: str
    cores: int
    load: float
    python: str
    versions: dict[str, str]
    seconds: float
    complete: bool
    rows: list[Row]

    @classmethod
    def of(
        cls, experiment: Experiment, scale: Scale, rows: Iterable[Row], seconds: float, load: float, complete: bool
    ) -> Record:
        return cls(
            experiment=experiment.name,
            shows=experiment.shows,
            command=f"python -m benchmarks run {experiment.name}" + (" --full" if scale == "full" else ""),
            scale=scale,
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            commit=commit(),
            cpu=_cpu(),
            cores=os.cpu_count() or 1,
            load=round(load, 1),
            python=platform.python_version(),
            versions={name: version(name) for name in LIBRARIES},
            seconds=round(seconds, 1),
            complete=complete,
            rows=list(rows),
        )

    def save(self, folder: Path = DATA) -> None:
        """Write the record, a row a line, so that a change of one is a change of one line."""
        folder.mkdir(parents=True, exist_ok=True)
        head = asdict(self)
        rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in head.pop("rows"))
        text = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
        (folder / f"{self.experiment}.json").write_text(f'{text},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")

    @classmethod
    def read(cls, name: str, folder: Path = DATA) -> Record | None:
        """What was kept last; None if nothing was."""
        path = folder / f"{name}.json"
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _cpu() -> str:
    """The processor's name, as Linux tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
