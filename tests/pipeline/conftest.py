"""Fixtures of the pipeline's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import new_store
from triplewire.pipeline import canonical
from triplewire.store import Store


@pytest.fixture(autouse=True)
def _kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have few events matched as many are, whether or not all kernels are compiled yet."""
    monkeypatch.setattr(canonical, "is_whole", lambda: True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    store = Store(new_store(tmp_path))
    yield store
    store.close()
