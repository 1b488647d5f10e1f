"""Those who match are never led astray by those who add, remove and merge, in other threads and other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from random import Random

from pyoxigraph import BlankNode, NamedNode

from tests.matching.engine.test_batch import batch_of
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


def test_what_is_removed_is_gone_at_once():
    index = Index.build(map(everything, range(4)), ConceptModel())
    for number in range(4):
        index.remove(everything(number).id)
        left = [everything(other).id for other in range(number + 1, 4)]
        assert [match.subscription for match in index.match(EVENT)] == left
        assert index.match_batch(batch_of([EVENT])).subscriptions.to_pylist() == left


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


def steps() -> list[tuple[list[int], list[int]]]:
    """What a writer does: at each step it adds some subscriptions at once, or removes one. No two states are equal."""
    rng = Random(1)
    living = list(range(10))
    found = []
    for number in range(24):
        if number % 3 == 2:
            found.append(([], [living.pop(rng.randrange(len(living)))]))
        else:
            more = list(range(10 + 10 * number, 10 + 10 * number + rng.choice([1, 5, 9])))
            found.append((more, []))
            living += more
    return found


def states() -> dict[frozenset[str], int]:
    """The states that the writer has had, by number."""
    living = set(range(10))
    found = {ids_of(living): 0}
    for number, (more, fewer) in enumerate(steps(), 1):
        living = living.difference(fewer).union(more)
        found[ids_of(living)] = number
    return found


def ids_of(numbers: Iterable[int]) -> frozenset[str]:
    return frozenset(everything(number).id for number in numbers)


WRITING = """
import sys
from pathlib import Path
from tests.matching.engine.test_concurrency import everything, steps
from triplewire.matching.engine.index import Index

index = Index.open(Path(sys.argv[1]))
for number, (more, fewer) in enumerate(steps()):
    input()
    index.add_all(map(everything, more))
    for one in fewer:
        index.remove(everything(one).id)
    if number % 4 == 0:
        index.merge()
"""

READING = """
import sys
from pathlib import Path
from tests.matching.engine.test_concurrency import EVENT, states, steps
from tests.matching.engine.test_batch import batch_of
from triplewire.matching.engine.index import Index

folder, kind = Path(sys.argv[1]), sys.argv[2]
known, last, batch = states(), len(steps()), batch_of([EVENT])
index = Index.open(folder)
seen = -1
while seen < last:
    if kind == "opens":
        index = Index.open(folder)
    elif kind == "syncs":
        index.sync()
    if kind == "stays" and input():  # a line ends its rest
        index.sync()
    one_by_one = [match.subscription for match in index.match(EVENT)]
    found = index.match_batch(batch).subscriptions.to_pylist()
    assert found == one_by_one
    now = known[frozenset(found)]
    assert now >= seen
    seen = now
    print(seen, flush=True)
"""


def test_readers_see_what_a_writer_has_had_and_never_wait_for_it(tmp_path):
    """Three processes look at a folder that a fourth changes and merges; for a while that one does not move at all."""
    folder = tmp_path / "index"
    index = Index.build(map(everything, range(10)), ConceptModel())
    index.save(folder)
    index.close()
    with ExitStack() as stack:
        kinds = ("syncs", "opens", "stays")
        *readers, staying = (started(stack, READING, str(folder), kind) for kind in kinds)
        print(file=staying.stdin, flush=True)
        assert [int(reader.stdout.readline()) for reader in (*readers, staying)] == [0] * 3
        writer = started(stack, WRITING, str(folder))
        print("\n" * 12, file=writer.stdin, flush=True)
        assert all(any(number > 6 for number in map(int, reader.stdout)) for reader in readers)
        print("\n" * 6, file=writer.stdin, flush=True)
        writer.send_signal(signal.SIGSTOP)
        for reader in readers:
            assert all(reader.stdout.readline() for _ in range(5))
        print(file=staying.stdin, flush=True)
        assert staying.stdout.readline() == "0\n"
        writer.send_signal(signal.SIGCONT)
        print("\n" * 6, file=writer.stdin, flush=True)
        assert writer.wait() == 0
        assert [list(map(int, reader.stdout))[-1] for reader in readers] == [len(steps())] * 2
        assert staying.communicate("\nsync\n")[0] == f"0\n{len(steps())}\n"
        assert [process.wait() for process in (*readers, staying)] == [0] * 3


def started(stack: ExitStack, code: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that is ended with the test."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.enter_context(process)
    stack.callback(process.kill)
    return process
