"""The guide to events is true: each CloudEvent shown gives the graph shown below it."""

import json
import re
from pathlib import Path

import pytest

from triplewire.lift.cloudevents import parse_event
from triplewire.lift.formats import LIFTERS
from triplewire.lift.lifting import DEFAULT, LIMITS, load_lifting
from triplewire.lift.names import MEMBERS
from triplewire.rdf.syntax import read

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guide/events.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```\s+```turtle\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("envelope", "turtle"), EXAMPLES, ids=[json.loads(shown)["id"] for shown, _ in EXAMPLES])
def test_an_event_of_the_guide_gives_the_graph_shown(envelope, turtle):
    event = parse_event(envelope, load_lifting(ROOT / "examples/lifting"))
    assert event.graph.triples == set(read(turtle, "text/turtle"))
    assert event.graph.home is not None


def test_the_guide_names_every_format_member_and_limit():
    assert all(f"`{name}`" in GUIDE for name in (*LIFTERS, *MEMBERS, *LIMITS))
    for name in LIMITS:
        assert f"| `{name}` | {getattr(DEFAULT, name)} |" in GUIDE
