"""`tooltray import`, `export` and `servers reset`: servers of AI clients, of a file or of a text, and whole set-ups.

The user sees all changes before they are made. To import servers, a hub is started if none runs: a server is removed from its client only
when it has listed its tools here.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tooltray.cli.arguments import Usage
from tooltray.cli.commands.secrets_command import KEYRING_TIMEOUT_S, SecretPlace, with_secrets
from tooltray.cli.hubs import RunningHub, any_hub, running_hub, started_hub
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.server_commands.servers_command import events_shown
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, clean_line, count, print_json, print_note, problem_line, to_json
from tooltray.cli.values import STDIN, is_path
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.files.json_text import NotJson, read_json
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.ai_clients import ImportCandidate, ImportedServer, ImportPlan
from tooltray.foundation.snapshots.entries import FormField
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.verbs import JsonMapping, JsonObject

if TYPE_CHECKING:
    from tooltray.sources.entries.settings_api import SetupApi


MAX_BYTES = 16 * 1024 * 1024  # of a file, and characters of standard input; thousands of servers have a few hundred KB
LOOK_TIMEOUT_S = 60.0  # the files of all clients take less than a second; before the first scan the login shell runs
INDENT = "    "
SIGNS = {"new": "+", "same": "=", "different": "~", "broken": "!"}

Given = Mapping[str, object]
"""The arguments of the verbs besides the choice: clients, or a text."""


def declare(parser: Usage) -> None:
    parser.runs(take_in, check=_check)
    text = tr("AI clients' ids from `clients scan`, or one file ('-': standard input); without it: all AI clients")
    parser.takes("sources", "CLIENT|FILE", text, nargs="*")
    parser.flag("--all", tr("all servers except those of projects and those that are off; do not ask one by one"))
    parser.flag("--dry-run", tr("show what can be imported, and change nothing"))
    parser.flag("--keep", tr("keep imported servers in their clients' files, too"))
    parser.flag("--replace", tr("from a backup: replace servers with the same names, which are kept otherwise"))
    parser.flag("--yes", tr("do not ask; for AI clients, same as `--all`"))


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if len(args.sources) > 1 and any(is_path(source) for source in args.sources):
        usage.error(tr("give AI clients, or one file"))
    if args.replace and not (args.sources and is_path(args.sources[0])):
        usage.error(tr("--replace goes with a backup"))


def take_in(args: argparse.Namespace, home: Home) -> int:
    """Imports what the user chooses.

    Returns:
        1 if something could not be imported, or was not confirmed.
    """
    given: dict[str, object] = {"clients": tuple(args.sources)}
    if args.sources and is_path(args.sources[0]):
        text = _text(args.sources[0])
        if args.replace or is_setup(text):
            return take_over(args, home, text)
        given = {"text": text}
    is_visit = args.dry_run and not _is_running(home)
    with started_hub(home) as hub:
        try:
            plan = hub.ask(hub.api.ai_clients.preview_client_import(**given), timeout_s=LOOK_TIMEOUT_S)  # type: ignore[arg-type]
            return _import(args, home, hub, plan, given)
        finally:
            if is_visit and not hub.ask(hub.api.hub.get_snapshot()).session_count:
                hub.stop()


def _is_running(home: Home) -> bool:
    hub = running_hub(home)
    if hub is None:
        return False
    hub.close()
    return True


def _import(args: argparse.Namespace, home: Home, hub: RunningHub, plan: ImportPlan, given: Given) -> int:
    if args.dry_run:
        return answer(args, plan, *_plan_lines(plan))
    is_of_clients = "text" not in given
    if not args.json:
        print("\n".join(_plan_lines(plan)))
    chosen = _chosen(plan, one_by_one=is_of_clients and not (args.all or args.yes))
    if not chosen:
        return answer(args, {"imported": []}, tr("Nothing to import."))
    is_tidy = is_of_clients and not args.keep
    if not confirmed(_question(chosen, is_tidy=is_tidy), yes=args.yes):
        print(tr("Nothing was changed."))
        return 1
    values, left_out = _all_values(chosen, home)
    choices, done = [each.id for each in chosen if each.id not in {other.id for other in left_out}], left_out
    if choices:
        with events_shown(home, _progress):
            importing = hub.api.ai_clients.import_servers(choices=choices, values=values, tidy=is_tidy, **given)  # type: ignore[arg-type]
            done = [*hub.ask(importing, timeout_s=None), *left_out]
    if args.json:
        print_json({"imported": done})
    else:
        print("\n".join(map(_done_line, done)))
        if any(each.removed_from for each in done):
            print_note(tr("Restore the clients' files: tooltray clients undo"))
    return 1 if any(each.state == "failed" for each in done) else 0


def _text(source: str) -> str:
    """Returns the text of a file, or of standard input.

    Raises:
        TooltrayError: it cannot be read.
    """
    if source == STDIN:
        return sys.stdin.read(MAX_BYTES) if sys.stdin is not None else ""
    try:
        file = read_text(Path(source), MAX_BYTES)
    except CannotOpen as error:
        raise TooltrayError(tr("{source} cannot be read", source=source), error.reason) from None
    if not file.digest:
        raise TooltrayError(tr("{source} cannot be read", source=source), tr("No such file"))
    return file.text.removeprefix("\ufeff")


# the choice


def _chosen(plan: ImportPlan, *, one_by_one: bool) -> list[ImportCandidate]:
    usable = [each for each in plan.candidates if each.state != "broken"]
    if one_by_one:
        return [each for each in usable if confirmed(_one_question(each), yes=False)]
    return [each for each in usable if each.is_chosen]


def _one_question(candidate: ImportCandidate) -> str:
    verb = (
        tr("Remove {here} from the files", here=candidate.here) if candidate.state == "same" else tr("Import {name}", name=candidate.name)
    )
    return (
        f"{verb}: {candidate.target}?"
        if not candidate.why_not_chosen
        else tr("{verb}, although {why_not_chosen}?", verb=verb, why_not_chosen=candidate.why_not_chosen)
    )


def _question(chosen: Sequence[ImportCandidate], *, is_tidy: bool) -> str:
    leaving = tr(", and remove what works from their clients' files") if is_tidy else ""
    return tr("Import {count}{leaving}?", count=count(len(chosen), "server"), leaving=leaving)


def _all_values(chosen: Sequence[ImportCandidate], home: Home) -> tuple[dict[str, dict[str, str]], list[ImportedServer]]:
    """Returns the values that the user types because no file has them, by the candidates' ids, and the servers with missing values, which
    are not imported.
    """
    values, left_out, place = {}, [], SecretPlace(home)
    for each in (each for each in chosen if each.asks):
        try:
            values[each.id] = _values(each, place)
        except TooltrayError as error:
            left_out.append(ImportedServer(each.id, each.name, "failed", problem=error.problem))
    return values, left_out


def _values(candidate: ImportCandidate, place: SecretPlace) -> dict[str, str]:
    """Raises:
    TooltrayError: a value is missing, or no place can store a secret.
    """
    print_note(tr("{name} needs {count}:", name=candidate.name, count=count(len(candidate.asks), "value")))
    labels = {field.label: field.key for field in candidate.asks if field.is_secret}
    values = {labels[label]: value for label, value in place.ask(list(labels)).items()}
    return values | {field.key: value for field in candidate.asks if not field.is_secret and (value := _typed(field))}


def _typed(field: FormField) -> str:
    """Returns what the user types; empty to keep the field's own value.

    Raises:
        TooltrayError: the field has no value, and needs one.
    """
    typed = ""
    if is_person_there():
        choices = f" ({', '.join(field.choices)})" if field.choices else ""
        default = f" [{field.default}]" if field.default else ""
        with contextlib.suppress(EOFError):
            typed = input(f"{clean_line(field.label + choices + default)}: ").strip()
    if not typed and field.is_required and not field.default:
        raise TooltrayError(
            tr("No value for {label}", label=field.label), hint=tr("Import it individually in a terminal, which asks for the value")
        )
    return typed


# output


def _plan_lines(plan: ImportPlan) -> list[str]:
    lines = [
        f"{INDENT if index else ''}{clean_line(line)}" for each in plan.candidates for index, line in enumerate(_candidate_lines(each))
    ]
    lines += [clean_line(f"! {problem_line(problem)}") for problem in plan.problems]
    return lines or [tr("No AI client has a server to import.")]


def _candidate_lines(candidate: ImportCandidate) -> Iterator[str]:
    where = ", ".join(dict.fromkeys(source.client or source.path or tr("the text") for source in candidate.sources))
    if candidate.problem:
        yield f"{SIGNS['broken']} {problem_line(candidate.problem)} ({where})"
        return
    here = tr(" (already added as {here})", here=candidate.here) if candidate.state == "same" else ""
    yield tr(
        "{signs} {name}: {target}{here} (from {where})",
        signs=SIGNS[candidate.state],
        name=candidate.name,
        target=candidate.target,
        here=here,
        where=where,
    )
    if candidate.proxied:
        yield tr("it is {proxied}", proxied=candidate.proxied)
    if candidate.secrets:
        yield tr("stored as secrets: {names}", names=", ".join(secret.key for secret in candidate.secrets))
    if candidate.why_not_chosen:
        yield tr("not part of --all: {why_not_chosen}", why_not_chosen=candidate.why_not_chosen)
    yield from (remark for remark in candidate.remarks if remark != candidate.why_not_chosen)


def _done_line(done: ImportedServer) -> str:
    words = {
        "listed": tr("works, with {count}", count=count(done.tools, "tool")),
        "added": tr("added; waits for approval, sign-in or first use"),
        "failed": tr("could not be imported") if done.problem is None else problem_line(done.problem),
        "cancelled": tr("was not imported"),
    }
    made = [change for change in done.removed_from if change.problem is None]
    out = tr("; removed from {value}", value=", ".join(dict.fromkeys(change.path for change in made))) if made else ""
    stays = "" if done.state == "failed" or done.problem is None else f"; {problem_line(done.problem)}"
    return clean_line(f"{done.name}: {words[done.state]}{out}{stays}")


def _progress(kind: str, data: JsonMapping) -> str:
    if kind != "ImportProgressed" or not data["name"]:
        return ""
    return tr("{done} of {total}: {name}", done=data["done"], total=data["total"], name=data["name"])


STDOUT = "-"  # instead of a file, as in many programs
CHANGE_SIGNS = {"add": "+", "replace": "~", "remove": "-", "keep": "="}

T = TypeVar("T")
Changes = Coroutine[object, None, list[SetupChange]]
Document = JsonObject  # the settings and servers, as in their file


def declare_export(parser: Usage) -> None:
    parser.runs(export)
    parser.takes("file", "FILE", tr("target file (default, or '-': standard output)"), nargs="?")
    parser.flag("--force", tr("replace an existing file"))


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
        print_note(tr("It contains no secrets. Enter these again elsewhere: {setup}", setup=", ".join(setup["secrets"])))
    return 0


def is_setup(text: str) -> bool:
    """Reports whether a text is the output of `export`; another program's list of servers has no version."""
    with contextlib.suppress(NotJson):
        setup, _ = read_json(text.encode("utf-8", "surrogatepass"))
        return isinstance(setup, dict) and "mcpServers" in setup and ("version" in setup or "defaultServers" in setup)
    return False


