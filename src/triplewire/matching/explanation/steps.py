"""The steps through the ontology that an explanation takes, each where it is taken in the event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from triplewire.concepts.derivation import Chain
from triplewire.matching.explanation.closeness import Closest, InterestReason
from triplewire.matching.explanation.explanation import Explanation
from triplewire.matching.explanation.reasons import ArcReason, Finding, VertexReason
from triplewire.rdf.names import Names
from triplewire.rdf.svg import shortened
from triplewire.rdf.terms import RDF, Term

_LONGEST = 60
_MOST = 4
_BY_ITSELF = ("every", "datatype")
"""What goes without saying."""


class Steps:
    """What leads from the event's own words to those of the subscription."""

    def __init__(self, explanation: Explanation, prefixes: Mapping[str, str] | None) -> None:
        self._explanation = explanation
        terms = (term for finding in explanation.findings for term in _terms(finding))
        own = (term for triple in explanation.event.graph.triples for term in triple)
        self._names = Names.of([*own, *terms], prefixes, bare=True)
        self._vertices: dict[str, dict[str, None]] = defaultdict(dict)
        self._arcs: dict[tuple[str, str, str], str] = {}
        for finding in explanation.findings:
            if finding.holds:
                self._add(finding)

    def of_vertex(self, key: str) -> tuple[str, ...]:
        """How a vertex comes to be what is asked for: ``NotebookPC ⊑ Computer``."""
        return tuple(shortened(line, _LONGEST) for line in list(self._vertices[key])[:_MOST])

    def of_arc(self, arc: tuple[str, str, str]) -> str:
        """How an arc comes to be the one that is asked for: ``cellPhoneNumber ⊑ telephoneNumber``."""
        return shortened(self._arcs.get(arc, ""), _LONGEST)

    def _add(self, finding: Finding) -> None:
        match finding.reason:
            case VertexReason(vertex, _, chain) if vertex is not None:
                self._note(vertex, chain)
            case ArcReason(_, RDF.type, _, chain) if chain:
                self._note(chain[0].fact.subject, chain)
            case ArcReason(chain=chain) if len(chain) > 1 and chain[0].rule == "stated":
                arc = chain[0].fact
                self._arcs[str(arc.subject), str(arc.property), str(arc.object)] = self._told(chain, 1)
            case InterestReason(concepts=concepts):
                for one in concepts:
                    self._near(one)

    def _note(self, vertex: Term, chain: Chain) -> None:
        known = bool(chain) and chain[0].rule == "known"
        if chain and chain[-1].rule not in _BY_ITSELF and (known or len(chain) > 1):
            self._vertices[str(vertex)][("known: " if known else "") + self._told(chain, 2)] = None

    def _told(self, chain: Chain, part: int) -> str:
        """The way up: the property (1) or the class (2) of each step."""
        told = self._names.short(chain[0].fact[part])
        for step in chain[1:]:
            sign = {"inverse": "⇄", "same": "="}.get(step.rule, "⊑")
            now = self._names.short(step.by[0][2] if step.by else step.fact[part])
            told += f" {sign} {now}"
        return told

    def _near(self, one: Closest) -> None:
        if one.closest is None:
            return
        name = self._names.short
        meeting = one.upward[-1] if one.upward else one.concept
        through = "" if meeting in (None, one.concept, one.closest) else f", both below {name(meeting)}"
        line = f"{name(one.closest)} ≈ {name(one.concept)} {one.similarity:.2f}{through}"
        if one.closest == one.concept:
            line = f"{name(one.concept)} itself"
        for key in self._bringing(one):
            self._vertices[key][line] = None

    def _bringing(self, one: Closest) -> Iterator[str]:
        if one.named_by is not None:
            yield str(one.named_by)
            return
        for triple in self._explanation.event.graph.triples:
            if triple.property == RDF.type and triple.object == one.closest:
                yield str(triple.subject)


def _terms(finding: Finding) -> Iterator[Term]:
    match finding.reason:
        case ArcReason(chain=chain) | VertexReason(chain=chain):
            for step in chain:
                for fact in (step.fact, *step.by):
                    yield from fact
        case InterestReason(concepts=concepts):
            for one in concepts:
                ways = (*one.upward, *one.downward, one.closest)
                yield from (term for term in (one.concept, *ways) if term is not None)
