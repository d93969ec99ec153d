"""providers.py, its providers and provided_secrets.py: values from where a person keeps them, and nothing of them in an error or a file."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets.provided_secrets import ProvidedSecrets, UnfetchedSecrets
from tooltray.config.secrets.providers import MAX_VALUE_BYTES, SecretNotGiven, places_of, reference_of
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home

VALUE = "swordfish-swordfish"


class Printed(msgspec.Struct):
    code: int = 0
    output: bytes = b""


class Desk:
    """Secrets with programs that print what a test says, and a keyring in memory."""

    def __init__(self, folder: Path, answer: Printed | Exception | None = None, timeout_s: float = 60.0) -> None:
        self.answer, self.ran, self.at_once, self.most_at_once = answer or Printed(), list[tuple[str, ...]](), 0, 0
        self.environ: dict[str, str] = {"PATH": str(folder), "GPG_TTY": "/dev/pts/1"}
        self.seen_environ: Mapping[str, str] = {}
        self.commands: dict[str, Sequence[str]] = {}
        self.keyring = FakeKeyring()
        self.store = SecretStore(Home(folder), "memory", open_keyring=lambda: self.keyring, timeout_s=timeout_s)
        self.secrets = ProvidedSecrets(secrets=self.store, environ=self._environ, commands=lambda: self.commands, run=self._run)

    async def _environ(self) -> Mapping[str, str]:
        return self.environ

    async def _run(self, command: Sequence[str], environ: Mapping[str, str]) -> Printed:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.ran.append(tuple(command))
        self.seen_environ = environ
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def install(folder: Path, program: str) -> None:
    (folder / program).write_text("#!/bin/sh\n")
    (folder / program).chmod(0o755)


def test_only_known_prefixes_are_references() -> None:
    assert [reference_of(name) is None for name in ("pass:a", "keyring:a/b", "command:op", "github/KEY", "vault:a", "pass")] == [
        *(False, False, False),
        *(True, True, True),
    ]
    assert places_of(("pass:a", "x", "command:op", "pass:a")) == ("pass, a", "your command 'op'")


async def test_of_pass_the_first_line_is_the_value_and_it_is_masked_from_then_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Printed(output=f"{VALUE}\r\nuser: me\n".encode()))
    assert await desk.secrets.get("pass:aws/key") == VALUE
    assert desk.ran == [("pass", "show", "aws/key")]
    assert "GPG_TTY" not in desk.seen_environ
    assert VALUE in desk.store.known_values()


async def test_of_a_command_the_one_line_is_the_value(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Printed(output=f" {VALUE}\n".encode()))
    desk.commands["op"] = ("op", "read", "op://Work/key")
    assert await desk.secrets.get("command:op") == f" {VALUE}"
    assert desk.ran == [("op", "read", "op://Work/key")]


async def test_an_entry_of_another_program_is_read_on_the_secrets_thread(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.keyring.values["https://example.org", "me"] = VALUE
    assert await desk.secrets.get("keyring:https://example.org/me") == VALUE
    assert [thread.name for thread in desk.keyring.threads] == ["secrets"]
    await desk.store.close()


async def test_a_secret_of_tooltrays_own_is_found_as_before(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.store.set("github/KEY", VALUE)
    assert (await desk.secrets.get("github/KEY"), await UnfetchedSecrets(desk.secrets).get("github/KEY")) == (VALUE, VALUE)
    assert await desk.secrets.problem("github/KEY") is None
    for name in ("pass:a", "command:op"):
        with pytest.raises(TooltrayError, match="is fetched and not stored"):
            await desk.store.set(name, VALUE)
    await desk.store.close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Printed(2, VALUE.encode()), "it ended with code 2. Try it in a terminal"),
        (Printed(0, b""), "it is empty"),
        (Printed(0, b"\nsecond"), "it is empty"),
        (Printed(0, f"{VALUE}\0".encode()), "zero character"),
        (Printed(0, b"\xff" + VALUE.encode()), "not text"),
        (Printed(0, VALUE.encode() * MAX_VALUE_BYTES), "it printed too much for a secret"),
        (TimeoutError(), "took more than 30 s and was ended"),
        (OSError(2, "No such file or directory"), "cannot be run: No such file"),
    ],
)
async def test_what_gives_no_value_is_said_without_a_word_that_it_printed(tmp_path: Path, answer: Printed | Exception, why: str) -> None:
    desk = Desk(tmp_path, answer)
    with pytest.raises(SecretNotGiven, match=why) as raised:
        await desk.secrets.get("pass:aws/key")
    assert VALUE not in f"{raised.value!r} {raised.value.__cause__!r}"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pass:--help", "no entry has this name"),
        ("command:op", "secretCommands does not have it"),
        ("command:lines", "it printed several lines"),
        ("keyring:me", "' is not a usable keyring entry"),
        ("keyring:/me", "' is not a usable keyring entry"),
        ("keyring:service/", "' is not a usable keyring entry"),
        ("keyring:Tooltray/github/KEY", "no such entry"),
        ("keyring:tooltray/KEY", "' is not a usable keyring entry"),
        ("keyring:Tooltray/KEY", "' is not a usable keyring entry"),
        ("keyring:KEY@tooltray/KEY", "' is not a usable keyring entry"),
        ("keyring:service/me", "no such entry"),
    ],
)
async def test_a_reference_that_leads_nowhere_is_said_to(tmp_path: Path, name: str, why: str) -> None:
    desk = Desk(tmp_path, Printed(output=b"a\nb\n"))
    desk.commands["lines"] = ("bws",)
    with pytest.raises(SecretNotGiven, match=why):
        await desk.secrets.get(name)
    await desk.store.close()


async def test_of_a_folder_of_pass_the_names_in_it_are_not_taken_for_a_value(tmp_path: Path) -> None:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work.gpg").touch()
    desk = Desk(tmp_path, Printed(output=VALUE.encode()))
    desk.environ["PASSWORD_STORE_DIR"] = str(tmp_path)
    for name in ("pass:", "pass:work/sub", "pass:work/"):
        with pytest.raises(SecretNotGiven, match="folder of the store"):
            await desk.secrets.get(name)
    assert await desk.secrets.get("pass:work") == VALUE, "an entry of the same name as a folder"


async def test_a_keyring_that_waits_for_its_password_is_waited_for_only_so_long(tmp_path: Path) -> None:
    desk = Desk(tmp_path, timeout_s=0.01)
    desk.keyring.prompt.clear()
    with pytest.raises(SecretsLocked, match="it may be showing a prompt"):
        await desk.secrets.get("keyring:service/me")
    desk.keyring.prompt.set()
    await desk.store.close()


async def test_one_provider_is_asked_one_after_the_other(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Printed(output=VALUE.encode()))
    await asyncio.gather(*(desk.secrets.get(f"pass:{name}") for name in "abc"))
    assert (len(desk.ran), desk.most_at_once) == (3, 1)


@pytest.mark.posix
async def test_what_is_missing_is_known_without_asking_for_a_value(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.commands |= {"op": ("op", "read"), "here": ("here",)}
    names = ("pass:a", "command:op", "command:gone", "keyring:x")
    problems = [problem.title for name in names if (problem := await desk.secrets.problem(name))]
    assert problems == [
        "pass is not installed",
        "'op' is not installed",
        "Command 'gone' not found",
        "'x' is not a usable keyring entry",
    ]
    for program in ("pass", "here"):
        install(tmp_path, program)
    unfetched = UnfetchedSecrets(desk.secrets)
    assert [await unfetched.get(name) for name in ("pass:a", "command:here", "keyring:a/b")] == ["", "", ""]
    with pytest.raises(TooltrayError, match="'op' is not installed"):
        await unfetched.get("command:op")
    assert (desk.ran, desk.keyring.call_count) == ([], 0)


async def test_nothing_is_asked_for_a_name_that_nobody_knows(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NotFound):
        await desk.secrets.get("github/KEY")
    await desk.store.close()


async def test_ten_that_wait_for_one_that_nobody_answers_end_with_it_and_another_program_is_asked_meanwhile(tmp_path: Path) -> None:
    desk = Desk(tmp_path, TimeoutError())
    desk.commands = {"op": ["op", "read"], "op2": ["op", "get"], "bws": ["bws"]}
    names = [*(f"command:{name}" for name in ("op", "op2")), *["command:op"] * 7, "command:bws"]
    ends = await asyncio.gather(*map(desk.secrets.get, names), return_exceptions=True)
    assert all("it took more than 30 s" in str(end) for end in ends)
    assert (sorted(desk.ran), desk.most_at_once) == ([("bws",), ("op", "read")], 2)
    desk.answer = Printed(output=VALUE.encode())
    assert await desk.secrets.get("command:op2") == VALUE
