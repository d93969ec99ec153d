"""`tooltray servers set`: changes single fields of a server in the file where it is, and leaves the others unchanged."""

import argparse
import os
from collections.abc import Mapping
from typing import Any

from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.secret_place import SecretPlace
from tooltray.cli.server_commands.server_adding import note_secret_arguments
from tooltray.cli.server_commands.servers_command import STOP_TIMEOUT_S
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer
from tooltray.config.settings.server_config import SPELLINGS
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.sources.entries.portable_entry import with_new_secrets_moved

Entry = dict[str, Any]  # a server's entry, as in its file


def change(args: argparse.Namespace, home: Home) -> int:
    """Changes the given fields. The hub restarts the server if that changes what runs."""
    with any_hub(home) as hub:
        changed(_entry(hub, args.name), args)  # refused before a secret is typed
    names = [f"{args.name}/{key}" for key in (*args.secret, *args.header_secret)]
    place = SecretPlace(home)
    values = place.ask(names, from_stdin=args.secret_stdin)
    place.run(lambda hub: _store(hub, args, values))
    if not args.json:
        note_secret_arguments(args.name, args.arg or ())
    return answer(args, {"server": args.name, "secrets": names}, tr("Changed {name}.", name=args.name))


def _store(hub: Hub, args: argparse.Namespace, values: Mapping[str, str]) -> None:
    before = _entry(hub, args.name)
    entry, typed = with_new_secrets_moved(args.name, changed(before, args), before, taken=values)
    secrets = {**typed, **values}
    timeout_s = None if secrets else STOP_TIMEOUT_S  # the keyring may ask the user to unlock it
    hub.ask(hub.api.servers.update_mcp_server(name=args.name, config=entry, secrets=secrets), timeout_s=timeout_s)


def _entry(hub: Hub, name: str) -> Entry:
    return dict(hub.ask(hub.api.servers.get_server_entry(name=name)).entry)


def changed(entry: Mapping[str, Any], args: argparse.Namespace) -> Entry:
    """Returns the entry with the given changes.

    Raises:
        TooltrayError: a change does not fit a server of that kind.
        NotFound: a variable or header that is to be removed does not exist.
    """
    url = next((spelling for spelling in SPELLINGS["base_url"] if entry.get(spelling)), "")
    if url and (args.env or args.secret or args.arg or args.cwd):
        raise TooltrayError(tr("{name} runs elsewhere", name=args.name), hint=tr("Change it with --url, --header or --header-secret"))
    if not url and (args.url or args.header or args.header_secret):
        raise TooltrayError(tr("{name} is started by a command", name=args.name), hint=tr("Change it with --env, --secret, --arg or --cwd"))
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
