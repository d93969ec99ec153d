"""Builds requests for consent: everything that the user must know about an entry of a project's own file before trusting it.

The texts show the entry as written: no placeholder is filled in, except the project's folder to find out whether its program lies in the
project. Blocks for a few file system calls.
"""

import difflib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from tooltray.config.foreign_configs.mcp_json import FIELD_SPELLINGS
from tooltray.config.secrets.providers import places_of
from tooltray.config.settings.expansion import needed_variables, secret_names, variable_names
from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.foundation.verbs import JsonMapping
from tooltray.sources.project_files.started_files import PROJECT_VARIABLES, found_inside, starts_others

INSIDE = Phrase("it runs inside Tooltray and can read every secret")
"""The warning for a server in memory, which a person has to read before consenting to one."""
_BLANKS = lazy_pattern(r"\s{24}")
_LINE_ENDS = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
MOST_LINES = 200  # of each side of a diff; more than a person reads
LONGEST_LINE = 500  # characters
_HEADS = ("---", "+++", "@@")  # no line of an entry begins like this: each begins with indentation or a brace
MOST_WARNINGS = 12  # more than a person reads before an answer
LONG_TARGET = 2000  # characters of a command line or URL; no honest one is so long, and a person does not read it to the end
STEERING = lazy_pattern(
    r"PATH|PATHEXT|HOME|SHELL|ZDOTDIR|XDG_[A-Z]+_(?:HOME|DIRS)|BASH_ENV|ENV|PROMPT_COMMAND|IFS|EDITOR|PAGER|BROWSER|GCONV_PATH|"
    r"(?:LD|DYLD)_[A-Z_]+|GIT_(?!AUTHOR|COMMITTER)[A-Z_]+|SSH_[A-Z_]+|NODE_(?!ENV)[A-Z_]+|(?:BUN|DENO)_[A-Z_]+|RUBY(?:OPT|LIB)|GEM_[A-Z]+|"
    r"PYTHON(?!UNBUFFERED|IOENCODING|UTF8|DONTWRITEBYTECODE)[A-Z]+|VIRTUAL_ENV|"
    r"PERL5?(?:OPT|LIB|DB)|(?:_|JDK_)?JAVA_(?:TOOL_)?OPTIONS|CLASSPATH|DOTNET_[A-Z_]+|GO(?:FLAGS|PROXY|PATH)|CARGO_[A-Z_]+|RUSTC_[A-Z_]+|"
    r"(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE|(?:NPM|YARN|PNPM)_[A-Z_]+|COREPACK_[A-Z_]+|"
    r"UV_[A-Z_]+|PIP_[A-Z_]+|DOCKER_[A-Z_]+|KUBECONFIG|[A-Z_]+_BASE_URL|HOSTALIASES",
    re.IGNORECASE,
)
"""Environment variables that decide which code runs, or with whom it communicates."""
LOOK_ALIKES = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Alphabets with letters that look like Latin ones."""
SHOWN_FIELDS = frozenset(name for field, spellings in FIELD_SPELLINGS.items() if field != "descriptions" for name in (field, *spellings))
"""Fields that have their own members in a TrustRequest, and are not repeated among the others."""


class Place(msgspec.Struct, frozen=True):
    """Where an entry is written, and where its server runs.

    Attributes:
        folder: the project's real path.
        file: the path of the file with the entry.
        is_of_project: False if the folder is only the working folder of the server.
    """

    folder: str
    file: str
    is_of_project: bool = True


def trust_request(
    entry: FileEntry,
    place: Place,
    *,
    auto_approve: tuple[str, ...],
    confinement: ConfinementSnapshot | None = None,
    is_change: bool,
    before: FileEntry | None,
    environ: Mapping[str, str],
) -> TrustRequest:
    """Builds the request for one entry.

    Args:
        environ: the environment in which variables would be looked up; their values are not shown.
        auto_approve: the effective approval rules for its calls, with the choices made in Tooltray.
        confinement: the confinement that it would get, with the choices made in Tooltray.
        is_change: whether the user consented to an earlier content.
        before: the earlier content, if it is known.
    """
    config = entry.config
    is_process = config.transport == "stdio"
    env, headers = _pairs(config.env, "="), _pairs(config.custom_headers, ": ")
    variables = wanted_variables(config)
    return TrustRequest(
        project=place.folder,
        file=place.file,
        entry=entry.name,
        digest=entry.digest,
        is_change=is_change,
        transport=config.transport,
        target=in_one_line(written_target(config)),
        command=in_one_line(config.command or "") if is_process or config.transport == "inmemory" else "",
        host="" if is_process or not config.base_url else visible(host_of(config.base_url or "")),
        cwd=in_one_line(config.cwd or place.folder),
        secrets=tuple(map(visible, secret_names(config))),
        variables=variables,
        variable_states=tuple(_states(config, variables, environ)),
        env=env if is_process else (),
        headers=() if is_process else headers,
        others=tuple(_others(entry.written)),
        is_inside=place.is_of_project and is_process and found_inside(config, place.folder),
        auto_approve=auto_approve,
        confinement=confinement,
        diff=entry_diff(before.written, entry.written) if before else (),
        warnings=tuple(_warnings(entry, place.folder if place.is_of_project else "", place.file, auto_approve))[:MOST_WARNINGS],
        line=entry.line,
    )


def entry_diff(before: JsonMapping, after: JsonMapping) -> tuple[str, ...]:
    """Compares an entry with the one that the user has seen; each line begins with "+", "-" or " "."""
    compared = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=MOST_LINES)
    return tuple(line[:1] + _cut(visible(line[1:])) for line in compared if not line.startswith(_HEADS))


def _lines(entry: JsonMapping) -> list[str]:
    lines = json.dumps(entry, indent=2, ensure_ascii=False, sort_keys=True, default=str).splitlines()
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"]


def _cut(line: str) -> str:
    """Shortens a line to `LONGEST_LINE`."""
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def wanted_variables(config: MCPServerConfig) -> tuple[str, ...]:
    """Returns the variables of the user's environment that an entry uses."""
    return tuple(name for name in variable_names(config) if name not in PROJECT_VARIABLES)


