"""The words for concepts over HTTP: those there are, who added them and when, one more, one less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

import pyoxigraph
from fastapi import APIRouter, Query
from pyoxigraph import NamedNode

from triplewire.broker.access.users import Anybody, Ontologist
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.ontologies import Body, DryRun, Reason, reason_of, would_change
from triplewire.concepts.load import model_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import concept_named, proposed
from triplewire.errors import UsageError
from triplewire.rdf.terms import OWL, SKOS, Triple
from triplewire.store import Ontology
from triplewire.store.versions import having_forgotten, having_learnt, learnt_lines, line_of

router = APIRouter(prefix="/v1/synonyms", tags=["concepts"])

Named = Annotated[str, Query(max_length=2000, description="A concept, told by its IRI or a word for it.")]
Word = Annotated[str, Query(max_length=1000)]


@router.get("")
def list_synonyms(_: Anybody, shared: Shared, page: Paged, concept: Named | None = None) -> ExactJSONResponse:
    """The words for each concept, or for one, told by its IRI or a word for it, in their order.

    Of those that were learnt it is told who added them, when, and in which ontology version.
    """
    model = shared.models.current()
    asked = sorted(model.concept_parents, key=str) if concept is None else [_named(concept, "concept", model)]
    told = dict(_synonyms(asked[page.after : page.after + page.more], model, shared))
    return page.of_all(asked, told.__getitem__)


@router.post("", status_code=HTTPStatus.CREATED)
def add_synonym(caller: Ontologist, shared: Shared, body: Body, dry_run: DryRun = False) -> ExactJSONResponse:
    """Have a ``concept`` called by a further ``word``, of a ``language`` if it is told, for the events to come.

    With ``dry-run=true`` nothing is changed: it is told what would be different, and for whom.
    """
    model = shared.models.current()
    concept = concept_of(body, "concept", model)
    label = _label(body.get("word"), body.get("language"))
    reason = reason_of(body) or f"{label.value} means {concept}"
    author = caller.acts_for(body.get("author"))
    learnt = [Triple(concept, SKOS.altLabel, label)]
    if dry_run:
        documents = having_learnt(shared.store.newest_ontology(), learnt)
        return ExactJSONResponse(would_change(caller, model_of_documents(documents), shared))
    return ExactJSONResponse(_told(concept, shared.store.learn(learnt, author, reason), shared), HTTPStatus.CREATED)


@router.delete("")
def remove_synonym(
    caller: Ontologist,
    shared: Shared,
    concept: Named,
    word: Word,
    language: Annotated[str | None, Query(max_length=100)] = None,
    reason: Reason = "",
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Have a concept not be called by a word any more that was added or merged, for the events to come.

    What a document of the ontology says stays; for that, put another document in its place. With ``dry-run=true``
    nothing is changed: it is told what would be different, and for whom.
    """
    model, current = shared.models.current(), shared.store.newest_ontology()
    found, label = _named(concept, "concept", model), _label(word, language)
    stated = Triple(found, SKOS.altLabel, label)
    if label not in model.labels.get(found, ()):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{found} is not called {label}")
    if line_of(stated) not in learnt_lines(current):
        detail = f"that {found} is called {label} was not added here: put another document in its place that says so"
        raise ProblemError(HTTPStatus.CONFLICT, detail)
    gone = [stated, Triple(proposed(label.value), OWL.sameAs, found)]  # as merging a proposal adds it
    if dry_run:
        return would_change(caller, model_of_documents(having_forgotten(current, gone)), shared)
    why = reason or f"{label.value} does not mean {found}"
    made = shared.store.forget(gone, caller.name, why)
    if made is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{found} is not called {label} any more")
    return _told(found, made, shared)


def concept_of(body: Mapping[str, Any], member: str, model: ConceptModel) -> NamedNode:
    """The concept that a member of a body names."""
    name = body.get(member)
    if not isinstance(name, str):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'{member}' should name a concept, not {name!r}")
    return _named(name, member, model)


def words_for(concept: NamedNode, model: ConceptModel, shared: State) -> list[dict[str, Any]]:
    """The words for a concept, and of those that were learnt who added them and when."""
    [(_, told)] = _synonyms([concept], model, shared)
    words: list[dict[str, Any]] = told["words"]
    return words


def _named(name: str, member: str, model: ConceptModel) -> NamedNode:
    try:
        return concept_named(name, model)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None


def _label(word: object, language: object) -> pyoxigraph.Literal:
    if not isinstance(word, str) or not word.strip():
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'word' should be a word, not {word!r}")
    if language is None:
        return pyoxigraph.Literal(word.strip())
    try:
        return pyoxigraph.Literal(word.strip(), language=language)  # type: ignore[arg-type]  # or it is refused
    except (TypeError, ValueError):
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"'language' should be a tag such as en, not {language!r}") from None


def _told(concept: NamedNode, version: Ontology, shared: State) -> dict[str, Any]:
    [(_, told)] = _synonyms([concept], shared.models.of(version.version), shared)
    return told | {"version": version.version, "since": version.since}


def _synonyms(
    concepts: Sequence[NamedNode], model: ConceptModel, shared: State
) -> Iterator[tuple[NamedNode, dict[str, Any]]]:
    """Each concept with the words for it."""
    said = {
        (concept, label): [Triple(concept, relation, label) for relation in (SKOS.altLabel, SKOS.prefLabel)]
        for concept in concepts
        for label in model.labels.get(concept, ())
    }
    versions = shared.store.learnt_in([triple for triples in said.values() for triple in triples])
    for concept in concepts:
        words = []
        for label in model.labels.get(concept, ()):
            word = {"word": label.value} | ({"language": label.language} if label.language else {})
            for triple in said[concept, label]:
                if (since := versions.get(triple)) is not None:
                    word |= {"author": since.author, "created": since.created, "version": since.version}  # type: ignore[dict-item]
            words.append(word)
        yield concept, {"concept": concept.value, "words": words}
