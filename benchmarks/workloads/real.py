"""Real worlds, from ``../shared/data`` where it is present: events that nobody here wrote, and subscriptions to them.

``schemaorg``: schema.org's own examples as events; subscriptions drawn from them, with classes raised to any above.
``rss``: items of RSS 1.0 feeds; the EXTRA rules, boolean expressions that experts wrote to classify news.
``w3c``: what changed between successive snapshots of the W3C's catalogue, an event for each document; subscriptions
drawn from those.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyoxigraph import BlankNode, NamedNode

from triplewire import load_model, parse_event, parse_subscription
from triplewire.concepts.model import ConceptModel
from triplewire.errors import TriplewireError
from triplewire.lift.cloudevents import parse_events
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import RDF, Resource, Triple
from triplewire.subscriptions.pattern import Alternative, Arc, ClassConstraint, Pattern, Subscription, Variable, Vertex

DATA = Path(__file__).parents[3] / "shared" / "data"
FOLDERS = {"schemaorg": "schemaorg", "rss": "rss10", "w3c": "w3c-tr"}
ENVELOPE = {"specversion": "1.0", "source": "benchmark", "type": "benchmark"}
PREFIXES = {"rss": "http://purl.org/rss/1.0/"}


@dataclass(frozen=True)
class World:
    """A model, subscriptions and events."""

    model: ConceptModel
    subscriptions: Sequence[Subscription]
    events: Sequence[Event]


def absent(world: str) -> str | None:
    """What is missing of a world, if something is."""
    place = DATA / FOLDERS[world]
    return None if place.exists() else f"{place} is not there"


def world(name: str, subscriptions: int, events: int, seed: int = 1) -> World:
    """At most so many subscriptions and events of a world: ``rss`` has 72 rules."""
    if name == "rss":
        return World(ConceptModel(), _rules()[:subscriptions], _items()[:events])
    if name == "schemaorg":
        model = load_model([next(DATA.glob("schemaorg/data/releases/**/schemaorg-current-https.nt"))])
        published = _examples()[:events]
    else:
        model, published = ConceptModel(), _changes(events)
    return World(model, _drawn(Random(seed), published, model, subscriptions), published)


def _examples() -> list[Event]:
    """Schema.org's examples, those that can be read without asking the network for a context."""
    found = []
    for number, example in enumerate(json.loads((DATA / "schemaorg/examples.jsonld.json").read_text())):
        data = {**example, "@context": {"@vocab": "https://schema.org/"}} if isinstance(example, dict) else example
        record = ENVELOPE | {"id": f"e{number:03}", "datacontenttype": "application/ld+json", "data": data}
        try:
            found.append(parse_event(record))
        except TriplewireError:
            continue
    return found


def _items() -> list[Event]:
    """The items of all feeds."""
    found = []
    for path in sorted(DATA.glob("rss10/**/*")):
        if path.suffix not in (".rdf", ".xml") or b"purl.org/rss/1.0/" not in path.read_bytes():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        record = ENVELOPE | {"id": path.stem, "datacontenttype": "application/rss+xml", "data": text}
        try:
            found += parse_events(record)
        except TriplewireError:
            continue
    return found


def _changes(most: int) -> list[Event]:
    """What each document gained from one snapshot to the next, the document being home.

    Blank nodes are left out, and the names that a tool gave them: they are others in each snapshot.
    """
    found: list[Event] = []
    before: set[Triple] | None = None
    for path in sorted(DATA.glob("w3c-tr/*.rdf.xz")):
        text = lzma.decompress(path.read_bytes())
        triples = read(text, "application/rdf+xml", base="http://www.w3.org/2002/01/tr-automation/tr.rdf")
        now = {one for one in triples if not any("_:" in str(end) or "#_" in str(end) for end in (one[0], one[2]))}
        gained: defaultdict[Resource, list[Triple]] = defaultdict(list)
        for triple in sorted(now - before, key=str) if before is not None else ():
            gained[triple.subject].append(triple)
        found += [Event("w3c", f"{path.stem} {one.value}", Graph(new, one)) for one, new in gained.items()]
        if len(found) >= most:
            break
        before = now
    return found[:most]


