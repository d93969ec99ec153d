"""secrets.py, vaults.py"""

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from tests.fakes.heard import Record
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets import secrets
from tooltray.config.secrets.keyring_vault import CHOOSE, NO_SERVICE
from tooltray.config.secrets.secrets import SecretStore, SecretWorker, take_passphrase
from tooltray.config.secrets.vaults import (
    PASSPHRASE_VARIABLE,
    MemoryVault,
    SecretMissing,
    SecretsAbsent,
    SecretsDenied,
    SecretsLocked,
    missing,
)
from tooltray.foundation.errors import SECRETS_UNREACHABLE, Conflict, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus, KeyringAwaited
from tooltray.foundation.home.home import Home


def test_what_was_stored_is_there_until_it_is_removed() -> None:
    vault = MemoryVault()
    vault.set("b", "1")
    vault.set("a", "2")
    vault.set("b", "3")
    assert (vault.get("b"), vault.names()) == ("3", ["a", "b"])
    assert vault.remove("b")
    assert not vault.remove("b")
    assert (vault.get("b"), vault.names()) == (None, ["a"])


def test_there_is_nothing_to_unlock_and_no_value_in_its_repr() -> None:
    vault = MemoryVault()
    vault.unlock("anything")
    vault.set("a", "hunter2")
    assert "hunter2" not in repr(vault)


def test_a_missing_secret_says_who_needs_it_and_how_to_store_it() -> None:
    error = missing("my files/KEY", "server 'files' needs it in env.KEY")
    assert isinstance(error, SecretMissing)
    assert error.problem == Problem(
        "Secret 'my files/KEY' not found",
        "server 'files' needs it in env.KEY",
        "Store it: tooltray secrets set 'my files/KEY'",
        "secret_missing",
    )


@pytest.mark.parametrize("kind", [SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked])
def test_each_kind_is_caught_alone_and_together(kind: type[TooltrayError]) -> None:
    others = {SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked} - {kind}
    assert issubclass(kind, TooltrayError)
    assert not any(issubclass(kind, other) for other in others)


PASSPHRASE = "correct horse"
VALUES = {"files/KEY": "hunter2-hunter2", "plain": "swordfish-swordfish"}
Kind = Literal["keyring", "file", "memory"]
KINDS: tuple[Kind, ...] = ("keyring", "file", "memory")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.prepare()
    return home


@pytest.fixture
async def store(home: Home, fake_keyring: FakeKeyring) -> AsyncIterator[SecretStore]:
    store = SecretStore(home, passphrase=PASSPHRASE, open_keyring=lambda: fake_keyring)
    yield store
    fake_keyring.prompt.set()
    await store.close()


