"""`tooltray bundle ...`: shows, installs, lists and removes bundles.

A hub is started if none runs, because it has to run the programs in bundles.
"""

import argparse
import os
from collections.abc import Iterable, Sequence

from tooltray.cli import values
from tooltray.cli.commands.secrets_command import going
from tooltray.cli.derived_commands import VerbCommands, table
from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.person import confirmed, is_person_there
from tooltray.cli.secret_place import SecretPlace
from tooltray.cli.server_commands.servers_command import note_start, progress_shown, running_in_words, server_snapshot, tools_once_started
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, day, print_error, print_json, print_note
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.entries import FieldValue, FormField

READ_TIMEOUT_S = 1860.0  # a download may take half an hour; the hub's own limit is shorter and gives a reason
SHOWN_CHARACTERS = 16  # characters of a SHA-256 in a list
SOURCE = Phrase("a .mcpb or .dxt file, or its address")


def declare(parser: Usage) -> None:
    bundles = parser.subcommands()
    command(bundles, "show", tr("say what is in a bundle and what it would run, and install nothing"), show).takes("source", "FILE", SOURCE)
    installing = command(bundles, "install", tr("install a bundle, or a newer one in the place of an older one"), install)
    installing.takes("source", "FILE", SOURCE)
    installing.takes("--name", "NAME", tr("what the server is called here, or which one is updated"), default="")
    installing.repeats("--set", "KEY=VALUE", tr("one of its settings; again for several values"), type=values.field_value)
    installing.flag("--secret-stdin", tr("read the secrets from standard input, one a line"))
    installing.flag("--yes", tr("do not ask"))
    titles = (tr("SERVER"), tr("BUNDLE"), tr("VERSION"), tr("PUBLISHER"), tr("INSTALLED"), "SHA-256")
    listed = table(titles, _row, tr("There are no bundles yet. Install one with: tooltray bundle install FILE"))
    VerbCommands(bundles).add("list", tr("list the servers that came as bundles"), "get_bundles", listed)
    removing = command(bundles, "remove", tr("remove a bundle's server, its secrets and its files"), remove)
    removing.takes("name", "SERVER")
    removing.flag("--yes", tr("do not ask"))


