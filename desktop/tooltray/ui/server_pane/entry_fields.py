"""The fields of a server's entry: the place of each in the entry, how the user changes it, and how it is read and written; values without a
field stay unchanged. A test compares the table with the settings' model. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, cast

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.ui.i18n import say
from tooltray.ui.kit.setting_form import FORM_TITLES

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
        is_code: a line in the font of code.
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
TABLES: Choices = (("", DEFAULT), *FORM_TITLES)
FILTERS: Choices = (
    ("", Phrase("All tools")),
    ('"allow"', Phrase("Only those in the list")),
    ('"block"', Phrase("All but those in the list")),
)
GRANTS: Choices = (("", Phrase("You, in a browser")), ('"client_credentials"', Phrase("The client, automatically, with its secret")))
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
PROJECT_ARGS = Phrase("Arguments for a project, one on each line")
OF_PROJECT = Phrase("{path} and {name} stand for the project's folder and name.", path="{project_path}", name="{project_name}")
PAGED = Phrase("At least 500. The rest is kept for a day, and read page by page with read_result.")
OVERRIDES = Phrase("As JSON; a click on a tool in the tab Tools has a form for it.")
RULES = Phrase("One rule or tool on each line: read, write, all, names:PATTERN, or the name of a tool.")
SECRET = Phrase("A placeholder: {placeholder}", placeholder="${secret:NAME}")

HOME, ALL, ANY, FREE_PORT = Phrase("Your home folder"), Phrase("All projects"), Phrase("Any number"), Phrase("Any that is free")
APPROVAL = Phrase("Approval")

BASIC = (
    EntryField("command", "text", Phrase("Command"), needs="command", is_code=True),
    EntryField("baseUrl", "text", Phrase("Address"), needs="remote", spellings=("baseUrl", "url"), is_code=True),
    EntryField("args", "lines", Phrase("Arguments"), PER_LINE, needs="command"),
    EntryField("env", "pairs", Phrase("Environment"), needs="command"),
    EntryField("customHeaders", "pairs", Phrase("Headers"), needs="remote", spellings=("customHeaders", "headers")),
    EntryField("cwd", "text", Phrase("Folder it runs in"), placeholder=HOME, needs="command", is_code=True),
    EntryField("callTimeout", "number", Phrase("Call timeout without progress (s)"), placeholder=DEFAULT),
)
"""The fields that are always in sight, as far as they apply."""

ADVANCED: Mapping[Phrase, tuple[EntryField, ...]] = {
    Phrase("Connection"): (
        EntryField("type", "choice", Phrase("Transport"), choices=TRANSPORTS, spellings=("type", "transport", "transportType")),
        EntryField("era", "choice", Phrase("Protocol"), choices=ERAS, default="auto"),
        EntryField("customNpmRegistry", "text", Phrase("Package registry"), placeholder=DEFAULT, needs="command", is_code=True),
        EntryField("directStart", "switch", Phrase("Start directly from the package cache"), needs="command", default=True),
    ),
    Phrase("Account and projects"): (
        EntryField("label", "text", Phrase("Label"), Phrase("For several accounts of one service, e.g. Work.")),
        EntryField("color", "choice", Phrase("Colour"), choices=COLORS),
        EntryField("projects", "lines", Phrase("Only for these folders"), IN_FOLDERS, ALL),
    ),
    Phrase("When it runs"): (
        EntryField("disable", "switch", Phrase("Disabled"), default=False),
        EntryField("isolation", "choice", Phrase("Instances"), choices=ISOLATIONS, default="shared"),
        EntryField("idleStop", "number", Phrase("Stop when idle for (s)"), placeholder=Phrase("Never")),
        EntryField("startTimeout", "number", Phrase("Start timeout (s)"), placeholder=DEFAULT),
        EntryField("maxCalls", "number", Phrase("Parallel calls"), Phrase("More calls wait; AI clients take turns."), ANY),
        EntryField("callsPerMinute", "number", Phrase("Calls per minute"), placeholder=ANY),
        EntryField("deferredStartup", "switch", Phrase("One instance per project"), default=False),
        EntryField("startupArgsTemplate", "lines", PROJECT_ARGS, OF_PROJECT, Phrase("The arguments above"), "deferred"),
    ),
    APPROVAL: (
        EntryField("autoApprove", "lines", Phrase("Runs without asking"), RULES, Phrase("read"), default=["read"]),
        EntryField("callRules", "json", Phrase("Approval rules"), Phrase("As JSON. You can also make a rule when a call asks.")),
    ),
    Phrase("What AI clients see"): (
        EntryField("descriptions", "text", Phrase("Description"), placeholder=OF_SERVER),
        EntryField("icons", "text", Phrase("Icon"), Phrase("One emoji.")),
        EntryField("lazyLoad", "choice", Phrase("Tool listing"), choices=LISTINGS),
        EntryField("toolFilter.mode", "choice", Phrase("Tools offered"), choices=FILTERS),
        EntryField("toolFilter.list", "lines", Phrase("Tools of that list")),
        EntryField("disabledTools", "lines", Phrase("Tools that are switched off")),
        EntryField("disabledSkills", "lines", Phrase("Skills that are switched off")),
        EntryField("resultLimit", "number", Phrase("Longest result, in tokens"), PAGED, Phrase("All of it")),
        EntryField("csvTables", "choice", Phrase("Tables in results"), choices=TABLES),
        EntryField("toolOverrides", "json", Phrase("Tool overrides"), OVERRIDES),
    ),
    Phrase("Signing in"): (
        EntryField("oauth.enabled", "switch", Phrase("Sign in where it is asked for"), needs="remote", default=True),
        EntryField("oauth.sendResource", "switch", Phrase("Name the server to the sign-in"), needs="remote", default=True),
        EntryField("oauth.clientId", "text", Phrase("Client ID"), NONE, Phrase("Registers automatically"), "remote", is_code=True),
        EntryField("oauth.clientSecret", "text", Phrase("Client secret"), SECRET, needs="remote", is_code=True),
        EntryField("oauth.scopes", "lines", Phrase("Scopes"), placeholder=Phrase("Default (from the server)"), needs="remote"),
        EntryField("oauth.grant", "choice", Phrase("Who signs in"), needs="remote", choices=GRANTS, default="authorization_code"),
        EntryField("oauth.issuer", "text", Phrase("Authorization server"), placeholder=OF_SERVER, needs="remote", is_code=True),
        EntryField("oauth.redirectPort", "number", Phrase("Port that the browser comes back to"), NONE, FREE_PORT, "remote", default=0),
    ),
}
"""The other ones, in groups by their titles. `options.lazyLoad`, which another program writes, is the field `lazyLoad`."""

FIELDS = BASIC + tuple(field for group in ADVANCED.values() for field in group)

Entry = Mapping[str, object]
MOST_PAIRS = 60  # variables with a line each; more are for the JSON


def path_in(entry: Entry, field: EntryField) -> tuple[str, ...]:
    """Returns the keys that lead to a field, in the spelling of the entry, else in ours."""
    options = entry.get("options")
    if field.path == ("lazyLoad",) and "lazyLoad" not in entry and isinstance(options, Mapping) and "lazyLoad" in options:
        return ("options", "lazyLoad")
    first = next((spelling for spelling in field.spellings if spelling in entry), field.path[0])
    return (first, *field.path[1:])


def value_in(entry: Entry, field: EntryField) -> object:
    """Returns the value of a field; None for an omitted value, and for `null`."""
    value: object = entry
    for key in path_in(entry, field):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def is_changed(entry: Entry, field: EntryField) -> bool:
    """Returns whether the value differs from the default; a usual transport does not."""
    usual = ("stdio", "http") if field.key == "type" else (field.default,)
    return value_in(entry, field) not in (None, *usual, "", [], {})


def is_odd(entry: Entry, field: EntryField) -> bool:
    """Returns whether the value has a form that the field cannot show; such a value is edited as JSON."""
    above = entry.get(path_in(entry, field)[0])
    if len(field.path) > 1 and above is not None and not isinstance(above, Mapping):
        return True
    value = value_in(entry, field)
    return value is not None and not _fits(value, field.kind)


def _fits(value: object, kind: Kind) -> bool:
    match kind:
        case "text":
            return isinstance(value, str) and "\n" not in value
        case "lines":
            return isinstance(value, list | tuple) and all(isinstance(each, str) and each.strip() and "\n" not in each for each in value)
        case "pairs":
            is_short = isinstance(value, Mapping) and len(value) <= MOST_PAIRS
            return is_short and all(isinstance(each, str) and "\n" not in each for each in cast(Entry, value).values())
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "switch":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str | bool)
        case "json":
            return True


def with_value(entry: Entry, field: EntryField, value: object) -> dict[str, object]:
    """Returns an entry with another value of a field; None removes it, and members that are empty then."""
    return _with_member(entry, path_in(entry, field), value)


def _with_member(part: Entry, path: Sequence[str], value: object) -> dict[str, object]:
    key, *below = path
    if below:
        held = part.get(key)
        value = _with_member(held if isinstance(held, Mapping) else {}, below, value) or None
    return {**part, key: value} if value is not None else {each: held for each, held in part.items() if each != key}


def choice_of(value: object) -> str:
    """Returns the JSON that identifies a choice; "" for an omitted value."""
    return "" if value is None else json.dumps(value)


def options_of(field: EntryField, value: object) -> Sequence[tuple[str, str]]:
    """Returns the possible choices; includes the current value if it is another program's word."""
    options, now = [(word, say(title)) for word, title in field.choices], choice_of(value)
    return options if now in dict(options) else [*options, (now, str(value))]


def is_wanted(entry: Entry, field: EntryField) -> bool:
    """Returns whether a field applies to an entry; a field with a value is always shown."""
    if not field.needs or value_in(entry, field) is not None:
        return True
    is_remote = looks_remote(entry)
    match field.needs:
        case "remote":
            return is_remote
        case "command":
            return not is_remote
    return entry.get("deferredStartup") is True


def looks_remote(entry: Entry) -> bool:
    """Returns whether an entry is of a server that is reached by an address."""
    kind = next((str(entry[key]) for key in ("type", "transport", "transportType") if entry.get(key)), "")
    if kind:
        return kind not in ("stdio", "local", "inmemory")
    return bool(entry.get("url") or entry.get("baseUrl")) and not entry.get("command")


def with_values(part: object, secrets: Mapping[str, str]) -> object:
    """Returns an entry with the values of some secrets in it, for a test; it must not be saved."""
    if isinstance(part, str):
        for name, value in secrets.items():
            part = part.replace(f"${{secret:{name}}}", value)
        return part
    if isinstance(part, Mapping):
        return {str(key): with_values(value, secrets) for key, value in cast(Entry, part).items()}
    return [with_values(each, secrets) for each in part] if isinstance(part, list | tuple) else part
