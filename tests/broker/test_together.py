"""What is done together is done in turn, for everybody, and a failure is only its own."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from triplewire.broker.together import Together


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2))), st.integers(1, 5))
def test_lower_ranks_go_first_in_groups_and_an_error_is_its_items_own(items: list[tuple[int, int]], most: int) -> None:
    groups: list[list[tuple[int, int]]] = []

    def root(group: list[tuple[int, int]]) -> list[float | Exception]:
        groups.append(group)
        return [number**0.5 if number >= 0 else ValueError(number) for number, _ in group]

    async def scenario() -> list[float | BaseException]:
        roots = Together(root, most)
        return await asyncio.gather(*(roots.done(one, one[1]) for one in items), return_exceptions=True)

    results = asyncio.run(scenario())
    assert [one for group in groups for one in group] == sorted(items, key=lambda one: one[1])
    assert all(len(group) == most for group in groups[:-1])
    for (number, _), result in zip(items, results, strict=True):
        assert isinstance(result, ValueError) if number < 0 else result == number**0.5
