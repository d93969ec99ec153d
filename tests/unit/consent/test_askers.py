"""askers.py, api.py: the window confirms where a desktop runs, else a passphrase, else the terminal; and what is recorded of it."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.fakes.consents import consent_in
from tests.fakes.manual_wheel import ManualWheel

from tooltray.consent.api import ConfirmationsApi
from tooltray.consent.askers import CommandAsker, Consent
from tooltray.consent.confirmations import WAIT_S
from tooltray.foundation.confirm_widening import (
    PERSON,
    NeedsPassphrase,
    asked_by,
    confirm_answer,
    confirm_reading,
    confirm_widening,
    note_narrowing,
)
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.events import ConfirmationAsked, EventBus
from tooltray.foundation.snapshots.approvals import AuditEntry

PASSPHRASE = "correct horse"


async def recorded(consent: Consent) -> list[tuple[str, str, str]]:
    return [(each.what, each.answer, each.way) for each in (await consent.trail.entries())[::-1]]


async def last(consent: Consent) -> AuditEntry:
    return (await consent.trail.entries())[0]


def at_terminal(consent: Consent) -> CommandAsker:
    return consent.command(pid=os.getpid(), is_at_terminal=True)


def with_window(folder: Path, *, answers: bool = True) -> Consent:
    """A desktop's, whose person answers at once."""
    bus = EventBus()
    consent = consent_in(folder, bus, has_window=True)
    assert consent.confirmations

    def answer(event: ConfirmationAsked) -> None:
        asyncio.get_running_loop().call_soon(consent.confirmations.answer, event.request.id, answers)  # type: ignore[union-attr]

    bus.subscribe(ConfirmationAsked, answer)
    return consent


async def test_what_a_person_does_in_the_window_is_recorded_before_it_counts(tmp_path: Path) -> None:
    consent = consent_in(tmp_path)
    with asked_by(consent.window()):
        await confirm_widening("A yes", server="s")
        await note_narrowing("A no")
        await confirm_reading("Reading")
    assert await recorded(consent) == [("A yes", "yes", "window"), ("A no", "narrowed", "window")]
    with asked_by(consent_in(tmp_path / "missing").window()), pytest.raises(TooltrayError, match="cannot be recorded"):
        await confirm_widening("A yes")


@pytest.mark.parametrize("is_at_terminal", [True, False])
async def test_where_a_desktop_runs_a_command_is_confirmed_in_its_window_and_nowhere_else(tmp_path: Path, is_at_terminal: bool) -> None:
    consent = with_window(tmp_path)
    waits: list[float] = []
    command = consent.command(pid=os.getpid(), is_at_terminal=is_at_terminal)
    command.tell = waits.append
    with asked_by(command):
        await confirm_widening("A yes", server="s")
    entry = await last(consent)
    assert (entry.answer, entry.way, entry.about) == ("yes", "window", {"server": "s"})
    assert f"({os.getpid()})" in entry.origin
    assert 100 < waits[0] <= 120
    assert not await command.has_confirmed()


async def test_a_no_in_the_window_refuses_the_command_and_is_recorded(tmp_path: Path) -> None:
    consent = with_window(tmp_path, answers=False)
    with asked_by(at_terminal(consent)):
        with pytest.raises(Denied, match="you declined it in Tooltray's window"):
            await confirm_widening("A yes")
        with pytest.raises(Denied, match="a moment ago"):
            await confirm_widening("A yes")
    assert await recorded(consent) == [("A yes", "no", "window")] * 2


async def test_nobody_at_the_window_and_a_command_that_went_are_recorded_too(tmp_path: Path) -> None:
    consent = consent_in(tmp_path, bus := EventBus(), has_window=True, wheel=(wheel := ManualWheel()))
    asked = asyncio.Event()
    bus.subscribe(ConfirmationAsked, lambda event: asked.set())

    async def command() -> None:
        with asked_by(consent.command(pid=0, is_at_terminal=True)):
            await confirm_widening("A yes")

    going = asyncio.ensure_future(command())
    await asked.wait()
    going.cancel()
    await asyncio.wait([going])
    asked.clear()
    late = asyncio.ensure_future(command())
    await asked.wait()
    wheel.expire(WAIT_S)
    with pytest.raises(Denied, match="no one answered"):
        await late
    assert await recorded(consent) == [("A yes", "gone", "window"), ("A yes", "late", "window")]


async def test_a_yes_to_what_the_window_asks_itself_is_given_there(tmp_path: Path) -> None:
    with asked_by(at_terminal(with_window(tmp_path))), pytest.raises(Denied, match="is given in Tooltray's window"):
        await confirm_answer("Allowing tool calls")


