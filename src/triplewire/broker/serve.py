"""`triplewire serve`: broker, web page and pipeline in one command."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from triplewire.broker.access.quotas import Quotas
from triplewire.broker.app import ANY_HOST, LOOPBACK, create_app, create_watch
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.circuits import Circuits
from triplewire.broker.delivery.dispatcher import Dispatcher
from triplewire.broker.delivery.mailer import Mailer
from triplewire.broker.http.connections import Connection
from triplewire.broker.notifying.words import line
from triplewire.broker.operations.logs import set_up
from triplewire.broker.operations.meters import Meters
from triplewire.broker.operations.retention import keep_trimming
from triplewire.broker.publishing.poller import Poller
from triplewire.broker.publishing.pressure import MEBIBYTE, Limits
from triplewire.broker.publishing.sample import load_sample
from triplewire.broker.supervisor import Standing, keep_running
from triplewire.configuration import Configuration
from triplewire.errors import UsageError
from triplewire.lift.lifting import load_lifting
from triplewire.store import Store, store_url

logger = logging.getLogger(__name__)

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FIRST_FEW = 20


def serve(configuration: Configuration) -> None:
    """Run the broker with its page, and the pipeline, on the data folder until interrupted.

    Where others than this machine may reach it, there has to be a user.
    """
    set_up(configuration.log, configuration.log_level)
    addresses = Addresses(networks(configuration.allow_network, "allow-network"))
    networks(configuration.trust_proxy, "trust-proxy")
    _check_public_url(configuration.public_url)
    _allow_many_connections()
    for ending in ENDING:
        signal.signal(ending, signal.default_int_handler)
    with (
        suppress(KeyboardInterrupt),
        listen(configuration.host, configuration.port) as listener,
        _watch_listener(configuration) as watch_listener,
        closing(_opened(configuration)) as store,
    ):
        _check_users(configuration, store, listener)
        if os.geteuid() == 0:
            logger.warning("running as root, which nothing here needs: let a user of its own run the broker")
        store.accept_at_once(configuration.accept_proposals)
        sample = configuration.sample
        if sample is not None and not load_sample(store, sample):
            say(f"{configuration.home} has events already, so the sample is not loaded again.")
        asyncio.run(_serve(configuration, store, listener, watch_listener, addresses))


def _check_public_url(url: str) -> None:
    parsed = urlsplit(url)
    if url and not (parsed.scheme in ("http", "https") and parsed.hostname):
        raise UsageError(f"public-url should be an address such as https://triplewire.example.org, not {url!r}")


def _check_users(configuration: Configuration, store: Store, listener: socket.socket) -> None:
    """Refuse to be there for everybody on the network while whoever comes may do everything."""
    public = configuration.public_url
    local = is_loopback(listener) and (not public or _in_address(urlsplit(public).hostname or "") in LOOPBACK)
    if not local and not store.users.any():
        raise UsageError(
            f"on {public or configuration.host} others can reach the broker, and it has no users yet; make one with "
            f"`triplewire user add NAME --admin --home {configuration.home}`, and a token for them with "
            f"`triplewire token add NAME --home {configuration.home}`"
        )


def _allow_many_connections() -> None:
    """Have as many files open as the system lets us: the usual limit is meant for others, and each client is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def say(text: str) -> None:
    """Print a line, in signs that the terminal has."""
    encoding = sys.stdout.encoding or "utf-8"
    with suppress(BrokenPipeError):
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stdout.flush()


