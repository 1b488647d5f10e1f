"""Those who match are never led astray by those who add, remove and merge, in other threads and other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from pyoxigraph import BlankNode, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine import index as engine
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import Alternative, AttributeExists, Call, Pattern, Subscription

ROOT = Path(__file__).parents[3]
P = NamedNode("http://example.org/p")
EVENT = Event("source", "event", Graph((Triple(BlankNode("H"), P, BlankNode("x")),), BlankNode("H")))


def everything(number: int) -> Subscription:
    """A subscription that EVENT trips; every third is one that must be verified."""
    filter_ = AttributeExists((P,))
    odd = Call("not", (Call("not", (Call("if", (filter_, filter_, filter_)),)),))
    return Subscription(f"s{number:04}", (Alternative(Pattern(filters=(odd if number % 3 == 0 else filter_,))),))


def test_a_match_sees_what_was_there_when_it_began_and_nothing_from_after_it_ended(monkeypatch):
    monkeypatch.setattr(engine, "MERGE_AT", 150)
    index = Index(ConceptModel())
    index.match(EVENT)
    begun = ended = 0
    wrong: list[tuple[int, int, int]] = []
    looks = 0
    done = threading.Event()

    def look() -> None:
        nonlocal looks
        while not done.is_set():
            least = ended
            found = len(index.match(EVENT))
            if not least <= found <= begun:
                wrong.append((least, found, begun))
            looks += 1

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(600):
        begun += 1
        index.add(everything(number))
        ended += 1
        if number % 7 == 0:
            index.add(everything(number))  # in its own place
    index.merge()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert looks > 2
    assert len(index) == len(index.match(EVENT)) == 600


WRITING = """
import sys
from pathlib import Path
from tests.matching.engine.test_concurrency import everything
from triplewire.matching.engine.index import Index

index = Index.open(Path(sys.argv[1]))
for number in range(10, 40):
    index.add(everything(number))
    if number % 3 == 0:
        index.merge()
"""


def test_processes_open_an_index_while_another_merges_it(tmp_path):
    index = Index.build(map(everything, range(10)), ConceptModel())
    index.save(tmp_path / "index")
    index.close()
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    seen = [10]
    with subprocess.Popen([sys.executable, "-c", WRITING, str(tmp_path / "index")], env=environment) as writer:
        while writer.poll() is None:
            opened = Index.open(tmp_path / "index")
            assert len(opened) == len(opened.match(EVENT))
            seen.append(len(opened))
    assert writer.returncode == 0
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert len(Index.open(tmp_path / "index")) == 40
