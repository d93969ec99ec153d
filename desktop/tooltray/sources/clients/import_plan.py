"""The servers that can be imported: every server once, however many clients have it, compared with the servers here.

Two entries are the same server if they have the same program and arguments, or the same address, in any client's spelling. A plan is
computed for each preview and each import, so that a server that has changed since it was shown is not imported: its id has changed. Nothing
is changed here. Names of servers and of secrets do not matter, but known values of placeholders do: two keys are two accounts.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from tooltray.config.foreign_configs.config_source import CannotUse, shown
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.given_entries import BUILTIN_NAMES, read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.foundation.errors import Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ImportCandidate
from tooltray.foundation.verbs import JsonObject
from tooltray.servers.launch.command_lookup import is_launcher
from tooltray.sources.clients.import_offers import Found, Offer, found_secrets, masked
from tooltray.sources.entries.pasted_parts import clean_name, guess_name
from tooltray.sources.foreign_entries.entry_reading import ReadServer, read_server

LookUp = Callable[[str], str | None]
"""Returns the value of a placeholder, by the text between `${` and `}`; None if unknown."""
_PLACEHOLDER = re.compile(r'\$\{([^}"]*)\}')  # in JSON
_SHELLS = ("cmd", "cmd.exe")


class Program(HidesFields, frozen=True):
    """The program or address of an entry, for comparison.

    Attributes:
        text: with `*` for each placeholder.
        values: of the placeholders, in order; None for an unknown value.
    """

    hidden: ClassVar = ("text", "values")

    text: str
    values: tuple[str | None, ...]

    def is_same(self, other: "Program") -> bool:
        pairs = zip(self.values, other.values, strict=False)
        return self.text == other.text and all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def program_of(entry: Mapping[str, object], look_up: LookUp) -> Program:
    """
    Args:
        entry: one that can be used, in the spelling of `mcpServers`.
    """
    text = what_runs(_usual(read_entry("server", entry)))
    values = tuple(look_up(json.loads(f'"{inner}"')) for inner in _PLACEHOLDER.findall(text))
    return Program(_PLACEHOLDER.sub("*", text), values)


def looked_up(inner: str, secrets: Mapping[str, str], environ: Mapping[str, str]) -> str | None:
    """Returns the value of one of Tooltray's placeholders.

    Args:
        secrets: values by name, as far as they are known.
    """
    if inner.startswith("secret:"):
        return secrets.get(inner.removeprefix("secret:"))
    name, has_default, default = inner.partition(":-")
    return environ.get(name) or (default if has_default else None)


def _usual(config: MCPServerConfig) -> MCPServerConfig:
    """Returns the config in the spelling of most clients."""
    words = [config.command or "", *config.args]
    if words[0].lower() in _SHELLS and len(words) > 2 and words[1].lower() == "/c":
        words = words[2:]
    program = re.sub(r"\.(?:exe|cmd)$", "", re.split(r"[/\\]", words[0])[-1])
    if is_launcher(program):
        words = [program, *("-y" if word == "--yes" else word for word in words[1:])]
    url = config.base_url.rstrip("/") if config.base_url else None
    return config.model_copy(update={"command": words[0] or None, "args": tuple(words[1:]), "base_url": url})


MAX_NAMED_FILE_BYTES = 64 * 1024  # bytes of a file that an entry names: a token, or some variables
ID_CHARACTERS = 16  # characters of a digest: a user has some hundred candidates at most
_ONLY_IF_ALL_AGREE = ("callTimeout", "toolFilter", "disabledTools", "descriptions")


class _Reading(HidesFields, frozen=True):
    """One readable entry, in the form for comparison with others."""

    hidden: ClassVar = ("read", "program")

    found: Found
    read: ReadServer
    program: Program


class _Here(HidesFields, frozen=True):
    """One server of the settings."""

    hidden: ClassVar = ("program",)

    name: str
    program: Program


async def offers(
    found: Sequence[Found],
    *,
    config: McpConfHelper,
    secrets: SecretStore,
    environ: Callable[[], Awaitable[Mapping[str, str]]],
    user_folder: Path,
) -> list[Offer]:
    """Returns an offer for each server in some entries, in their order; unusable ones are last, with the reason.

    Args:
        environ: returns the environment that servers get.
        user_folder: the user's home.
    """
    known = secrets.known_values()
    read, has_placeholders = await asyncio.to_thread(_read_all, found, str(user_folder), known)
    variables = await environ() if has_placeholders else {}
    groups = await asyncio.to_thread(_grouped, read, known, variables)
    here = await _servers_here(config, secrets, {group[0].program.text for group in groups}, variables)
    return await asyncio.to_thread(_offers, read, groups, _Names({*config.settings.mcp_servers, *config.names}), here, known)


async def _servers_here(config: McpConfHelper, secrets: SecretStore, texts: Collection[str], environ: Mapping[str, str]) -> list[_Here]:
    """Returns the servers of the settings that may be the same as one of `texts`, with the values of their secrets."""
    found: list[_Here] = []
    values = _Values(secrets)
    for name, entry in config.entries.items():
        if program_of(entry, lambda inner: None).text in texts:
            known = {secret: await values.get(secret) for secret in secret_names(read_entry(name, entry))}
            found.append(_Here(name, program_of(entry, partial(looked_up, secrets=known, environ=environ))))
    return found


def count_new(found: Sequence[Found], entries: Iterable[Mapping[str, object]], user_folder: Path) -> int:
    """Returns how many different servers some entries are that no server here is like. Reads no secret, so that two accounts count as the
    same. Blocks; for a thread.

    Args:
        entries: of the settings.
        user_folder: the user's home.
    """
    read, _ = _read_all(found, str(user_folder), ())
    here = {program_of(entry, lambda inner: None).text for entry in entries}
    return len({group[0].program.text for group in _grouped(read, (), {})} - here)


class _Values:
    """The values of secrets, read until their place cannot be reached; a keyring that hangs is asked only once."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets, self._is_reachable = secrets, True

    async def get(self, secret: str) -> str:
        """Returns the value of a secret; for an unreadable one a value that equals no other, so that two keys are never taken for one."""
        try:
            if self._is_reachable:
                return await self._secrets.get(secret)
        except SecretsUnreachable:
            self._is_reachable = False
        except TooltrayError:
            pass
        return f"\0{secret}"


