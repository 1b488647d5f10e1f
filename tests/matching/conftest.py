"""Until the trie is there, the plain oracle stands in for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.matching.engine.naive import naive
from triplewire.matching.engine import trie


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(trie, "build_trie", lambda patterns: patterns)
    monkeypatch.setattr(trie, "Scratch", lambda _trie: SimpleNamespace(visits=0))
    monkeypatch.setattr(trie, "match", lambda patterns, event, _scratch: np.array(naive(patterns, event), np.uint32))
    monkeypatch.setattr(trie, "expand", lambda _trie, groups: groups)
