"""Letting go of old events, now and then."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from triplewire.broker.operations.logs import tell
from triplewire.store import Store

INTERVAL = 600.0
MEBIBYTE = 1 << 20

logger = logging.getLogger(__name__)


async def keep_trimming(store: Store, days: int | None, mebibytes: int | None) -> None:
    """Keep the events of so many days, and not more of them than that, until cancelled."""
    while days is not None or mebibytes is not None:
        try:
            before = await asyncio.to_thread(store.cut_position)
            cut = await asyncio.to_thread(trim, store, days, mebibytes)
            if cut > before:
                tell(logger, logging.INFO, "old events are no longer kept", after=before, upto=cut)
        except Exception as error:  # what was not cut now is cut the next time
            logger.error("cannot trim the log: %s", error)
        await asyncio.sleep(INTERVAL)


def trim(store: Store, days: int | None, mebibytes: int | None) -> int:
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    return store.trim(before, None if mebibytes is None else mebibytes * MEBIBYTE)
