"""The list of well-known servers that comes with Tooltray, written in the spelling of the registry.

Packages in it are not pinned, as people start these servers: each start takes the newest version.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.config.settings.server_config import shown_url
from tooltray.foundation.errors import NotFound
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import StarterServer
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.discovery.registry_json import Described, Package, read_described
from tooltray.sources.discovery.server_forms import Choice, choices_of
from tooltray.sources.discovery.updates import STARTER, from_list
from tooltray.sources.entries.server_entries import ORIGIN


class Starter(msgspec.Struct, frozen=True, rename="camel"):
    """A server of the file.

    Attributes:
        package, remote: how it is installed, as in server.json; one of the two is given.
        trial: values with which it starts without an account, for the script that tries it; `{folder}` in them is an empty folder. None:
            it needs an account, or a program that is not installed everywhere.
    """

    id: str
    title: str
    good_for: str
    category: str
    needs: str = ""
    package: JsonObject | None = None
    remote: JsonObject | None = None
    trial: JsonObject | None = None

    @property
    def described(self) -> Described:
        """The server as if it came from a registry."""
        parts = {"packages": [self.package] if self.package else [], "remotes": [self.remote] if self.remote else []}
        found = read_described({"name": f"starters/{self.id}", "title": self.title, "description": self.good_for, **parts})
        assert found, self.id  # the file comes with Tooltray; a test reads all of it
        return found

    @property
    def choice(self) -> Choice:
        return choices_of(self.described)[0]


class _File(msgspec.Struct):
    servers: list[Starter]


class Starters:
    """The servers of the file, which do not change."""

    def __init__(self, path: Path) -> None:
        """
        Args:
            path: `starter-servers.json`.
        """
        self._by_id = {each.id: each for each in msgspec.json.decode(path.read_bytes(), type=_File).servers}

    def all(self) -> tuple[Starter, ...]:
        return tuple(self._by_id.values())

    def get(self, id: str) -> Starter:
        """
        Raises:
            NotFound: the list has no such server.
        """
        if id not in self._by_id:
            raise NotFound(Phrase("The list has no server '{id}'", id=id), "", Phrase("See: tooltray discover starters"))
        return self._by_id[id]

    def snapshots(self, entries: Mapping[str, Mapping[str, object]]) -> list[StarterServer]:
        """Returns the whole list.

        Args:
            entries: the servers here.
        """
        return [_snapshot(each, next(_here(each, entries), "")) for each in self._by_id.values()]


def _here(starter: Starter, entries: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yields the servers here that are this one: added from the list, or with the same package or address."""
    what = starter.package["identifier"] if starter.package else (starter.remote or {})["url"]
    for server, entry in entries.items():
        words = entry.get("args")
        has_package = isinstance(words, list) and any(isinstance(word, str) and _is_package(word, what) for word in words)
        if from_list(entry) == starter.id or has_package or what in (entry.get("url"), entry.get("baseUrl")):
            yield server


def _is_package(word: str, name: str) -> bool:
    """Reports whether a word is a package, with its version or without."""
    return word == name or word.startswith((f"{name}@", f"{name}=="))


def _snapshot(starter: Starter, here: str) -> StarterServer:
    choice = starter.choice
    target = shown_url(str((starter.remote or {}).get("url", ""))) if starter.remote else joined(_command(choice))
    return StarterServer(starter.id, starter.title, starter.good_for, starter.category, target, starter.needs, choice.option.fields, here)


def _command(choice: Choice) -> list[str]:
    """Returns the command, with names in the place of values that the user has to give."""
    assert isinstance(choice.what, Package)
    words = ["npx", "-y"] if choice.option.needs == "npx" else [choice.option.needs]
    words.append(choice.option.label)
    required = {field.key for field in choice.option.fields if field.is_required and not field.is_secret}
    for each in choice.what.package_arguments:
        is_asked = each.input.value is None and each.input.is_required
        key = each.name.lstrip("-") or each.hint
        words += [each.name] if each.name and (is_asked or each.input.value is not None) else []
        words += [f"<{key}>"] if is_asked and key in required else [each.input.value] if each.input.value is not None else []
    return words


def with_origin(entry: Mapping[str, object], starter: Starter) -> JsonObject:
    """Returns the entry with its origin in the list."""
    return {**entry, ORIGIN: {"kind": STARTER, "id": starter.id}}
