"""The concept model that subscriptions are checked against."""

from __future__ import annotations

from triplewire.concepts.load import model_of, read_ontology
from triplewire.concepts.model import ConceptModel
from triplewire.store import Store


class CurrentModel:
    """The concept model that the store's newest ontology states; made again only when there is a newer one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._made: tuple[int, ConceptModel] = (0, ConceptModel())

    def __call__(self) -> ConceptModel:
        version = self._store.ontology_version(self._store.last_position() + 1)
        if self._made[0] != version and (ontology := self._store.ontology(version)):
            self._made = version, concept_model(ontology.documents)
        return self._made[1]


def concept_model(documents: list[dict[str, str]]) -> ConceptModel:
    """The concept model of an ontology's documents."""
    parts = (read_ontology(d["text"], d["media_type"], d["name"], n) for n, d in enumerate(documents))
    return model_of(triple for part in parts for triple in part)
