"""`tooltray discover ...` and `bundle ...`: servers of the official registry, well-known ones, and bundles.

The user sees what would run before anything is added, and is prompted for secrets, which are never arguments.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence

from tooltray.cli import values
from tooltray.cli.arguments import Usage, command
from tooltray.cli.commands.secrets_command import KEYRING_TIMEOUT_S, SecretPlace, going
from tooltray.cli.derived_commands import VerbCommands, table
from tooltray.cli.hubs import Hub, any_hub, started_hub
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.server_commands.servers_command import (
    note_log,
    note_start,
    progress_shown,
    running_in_words,
    server_snapshot,
    tools_once_started,
)
from tooltray.cli.speech import tr
from tooltray.cli.terminal import (
    answer,
    answer_list,
    clean_line,
    count,
    day,
    needs_sign_in,
    print_error,
    print_json,
    print_note,
    print_notes,
    problem_line,
)
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot, RegistryOption, RegistryServer, RegistryStatus
from tooltray.foundation.snapshots.entries import FieldValue, FormField, NewServer
from tooltray.foundation.snapshots.servers import ServerState

FETCH_TIMEOUT_S = 930.0  # for a whole registry over a slow line
BUNDLE = "mcpb"
ASK_TIMEOUT_S = 60.0  # for one server of the registry
Values = dict[str, FieldValue]
HITS = 20


def declare(parser: Usage) -> None:
    discover = parser.subcommands()
    searching = command(discover, "search", tr("search the registry, in the copy on this disk"), search)
    searching.takes("text", "TEXT", tr("search words or their beginnings; without any: all servers"), nargs="*")
    searching.takes("--lines", "COUNT", tr("default: {value}", value=HITS), short="-n", type=values.line_count, default=HITS)
    verbs = VerbCommands(discover, timeout_s=ASK_TIMEOUT_S)
    text, latest = tr("show one server of the registry, and the values it needs"), tr("default: the latest")
    named = tr("as `discover search` shows it, such as io.github.owner/server")
    verbs.add("show", text, "get_registry_server", _show, name=named, version=latest)
    adding = command(discover, "add", tr("add a server of the registry, pinned to its version; shows it first"), add)
    adding.takes("name", "NAME", tr("as `discover search` shows it"))
    adding.takes("--version", "VERSION", latest, default="")
    adding.takes("--option", "ID", tr("which install option (default: the first that works here)"), default="")
    _declare_adding(adding)
    adding.flag("--dry-run", tr("show it, and add nothing"))
    titles = (tr("ID"), tr("CATEGORY"), tr("ADDED AS"), tr("NEEDS"), tr("DESCRIPTION"))
    listed = table(titles, lambda each: (each.id, each.category, each.here or "-", each.needs or "-", each.good_for), "-")
    VerbCommands(discover, any_hub).add("starters", tr("list well-known servers"), "get_starter_servers", listed)
    starting = command(discover, "start", tr("add a well-known server; shows it first"), add_starter)
    starting.takes("id", "ID", tr("as `discover starters` shows it"))
    _declare_adding(starting)
    fetching = VerbCommands(discover, timeout_s=FETCH_TIMEOUT_S)
    fetching.add("refresh", tr("refresh the copy of the registry"), "refresh_registry", _show_refreshed)
    columns, empty = (tr("SERVER"), tr("VERSION"), tr("NEWEST"), tr("TOOLS")), tr("All servers from the registry are up to date.")
    listed = table(columns, lambda each: (each.server, each.version, each.newest, "; ".join(each.tools) or "-"), empty)
    verbs.add("updates", tr("list servers with a newer version in the registry"), "get_registry_updates", listed)
    updating = command(discover, "update", tr("pin a server to its newest version"), update)
    updating.takes("server", "SERVER", tr("its name here"))
    updating.flag("--yes", tr("do not ask for confirmation"))


def _declare_adding(add: Usage) -> None:
    text = tr("a value that it needs; repeat it for more keys or values. Tooltray asks for secrets")
    add.repeats("--set", "KEY=VALUE", text, type=values.field_value, dest="values")
    add.takes("--name", "NAME", tr("its name here (default: made of its own)"), default="", dest="server")
    add.flag("--yes", tr("do not ask whether to add it"))


def search(args: argparse.Namespace, home: Home) -> int:
    """Searches for servers; an empty copy of the registry is downloaded first, so that a first search finds something."""
    text = " ".join(args.text)
    with started_hub(home) as hub:
        found = hub.ask(hub.api.discovery.search_registry(text=text, limit=args.lines), timeout_s=ASK_TIMEOUT_S)
        if not found.status.updated_at and not found.status.problem:
            print_note(tr("Downloading the list of servers for the first time; this takes a minute ..."))
            hub.ask(hub.api.discovery.refresh_registry(), timeout_s=FETCH_TIMEOUT_S)
            found = hub.ask(hub.api.discovery.search_registry(text=text, limit=args.lines), timeout_s=ASK_TIMEOUT_S)
    if args.json:
        print_json(found)
        return 0
    titles = (tr("NAME"), tr("VERSION"), tr("AS"), tr("DESCRIPTION"))
    rows = [(each.name, each.version, ", ".join(each.kinds) or "-", each.description or each.title) for each in found.hits]
    empty = tr("No matching server in the registry.") if found.status.updated_at else tr("The registry is not downloaded yet.")
    answer_list(args, rows, titles, lambda row: row, empty=empty)
    print_notes(_about(found.status, found.total, len(found.hits)))
    return 0


def _about(status: RegistryStatus, total: int, shown: int) -> list[str]:
    more = [tr("{total} more match; add words, or use -n COUNT.", total=total - shown)] if total > shown else []
    age = [tr("As the registry was on {updated_at}.", updated_at=day(status.updated_at))] if status.updated_at else []
    return more + age + [line for line in [problem_line(status.problem)] if line]


def _show(args: argparse.Namespace, server: RegistryServer) -> int:
    return answer(args, server, *_lines(server))


def _lines(server: RegistryServer) -> list[str]:
    about = [f"{server.name} {server.version}", server.title, server.description, server.repository, server.website]
    about += [tr("Its publisher has deprecated it.") if server.is_deprecated else ""]
    lines = [line for line in about if line]
    for option in server.options:
        lines += ["", *_option_lines(option)]
    return [clean_line(line) for line in lines]


def _option_lines(option: RegistryOption) -> list[str]:
    needs = tr(", needs {needs}", needs=option.needs) if option.needs else ""
    lines = [tr("--option {id}: {kind} {label}{needs}", id=option.id, kind=option.kind, label=option.label, needs=needs)]
    if option.problem:
        return [*lines, f"  {option.problem}"]
    return lines + [f"  {_field_line(field)}" for field in option.fields]


def _field_line(field: FormField) -> str:
    kinds = [field.kind, "secret" if field.is_secret else "", "required" if field.is_required else "", "several" if field.is_list else ""]
    said = [
        ", ".join(filter(None, kinds)),
        tr("one of {choices}", choices=", ".join(field.choices)) if field.choices else "",
        "" if field.label == field.key else field.label,
        field.description,
    ]
    default = "" if field.default is None or field.is_secret else tr("default: {default}", default=field.default)
    return f"{field.key} ({'; '.join(filter(None, [*said, default]))})"


def add(args: argparse.Namespace, home: Home) -> int:
    """Shows what would run, and adds it after the person has consented."""
    with started_hub(home) as hub:
        discovery = hub.api.discovery
        server = hub.ask(discovery.get_registry_server(name=args.name, version=args.version), timeout_s=ASK_TIMEOUT_S)
        option = _option(server, args.option)
        values = _values(args, home, _fields(hub, option))
        name, version, id = server.name, server.version, option.id
        preview = discovery.preview_registry_server(name=name, version=version, option=id, values=values)
        new = hub.ask(preview, timeout_s=ASK_TIMEOUT_S)
        if args.dry_run:
            return answer(args, new, *_new_lines(new))
        if not _is_wanted(args, _new_lines(new)):
            return 1
        adding = discovery.add_registry_server(name=name, version=version, option=id, values=values, server=args.server)
        return _added(hub, args, home, hub.ask(adding, timeout_s=KEYRING_TIMEOUT_S))


def _option(server: RegistryServer, id: str) -> RegistryOption:
    """Returns the requested option, or else the first available one; the hub refuses an unavailable one with its reason."""
    usable = [each for each in server.options if each.problem is None]
    named = [each for each in server.options if each.id == id] if id else usable or list(server.options)
    if not named:
        ids = ", ".join(each.id for each in server.options)
        text = tr("{name} has no option '{id}'", name=server.name, id=id)
        raise TooltrayError(text, tr("Available: {ids}", ids=ids) if ids else tr("The registry describes no way to install it"))
    return named[0]


def _fields(hub: Hub, option: RegistryOption) -> Sequence[FormField]:
    """Returns the fields to fill in; a bundle has its own."""
    if option.kind != BUNDLE or option.problem:
        return option.fields
    return hub.ask(hub.api.bundles.read_bundle(source=option.label), timeout_s=FETCH_TIMEOUT_S).fields


def _values(
    args: argparse.Namespace, home: Home, fields: Sequence[FormField], *, from_stdin: bool = False, asks_optional: bool = False
) -> Values:
    """Returns the values typed in the command, and then those that the user is prompted for: secrets without echo, others if required.

    Args:
        asks_optional: the user is asked whether to give optional secrets, too.

    Raises:
        TooltrayError: a secret was typed in the command, or it is required and no user is there.
    """
    known, given = {field.key: field for field in fields}, dict[str, list[str]]()
    for key, value in args.values:
        if key in known and known[key].is_secret and not value.startswith("${"):
            hint = tr("Leave --set {key} out; Tooltray asks for its value or reads it from standard input", key=key)
            raise TooltrayError(tr("{key} is a secret, and other programs can read the arguments of a command", key=key), "", hint)
        given.setdefault(key, []).append(value)
    values: Values = {key: each if len(each) > 1 or (key in known and known[key].is_list) else each[0] for key, each in given.items()}
    missing = [field for field in fields if field.key not in values]
    needed = [field.key for field in missing if field.is_required and field.default in (None, ())]
    for field in missing:
        if field.key in needed and not field.is_secret and is_person_there():
            values[field.key] = _typed(field)
    secrets = [field.key for field in missing if field.is_secret and (field.key in needed or (asks_optional and _is_given(field)))]
    return values | SecretPlace(home).ask(secrets, from_stdin=from_stdin)


def _is_given(field: FormField) -> bool:
    """Asks whether the user wants to give an optional secret."""
    otherwise = tr("it is kept otherwise") if field.placeholder else tr("not needed")
    return confirmed(tr("Enter {label} ({otherwise})?", label=field.label, otherwise=otherwise), yes=False)


def _typed(field: FormField) -> str:
    about = f" ({clean_line(field.description)})" if field.description else ""
    try:
        return input(f"{clean_line(field.label)}{about}: ")
    except EOFError:
        return ""


def _new_lines(new: NewServer) -> list[str]:
    lines = [tr("Name: {name}", name=new.name), tr("From: {origin}", origin=new.origin)]
    lines += [tr("Runs: {command}", command=joined(new.command))] if new.command else [tr("Address: {url}", url=new.url)]
    for what, member in (("Variables", "env"), ("Headers", "headers")):
        if names := new.entry.get(member):
            lines.append(f"{what}: {', '.join(names)}")
    lines += [tr("Secrets: {secrets}", secrets=", ".join(new.secrets))] if new.secrets else []
    return [clean_line(line) for line in (*lines, *(tr("Warning: {warning}", warning=warning) for warning in new.warnings))]


def _is_wanted(args: argparse.Namespace, lines: list[str]) -> bool:
    if args.json:
        print_notes(lines)
    else:
        print("\n".join(lines))
    return confirmed(tr("Add it?"), yes=args.yes)


def add_starter(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        listed = hub.ask(hub.api.discovery.get_starter_servers())
        starter = next((each for each in listed if each.id == args.id), None)
        if starter is None:
            raise TooltrayError(tr("'{id}' is not a well-known server", id=args.id), "", tr("See: tooltray discover starters"))
        values = _values(args, home, starter.fields)
        lines = [
            tr("Name: {value}", value=args.server or starter.id),
            tr("Runs: {target}", target=starter.target),
            *(f"{key}: {value}" for key, value in _plain(starter.fields, values)),
        ]
        if not _is_wanted(args, [clean_line(line) for line in lines]):
            return 1
        adding = hub.api.discovery.add_starter_server(id=starter.id, values=values, server=args.server)
        return _added(hub, args, home, hub.ask(adding, timeout_s=KEYRING_TIMEOUT_S))


def _plain(fields: Sequence[FormField], values: Values) -> list[tuple[str, FieldValue]]:
    secret = {field.key for field in fields if field.is_secret}
    return [(key, "(secret)" if key in secret else value) for key, value in values.items()]


def _started(args: argparse.Namespace, home: Home, hub: Hub, done: Mapping[str, object], works: Callable[[str], str], fails: str) -> int:
    """Starts a server that was added, and reports the outcome; returns 1 if it does not start, so that a script notices.

    Args:
        done: the result for `--json` so far.
        works: makes the text for a server that runs, from what it has.
    """
    server, tools, problem = str(done["server"]), None, None
    note_start(server)
    try:
        with progress_shown(home, server):
            tools = tools_once_started(hub, server)
    except TooltrayError as error:
        problem = error.problem
    snapshot = server_snapshot(hub, server) if problem or args.json else None
    if problem and snapshot is not None and snapshot.state is ServerState.NEEDS_SIGN_IN:
        return answer(args, {**done, "started": False}, tr("Added {name}; {name2}", name=server, name2=needs_sign_in(server)))
    result = {**done, "started": problem is None, "tools": tools, "snapshot": snapshot or {}}
    answer(args, result, fails if problem else works(running_in_words(tools)))
    if problem:
        print_error(problem, as_json=args.json)
        note_log(server)
    return 1 if problem else 0


def _added(hub: Hub, args: argparse.Namespace, home: Home, name: str) -> int:
    fails = tr("Added {name}, which failed to start.", name=name)
    return _started(args, home, hub, {"server": name}, lambda tools: tr("Added {name}; it {tools}.", name=name, tools=tools), fails)


def _show_refreshed(args: argparse.Namespace, status: RegistryStatus) -> int:
    if status.problem:
        print_error(status.problem, as_json=args.json)
        return 1
    return answer(args, status, tr("The registry has {count}.", count=count(status.servers, "server")))


def update(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = hub.ask(hub.api.discovery.get_registry_updates(), timeout_s=ASK_TIMEOUT_S)
        for each in (each for each in found if each.server == args.server):
            line = tr(
                "{name}: {version} becomes {newest}. {tools}",
                name=each.name,
                version=each.version,
                newest=each.newest,
                tools="; ".join(each.tools),
            )
            print_note(line)
            if not confirmed(tr("Update it?"), yes=args.yes):
                return 1
        hub.ask(hub.api.discovery.update_registry_server(server=args.server), timeout_s=KEYRING_TIMEOUT_S)
    text = tr("{server} has the newest version now. Changed tools are blocked until you review them.", server=args.server)
    return answer(args, {"server": args.server}, text)


READ_TIMEOUT_S = 1860.0  # a download may take half an hour; the hub's own limit is shorter and gives a reason
SHOWN_CHARACTERS = 16  # characters of a SHA-256 in a list
SOURCE = Phrase("a .mcpb or .dxt file, or its address")


def declare_bundle(parser: Usage) -> None:
    bundles = parser.subcommands()
    command(bundles, "show", tr("show what a bundle contains and would run, and install nothing"), show_bundle).takes(
        "source", "FILE", SOURCE
    )
    installing = command(bundles, "install", tr("install a bundle, or update an installed one"), install_bundle)
    installing.takes("source", "FILE", SOURCE)
    installing.takes("--name", "NAME", tr("the server's name, new or to be updated"), default="")
    installing.repeats("--set", "KEY=VALUE", tr("one of its settings; repeat for several values"), type=values.field_value, dest="values")
    installing.flag("--secret-stdin", tr("read the secrets from standard input, one a line"))
    installing.flag("--yes", tr("do not ask for confirmation"))
    titles = (tr("SERVER"), tr("BUNDLE"), tr("VERSION"), tr("PUBLISHER"), tr("INSTALLED"), "SHA-256")
    listed = table(titles, _bundle_row, tr("No bundles yet. Install one: tooltray bundle install FILE"))
    VerbCommands(bundles).add("list", tr("list the servers installed as bundles"), "get_bundles", listed)
    removing = command(bundles, "remove", tr("remove a bundle's server, its secrets and its files"), remove_bundle)
    removing.takes("name", "SERVER")
    removing.flag("--yes", tr("do not ask for confirmation"))


def show_bundle(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        offer = _read(hub, args)
    return answer(args, offer, *_bundle_lines(offer))


def install_bundle(args: argparse.Namespace, home: Home) -> int:
    """Installs a bundle once the person has seen what it would run.

    Returns:
        1 if it was installed but does not start, so that a script notices.
    """
    with started_hub(home) as hub:
        offer = _read(hub, args)
    for problem in offer.problems:
        raise TooltrayError(problem.title, problem.message, problem.hint)
    asks_optional = not (args.yes or args.secret_stdin) and is_person_there()
    values = _values(args, home, offer.fields, from_stdin=args.secret_stdin, asks_optional=asks_optional)  # no lock is held meanwhile
    with started_hub(home) as hub:
        new = hub.ask(hub.api.bundles.preview_bundle(source=offer.source, sha256=offer.sha256, values=values), timeout_s=READ_TIMEOUT_S)
    if not args.yes:
        print("\n".join([*_bundle_lines(offer), tr("Runs:      {command}", command=clean_line(joined(new.command)))]))
        if not confirmed(tr("Install it as '{value}'?", value=args.name or new.name), yes=False):
            print(tr("Nothing was changed."))
            return 0
    with started_hub(home) as hub:
        installing = hub.api.bundles.install_bundle(source=offer.source, sha256=offer.sha256, values=values, server=args.name)
        server = hub.ask(installing, timeout_s=None)  # the keyring may ask to be unlocked
        is_update = offer.here == server
        done = {"server": server, "version": offer.version, "sha256": offer.sha256, "updated": is_update}
        title, version = clean_line(offer.title), clean_line(offer.version)
        if is_update:
            fails = tr("Updated {title} {version} as {server}, which failed to start.", title=title, version=version, server=server)
        else:
            fails = tr("Installed {title} {version} as {server}, which failed to start.", title=title, version=version, server=server)

        def works(tools: str) -> str:
            if is_update:
                return tr("Updated {title} {version} as {server}; it {tools}.", title=title, version=version, server=server, tools=tools)
            return tr("Installed {title} {version} as {server}; it {tools}.", title=title, version=version, server=server, tools=tools)

        return _started(args, home, hub, done, works, fails)


def remove_bundle(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = next((each for each in hub.ask(hub.api.bundles.get_bundles()) if each.server == args.name), None)
        secrets = going(hub.ask(hub.api.secrets.preview_removal(name=args.name), timeout_s=None)) if found else []
    if found and is_person_there() and not args.yes:
        question = tr(
            "Remove {name} and the files of {title} {version}? {secrets}",
            name=args.name,
            title=found.title,
            version=found.version,
            secrets=" ".join(secrets),
        )
        if not confirmed(question, yes=False):
            print(tr("Nothing was changed."))
            return 0
    with started_hub(home) as hub:
        hub.ask(hub.api.bundles.remove_bundle(server=args.name), timeout_s=None)
    return answer(args, {"server": args.name, "removed": True}, tr("Removed {name}.", name=args.name))


def _read(hub: Hub, args: argparse.Namespace) -> BundleOffer:
    is_address = args.source.lower().startswith(("http:", "https:", "file:"))
    if is_address and not args.source.lower().startswith("file:"):
        print_note(tr("Downloading {source} ...", source=args.source))
    source = args.source if is_address else os.path.abspath(os.path.expanduser(args.source))
    return hub.ask(hub.api.bundles.read_bundle(source=source), timeout_s=READ_TIMEOUT_S)


def _bundle_lines(offer: BundleOffer) -> list[str]:
    """Returns the facts that a person should know before consenting."""
    here = tr(" (replaces {here_version}, added as '{here}')", here_version=offer.here_version, here=offer.here) if offer.here else ""
    signature = "none" if offer.signature == "none" else tr("signed, but not verified")
    lines = [
        f"{offer.title} {offer.version}{here}",
        offer.description,
        tr("Publisher: {value}, according to the bundle", value=offer.author or "?"),
        tr("Signature: {signature}", signature=signature),
        tr("SHA-256:   {sha256}", sha256=offer.sha256),
        tr("Command:   {command}", command=joined(offer.command)),
    ]
    lines += [tr("Tools:     {tools}", tools=", ".join(offer.tools))] if offer.tools else []
    lines += [tr("Setting:   {field}", field=_field_line(field)) for field in offer.fields]
    lines += [f"Warning:   {warning}" for warning in offer.warnings] + [f"Problem:   {problem}" for problem in offer.problems]
    return [clean_line(line) for line in lines if line]


def _bundle_row(bundle: BundleSnapshot) -> list[str]:
    installed = day(bundle.installed_at) if bundle.installed_at else "?"
    return [bundle.server, bundle.title, bundle.version, bundle.author, installed, bundle.sha256[:SHOWN_CHARACTERS]]
