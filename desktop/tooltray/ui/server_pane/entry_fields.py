"""The fields of a server's entry: the place of each in the entry, and how the user changes it. A test compares the table with the settings'
model."""

from typing import Literal

import msgspec

from tooltray.foundation.phrases import Phrase

Kind = Literal["text", "lines", "pairs", "number", "choice", "switch", "json"]
Choices = tuple[tuple[str, Phrase], ...]
"""The JSON of each value, and its title; "" for an omitted value."""

NONE = Phrase("")
DEFAULT = Phrase("Default")
AUTOMATIC = Phrase("Automatic")
OF_SERVER = Phrase("The server's own")


class EntryField(msgspec.Struct, frozen=True):
    """A field of an entry.

    Attributes:
        key: the keys that lead to it, in our spelling, with dots between them.
        hint: one sentence below it; empty: its title is enough.
        placeholder: what applies while the field is empty.
        needs: what else the entry must have for the field to apply: "command", "remote", "deferred".
        default: the value that applies where the entry has none.
        spellings: of the first key, as other programs have it; an entry keeps its own.
        is_code: in the font of code.
    """

    key: str
    kind: Kind
    title: Phrase
    hint: Phrase = NONE
    placeholder: Phrase = NONE
    needs: str = ""
    choices: Choices = ()
    default: object = None
    spellings: tuple[str, ...] = ()
    is_code: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.key.split("."))


class FieldGroup(msgspec.Struct, frozen=True):
    title: Phrase
    fields: tuple[EntryField, ...]


TRANSPORTS: Choices = (
    ("", AUTOMATIC),
    ('"stdio"', Phrase("A program on this computer (stdio)")),
    ('"http"', Phrase("Elsewhere (HTTP)")),
    ('"sse"', Phrase("Elsewhere, the older way (SSE)")),
    ('"inmemory"', Phrase("Inside Tooltray")),
)
ERAS: Choices = (("", AUTOMATIC), ('"legacy"', Phrase("Legacy, up to 2025-11-25")), ('"modern"', Phrase("Modern, from 2026-07-28")))
ISOLATIONS: Choices = (("", Phrase("One for all AI clients")), ('"session"', Phrase("One for each AI client")))
LISTINGS: Choices = (("", DEFAULT), ("true", Phrase("Compact")), ("false", Phrase("Full")))
FILTERS: Choices = (
    ("", Phrase("All tools")),
    ('"allow"', Phrase("Only those in the list")),
    ('"block"', Phrase("All but those in the list")),
)
GRANTS: Choices = (
    ("", Phrase("You, in a browser")),
    ('"client_credentials"', Phrase("The client, automatically, with its secret")),
)
COLORS: Choices = (
    ("", Phrase("None")),
    ('"blue"', Phrase("Blue")),
    ('"green"', Phrase("Green")),
    ('"amber"', Phrase("Amber")),
    ('"red"', Phrase("Red")),
    ('"violet"', Phrase("Violet")),
    ('"grey"', Phrase("Grey")),
)

PER_LINE = Phrase("One argument per line, without quotes.")
IN_FOLDERS = Phrase("Only clients working in these folders see this server. One per line.")
OF_PROJECT = Phrase("{path} and {name} stand for the project's folder and name.", path="{project_path}", name="{project_name}")
PAGED = Phrase("At least 500. The rest is kept for a day, and read page by page with read_result.")
RULES = Phrase("One rule or tool on each line: read, write, all, names:PATTERN, or the name of a tool.")
SECRET = Phrase("A placeholder: {placeholder}", placeholder="${secret:NAME}")

HOME, ALL, ANY = Phrase("Your home folder"), Phrase("All projects"), Phrase("Any number")

BASIC = (
    EntryField("command", "text", Phrase("Command"), needs="command", is_code=True),
    EntryField("baseUrl", "text", Phrase("Address"), needs="remote", spellings=("baseUrl", "url"), is_code=True),
    EntryField("args", "lines", Phrase("Arguments"), PER_LINE, needs="command", is_code=True),
    EntryField("env", "pairs", Phrase("Environment"), needs="command"),
    EntryField("customHeaders", "pairs", Phrase("Headers"), needs="remote", spellings=("customHeaders", "headers")),
    EntryField("cwd", "text", Phrase("Folder it runs in"), placeholder=HOME, needs="command", is_code=True),
    EntryField("callTimeout", "number", Phrase("Call timeout without progress (s)"), placeholder=DEFAULT),
)
"""The fields that are always in sight, as far as they apply."""

