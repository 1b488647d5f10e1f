"""Kernels do the same compiled and interpreted, look at no more than they must, and share one cache safely."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from pyoxigraph import NamedNode

from tests import worlds
from tests.matching.engine.encoded_worlds import Vocabulary, closed, encoded, some_event, some_patterns, some_relations
from tests.matching.engine.naive import agrees as as_defined
from tests.matching.engine.naive import naive
from tests.matching.engine.test_batch import batch_of
from triplewire.matching.engine import kernels, trie
from triplewire.matching.engine.chunks import compile_chunk, repeated
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, Ranges
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.kernels.batch import match_events
from triplewire.matching.engine.shards import ShardedIndex, build_shards
from triplewire.matching.engine.trie import Scratch, Trie, build_trie, match
from triplewire.rdf.graph import Event, Graph
from triplewire.rdf.terms import Triple
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Pattern, Subscription, Variable

ROOT = Path(__file__).parents[3]

INTERPRETED = """
from random import Random
import numpy as np
from tests.matching.engine.test_kernels import agrees
with np.errstate(over="ignore"):
    for seed in range(40):
        agrees(Random(seed), 30)
"""

COMPILED = """
import sys
import numpy as np
from triplewire.matching.engine.kernels.batch import next_epoch
kinds = [np.uint8, np.int16, np.int32]
for kind in kinds[:: 1 if len(sys.argv) < 2 else int(sys.argv[1])]:
    print(next_epoch(np.full(3, 7, kind), np.full(2, 255)))
print(sum(next_epoch.stats.cache_hits.values()))
"""
EPOCHS = "1\n" * 3

WARM = """
import sys
from pathlib import Path
from triplewire.matching.engine.warmup import warm
from tests.matching.engine.test_kernels import signatures, use
warm()
ready = signatures()
use(Path(sys.argv[1]))
print(*sorted(signatures() - ready), sep="\\n")
"""


def agrees(rng: Random, number: int) -> None:
    """The trie of a random world finds what the definition finds, with masks and with lists."""
    words = Vocabulary(labels=rng.choice([2, 5, 40]), ranges=rng.choice([1, 6, 40]))
    patterns = some_patterns(rng, words, number)
    relations = some_relations(rng, words)
    trie = build_trie(patterns, relations)
    scratch = Scratch(trie)
    event = closed(some_event(rng, words), relations)
    assert as_defined(trie, patterns, event, scratch)


def python(code: str, *arguments: str, inside: Sequence[str] = (), **settings: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, **settings}
    command = [*inside, sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def caches(folder: Path, own: Path) -> dict[str, str]:
    return {"NUMBA_CACHE_DIR": str(folder), "XDG_CACHE_HOME": str(own)}


def test_interpreted_kernels_find_what_the_definition_finds() -> None:
    process = python(INTERPRETED, NUMBA_DISABLE_JIT="1")
    assert process.communicate() == ("", "")


def test_compiled_kernels_find_what_the_definition_finds() -> None:
    for seed in range(40):
        agrees(Random(seed), 30)


def signatures() -> set[str]:
    """Each kernel that this process has compiled or loaded, and for what."""
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{kernels.__name__}.")]
    found = {one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)}
    return {f"{one.py_func.__name__} {signature}" for one in found for signature in one.signatures}


def use(folder: Path) -> None:
    """Match small and large events in every way: one by one and in batches, with reasons and twins, after changes."""
    rng = Random(7)
    subscriptions = [worlds.anything(rng, f"s{number}") for number in range(20)]
    arcs = tuple(Arc(HOME, worlds.PROPERTIES[0], Variable(f"v{number}")) for number in range(4))
    subscriptions += [
        Subscription(mapping, (Alternative(Pattern(arcs, mapping=mapping)),))
        for mapping in ("injective", "homomorphic")
    ]
    wide = [Pattern((Arc(HOME, worlds.PROPERTIES[0], NamedNode(f"urn:{number}")),)) for number in range(40)]
    subscriptions += [Subscription(f"w{number}", (Alternative(one),)) for number, one in enumerate(wide)]
    large = [Triple(worlds.BLANKS[0], worlds.PROPERTIES[0], NamedNode(f"urn:{number}")) for number in range(100)]
    graphs = [
        *(worlds.graph(rng) for _ in range(4)),
        Graph(large[:9], worlds.BLANKS[0]),
        Graph(large, worlds.BLANKS[0]),
    ]
    events = [Event("source", str(number), one) for number, one in enumerate(graphs)]
    model = worlds.model(rng)
    for patience in (trie.PATIENCE, -(1 << 20)):
        trie.PATIENCE = patience
        index = Index.build(subscriptions[::2], model)
        index.add_all(subscriptions[1::2])
        index.merge()
        index.save(folder / str(patience))
        for one in (index, Index.open(folder / str(patience))):
            for event in events:
                one.match(event)
            for text in ("string", "large_string", "binary"):
                assert one.match_batch(batch_of(events, text)).subscriptions
    chunks = [compile_chunk(some, model) for some in (subscriptions[:20], subscriptions[20:])]
    build_shards(chunks, model, repeated(chunks), 3, folder / "shards")
    assert ShardedIndex(folder / "shards").match_batch(batch_of(events)).subscriptions


def test_whatever_matching_needs_is_compiled_by_the_warm_up(tmp_path: Path) -> None:
    assert python(WARM, str(tmp_path)).communicate() == ("\n", "")


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path at which nobody can make a folder, whoever they are."""
    file = tmp_path_factory.mktemp("nowhere") / "file"
    file.write_text("not a folder")
    return file / "cache"


