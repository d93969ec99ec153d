"""`tooltray uninstall`: removes Tooltray's data on this machine, step by step after confirmations. The program itself is removed by its
installer, and the user is shown how; the portable archive has a script for that.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from tooltray.cli.commands.secrets_command import chosen_backend
from tooltray.cli.hubs import RETRY_EVERY_S, RunningHub, any_hub, running_hub
from tooltray.cli.person import confirmed
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line, count, print_json, problem_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.home.hub_place import HubLock
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.installation import how_to_remove, this_installation, uninstaller
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.snapshots.ai_clients import moved_by
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_kinds import ClientPlaces, WorkTrees, read_client_kinds
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.file_edits import FileEdit, planned, unreadable
from tooltray_bridge.start import START_WITHIN_S

SECRET_NAMES = "secret-names.json"
DEFAULT_PORT = 7717  # of `publish.http`


def uninstall(args: argparse.Namespace, home: Home) -> int:
    """Removes everything step by step; reports what was declined or failed."""
    steps = _Steps(args, home)
    steps.stop_hub(home)
    if home.root.is_dir():
        steps.put_back(home)
    look, kinds = ClientLook(ClientPlaces(os.environ), own=OwnEntry(url=_own_url(home))), read_client_kinds()
    for edit in planned("disconnect", kinds, look):
        steps.disconnect(home, edit)
    for kind, path in unreadable(look, kinds):
        steps.leave_to_person(kind.name, path)
    if is_own := home == default_home():  # data of the user, not of one of several homes
        steps.remove_start_at_login()
    if home.root.is_dir():
        steps.remove_secrets(home)
        steps.remove_data(home)
    if is_own:
        steps.remove_program()
    steps.finish()
    return 1 if steps.failed else 0


class _Steps:
    """The steps of an uninstall. It keeps and prints what was done, declined and failed."""

    def __init__(self, args: argparse.Namespace, home: Home) -> None:
        self._home, self._yes, self._is_json = home, args.yes, args.json
        self._no_bridge_starts_one = HubLock(home.start_lock)
        self.done: list[str] = []
        self.left: list[str] = []
        self.failed: list[str] = []
        self._is_program_gone = self._is_marked = False
        self._keeps_secrets = False  # needed by servers that could not be put back
        self._kept: list[str] = []  # files that stay because of their links' targets

    def stop_hub(self, home: Home) -> None:
        """Stops the hub. Until the uninstall ends, bridges start no hub, since an AI client may send requests while its entry still
        exists.
        """
        if hub := running_hub(home):
            if not confirmed(tr("Tooltray is running. Stop it?"), yes=self._yes):
                hub.close()
                raise TooltrayError(tr("Tooltray is running"), tr("Nothing was removed"), tr("Answer yes, or stop it: tooltray stop"))
            clients = _stopped(hub)
            self._say(self.done, tr("Tooltray has stopped"))
            if clients:
                self._say(self.left, tr("Quit these AI clients, which still use Tooltray: {clients}", clients=", ".join(clients)))
        if home.root.is_dir():
            home.prepare()
            deadline = time.monotonic() + START_WITHIN_S
            while not self._no_bridge_starts_one.try_take() and time.monotonic() < deadline:
                time.sleep(RETRY_EVERY_S)
            if hub := running_hub(home):  # a bridge was just starting it
                _stopped(hub)

    def put_back(self, home: Home) -> None:
        """Offers to return imported servers to their clients' files; their secrets stay if that fails."""
        with any_hub(home) as hub:
            moved = moved_by(hub.ask(hub.api.ai_clients.get_client_changes()))
        if not moved:
            return
        names, files = count(len({name for each in moved for name in each.servers}), "server"), {each.path for each in moved}
        with self._step(
            tr("Restore {names} in {files}, with keys in plain text?", names=names, files=", ".join(sorted(files)))
        ) as is_wanted:
            if is_wanted:
                self._keeps_secrets = True  # kept until all servers are back
                with any_hub(home) as hub:
                    made = hub.ask(hub.api.ai_clients.put_back_moved_servers(), timeout_s=None)
                if bad := next((each.problem for each in made if each.problem), None):
                    raise TooltrayError(bad.title, bad.message, bad.hint)
                self._keeps_secrets = False
                self._say(self.done, tr("{names} restored", names=names))

    def disconnect(self, home: Home, edit: FileEdit) -> None:
        where = f"{edit.kind.name} ({edit.path})"
        if edit.problem:
            self._say(self.failed, f"{where}: {problem_line(edit.problem)}")
            return
        names = ", ".join(f"'{name}'" for name in edit.names)
        if self._yes and WorkTrees().holds(edit.path):
            self._say(self.left, tr("Not removed: {names} in {where}, which is under version control", names=names, where=where))
            return
        with self._step(tr("Remove the entry {names} from {where}?", names=names, where=where)) as is_wanted:
            if is_wanted:
                with any_hub(home) as hub:
                    (change,) = hub.ask(hub.api.ai_clients.apply_client_edits(edits={edit.id: edit.revision}))
                if change.problem:
                    raise TooltrayError(change.problem.title, change.problem.message, change.problem.hint)
                self._say(self.done, tr("{names} is no longer in {where}", names=names, where=where))

    def leave_to_person(self, client: str, path: Path) -> None:
        text = tr(
            "Remove Tooltray's entry from {client} ({path}) by hand; this file cannot be changed safely",
            client=client,
            path=path,
        )
        self._say(self.left, text)

    def remove_start_at_login(self) -> None:
        if not start_at_login.is_on():
            with contextlib.suppress(TooltrayError):
                start_at_login.switch(on=False)  # also deletes an entry that was switched off elsewhere
            return
        with self._step(tr("Stop starting Tooltray when you log in?")) as is_wanted:
            if is_wanted:
                start_at_login.switch(on=False)
                self._say(self.done, tr("Tooltray no longer starts when you log in"))

    def remove_secrets(self, home: Home) -> None:
        """Removes secrets from the system's keyring, and deletes the encrypted file."""
        if self._keeps_secrets:
            self._kept += [SECRET_NAMES, home.secrets_file.name, home.client_changes.name]
            self._say(self.left, tr("Not deleted: the secrets, since not all servers could be restored"))
            return
        if home.secrets_file.exists():
            self._remove_secrets_file(home)
        with any_hub(home) as hub:
            names = hub.ask(hub.api.secrets.get_secret_names()) if chosen_backend(home) in (None, "keyring") else []
        if not names:
            return
        self._kept.append(SECRET_NAMES)  # it has the names of the keyring's secrets, which cannot be found otherwise
        with self._step(
            tr("Delete {count} in the keyring ({names})?", count=count(len(names), "secret"), names=", ".join(names))
        ) as is_wanted:
            if is_wanted:
                with any_hub(home) as hub:
                    for name in names:
                        hub.ask(hub.api.secrets.remove_secret(name=name))
                self._kept.remove(SECRET_NAMES)
                self._say(self.done, f"{count(len(names), 'secret')} forgotten")

    def _remove_secrets_file(self, home: Home) -> None:
        self._kept.append(home.secrets_file.name)
        with self._step(tr("Delete the encrypted secrets in {secrets_file}?", secrets_file=home.secrets_file)) as is_wanted:
            if is_wanted:
                home.secrets_file.unlink()
                self._kept.remove(home.secrets_file.name)
                self._say(self.done, tr("{secrets_file} is deleted", secrets_file=home.secrets_file))

    def remove_data(self, home: Home) -> None:
        with self._step(tr("Delete settings, logs and tool lists in {root}?", root=home.root)) as is_wanted:
            if is_wanted:
                with any_hub(home):  # under the lock, so that no hub starts in a folder that is being deleted
                    if sys.platform == "win32":  # Windows cannot remove open files
                        self._no_bridge_starts_one.release()
                    home.mark_removed()
                    _delete(home, kept=[*self._kept, home.removed.name])
                if sys.platform == "win32":  # a lock that another process has taken meanwhile cannot be deleted
                    shutil.rmtree(home.run, ignore_errors=True)
                with contextlib.suppress(OSError):  # already deleted; for a long path of the home, it is elsewhere
                    home.socket.parent.rmdir()
                kept = tr(", except {kept}", kept=", ".join(self._kept)) if self._kept else ""
                self._say(self.done, tr("Tooltray's files in {root} are deleted{kept}", root=home.root, kept=kept))
                self._is_marked = True

    @contextlib.contextmanager
    def _step(self, question: str) -> Iterator[bool]:
        is_wanted = confirmed(question, yes=self._yes)
        if not is_wanted:
            self._say(self.left, tr("Not removed: {value}", value=question.removesuffix("?")))
        try:
            yield is_wanted
        except TooltrayError as error:
            self._say(self.failed, problem_line(error.problem))
        except OSError as error:
            self._say(self.failed, f"{error.filename}: {error.strerror}")

    def _say(self, where: list[str], text: str) -> None:
        where.append(text)
        if not self._is_json:
            print(clean_line(text))

    def remove_program(self) -> None:
        """Runs the archive's own script; it is the last step, since nothing of the program can be loaded afterwards."""
        script = uninstaller(this_installation())
        if script is None:
            return
        with self._step(tr("Remove the program in {parent}?", parent=script.parent)) as is_wanted:
            if is_wanted:
                ran = subprocess.run(["/bin/sh", str(script), "--uninstall"], capture_output=True, text=True, check=False)
                if ran.returncode:
                    raise TooltrayError(tr("{script} has failed", script=script), ran.stderr.strip())
                self._is_program_gone = True
                _delete_mark(self._home)
                self._say(self.done, tr("The program in {parent} is removed", parent=script.parent))

    def finish(self) -> None:
        to_do = "" if self._is_program_gone else how_to_remove(this_installation())
        if self._is_json:
            print_json({"done": self.done, "left": self.left, "failed": self.failed, "program": to_do})
        elif to_do:
            print(tr("The program itself is still installed. {to_do}", to_do=to_do))
            if self._is_marked:
                print(tr("Until you start it again, {mark} keeps AI clients from starting it", mark=self._home.removed))