def _states(config: MCPServerConfig, names: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Yields the state of each variable: set, default or missing. As in expansion, an empty variable is set, unless there is a default."""
    needed = needed_variables(config)
    for name in names:
        if environ.get(name) or (name in environ and name in needed):
            yield "set"
        else:
            yield "missing" if name in needed else "default"


def written_target(config: MCPServerConfig) -> str:
    """Returns the command line or the whole URL, unmasked even if it may contain a key: the person consents to exactly this."""
    return config.base_url or "" if config.transport in ("http", "sse") else config.target


def in_one_line(text: str) -> str:
    """Makes everything in a text visible, also line breaks: many line breaks could move a part out of sight."""
    return visible(text.translate(_LINE_ENDS))


def _pairs(values: Mapping[str, str], sign: str) -> tuple[str, ...]:
    return tuple(in_one_line(f"{name}{sign}{value}") for name, value in values.items())


def _others(written: JsonMapping) -> Iterator[str]:
    """Yields the other fields of an entry as written: some decide what runs, and nothing may hide there."""
    for name, value in written.items():
        if name not in SHOWN_FIELDS and value not in (None, "", [], {}):
            yield _cut(in_one_line(f"{name}: {json.dumps(value, ensure_ascii=False)}"))


def host_of(url: str) -> str:
    """Returns host and port of a URL as written; the whole text if it cannot be parsed."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return url


def _warnings(entry: FileEntry, folder: str, file: str, auto_approve: tuple[str, ...]) -> Iterator[str]:
    yield from content_warnings(entry)
    if folder and starts_others(entry.config, folder):
        yield Phrase("your approval covers the files it starts, not what they load or create while running")
    if "all" in auto_approve:
        yield Phrase("all its calls would run without asking")
    if _is_writable_by_others(file, stat.S_IWGRP | stat.S_IWOTH):
        yield Phrase("other users of this machine can change the file {file}", file=visible(file))
    if folder and _is_writable_by_others(folder, stat.S_IWOTH):
        yield Phrase("other users of this machine can write into the folder {folder}", folder=visible(folder))


def _is_writable_by_others(path: str, bits: int) -> bool:
    """Returns whether a file's permissions include one of `bits`, with which other users can change it; False on Windows."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return os.name == "posix" and bool(found.st_mode & bits)


def content_warnings(entry: FileEntry) -> Iterator[str]:
    """Yields warnings about an entry, as far as its content shows reasons."""
    config = entry.config
    yield from _about_hidden(entry.written, entry.name)
    if _is_mixed(entry.name):
        yield Phrase("its name has letters of several alphabets, and may look like another one: {name}", name=ascii(entry.name)[1:-1])
    yield from _about_secrets(config)
    if config.transport == "inmemory":
        yield INSIDE
    else:
        yield from _about_process(config) if config.transport == "stdio" else _about_host(config)
    yield from _about_length(config)


def _is_mixed(name: str) -> bool:
    """Returns whether a name mixes Latin letters with look-alikes of other alphabets."""
    alphabets = {unicodedata.name(sign, "").split(" ")[0] for sign in name if sign.isalpha()}
    return "LATIN" in alphabets and not alphabets.isdisjoint(LOOK_ALIKES)


def _about_hidden(written: Mapping[str, object], name: str) -> Iterator[str]:
    hidden = sorted({sign for text in (name, *_texts(written)) for sign in set(text) if visible(sign) != sign and sign not in "\n\t\r"})
    if hidden:
        shown = ", ".join(f"U+{ord(sign):04X}" for sign in hidden[:3]) + (", ..." if len(hidden) > 3 else "")
        yield Phrase("it has invisible characters ({shown})", shown=shown)


def _texts(value: object) -> Iterator[str]:
    """Yields all strings in a JSON value, including member names, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as members:
                waiting += [each for pair in members.items() for each in pair]
            case list() | tuple() as items:
                waiting += items


def _about_secrets(config: MCPServerConfig) -> Iterator[str]:
    secrets = secret_names(config)
    if not secrets:
        return
    names = ", ".join(visible(name) for name in secrets)
    if places := places_of(secrets):
        yield Phrase("some of its secrets would be asked for where you keep them: {places}", places=visible("; ".join(places)))
    if config.transport in ("stdio", "inmemory"):
        yield Phrase("it would get these secrets of yours: {names}", names=names)
    else:
        host = visible(host_of(config.base_url or ""))
        yield Phrase("it would send these secrets of yours to {host}: {names}", host=host, names=names)
        if (config.base_url or "").lower().startswith("http://") and not _is_this_machine(host):
            yield Phrase("it would send them unencrypted")


def _is_this_machine(host: str) -> bool:
    return re.fullmatch(r"(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?", host) is not None


def _about_host(config: MCPServerConfig) -> Iterator[str]:
    host = host_of(config.base_url or "")
    if not host.isascii():
        yield Phrase("its host is not written in plain letters, and may look like another one: {host}", host=ascii(host)[1:-1])
    if config.oauth and config.oauth.issuer:
        issuer = in_one_line(host_of(config.oauth.issuer))
        yield Phrase("you would sign in at {host}, which the file names", host=issuer)


def _about_length(config: MCPServerConfig) -> Iterator[str]:
    target = written_target(config)
    if len(target) > LONG_TARGET:
        yield Phrase("what it starts or connects to has {number} characters: read it to its end", number=f"{len(target):,}")
    if _BLANKS.search(target):
        yield Phrase("it has a long run of spaces, which may hide something")


def _about_process(config: MCPServerConfig) -> Iterator[str]:
    if config.custom_npm_registry:
        host = in_one_line(host_of(config.custom_npm_registry))
        yield Phrase("its packages would come from {host}, which the file names", host=host)
    if steering := [name for name in config.env if STEERING.fullmatch(name)]:
        names = ", ".join(steering)
        yield Phrase("it sets variables that decide what is run or with whom it talks: {names}", names=names)
    if os.path.basename(config.command or "") in SHELLS:
        yield Phrase("it is started through a shell, which can do anything that you can")


SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "csh", "tcsh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"})
"""Programs that run whatever code their arguments contain."""
