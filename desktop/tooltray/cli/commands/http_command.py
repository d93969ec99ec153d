"""`tooltray http ...`, `tooltray clients token`: HTTP access of AI clients and other programs, and their tokens.

A command that makes a token prints only the token, for pipes; the token cannot be read again. A trusted one, with which a program may
consent in a person's place, needs a terminal, as consent does.
"""

import argparse
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from tooltray.cli import values
from tooltray.cli.arguments import Usage, command, later
from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.person import check_terminal
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, day, print_json, print_note, print_notes, problem_line
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, HttpStatus, NewApiToken

if TYPE_CHECKING:
    from tooltray.consent.tokens.api import AccessApi

TOKEN_HERE = "TOKEN"  # users replace it with the output of `clients token`
TRUSTED_NAME = "trusted"  # the default name of a trusted token
TRUSTED = Phrase("The holder of a trusted token can approve in your place: calls, servers and folders.")
SENT_AS = Phrase("Programs send it as the header `Authorization: Bearer TOKEN`. Keep it like a password.")
SHOWN_ONCE = Phrase("It is shown only once.")
OF_THIS_RUN = Phrase("It is trusted only until Tooltray ends, since secrets cannot be stored permanently.")
ROTATED = Phrase("The previous token no longer works; give this one to your programs.")


def declare(parser: Usage) -> None:
    http = parser.subcommands()
    opening = command(http, "on", tr("open the endpoints, now and whenever Tooltray runs"), on)
    opening.takes("--port", "PORT", tr("where, from now on; 0: any that is free"), type=values.port)
    command(http, "off", tr("close them"), off)
    command(http, "status", tr("show whether and where they are open"), status)
    api = later(http, "api", tr("let other programs control Tooltray over HTTP (REST)")).subcommands()
    api_opening = command(api, "on", tr("switch it on, and HTTP too if it is off"), api_on)
    text = tr(
        "create a token whose holder may also approve calls, trust servers and allow folders; --no-trusted: revoke that from every token"
    )
    api_opening.add_argument("--trusted", action=argparse.BooleanOptionalAction, help=text)
    command(api, "off", tr("switch it off; HTTP stays as it is"), api_off)
    text = tr("print the permanent default token, or create a named one, shown once")
    token = command(api, "token", text, api_token, check=_check)
    token.takes("name", "NAME", tr("the name of the program that gets it"), nargs="?", type=values.some_text)
    scopes = tr("what it may: read (look), call (and call tools) or manage (and change things; this is the default)")
    token.add_argument("--scope", choices=("read", "call", "manage"), help=scopes)
    token.takes("--for", "TIME", tr("for this long: 90s, 30m, 8h or 30d"), dest="duration", type=values.time)
    token.flag("--trusted", tr("it may also approve calls, trust servers and allow folders"))
    verbs = VerbCommands(api, any_hub)
    titles = (tr("NAME"), tr("SCOPE"), tr("CREATED"), tr("UNTIL"))
    listed = table(titles, _row, tr("No program has a token. Create one: tooltray http api token NAME"))
    verbs.add("tokens", tr("list the tokens"), "list_api_tokens", listed)
    revoked = done(lambda args, _: tr("The token '{name}' is revoked.", name=args.name), revoked=lambda args, _: args.name)
    verbs.add("revoke", tr("revoke one of them"), "revoke_api_token", revoked, name={"type": values.some_text})
    text = tr("replace the default token, and print the new one")
    verbs.add("rotate", text, "rotate_api_token", lambda args, token: _print_token(args, token, ROTATED))


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if not args.name and not args.trusted and (args.scope or args.duration):
        usage.error(tr("--scope and --for need NAME: the default token may manage, and does not expire"))
    if args.trusted and args.scope not in (None, "manage"):
        usage.error(tr("--trusted goes with the scope manage"))


# the endpoints


def on(args: argparse.Namespace, home: Home) -> int:
    return _show(args, home, lambda access: access.set_http_enabled(enabled=True, **({} if args.port is None else {"port": args.port})))


def off(args: argparse.Namespace, home: Home) -> int:
    return _show(args, home, lambda access: access.set_http_enabled(enabled=False))


def status(args: argparse.Namespace, home: Home) -> int:
    return _show(args, home, lambda access: access.get_http_status())


def _show(args: argparse.Namespace, home: Home, verb: "Callable[[AccessApi], Coroutine[object, None, HttpStatus]]") -> int:
    with any_hub(home) as hub:
        status = hub.ask(verb(hub.api.access))
    entry = http_entry(status.url, requires_token=status.requires_token) if status.url else None
    lines = _words(status, is_hub_running=hub.is_running)
    if status.is_api_enabled:
        lines += _api_words(status, is_hub_running=hub.is_running)
    if entry:
        lines.append(tr("Paste this into the config of an AI client:\n{entry}", entry=json.dumps(entry, indent=2)))
        lines.append(tr("Only one server, under its own tool names: {value}/servers/NAME/mcp", value=status.url.removesuffix("/mcp")))
    if entry and status.requires_token:
        text = tr("Replace {token_here} with a token. Create one for each AI client: tooltray clients token NAME", token_here=TOKEN_HERE)
        lines.append(text)
    return answer(args, as_json(status) | {"entry": entry}, *lines)


