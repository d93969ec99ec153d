"""place.py: an address is opened, moved and closed as it is wanted, or there is a problem that says why not."""

import asyncio
import errno
import socket
from dataclasses import dataclass, field

import pytest
from tests.fakes.heard import Heard

from tooltray.carriers.http_server.place import HostAndPort, HttpPlace, NotBound, base_url, bind
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ProblemReported

HERE = "127.0.0.1"


@dataclass
class Answering:
    """What would answer; keeps what was asked of it."""

    wanted: str
    port: int
    done: list[str] = field(default_factory=list)
    place: socket.socket | None = None
    refuses: BaseException | None = None

    async def open(self, place: socket.socket) -> None:
        self.place = place
        if self.wanted == "has a bug":
            raise AttributeError
        self.done.append("open")

    async def stop_taking(self) -> None:
        self.done.append("stop taking")
        if self.refuses:
            raise self.refuses

    async def close(self) -> None:
        assert self.place
        self.place.close()
        self.done.append("close")


class Tenant:
    """Somebody who wants a place, by names for what is wanted."""

    def __init__(self) -> None:
        self.bus = EventBus()
        self.heard = Heard(self.bus)
        self.apps: list[Answering] = []
        self.ports = {"here": 0, "there": 0, "has a bug": 0}
        self.place: HttpPlace[str, Answering] = HttpPlace(
            address=self.address, make_app=self.make_app, cannot_open=self.cannot_open, on_leaving=self.leave, bus=self.bus
        )

    def address(self, wanted: str) -> HostAndPort:
        if wanted not in self.ports:
            raise TooltrayError("not opened", f"{wanted} is not allowed")
        return HERE, self.ports[wanted]

    async def make_app(self, wanted: str, port: int) -> Answering:
        self.apps.append(Answering(wanted, port))
        return self.apps[-1]

    def cannot_open(self, wanted: str, failed: NotBound) -> TooltrayError:
        return TooltrayError("not open", failed.reason)

    async def leave(self, app: Answering) -> None:
        app.done.append("leave")


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


async def test_what_is_wanted_is_open_until_nothing_is_wanted(tenant: Tenant) -> None:
    place = tenant.place
    assert (place.is_as(None), place.is_as("here"), place.base_url) == (True, False, "")
    await place.move("here")
    assert (place.is_as("here"), place.is_as("there"), place.app) == (True, False, tenant.apps[0])
    assert place.base_url == f"http://{HERE}:{tenant.apps[0].port}"
    await place.move(None)
    assert (place.is_as(None), place.app, place.base_url) == (True, None, "")
    assert tenant.apps[0].done == ["open", "stop taking", "leave", "close"]


async def test_another_place_is_opened_when_the_one_before_is_closed(tenant: Tenant) -> None:
    await tenant.place.move("here")
    tenant.ports["there"] = tenant.apps[0].port
    await tenant.place.move("there")
    assert tenant.apps[0].done[-1] == "close"
    assert tenant.place.app is tenant.apps[1]
    await tenant.place.close()


async def test_a_taken_port_is_told_once_and_tried_again_when_asked(tenant: Tenant) -> None:
    place = tenant.place
    with socket.create_server((HERE, 0)) as taken:
        tenant.ports["here"] = port = taken.getsockname()[1]
        await place.move("here")
    assert place.problem
    assert place.problem.message == f"another program uses port {port} of {HERE}"
    assert [event.problem for event in tenant.heard.of(ProblemReported)] == [place.problem]
    assert (place.is_as("here"), place.is_as("here", is_retry=True)) == (True, False)
    await place.move("here")
    assert (place.problem, place.app, place.is_as("here", is_retry=True)) == (None, tenant.apps[0], True)
    await place.close()


async def test_what_must_not_be_open_is_a_problem(tenant: Tenant) -> None:
    await tenant.place.move("everywhere")
    assert tenant.place.problem
    assert tenant.place.problem.message == "everywhere is not allowed"
    assert tenant.apps == []


