"""Hubs for commands: the running one, its API without one, or one that is started for the command.

asyncio, which an API without a hub needs, is imported only where no hub runs, as is the bridge's way of starting a hub. Run as a program,
`python -m tooltray.cli.hubs HOME`, the module starts a hub like the command line does.
"""

import contextvars
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from tooltray.api.parts import Api, remote_parts
from tooltray.carriers.control.control_client import CALL_TIMEOUT_S, ControlClient, typed_result
from tooltray.cli.person import ask_to_confirm, is_at_terminal
from tooltray.cli.speech import tr
from tooltray.cli.terminal import print_note
from tooltray.foundation.confirm_widening import NeedsPassphrase, asked_by
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home, hint_for
from tooltray.foundation.home.hub_place import HubLock, running_elsewhere
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import importing

LOCKED_TIMEOUT_S = 20.0  # seconds; a starting hub listens within 3 s, and an ending hub has stopped its servers by then
RETRY_EVERY_S = 0.05  # while a hub starts or ends; neither its lock nor its socket can be waited for

T = TypeVar("T")


class Hub(ABC):
    """A hub's API for commands, which wait for each verb: `hub.ask(hub.api.servers.restart_server(name="files"))`.

    Attributes:
        api: verbs, called only with keywords.
        is_running: whether servers run behind it.
    """

    api: Api
    is_running: bool

    @abstractmethod
    def ask(self, verb: Coroutine[object, None, T], *, timeout_s: float | None = CALL_TIMEOUT_S) -> T:
        """Carries out a verb.

        Args:
            timeout_s: None waits without a limit.

        Raises:
            TooltrayError: the verb failed.
        """

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class HubInfo(msgspec.Struct, frozen=True):
    """The process of a running hub."""

    pid: int
    version: str
    kind: str  # "serve" or "desktop"
    execution_id: str = ""


class RunningHub(Hub):
    """The hub at the other end of the control channel."""

    is_running = True

    def __init__(self, client: ControlClient) -> None:
        self._client = client
        client.on_wait = lambda: print_note(tr("Confirm this in Tooltray's window; the command waits for it"))
        self._timeout_s: float | None = CALL_TIMEOUT_S
        self.api = Api(**remote_parts(self._call))

    def ask(self, verb: Coroutine[object, None, T], *, timeout_s: float | None = CALL_TIMEOUT_S) -> T:
        self._timeout_s = timeout_s
        try:
            verb.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        raise AssertionError("a call over the control channel blocks, and awaits nothing")

    def info(self, *, timeout_s: float = CALL_TIMEOUT_S) -> HubInfo:
        """Returns the facts about the hub's process.

        Args:
            timeout_s: how long to wait for the answer.

        Raises:
            HubSilent: no answer in time.
        """
        return msgspec.convert(self._client.call("hub/info", timeout_s=timeout_s), HubInfo)

    def stop(self) -> int:
        """Stops the hub, see ControlClient.stop."""
        return self._client.stop()

    def close(self) -> None:
        self._client.close()

    async def _call(self, verb: str, /, **params: object) -> Any:
        plain = msgspec.to_builtins(params)
        try:
            result = self._client.call(verb, timeout_s=self._timeout_s, **plain)
        except NeedsPassphrase as error:  # nothing was done yet
            self._client.call("confirm_with_passphrase", passphrase=ask_to_confirm(error))
            result = self._client.call(verb, timeout_s=self._timeout_s, **plain)
        return typed_result(verb, result)