@pytest.fixture(scope="module")
def made_at_once(tmp_path_factory: pytest.TempPathFactory, nowhere: Path) -> Path:
    """A cache that four processes made, all at once, each compiling three signatures, half of them in reverse."""
    cache = tmp_path_factory.mktemp("made") / "cache"
    processes = [python(COMPILED, "1" if number % 2 else "-1", **caches(cache, nowhere)) for number in range(4)]
    for process in processes:
        out, err = process.communicate()
        assert (out[: len(EPOCHS)], err) == (EPOCHS, "")
    return cache


@pytest.fixture
def warm(tmp_path: Path, made_at_once: Path) -> Path:
    return Path(shutil.copytree(made_at_once, tmp_path / "warm"))


def test_processes_that_start_at_once_share_a_cold_cache(warm: Path, nowhere: Path) -> None:
    files = [path for path in warm.rglob("*") if path.is_file()]
    assert len(files) == 3
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in files)  # for other users, too
    assert python(COMPILED, **caches(warm, nowhere)).communicate() == (EPOCHS + "3\n", "")


def test_a_damaged_file_of_the_cache_is_compiled_again(warm: Path, nowhere: Path) -> None:
    cut, changed, emptied = sorted(path for path in warm.rglob("*") if path.is_file())
    cut.write_bytes(cut.read_bytes()[:-100])
    changed.write_bytes(changed.read_bytes()[:5000] + b"!" + changed.read_bytes()[5001:])
    emptied.write_bytes(b"")
    assert python(COMPILED, **caches(warm, nowhere)).communicate() == (EPOCHS + "0\n", "")
    assert python(COMPILED, **caches(warm, nowhere)).communicate() == (EPOCHS + "3\n", "")


READ_ONLY = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"')