async def test_a_bug_while_opening_leaves_no_socket(tenant: Tenant) -> None:
    with pytest.raises(AttributeError):
        await tenant.place.move("has a bug")
    assert tenant.place.app is None
    bound = tenant.apps[0].place
    assert bound
    assert bound.fileno() == -1
    assert not tenant.place.is_as("has a bug")


@pytest.mark.parametrize("failure", [asyncio.CancelledError(), AttributeError()], ids=["cancelled", "bug"])
async def test_what_is_left_is_closed_whatever_happens_on_the_way(tenant: Tenant, failure: BaseException) -> None:
    await tenant.place.move("here")
    tenant.apps[0].refuses = failure
    with pytest.raises(type(failure)):
        await tenant.place.move(None)
    assert tenant.apps[0].done == ["open", "stop taking", "close"]


async def test_what_opens_while_the_hub_ends_takes_nobody(tenant: Tenant) -> None:
    await tenant.place.stop_taking()
    await tenant.place.move("here")
    assert tenant.apps[0].done == ["open", "stop taking"]
    await tenant.place.close()


async def test_an_end_is_an_end(tenant: Tenant) -> None:
    await tenant.place.move("here")
    await tenant.place.stop_taking()
    await tenant.place.close()
    await tenant.place.close()
    assert tenant.apps[0].done == ["open", "stop taking", "stop taking", "leave", "close"]
    assert tenant.place.is_as("there")


async def test_one_who_has_nothing_to_do_before_it_closes_says_nothing() -> None:
    tenant = Tenant()
    place = HttpPlace(address=tenant.address, make_app=tenant.make_app, cannot_open=tenant.cannot_open, bus=tenant.bus)
    await place.move("here")
    await place.close()
    assert tenant.apps[0].done == ["open", "stop taking", "close"]


@pytest.mark.parametrize(
    ("host", "error", "words"),
    [
        ("192.0.2.1", OSError(errno.EADDRINUSE, "in use"), "another program uses port 80 of 192.0.2.1"),
        (None, OSError(errno.EADDRINUSE, "in use"), "another program uses port 80"),
        ("192.0.2.1", PermissionError(errno.EACCES, "Permission denied"), "you are not allowed to open port 80"),
        ("192.0.2.1", OSError(errno.EADDRNOTAVAIL, "Cannot assign"), "192.0.2.1, port 80: Cannot assign"),
        (None, OSError(errno.EADDRNOTAVAIL, "Cannot assign"), "port 80: Cannot assign"),
        ("192.0.2.1", UnicodeError("label too long"), "192.0.2.1, port 80: label too long"),
    ],
)
def test_why_an_address_cannot_be_bound_is_said_in_words(host: str | None, error: Exception, words: str) -> None:
    failed = NotBound(host, 80, error)
    assert (failed.reason, failed.number) == (words, getattr(error, "errno", None))


@pytest.mark.parametrize("host", ["", "[]", "x" * 70])
def test_a_host_that_there_cannot_be_is_not_every_host(host: str) -> None:
    with pytest.raises(NotBound):
        bind(host, 0)


@pytest.mark.parametrize("has_ipv6", [True, False])
def test_without_a_host_every_address_is_bound_that_there_is(has_ipv6: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: has_ipv6 and socket.has_ipv6)
    with bind(None, 0) as bound, socket.create_connection((HERE, bound.getsockname()[1])):
        assert not bound.getblocking()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("::1", "http://[::1]:5"),
        ("[::1]", "http://[::1]:5"),
        ("::", "http://localhost:5"),
        ("0.0.0.0", "http://localhost:5"),
        (None, "http://localhost:5"),
        ("tools.lan", "http://tools.lan:5"),
    ],
)
def test_an_address_is_told_as_clients_write_it(host: str | None, url: str) -> None:
    assert base_url(host, 5) == url
