"""Spark's daemon for Python workers, without its tracebacks when Spark lets idle workers go after a minute."""

from __future__ import annotations

from socket import socket

from pyspark import daemon

work = daemon.worker


def manage() -> None:
    """Fork workers as Spark asks for them, until it ends."""
    daemon.worker = work_quietly
    daemon.manager()


def work_quietly(sock: socket, authenticated: bool) -> int:
    """Be a worker until Spark closes the connection, which is no reason for a traceback."""
    try:
        return work(sock, authenticated)
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    manage()
