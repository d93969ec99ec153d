"""The whole set-up as one thing: taken out, taken over from elsewhere, and put back to what comes with Tooltray.

Above it: McpPresenter. Below it: the settings, carried_settings for what is no server, and servers/portable_entry, which takes secrets out
of an entry. Knows no running server: ServerManager follows the settings.

An exported document has the form of the settings, so that other programs can read its `mcpServers`, and this one can read theirs.
"""

import contextlib
import copy
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from tooltray.entries import carried_settings
from tooltray.entries.portable_entry import without_secrets
from tooltray.errors import TooltrayError
from tooltray.resources import resource
from tooltray.secrets.secrets import SecretStore
from tooltray.settings.expansion import secret_names
from tooltray.settings.mcp_conf_helper import BUILTIN_NAMES, McpConfHelper
from tooltray.settings.migrations import CURRENT_VERSION, Document, version_of
from tooltray.settings.server_config import config_hash
from tooltray.settings.settings import check_name, read_entry
from tooltray.snapshots.setup import SetupChange

Twin = Callable[[str, Mapping[str, Any]], str]
"""Takes the name and the entry of a server; returns the name of the one that runs the same; empty: there is none."""
NO_SETUP = "This is no backup of Tooltray"


class Setup:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, secrets: SecretStore, shipped: Callable[[], Mapping[str, Any]]) -> None:
        """
        Args:
            shipped: reads the document of the servers that come with Tooltray (resources/default-servers.json).
        """
        self._config, self._secrets, self._shipped = config, secrets, shipped

    # out

    async def exported(self) -> dict[str, Any]:
        """The servers and settings, without secrets, and the names of the secrets that they want."""
        settings, known = self._config.settings, self._secrets.known_values()
        servers = {name: without_secrets(name, entry, known).entry for name, entry in self._config.entries.items()}
        document: dict[str, Any] = {"version": CURRENT_VERSION, "mcpServers": servers}
        document["defaultServers"] = [name for name in settings.default_servers if name in servers]
        document |= carried_settings.exported(settings, self._config.document, known)
        return document | {"secrets": list(_wanted_secrets(servers))}

    # in

    async def preview_import(self, setup: Mapping[str, Any], *, replace: bool) -> list[SetupChange]:
        """What `take_over` would do.

        Raises:
            TooltrayError: this is no set-up, or one of its servers cannot be used.
        """
        checked, values = _without_plain_secrets(_checked(setup))
        twins = _Twins(values, self._secrets.known_values())
        changes = _changes_of_import(checked, self._config.document, replace=replace, twins=twins)
        return [*changes, *await self._secret_changes(checked, _of_changed(changes, values))]

    async def take_over(self, setup: Mapping[str, Any], *, replace: bool) -> list[SetupChange]:
        """Adds what is in a set-up: all of it, or nothing.

        Args:
            replace: whether what is there already under the same name is replaced.

        Raises:
            TooltrayError: as `preview_import`; or the settings cannot be written.
        """
        checked, values = _without_plain_secrets(_checked(setup))
        twins = _Twins(values, self._secrets.known_values())
        planned = _of_changed(_changes_of_import(checked, self._config.document, replace=replace, twins=twins), values)
        told = await self._secret_changes(checked, planned)
        for name, value in planned.items():
            await self._secrets.set(name, value)
        done: list[SetupChange] = []

        def edit(document: Document) -> None:
            done[:] = _changes_of_import(checked, document, replace=replace, twins=twins)
            _apply(done, checked, document)

        await self._config.change_document(edit)
        return [*done, *told]

    async def _secret_changes(self, setup: Mapping[str, Any], values: Mapping[str, str]) -> list[SetupChange]:
        """The secrets whose values come along, and those whose values are to be given; all of these where the store cannot be read."""
        try:
            here = await self._secrets.names()
        except TooltrayError:
            here = []
        moved = [SetupChange("replace", "secret", name, "stands in the file in plain text; is kept among your secrets") for name in values]
        wanted = [name for name in _wanted_secrets(setup["mcpServers"]) if name not in here and name not in values]
        return [*moved, *(SetupChange("add", "secret", name, "its value is not in the backup") for name in wanted)]

    # back

    async def preview_reset(self) -> list[SetupChange]:
        """What `reset` would do."""
        return _changes_of_reset(_checked(self._shipped()), self._config.document)

    async def reset(self) -> list[SetupChange]:
        """Puts the servers that come with Tooltray back to how they came. A person's own servers stay as they are.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        shipped = _checked(self._shipped())
        done: list[SetupChange] = []

        def edit(document: Document) -> None:
            done[:] = _changes_of_reset(shipped, document)
            _apply(done, shipped, document)

        await self._config.change_document(edit)
        return done


def shipped_servers() -> dict[str, Any]:
    """The servers that come with Tooltray, as a document like the settings."""
    shipped: dict[str, Any] = json.loads(resource("default-servers.json").read_bytes())
    return shipped


def _checked(setup: Mapping[str, Any]) -> dict[str, Any]:
    """A set-up as a document of our own, everything in it usable.

    Raises:
        TooltrayError: it is none, or a server in it cannot be used.
    """
    servers, defaults = setup.get("mcpServers"), setup.get("defaultServers") or []
    if not isinstance(servers, Mapping):
        raise TooltrayError(
            NO_SETUP, "it has no `mcpServers`", "Choose a file that `tooltray export` has written, or another program's mcp.json."
        )
    if version_of(dict(setup)) > CURRENT_VERSION:
        raise TooltrayError(
            "This backup comes from a newer Tooltray", f"its version is {setup['version']}", "Update Tooltray, then import it."
        )
    if not isinstance(defaults, list) or not all(isinstance(name, str) for name in defaults):
        raise TooltrayError(NO_SETUP, "`defaultServers` must be a list of names", "Correct the file.")
    for name, entry in servers.items():
        check_name(name, BUILTIN_NAMES)
        try:
            read_entry(name, entry)
        except TooltrayError as error:
            raise TooltrayError(error.problem.title, error.problem.message, "Correct it in the file; nothing was changed.") from None
    carried_settings.check(setup)
    known = {"defaultServers": [name for name in defaults if name in servers], "says_defaults": "defaultServers" in setup}
    return {**copy.deepcopy(dict(setup)), **known}  # another program's file says nothing of what starts with the hub


def _without_plain_secrets(setup: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """The set-up with placeholders for what is a secret, and the values of these, by server."""
    found = {name: without_secrets(name, entry) for name, entry in setup["mcpServers"].items()}
    return {**setup, "mcpServers": {name: each.entry for name, each in found.items()}}, {name: each.values for name, each in found.items()}


def _of_changed(changes: Collection[SetupChange], values: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The values that servers bring along which are taken over."""
    taken = [change.name for change in changes if change.subject == "server" and change.kind != "keep"]
    return {name: value for server in taken for name, value in values[server].items()}


