"""Spark's daemon for Python workers, with our modules and kernels loaded before it forks: a worker is ready at once."""

from __future__ import annotations

import gc
import logging

import pandas  # noqa: F401 (the exchange of record batches needs it)
from pyspark import worker  # noqa: F401 (it is loaded after the fork otherwise)

from triplewire.matching.engine.kernels.cache import is_whole
from triplewire.matching.engine.warmup import warm
from triplewire.pipeline import batch, quiet, stream  # noqa: F401 (what workers run)
from triplewire.pipeline.session import LOG_LINE

if __name__ == "__main__":
    logging.basicConfig(format=LOG_LINE)
    if is_whole():  # to compile them takes a minute, for which the first events need not wait
        warm()
    gc.collect()
    gc.freeze()  # the collector runs after every task: spare it what was loaded here
    quiet.manage()
