"""``triplewire ontology show | check | diff | count``: what ontologies hold, what changed, what events speak of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from pyoxigraph import NamedNode
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from triplewire.cli.console import (
    BAD_INPUT,
    AsJson,
    OntologyFiles,
    Svg,
    console,
    print_json,
    readable,
    table,
    write_picture,
)
from triplewire.cli.proposals import accept, merge, proposals, propose, reject, versions
from triplewire.concepts.difference import Subsumption, diff
from triplewire.concepts.load import load_model
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import KINDS, Kind, Node, Outline, outline, search
from triplewire.concepts.picture import picture
from triplewire.concepts.profile import frequencies
from triplewire.concepts.report import Shape
from triplewire.errors import OntologyError, UsageError
from triplewire.rdf.names import Names
from triplewire.rdf.terms import TW

ontology = typer.Typer(help="Look at ontologies: what is in them, whether they are sound, what changed, what is new.")
for _command in (propose, proposals, accept, merge, reject, versions):
    ontology.command()(_command)

Old = Annotated[Path, typer.Argument(metavar="OLD", callback=readable)]
New = Annotated[Path, typer.Argument(metavar="NEW", callback=readable)]
Only = Annotated[
    Kind | None, typer.Option("--kind", help="Only this kind of terms in the tree and the picture.", show_default=False)
]


@ontology.command()
def show(
    files: OntologyFiles,
    as_json: AsJson = False,
    tree: Annotated[bool, typer.Option("--tree", help="Write the hierarchies as trees.")] = False,
    word: Annotated[
        str | None,
        typer.Option("--search", metavar="WORD", help="Only what is called so, with what is above and below it."),
    ] = None,
    depth: Annotated[int | None, typer.Option(metavar="N", min=0, help="At most so many steps down.")] = None,
    kind: Only = None,
    svg: Svg = None,
) -> None:
    """Tell what an ontology holds; as a tree if asked for or searched, and as a picture."""
    model = load_model(files)
    wants_tree = tree or word is not None or (svg is None and (depth is not None or kind is not None))
    parts = _parts(model, word, depth, [kind] if kind else KINDS) if wants_tree or svg is not None else []
    if svg is not None:
        write_picture(svg, picture(parts, f"Ontology {', '.join(path.name for path in files)}"))
    if as_json:
        summary = _summary(model)
        print_json(summary | {"tree": {part.kind: _as_json(part) for part in parts}} if wants_tree else summary)
    elif wants_tree:
        _print_trees(parts, console())
    else:
        _print_summary(_summary(model), console())


@ontology.command()
def check(
    files: OntologyFiles,
    strict: Annotated[bool, typer.Option("--strict", help="A cycle of subclasses or sub-properties is wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether an ontology can be loaded, with what is odd about it; exit status 3 if it cannot."""
    try:
        report = load_model(files, strict=strict).report
    except OntologyError as error:
        if not as_json:
            raise
        print_json({"sound": False, "error": str(error)})
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        print_json({"sound": True, "imports": list(report.imports), "warnings": list(report.warnings)})
        return
    out = console()
    out.print(f"sound: {report.triples} triples, {sum(report.unused.values())} of them not used")
    _print_oddities(report.imports, report.warnings, out)


@ontology.command("diff")
def differences(old: Old, new: New, as_json: AsJson = False) -> None:
    """Tell which subsumptions and words appeared from OLD to NEW, and which went."""
    change = diff(load_model([old]), load_model([new]))
    found = {
        "classes": {"appeared": change.classes_appeared, "gone": change.classes_gone},
        "properties": {"appeared": change.properties_appeared, "gone": change.properties_gone},
        "concepts": {"appeared": change.concepts_appeared, "gone": change.concepts_gone},
    }
    words = {"appeared": change.words_appeared, "gone": change.words_gone}
    if as_json:
        told = {kind: {way: [_pair(p) for p in ps] for way, ps in ways.items()} for kind, ways in found.items()}
        called = {way: [{"term": one.term.value, "word": str(one.word)} for one in ones] for way, ones in words.items()}
        print_json(told | {"words": called})
        return
    names = Names.of(term for ways in found.values() for pairs in ways.values() for pair in pairs for term in pair)
    out = console()
    for kind, ways in found.items():
        for sign, pairs in (("+", ways["appeared"]), ("-", ways["gone"])):
            for lower, upper in pairs:
                out.print(f"{sign} {escape(names.short(lower))} ⊑ {escape(names.short(upper))}  [dim]{kind}[/]")
    for sign, ones in (("+", words["appeared"]), ("-", words["gone"])):
        for term, word in ones:
            out.print(f"{sign} {escape(names.short(term))} is called {escape(str(word))}  [dim]words[/]")
    if not change:
        out.print("no difference in what is a kind of what, and what it is called")


