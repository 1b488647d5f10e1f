"""Ontology versions: who made which documents the ontology, from which position on, and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from triplewire.rdf.terms import Triple
from triplewire.store.audit import note
from triplewire.store.database import insert_new
from triplewire.store.moments import last_position, now
from triplewire.store.records import Ontology
from triplewire.store.tables import documents, ontologies

Document = Mapping[str, str]

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
    whole = [{"name": p["name"], "media_type": p["media_type"], "text": texts[p["digest"]]} for p in parts]
    return Ontology(row.version, row.since, whole, row.author, row.reason, row.created)


def put_version(connection: Connection, given: Sequence[Document], author: str, reason: str) -> Ontology:
    """Make these documents, and what was learnt, the ontology for the events to come, unless they are already."""
    current = newest(connection)
    names = {document["name"] for document in given}
    kept = [one for one in current.documents if one["name"] == LEARNT and LEARNT not in names] if current else []
    whole = [*map(dict, given), *kept]
    if current is not None and current.documents == whole:
        return current
    digests = [sha256(document["text"].encode()).hexdigest() for document in whole]
    for document, digest in zip(whole, digests, strict=True):
        connection.execute(insert_new(connection, documents).values(digest=digest, text=document["text"]))
    parts = [
        {"name": document["name"], "media_type": document["media_type"], "digest": digest}
        for document, digest in zip(whole, digests, strict=True)
    ]
    row = {"since": last_position(connection), "documents": json.dumps(parts), "created": now()}
    new = insert(ontologies).values(**row, author=author, reason=reason).returning(ontologies)
    made = version_of(connection, connection.execute(new).one())
    note(connection, "ontology", made.version, "created", author)
    return made


def learn(connection: Connection, triples: Iterable[Triple], author: str, reason: str) -> Ontology:
    """Add statements to what was learnt."""
    current = newest(connection)
    before = current.documents if current else []
    known = [line for one in before if one["name"] == LEARNT for line in one["text"].splitlines()]
    lines = dict.fromkeys([*known, *(f"{t.subject} {t.property} {t.object} ." for t in triples)])
    text = "".join(f"{line}\n" for line in lines)
    learnt = {"name": LEARNT, "media_type": "application/n-triples", "text": text}
    return put_version(connection, [*(one for one in before if one["name"] != LEARNT), learnt], author, reason)
