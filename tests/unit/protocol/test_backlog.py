"""What a peer has asked for and what was not begun yet."""

from msgspec import Raw

from tooltray.protocol.backlog import MAX_BYTES, Backlog
from tooltray.protocol.envelope import Envelope


def asked(id: int, size: int = 0) -> Envelope:
    return Envelope(id=Raw(b"%d" % id), method="m", params=Raw(b"[%b]" % (b" " * size)))


def test_what_does_not_fit_is_refused_and_a_large_one_passes_alone() -> None:
    backlog = Backlog()
    assert backlog.add(asked(1, MAX_BYTES))
    assert not backlog.add(asked(2))
    backlog.next()
    assert backlog.add(asked(2))
    assert not backlog.add(asked(3, MAX_BYTES))
    assert [bytes(each.id) for each in backlog.waiting] == [b"2"]


def test_what_is_taken_out_leaves_room() -> None:
    backlog = Backlog()
    for id in range(3):
        assert backlog.add(asked(id, MAX_BYTES // 4))
    assert not backlog.add(asked(3, MAX_BYTES // 3))
    assert backlog.remove(b"1")
    assert not backlog.remove(b"1")
    assert backlog.add(asked(3, MAX_BYTES // 3))
    backlog.clear()
    assert backlog.add(asked(4))
    assert backlog.add(asked(5, MAX_BYTES // 2))
