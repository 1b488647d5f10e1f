"""Subscriptions survive being written down."""

from hypothesis import given, settings

from tests.worlds import worlds
from triplewire.subscriptions.serial import from_json, to_json


@settings(max_examples=160, deadline=None)
@given(worlds())
def test_a_subscription_read_back_is_the_same(world):
    assert from_json(to_json(world.subscription)) == world.subscription