def contents(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.root.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", KINDS)
async def test_every_backend_keeps_lists_and_forgets(store: SecretStore, kind: Kind) -> None:
    store.use(kind)
    for name, value in VALUES.items():
        await store.set(name, value)
    assert await store.names() == ["files/KEY", "plain"]
    assert {name: await store.get(name) for name in VALUES} == VALUES
    await store.remove("plain")
    assert await store.names() == ["files/KEY"]
    for call in (store.get("plain"), store.remove("plain")):
        with pytest.raises(SecretMissing, match="Secret 'plain' not found") as caught:
            await call
        assert caught.value.problem.hint == "Store it: tooltray secrets set plain"


@pytest.mark.parametrize("kind", KINDS)
async def test_no_value_shows_in_a_file_an_error_a_log_or_a_repr(
    store: SecretStore, home: Home, fake_keyring: FakeKeyring, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store.use(kind)
    for name, value in VALUES.items():
        await store.set(name, value)
    fake_keyring.error = ValueError(f"refused {VALUES['plain']}")
    shown = repr(store)
    try:
        await store.set("plain", VALUES["plain"])
    except TooltrayError as error:
        shown += repr(error) + str(error) + repr(error.problem) + repr(error.__cause__)
    for value in VALUES.values():
        assert value not in shown
        assert value not in caplog.text
        assert value.encode() not in contents(home)


async def test_nobody_chose_means_the_keyring_and_never_something_else(home: Home) -> None:
    def no_keyring() -> FakeKeyring:
        raise SecretsAbsent("No keyring found")

    store = SecretStore(home, passphrase=PASSPHRASE, open_keyring=no_keyring)
    assert store.kind == "keyring"
    with pytest.raises(SecretsAbsent):
        await store.set("a", "hunter2")
    assert contents(home) == b""
    await store.close()


async def test_changing_the_backend_moves_nothing(store: SecretStore) -> None:
    store.use("memory")
    await store.set("a", "1")
    store.use("keyring")
    assert await store.names() == []
    store.use("memory")
    assert await store.get("a") == "1"


async def test_all_keyring_calls_run_on_one_thread_that_is_not_the_loops(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    await asyncio.gather(*(store.set(f"s{number}", "x") for number in range(10)), store.names())
    await store.get("s1")
    assert len(fake_keyring.threads) == 1
    assert threading.current_thread() not in fake_keyring.threads


async def test_a_prompt_that_nobody_answers_is_an_error_in_time_and_the_store_recovers(home: Home, fake_keyring: FakeKeyring) -> None:
    store = SecretStore(home, open_keyring=lambda: fake_keyring, timeout_s=0.01)
    fake_keyring.prompt.clear()
    with pytest.raises(SecretsLocked, match=r"no answer within 0\.01 s") as caught:
        await store.get("a")
    assert "Unlock" in caught.value.problem.hint
    assert store.problem == caught.value.problem
    fake_keyring.prompt.set()
    await store.close()
    patient = SecretStore(home, open_keyring=lambda: fake_keyring)
    await patient.set("a", "1")
    assert await patient.get("a") == "1"
    await patient.close()


async def test_the_loop_goes_on_while_a_prompt_is_open(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    fake_keyring.prompt.clear()
    call = asyncio.get_running_loop().create_task(store.set("a", "1"))
    await asyncio.to_thread(fake_keyring.is_asked.wait, 10)
    assert not call.done()
    fake_keyring.prompt.set()
    await call


async def test_while_the_keyring_keeps_calls_waiting_it_is_published_and_an_open_one_says_nothing(
    home: Home, fake_keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = EventBus()
    heard, store = Record[bool](), SecretStore(home, bus=bus, open_keyring=lambda: fake_keyring)
    bus.subscribe(KeyringAwaited, lambda event: heard.add(event.is_awaited))
    await store.set("a", "1")
    assert heard.all == []
    monkeypatch.setattr(secrets, "PROMPT_AFTER_S", 0.0)
    fake_keyring.prompt.clear()
    calls = [asyncio.ensure_future(each) for each in (store.get("a"), store.get_foreign("other", "b"))]
    await heard.wait(lambda is_awaited: is_awaited, count=2)
    fake_keyring.prompt.set()
    await asyncio.gather(*calls)
    assert heard.all == [True, True, False]
    store.use("memory")
    await store.set("c", "1")
    assert len(heard.all) == 3
    await store.close()


async def test_a_locked_file_opens_with_its_passphrase(home: Home) -> None:
    first = SecretStore(home, "file", passphrase=PASSPHRASE)
    await first.set("a", "hunter2")
    await first.close()
    store = SecretStore(home, "file")
    with pytest.raises(SecretsLocked, match="needs its passphrase"):
        await store.get("a")
    with pytest.raises(SecretsLocked, match="The passphrase is wrong"):
        await store.unlock("another")
    await store.unlock(PASSPHRASE)
    assert await store.get("a") == "hunter2"
    await store.close()


async def test_a_damaged_file_is_another_error(home: Home) -> None:
    home.secrets_file.write_bytes(b"damaged")
    store = SecretStore(home, "file", passphrase=PASSPHRASE)
    with pytest.raises(SecretsDenied, match="damaged"):
        await store.get("a")
    await store.close()


async def test_the_values_seen_so_far_are_known_for_masking(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    assert store.known_values() == frozenset()
    fake_keyring.values["tooltray", "old"] = "from before"
    await store.get("old")
    await store.set("a", "1")
    await store.set("a", "2")
    await store.remove("a")
    assert store.known_values() == {"from before", "1", "2"}


@pytest.mark.parametrize("name", ["", "a{b", "a}", " a", "a\n", "x" * 201])
async def test_a_name_that_no_placeholder_could_hold_is_refused(store: SecretStore, name: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be the name of a secret"):
        await store.set(name, "1")


@pytest.mark.parametrize(("value", "reason"), [("", "it is empty"), ("hunter2\0", "zero character"), ("hunter2\ud800", "it is not text")])
async def test_a_value_that_no_variable_could_hold_is_refused_and_not_repeated(store: SecretStore, value: str, reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason) as caught:
        await store.set("a", value)
    assert "hunter2" not in repr(caught.value)
    assert store.known_values() == frozenset()


async def test_a_name_with_odd_signs_is_quoted_in_the_hint(store: SecretStore) -> None:
    with pytest.raises(SecretMissing) as caught:
        await store.get("my files/KEY")
    assert caught.value.problem.hint == "Store it: tooltray secrets set 'my files/KEY'"


async def test_a_store_that_was_never_used_closes_twice(home: Home) -> None:
    store = SecretStore(home)
    await store.close()
    await store.close()


def test_the_passphrase_is_taken_out_of_the_environment() -> None:
    environ = {PASSPHRASE_VARIABLE: PASSPHRASE, "OTHER": "1"}
    assert take_passphrase(environ) == PASSPHRASE
    assert environ == {"OTHER": "1"}
    assert take_passphrase(environ) is None


# what is removed, and how the place of secrets is


@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_removed_a_moment_ago_is_put_back(store: SecretStore, kind: Kind) -> None:
    store.use(kind)
    await store.set("a", "1")
    await store.remove("a")
    await store.restore("a")
    assert await store.get("a") == "1"
    with pytest.raises(NotFound, match="The value of 'a' is gone"):
        await store.restore("a")


async def test_another_value_of_that_name_is_not_overwritten_by_the_removed_one(home: Home) -> None:
    store = SecretStore(home, "memory")
    for value in ("1", "2"):
        await store.set("a", value)
        await store.remove("a")
    await store.set("a", "3")
    with pytest.raises(Conflict, match="There is another secret 'a' now"):
        await store.restore("a")
    assert await store.get("a") == "3"
    assert "'2'" not in repr(store._removed)
    await store.close()
    with pytest.raises(NotFound):
        await store.restore("a")


async def test_a_removed_value_is_forgotten_when_its_time_is_over(home: Home) -> None:
    store = SecretStore(home, "memory", undo_s=0.0)
    await store.set("a", "1")
    await store.remove("a")
    for _ in range(2):
        await asyncio.sleep(0)
    with pytest.raises(NotFound):
        await store.restore("a")
    await store.close()


async def test_whether_the_place_answers_is_known_once_it_was_asked(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    await store.names()
    assert (store.is_proven, store.problem) == (False, None)  # names stand in a file
    fake_keyring.error = OSError()
    with pytest.raises(SecretsAbsent):
        await store.check()
    await store.names()
    assert not store.is_proven
    assert store.problem == Problem("No keyring found", NO_SERVICE[sys.platform], CHOOSE, SECRETS_UNREACHABLE)
    fake_keyring.error = None
    await store.check()
    assert (store.is_proven, store.problem) == (True, None)
    store.use("file")
    assert not store.is_proven


async def test_a_file_that_is_not_made_yet_counts_as_locked_until_it_has_a_passphrase(home: Home) -> None:
    store = SecretStore(home, "file")
    with pytest.raises(SecretsLocked):
        await store.set("a", "1")
    assert await store.names() == []  # nothing to decrypt, and nothing shown by it
    with pytest.raises(SecretMissing):
        await store.get("a")
    assert not store.is_proven
    assert store.problem is not None
    await store.unlock(PASSPHRASE)
    assert (store.is_proven, store.problem) == (True, None)
    await store.close()


async def test_an_answer_of_a_place_that_is_not_in_use_any_more_says_nothing(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    fake_keyring.prompt.clear()
    call = asyncio.get_running_loop().create_task(store.check())
    await asyncio.to_thread(fake_keyring.is_asked.wait, 10)
    store.use("memory")
    fake_keyring.prompt.set()
    await call
    assert not store.is_proven


async def test_while_a_keyring_hangs_names_are_listed_and_other_places_work(store: SecretStore, fake_keyring: FakeKeyring) -> None:
    await store.set("a", "1")
    fake_keyring.prompt.clear()
    fake_keyring.is_asked.clear()
    call = asyncio.get_running_loop().create_task(store.check())
    await asyncio.to_thread(fake_keyring.is_asked.wait, 10)
    assert await store.names() == ["a"]
    store.use("memory")
    await store.set("b", "2")
    assert await store.get("b") == "2"
    assert not call.done()
    fake_keyring.prompt.set()
    await call


async def test_a_list_of_an_encrypted_file_waits_no_longer_than_it_may(home: Home) -> None:
    store = SecretStore(home, "file", passphrase=PASSPHRASE)
    with pytest.raises(SecretsLocked, match=r"no answer within 1e-06 s"):
        await store.names(timeout_s=0.000001)
    await store.close()


# what is hidden, wherever it is kept


async def test_what_is_hidden_for_an_owner_is_known_with_what_was_hidden_before_it(home: Home) -> None:
    store = SecretStore(home, "memory")
    for values in (["one"], ["two", "too"], ["two", "too"]):
        store.hide("oauth/far", values)
    assert store.known_values() == {"one", "two", "too"}
    store.hide("oauth/far", ["three"])
    store.hide("oauth/near", ["other"])
    assert store.known_values() == {"two", "too", "three", "other"}


async def test_of_a_value_in_parts_the_parts_are_known_and_not_each_whole(home: Home) -> None:
    store = SecretStore(home, "memory")
    for number in range(4):
        await store.set("oauth/far", f"whole {number}", parts=[f"part-{number}"])
    assert store.known_values() == {"part-2", "part-3"}
    assert await store.get("oauth/far") == "whole 3"
    await store.close()


LONG_S = 10.0
LONGER_S = 60.0
AT_ONCE_S = 0.01


@pytest.fixture
async def worker() -> AsyncIterator[SecretWorker]:
    worker = SecretWorker()
    yield worker
    await worker.close()


async def run(worker: SecretWorker, gate: threading.Event) -> bool:
    return await worker.run(lambda: gate.wait(LONGER_S), timeout_s=AT_ONCE_S)


async def test_all_calls_run_on_one_daemon_thread_in_order(worker: SecretWorker) -> None:
    order: list[int] = []

    def call(number: int) -> threading.Thread:
        order.append(number)
        return threading.current_thread()

    threads = await asyncio.gather(*(worker.run(lambda number=number: call(number), timeout_s=LONG_S) for number in range(20)))  # type: ignore[misc]
    assert order == list(range(20))
    (thread,) = set(threads)
    assert thread is not threading.main_thread()
    assert thread.daemon


async def test_what_a_call_raises_is_raised(worker: SecretWorker) -> None:
    with pytest.raises(ZeroDivisionError):
        await worker.run(lambda: 1 // 0, timeout_s=LONG_S)
    assert await worker.run(lambda: 1, timeout_s=LONG_S) == 1


async def test_a_call_that_blocks_costs_its_caller_a_bounded_time_and_later_calls_run_when_it_ends(worker: SecretWorker) -> None:
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    later = asyncio.get_running_loop().create_task(worker.run(lambda: "later", timeout_s=LONG_S))
    await asyncio.sleep(0)
    gate.set()
    assert await later == "later"


async def test_while_a_call_that_has_timed_out_still_blocks_others_are_given_up_sooner(
    worker: SecretWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "HANGING_TIMEOUT_S", AT_ONCE_S)
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await worker.run(lambda: "given up", timeout_s=10 * LONGER_S)
    monkeypatch.setattr(secrets, "HANGING_TIMEOUT_S", LONG_S)
    gate.set()
    assert await worker.run(lambda: "answered", timeout_s=LONG_S) == "answered"
    monkeypatch.setattr(secrets, "HANGING_TIMEOUT_S", 0.0)
    assert await worker.run(lambda: "answered again", timeout_s=LONG_S) == "answered again"


async def test_a_call_whose_caller_has_gone_is_dropped_if_it_has_not_begun(worker: SecretWorker) -> None:
    gate, ran = threading.Event(), []
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    with pytest.raises(TimeoutError):
        await worker.run(lambda: ran.append("dropped"), timeout_s=AT_ONCE_S)
    gate.set()
    await worker.run(lambda: ran.append("wanted"), timeout_s=LONG_S)
    assert ran == ["wanted"]


async def test_closing_ends_the_thread_and_a_later_call_starts_another(worker: SecretWorker) -> None:
    first = await worker.run(threading.current_thread, timeout_s=LONG_S)
    await worker.close()
    await worker.close()
    assert not first.is_alive()
    second = await worker.run(threading.current_thread, timeout_s=LONG_S)
    assert second is not first


async def test_closing_does_not_wait_for_a_prompt_and_what_is_asked_later_is_answered(worker: SecretWorker) -> None:
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    await worker.close()
    try:
        assert await worker.run(lambda: "answered", timeout_s=LONG_S) == "answered"
    finally:
        gate.set()


async def test_a_caller_that_is_cancelled_in_the_moment_of_the_result_is_cancelled(worker: SecretWorker) -> None:
    has_answered = threading.Event()
    caller = asyncio.get_running_loop().create_task(worker.run(lambda: "too late", timeout_s=LONG_S))
    behind = asyncio.get_running_loop().create_task(worker.run(has_answered.set, timeout_s=LONG_S))
    await asyncio.sleep(0)
    assert has_answered.wait(LONGER_S)  # the first result is on its way into this loop
    await asyncio.sleep(0)  # and has arrived; the caller has not gone on yet
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await behind
