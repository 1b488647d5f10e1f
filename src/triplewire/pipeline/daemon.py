"""Spark's daemon for Python workers, with our modules loaded before it forks: a worker is ready at once."""

from __future__ import annotations

import gc

import pandas  # noqa: F401 (the exchange of record batches needs it)
from pyspark import daemon, worker  # noqa: F401 (the worker's module is loaded after the fork otherwise)

from triplewire.pipeline import batch, stage  # noqa: F401 (what workers run)

if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # the collector runs after every task: spare it what was loaded here
    daemon.manager()
