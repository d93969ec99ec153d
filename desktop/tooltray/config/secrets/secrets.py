"""Secrets by name: `${secret:NAME}` in the settings, values in the keyring, in an encrypted file, or in memory.

Every call to a vault runs on a worker thread of its backend with a timeout; the engine's loop never blocks on a keyring, and a keyring that
hangs delays no other backend. No value is ever in an error, a log record or a `repr`.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Collection, MutableMapping
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar, TypeVar

from tooltray.config.secrets.keyring_vault import UNLOCK, KeyringVault, SystemKeyring, open_system_keyring
from tooltray.config.secrets.providers import reference_of
from tooltray.config.secrets.vaults import (
    PASSPHRASE_VARIABLE,
    MemoryVault,
    SecretBackend,
    SecretsAbsent,
    SecretsDenied,
    SecretsLocked,
    Vault,
    missing,
)
from tooltray.foundation.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus, KeyringAwaited, SecretsChanged
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase

CALL_TIMEOUT_S = 60.0  # enough time to type a password into the system's prompt
HANGING_TIMEOUT_S = 3.0  # while a call that timed out still blocks the backend: a verb with many secrets must not wait for each of them
PROMPT_AFTER_S = 0.7  # an open keyring answers within some milliseconds; one that takes longer probably shows a prompt
LIST_TIMEOUT_S = 3.0  # the user looks at a list; if a prompt blocks the backend, the list at least shows that
UNDO_S = 30.0  # for this time a removed value stays in memory; the window offers to restore it for 8 s
BACKUP_SECRET = "tooltray-backups"  # encrypts copies of AI clients' files; Tooltray's own, which no server uses
MAX_NAME_LENGTH = 200  # a server's name, a slash, and the name of a variable
LEAVE_S = 1.0  # a call that is not blocked takes far less; a blocked one is abandoned, and its thread ends with the process

T = TypeVar("T")
Calls = queue.SimpleQueue[Callable[[], None] | None]


def take_passphrase(environ: MutableMapping[str, str] = os.environ) -> str | None:
    """Removes the passphrase from the process's environment and returns it, so that no child inherits it."""
    return environ.pop(PASSPHRASE_VARIABLE, None)


class _Removed(HidesFields, frozen=True):
    """A value that can still be restored, and the timer that drops it."""

    hidden: ClassVar = ("value",)

    value: str
    end: asyncio.TimerHandle