class _Names:
    """The names for new servers, unique among the servers here and in the plan."""

    def __init__(self, here: Iterable[str]) -> None:
        self.here = {*here, *BUILTIN_NAMES}
        self._taken = set(self.here)

    def free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._taken.add(name)
        return name


def usual_name(name: str, words: Sequence[str]) -> str:
    """Returns a client's name for a server, made valid here, else a guess from the server's command."""
    clean = clean_name(name.replace("{", "").replace("}", "")).strip()
    return clean or guess_name(list(words))


# all entries: in a thread, since there may be thousands


def _read_all(found: Sequence[Found], home: str, known: Collection[str]) -> tuple[list[tuple[Found, ReadServer | str]], bool]:
    """Returns each entry's reading, or why the entry cannot be used; and whether any entry has a placeholder."""
    read = [(each, _read(each, home, known)) for each in found]
    return read, any("${" in json.dumps(each.entry) for _, each in read if isinstance(each, ReadServer))


def _grouped(read: Iterable[tuple[Found, ReadServer | str]], known: Collection[str], environ: Mapping[str, str]) -> list[list[_Reading]]:
    """Returns the usable entries, grouped by server."""
    groups: dict[str, list[list[_Reading]]] = {}
    order: list[list[_Reading]] = []
    for reading in (_reading(each, server, known, environ) for each, server in read if isinstance(server, ReadServer)):
        alike = groups.setdefault(reading.program.text, [])
        group = next((each for each in alike if all(reading.program.is_same(other.program) for other in each)), None)
        if group is None:
            group = []
            alike.append(group)
            order.append(group)
        group.append(reading)
    return order


def _offers(
    read: Iterable[tuple[Found, ReadServer | str]],
    groups: Iterable[Sequence[_Reading]],
    names: _Names,
    here: Iterable[_Here],
    known: Collection[str],
) -> list[Offer]:
    good = [_offer(group, names, here, known) for group in groups]
    return _with_ids([*good, *(_broken(each, reason) for each, reason in read if isinstance(reason, str))])


# one entry


def _read(found: Found, home: str, known: Collection[str]) -> ReadServer | str:
    """Reads an entry; returns the reason as a text if the entry cannot be used."""
    try:
        read = read_server(found.server, home=home, read_file=_small_file)
        masked("server", read.entry, {*known, *read.read})
    except CannotUse as error:
        return error.reason
    return read