def take_over(args: argparse.Namespace, home: Home, text: str) -> int:
    """Shows what an exported set-up would change, and applies it after a confirmation."""
    setup, replace = _read_setup(args.sources[0], text), args.replace

    def preview(api: "SetupApi") -> Changes:
        return api.preview_import(setup=setup, replace=replace)

    def take(api: "SetupApi") -> Changes:
        return api.import_setup(setup=setup, replace=replace)

    question = tr("Import this?")
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
    return answer(args, {"changes": done, "done": True}, tr("Done."), *_secret_lines(done))


def _secret_lines(changes: Sequence[SetupChange]) -> list[str]:
    names = [change.name for change in changes if (change.kind, change.subject) == ("add", "secret")]
    return [clean_line(tr("Store its value with: tooltray secrets set {name}", name=name)) for name in names]


def _line(change: SetupChange) -> str:
    names = {"setting": tr("setting {name}", name=change.name), "secret": tr("secret {name}", name=change.name)}
    detail = f": {say(change.detail)}" if change.detail else ""
    return f"  {CHANGE_SIGNS[change.kind]} {clean_line(names.get(change.subject, change.name) + detail)}"


def _write(path: Path, text: str, *, may_replace: bool) -> None:
    if path.exists() and not may_replace:
        raise TooltrayError(tr("{path} already exists", path=path), hint=tr("Choose another name, or replace it with --force"))
    _writing(path, lambda: write_atomically(path, text.encode() + b"\n"))


def _read_setup(source: str, text: str) -> Document:
    try:
        setup, _ = read_json(text.encode("utf-8", "surrogatepass"))
    except NotJson as error:
        raise TooltrayError(tr("{source} is not JSON", source=source), str(error)) from None
    if not isinstance(setup, dict):
        raise TooltrayError(tr("{source} is not a Tooltray backup", source=source), tr("it is not a JSON object"))
    return setup


def _writing(path: Path, action: Callable[[], T]) -> T:
    try:
        return action()
    except OSError as error:
        raise TooltrayError(tr("{path} cannot be written", path=os.fspath(path)), error.strerror or str(error)) from None
