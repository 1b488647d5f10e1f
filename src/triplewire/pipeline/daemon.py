"""Spark's daemon for Python workers, with our modules and kernels loaded before it forks: a worker is ready at once."""

from __future__ import annotations

import gc
from socket import socket

import pandas  # noqa: F401 (the exchange of record batches needs it)
from pyspark import daemon, worker  # noqa: F401 (the worker's module is loaded after the fork otherwise)

from triplewire.matching.engine.kernels.cache import is_whole
from triplewire.matching.engine.warmup import warm
from triplewire.pipeline import batch, stream  # noqa: F401 (what workers run)

work = daemon.worker


def work_quietly(sock: socket, authenticated: bool) -> int:
    """Be a worker until Spark, which lets idle workers go, closes the connection: no reason for a traceback."""
    try:
        return work(sock, authenticated)
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    if is_whole():  # to compile them takes a minute, for which the first events need not wait
        warm()
    gc.collect()
    gc.freeze()  # the collector runs after every task: spare it what was loaded here
    daemon.worker = work_quietly
    daemon.manager()
