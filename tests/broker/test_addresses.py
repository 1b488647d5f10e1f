"""Addresses that users have us call: public ones, whatever a name is made to lead to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplewire.broker.delivery.addresses import Addresses, is_public, networks
from triplewire.errors import UsageError

OUTSIDE, INSIDE = "127.0.0.1", "127.0.0.2"
"""Two addresses of this machine: one that is allowed and stands for the open internet, and one that is not."""

SPECIAL = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/4 240.0.0.0/4
::/128 ::1/128 ::/96 fc00::/7 fe80::/10 fec0::/10 ff00::/8 64:ff9b:1::/48 100::/64 2001::/32 2001:db8::/32 5f00::/16
""".split()
within = st.sampled_from(SPECIAL).map(ip_network).flatmap(lambda network: st.ip_addresses(network=network))
near = st.sampled_from(SPECIAL).flatmap(
    lambda name: st.sampled_from([ip_network(name)[0], ip_network(name)[-1]]).flatmap(
        lambda edge: st.integers(-2, 2).map(
            lambda step: type(edge)(min(max(int(edge) + step, 0), 2**edge.max_prefixlen - 1))
        )
    )
)


@given(within)
def test_no_special_address_is_public(address: Any) -> None:
    assert not is_public(address)


@given(st.ip_addresses() | near)
def test_what_is_public_is_so_by_the_librarys_account(address: Any) -> None:
    inner = address
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or address
        if address in ip_network("64:ff9b::/96"):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if is_public(address):
        assert inner.is_global
        assert not (inner.is_multicast or inner.is_reserved or inner.is_private or inner.is_unspecified)
    elif isinstance(inner, IPv4Address) and inner not in ip_network("192.0.0.0/24"):
        assert inner in ip_network("192.88.99.0/24") or inner.is_multicast or not inner.is_global


@given(st.ip_addresses(v=4) | within.filter(lambda address: address.version == 4))
def test_an_address_is_the_same_in_the_clothes_of_ipv6(address: IPv4Address) -> None:
    plain = int(address)
    clothed = ((0xFFFF << 32) | plain, (0x2002 << 112) | (plain << 80) | 1, (0x64FF9B << 96) | plain)
    assert {is_public(IPv6Address(one)) for one in clothed} == {is_public(address)}


@asynccontextmanager
async def server(host: str, port: int = 0, answer: str = "204 No Content") -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server of a few words on an address of this machine; gives its port, and what it was sent."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(4096))
        writer.write(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        writer.close()

    async with await asyncio.start_server(serve, host, port) as listening:
        yield listening.sockets[0].getsockname()[1], heard


def answering(*turns: Sequence[str]) -> Callable[[str, int], Any]:
    """A name server that answers each time as the next turn says; the last one stays."""
    left = list(turns)

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


def guarded(*turns: Sequence[str], **settings: Any) -> httpx.AsyncClient:
    return Addresses(networks([OUTSIDE]), answering(*turns)).client(timeout=20, **settings)


def test_a_name_that_leads_elsewhere_the_second_time_is_not_followed_there() -> None:
    async def scenario() -> None:
        async with (
            server(OUTSIDE) as (port, outside),
            server(INSIDE, port) as (_, inside),
            guarded([OUTSIDE], [INSIDE]) as client,
        ):
            assert (await client.post(f"http://hook.example:{port}/")).status_code == 204
            with pytest.raises(httpx.ConnectError, match=r"^hook\.example leads to no public address$"):
                await client.post(f"http://hook.example:{port}/")
        assert len(outside) == 1
        assert b"Host: hook.example" in outside[0]
        assert inside == []

    asyncio.run(scenario())


def test_of_several_addresses_only_those_that_are_allowed_are_called() -> None:
    async def scenario() -> None:
        async with server(OUTSIDE) as (port, outside), server(INSIDE, port) as (_, inside):
            async with guarded([INSIDE, OUTSIDE, "::ffff:127.0.0.2"]) as client:
                assert (await client.get(f"http://hook.example:{port}/")).status_code == 204
            assert (len(outside), inside) == (1, [])

    asyncio.run(scenario())


@pytest.mark.parametrize("target", [f"http://{INSIDE}", "http://inside.example", "http://[::ffff:127.0.0.2]"])
def test_a_redirect_is_checked_like_the_first_address(target: str) -> None:
    async def scenario() -> None:
        async with server(INSIDE) as (port, inside):
            moved = f"307 Temporary Redirect\r\nLocation: {target}:{port}/"
            async with (
                server(OUTSIDE, answer=moved) as (first, outside),
                guarded([OUTSIDE], [INSIDE], follow_redirects=True) as client,
            ):
                with pytest.raises(httpx.ConnectError, match="no public address"):
                    await client.post(f"http://hook.example:{first}/")
        assert (len(outside), inside) == (1, [])

    asyncio.run(scenario())


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:7f00:1]", "0"])
def test_this_machine_is_not_called_by_any_name_for_it(host: str) -> None:
    async def scenario() -> None:
        async with server(OUTSIDE) as (port, heard), Addresses().client(timeout=20) as client:
            with pytest.raises((httpx.ConnectError, httpx.InvalidURL)):
                await client.get(f"http://{host}:{port}/")
            assert heard == []

    asyncio.run(scenario())


def test_a_certificate_is_asked_for_by_the_name_and_not_by_the_address() -> None:
    async def scenario() -> None:
        async with server(OUTSIDE) as (port, heard), guarded([OUTSIDE]) as client:
            with suppress(httpx.TransportError):
                await client.get(f"https://hook.example:{port}/")
            assert b"hook.example" in heard[0]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "https://",
        "a.example",
        "https://me:it@a.example/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://a.example:0/",
        "",
    ],
)
def test_an_address_that_is_never_called_is_refused_beforehand(url: str) -> None:
    with pytest.raises(UsageError):
        Addresses().check(url)


def test_allowed_networks_are_called_and_others_stay_closed() -> None:
    addresses = Addresses(networks(["127.0.0.0/8", "::1"]))
    for url in ("http://127.0.0.1:8080/hook", "http://[::1]/", "https://a.example/"):
        addresses.check(url)
    with pytest.raises(UsageError, match="not a public address"):
        addresses.check("http://10.0.0.1/")
    with pytest.raises(UsageError, match=r"127\.0\.0\.0/8"):
        networks(["127.0.0.1/8"])
    assert not is_public(ip_address("127.0.0.1"))
