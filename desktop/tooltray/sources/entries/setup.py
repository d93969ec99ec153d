"""Exports, imports and resets the whole set-up: servers and settings. Nothing is started here: ServerManager watches the settings.

An exported document has the form of the settings, so that other programs can read its `mcpServers`, and Tooltray can read theirs. Settings
that belong to one machine are not exported: HTTP access of AI clients, the secret backend, allowed project folders, and the pause.
"""

import contextlib
import copy
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.call_rule import read_rule
from tooltray.config.settings.document import CURRENT_VERSION, Document, part, texts, version_of
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_entry, read_given_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import config_hash, shown_url
from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.widening import settings_widen
from tooltray.consent.approvals import rule_words
from tooltray.foundation.confirm_widening import check_unchanged, confirm_widening
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import resource
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.sources.entries.portable_entry import without_secrets
from tooltray.sources.entries.server_entries import EntryWidenings
from tooltray.sources.entries.server_secrets import ServerSecrets

Path = tuple[str, ...]

WHOLE: tuple[Path, ...] = (
    *(("autoDetectNpmRegistry",), ("npmRegistries",), ("customNpmRegistry",), ("readyAnswers",), ("discovery", "registry")),
    *(("publish", "naming"), ("publish", "lazyLoad"), ("publish", "mode"), ("publish", "feedback")),
)
BY_NAME: tuple[Path, ...] = (("profiles",), ("publish", "clients"))
"""Objects whose members are imported one by one: imported profiles are added to the existing ones."""
SHORTEST_KNOWN = 6  # characters of a secret that is searched in ready answers; shorter ones occur in harmless words


def exported_settings(settings: Settings, document: Document, known: Collection[str]) -> Document:
    """Returns the settings for a set-up, in the format of settings.json.

    Args:
        document: the settings as written in the file; defaults that are not written there are not exported.
        known: values of secrets, which are removed from the export.
    """
    readable = settings.model_dump(by_alias=True)
    as_given = settings.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)
    made: Document = {}
    unreadable = {slip.part for slip in read_settings(document).slips}
    for path in (*WHOLE, *BY_NAME):
        if path in unreadable or (path in WHOLE and path[:1] in unreadable):
            continue
        value = _at(readable if len(path) == 1 and path not in BY_NAME else as_given, path)
        if path in BY_NAME and value:
            value = {name: each for name, each in value.items() if (*path, name) not in unreadable}
        if value not in (None, {}) and _at(document, path) is not None:
            _set(made, path, _harmless(value, [secret for secret in known if len(secret) >= SHORTEST_KNOWN]))
    return made


def check_settings(setup: Mapping[str, object]) -> None:
    """Checks the settings in a set-up.

    Raises:
        TooltrayError: a setting cannot be used; the error names it and the reason.
    """
    carried: Document = {}
    for path in (*WHOLE, *BY_NAME):
        if (value := _at(setup, path)) is not None:
            _set(carried, path, value)
    publish = setup.get("publish")
    for problem in read_settings(carried if isinstance(publish, Mapping) else {**carried, "publish": publish}).problems:
        raise TooltrayError(
            Phrase("A setting in this backup cannot be used"), problem.message, Phrase("Correct it in the file; nothing was changed.")
        )


def setting_changes(setup: Mapping[str, object], document: Document, *, replace: bool) -> Iterator[SetupChange]:
    """Yields the changes that an import of checked settings makes."""
    for path in _paths(setup):
        given, here = _at(setup, path), _at(document, path)
        if given != here:
            kind = "add" if here is None else "replace" if replace else "keep"
            yield SetupChange(kind, "setting", ".".join(path), _rules_in_words(path, given))


def setting_widens(change: SetupChange, setup: Mapping[str, object], document: Document, settings: Settings) -> bool:
    """Reports whether one change permits more than before.

    Args:
        document, settings: the settings before the change.
    """
    path = _path_of(change.name, setup)
    given, here = _at(setup, path), _at(document, path)
    if isinstance(given, Mapping) and isinstance(here, Mapping):
        given = {**dict.fromkeys(here), **given}  # the whole object is replaced, and what it leaves out is removed
    patch: Document = {}
    _set(patch, path, given)
    return settings_widen(patch, settings)