async def test_without_a_window_and_a_passphrase_the_terminal_counts(tmp_path: Path) -> None:
    consent = consent_in(tmp_path)
    script = consent.command(pid=0, is_at_terminal=False)
    with asked_by(at_terminal(consent)):
        await confirm_widening("A yes")
        await confirm_reading("Reading")
        await note_narrowing("A no")
    with asked_by(script):
        await note_narrowing("A no")
        for asked in (confirm_widening, confirm_answer, confirm_reading):
            with pytest.raises(Denied, match="needs a person at a terminal"):
                await asked("A yes")
    assert await recorded(consent) == [("A yes", "yes", "terminal"), ("A no", "narrowed", "terminal"), ("A no", "narrowed", "script")]


@pytest.mark.expected_warnings("a wrong passphrase was given")
async def test_where_a_passphrase_is_set_a_terminal_is_not_enough(tmp_path: Path) -> None:
    consent = consent_in(tmp_path)
    consent.passphrase.set(PASSPHRASE)
    command, api = at_terminal(consent), ConfirmationsApi(consent=consent)
    with asked_by(command):
        with pytest.raises(NeedsPassphrase, match="needs the passphrase"):
            await confirm_widening("A yes")
        with pytest.raises(Denied, match="not the passphrase"):
            await api.confirm_with_passphrase("wrong horse")
        with pytest.raises(NeedsPassphrase):
            await confirm_widening("A yes")
        await api.confirm_with_passphrase(PASSPHRASE)
        await confirm_widening("A yes")
        await confirm_widening("Another")
    assert await recorded(consent) == [("A yes", "yes", "passphrase"), ("Another", "yes", "passphrase")]
    with asked_by(at_terminal(consent)), pytest.raises(NeedsPassphrase):  # another connection
        await confirm_widening("A yes")


async def test_a_command_without_a_hub_asks_for_the_passphrase_itself(tmp_path: Path) -> None:
    consent = consent_in(tmp_path)
    consent.passphrase.set(PASSPHRASE)
    command = at_terminal(consent)
    command.type_passphrase = lambda: PASSPHRASE
    with asked_by(command):
        await confirm_widening("A yes")
    assert (await last(consent)).way == "passphrase"


async def test_the_first_passphrase_is_set_at_the_terminal_and_another_one_needs_it(tmp_path: Path) -> None:
    consent = consent_in(tmp_path)
    api = ConfirmationsApi(consent=consent)
    with asked_by(consent.command(pid=0, is_at_terminal=False)), pytest.raises(Denied):
        await api.set_passphrase(PASSPHRASE)
    with asked_by(at_terminal(consent)):
        with pytest.raises(Denied, match="No passphrase is set"):
            await api.confirm_with_passphrase(PASSPHRASE)
        await api.set_passphrase(PASSPHRASE)
        assert (await api.get_passphrase_state()).is_set
        for asked in (api.remove_passphrase, lambda: api.set_passphrase("another one")):
            with pytest.raises(NeedsPassphrase):
                await asked()
        await api.confirm_with_passphrase(PASSPHRASE)
        await api.set_passphrase("another one")
        with pytest.raises(NeedsPassphrase):
            await api.remove_passphrase()
        await api.confirm_with_passphrase("another one")
        await api.remove_passphrase()
    assert not (await api.get_passphrase_state()).is_set


async def test_a_window_confirms_and_not_the_passphrase_where_both_are_there(tmp_path: Path) -> None:
    consent = with_window(tmp_path)
    consent.passphrase.set(PASSPHRASE)
    with asked_by(at_terminal(consent)):
        await confirm_widening("A yes")
    assert (await last(consent)).way == "window"


async def test_the_window_alone_sees_and_answers_what_waits(tmp_path: Path) -> None:
    consent = consent_in(tmp_path, bus := EventBus(), has_window=True)
    api, asked = ConfirmationsApi(consent=consent), asyncio.Event()
    bus.subscribe(ConfirmationAsked, lambda event: asked.set())

    async def command() -> None:
        with asked_by(at_terminal(consent)):
            await confirm_widening("A yes")

    going = asyncio.ensure_future(command())
    await asked.wait()
    for other in (at_terminal(consent), PERSON):
        with asked_by(other):
            for verb in (api.get_confirmations(), api.answer_confirmation("x", True)):
                with pytest.raises(Denied, match="Only Tooltray's window"):
                    await verb
    with asked_by(consent.window()):
        await api.confirm_with_passphrase("is of no use here")
        [question] = await api.get_confirmations()
        await api.answer_confirmation(question.id, True)
    await going


async def test_where_no_hub_runs_nothing_waits_in_a_window(tmp_path: Path) -> None:
    made = consent_in(tmp_path)
    consent = Consent(trail=made.trail, passphrase=made.passphrase, known_programs=dict)
    api = ConfirmationsApi(consent=consent)
    with asked_by(consent.window()):
        assert await api.get_confirmations() == []
        await api.answer_confirmation("x", True)
