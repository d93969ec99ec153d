"""`tooltray servers add` and `set`: make an entry from the arguments, or change fields of one, and store it with its secrets."""

import argparse
import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence

import msgspec

from tooltray.cli.commands.permissions_command import READ, checked_rules, rules_in_words, rules_of_entry
from tooltray.cli.commands.secrets_command import SecretPlace
from tooltray.cli.commands.status_command import listing_line
from tooltray.cli.hubs import Hub, any_hub, started_hub
from tooltray.cli.person import YES, check_terminal, is_person_there, typed_answer
from tooltray.cli.server_commands.servers_command import (
    STOP_TIMEOUT_S,
    note_log,
    note_start,
    progress_shown,
    running_in_words,
    server_snapshot,
    tools_once_started,
)
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, needs_sign_in, print_error, print_json, print_note
from tooltray.config.secrets.vaults import SecretsAbsent
from tooltray.config.settings.server_config import SPELLINGS
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.upstream.project_folder import is_inside
from tooltray.sources.entries.portable_entry import with_new_secrets_moved

CLIENT_SECRET = "CLIENT_SECRET"  # after the server's name
FILE = ".mcp.json"
_KEY_HEADER = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)

Entry = JsonObject  # a server's entry, as in a file


def add(args: argparse.Namespace, home: Home) -> int:
    """Adds a server; with a hub running, a default server starts at once.

    Returns:
        1 if it was added but does not start, so that a script notices. A server that waits for a sign-in has not failed.
    """
    rules = [READ] if args.ask else checked_rules(args.name, args.approve)
    args.server, args.is_approval_chosen, args.confinement = args.name, bool(rules), None
    if args.project is not None:
        args.project = os.path.realpath(os.path.expanduser(args.project))  # the hub decides whether it may be a project
        started_hub(home).close()  # only the hub writes a project's file, and trusts what it writes
    if args.inmemory:
        _confirm_inside(args)
    with any_hub(home) as hub:
        _refuse_taken_name(hub, args)
        args.rules = rules or _rules_so_far(hub, args.name)
        twin = _twin(hub, args)
    names = [f"{args.name}/{key}" for key in (*args.secret, *_secret_headers(args), *([CLIENT_SECRET] if args.client_secret else []))]
    place = SecretPlace(home)
    try:
        values = _typed_secrets(args) | place.ask(names, from_stdin=args.secret_stdin)
        names = [*names, *_typed_secrets(args)]
        with progress_shown(home, args.name):
            added = place.run(lambda hub: _add(hub, args, values))
    except SecretsAbsent as error:
        if not _typed_secrets(args):
            raise
        hint = tr("{hint}; --plain writes apparent secrets into the settings", hint=error.problem.hint)
        raise SecretsAbsent(error.problem.title, error.problem.message, hint) from None
    if args.json:
        done = {"server": args.server, "default": not (args.on_demand or args.deferred), "autoApprove": args.rules, "secrets": names}
        done |= {"project": args.project} if args.project else {}
        print_json(done | {"started": added.is_started, "tools": added.tools, "needs_sign_in": added.needs_sign_in})
    else:
        print(_added_line(args, added))
        print(rules_in_words(args.rules))
        if args.confinement:
            print(tr("It is sandboxed, as your settings want it for new servers."))
        if added.listing:
            print(added.listing)
        if twin:
            text = tr(
                "{twin} runs the same command, so these tools are offered twice. Remove one: tooltray servers remove {server}",
                twin=twin,
                server=args.server,
            )
            print_note(text)
        _note_files_of_here(args)
        _note_plain_headers(args)
        _note_typed_secrets(args)
        note_secret_arguments(args.name, args.command_line)
        _note_missing_variables(args)
        _note_braces(args)
    if added.problem is not None:
        print_error(added.problem, as_json=args.json)
        if added.has_log:
            note_log(args.server)
        return 1
    return 0


class _Added(msgspec.Struct, frozen=True):
    """The outcome of adding a server: whether it was started, how many tools it has if it has listed them, whether it waits for a sign-in,
    other obstacles, and which tools AI clients get now.
    """

    is_hub_running: bool
    is_started: bool = False
    tools: int | None = None
    needs_sign_in: bool = False
    problem: Problem | None = None
    has_log: bool = False
    listing: str = ""


