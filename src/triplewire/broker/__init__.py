"""The HTTP API, the web page, and `triplewire serve`: the one home of HTTP."""

from triplewire.broker.app import create_app

__all__ = ["create_app"]
