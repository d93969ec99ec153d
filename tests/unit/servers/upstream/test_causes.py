"""Why a server is started or stopped."""

from tooltray.servers.upstream.causes import CLIENT, HUB, PERSON, Cause, cause, caused_by


def test_the_innermost_reason_counts_and_without_one_it_is_the_hub() -> None:
    assert cause() == Cause(HUB)
    with caused_by(PERSON, "tooltray"):
        with caused_by(CLIENT, "Cursor"):
            assert cause() == Cause("client", "Cursor")
        assert cause() == Cause("person", "tooltray")
    assert cause() == Cause(HUB)