def _add(hub: Hub, args: argparse.Namespace, values: dict[str, str]) -> _Added:
    _refuse_taken_name(hub, args)
    _store(hub, args, values)
    if args.rules is None:
        stored = _entries(hub).get(args.server, {})
        args.rules, args.confinement = rules_of_entry(stored), stored.get("confinement")
    if args.inmemory:
        _say_yes(hub, args.name)
    if args.on_demand or args.deferred or not hub.is_running:
        return _Added(hub.is_running)
    note_start(args.server)
    return _started(hub, args)


def _started(hub: Hub, args: argparse.Namespace) -> _Added:
    try:
        return _Added(True, is_started=True, tools=tools_once_started(hub, args.server), listing=listing_line(hub))
    except TooltrayError as error:
        if path := _found_at_terminal(args, error):
            args.command_line = [path, *args.command_line[1:]]
            hub.ask(hub.api.servers.update_mcp_server(name=args.name, config=_entry(args)), timeout_s=STOP_TIMEOUT_S)
            print_note(tr("Only this terminal finds the command, so its full path is saved: {path}", path=path))
            return _started(hub, args)
        is_waiting = _is_waiting_for_sign_in(hub, args.server)
        return _Added(True, needs_sign_in=is_waiting, problem=None if is_waiting else error.problem, has_log=_has_log(hub, args.server))


def _found_at_terminal(args: argparse.Namespace, error: TooltrayError) -> str:
    """Returns the path of a command that only this terminal finds, as in a virtual environment; empty if it is not found or not
    requested.
    """
    from tooltray.servers.launch.command_lookup import not_found_title

    if not args.command_line or args.project or args.inmemory or not is_person_there():
        return ""
    command = args.command_line[0]
    is_missing = os.sep not in command and error.problem.title.endswith(not_found_title(command))
    return os.path.abspath(found) if is_missing and (found := shutil.which(command)) else ""


def _has_log(hub: Hub, name: str) -> bool:
    with contextlib.suppress(TooltrayError):  # the hub has ended
        return bool(hub.ask(hub.api.servers.get_server_log(name=name, lines=1)))
    return False


def _is_waiting_for_sign_in(hub: Hub, name: str) -> bool:
    with contextlib.suppress(TooltrayError):  # the hub has ended, which is being reported already
        server = server_snapshot(hub, name)
        return server is not None and server.state is ServerState.NEEDS_SIGN_IN
    return False


def _store(hub: Hub, args: argparse.Namespace, values: Mapping[str, str]) -> None:
    timeout_s = None if values else STOP_TIMEOUT_S  # the keyring may ask the user to unlock it
    servers, entry, is_default = hub.api.servers, _entry(args), not (args.on_demand or args.deferred)
    if args.project:
        entry = project_entry(entry, args.project, is_approval_chosen=args.is_approval_chosen)
        adding = servers.add_mcp_server(name=args.name, config=entry, project=args.project, secrets=values)
        args.server = hub.ask(adding, timeout_s=timeout_s)  # another name if this one is taken
        return
    if args.name not in _entries(hub):
        hub.ask(servers.add_mcp_server(name=args.name, config=entry, is_default=is_default, secrets=values), timeout_s=timeout_s)
        return
    hub.ask(servers.update_mcp_server(name=args.name, config=entry, secrets=values), timeout_s=timeout_s)
    choosing = servers.add_mcp_default_server if is_default else servers.remove_mcp_default_server
    hub.ask(choosing(name=args.name), timeout_s=STOP_TIMEOUT_S)


def _entries(hub: Hub) -> dict[str, Entry]:
    return hub.ask(hub.api.servers.get_mcp_servers())


def _refuse_taken_name(hub: Hub, args: argparse.Namespace) -> None:
    if not args.replace and args.name in _entries(hub):
        hint = tr("Choose another name") if args.project else tr("Choose another name, or replace it with --replace")
        raise TooltrayError(tr("A server called {name} already exists", name=args.name), "", hint)


def _rules_so_far(hub: Hub, name: str) -> list[str] | None:
    """Returns the rules of a server that is replaced: the new one may run no further calls without asking. None: it is a new server, for
    which the settings decide.
    """
    entry = _entries(hub).get(name)
    return None if entry is None else rules_of_entry(entry)