def _stopped(hub: RunningHub) -> list[str]:
    """Stops a hub, and returns the names of the AI clients that were connected."""
    with hub:
        clients = {each.client for each in hub.ask(hub.api.views.get_sessions()) if each.is_connected and each.client}
        hub.stop()
    return sorted(clients)


def _own_url(home: Home) -> str | None:
    """Returns the address in entries of AI clients that connect over HTTP, with the port in the settings; None if no port was ever
    chosen.
    """
    try:
        port = json.loads(read_regular(home.settings))["publish"]["http"].get("port", DEFAULT_PORT)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return f"http://127.0.0.1:{port}"


def is_ours(name: str, names: Collection[str]) -> bool:
    """Reports whether Tooltray made the file of this name in a home; including backups, files set aside, and leftovers of a killed writer.

    Args:
        names: of Tooltray's files there.
    """
    files = [each for each in names if "." in each]
    is_beside = any(name.startswith(f"{each}.") or name in (f"{each}-wal", f"{each}-shm") for each in files)  # the latter are SQLite's
    return name in names or is_beside or (name.endswith(".tmp") and any(name.startswith(f".{each}.") for each in files))


def _leave_lock(home: Home) -> Callable[..., None]:
    """Handles files that `rmtree` could not delete: on Windows the lock, which this process holds, and its folder are deleted last."""

    def on_error(function: object, path: str, error: tuple[type[BaseException], BaseException, object]) -> None:
        if sys.platform != "win32" or Path(path) not in (home.lock, home.run):
            raise error[1]

    return on_error


def _delete_mark(home: Home) -> None:
    """Deletes the mark in a home, since no program is left that it could hold back, and the home if nothing else is in it."""
    home.unmark_removed()
    with contextlib.suppress(OSError):  # it has other files
        home.root.rmdir()


def _delete(home: Home, *, kept: Collection[str]) -> None:
    """Deletes Tooltray's files in a home, except `kept`; other things in that folder stay."""
    with os.scandir(home.root) as entries:
        ours = [entry for entry in entries if entry.name not in kept and is_ours(entry.name, home.names_in_root)]
    for entry in sorted(ours, key=lambda entry: entry.name == home.run.name):  # the locks last
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, onerror=_leave_lock(home))
        else:
            os.unlink(entry.path)
