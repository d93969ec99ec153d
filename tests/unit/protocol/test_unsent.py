"""Bytes that wait for peers that do not read, of one and of all."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_transport import FakeTransport

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.unsent import (
    HUB_BYTES,
    LOOKED_AT_EVERY_S,
    PEER_BYTES,
    READS_BYTES,
    RESUMED_BELOW_BYTES,
    SERVERS_BYTES,
    SLICE_BYTES,
    AllUnsent,
    Outbox,
    Unsent,
)


class Servers:
    """A connection to a server, which is read or not."""

    def __init__(self, unsent: AllUnsent) -> None:
        self.told: list[str] = []
        self.unfollow = unsent.follow(self.pause, self.resume)

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")


class Client:
    """An AI client whose queue is emptied when its connection is cut."""

    def __init__(self, unsent: AllUnsent, waiting: int = 0) -> None:
        self.unsent = unsent.of(is_server=False)
        self.unsent.ends.add(self.cut)
        self.is_cut = False
        self.unsent.add(waiting)

    def cut(self) -> None:
        self.is_cut = True
        self.unsent.hold(0)


def full_with(*sizes: int) -> tuple[AllUnsent, list[Client]]:
    unsent = AllUnsent()
    return unsent, [Client(unsent, size) for size in sizes]


async def looks(count: int, before_each: Callable[[], object] = lambda: None) -> None:
    for _ in range(count):
        before_each()
        await asyncio.sleep(LOOKED_AT_EVERY_S)
    await asyncio.sleep(0)


def test_a_message_beyond_the_bound_passes_where_nothing_waits_and_nothing_fits_behind_it() -> None:
    peer = AllUnsent().of(is_server=False)
    assert peer.has_room(3 * PEER_BYTES)
    peer.add(3 * PEER_BYTES)
    assert not peer.has_room(1)
    peer.take(3 * PEER_BYTES - 100)
    assert peer.has_room(PEER_BYTES - 100)
    assert not peer.has_room(PEER_BYTES - 99)


def test_what_waits_for_servers_leaves_room_for_what_waits_for_clients() -> None:
    unsent = AllUnsent()
    servers: list[Unsent] = [unsent.of(is_server=True) for _ in range(3)]
    servers[0].add(PEER_BYTES)
    servers[1].add(SERVERS_BYTES - PEER_BYTES)
    assert not servers[2].has_room(1)
    assert unsent.of(is_server=False).has_room(1)
    servers[0].hold(0)
    assert servers[2].has_room(PEER_BYTES)


@in_fake_time
async def test_servers_are_not_read_while_all_queues_together_are_full() -> None:
    unsent, clients = full_with(HUB_BYTES)
    servers = Servers(unsent)
    assert servers.told == []
    clients[0].unsent.add(1)
    late = Servers(unsent)
    assert (servers.told, late.told, unsent.is_full) == (["pause"], ["pause"], True)
    waiting = TaskKeeper().spawn(unsent.room(), name="room")
    await asyncio.sleep(0)
    clients[0].unsent.take(HUB_BYTES - RESUMED_BELOW_BYTES + 1)
    assert unsent.is_full
    clients[0].unsent.take(1)
    await waiting
    assert (servers.told, late.told, unsent.is_full) == (["pause", "resume"], ["pause", "resume"], False)
    servers.unfollow()
    clients[0].unsent.add(HUB_BYTES)
    assert servers.told == ["pause", "resume"]
    clients[0].unsent.hold(0)
    await unsent.room()


@in_fake_time
async def test_of_clients_that_do_not_read_the_fullest_are_cut_off_until_there_is_room() -> None:
    unsent, clients = full_with(HUB_BYTES // 2, HUB_BYTES // 3, HUB_BYTES // 3, 10)
    await looks(1)
    assert [client.is_cut for client in clients] == [True, False, False, False]
    assert not unsent.is_full


@in_fake_time
async def test_a_client_that_reads_is_left_alone_while_another_one_does_not() -> None:
    _unsent, (reads, stands) = full_with(HUB_BYTES * 2 // 3, HUB_BYTES // 2)
    await looks(1, lambda: reads.unsent.take(READS_BYTES))
    assert (reads.is_cut, stands.is_cut) == (False, True)


@in_fake_time
async def test_where_all_read_but_slowly_the_fullest_is_cut_off_at_the_second_look() -> None:
    unsent, clients = full_with(HUB_BYTES * 2 // 3, HUB_BYTES // 2)

    def read_a_little() -> None:
        for client in clients:
            client.unsent.take(READS_BYTES)

    await looks(1, read_a_little)
    assert [client.is_cut for client in clients] == [False, False]
    await looks(1, read_a_little)
    assert [client.is_cut for client in clients] == [True, False]
    assert not unsent.is_full


@in_fake_time
async def test_what_nobody_can_cut_off_is_waited_for() -> None:
    unsent = AllUnsent()
    peer = unsent.of(is_server=False)
    peer.add(HUB_BYTES + 1)
    await looks(3)
    assert unsent.is_full
    peer.hold(0)
    assert not unsent.is_full


def make_outbox() -> tuple[Outbox, FakeTransport]:
    transport = FakeTransport()
    return Outbox(transport), transport


def test_a_small_write_leaves_at_once() -> None:
    outbox, transport = make_outbox()
    outbox.write(b"abc")
    assert transport.writes == [b"abc"]


def test_a_large_write_leaves_in_slices_and_stops_when_the_peer_is_slow() -> None:
    outbox, transport = make_outbox()
    data = bytes(range(256)) * (SLICE_BYTES // 100)
    transport.after_write = outbox.pause
    outbox.write(data)
    assert transport.writes == [data[:SLICE_BYTES]]
    outbox.resume()
    assert transport.writes[1] == data[SLICE_BYTES : 2 * SLICE_BYTES]
    transport.after_write = None
    outbox.resume()
    assert transport.written == data
    assert max(map(len, transport.writes)) == SLICE_BYTES


def test_what_waits_is_counted_until_it_has_left_or_nobody_reads_it() -> None:
    outbox, transport = make_outbox()
    unsent = AllUnsent().of(is_server=False)
    outbox.count_for(unsent)
    outbox.write(b"at once")
    assert unsent.bytes == 0
    transport.after_write = outbox.pause
    outbox.write(bytes(2 * SLICE_BYTES + 5))
    outbox.write(b"behind")
    assert unsent.bytes == SLICE_BYTES + 5 + 6
    outbox.resume()
    assert unsent.bytes == 5 + 6
    outbox.discard()
    assert unsent.bytes == 0


def test_a_transport_that_is_ending_takes_nothing_any_more() -> None:
    outbox, transport = make_outbox()
    assert not outbox.is_broken
    transport.close()
    assert outbox.is_broken


def test_nothing_overtakes_what_waits() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"a" * (SLICE_BYTES + 1))
    outbox.write(b"b")
    assert transport.writes == []
    outbox.resume()
    assert transport.written == b"a" * (SLICE_BYTES + 1) + b"b"


def test_closing_waits_until_everything_has_left() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"last words")
    outbox.close()
    assert not transport.is_closing()
    outbox.resume()
    assert (transport.written, transport.is_closing()) == (b"last words", True)


def test_closing_is_immediate_when_nothing_waits() -> None:
    outbox, transport = make_outbox()
    outbox.write(b"x")
    outbox.close()
    assert transport.is_closing()


def test_what_a_lost_peer_has_not_read_is_let_go() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"x" * SLICE_BYTES)
    outbox.discard()
    outbox.resume()
    assert transport.writes == []


@given(
    st.lists(
        st.one_of(st.binary(min_size=1, max_size=20), st.integers(SLICE_BYTES - 1, 3 * SLICE_BYTES).map(bytes), st.booleans()), max_size=12
    )
)
def test_bytes_keep_their_order_however_the_peer_reads(steps: list[bytes | bool]) -> None:
    outbox, transport = make_outbox()
    for step in steps:
        if step is True:
            outbox.pause()
        elif step is False:
            outbox.resume()
        else:
            outbox.write(step)
    outbox.resume()
    assert transport.written == b"".join(step for step in steps if isinstance(step, bytes))


def test_the_fake_is_what_asyncio_expects() -> None:
    assert isinstance(FakeTransport(), asyncio.WriteTransport)