def _twin(hub: Hub, args: argparse.Namespace) -> str:
    """Returns the name of another server that runs the same program in the same way; empty without one."""
    from tooltray.config.settings.given_entries import read_entry
    from tooltray.config.settings.server_config import config_hash

    for name, entry in _entries(hub).items():
        with contextlib.suppress(TooltrayError):  # an entry that cannot be used runs nothing, and the new one is refused when it is stored
            is_same = config_hash(read_entry(name, entry)) == config_hash(read_entry(args.name, _entry(args)))
            if is_same and name != args.name and not read_entry(name, entry).disable:
                return name
    return ""


def _added_line(args: argparse.Namespace, added: _Added) -> str:
    what = tr("{server} to {project}", server=args.server, project=os.path.join(args.project, FILE)) if args.project else args.server
    if added.is_started:
        return tr("Added {what}; it {tools}.", what=what, tools=running_in_words(added.tools))
    if added.needs_sign_in:
        return tr("Added {what}; {server}", what=what, server=needs_sign_in(args.server))
    if args.deferred:
        return tr("Added {name}; it starts when an AI client works on a project{value}.", name=args.name, value=_stops_again(args))
    if args.on_demand:
        return tr("Added {name}; it starts when it is first used{value}.", name=args.name, value=_stops_again(args))
    return (
        tr("Added {what}, which failed to start.", what=what)
        if added.problem
        else tr("Added {name}; it starts with Tooltray.", name=args.name)
    )


def _note_braces(args: argparse.Namespace) -> None:
    """Prints a note about placeholders that are not filled in."""
    if args.deferred:
        from tooltray.config.settings.expansion import project_remark
        from tooltray.config.settings.given_entries import read_entry

        if remark := project_remark(read_entry(args.name, _entry(args))):
            print_note(remark)


def _stops_again(args: argparse.Namespace) -> str:
    return tr(" and stops after {idle_stop} s without a call", idle_stop=f"{args.idle_stop:g}") if args.idle_stop else ""


def _entry(args: argparse.Namespace) -> Entry:
    """Returns the entry for the settings."""
    return _without_typed_secrets(args)[0]


def _typed_secrets(args: argparse.Namespace) -> dict[str, str]:
    """Returns the secrets that were typed as values of variables, headers, arguments and the address, by their names."""
    return _without_typed_secrets(args)[1]


def _without_typed_secrets(args: argparse.Namespace) -> tuple[Entry, dict[str, str]]:
    from tooltray.sources.entries.portable_entry import with_new_secrets_moved

    entry = _typed_entry(args)
    return (entry, {}) if args.plain else with_new_secrets_moved(args.name, entry, {})


def _typed_entry(args: argparse.Namespace) -> Entry:
    entry = _remote_entry(args) if args.url else _inside_entry(args) if args.inmemory else _command_entry(args)
    optional = {"icons": args.icon, "descriptions": args.description, "isolation": args.isolation, "idleStop": args.idle_stop}
    given = {field: value for field, value in optional.items() if value}
    access = {"autoApprove": args.rules, "confinement": args.confinement}
    return entry | given | _deferred(args) | {field: value for field, value in access.items() if value is not None}


def _deferred(args: argparse.Namespace) -> Entry:
    template = {} if args.template is None else {"startupArgsTemplate": shlex.split(args.template)}
    return {"deferredStartup": True} | template if args.deferred else {}


def _remote_entry(args: argparse.Namespace) -> Entry:
    secrets = {name: f"{prefix}${{secret:{args.name}/{name}}}" for name, prefix in _secret_headers(args).items()}
    headers, oauth = dict(args.header) | secrets, _oauth(args)
    entry = {"type": "sse" if args.sse else "http", "url": args.url}
    return entry | ({"headers": headers} if headers else {}) | ({"oauth": oauth} if oauth else {})


def _oauth(args: argparse.Namespace) -> Entry:
    """Returns the options for signing in that the server does not announce itself."""
    given = {
        "clientId": args.client_id,
        "clientSecret": f"${{secret:{args.name}/{CLIENT_SECRET}}}" if args.client_secret else None,
        "scopes": args.scope,
        "redirectPort": args.redirect_port,
        "grant": "client_credentials" if args.client_credentials else None,
    }
    return {field: value for field, value in given.items() if value}


def _secret_headers(args: argparse.Namespace) -> dict[str, str]:
    """Returns the headers whose value is a secret, with the text before the secret."""
    return dict.fromkeys(args.header_secret, "") | ({"Authorization": "Bearer "} if args.bearer_secret else {})