def _words(status: HttpStatus, *, is_hub_running: bool) -> list[str]:
    if not status.is_enabled:
        return [tr("AI clients cannot connect over HTTP. Switch it on with: tooltray http on")]
    if status.is_open:
        return [tr("AI clients can connect over HTTP: {url}", url=clean_line(status.url))]
    if is_hub_running:
        return [tr("HTTP is switched on, but not open."), problem_line(status.problem)]
    return [tr("HTTP is enabled, and opens when Tooltray runs. Start it: tooltray serve")]


def http_entry(url: str, *, requires_token: bool) -> dict[str, object]:
    """Returns the entry in the form that most AI clients read."""
    headers = {"headers": {"Authorization": f"Bearer {TOKEN_HERE}"}} if requires_token else {}
    return {"mcpServers": {"tooltray": {"type": "http", "url": url, **headers}}}


# the tokens of AI clients


def client_token(args: argparse.Namespace, home: Home) -> int:
    """Makes or replaces a token."""
    with any_hub(home) as hub:
        is_another = args.name in (each.name for each in hub.ask(hub.api.access.list_client_tokens()))
        made = hub.ask(hub.api.access.create_client_token(name=args.name))
    answer(args, {"client": args.name, "token": made, "replaced": is_another}, made)
    name = clean_line(args.name)
    if is_another and not args.json:
        print_note(tr("The previous token of {name} no longer works.", name=name))
    if not args.json:
        print_note(tr("This is {name}'s token; it cannot be shown again. Send it as the header `Authorization: Bearer TOKEN`.", name=name))
    return 0


# the REST interface


def api_on(args: argparse.Namespace, home: Home) -> int:
    if args.trusted:
        check_terminal(tr("Creating a trusted token"))
    with any_hub(home) as hub:
        access, is_running = hub.api.access, hub.is_running
        was_on = hub.ask(access.get_http_status()).is_enabled
        status = hub.ask(access.set_api_enabled(enabled=True, trusted=False if args.trusted is False else None))
        made = _made(hub, TRUSTED_NAME, trusted=True) if args.trusted else None
        status = hub.ask(access.get_http_status()) if made else status
    lines = [] if was_on else [tr("HTTP was off and is on now too: AI clients that have a token can connect as well.")]
    lines += _api_words(status, is_hub_running=is_running)
    if made:
        lines += [tr("The trusted token: {token}", token=made.token), *_made_words(made)]
    lines = list(dict.fromkeys(lines))  # the permissions of a trusted token are in both
    return answer(args, as_json(status) | ({"token": made.token} if made else {}), *lines)


def api_off(args: argparse.Namespace, home: Home) -> int:
    with any_hub(home) as hub:
        status = hub.ask(hub.api.access.set_api_enabled(enabled=False))
    return answer(args, status, *_api_words(status, is_hub_running=hub.is_running))


def api_token(args: argparse.Namespace, home: Home) -> int:
    """Shows the default token, or makes a new one."""
    if args.trusted:
        check_terminal(tr("Creating a trusted token"))
    with any_hub(home) as hub:
        if not args.name and not args.trusted:
            return _print_token(args, hub.ask(hub.api.access.get_api_token()), SENT_AS)
        made = _made(hub, args.name or TRUSTED_NAME, trusted=args.trusted, scope=args.scope, lasts_s=args.duration)
    if args.json:
        print_json(made)
        return 0
    return _print_token(args, made.token, SENT_AS, *_made_words(made))


def _api_words(status: HttpStatus, *, is_hub_running: bool) -> list[str]:
    """Describes the state of the REST interface."""
    if not status.is_api_enabled:
        return [tr("Other programs cannot use the REST interface. Switch it on with: tooltray http api on")]
    lines = [TRUSTED] if status.is_api_trusted else []
    if status.api_url:
        return [
            tr("Other programs can use the REST interface: {api_url}", api_url=clean_line(status.api_url)),
            tr("Its token: tooltray http api token"),
            *lines,
        ]
    if not status.is_enabled:
        return [tr("The REST interface is switched on, but HTTP is not. Switch both on with: tooltray http api on"), *lines]
    if is_hub_running and status.problem:
        return [tr("The REST interface is switched on, but not open."), problem_line(status.problem), *lines]
    return [tr("The REST interface is enabled, and opens when Tooltray runs. Start it: tooltray serve"), *lines]


def _made(hub: Hub, name: str, *, trusted: bool, scope: str | None = None, lasts_s: float | None = None) -> NewApiToken:
    making = hub.api.access.create_api_token(name=name, scope=scope or "manage", expires_in_s=lasts_s, trusted=trusted)  # type: ignore[arg-type]
    return hub.ask(making)


def _made_words(made: NewApiToken) -> list[str]:
    lines: list[str] = [SHOWN_ONCE]
    if made.expires_at is not None:
        lines.append(tr("It expires at {expires_at}.", expires_at=day(made.expires_at)))
    if made.is_trusted:
        lines += [TRUSTED] if made.is_lasting else [TRUSTED, OF_THIS_RUN]
    return lines


def _row(each: ApiTokenSnapshot) -> Sequence[str]:
    scope = f"{each.scope}, trusted" if each.is_trusted else each.scope
    if each.is_default:
        return each.name, scope, "", tr("you revoke it (to show it: tooltray http api token)")
    until = tr("you revoke it") if each.expires_at is None else day(each.expires_at)
    return each.name, scope, day(each.created_at), f"{until} (over)" if each.is_ended else until


def _print_token(args: argparse.Namespace, token: str, *notes: str) -> int:
    answer(args, {"token": token}, token)
    print_notes(() if args.json else notes)
    return 0
