"""passphrase.py: a slow hash in one file, few tries, and waits that a restart does not shorten."""

import json
import os
from pathlib import Path

import pytest

from tooltray.consent.passphrase import FIRST_WAIT_S, FREE_TRIES, LONGEST, LONGEST_WAIT_S, Passphrase
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.snapshots.approvals import PassphraseState

RIGHT = "correct horse"


class Clock:
    now = 1000.0


def made(folder: Path, clock: type[Clock] = Clock) -> Passphrase:
    return Passphrase(folder / "passphrase.json", lambda: clock.now, cost=2)


def test_what_was_set_is_known_and_the_file_does_not_say_it(tmp_path: Path) -> None:
    here = made(tmp_path)
    assert here.state() == PassphraseState(False, FREE_TRIES)
    here.set(RIGHT)
    first = here.check(RIGHT)
    assert first == here.mark()
    here.set(RIGHT)
    assert here.mark() != first  # another one, even if it is the same
    assert here.state() == PassphraseState(True, FREE_TRIES)
    file = tmp_path / "passphrase.json"
    assert RIGHT.encode() not in file.read_bytes()
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    here.remove()
    here.remove()
    assert not here.is_set


@pytest.mark.expected_warnings("a wrong passphrase was given")
def test_wrong_ones_cost_tries_and_then_wait_longer_each_time_also_after_a_restart(tmp_path: Path) -> None:
    class Now(Clock):
        pass

    made(tmp_path, Now).set(RIGHT)
    for left in range(FREE_TRIES - 1, 0, -1):
        with pytest.raises(Denied, match=f"{left} more tries" if left > 1 else "1 more try before"):
            made(tmp_path, Now).check("wrong one")
    with pytest.raises(Denied, match="the next try has to wait"):
        made(tmp_path, Now).check("x" * (LONGEST + 1))
    with pytest.raises(Denied, match="Too many wrong passphrases"):
        made(tmp_path, Now).check(RIGHT)
    assert made(tmp_path, Now).state() == PassphraseState(True, 0, FIRST_WAIT_S)
    Now.now += FIRST_WAIT_S
    with pytest.raises(Denied, match="not the passphrase"):
        made(tmp_path, Now).check("wrong one")
    assert made(tmp_path, Now).state().waits_s == 2 * FIRST_WAIT_S
    Now.now -= 10**6  # a clock that was set back
    assert made(tmp_path, Now).state().waits_s == LONGEST_WAIT_S
    Now.now += 2 * 10**6
    made(tmp_path, Now).check(RIGHT)
    assert made(tmp_path, Now).state() == PassphraseState(True, FREE_TRIES)


@pytest.mark.parametrize("text", ["short", "x" * (LONGEST + 1)])
def test_one_that_is_too_short_or_too_long_is_not_set(tmp_path: Path, text: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be used"):
        made(tmp_path).set(text)
    assert not made(tmp_path).is_set


@pytest.mark.parametrize(
    "content",
    [
        *("", "{}", '{"salt": "zz", "hash": "00"}', '{"salt": "00", "hash": "00", "cost": 3}'),
        *('{"salt": "00", "hash": "00", "cost": 1}', '{"salt": "00", "hash": "00", "cost": 6}'),
        *('{"salt": "00", "hash": "00", "cost": 1073741824}', '{"salt": "00", "hash": "\\ud800", "cost": 4}'),
        *('{"salt": "00", "hash": "00", "cost": 4, "wrong": -1000}', '{"salt": "00", "hash": "00", "cost": 4, "notBefore": NaN}'),
        *('{"salt": "00", "hash": "00", "cost": 4, "version": 2}',),
    ],
)
def test_a_damaged_file_opens_nothing_and_is_no_missing_one(tmp_path: Path, content: str) -> None:
    (tmp_path / "passphrase.json").write_text(content)
    here = made(tmp_path)
    assert here.is_set
    for asked in (lambda: here.check(RIGHT), here.state):
        with pytest.raises(TooltrayError, match="The passphrase cannot be used"):
            asked()


def test_a_place_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "passphrase.json").mkdir()
    here = made(tmp_path)
    for asked in (here.remove, here.state, lambda: here.set(RIGHT)):
        with pytest.raises(TooltrayError, match="cannot be used"):
            asked()


def test_a_hash_says_with_which_cost_it_was_made(tmp_path: Path) -> None:
    made(tmp_path).set(RIGHT)
    assert json.loads((tmp_path / "passphrase.json").read_text())["cost"] == 2
    Passphrase(tmp_path / "passphrase.json").check(RIGHT)
