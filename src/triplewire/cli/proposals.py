"""``triplewire ontology proposals | accept | merge | reject | versions | propose``: how an ontology learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from triplewire.cli.console import (
    AsJson,
    Home,
    OntologyFiles,
    StoreUrl,
    console,
    opened_store,
    print_json,
    readable,
    table,
)

if TYPE_CHECKING:
    from pyoxigraph import NamedNode

    from triplewire.concepts.model import ConceptModel
    from triplewire.concepts.proposed import Proposal
    from triplewire.store import Store, StoredProposal

Number = Annotated[int, typer.Argument(metavar="N", help="The proposal's number.")]
Author = Annotated[str, typer.Option(metavar="NAME", help="Who decides.")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; it stays with the ontology version.")]
SubscriptionFile = Annotated[
    Path | None, typer.Option("--subscriptions", metavar="F.ndjson", help="Subscriptions, a JSON object a line.")
]
EventFile = Annotated[Path | None, typer.Option("--events", metavar="F.ndjson", help="CloudEvents, one a line.")]


def proposals(
    home: Home = Path("var"),
    url: StoreUrl = None,
    state: Annotated[
        Literal["open", "accepted", "merged", "rejected", "all"], typer.Option(help="Only those in this state.")
    ] = "open",
    as_json: AsJson = False,
) -> None:
    """List the concepts that subscribers and publishers have proposed."""
    with opened_store(home, url) as store:
        found = store.proposals(limit=1_000_000, state=None if state == "all" else state)
    rows = table("", "word", "under", "proposed by", "in", "state", "reason")
    for one in found:
        if as_json:
            print_json(_told(one))
        cells = (one.proposal.word, one.proposal.parent.value, one.proposer, one.origin, one.state, one.reason)
        rows.add_row(str(one.number), *map(escape, cells))
    if not as_json:
        console().print(rows)


def accept(
    number: Number, home: Home = Path("var"), url: StoreUrl = None, author: Author = "local", reason: Reason = ""
) -> None:
    """Make a proposed concept everybody's, for the events to come."""
    with opened_store(home, url) as store:
        _check(store, number, _newest_model(store))
        print_json(_told(store.accept(number, author, reason)))


def merge(
    number: Number,
    into: Annotated[str, typer.Argument(metavar="CONCEPT", help="A concept's IRI, or a word for it.")],
    home: Home = Path("var"),
    url: StoreUrl = None,
    author: Author = "local",
    reason: Reason = "",
) -> None:
    """Make the word of a proposed concept another one for CONCEPT, for the events to come."""
    from triplewire.concepts.proposed import concept_named

    with opened_store(home, url) as store:
        model = _newest_model(store)
        concept = concept_named(into, model)
        _check(store, number, model, concept)
        print_json(_told(store.merge(number, concept, author, reason)))


def reject(
    number: Number, home: Home = Path("var"), url: StoreUrl = None, author: Author = "local", reason: Reason = ""
) -> None:
    """Keep a proposed concept from everybody but those who use it already."""
    with opened_store(home, url) as store:
        print_json(_told(store.reject(number, author, reason)))


def versions(home: Home = Path("var"), url: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the ontology's versions: from which log position on, by whom, and why."""
    with opened_store(home, url) as store:
        found = store.ontologies()
    rows = table("version", "after position", "author", "reason", "created")
    for one in found:
        if as_json:
            names = [document["name"] for document in one.documents]
            told = {"version": one.version, "since": one.since, "author": one.author, "reason": one.reason}
            print_json({**told, "created": one.created, "documents": names})
        rows.add_row(str(one.version), str(one.since), *map(escape, (one.author, one.reason, one.created)))
    if not as_json:
        console().print(rows)


def propose(files: OntologyFiles, subscriptions: SubscriptionFile = None, events: EventFile = None) -> None:
    """Write what an ontology would say, in Turtle, once the new concepts in subscriptions and events are accepted."""
    from triplewire.concepts.load import load_model
    from triplewire.concepts.proposed import publication_proposals
    from triplewire.lift.cloudevents import open_envelope, parse_envelope
    from triplewire.matching.lines import Entry, read_lines, read_subscriptions
    from triplewire.subscriptions.languages import proposals as proposed_by

    model = load_model(files)
    found: dict[NamedNode, Proposal] = {}
    for entry in read_subscriptions(read_lines(readable(subscriptions)), model) if subscriptions else ():
        if isinstance(entry, Entry):
            found |= {one.concept: one for one in proposed_by(entry.record, entry.subscription, model)}
    for line in read_lines(readable(events)) if events else ():
        for event in open_envelope(parse_envelope(line.text)):
            found |= {one.concept: one for one in publication_proposals(event.graph, model)}
    for one in found.values():
        for statement in one.accepted():
            print(*statement, ".")


def _newest_model(store: Store) -> ConceptModel:
    from triplewire.concepts.load import model_of_documents

    newest = store.newest_ontology()
    return model_of_documents(newest.documents if newest else ())


def _check(store: Store, number: int, model: ConceptModel, into: NamedNode | None = None) -> None:
    """Refuse a decision on an open proposal that would change the meaning of other interests."""
    from triplewire.concepts.proposed import check_decision

    for one in store.proposals(number - 1, 1, "open"):
        if one.number == number:
            check_decision(one.proposal, model, into)


def _told(one: StoredProposal) -> dict[str, Any]:
    return {
        "id": one.number,
        "word": one.proposal.word,
        "concept": one.proposal.concept.value,
        "under": one.proposal.parent.value,
        "proposer": one.proposer,
        "origin": one.origin,
        "state": one.state,
        "author": one.author,
        "reason": one.reason,
        "version": one.version,
    }