def _inside_entry(args: argparse.Namespace) -> Entry:
    return {"type": "inmemory", "command": args.inmemory, "args": list(args.command_line)}


def _confirm_inside(args: argparse.Namespace) -> None:
    """Raises:
    TooltrayError: no person is at a terminal to read the sentence, or the user declines.
    """
    from tooltray.sources.project_files.trust_requests import INSIDE

    check_terminal(tr("A server inside Tooltray"))
    print(clean_line(f"{args.name}: {shlex.join([args.inmemory, *args.command_line])}"))
    print(tr("Warning: {inside}.", inside=INSIDE))
    if typed_answer(tr("Add it, and let it run?")) not in YES:
        raise TooltrayError(tr("{name} was not added", name=args.name), tr("you declined"))


def _say_yes(hub: Hub, name: str) -> None:
    """Approves the stored server, since the person has consented to exactly this before it was stored."""
    requests = hub.ask(hub.api.files.get_trust_requests())
    digests = {request.entry: request.digest for request in requests if request.entry == name and request.transport == "inmemory"}
    if digests:
        hub.ask(hub.api.files.trust_entries(project="", entries=digests))


def _command_entry(args: argparse.Namespace) -> Entry:
    """Makes paths absolute, as the hub runs elsewhere."""
    command, *arguments = args.command_line
    folder = os.path.abspath(args.cwd) if args.cwd and not args.cwd.startswith(("~", "$")) else args.cwd
    if os.sep in command and not command.startswith(("~", "$")):
        command = os.path.abspath(os.path.join(folder or "", command))
    entry: Entry = {"command": command, "args": arguments}
    env = dict(args.env) | {key: f"${{secret:{args.name}/{key}}}" for key in args.secret}
    return entry | ({"env": env} if env else {}) | ({"cwd": folder} if folder else {})


def _note_files_of_here(args: argparse.Namespace) -> None:
    """Prints a note about relative paths: `python server.py` works only in this folder; the commonest reason why a new server does not
    start.
    """
    relative = (word for word in args.command_line[1:] if not os.path.isabs(word))
    found = next((word for word in relative if os.path.isfile(word)), None)
    if found and not (args.cwd or args.project):
        text = tr(
            "{found} is in this folder, but the server runs in your home folder. To run it here: tooltray servers set {name} --cwd .",
            found=found,
            name=shlex.quote(args.name),
        )
        print_note(text)


def _note_plain_headers(args: argparse.Namespace) -> None:
    """Prints a note about a header in the settings that may be a key."""
    headers = _entry(args).get("headers", {})
    if plain := next((name for name, value in headers.items() if _KEY_HEADER.search(name) and "${" not in value), None):
        text = tr(
            "{key} is now in plain text in the settings. To keep it secret: tooltray servers set {name} {option} {key}",
            key=plain,
            name=shlex.quote(args.name),
            option="--header-secret",
        )
        print_note(text)


def _note_typed_secrets(args: argparse.Namespace) -> None:
    """Prints a note about secrets that were typed: they are not in the settings, but in the shell's history."""
    if names := ", ".join(_typed_secrets(args)):
        text = tr(
            "{names}: stored with your secrets, not in the settings (--plain writes them there). Your shell's history contains them.",
            names=names,
        )
        print_note(text)


def note_secret_arguments(name: str, words: Sequence[str]) -> None:
    """Prints a note about arguments that look like passwords or keys: storing them as secrets would not help, since other programs can read
    arguments.
    """
    from tooltray.config.settings.secret_looks import HIDDEN, hidden_words

    shown = list(hidden_words(words))
    if shown != list(words):
        text = tr(
            "{line}: {hidden} looks like a password or key, and other programs can read arguments. If the server "
            "can read it from a variable, use: tooltray servers set {name} --secret VARIABLE --arg ... (with the "
            "other arguments)",
            line=shlex.join(shown).replace(f"'{HIDDEN}'", HIDDEN),
            hidden=HIDDEN,
            name=shlex.quote(name),
        )
        print_note(text)


