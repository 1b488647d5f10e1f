"""``run [NAME…] [--full]`` measures, ``figures`` draws what was kept, ``capacity`` tells what it means for clusters."""

from __future__ import annotations

import argparse
import sys

from benchmarks.lab import capacity
from benchmarks.lab.experiment import EXPERIMENTS, load
from benchmarks.lab.page import PAGE, write
from benchmarks.lab.run import run

CAPACITY = PAGE.with_name("capacity.md")

MINUTES = 18
"""The time budget of ``make bench``, with some of its twenty minutes left for what a last point takes too long."""


def main() -> None:
    load()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="measure, and keep what is found")
    runs.add_argument("names", nargs="*", choices=[[], *EXPERIMENTS], metavar="NAME", help="all, if none is named")
    runs.add_argument("--full", action="store_true", help="large sizes, and as long as it takes")
    runs.add_argument("--minutes", type=float, help=f"the time budget; {MINUTES} if all are run, else none")
    commands.add_parser("figures", help="draw every figure from the data that was kept, and write the page")
    asks = commands.add_parser("capacity", help="tell how many machines are needed, by what was measured")
    asks.add_argument("--subscriptions", type=int, required=True)
    asks.add_argument("--events", type=int, required=True, help="a second")
    given = parser.parse_args()
    if given.command == "capacity":
        model = capacity.kept()
        if model is None:
            sys.exit("There is no data yet: python -m benchmarks run pipeline-cores growth-subscriptions")
        needed = model[0].machines(given.subscriptions, given.events)
        print(f"{needed:,} machines of {capacity.CORES} cores and {capacity.MEMORY / 1e9:.0f} GB; see {CAPACITY}")
        return
    failed: list[str] = []
    if given.command == "run":
        chosen = [EXPERIMENTS[name] for name in given.names or EXPERIMENTS]
        usual = None if given.full or given.names else MINUTES
        failed = run(chosen, "full" if given.full else "normal", given.minutes or usual)
    missing = write()
    if model := capacity.kept():
        CAPACITY.write_text(capacity.page(*model), encoding="utf-8")
    print(f"{PAGE}: written." + (f" Without data, and left out: {', '.join(missing)}" if missing else ""))
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
