"""Ontology versions: who made which documents the ontology, from which position on, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from triplewire.rdf.terms import Triple
from triplewire.store.audit import note
from triplewire.store.database import insert_new
from triplewire.store.moments import last_position, now
from triplewire.store.records import Ontology
from triplewire.store.tables import documents, learnt, ontologies

Document = Mapping[str, str]
Check = Callable[[Ontology | None], None]
"""Is told the version that is to be replaced; if it raises an error, that one stays."""

AT_ONCE = 1000
"""So many statements are asked for at once."""
LEARNT = "learnt.nt"
"""The document that holds what was accepted and merged. It stays when others are replaced."""


def newest(connection: Connection) -> Ontology | None:
    row = connection.execute(select(ontologies).order_by(ontologies.c.version.desc()).limit(1)).first()
    return None if row is None else version_of(connection, row)


def version_of(connection: Connection, row: Row[Any]) -> Ontology:
    """A version with its documents' texts."""
    parts = json.loads(row.documents)
    found = connection.execute(select(documents).where(documents.c.digest.in_([part["digest"] for part in parts])))
    texts = {one.digest: one.text for one in found}
    return _version(row, [_named(part) | {"text": texts[part["digest"]]} for part in parts])


def outline_of(row: Row[Any]) -> Ontology:
    """A version with its documents' names, without their texts."""
    return _version(row, [_named(part) for part in json.loads(row.documents)])


def _version(row: Row[Any], parts: list[dict[str, str]]) -> Ontology:
    return Ontology(row.version, row.since, parts, row.author, row.reason, row.created)


def _named(part: Document) -> dict[str, str]:
    return {"name": part["name"], "media_type": part["media_type"]}


def together(current: Ontology | None, given: Sequence[Document]) -> list[dict[str, str]]:
    """The documents of the version that follows if these are put: they themselves, and what was learnt."""
    names = {document["name"] for document in given}
    kept = [one for one in current.documents if one["name"] == LEARNT and LEARNT not in names] if current else []
    return [*map(dict, given), *kept]


def put_version(
    connection: Connection, given: Sequence[Document], author: str, reason: str, check: Check = lambda _: None
) -> Ontology:
    """Make these documents, and what was learnt, the ontology for the events to come, unless they are already."""
    current = newest(connection)
    return _write(connection, current, together(current, given), author, reason, check)


def learn(connection: Connection, triples: Iterable[Triple], author: str, reason: str) -> Ontology:
    """Add statements to what was learnt."""
    current = newest(connection)
    return _write(connection, current, having_learnt(current, triples), author, reason)


def forget(connection: Connection, triples: Iterable[Triple], author: str, reason: str) -> Ontology | None:
    """Take statements back that were learnt; None if there is nothing that they could be taken from."""
    current = newest(connection)
    return None if current is None else _write(connection, current, having_forgotten(current, triples), author, reason)


def having_learnt(current: Ontology | None, triples: Iterable[Triple]) -> list[dict[str, str]]:
    """The documents of the version that follows if statements are learnt."""
    return _with_learnt(current, dict.fromkeys([*learnt_lines(current), *map(line_of, triples)]))


def having_forgotten(current: Ontology | None, triples: Iterable[Triple]) -> list[dict[str, str]]:
    """The documents of the version that follows if statements are taken back."""
    gone = set(map(line_of, triples))
    return _with_learnt(current, [line for line in learnt_lines(current) if line not in gone])


def restore(
    connection: Connection, earlier: Ontology, author: str, reason: str, check: Check = lambda _: None
) -> Ontology:
    """Have the ontology say for the events to come what it said in an earlier version, what was learnt included."""
    return _write(connection, newest(connection), earlier.documents, author, reason, check)


def line_of(triple: Triple) -> str:
    """A statement as a line of what was learnt."""
    return f"{triple.subject} {triple.property} {triple.object} ."


def learnt_lines(version: Ontology | None) -> list[str]:
    """The lines of what was learnt."""
    found = version.documents if version else []
    return [line for one in found if one["name"] == LEARNT for line in one["text"].splitlines()]


def _with_learnt(version: Ontology | None, lines: Iterable[str]) -> list[dict[str, str]]:
    """A version's documents, with other lines for what was learnt."""
    text = "".join(f"{line}\n" for line in lines)
    others = [one for one in version.documents if one["name"] != LEARNT] if version else []
    return others + ([{"name": LEARNT, "media_type": "application/n-triples", "text": text}] if text else [])


def _write(
    connection: Connection,
    current: Ontology | None,
    whole: list[dict[str, str]],
    author: str,
    reason: str,
    check: Check = lambda _: None,
) -> Ontology:
    """A version with these documents, unless the current one has them."""
    if current is not None and current.documents == whole:
        return current
    check(current)
    digests = [_digest(document["text"]) for document in whole]
    for document, digest in zip(whole, digests, strict=True):
        connection.execute(insert_new(connection, documents).values(digest=digest, text=document["text"]))
    parts = [_named(document) | {"digest": digest} for document, digest in zip(whole, digests, strict=True)]
    row = {"since": last_position(connection), "documents": json.dumps(parts), "created": now()}
    new = insert(ontologies).values(**row, author=author, reason=reason).returning(ontologies)
    made = version_of(connection, connection.execute(new).one())
    _keep_learnt(connection, set(learnt_lines(current)), set(learnt_lines(made)), made.version)
    note(connection, "ontology", made.version, "created", author)
    return made


def _keep_learnt(connection: Connection, before: set[str], after: set[str], version: int) -> None:
    """Keep in which version each statement came to be known."""
    for line in before - after:
        connection.execute(delete(learnt).where(learnt.c.digest == _digest(line)))
    for line in sorted(after - before):
        row = {"digest": _digest(line), "line": line, "version": version}
        connection.execute(insert_new(connection, learnt).values(row))


def learnt_in(connection: Connection, triples: Sequence[Triple]) -> dict[Triple, Ontology]:
    """The versions in which statements came to be known, of those that were learnt."""
    by_digest = {_digest(line_of(triple)): triple for triple in triples}
    query = select(learnt.c.digest, ontologies).join(ontologies, ontologies.c.version == learnt.c.version)
    found: dict[Triple, Ontology] = {}
    digests = list(by_digest)
    for start in range(0, len(digests), AT_ONCE):
        rows = connection.execute(query.where(learnt.c.digest.in_(digests[start : start + AT_ONCE])))
        found |= {by_digest[row.digest]: outline_of(row) for row in rows}
    return found


def newest_learnt(connection: Connection, before: int, limit: int) -> list[tuple[int, str, Ontology]]:
    """Statements that were learnt, the newest first, each with its number and the version that has it since."""
    query = select(learnt.c.number, learnt.c.line, ontologies).join(
        ontologies, ontologies.c.version == learnt.c.version
    )
    found = connection.execute(query.where(learnt.c.number < before).order_by(learnt.c.number.desc()).limit(limit))
    return [(row.number, row.line, outline_of(row)) for row in found]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
