"""A user's own file of synonyms: lines such as ``Music => Melody, Tune, Musik@de``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import only
from triplewire.errors import OntologyError, UsageError

_TAGGED = re.compile(r"(.*[^@])@([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)")


def read_wordlist(path: Path, model: ConceptModel) -> Iterator[tuple[NamedNode, Literal]]:
    """The concepts with their words, in the order of the file. A line that is blank or begins with # says nothing."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise OntologyError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OntologyError(f"{path}: not UTF-8: {error.reason}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            name, arrow, words = (part.strip() for part in line.partition("=>"))
            if not arrow or not words:
                raise OntologyError(
                    f"{path}, line {number}: expected a line such as 'Music => Melody, Tune', not {line!r}"
                )
            concept = _concept(name, model, f"{path}, line {number}")
            yield from ((concept, _word(word.strip())) for word in words.split(",") if word.strip())


def _concept(name: str, model: ConceptModel, where: str) -> NamedNode:
    if name.startswith("<") and name.endswith(">"):
        return NamedNode(name[1:-1])
    try:
        return only(model.concepts_called(name), name, model)
    except UsageError as error:
        raise OntologyError(f"{where}: {error}") from None


def _word(text: str) -> Literal:
    tagged = _TAGGED.fullmatch(text)
    return Literal(tagged[1], language=tagged[2].lower()) if tagged else Literal(text)