def _note_missing_variables(args: argparse.Namespace) -> None:
    """Prints a note about missing variables: a well-known server may start without its key, and fail at each call."""
    if args.url or args.inmemory:
        return
    from tooltray.catalogue.known_servers import KnownServers
    from tooltray.config.settings.given_entries import read_entry
    from tooltray.foundation.programs import resource

    needs = KnownServers(resource("known-servers.json")).variables(args.name, read_entry(args.name, _entry(args)))
    given = {*args.secret, *(name for name, _ in args.env), *os.environ}
    for name in (name for name in needs if name not in given):
        print_note(tr("It usually needs {key}. Add it: tooltray servers set {name} --secret {key}", key=name, name=shlex.quote(args.name)))


def project_entry(entry: Entry, folder: str, *, is_approval_chosen: bool) -> Entry:
    """Returns an entry for a project's own file. Paths inside the project are relative to its folder, so that the file can be shared.

    Args:
        entry: as for the settings, its paths absolute.
        folder: the project's.
        is_approval_chosen: a person chose approval rules; if not, the file gets none.
    """
    written = {field: value for field, value in entry.items() if field != "autoApprove" or is_approval_chosen}
    command, cwd = written.get("command", ""), written.pop("cwd", "")
    if os.path.isabs(command) and is_inside(command, folder):
        written["command"] = os.path.join(os.curdir, os.path.relpath(command, folder))
    if cwd and os.path.realpath(cwd) != folder:
        written["cwd"] = os.path.relpath(cwd, folder) if is_inside(cwd, folder) else cwd
    return written


def change(args: argparse.Namespace, home: Home) -> int:
    """Changes the given fields. The hub restarts the server if that changes what runs."""
    with any_hub(home) as hub:
        changed(_entry_of(hub, args.name), args)  # refused before a secret is typed
    names = [f"{args.name}/{key}" for key in (*args.secret, *args.header_secret)]
    place = SecretPlace(home)
    values = place.ask(names, from_stdin=args.secret_stdin)
    place.run(lambda hub: _store_change(hub, args, values))
    if not args.json:
        note_secret_arguments(args.name, args.arg or ())
    return answer(args, {"server": args.name, "secrets": names}, tr("Changed {name}.", name=args.name))


def _store_change(hub: Hub, args: argparse.Namespace, values: Mapping[str, str]) -> None:
    before = _entry_of(hub, args.name)
    entry, typed = with_new_secrets_moved(args.name, changed(before, args), before, taken=values)
    secrets = {**typed, **values}
    timeout_s = None if secrets else STOP_TIMEOUT_S  # the keyring may ask the user to unlock it
    hub.ask(hub.api.servers.update_mcp_server(name=args.name, config=entry, secrets=secrets), timeout_s=timeout_s)


def _entry_of(hub: Hub, name: str) -> Entry:
    return dict(hub.ask(hub.api.servers.get_server_entry(name=name)).entry)


def changed(entry: JsonMapping, args: argparse.Namespace) -> Entry:
    """Returns the entry with the given changes.

    Raises:
        TooltrayError: a change does not fit a server of that kind.
        NotFound: a variable or header that is to be removed does not exist.
    """
    url = next((spelling for spelling in SPELLINGS["base_url"] if entry.get(spelling)), "")
    if url and (args.env or args.secret or args.arg or args.cwd):
        raise TooltrayError(tr("{name} is a remote server", name=args.name), hint=tr("Change it with --url, --header or --header-secret"))
    if not url and (args.url or args.header or args.header_secret):
        raise TooltrayError(tr("{name} is a local command", name=args.name), hint=tr("Change it with --env, --secret, --arg or --cwd"))
    headers = next((spelling for spelling in SPELLINGS["custom_headers"] if spelling in entry), "headers")
    field, given = (headers, args.header) if url else ("env", args.env)
    keys = args.header_secret if url else args.secret
    pairs = {**(entry.get(field) or {}), **dict(given), **{key: f"${{secret:{args.name}/{key}}}" for key in keys}}
    for key in args.unset:
        if pairs.pop(key, None) is None:
            raise NotFound(tr("{name} has no variable or header {key}", name=args.name, key=key))
    fields = {
        url: args.url,
        "args": args.arg,
        "cwd": os.path.abspath(args.cwd) if args.cwd and not args.cwd.startswith(("~", "$")) else args.cwd,
        "callTimeout": args.timeout,
        "startTimeout": args.start_timeout,
    }
    given_fields = {name: value for name, value in fields.items() if value is not None}
    return {**entry, **given_fields, **({field: pairs} if pairs or field in entry else {})}
