"""Snapshots are made before a worker has to wait for one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.pipeline.world import COMPUTERS, cheaper, document, eventually, offer
from triplewire.matching.engine.index import Index
from triplewire.pipeline.snapshots import FEW, Keeper, Snapshots
from triplewire.store import Store


def test_a_keeper_has_a_snapshot_made_once_subscriptions_are_many_and_for_a_new_ontology(
    store: Store, tmp_path: Path
) -> None:
    snapshots = Snapshots(tmp_path / "index", store)
    with closing(Keeper(snapshots, store)) as keeper:
        for number in range(FEW):
            store.subscribe(cheaper(f"s{number}", number))
        keeper.look()
        assert not keeper.at_work()
        store.append([offer(1)])
        store.subscribe(cheaper("one more", 5))
        keeper.look()
        assert keeper.at_work()
        eventually(lambda: snapshots.newest(0) is not None)
        assert len(Index.open(snapshots.path(snapshots.find(0)))) == FEW + 1
        eventually(lambda: not keeper.at_work())
        store.append([offer(2)])
        store.subscribe(cheaper("yet another", 5))
        keeper.look()
        assert not keeper.at_work()
        store.put_ontology([document(COMPUTERS)])
        keeper.look()
        assert keeper.at_work()
    assert not keeper.at_work()
    assert not list(snapshots.folder.glob("1@*")), "who is closed has none made any more"
