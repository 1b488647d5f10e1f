"""Folders of indexes: damaged and foreign ones are refused by name, killed writers lose nothing, readers share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from tests.worlds import graph, model, subscription
from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError, UsageError
from triplewire.matching import BruteForce
from triplewire.matching.engine import files, folder
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event

ROOT = Path(__file__).parents[3]


def world(seed: int, count: int = 60):
    rng = Random(seed)
    return model(rng), [subscription(rng, f"s{number}") for number in range(count)]


def events(seed: int, count: int = 5):
    rng = Random(seed)
    return [Event("source", f"event {number}", graph(rng, 12)) for number in range(count)]


def told(matcher, seed: int = 7):
    return [matcher.match(event, bindings=True) for event in events(seed)]


def brute(model_, subscriptions):
    matcher = BruteForce(model_)
    for one in subscriptions:
        matcher.add(one)
    return matcher


@pytest.fixture
def saved(tmp_path):
    """A folder with a version and a change in its journal."""
    model_, subscriptions = world(1)
    index = Index.build(subscriptions[:50], model_)
    index.save(tmp_path / "index")
    index.add_all(subscriptions[50:])
    index.close()
    return tmp_path / "index"


def files_of(path: Path) -> list[Path]:
    return [one for one in sorted(path.rglob("*")) if one.is_file() and one.name != "LOCK"]


def test_an_index_opened_again_matches_as_before(saved):
    model_, subscriptions = world(1)
    assert told(Index.open(saved)) == told(brute(model_, subscriptions))
    assert told(Index.open(saved, model_)) == told(Index.open(saved))


@pytest.mark.parametrize("small", [True, False], ids=["checked at once", "checked on use"])
@pytest.mark.parametrize("spoil", ["cut short", "one bit", "gone"])
def test_a_damaged_file_is_refused_by_name(saved, spoil, small, monkeypatch):
    monkeypatch.setattr(files, "SMALL", 1 << 30 if small else 0)
    names = [str(path.relative_to(saved)) for path in files_of(saved)]
    assert len(names) == 7
    for name in names:
        spoilt = saved.parent / "spoilt"
        shutil.copytree(saved, spoilt)
        content = (spoilt / name).read_bytes()
        if spoil == "gone":
            (spoilt / name).unlink()
        else:
            half = len(content) // 2
            changed = content[:half] + (
                b"" if spoil == "cut short" else bytes([content[half] ^ 1]) + content[half + 1 :]
            )
            (spoilt / name).write_bytes(changed)
        if spoil == "cut short" and name.endswith(".journal"):
            Index.open(spoilt)  # as if its writer had been killed
        else:
            with pytest.raises(IndexFolderError, match=Path(name).name):
                use_all_of(spoilt)
        shutil.rmtree(spoilt)


def use_all_of(path: Path) -> None:
    index = Index.open(path)
    told(index)
    for segment in index._now().segments:
        for number in range(len(segment)):
            assert segment.records[number].id == segment.id_of(number)
    index.merge()


def test_a_folder_of_something_else_is_refused_by_name(tmp_path):
    with pytest.raises(IndexFolderError, match="holds no index"):
        Index.open(tmp_path)
    with pytest.raises(IndexFolderError, match="holds no index"):
        Index.open(tmp_path / "nowhere")
    (tmp_path / "CURRENT").write_text("../../elsewhere\n")
    with pytest.raises(IndexFolderError, match="CURRENT is damaged"):
        Index.open(tmp_path)


def test_another_format_is_refused_by_name(saved):
    header = next(saved.rglob("header.json"))
    said = json.loads(header.read_text().splitlines()[0]) | {"format": files.FORMAT - 1}
    text = json.dumps(said).encode()
    header.write_bytes(b"%s\n%08x\n" % (text, crc32(text)))
    with pytest.raises(IndexFolderError, match=f"format {files.FORMAT - 1}; this Triplewire reads {files.FORMAT}"):
        Index.open(saved)


def test_another_ontology_is_refused(saved):
    with pytest.raises(IndexFolderError, match="another ontology"):
        Index.open(saved, ConceptModel(typing="rdfs"))


def test_one_index_writes_and_others_read(saved):
    first, second = Index.open(saved), Index.open(saved)
    before = told(second)
    first.remove("s1")
    with pytest.raises(UsageError, match="is being written by another"):
        second.remove("s2")
    first.close()
    with pytest.raises(UsageError, match="has changed since it was opened"):
        second.remove("s2")
    assert told(second) == before
    assert len(Index.open(saved)) == len(second) - 1


def test_a_reader_goes_on_with_its_version_while_others_replace_it(saved):
    reader, writer = Index.open(saved), Index.open(saved)
    before = told(reader)
    for number in range(5):
        writer.remove(f"s{number}")
        writer.merge()
    assert told(reader) == before
    writer.close()
    assert len(Index.open(saved)) == len(reader) - 5
    assert sum(path.is_dir() for path in saved.iterdir()) == folder._KEPT


DYING = """
import os, shutil, sys
from pathlib import Path
from tests.matching.engine.test_folder import world
from triplewire.matching.engine.index import Index

STEPS = ("open", "os.mkdir", "os.rename", "os.truncate", "os.remove", "os.rmdir")
saved = Path(sys.argv[1])
model, more = world(2, 5)
Index.build(more, model).merge()  # so that what is compiled is there before the forks

def work(place, when):
    uses = 0
    def watch(step, arguments):
        nonlocal uses
        if step in STEPS and str(place) in str(arguments):
            uses += 1
            if uses == when:
                os.kill(os.getpid(), 9)
    index = Index.open(place)
    index.remove("s0")
    index.add_all(more)
    sys.addaudithook(watch)
    index.merge()

for when in range(1, 100):
    place = saved.parent / f"dying-{when}"
    shutil.copytree(saved, place)
    child = os.fork()
    if not child:
        work(place, when)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status == 0:
        break
    assert os.WTERMSIG(status) == 9
"""


def test_a_writer_killed_at_any_step_loses_nothing(saved):
    """The writer is killed at its first, second, third, … use of a file, until it is through."""
    model_, subscriptions = world(1)
    expected = brute(model_, subscriptions)
    expected.remove("s0")
    for one in world(2, 5)[1]:
        expected.add(one)
    matches = told(expected)
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run([sys.executable, "-c", DYING, str(saved)], env=environment, check=True)
    places = list(saved.parent.glob("dying-*"))
    assert len(places) > 12
    for place in places:
        survivor = Index.open(place)
        assert told(survivor) == matches
        survivor.merge()
        assert told(Index.open(place)) == matches
        assert not list(place.glob("unfinished*"))
        survivor.close()