class SecretStore:
    """The secrets of one home. Belongs to one event loop; methods may be called from any of its tasks.

    Attributes:
        is_proven: the backend has answered.
        problem: why it did not, at the last call.

    Args:
        home: where the encrypted file and the list of names are.
        kind: the backend that the user chose; None: the keyring. Without one the user decides; another backend is never used instead.
        passphrase: opens the encrypted file; see `take_passphrase`.
        open_keyring: returns the system's keyring.
        timeout_s: seconds after which a call that waits for a prompt fails.
        undo_s: seconds for which a removed value can be restored.
    """

    is_proven: bool
    problem: Problem | None

    def __init__(
        self,
        home: Home,
        kind: SecretBackend | None = None,
        *,
        bus: EventBus | None = None,
        passphrase: str | None = None,
        open_keyring: Callable[[], SystemKeyring] = open_system_keyring,
        timeout_s: float = CALL_TIMEOUT_S,
        undo_s: float = UNDO_S,
    ) -> None:
        self._home, self._bus = home, bus or EventBus()
        self._passphrase = passphrase
        self._open_keyring = open_keyring
        self._timeout_s, self._undo_s = timeout_s, undo_s
        self._workers: dict[SecretBackend, SecretWorker] = {}
        self._foreign = KeyringVault(home.secret_names, open_keyring)
        self._vaults: dict[SecretBackend, Vault] = {}
        self._known: frozenset[str] = frozenset()
        self._hidden: dict[str, tuple[frozenset[str], frozenset[str]]] = {}  # by owner: its values, and those before them
        self._removed: dict[str, _Removed] = {}
        self._late = set[object]()  # calls that the keyring keeps waiting
        self.use(kind)

    @property
    def kind(self) -> SecretBackend:
        """Returns the backend in use."""
        return self._kind

    def use(self, kind: SecretBackend | None) -> None:
        """Switches to another backend. No secret is moved: the old backend keeps its own, the one in memory until the hub ends."""
        self._kind: SecretBackend = kind or "keyring"
        self.is_proven, self.problem = False, None
        self._publish_changed()

    async def get(self, name: str) -> str:
        """Returns the value of a secret.

        Raises:
            SecretMissing: no secret has this name.
            SecretsAbsent, SecretsLocked, SecretsDenied: see there.
        """
        value = await self._run(lambda vault: vault.get(name), is_read=True)
        if value is None:
            raise missing(name)
        self._known |= {value}
        return value

    async def get_foreign(self, service: str, name: str) -> str | None:
        """Returns another program's entry in the system's keyring, whichever backend was chosen here; None: no such entry.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: see there.
        """
        try:
            return await self._call("keyring", lambda: self._foreign.read(service, name), self._timeout_s)
        except TimeoutError:
            raise self._no_answer(self._timeout_s) from None

    def note(self, values: Collection[str]) -> None:
        """Masks further values in logs: values of a server's start that may be secrets."""
        self._known |= frozenset(values)

    async def set(self, name: str, value: str, *, parts: Collection[str] | None = None) -> None:
        """Stores a value, or replaces it.

        Args:
            parts: the parts of the value to mask in logs, if it consists of several and is replaced often; see `hide`. None: the whole.

        Raises:
            TooltrayError: the name or the value cannot be used.
            SecretsAbsent, SecretsLocked, SecretsDenied: see there.
        """
        _check_name(name)
        _check_value(name, value)
        if parts is None:
            self._known |= {value}
        else:
            self.hide(name, parts)
        await self._run(lambda vault: vault.set(name, value))
        self._publish_changed()

    def hide(self, owner: str, values: Collection[str]) -> None:
        """Masks values in logs, together with the previous values of the same owner; older ones are not secret any more."""
        now, _ = self._hidden.get(owner, (frozenset(), frozenset()))
        if frozenset(values) != now:
            self._hidden = {**self._hidden, owner: (frozenset(values), now)}  # another thread may be reading

    async def remove(self, name: str) -> None:
        """Deletes a secret.

        Raises:
            SecretMissing: no secret has this name.
            SecretsAbsent, SecretsLocked, SecretsDenied: see there.
        """
        value = await self._run(lambda vault: vault.remove(name))
        if value is None:
            raise missing(name)
        self._forget_removed(name)
        self._removed[name] = _Removed(value, asyncio.get_running_loop().call_later(self._undo_s, self._forget_removed, name))
        self._publish_changed()

    async def restore(self, name: str) -> None:
        """Restores a value that was removed a moment ago.

        Raises:
            NotFound: it is not in memory any more.
            Conflict: another secret has this name now.
            SecretsAbsent, SecretsLocked, SecretsDenied: see there; the value stays in memory until its time is over.
        """
        if (removed := self._removed.get(name)) is None:
            raise NotFound(Phrase("The value of '{name}' is gone", name=name), "", Phrase("Store it again"))
        if await self._run(lambda vault: vault.get(name)) is not None:
            raise Conflict(Phrase("There is another secret '{name}' now", name=name))
        await self.set(name, removed.value)
        self._forget_removed(name)

    def _forget_removed(self, name: str) -> None:
        if removed := self._removed.pop(name, None):
            removed.end.cancel()

    async def names(self, *, timeout_s: float | None = None) -> list[str]:
        """Returns the names of all secrets, sorted, without values. The names of a keyring are known without a call to it.

        Args:
            timeout_s: how long a list may wait; None: as long as everything else.

        Raises:
            SecretsLocked, SecretsDenied: see there.
        """
        if self._kind == "keyring":
            return await asyncio.to_thread(self._foreign.names)
        return await self._run(lambda vault: vault.names(), timeout_s=timeout_s, is_read=True)

    async def check(self) -> None:
        """Checks that a secret could be stored.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: see there.
        """
        await self._run(lambda vault: vault.check())

    async def unlock(self, passphrase: str) -> None:
        """Opens the encrypted file; does nothing with other backends, which unlock themselves.

        Raises:
            SecretsLocked: the passphrase is wrong.
            SecretsDenied: the file cannot be used.
        """
        await self._run(lambda vault: vault.unlock(passphrase))
        self._publish_changed()

    def known_values(self) -> frozenset[str]:
        """Returns every value seen since the start, also replaced and removed ones: the values to mask in logs."""
        if not self._hidden:
            return self._known  # the same object: each line of the log compares it with what it knows
        return self._known.union(*(values for pair in self._hidden.values() for values in pair))

    async def close(self) -> None:
        """Ends the worker threads; a later call starts one again. May be called twice."""
        for name in tuple(self._removed):
            self._forget_removed(name)
        await asyncio.gather(*(worker.close() for worker in self._workers.values()))

    def _publish_changed(self) -> None:
        self._bus.publish(SecretsChanged(self._kind))

    async def _run(self, call: Callable[[Vault], T], *, timeout_s: float | None = None, is_read: bool = False) -> T:
        kind, timeout_s = self._kind, timeout_s or self._timeout_s
        try:
            result = await self._call(kind, lambda: call(self._vault(kind)), timeout_s)
        except TimeoutError:
            error = self._no_answer(timeout_s)
            self._note(kind, error.problem)
            raise error from None
        except (SecretsAbsent, SecretsLocked, SecretsDenied) as error:
            self._note(kind, error.problem)
            raise
        if result or not is_read or kind != "file":  # a file that is not made yet is empty, also without a passphrase
            self._note(kind, None)
        return result

    async def _call(self, kind: SecretBackend, call: Callable[[], T], timeout_s: float) -> T:
        """Runs a call in a backend's thread. Publishes meanwhile if the keyring keeps it waiting."""
        worker = self._worker(kind)
        if kind != "keyring":
            return await worker.run(call, timeout_s=timeout_s)
        late = asyncio.get_running_loop().call_later(PROMPT_AFTER_S, self._on_late, call)
        try:
            return await worker.run(call, timeout_s=timeout_s)
        finally:
            late.cancel()
            if call in self._late:
                self._late.remove(call)
                if not self._late:
                    self._bus.publish(KeyringAwaited(is_awaited=False))

    def _on_late(self, call: object) -> None:
        self._late.add(call)
        self._bus.publish(KeyringAwaited(is_awaited=True))

    def _worker(self, kind: SecretBackend) -> "SecretWorker":
        return self._workers.setdefault(kind, SecretWorker())

    def _no_answer(self, timeout_s: float) -> SecretsLocked:
        message = Phrase("no answer within {seconds} s; it may be showing a prompt", seconds=f"{timeout_s:g}")
        return SecretsLocked(Phrase("The secrets cannot be reached"), message, UNLOCK)

    def _note(self, kind: SecretBackend, problem: Problem | None) -> None:
        """Records how a call went, unless another backend is in use meanwhile."""
        if kind == self._kind:
            self.is_proven, self.problem = problem is None, problem

    def _vault(self, kind: SecretBackend) -> Vault:
        """Returns the vault of a backend, made at its first use; called on its worker thread, which also imports its libraries."""
        if kind not in self._vaults:
            self._vaults[kind] = self._make_vault(kind)
        return self._vaults[kind]

    def _make_vault(self, kind: SecretBackend) -> Vault:
        match kind:
            case "file":
                from tooltray.config.secrets.file_vault import (
                    FileVault,
                )  # importing `cryptography` takes 50 ms, which most users need not spend

                return FileVault(self._home.secrets_file, self._passphrase)
            case "memory":
                return MemoryVault()
        return KeyringVault(self._home.secret_names, self._open_keyring)


