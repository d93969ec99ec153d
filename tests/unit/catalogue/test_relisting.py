"""How soon a server is listed again."""

from tooltray.catalogue.relisting import AT_ONCE, CALM_AFTER_S, FIRST_PAUSE_S, LONGEST_PAUSE_S, Relisting


def test_a_few_changes_are_followed_at_once_and_a_storm_less_and_less_often() -> None:
    relisting, now = Relisting(), 1000.0
    assert [relisting.pause_s(now) for _ in range(AT_ONCE)] == [0.0] * AT_ONCE
    pauses = []
    for _ in range(20):
        pauses.append(relisting.pause_s(now))
        now += pauses[-1]
    assert pauses[:3] == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S]
    assert pauses[-1] == LONGEST_PAUSE_S
    assert relisting.pause_s(now + CALM_AFTER_S + 1) == 0.0
