"""`tooltray clients connect`, `disconnect`, `undo` and `changes`: changes files of AI clients, and shows each change before it is made."""

import argparse
from collections.abc import Callable, Coroutine, Iterable

from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.person import check_terminal, confirmed
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean, clean_line, print_json, problem_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit

TIMEOUT_S = 120.0  # a keyring may prompt the user first, and a client's own command takes up to ten seconds
CHANGING = Phrase("A change of an AI client's file")


def connect(args: argparse.Namespace, home: Home) -> int:
    if not args.dry_run:
        check_terminal(CHANGING)
    return _change(args, home, lambda hub: hub.api.ai_clients.preview_connect(clients=args.client))


def disconnect(args: argparse.Namespace, home: Home) -> int:
    return _change(args, home, lambda hub: hub.api.ai_clients.preview_disconnect(clients=args.client))


def undo(args: argparse.Namespace, home: Home) -> int:
    """Undoes a change; without its id, the newest that can be undone."""
    with any_hub(home) as hub:
        changes = hub.ask(hub.api.ai_clients.get_client_changes(), timeout_s=TIMEOUT_S)
        change = next((each for each in changes if each.id == args.change or (not args.change and each.undo != "none")), None)
        if change is None:
            raise TooltrayError(tr("There is nothing to undo"), "", tr("See the changes: tooltray clients changes"))
        if not confirmed(
            tr("Undo '{action}' of {servers} in {path}?", action=change.action, servers=", ".join(change.servers), path=change.path),
            yes=args.yes,
        ):
            return 0
        undone = hub.ask(hub.api.ai_clients.undo_client_change(id=change.id), timeout_s=TIMEOUT_S)
    _tell([undone], is_json=args.json)
    return 0


def _change(args: argparse.Namespace, home: Home, preview: Callable[[Hub], Coroutine[object, None, list[ClientEdit]]]) -> int:
    with any_hub(home) as hub:
        edits = hub.ask(preview(hub), timeout_s=TIMEOUT_S)
        if args.dry_run and args.json:
            print_json(edits)
            return 0
        chosen = [edit for edit in edits if _is_chosen(edit, args)]
        made: list[ClientChange] = []
        for edit in chosen:  # each separately: what a client writes meanwhile concerns only its own file
            made += hub.ask(hub.api.ai_clients.apply_client_edits(edits={edit.id: edit.revision}), timeout_s=TIMEOUT_S)
    if not args.dry_run:
        _tell(made, is_json=args.json)
    is_failed = any(change.problem for change in made) or (bool(args.client) and any(edit.problem for edit in edits))
    return 1 if is_failed else 0


def _is_chosen(edit: ClientEdit, args: argparse.Namespace) -> bool:
    """Shows an edit, and asks whether to make it."""
    if not args.json:
        for line in _described(edit):
            print(line)
    if edit.problem or not edit.diff or args.dry_run:
        return False
    if edit.needs_own_yes and not args.client:
        if not args.json:
            print(clean_line(tr("Left as it is: {path} is under version control; name the client to change it", path=edit.path)))
        return False
    return confirmed(tr("Change {path}?", path=edit.path), yes=args.yes)


def _described(edit: ClientEdit) -> Iterable[str]:
    if edit.problem:
        return [clean_line(f"{edit.client}: {problem_line(edit.problem)}")]
    if not edit.diff:
        return [clean_line(tr("{client}: nothing has to be changed in {path}", client=edit.client, path=edit.path))]
    command = (
        [clean_line(tr("{client} makes this change itself: {command}", client=edit.client, command=edit.command[0]))]
        if edit.command
        else []
    )
    return [*command, clean(edit.diff)]


def _tell(made: list[ClientChange], *, is_json: bool) -> None:
    if is_json:
        print_json(made)
        return
    for change in made:
        if change.problem:
            print(clean_line(problem_line(change.problem)))
            continue
        note = f" {change.note}." if change.note else ""
        how = tr(" Undo it: tooltray clients undo {id}", id=change.id) if change.undo != "none" else ""
        print(clean_line(tr("{client}: {path} is changed.{note}{how}", client=change.client, path=change.path, note=note, how=how)))