def standing_setting(name: str, setup: Mapping[str, object], document: Document) -> object:
    """Returns a document's present value at the place of a change; None without one."""
    return _at(document, _path_of(name, setup))


def apply_setting(change: SetupChange, setup: Mapping[str, object], document: Document) -> None:
    """Applies one change to a document."""
    path = _path_of(change.name, setup)
    _set(document, path, _at(setup, path))


def _path_of(name: str, setup: Mapping[str, object]) -> Path:
    return next(path for path in _paths(setup) if ".".join(path) == name)


def _paths(setup: Mapping[str, object]) -> Iterator[Path]:
    yield from (path for path in WHOLE if _at(setup, path) is not None)
    for path in BY_NAME:
        yield from ((*path, name) for name, value in (_at(setup, path) or {}).items() if value is not None)


def _rules_in_words(path: Path, value: Any) -> str:
    """Describes an AI client's approval rules, which the user has to check in a foreign file; empty for other settings."""
    given = path[:-1] == ("publish", "clients") and not (value.get("autoApprove") is None and value.get("callRules") is None)
    if not given:
        return ""
    by_rules = [rule_words.words(read_rule(each)) for each in value.get("callRules") or ()]
    return Phrase("runs without asking: {tools}", tools=_listed([*(value.get("autoApprove") or ()), *by_rules]))


def _listed(approved: Sequence[str]) -> str:
    return rule_words.joined(approved) if approved else Phrase("nothing")


def _harmless(value: object, known: Collection[str]) -> object:
    """Returns a setting without user names and passwords in URLs, and without texts that contain a secret."""
    if isinstance(value, str):
        return shown_url(value) if "://" in value else value
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and any(secret in each for secret in known))]
        return [{**each, "url": shown_url(each["url"])} if isinstance(each, Mapping) else each for each in kept]
    return value


def _at(document: Mapping[str, object], path: Path) -> Any:
    """Returns the value at a path; None if it is absent."""
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _set(document: Document, path: Path, value: object) -> None:
    for key in path[:-1]:
        document = part(document, key)
    document[path[-1]] = value


Twin = Callable[[str, JsonMapping], str]
"""Takes name and entry of a server; returns the name of an existing server that runs the same, or an empty text."""
NO_SETUP = Phrase("This is not a Tooltray backup")
IN_PLAIN_TEXT = Phrase("is in the file in plain text; will be stored as a secret")


