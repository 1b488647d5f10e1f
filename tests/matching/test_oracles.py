"""The two oracles, brute force and the translation to SPARQL, check each other."""

from hypothesis import given, settings

from tests.worlds import worlds
from triplewire.matching import BruteForce
from triplewire.matching.translated import SparqlOracle


@settings(max_examples=250, deadline=None)
@given(worlds())
def test_brute_force_and_oxigraph_agree(world):
    brute, sparql = BruteForce(world.model), SparqlOracle(world.model)
    brute.add(world.subscription)
    sparql.add(world.subscription)
    assert brute.match(world.event, bindings=True) == sparql.match(world.event, bindings=True)