def _check_name(name: str) -> None:
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable() or name != name.strip() or set("{}") & set(name):
        reason = Phrase("a name has 1 to {most} printable characters, no curly brackets, and no space around it", most=MAX_NAME_LENGTH)
        raise TooltrayError(Phrase("This cannot be the name of a secret"), reason, Phrase("Choose another name"))
    if reference := reference_of(name):
        reason = Phrase("what begins with '{prefix}:' is fetched and not stored", prefix=reference.prefix)
        raise TooltrayError(Phrase("This cannot be the name of a secret"), reason, Phrase("Choose another name"))


def _check_value(name: str, value: str) -> None:
    """Refuses a value that a keyring, an environment variable or a header cannot hold; the error does not quote it."""
    reason = Phrase("it is empty") if not value else Phrase("it has a zero character in it") if "\0" in value else ""
    try:
        value.encode()
    except UnicodeEncodeError:
        reason = Phrase("it is not text")
    if reason:
        raise TooltrayError(Phrase("The value of secret '{name}' cannot be stored", name=name), reason, Phrase("Give another value"))


class SecretWorker:
    """A daemon thread that runs calls one after the other. It starts with the first call and never delays the end of the process."""

    def __init__(self) -> None:
        self._calls: Calls = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._overdue: Future[Any] | None = None  # of a call that was given up while it ran

    async def run(self, call: Callable[[], T], *, timeout_s: float) -> T:
        """Runs a call and returns its result, or raises its error.

        If the caller is cancelled or the time is over, a call that has not begun is dropped; one that has begun cannot be stopped.

        Raises:
            TimeoutError: no result within `timeout_s` seconds, the wait for earlier calls included; sooner while a call that has timed out
                still runs.
        """
        if self._thread is None:
            self._calls = queue.SimpleQueue()  # a new one: an abandoned thread still reads the old one
            self._thread = threading.Thread(target=_work, args=(self._calls,), name="secrets", daemon=True)
            self._thread.start()
        future: Future[T] = Future()
        self._calls.put(partial(_answer, future, call))
        if self._overdue and not self._overdue.done():
            timeout_s = min(timeout_s, HANGING_TIMEOUT_S)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if future.running():
                self._overdue = future
            raise

    async def close(self) -> None:
        """Ends the thread after its queued calls; waits at most LEAVE_S, so not for a prompt."""
        thread, self._thread, self._overdue = self._thread, None, None
        if thread is not None:
            self._calls.put(None)
            await asyncio.to_thread(thread.join, LEAVE_S)


def _work(calls: Calls) -> None:
    while (item := calls.get()) is not None:
        item()
        del item  # keeps no reference to a secret while the thread waits


def _answer(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # it belongs to the caller, whatever it is
        future.set_exception(error)