class Setup:
    """The export, import and reset of the set-up; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        server_secrets: ServerSecrets,
        widenings: EntryWidenings,
        shipped: Callable[[], JsonMapping],
    ) -> None:
        """
        Args:
            shipped: reads the document with the default servers (resources/default-servers.json).
        """
        self._config, self._secrets, self._server_secrets = config, secrets, server_secrets
        self._widenings, self._shipped = widenings, shipped

    # export

    async def exported(self) -> JsonObject:
        """Returns servers and settings without secrets, and the names of the secrets that they need."""
        settings, known = self._config.settings, self._secrets.known_values()
        servers = {name: without_secrets(name, entry, known).entry for name, entry in self._config.entries.items()}
        document: JsonObject = {"version": CURRENT_VERSION, "mcpServers": servers}
        document["defaultServers"] = [name for name in settings.default_servers if name in servers]
        document |= exported_settings(settings, self._config.document, known)
        return document | {"secrets": list(_wanted_secrets(servers))}

    # import

    async def preview_import(self, setup: JsonMapping, *, replace: bool) -> list[SetupChange]:
        """Implements SetupApi.preview_import."""
        checked, values = _without_plain_secrets(_checked(setup))
        twins = _Twins(values, self._secrets.known_values())
        changes = _changes_of_import(checked, self._config.document, replace=replace, twins=twins)
        return [*changes, *await self._secret_changes(checked, _of_changed(changes, values))]

    async def take_over(self, setup: JsonMapping, *, replace: bool) -> list[SetupChange]:
        """Implements SetupApi.import_setup; nothing is started."""
        checked, values = _without_plain_secrets(_checked(setup))
        twins = _Twins(values, self._secrets.known_values())
        changes = _changes_of_import(checked, self._config.document, replace=replace, twins=twins)
        confirmed = await self._confirmed(Phrase("Importing what allows more"), changes, checked)
        planned = _of_changed(changes, values)
        secret_changes = await self._secret_changes(checked, planned)
        done: list[SetupChange] = []

        def edit(document: Document) -> None:
            check_unchanged(confirmed, _standing(confirmed, checked, document))
            done[:] = _changes_of_import(checked, document, replace=replace, twins=twins)
            _apply(done, checked, document)

        async with self._server_secrets.stored(planned):
            await self._config.edit(edit)
        return [*done, *secret_changes]

    async def _secret_changes(self, setup: JsonMapping, values: Mapping[str, str]) -> list[SetupChange]:
        """Returns the secrets that the file contains, and those that the user must enter: all missing ones if the store cannot be read."""
        try:
            here = await self._secrets.names()
        except TooltrayError:
            here = []
        moved = [SetupChange("replace", "secret", name, IN_PLAIN_TEXT) for name in values]
        wanted = [name for name in _wanted_secrets(setup["mcpServers"]) if name not in here and name not in values]
        return [*moved, *(SetupChange("add", "secret", name, Phrase("its value is not in the backup")) for name in wanted)]

    async def _confirmed(self, what: str, changes: Iterable[SetupChange], setup: JsonMapping) -> "_Places":
        """Requests the user's confirmation of the changes that widen something, and returns the present values that they would replace."""
        wider = {change: told for change in changes if (told := await self._widening(change, setup))}
        places = _standing([_place(change) for change in wider], setup, self._config.document)
        if wider:
            await confirm_widening(what, changes=[f"{change.name}: {told}" for change, told in wider.items()])
        return places

    async def _widening(self, change: SetupChange, setup: JsonMapping) -> str:
        """Returns what a change permits, in words; empty if it permits nothing new."""
        if change.kind == "keep" or change.subject not in ("server", "setting"):
            return ""
        if change.subject == "setting":
            widens = setting_widens(change, setup, self._config.document, self._config.own_settings)
            return (change.detail or change.kind) if widens else ""
        entry = setup["mcpServers"][change.name]
        told = await self._widenings.told(change.name, entry)
        return "; ".join([_in_words(change.name, entry), *told]) if told else ""

    # reset

    async def preview_reset(self) -> list[SetupChange]:
        """Implements SetupApi.preview_reset."""
        return _changes_of_reset(_checked(self._shipped()), self._config.document)

    async def reset(self) -> list[SetupChange]:
        """Implements SetupApi.reset_to_default_servers; nothing is started."""
        shipped = _checked(self._shipped())
        changes = _changes_of_reset(shipped, self._config.document)
        confirmed = await self._confirmed(Phrase("Putting back servers that may do more"), changes, shipped)
        done: list[SetupChange] = []

        def edit(document: Document) -> None:
            check_unchanged(confirmed, _standing(confirmed, shipped, document))
            done[:] = _changes_of_reset(shipped, document)
            _apply(done, shipped, document)

        await self._config.edit(edit)
        return done


_Places = Mapping[tuple[str, str], object]
"""Present values of the settings, by subject and name of a change."""


def _place(change: SetupChange) -> tuple[str, str]:
    return change.subject, change.name


def _standing(places: Iterable[tuple[str, str]], setup: JsonMapping, document: Document) -> _Places:
    def standing(subject: str, name: str) -> object:
        return _servers_in(document).get(name) if subject == "server" else standing_setting(name, setup, document)

    return copy.deepcopy({place: standing(*place) for place in places})


def shipped_servers() -> JsonObject:
    """Returns the default servers, as a document in the format of the settings."""
    shipped: JsonObject = json.loads(resource("default-servers.json").read_bytes())
    return shipped


