"""The fields of a server's entry: the place of each in the entry, and how the user changes it. A test compares the table with the settings'
model."""

from collections.abc import Callable
from typing import Literal

import msgspec

from tooltray.ui.i18n import tr

Kind = Literal["text", "lines", "pairs", "number", "choice", "switch", "json"]


def _no_choices() -> list[tuple[str, str]]:
    return []


class EntryField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of an entry.

    Attributes:
        path: the keys that lead to it, in our spelling.
        spellings: of the first key, as other programs have it; an entry keeps its own.
        hint: one sentence below it; empty: its title is enough.
        choices: the JSON of each value, and its title; "" for an omitted value.
        placeholder: the default, shown while the field is empty.
        is_on: of a switch: the default.
        is_code: in the font of code.
        needs: what else the entry must have for the field to apply: "command", "remote", "deferred".
    """

    path: tuple[str, ...]
    kind: Kind
    title: Callable[[], str]
    hint: Callable[[], str] = str
    spellings: tuple[str, ...] = ()
    choices: Callable[[], list[tuple[str, str]]] = _no_choices
    placeholder: Callable[[], str] = str
    is_on: bool = False
    is_code: bool = False
    needs: str = ""


class FieldGroup(msgspec.Struct, frozen=True):
    title: Callable[[], str]
    fields: tuple[EntryField, ...]


def _transports() -> list[tuple[str, str]]:
    return [
        ("", tr("Automatic")),
        ('"stdio"', tr("A program on this computer (stdio)")),
        ('"http"', tr("Elsewhere (HTTP)")),
        ('"sse"', tr("Elsewhere, the older way (SSE)")),
        ('"inmemory"', tr("Inside Tooltray")),
    ]


def _eras() -> list[tuple[str, str]]:
    return [("", tr("Automatic")), ('"legacy"', tr("Legacy, up to 2025-11-25")), ('"modern"', tr("Modern, from 2026-07-28"))]


def _isolations() -> list[tuple[str, str]]:
    return [("", tr("One for all AI clients")), ('"session"', tr("One for each AI client"))]


def _laziness() -> list[tuple[str, str]]:
    return [("", tr("Default")), ("true", tr("Compact")), ("false", tr("Full"))]


def _filters() -> list[tuple[str, str]]:
    return [("", tr("All tools")), ('"allow"', tr("Only those in the list")), ('"block"', tr("All but those in the list"))]


def _grants() -> list[tuple[str, str]]:
    return [("", tr("You, in a browser")), ('"client_credentials"', tr("The client, automatically, with its secret"))]


def colors() -> list[tuple[str, str]]:
    """Returns the colours of a label: its word in an entry as JSON, and its name."""
    return [
        ("", tr("None")),
        ('"blue"', tr("Blue")),
        ('"green"', tr("Green")),
        ('"amber"', tr("Amber")),
        ('"red"', tr("Red")),
        ('"violet"', tr("Violet")),
        ('"grey"', tr("Grey")),
    ]


def _of_server() -> str:
    return tr("The server's own")


GROUPS = (
    FieldGroup(
        lambda: tr("What runs"),
        (
            EntryField(path=("command",), kind="text", title=lambda: tr("Command"), is_code=True),
            EntryField(
                path=("args",),
                kind="lines",
                title=lambda: tr("Arguments"),
                hint=lambda: tr("One argument per line, without quotes."),
                is_code=True,
                needs="command",
            ),
            EntryField(path=("env",), kind="pairs", title=lambda: tr("Environment"), needs="command"),
            EntryField(
                path=("cwd",),
                kind="text",
                title=lambda: tr("Folder it runs in"),
                placeholder=lambda: tr("Your home folder"),
                is_code=True,
                needs="command",
            ),
            EntryField(
                path=("baseUrl",), spellings=("baseUrl", "url"), kind="text", title=lambda: tr("Address"), is_code=True, needs="remote"
            ),
            EntryField(
                path=("customHeaders",),
                spellings=("customHeaders", "headers"),
                kind="pairs",
                title=lambda: tr("Headers"),
                needs="remote",
            ),
            EntryField(
                path=("type",),
                spellings=("type", "transport", "transportType"),
                kind="choice",
                title=lambda: tr("Transport"),
                choices=_transports,
            ),
            EntryField(path=("era",), kind="choice", title=lambda: tr("Protocol"), choices=_eras),
            EntryField(
                path=("customNpmRegistry",),
                kind="text",
                title=lambda: tr("Package registry"),
                placeholder=lambda: tr("Default"),
                is_code=True,
                needs="command",
            ),
            EntryField(
                path=("directStart",),
                kind="switch",
                title=lambda: tr("Start without npx or uvx where its package is unpacked"),
                is_on=True,
                needs="command",
            ),
        ),
    ),
    FieldGroup(
        lambda: tr("Account and projects"),
        (
            EntryField(
                path=("label",),
                kind="text",
                title=lambda: tr("Label"),
                hint=lambda: tr("For several accounts of one service, e.g. Work."),
            ),
            EntryField(path=("color",), kind="choice", title=lambda: tr("Colour"), choices=colors),
            EntryField(
                path=("projects",),
                kind="lines",
                title=lambda: tr("Only for these folders"),
                hint=lambda: tr("Only clients working in these folders see this server. One per line."),
                placeholder=lambda: tr("All projects"),
                is_code=True,
            ),
        ),
    ),
    FieldGroup(
        lambda: tr("When it runs"),
        (
            EntryField(path=("disable",), kind="switch", title=lambda: tr("Disabled")),
            EntryField(path=("isolation",), kind="choice", title=lambda: tr("Copies"), choices=_isolations),
            EntryField(
                path=("idleStop",),
                kind="number",
                title=lambda: tr("Stop when idle for (s)"),
                placeholder=lambda: tr("Never"),
            ),
            EntryField(
                path=("callTimeout",),
                kind="number",
                title=lambda: tr("Call timeout without progress (s)"),
                placeholder=lambda: tr("Default"),
            ),
            EntryField(
                path=("startTimeout",),
                kind="number",
                title=lambda: tr("Start timeout (s)"),
                placeholder=lambda: tr("Default"),
            ),
            EntryField(
                path=("maxCalls",),
                kind="number",
                title=lambda: tr("Parallel calls"),
                hint=lambda: tr("More calls wait; AI clients take turns."),
                placeholder=lambda: tr("Any number"),
            ),
            EntryField(
                path=("callsPerMinute",), kind="number", title=lambda: tr("Calls in a minute"), placeholder=lambda: tr("Any number")
            ),
            EntryField(
                path=("deferredStartup",),
                kind="switch",
                title=lambda: tr("Start for a project, one copy for each"),
            ),
            EntryField(
                path=("startupArgsTemplate",),
                kind="lines",
                title=lambda: tr("Arguments for a project, one on each line"),
                hint=lambda: tr("{path} and {name} stand for the project's folder and name.", path="{project_path}", name="{project_name}"),
                placeholder=lambda: tr("The arguments above"),
                is_code=True,
                needs="deferred",
            ),
        ),
    ),
    FieldGroup(
        lambda: tr("What AI clients see"),
        (
            EntryField(path=("lazyLoad",), kind="choice", title=lambda: tr("Its tools"), choices=_laziness),
            EntryField(path=("toolFilter", "mode"), kind="choice", title=lambda: tr("Which tools are offered"), choices=_filters),
            EntryField(path=("toolFilter", "list"), kind="lines", title=lambda: tr("Tools of that list"), is_code=True),
            EntryField(path=("disabledTools",), kind="lines", title=lambda: tr("Tools that are switched off"), is_code=True),
            EntryField(path=("disabledSkills",), kind="lines", title=lambda: tr("Skills that are switched off"), is_code=True),
            EntryField(
                path=("resultLimit",),
                kind="number",
                title=lambda: tr("Longest result, in tokens"),
                hint=lambda: tr("At least 500. The rest is kept for a day, and read page by page with read_result."),
                placeholder=lambda: tr("All of it"),
            ),
            EntryField(
                path=("callRules",),
                kind="json",
                title=lambda: tr("Approval rules"),
                hint=lambda: tr("As JSON. You can also make a rule when a call asks."),
                is_code=True,
            ),
            EntryField(
                path=("toolOverrides",),
                kind="json",
                title=lambda: tr("Tool overrides"),
                hint=lambda: tr("As JSON; a click on a tool in the tab Tools has a form for it."),
                is_code=True,
            ),
            EntryField(
                path=("autoApprove",),
                kind="lines",
                title=lambda: tr("Runs without asking"),
                hint=lambda: tr("One rule or tool on each line: read, write, all, names:PATTERN, or the name of a tool."),
                placeholder=lambda: "read",
                is_code=True,
            ),
            EntryField(path=("descriptions",), kind="text", title=lambda: tr("Description"), placeholder=_of_server),
            EntryField(path=("icons",), kind="text", title=lambda: tr("Icon"), hint=lambda: tr("One emoji.")),
        ),
    ),
    FieldGroup(
        lambda: tr("Signing in"),
        (
            EntryField(
                path=("oauth", "enabled"), kind="switch", title=lambda: tr("Sign in where it is asked for"), is_on=True, needs="remote"
            ),
            EntryField(
                path=("oauth", "sendResource"),
                kind="switch",
                title=lambda: tr("Name the server to the sign-in"),
                is_on=True,
                needs="remote",
            ),
            EntryField(
                path=("oauth", "clientId"),
                kind="text",
                title=lambda: tr("Client ID"),
                placeholder=lambda: tr("Registers automatically"),
                is_code=True,
                needs="remote",
            ),
            EntryField(
                path=("oauth", "clientSecret"),
                kind="text",
                title=lambda: tr("Client secret"),
                hint=lambda: tr("A placeholder: {placeholder}", placeholder="${secret:NAME}"),
                is_code=True,
                needs="remote",
            ),
            EntryField(
                path=("oauth", "scopes"),
                kind="lines",
                title=lambda: tr("Scopes"),
                placeholder=lambda: tr("Default (from the server)"),
                is_code=True,
                needs="remote",
            ),
            EntryField(path=("oauth", "grant"), kind="choice", title=lambda: tr("Who signs in"), choices=_grants, needs="remote"),
            EntryField(
                path=("oauth", "issuer"),
                kind="text",
                title=lambda: tr("Authorization server"),
                placeholder=_of_server,
                is_code=True,
                needs="remote",
            ),
            EntryField(
                path=("oauth", "redirectPort"),
                kind="number",
                title=lambda: tr("Port that the browser comes back to"),
                placeholder=lambda: tr("Any that is free"),
                needs="remote",
            ),
        ),
    ),
)
"""`options.lazyLoad`, which another program writes, is the field `lazyLoad`."""

FIELDS = tuple(field for group in GROUPS for field in group.fields)
