"""What the routes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from triplewire.broker.feed import Feed
from triplewire.broker.model import Models
from triplewire.broker.publisher import Publisher
from triplewire.lift.lifting import Lifting
from triplewire.store import Store


@dataclass(frozen=True)
class State:
    """The store, and what stands between it and the routes."""

    store: Store
    publisher: Publisher
    feed: Feed
    models: Models
    lifting: Lifting

    @classmethod
    def over(cls, store: Store, lifting: Lifting) -> State:
        return cls(store, Publisher(store), Feed(store), Models(store), lifting)


def _shared(request: Request) -> State:
    state: State = request.app.state.shared
    return state


Shared = Annotated[State, Depends(_shared)]
