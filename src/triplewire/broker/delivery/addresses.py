"""Addresses that users have us call: only public ones, whatever a name is made to lead to.

A name is resolved, what it leads to is checked, and the connection goes to the very address that was checked. Since
that is done wherever a connection is made, it holds for redirects as well, and for names that lead elsewhere the
second time they are asked for.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeVar

import httpcore
import httpx

from triplewire.errors import UsageError
from triplewire.store.lengths import LONGEST_ADDRESS, check_length

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
Result = TypeVar("Result")

SCHEMES = {"http": 80, "https": 443}
PORTS = range(1, 1 << 16)
MOST_CONNECTIONS = 8  # to one host
MOST_HOSTS = 200  # with connections that are kept for the next time
RESOLVING = ThreadPoolExecutor(32, thread_name_prefix="resolve")
"""Threads of their own: a name server that does not answer would else keep everything waiting that needs a thread."""

NOT_PUBLIC = tuple(
    map(
        ip_network,
        """
        0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
        192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
        2001::/23 2001:db8::/32 3fff::/20
        """.split(),
    )
)
"""Private, loopback, link-local, multicast, reserved: what the registries of special addresses list."""
GLOBAL_UNICAST = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")


class ForbiddenAddress(httpcore.ConnectError):
    """A name, or an address, that leads where users have no business."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet's, also if it is an IPv4 address in the clothes of IPv6."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or _behind_nat64(address)
        if inner is not None:
            return is_public(inner)
        if address not in GLOBAL_UNICAST:
            return False
    return not any(address in network for network in NOT_PUBLIC)


def _behind_nat64(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else None


def networks(named: Iterable[str], setting: str = "") -> tuple[Network, ...]:
    """Networks by their names, such as ``127.0.0.0/8`` or ``::1``, as a setting says them."""
    try:
        return tuple(ip_network(name.strip()) for name in named)
    except ValueError as error:
        raise UsageError(f"{setting}: {error}; a network is written as 127.0.0.0/8".removeprefix(": ")) from None


async def resolve(host: str, port: int) -> list[str]:
    """The addresses that a name leads to, by the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(RESOLVING, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


@dataclass(frozen=True)
class Host:
    """Whom a URL leads to."""

    scheme: str
    name: str
    port: int


@dataclass(frozen=True)
class Place:
    """A URL in the parts that a request is made of."""

    host: Host
    authority: str
    target: bytes


@lru_cache(4096)
def place_of(url: str) -> Place:
    """Where a URL leads. To read one takes longer than all else that is done before something is sent there."""
    parsed = httpx.URL(url)
    port = parsed.port if parsed.port is not None else SCHEMES.get(parsed.scheme, 0)
    return Place(
        Host(parsed.scheme, parsed.raw_host.decode("ascii"), port), parsed.netloc.decode("ascii"), parsed.raw_path
    )


class Addresses:
    """Which addresses users may have us call: the public ones and, for development, those of ``allowed`` networks."""

    def __init__(self, allowed: Iterable[Network] = (), resolver: Resolver = resolve) -> None:
        self._allowed = tuple(allowed)
        self._resolver = resolver

    def check(self, url: str) -> None:
        """Refuse an address that we would never call, as far as that can be said without asking a name server."""
        check_length("an address", url, LONGEST_ADDRESS)
        try:
            parsed = httpx.URL(url)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise UsageError(f"{url!r} is no address: {error}") from None
        if parsed.scheme not in SCHEMES or not parsed.host:
            raise UsageError(f"{url!r} should begin with https:// or http:// and name a host")
        if parsed.port is not None and parsed.port not in PORTS:
            raise UsageError(f"there is no port {parsed.port}")
        if parsed.userinfo or parsed.fragment:
            raise UsageError("an address to call should have no user, password or fragment in it")
        if (literal := _literal(parsed.host)) is not None and not self._may_call(literal):
            raise UsageError(f"{literal} is not a public address")

    def client(self, **settings: Any) -> httpx.AsyncClient:
        """A client that connects to nothing else. It takes no proxy from the environment, which would do the asking."""
        return httpx.AsyncClient(transport=_Transport(self), trust_env=False, **settings)

    async def connected(
        self, host: str, port: int, connect: Callable[[str], Awaitable[Result]], patience: float | None
    ) -> Result:
        """What connects to the first of a name's addresses that may be called, and can be.

        A name server has so many seconds to answer.
        """
        try:
            async with asyncio.timeout(patience):
                *others, last = await self.reachable(host, port)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"no name server tells where {host} leads") from None
        for address in others:
            try:
                return await connect(address)
            except (OSError, httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await connect(last)

    async def reachable(self, host: str, port: int) -> list[str]:
        """Those of the addresses that a name leads to now that may be called."""
        if port not in PORTS:
            raise httpcore.ConnectError(f"there is no port {port}")
        literal = _literal(host)
        try:
            found = [str(literal)] if literal is not None else await self._resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name {host} leads nowhere: {error}") from error
        good = [one for one in found if (address := _literal(one)) is not None and self._may_call(address)]
        if not good:
            raise ForbiddenAddress(f"{host} leads to no public address")  # where, is not for users to find out
        return good

    def _may_call(self, address: Address) -> bool:
        return is_public(address) or any(address in network for network in self._allowed)


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


class _Transport(httpx.AsyncBaseTransport):
    """HTTP over connections that are made by ``_Connections``; names, and certificates for them, stay as they are.

    Each host has a pool of its own, as what a pool does for a request takes time by the square of its connections.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._connections = _Connections(addresses)
        self._context = ssl.create_default_context()
        self._hosts: dict[tuple[str, str, int | None], _Host] = {}  # the one that was used last comes last

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        key = request.url.scheme, request.url.host, request.url.port
        host = self._hosts.pop(key, None) or _Host(self._connections, self._context)
        self._hosts[key] = host
        response = await host.handle_async_request(request)
        await self._let_go()
        return response

    async def aclose(self) -> None:
        hosts, self._hosts = self._hosts, {}
        for host in hosts.values():
            await host.aclose()

    async def _let_go(self) -> None:
        """Close the connections to hosts that have not been called for longest, if there are too many."""
        surplus = list(self._hosts.items())[: max(len(self._hosts) - MOST_HOSTS, 0)]
        for key, host in surplus:
            if host.is_idle():
                self._hosts.pop(key, None)
                await host.aclose()


class _Host(httpx.AsyncHTTPTransport):
    """The connections to one host."""

    def __init__(self, connections: _Connections, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, trust_env=False)
        self._pool: httpcore.AsyncConnectionPool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MOST_CONNECTIONS,
            max_keepalive_connections=MOST_CONNECTIONS // 4,
            keepalive_expiry=30,
            network_backend=connections,
        )

    def is_idle(self) -> bool:
        return all(connection.is_idle() or connection.is_closed() for connection in self._pool.connections)


class _Connections(httpcore.AsyncNetworkBackend):
    """Connects to an address that was checked a moment before, and to no other."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        async def connect(address: str) -> httpcore.AsyncNetworkStream:
            return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)

        return await self._addresses.connected(host, port, connect, timeout)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