def _checked(setup: Mapping[str, object]) -> JsonObject:
    """Validates a set-up and returns a copy.

    Raises:
        TooltrayError: it is not a set-up, or a server in it cannot be used.
    """
    servers, defaults = setup.get("mcpServers"), setup.get("defaultServers") or []
    if not isinstance(servers, Mapping):
        raise TooltrayError(
            NO_SETUP,
            Phrase("it has no `mcpServers`"),
            Phrase("Choose a file that `tooltray export` has written, or another program's mcp.json."),
        )
    if version_of(dict(setup)) > CURRENT_VERSION:
        raise TooltrayError(
            Phrase("This backup comes from a newer Tooltray"),
            Phrase("its version is {setup}", setup=setup["version"]),
            Phrase("Update Tooltray, then import it."),
        )
    if not isinstance(defaults, list) or not all(isinstance(name, str) for name in defaults):
        raise TooltrayError(NO_SETUP, Phrase("`defaultServers` must be a list of names"), Phrase("Correct the file."))
    for name, entry in servers.items():
        check_name(name, BUILTIN_NAMES)
        try:
            read_given_entry(name, entry)
        except TooltrayError as error:
            raise TooltrayError(
                error.problem.title, error.problem.message, Phrase("Correct it in the file; nothing was changed.")
            ) from None
    check_settings(setup)
    known = {"defaultServers": [name for name in defaults if name in servers], "says_defaults": "defaultServers" in setup}
    return {**copy.deepcopy(dict(setup)), **known}  # another program's file has no `defaultServers`


def _without_plain_secrets(setup: JsonObject) -> tuple[JsonObject, dict[str, dict[str, str]]]:
    """Returns the set-up with placeholders for plain secrets, and their values by server and name."""
    found = {name: without_secrets(name, entry) for name, entry in setup["mcpServers"].items()}
    return {**setup, "mcpServers": {name: each.entry for name, each in found.items()}}, {name: each.values for name, each in found.items()}