class _Twins:
    """Finds, for a server that is to be taken over, the one of another name that runs the same program in the same way.

    With both, its tools would be offered twice. One that is switched off offers none.
    """

    def __init__(self, values: Mapping[str, Mapping[str, str]], known: Collection[str]) -> None:
        """
        Args:
            values: the secrets that came along in plain text, by server and name.
            known: values of secrets that are in use here; one with another key is another account, and no twin.
        """
        self._values, self._known = values, known

    def among(self, here: Mapping[str, Any]) -> Twin:
        there: dict[str, str] = {}
        for name, entry in here.items():
            with contextlib.suppress(TooltrayError):  # an entry that cannot be used runs nothing
                if not read_entry(name, entry).disable:
                    there |= {_fingerprint(name, entry, is_own_secret_any=is_any): name for is_any in (True, False)}
        return partial(self._twin, there)

    def _twin(self, there: Mapping[str, str], name: str, entry: Mapping[str, Any]) -> str:
        values = self._values[name].values()
        if not all(value in self._known for value in values):
            return ""
        return there.get(_fingerprint(name, entry, is_own_secret_any=bool(values)), "")


def _fingerprint(name: str, entry: Mapping[str, Any], *, is_own_secret_any: bool) -> str:
    """Of what runs. `is_own_secret_any`: whether secrets under the server's own name are like those under any other name."""
    text = json.dumps(entry, default=float)  # numbers of a file are Decimals
    own = text.replace(f"${{secret:{name}/", "${secret:*/") if is_own_secret_any else text
    return config_hash(read_entry(name, json.loads(own)))