ADVANCED = (
    FieldGroup(
        Phrase("Connection"),
        (
            EntryField("type", "choice", Phrase("Transport"), choices=TRANSPORTS, spellings=("type", "transport", "transportType")),
            EntryField("era", "choice", Phrase("Protocol"), choices=ERAS, default="auto"),
            EntryField("customNpmRegistry", "text", Phrase("Package registry"), placeholder=DEFAULT, needs="command", is_code=True),
            EntryField("directStart", "switch", Phrase("Start directly from the package cache"), needs="command", default=True),
        ),
    ),
    FieldGroup(
        Phrase("Account and projects"),
        (
            EntryField("label", "text", Phrase("Label"), Phrase("For several accounts of one service, e.g. Work.")),
            EntryField("color", "choice", Phrase("Colour"), choices=COLORS),
            EntryField("projects", "lines", Phrase("Only for these folders"), IN_FOLDERS, ALL, is_code=True),
        ),
    ),
    FieldGroup(
        Phrase("When it runs"),
        (
            EntryField("disable", "switch", Phrase("Disabled"), default=False),
            EntryField("isolation", "choice", Phrase("Instances"), choices=ISOLATIONS, default="shared"),
            EntryField("idleStop", "number", Phrase("Stop when idle for (s)"), placeholder=Phrase("Never")),
            EntryField("startTimeout", "number", Phrase("Start timeout (s)"), placeholder=DEFAULT),
            EntryField("maxCalls", "number", Phrase("Parallel calls"), Phrase("More calls wait; AI clients take turns."), ANY),
            EntryField("callsPerMinute", "number", Phrase("Calls per minute"), placeholder=ANY),
            EntryField("deferredStartup", "switch", Phrase("One instance per project"), default=False),
            EntryField(
                "startupArgsTemplate",
                "lines",
                Phrase("Arguments for a project, one on each line"),
                OF_PROJECT,
                Phrase("The arguments above"),
                "deferred",
                is_code=True,
            ),
        ),
    ),
    FieldGroup(
        Phrase("Approval"),
        (
            EntryField("autoApprove", "lines", Phrase("Runs without asking"), RULES, Phrase("read"), default=["read"], is_code=True),
            EntryField(
                "callRules", "json", Phrase("Approval rules"), Phrase("As JSON. You can also make a rule when a call asks."), is_code=True
            ),
        ),
    ),
    FieldGroup(
        Phrase("What AI clients see"),
        (
            EntryField("descriptions", "text", Phrase("Description"), placeholder=OF_SERVER),
            EntryField("icons", "text", Phrase("Icon"), Phrase("One emoji.")),
            EntryField("lazyLoad", "choice", Phrase("Tool listing"), choices=LISTINGS),
            EntryField("toolFilter.mode", "choice", Phrase("Tools offered"), choices=FILTERS),
            EntryField("toolFilter.list", "lines", Phrase("Tools of that list"), is_code=True),
            EntryField("disabledTools", "lines", Phrase("Tools that are switched off"), is_code=True),
            EntryField("disabledSkills", "lines", Phrase("Skills that are switched off"), is_code=True),
            EntryField("resultLimit", "number", Phrase("Longest result, in tokens"), PAGED, Phrase("All of it")),
            EntryField(
                "toolOverrides",
                "json",
                Phrase("Tool overrides"),
                Phrase("As JSON; a click on a tool in the tab Tools has a form for it."),
                is_code=True,
            ),
        ),
    ),
    FieldGroup(
        Phrase("Signing in"),
        (
            EntryField("oauth.enabled", "switch", Phrase("Sign in where it is asked for"), needs="remote", default=True),
            EntryField("oauth.sendResource", "switch", Phrase("Name the server to the sign-in"), needs="remote", default=True),
            EntryField(
                "oauth.clientId", "text", Phrase("Client ID"), placeholder=Phrase("Registers automatically"), needs="remote", is_code=True
            ),
            EntryField("oauth.clientSecret", "text", Phrase("Client secret"), SECRET, needs="remote", is_code=True),
            EntryField(
                "oauth.scopes", "lines", Phrase("Scopes"), placeholder=Phrase("Default (from the server)"), needs="remote", is_code=True
            ),
            EntryField("oauth.grant", "choice", Phrase("Who signs in"), needs="remote", choices=GRANTS, default="authorization_code"),
            EntryField("oauth.issuer", "text", Phrase("Authorization server"), placeholder=OF_SERVER, needs="remote", is_code=True),
            EntryField(
                "oauth.redirectPort",
                "number",
                Phrase("Port that the browser comes back to"),
                placeholder=Phrase("Any that is free"),
                needs="remote",
                default=0,
            ),
        ),
    ),
)
"""The other ones. `options.lazyLoad`, which another program writes, is the field `lazyLoad`."""

FIELDS = BASIC + tuple(field for group in ADVANCED for field in group.fields)