def _small_file(path: str) -> str:
    try:
        file = read_text(Path(path), MAX_NAMED_FILE_BYTES)
    except CannotOpen as error:
        raise CannotUse(Phrase("{file} cannot be read: {reason}", file=shown(path), reason=error.reason)) from None
    if not file.digest:
        raise CannotUse(Phrase("{file} is not there", file=shown(path)))
    return file.text.removeprefix("\ufeff")


def _reading(found: Found, read: ReadServer, known: Collection[str], environ: Mapping[str, str]) -> _Reading:
    stored = masked("server", read.entry, {*known, *read.read})
    return _Reading(found, read, program_of(stored.entry, lambda inner: looked_up(inner, stored.values, environ)))


# one server


def _offer(group: Sequence[_Reading], names: _Names, here: Iterable[_Here], known: Collection[str]) -> Offer:
    best = min(group, key=lambda each: (len(each.read.asks), each.program.values.count(None)))  # the entry with the most known values
    read = replace(best.read, entry=_agreed(best.read.entry, [each.read.entry for each in group]))
    words = [str(read.entry.get("command") or read.entry.get("url")), *read.entry.get("args", ())]
    wanted = usual_name(best.found.server.name, words)
    same = next((each.name for each in here if all(each.program.is_same(other.program) for other in group)), "")
    taken = "" if same or wanted not in names.here else wanted
    name = same or names.free(wanted)
    stored = masked(name, read.entry, {*known, *read.read})
    why_not = _why_not_chosen(group, taken)
    candidate = ImportCandidate(
        id=_digest([json.loads(json.dumps(stored.entry).replace(f"${{secret:{name}/", "${secret:*/"))]),
        name=name,
        state="same" if same else "different" if taken else "new",
        sources=tuple(each.found.source for each in group),
        entry=stored.entry,
        target=read_entry(name, stored.entry).target,
        secrets=found_secrets(stored.values),
        asks=read.asks,
        proxied=read.proxied,
        is_chosen=not why_not,
        why_not_chosen=why_not,
        remarks=_remarks(group),
        here=same or taken,
    )
    return Offer(candidate, tuple(each.found for each in group), read)


def _agreed(entry: Mapping[str, object], entries: Sequence[Mapping[str, object]]) -> JsonObject:
    """Leaves out limits and descriptions of a server that differ between its clients."""
    return {key: value for key, value in entry.items() if key not in _ONLY_IF_ALL_AGREE or all(each.get(key) == value for each in entries)}


def _why_not_chosen(group: Sequence[_Reading], taken: str) -> str:
    """Returns why a server is not chosen with "all"; empty if it is."""
    if taken:
        return Phrase("another server is called '{name}' here", name=taken)
    if remarks := _remarks(group):
        return remarks[0]
    if any(_is_on(each) and not each.found.source.project for each in group):
        return ""
    if not any(map(_is_on, group)):
        is_waiting = any(each.found.state == "waits" for each in group)
        return Phrase("it waits for approval in its client") if is_waiting else Phrase("it is switched off in its client")
    return Phrase("it is in the file of a project: {folder}", folder=group[0].found.source.project)


def _remarks(group: Sequence[_Reading]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark for each in group for remark in each.read.remarks))


def _is_on(reading: _Reading) -> bool:
    return reading.found.state == "on" and not reading.read.is_off


def _broken(found: Found, reason: str) -> Offer:
    name = usual_name(found.server.name, [])
    where = found.source.path
    problem = Problem(
        Phrase("'{name}' cannot be imported", name=shown(found.server.name)),
        reason,
        Phrase("Correct it in {file}", file=where) if where else Phrase("Correct it, and try again"),
    )
    why_not = Phrase("it cannot be used")
    id = _digest([found.source.client, where, found.source.project, found.server.name, str(reason)])
    return Offer(ImportCandidate(id, name, "broken", (found.source,), is_chosen=False, why_not_chosen=why_not, problem=problem), (found,))


def _with_ids(offers: Sequence[Offer]) -> list[Offer]:
    """Gives ids made from their places to candidates that differ only in a secret: ids must not depend on secrets."""
    seen: set[str] = set()
    made: list[Offer] = []
    for offer in offers:
        candidate = offer.candidate
        if candidate.id in seen:
            first = candidate.sources[0]
            candidate = replace(candidate, id=_digest([candidate.id, first.client, first.path, first.project, first.name]))
        seen.add(candidate.id)
        made.append(replace(offer, candidate=candidate))
    return made


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:ID_CHARACTERS]
