"""`tooltray export`, `import` of an exported set-up, and `servers reset`. The user sees all changes before they are made."""

import argparse
import contextlib
import os
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tooltray.cli.hubs import any_hub
from tooltray.cli.parsers import Usage
from tooltray.cli.person import confirmed
from tooltray.cli.secret_place import KEYRING_TIMEOUT_S, with_secrets
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, print_json, print_note, to_json
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.files.json_text import NotJson, read_json
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.setup import SetupChange

if TYPE_CHECKING:
    from tooltray.sources.entries.setup_api import SetupApi

STDOUT = "-"  # instead of a file, as in many programs
SIGNS = {"add": "+", "replace": "~", "remove": "-", "keep": "="}

T = TypeVar("T")
Changes = Coroutine[object, None, list[SetupChange]]
Document = dict[str, Any]  # the settings and servers, as in their file


def declare_export(parser: Usage) -> None:
    parser.runs(export)
    parser.takes("file", "FILE", tr("where to (default, and '-': standard output)"), nargs="?")
    parser.flag("--force", tr("replace a file that is there already"))


def export(args: argparse.Namespace, home: Home) -> int:
    """Writes the set-up to a file, or to standard output."""
    with any_hub(home) as hub:
        setup = hub.ask(hub.api.setup.export_setup())
    if args.file in (None, STDOUT):
        print(to_json(setup))
    else:
        _write(Path(args.file), to_json(setup), may_replace=args.force)
        print_json({"file": args.file}) if args.json else print(tr("The backup is in {file}.", file=clean_line(args.file)))
    if setup["secrets"]:
        print_note(tr("Secrets are not in it. To be given elsewhere: {setup}", setup=", ".join(setup["secrets"])))
    return 0


def is_setup(text: str) -> bool:
    """Reports whether a text is the output of `export`; another program's list of servers has no version."""
    with contextlib.suppress(NotJson):
        setup, _ = read_json(text.encode("utf-8", "surrogatepass"))
        return isinstance(setup, dict) and "mcpServers" in setup and ("version" in setup or "defaultServers" in setup)
    return False


def take_over(args: argparse.Namespace, home: Home, text: str) -> int:
    """Shows what an exported set-up would change, and applies it after a confirmation."""
    setup, replace = _read(args.sources[0], text), args.replace

    def preview(api: "SetupApi") -> Changes:
        return api.preview_import(setup=setup, replace=replace)

    def take(api: "SetupApi") -> Changes:
        return api.import_setup(setup=setup, replace=replace)

    question = tr("Take this over?")
    if args.dry_run:
        with any_hub(home) as hub:
            planned = hub.ask(hub.api.setup.preview_import(setup=setup, replace=replace))
        return answer(args, {"changes": planned, "done": False}, *map(_line, planned))
    return _preview_then(args, home, preview, take, question=question)


def reset(args: argparse.Namespace, home: Home) -> int:
    """Shows what resetting the default servers would change, and does it after a confirmation."""
    question = tr("Restore the starter servers?")
    return _preview_then(args, home, lambda api: api.preview_reset(), lambda api: api.reset_to_default_servers(), question=question)


def _preview_then(
    args: argparse.Namespace,
    home: Home,
    preview: "Callable[[SetupApi], Changes]",
    action: "Callable[[SetupApi], Changes]",
    *,
    question: str,
) -> int:
    with any_hub(home) as hub:
        planned = hub.ask(preview(hub.api.setup))
        changes_nothing = all(change.kind == "keep" for change in planned if change.subject != "secret")
        if not args.json and not changes_nothing:
            print("\n".join(_line(change) for change in planned))
        done = hub.ask(action(hub.api.setup), timeout_s=KEYRING_TIMEOUT_S) if args.yes and not changes_nothing else None
    if changes_nothing:
        return answer(args, {"changes": planned, "done": False}, tr("Nothing would change."))
    if done is None:
        if not confirmed(question, yes=False):
            print(tr("Nothing was changed."))
            return 1
        done = with_secrets(home, lambda hub: hub.ask(action(hub.api.setup), timeout_s=KEYRING_TIMEOUT_S))  # no lock was held meanwhile
    return answer(args, {"changes": done, "done": True}, "Done.", *_secret_lines(done))


def _secret_lines(changes: Sequence[SetupChange]) -> list[str]:
    names = [change.name for change in changes if (change.kind, change.subject) == ("add", "secret")]
    return [clean_line(tr("Store its value with: tooltray secrets set {name}", name=name)) for name in names]


def _line(change: SetupChange) -> str:
    subject = {"server": "", "default": "", "setting": "setting ", "secret": "secret "}[change.subject]
    detail = f": {change.detail}" if change.detail else ""
    return f"  {SIGNS[change.kind]} {clean_line(subject + change.name + detail)}"


def _write(path: Path, text: str, *, may_replace: bool) -> None:
    if path.exists() and not may_replace:
        raise TooltrayError(tr("{path} is there already", path=path), hint=tr("Choose another name, or replace it with --force"))
    _writing(path, lambda: write_atomically(path, text.encode() + b"\n"))


def _read(source: str, text: str) -> Document:
    try:
        setup, _ = read_json(text.encode("utf-8", "surrogatepass"))
    except NotJson as error:
        raise TooltrayError(tr("{source} is no JSON", source=source), str(error)) from None
    if not isinstance(setup, dict):
        raise TooltrayError(tr("{source} is no backup of Tooltray", source=source), tr("it is no JSON object"))
    return setup


def _writing(path: Path, action: Callable[[], T]) -> T:
    try:
        return action()
    except OSError as error:
        raise TooltrayError(tr("{path} cannot be written", path=os.fspath(path)), error.strerror or str(error)) from None