def _of_changed(changes: Collection[SetupChange], values: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Returns the secrets of those servers that are imported."""
    taken = [change.name for change in changes if change.subject == "server" and change.kind != "keep"]
    return {name: value for server in taken for name, value in values[server].items()}


class _Twins:
    """A search for an existing server with another name that runs the same program in the same way as an imported one.

    With both, AI clients would see its tools twice. Disabled servers are ignored, since they offer no tools.
    """

    def __init__(self, values: Mapping[str, Mapping[str, str]], known: Collection[str]) -> None:
        """
        Args:
            values: the plain secrets of the set-up by server and name.
            known: values of secrets in use here; a server with another key belongs to another account and is not a twin.
        """
        self._values, self._known = values, known

    def among(self, here: JsonMapping) -> Twin:
        there: dict[str, str] = {}
        for name, entry in here.items():
            with contextlib.suppress(TooltrayError):  # an entry that cannot be used runs nothing
                if not read_entry(name, entry).disable:
                    there |= {_fingerprint(name, entry, is_own_secret_any=is_any): name for is_any in (True, False)}
        return partial(self._twin, there)

    def _twin(self, there: Mapping[str, str], name: str, entry: JsonMapping) -> str:
        values = self._values[name].values()
        if not all(value in self._known for value in values):
            return ""
        return there.get(_fingerprint(name, entry, is_own_secret_any=bool(values)), "")


def _fingerprint(name: str, entry: JsonMapping, *, is_own_secret_any: bool) -> str:
    """Returns a hash of what runs. With `is_own_secret_any` the server's name in the names of its secrets does not matter."""
    text = json.dumps(entry, default=float)  # numbers read from a file are Decimals
    own = text.replace(f"${{secret:{name}/", "${secret:*/") if is_own_secret_any else text
    return config_hash(read_entry(name, json.loads(own)))


def _changes_of_import(setup: JsonMapping, document: Document, *, replace: bool, twins: _Twins) -> list[SetupChange]:
    defaults = _default_changes(setup, document) if replace and setup["says_defaults"] else ()
    return [*_server_changes(setup, document, replace=replace, twins=twins), *defaults, *setting_changes(setup, document, replace=replace)]


def _changes_of_reset(shipped: JsonMapping, document: Document) -> list[SetupChange]:
    own = [name for name in _servers_in(document) if name not in shipped["mcpServers"]]
    kept = [SetupChange("keep", "server", name, Phrase("your own server")) for name in own]
    return [*_server_changes(shipped, document, replace=True), *_default_changes(shipped, document), *kept]


def _server_changes(setup: JsonMapping, document: Document, *, replace: bool, twins: _Twins | None = None) -> Iterator[SetupChange]:
    """Yields the changes of servers.

    Args:
        twins: finds servers that run the same under another name, which are skipped; None to skip none, as for the default servers.
    """
    here = _servers_in(document)
    twin = twins.among(here) if twins else lambda name, entry: ""
    for name, entry in setup["mcpServers"].items():
        if name not in here and (other := twin(name, entry)):
            yield SetupChange("keep", "server", name, Phrase("already exists as '{name}'", name=other))
        elif name not in here:
            yield SetupChange("add", "server", name, _in_words(name, entry))
            if name in setup["defaultServers"]:
                yield _default_change(name, True)
        elif here[name] == entry:
            yield SetupChange("keep", "server", name, Phrase("already the same"))
        elif replace:
            yield SetupChange("replace", "server", name, _difference(here[name], entry))
        else:
            yield SetupChange("keep", "server", name, Phrase("a server with this name already exists"))


def _default_changes(shipped: JsonMapping, document: Document) -> Iterator[SetupChange]:
    """Yields the changes of whether existing servers start with the hub."""
    defaults = _defaults_in(document)
    for name in shipped["mcpServers"]:
        if name in _servers_in(document) and (name in defaults) != (name in shipped["defaultServers"]):
            yield _default_change(name, name in shipped["defaultServers"])


def _default_change(name: str, is_default: bool) -> SetupChange:
    kind, detail = ("add", Phrase("starts with Tooltray")) if is_default else ("remove", Phrase("starts when used"))
    return SetupChange(kind, "default", name, detail)


def _apply(changes: Collection[SetupChange], setup: JsonMapping, document: Document) -> None:
    servers, defaults = part(document, "mcpServers"), texts(document, "defaultServers")
    for change in changes:
        if change.subject == "server" and change.kind in ("add", "replace"):
            servers[change.name] = setup["mcpServers"][change.name]
        elif change.subject == "default" and change.kind == "add":
            defaults.append(change.name)
        elif change.subject == "default":
            defaults.remove(change.name)
        elif change.subject == "setting" and change.kind != "keep":
            apply_setting(change, setup, document)


def _servers_in(document: Mapping[str, object]) -> JsonMapping:
    servers = document.get("mcpServers")
    return servers if isinstance(servers, dict) else {}


def _defaults_in(document: Mapping[str, object]) -> list[str]:
    defaults = document.get("defaultServers")
    return list(defaults) if isinstance(defaults, list) else []


def _wanted_secrets(servers: JsonMapping) -> tuple[str, ...]:
    return tuple(dict.fromkeys(secret for name, entry in servers.items() for secret in secret_names(read_entry(name, entry))))


def _in_words(name: str, entry: JsonMapping) -> str:
    """Describes what would run and its approval rules, which the user has to check in a foreign file."""
    config = read_entry(name, entry)
    by_rules = [rule_words.words(rule) for rule in config.call_rules]
    return Phrase("{target} (runs without asking: {tools})", target=config.target, tools=_listed([*config.auto_approve, *by_rules]))


def _difference(before: object, after: Mapping[str, object]) -> str:
    """Lists the names of members that differ, without their values, which may be secrets."""
    old = before if isinstance(before, dict) else {}
    changed = [key for key in {**old, **after} if json.dumps(old.get(key), sort_keys=True) != json.dumps(after.get(key), sort_keys=True)]
    return Phrase("changes {fields}", fields=", ".join(changed))