@ontology.command()
def count(
    files: OntologyFiles,
    events: Annotated[Path, typer.Option("--events", metavar="F.ndjson", help="CloudEvents, one a line.")],
) -> None:
    """Write in how many events each concept occurs, in Turtle: what the measure `lin` weighs concepts by."""
    from triplewire.lift.cloudevents import open_envelope, parse_envelope
    from triplewire.matching.lines import read_lines

    graphs = (event.graph for line in read_lines(events) for event in open_envelope(parse_envelope(line.text)))
    found = frequencies(graphs, load_model(files))
    for concept in sorted(found, key=str):
        print(f"{concept} {TW.frequency} {found[concept]} .")


def _pair(pair: Subsumption) -> dict[str, str]:
    return {"lower": pair.lower.value, "upper": pair.upper.value}


def _summary(model: ConceptModel) -> dict[str, Any]:
    """What an ontology holds, in numbers."""
    report = model.report
    shapes: dict[Kind, Shape] = {
        "classes": report.classes,
        "properties": report.properties,
        "concepts": report.concepts,
    }
    counts = {kind: len(outline(model, kind).parents) for kind in KINDS}
    return {
        "content": model.content_hash,
        "triples": report.triples,
        **{
            kind: {
                "named": counts[kind],
                "in_hierarchy": shapes[kind].terms,
                "several_parents": shapes[kind].several_parents,
                "depth": shapes[kind].depth,
            }
            for kind in shapes
        },
        "instances": len(model.instances),
        "meta_statements": len(model.meta_statements),
        "labels": sum(map(len, model.labels.values())),
        "imports": list(report.imports),
        "not_used": dict(report.unused),
        "warnings": list(report.warnings),
    }


def _print_summary(summary: dict[str, Any], out: Console) -> None:
    rows = table("", "named", "in a hierarchy", "several parents", "depth")
    for column in rows.columns[1:]:
        column.justify = "right"
    for kind in KINDS:
        rows.add_row(kind, *(str(number) for number in summary[kind].values()))
    for others in ("instances", "meta_statements", "labels", "triples"):
        rows.add_row(others.replace("_", "-"), str(summary[others]))
    out.print(rows)
    out.print(f"content {summary['content']}")
    if summary["not_used"]:
        names = Names.of(())
        unused = table("triples not used", "property")
        unused.columns[0].justify = "right"
        for property_, count in summary["not_used"].items():
            unused.add_row(str(count), escape(names.full(NamedNode(property_))))
        out.print()
        out.print(unused)
    _print_oddities(summary["imports"], summary["warnings"], out)


def _print_oddities(imports: Iterable[str], warnings: Iterable[str], out: Console) -> None:
    for address in imports:
        out.print(f"[bold]not read[/]: imports {escape(address)}, which is not among the files", soft_wrap=True)
    for warning in warnings:
        out.print(f"[bold]warning[/]: {escape(warning)}", soft_wrap=True)


def _parts(model: ConceptModel, word: str | None, depth: int | None, kinds: Iterable[Kind]) -> list[Outline]:
    """The hierarchies, or what a word finds in them."""
    whole = [outline(model, kind) for kind in kinds]
    if word is None:
        return [one.down_to(depth) for one in whole]
    found = [one.around(search(model, one, word), depth) for one in whole]
    if not any(one.parents for one in found):
        near = model.nearest(word)
        hint = f" Did you mean {model.label(near)}?" if near is not None else ""
        raise UsageError(f"nothing here is called {word!r}.{hint}")
    return found


def _print_trees(parts: Iterable[Outline], out: Console) -> None:
    for part in parts:
        if part.parents:
            root = Tree(f"[bold]{part.kind}[/]")
            _grow(root, part)
            out.print(root)


def _grow(root: Tree, part: Outline) -> None:
    """Hang the nodes up under their parents; one with several parents in each place, but what is below it only once."""
    seen: set[Node] = set()
    work = [(root, node) for node in reversed(part.tops)]
    while work:
        under, node = work.pop()
        below = part.children[node]
        again = node in seen and bool(below)
        remarks = [escape(node.note)] * bool(node.note) + ["(as above)"] * again
        branch = under.add(" ".join([escape(node.label), *(f"[dim]{remark}[/]" for remark in remarks)]))
        if node not in seen:
            seen.add(node)
            work.extend((branch, child) for child in reversed(below))


def _as_json(part: Outline) -> list[dict[str, Any]]:
    return [
        {
            "term": node.terms[0].value,
            "same": [term.value for term in node.terms[1:]],
            "label": node.label,
            "parents": [parent.terms[0].value for parent in above],
        }
        for node, above in part.parents.items()
    ]