def _drawn(rng: Random, events: Sequence[Event], model: ConceptModel, count: int) -> list[Subscription]:
    """Subscriptions to a vertex of some event: one or two of its arcs, and its class or one above that."""
    ways = [list(_by_subject(event).values()) for event in events]
    found = []
    for number in range(count):
        triples = rng.choice(rng.choice(ways))
        types = [t.object for t in triples if t.property == RDF.type and isinstance(t.object, NamedNode)]
        others = [triple for triple in triples if triple.property != RDF.type]
        subject = Variable("x")
        classes = []
        if types:
            cls = rng.choice(types)
            above = rng.choice(sorted(model.superclasses(cls) | {cls}, key=str))
            classes = [ClassConstraint(subject, above)]
        arcs = []
        for place, triple in enumerate(rng.sample(others, min(len(others), rng.choice([1, 2])))):
            named = not isinstance(triple.object, BlankNode) and rng.random() < 0.3
            object_: Vertex = triple.object if named else Variable(f"y{place}")
            arcs.append(Arc(subject, triple.property, object_))
        if arcs:
            pattern = Pattern(tuple(arcs), tuple(classes))
            found.append(Subscription(f"{number:06}", (Alternative(pattern),)))
    return found


def _by_subject(event: Event) -> dict[object, list[Triple]]:
    found: defaultdict[object, list[Triple]] = defaultdict(list)
    for triple in sorted(event.graph.triples, key=str):
        found[triple.subject].append(triple)
    return found


Rule = list["Rule | str"]


def _rules() -> list[Subscription]:
    """The EXTRA rules as filters on an item's title and description.

    Words are looked for regardless of case and of what follows them, instead of by their stems; where a rule counts
    words or asks how near they are, one of them is enough, or all.
    """
    model = ConceptModel()
    found = []
    for path in sorted(DATA.glob("media-topics/rules/*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            text = _filter(_parsed(json.loads(line)["query"]))
            record = {"id": f"{path.stem} {number:02}", "language": "filter", "pattern": text, "prefixes": PREFIXES}
            found.append(parse_subscription(record, model))
    return found


def _parsed(text: str) -> Rule:
    """A rule's lists in lists; a text in quotes keeps its first quote."""
    stack: list[Rule] = [[]]
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+', text):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        elif token != ")":
            stack[-1].append(token.removesuffix('"') if token.startswith('"') else token)
    first = stack[0][0]
    return first if isinstance(first, list) else stack[0]


def _filter(rule: Rule) -> str:
    head = rule[0] if isinstance(rule[0], str) else "and"
    inner = [_filter(part) for part in rule if isinstance(part, list)]
    if not inner:
        return _test(rule)
    name = head.split("/")[0]
    if name == "not":
        return f"not ({' or '.join(inner)})"
    return f"({(' and ' if name in ('and', 'prox') else ' or ').join(inner)})"


def _test(rule: Rule) -> str:
    """One field, one relation, one text; without a field, anywhere."""
    *words, text = [part for part in rule if isinstance(part, str)]
    field, relation = (words[0], words[1]) if len(words) > 1 else ("", "adj")
    given = text.removeprefix('"')
    if "regexp" in relation:
        pattern = given
    elif relation.startswith("any"):
        pattern = rf"\b({'|'.join(map(_escaped, given.split()))})"
    else:
        pattern = rf"\b{_escaped(given)}"
    fields = {"title": ["rss:title"], "body": ["rss:description"]}.get(field, ["rss:title", "rss:description"])
    quoted = json.dumps(f"(?i){pattern}", ensure_ascii=False)
    return f"({' or '.join(f'{name} matches {quoted}' for name in fields)})"


def _escaped(word: str) -> str:
    return re.escape(word.removesuffix("*")).replace(r"\ ", " ").replace(r"\-", "-")