class UnstartedHub(Hub):
    """An API over the files of a home, where no hub runs. The code that makes one holds the hub's lock."""

    is_running = False

    def __init__(self, home: Home, release: Callable[[], None], *, is_at_terminal: bool) -> None:
        """Reads the settings.

        Args:
            release: frees the lock; called by `close`.
            is_at_terminal: a user has typed the command at a terminal.
        """
        with importing():
            import asyncio

            from tooltray.app.unstarted_api import unstarted_api
            from tooltray.app.unstarted_parts import UnstartedParts

        self._release, self._runner = release, asyncio.Runner()
        self._parts = UnstartedParts(home, print_note)
        self._asker = self._parts.consent.command(pid=os.getpid(), is_at_terminal=is_at_terminal)
        self._asker.type_passphrase = lambda: ask_to_confirm(NeedsPassphrase(Phrase("This needs the passphrase")))
        self.api = unstarted_api(self._parts)
        try:
            self._runner.run(self._parts.load())
        except BaseException:
            self.close()
            raise

    def ask(self, verb: Coroutine[object, None, T], *, timeout_s: float | None = CALL_TIMEOUT_S) -> T:
        """Runs a verb to its end; files need no limit, and a keyring's dialog waits for the user."""
        with asked_by(self._asker):
            return self._runner.run(verb, context=contextvars.copy_context())

    def close(self) -> None:
        """Frees the lock, even if closing the parts fails. May be called once."""
        try:
            self._runner.run(self._parts.close())
            self._runner.close()
        finally:
            self._release()


def running_hub(home: Home) -> RunningHub | None:
    """Returns the running hub; None if no hub runs."""
    client = ControlClient.connect(home, is_at_terminal=is_at_terminal())
    return RunningHub(client) if client else None


def any_hub(home: Home) -> Hub:
    """Returns the running hub, or, if no hub runs, its API without one, holding the hub's lock until `close`.

    Raises:
        TooltrayError: the home cannot be used, or something holds the lock and does not listen.
    """
    _prepare(home)
    lock = HubLock(home.lock, home.root)
    deadline = time.monotonic() + LOCKED_TIMEOUT_S
    while True:
        hub = running_hub(home)
        if hub is not None:
            return hub
        if _is_taken(lock, home):
            return UnstartedHub(home, release=lock.release, is_at_terminal=is_at_terminal())
        if time.monotonic() > deadline:
            holder = running_elsewhere(home)
            if holder.machine:
                raise holder
            hint = tr("Wait for it, or end its process; its pid is in hub.json beside the lock")
            raise TooltrayError(tr("Tooltray is starting or ending and does not respond"), tr("{lock} is locked", lock=home.lock), hint)
        time.sleep(RETRY_EVERY_S)


def started_hub(home: Home) -> RunningHub:
    """Returns the running hub; if no hub runs, starts one as the bridge does, which ends when it is unused for a while.

    A bridge first checks that it may start a hub in this home; here the user has named the home.

    Raises:
        TooltrayError: the home cannot be used, or no hub could be started.
    """
    hub = running_hub(home)
    if hub is not None:
        return hub
    _prepare(home)
    home.unmark_removed()
    _remember_environment(home)
    from tooltray.foundation.home.home import default_home
    from tooltray_bridge.start import HubStart

    start = HubStart(os.fspath(home.root), os.fspath((default_home() or home).root))
    try:
        while True:
            reason = start.step()
            hub = running_hub(home)
            if hub is not None:
                return hub
            if reason:
                raise TooltrayError(tr("Tooltray is not running and could not be started"), reason)
            time.sleep(RETRY_EVERY_S)
    finally:
        start.close()


def _prepare(home: Home) -> None:
    for problem in home.prepare():
        print_note(str(problem))


def _remember_environment(home: Home) -> None:
    """Stores the certificates and proxies of the user's terminal, as the started hub inherits nothing of this process."""
    from tooltray.servers.launch.remembered_variables import RememberedVariables, is_started_in_terminal

    if is_started_in_terminal():
        remembered = RememberedVariables(home.environment)
        remembered.load()
        remembered.remember(os.environ, is_all=True)


def _is_taken(lock: HubLock, home: Home) -> bool:
    try:
        return lock.try_take()
    except OSError as error:
        hint = hint_for(error, tr("Make the folder writable"))
        raise TooltrayError(tr("Tooltray's lock file cannot be used"), f"{home.lock}: {error.strerror}", hint) from error


def folder_path(text: str) -> str:
    """Returns the absolute path of a folder, for the hub, which runs in another folder; the hub refuses invalid paths."""
    return os.path.abspath(text) if text and "\0" not in text else text


def main() -> int:
    """Starts a hub in the home whose absolute path is the only argument, if none runs; returns the exit code. The reason of a failure is
    written to standard output.
    """
    try:
        started_hub(Home(Path(sys.argv[1]))).close()
    except TooltrayError as error:
        problem = error.problem
        sys.stdout.write(problem.message or problem.title)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
