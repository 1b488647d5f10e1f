"""``triplewire synonyms import wordnet | file``: further words for concepts, as labels in Turtle."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from pyoxigraph import Literal, NamedNode

from triplewire.cli.console import File, OntologyFiles
from triplewire.concepts.load import load_model
from triplewire.concepts.wordlist import read_wordlist
from triplewire.concepts.wordnet import WordNet
from triplewire.concepts.wordnet import synonyms as from_wordnet
from triplewire.rdf.terms import SKOS

synonyms = typer.Typer(help="Further words for concepts.", no_args_is_help=True)
import_ = typer.Typer(
    help="Write further words for concepts in Turtle; load them beside the ontology.", no_args_is_help=True
)
synonyms.add_typer(import_, name="import")


@import_.command()
def wordnet(
    files: OntologyFiles,
    folder: Annotated[
        Path, typer.Option("--dict", metavar="DIR", help="The folder that holds index.noun and data.noun.")
    ] = Path("/usr/share/wordnet"),
) -> None:
    """Write the words that WordNet has for the concepts of an ontology, and that no concept is called by yet."""
    _print(from_wordnet(load_model(files), WordNet(folder)))


@import_.command("file")
def from_file(
    file: File,
    files: OntologyFiles,
) -> None:
    """Write the words of FILE, in lines such as `Music => Melody, Tune, Musik@de`, for an ontology's concepts."""
    _print(read_wordlist(file, load_model(files)))


def _print(found: Iterable[tuple[NamedNode, Literal]]) -> None:
    for concept, word in found:
        print(f"{concept} {SKOS.altLabel} {word} .")