class _Server(uvicorn.Server):
    """A server that leaves the signals to us, so that being interrupted is no error."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


def _server(app: FastAPI, patience: int, proxies: Iterable[str] = ()) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=patience,
            forwarded_allow_ips=["127.0.0.1", "::1", *proxies],
        )
    )


async def _serve(
    configuration: Configuration,
    store: Store,
    listener: socket.socket,
    watch_listener: socket.socket | None,
    addresses: Addresses,
) -> None:
    home = configuration.home
    lifting = load_lifting(home / "lifting")
    standing = Standing("starting" if configuration.pipeline == "embedded" else "elsewhere")
    hosts = hosts_of(configuration.host, listener.getsockname()[0], configuration.public_url)
    links = _links(configuration, listener)
    mailer, meters, circuits = _mailer(configuration, links), Meters(), Circuits()
    app = create_app(
        store,
        lifting,
        hosts,
        home,
        addresses,
        _limits(configuration),
        standing,
        mailer,
        meters,
        _quotas(configuration),
        watched_elsewhere=watch_listener is not None,
        circuits=circuits,
    )
    patience = configuration.shutdown_seconds
    server = _server(app, patience, configuration.trust_proxy)

    def end(ending: int) -> None:
        """Finish what is under way; streams, and waiting for a locked store, may have no end of their own."""
        app.state.shared.feed.end()
        store.leave()
        server.handle_exit(ending, None)

    for ending in ENDING:
        asyncio.get_running_loop().add_signal_handler(ending, end, ending)
    sending = Dispatcher(store, addresses, lifting, meters=meters, mailer=mailer, links=links, circuits=circuits)
    async with asyncio.TaskGroup() as group:
        background = [
            group.create_task(_tell(server, store, listener, configuration.sample is not None)),
            group.create_task(sending.run()),
            group.create_task(Poller(store, addresses, app.state.shared.publish).run()),
            group.create_task(app.state.shared.rates.keep_looking()),
            group.create_task(app.state.shared.models.keep_ready()),
            group.create_task(keep_trimming(store, configuration.keep_days, configuration.keep_size)),
        ]
        if configuration.pipeline == "embedded":
            command, where = _pipeline_command(home), {"TRIPLEWIRE_STORE": store.url}  # no password among arguments
            running = keep_running(command, home / "pipeline.log", say, standing, where)
            background.append(group.create_task(running))
        if watch_listener is not None:
            watching = _watching(app, configuration.metrics_host, watch_listener)
            group.create_task(watching.serve(sockets=[watch_listener]))
        await server.serve(sockets=[listener])
        if watch_listener is not None:
            watching.should_exit = True
        for task in background:
            task.cancel()


def _watching(app: FastAPI, host: str, listener: socket.socket) -> _Server:
    """The server of health and metrics, where they have a port of their own."""
    watch = create_watch(app, hosts_of(host, listener.getsockname()[0]))
    return _server(watch, 1)


def _pipeline_command(home: Path) -> list[str]:
    told = ["--home", str(home), "--parent", str(os.getpid())]
    return [sys.executable, "-m", "triplewire", "pipeline", "stream", *told]


def _links(configuration: Configuration, listener: socket.socket) -> str:
    """Where others reach us."""
    host, port = listener.getsockname()[:2]
    return configuration.public_url.rstrip("/") or f"http://{_in_address(host)}:{port}"


def _mailer(configuration: Configuration, links: str) -> Mailer | None:
    if configuration.smtp_host is None:
        return None
    return Mailer(
        configuration.smtp_host,
        configuration.smtp_port,
        configuration.smtp_sender,
        links,
        configuration.smtp_security,
        configuration.smtp_user,
        configuration.smtp_password,
    )


def _quotas(configuration: Configuration) -> Quotas:
    return Quotas(
        configuration.quota_subscriptions,
        configuration.quota_webhooks,
        configuration.quota_streams,
        configuration.quota_events,
        configuration.most_record,
        configuration.most_event,
    )


def _limits(configuration: Configuration) -> Limits:
    return Limits(configuration.most_waiting, configuration.most_lag, configuration.least_free * MEBIBYTE)


async def _tell(server: uvicorn.Server, store: Store, listener: socket.socket, with_sample: bool) -> None:
    """Say where the page is and, of a sample world, what it comes to."""
    while not server.started:
        await asyncio.sleep(0.05)
    host, port = listener.getsockname()[:2]
    say(f"Triplewire is at http://{_in_address(host)}:{port}/   (Ctrl-C ends it)")
    if with_sample:
        try:
            await _tell_first_notifications(store)
        except Exception as error:  # a courtesy, which the broker can do without
            say(f"✗ The first notifications cannot be shown: {error}")


async def _tell_first_notifications(store: Store) -> None:
    """Print the first notifications as they arise, until all events that are in the log by now are matched."""
    last = await asyncio.to_thread(store.last_position)
    number, told, done = 0, 0, False
    while told < FIRST_FEW and not done:
        done = await asyncio.to_thread(store.pipeline_position) >= last  # asked first, so that none is missed below
        for found in await asyncio.to_thread(store.notifications, number, FIRST_FEW - told):
            say(line(found))
            number, told = found.number, told + 1
        await asyncio.sleep(0 if done else 0.2)
    for letter in await asyncio.to_thread(store.dead_letters, 0, FIRST_FEW):
        say(f"✗ {letter.id}: {letter.reason}")


def hosts_of(host: str, bound: str, public_url: str = "") -> tuple[str, ...]:
    """What the broker may be called by, given the host that was asked for and the address that it came to.

    Where it stands behind a proxy, that is by its public name, too.
    """
    if not ipaddress.ip_address(bound).is_loopback:
        return ANY_HOST
    public = urlsplit(public_url).hostname
    return (*LOOPBACK, _in_address(host), _in_address(bound), *([_in_address(public)] if public else []))


def is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """A socket on which connections come in."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        why = "it is in use already" if error.errno == errno.EADDRINUSE else error.strerror
        raise UsageError(f"cannot listen on {host}, port {port}: {why}; choose another with PORT=… or --port") from None
    # Connections take it from here. Without it, what follows a first packet waits for the other side to confirm that
    # one, which it puts off for 40 ms. asyncio sets it only where a socket was made with the protocol's number.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _watch_listener(configuration: Configuration) -> AbstractContextManager[socket.socket | None]:
    if configuration.metrics_port is None:
        return nullcontext()
    return listen(configuration.metrics_host, configuration.metrics_port)


def _opened(configuration: Configuration) -> Store:
    home = configuration.home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # events, notifications and secrets are nobody else's
    except OSError as error:
        raise UsageError(f"the data folder {home} cannot be made: {error.strerror}") from None
    return Store(configuration.store or store_url(home))