def show(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        offer = _read(hub, args)
    return answer(args, offer, *_lines(offer))


def install(args: argparse.Namespace, home: Home) -> int:
    """Installs a bundle once the person has seen what it would run.

    Returns:
        1 if it was installed but does not start, so that a script notices.
    """
    with started_hub(home) as hub:
        offer = _read(hub, args)
    for problem in offer.problems:
        raise TooltrayError(problem.title, problem.message, problem.hint)
    values = _values(offer, args, home)  # no lock is held while the user types
    with started_hub(home) as hub:
        new = hub.ask(hub.api.bundles.preview_bundle(source=offer.source, sha256=offer.sha256, values=values), timeout_s=READ_TIMEOUT_S)
    if not args.yes:
        print("\n".join([*_lines(offer), tr("Runs:      {command}", command=clean_line(joined(new.command)))]))
        if not confirmed(tr("Install it as '{value}'?", value=args.name or new.name), yes=False):
            print(tr("Nothing was changed."))
            return 0
    with started_hub(home) as hub:
        installing = hub.api.bundles.install_bundle(source=offer.source, sha256=offer.sha256, values=values, server=args.name)
        server = hub.ask(installing, timeout_s=None)  # the keyring may ask to be unlocked
        return _started(args, home, hub, server, offer)


def remove(args: argparse.Namespace, home: Home) -> int:
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


def _values(offer: BundleOffer, args: argparse.Namespace, home: Home) -> dict[str, FieldValue]:
    """Returns the values typed in the command, and those that the user is prompted for: secrets without echo, others if required.

    Raises:
        TooltrayError: a secret was typed in the command, where others can read it; or a value is required and no user is there.
    """
    given: dict[str, list[str]] = {}
    for key, value in args.set:
        given.setdefault(key, []).append(value)
    fields = {field.key: field for field in offer.fields}
    if hidden := next((key for key in given if key in fields and fields[key].is_secret), None):
        raise TooltrayError(
            tr("{hidden} is a secret", hidden=hidden),
            tr("others can read what is typed behind a command"),
            tr("Leave it out; it is asked for"),
        )
    values: dict[str, FieldValue] = {key: _one_or_many(fields.get(key), each) for key, each in given.items()}
    for field in offer.fields:
        if field.is_required and not field.is_secret and field.default is None and field.key not in values and is_person_there():
            values[field.key] = _typed(field)
    wanted = [field.key for field in offer.fields if field.is_secret and (field.is_required or _wants(field, args))]
    return {**values, **SecretPlace(home).ask(wanted, from_stdin=args.secret_stdin)}


def _wants(field: FormField, args: argparse.Namespace) -> bool:
    """Asks whether the user wants to give an optional secret."""
    if args.yes or args.secret_stdin or not is_person_there():
        return False
    text = tr(
        "Give it {label} ({otherwise})?", label=field.label, otherwise=tr("it is kept otherwise") if field.placeholder else tr("not needed")
    )
    return confirmed(text, yes=False)


def _one_or_many(field: FormField | None, values: Sequence[str]) -> FieldValue:
    return list(values) if (field and field.is_list) or len(values) > 1 else values[0]


def _typed(field: FormField) -> str:
    about = f" ({clean_line(field.description)})" if field.description else ""
    try:
        return input(f"{clean_line(field.label)}{about}: ")
    except EOFError:
        return ""


def _started(args: argparse.Namespace, home: Home, hub: Hub, server: str, offer: BundleOffer) -> int:
    word = "Updated" if offer.here == server else "Installed"
    done: dict[str, object] = {"server": server, "version": offer.version, "sha256": offer.sha256, "updated": offer.here == server}
    note_start(server)
    problem: Problem | None = None
    tools: int | None = None
    try:
        with progress_shown(home, server):
            tools = tools_once_started(hub, server)
    except TooltrayError as error:
        problem = error.problem
    if args.json:
        print_json({**done, "started": problem is None, "tools": tools, "snapshot": as_json(server_snapshot(hub, server) or {})})
    elif problem is None:
        text = tr(
            "{word} {title} {version} as {server}; it {tools}.",
            word=word,
            title=clean_line(offer.title),
            version=clean_line(offer.version),
            server=server,
            tools=running_in_words(tools),
        )
        print(text)
    else:
        line = tr(
            "{word} {title} {version} as {server}, which does not start.",
            word=word,
            title=clean_line(offer.title),
            version=clean_line(offer.version),
            server=server,
        )
        print(line)
    if problem is not None:
        print_error(problem, as_json=args.json)
    return 0 if problem is None else 1


def _lines(offer: BundleOffer) -> list[str]:
    """Returns the facts that a person should know before consenting."""
    here = (
        tr(" (in the place of {here_version}, which is here as '{here}')", here_version=offer.here_version, here=offer.here)
        if offer.here
        else ""
    )
    signature = "none" if offer.signature == "none" else tr("there is one, and nobody checked it")
    lines = [
        f"{offer.title} {offer.version}{here}",
        offer.description,
        tr("Publisher: {value}, as the bundle itself says", value=offer.author or "?"),
        tr("Signature: {signature}", signature=signature),
        tr("SHA-256:   {sha256}", sha256=offer.sha256),
        tr("Command:   {command}", command=joined(offer.command)),
    ]
    lines += [tr("Tools:     {tools}", tools=", ".join(offer.tools))] if offer.tools else []
    lines += [tr("Setting:   {field}", field=_setting(field)) for field in offer.fields]
    lines += _said("Careful:   ", offer.warnings)
    return [clean_line(line) for line in [*lines, *_said("Problem:   ", offer.problems)] if line]


def _setting(field: FormField) -> str:
    words = [field.kind, *(["required"] if field.is_required else []), *(["secret"] if field.is_secret else [])]
    default = tr(", default {default}", default=field.default) if field.default is not None else ""
    return tr("{key} ({words}{default}): {label}", key=field.key, words=", ".join(words), default=default, label=field.label)


def _said(mark: str, problems: Iterable[Problem]) -> list[str]:
    return [f"{mark}{problem}" for problem in problems]


def _row(bundle: BundleSnapshot) -> list[str]:
    installed = day(bundle.installed_at) if bundle.installed_at else "?"
    return [bundle.server, bundle.title, bundle.version, bundle.author, installed, bundle.sha256[:SHOWN_CHARACTERS]]