def test_a_cache_that_cannot_be_written_is_read(warm: Path) -> None:
    inside: list[str] = []
    if os.geteuid() == 0:  # to whom a mode means nothing
        inside = [*READ_ONLY, str(warm)]
        if subprocess.run([*inside, "true"], capture_output=True).returncode:
            pytest.skip("there is no way to a folder that root cannot write")
    for path in (warm, *warm.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        one = next(path for path in warm.rglob("*") if path.is_file())
        one.chmod(0o644)
        one.write_bytes(b"damaged")
        own = warm.parent / "own"
        for hits in (2, 3):
            assert python(COMPILED, inside=inside, **caches(warm, own)).communicate() == (f"{EPOCHS}{hits}\n", "")
    finally:
        for path in (warm, *warm.rglob("*")):
            path.chmod(0o755)


def test_a_cache_that_cannot_be_written_is_done_without(nowhere: Path) -> None:
    assert python(COMPILED, **caches(nowhere, nowhere)).communicate() == (EPOCHS + "0\n", "")


def test_arrays_of_files_need_no_kernels_of_their_own(tmp_path: Path) -> None:
    rng = Random(5)
    patterns = some_patterns(rng, Vocabulary(), 20)
    trie = build_trie(patterns)
    arrays = {field.name: getattr(trie, field.name) for field in fields(trie)}
    event = some_event(rng, Vocabulary())
    found = match(trie, event, Scratch(trie)).tolist()
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = Trie(**{name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in arrays})
    fixed = {name: getattr(event, name).copy() for name in ("label_offsets", "labels", "ranks", "arcs", "resource")}
    for array in fixed.values():
        array.flags.writeable = False
    assert match(mapped, EncodedEvent(**fixed), Scratch(mapped)).tolist() == found
    assert len(match_events.signatures) == 1


def star(labels: list[list[int]], ranges: Ranges, rank: int, label: int) -> int:
    """How many nodes are looked at, of patterns that each ask labels of a vertex beside home, for an event with one."""
    trie = build_trie(encoded([([[HOME_LABEL], row], [(0, 0, 1)], True) for row in labels], ranges))
    scratch = Scratch(trie)
    event = EncodedEvent(
        np.array([0, 1, 2]),
        np.array([HOME_LABEL, label], np.int32),
        np.array([[-1, rank]], np.int32),
        np.array([[0, 0, 1]], np.int32),
        np.array([True, False]),
    )
    found = len(match(trie, event, scratch))
    assert found == len(naive(encoded([([[HOME_LABEL], row], [(0, 0, 1)], True) for row in labels], ranges), event))
    return scratch.visits - found


NOTHING = np.zeros(0, np.int32)


def test_of_many_labels_only_those_that_the_event_has_are_looked_at() -> None:
    assert star([[label] for label in range(1, 1000)], Ranges(1000, NOTHING, NOTHING, NOTHING), 0, 7) <= 3


@pytest.mark.parametrize("kind", ["equal", "at most", "at least", "between"])
def test_of_many_ranges_only_those_that_hold_are_looked_at(kind: str) -> None:
    bounds = np.arange(1000, dtype=np.int32)
    low = {"equal": 2 * bounds + 1, "at most": 0 * bounds, "at least": 2 * bounds + 1, "between": 2 * bounds + 1}[kind]
    high = {"equal": low, "at most": 2 * bounds + 1, "at least": 0 * bounds + 2000, "between": 2 * bounds + 9}[kind]
    ranges = Ranges(2, np.zeros(1000, np.int32), low.astype(np.int32), high.astype(np.int32))
    # Of ranges of about one size, as many again may be looked at as hold.
    assert star([[2 + number] for number in range(1000)], ranges, 801, 1) <= (12 if kind == "between" else 3)


def test_a_group_is_not_looked_at_when_its_home_is_not_there() -> None:
    patterns = [([[HOME_LABEL, 1 + number % 50], [1], []], [(0, 0, 1), (1, number, 2)], True) for number in range(500)]
    trie = build_trie(encoded(patterns, Ranges(60, NOTHING, NOTHING, NOTHING)))
    scratch = Scratch(trie)
    event = EncodedEvent(
        np.array([0, 2, 3]),
        np.array([HOME_LABEL, 55, 1], np.int32),
        np.zeros((0, 2), np.int32),
        np.array([[0, 0, 1]], np.int32),
        np.array([True, True]),
    )
    assert len(match(trie, event, scratch)) == 0
    assert scratch.visits <= 3