def _changes_of_import(setup: Mapping[str, Any], document: Document, *, replace: bool, twins: _Twins) -> list[SetupChange]:
    defaults = _default_changes(setup, document) if replace and setup["says_defaults"] else ()
    return [
        *_server_changes(setup, document, replace=replace, twins=twins),
        *defaults,
        *carried_settings.changes(setup, document, replace=replace),
    ]


def _changes_of_reset(shipped: Mapping[str, Any], document: Document) -> list[SetupChange]:
    own = [name for name in _servers_in(document) if name not in shipped["mcpServers"]]
    kept = [SetupChange("keep", "server", name, "your own") for name in own]
    return [*_server_changes(shipped, document, replace=True), *_default_changes(shipped, document), *kept]


def _server_changes(setup: Mapping[str, Any], document: Document, *, replace: bool, twins: _Twins | None = None) -> Iterator[SetupChange]:
    """
    Args:
        twins: servers that run what runs here already are left out; None: they are not, for they came with these names.
    """
    here = _servers_in(document)
    twin = twins.among(here) if twins else lambda name, entry: ""
    for name, entry in setup["mcpServers"].items():
        if name not in here and (other := twin(name, entry)):
            yield SetupChange("keep", "server", name, f"the same is there already, as '{other}'")
        elif name not in here:
            yield SetupChange("add", "server", name, _in_words(name, entry))
            if name in setup["defaultServers"]:
                yield _default_change(name, True)
        elif here[name] == entry:
            yield SetupChange("keep", "server", name, "the same already")
        elif replace:
            yield SetupChange("replace", "server", name, _difference(here[name], entry))
        else:
            yield SetupChange("keep", "server", name, "there is one of this name")


def _default_changes(shipped: Mapping[str, Any], document: Document) -> Iterator[SetupChange]:
    """Of those that are there already: whether they start with the hub, as they came."""
    defaults = document.get("defaultServers") or []
    for name in shipped["mcpServers"]:
        if name in _servers_in(document) and (name in defaults) != (name in shipped["defaultServers"]):
            yield _default_change(name, name in shipped["defaultServers"])


def _default_change(name: str, is_default: bool) -> SetupChange:
    kind, detail = ("add", "starts with the hub") if is_default else ("remove", "starts when it is first used")
    return SetupChange(kind, "default", name, detail)


def _apply(changes: Collection[SetupChange], setup: Mapping[str, Any], document: Document) -> None:
    servers = document["mcpServers"] = dict(_servers_in(document))
    defaults = document["defaultServers"] = list(document.get("defaultServers") or [])
    for change in changes:
        if change.subject == "server" and change.kind in ("add", "replace"):
            servers[change.name] = setup["mcpServers"][change.name]
        elif change.subject == "default" and change.kind == "add":
            defaults.append(change.name)
        elif change.subject == "default":
            defaults.remove(change.name)
        elif change.subject == "setting" and change.kind != "keep":
            carried_settings.apply(change, setup, document)


def _servers_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    servers = document.get("mcpServers")
    return servers if isinstance(servers, dict) else {}


def _wanted_secrets(servers: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(secret for name, entry in servers.items() for secret in secret_names(read_entry(name, entry))))


def _in_words(name: str, entry: Mapping[str, Any]) -> str:
    """What would run, and what its tools may do unasked: that is what a person has to look at in a file from elsewhere."""
    config = read_entry(name, entry)
    return f"{config.target} (approved without asking: {', '.join(config.auto_approve) or 'nothing'})"


def _difference(before: Any, after: Mapping[str, Any]) -> str:
    """Which members differ, not how: values may be secrets."""
    old = before if isinstance(before, dict) else {}
    changed = [key for key in {**old, **after} if json.dumps(old.get(key), sort_keys=True) != json.dumps(after.get(key), sort_keys=True)]
    return f"changes {', '.join(changed)}"
