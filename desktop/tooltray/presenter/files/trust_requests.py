"""What a person has to know of an entry of a project's own file before a yes to it.

Above it: TrustDecisions. Below it: what an entry says, and a look at the disk: whether what would be started lies in the project. All is
told as it is written; nothing is filled in but the project's own folder, to find that out. Blocks for a look or two at the disk.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from tooltray.config.expansion import secret_names, variable_names
from tooltray.config.files.file_server import FileEntry
from tooltray.config.server_config import MCPServerConfig
from tooltray.phrases import Phrase
from tooltray.presenter.files.entry_diff import entry_diff
from tooltray.presenter.files.project_paths import PROJECT_VARIABLES, found_inside, is_writable_by_others
from tooltray.snapshots import TrustRequest
from tooltray.tools.suspicion import visible

MOST_WARNINGS = 12  # a person reads no more before an answer
STEERING = re.compile(
    r"PATH|PATHEXT|LD_[A-Z_]+|DYLD_[A-Z_]+|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP)|BASH_ENV|ENV|RUBYOPT|PERL5OPT|JAVA_TOOL_OPTIONS|"
    r"(?:HTTPS?|ALL)_PROXY|NPM_CONFIG_[A-Z_]+|UV_[A-Z_]*(?:INDEX|URL)[A-Z_]*|PIP_[A-Z_]+",
    re.IGNORECASE,
)
"""Variables that decide what is really run, or with whom it talks."""


def trust_request(
    entry: FileEntry, *, folder: str, file: str, auto_approve: tuple[str, ...], is_change: bool, before: FileEntry | None
) -> TrustRequest:
    """
    Args:
        folder: the project's real path.
        auto_approve: which of its calls would go through unasked, with what was chosen here.
        is_change: a person said yes to another content before.
        before: that content, as far as it is known.
    """
    config = entry.config
    is_process = config.transport == "stdio"
    return TrustRequest(
        project=folder,
        file=file,
        entry=entry.name,
        digest=entry.digest,
        is_change=is_change,
        transport=config.transport,
        target=visible(written_target(config)),
        command=visible(config.command or "") if is_process else "",
        host="" if is_process else visible(host_of(config.base_url or "")),
        cwd=visible(config.cwd or folder),
        secrets=tuple(map(visible, secret_names(config))),
        variables=tuple(name for name in variable_names(config) if name not in PROJECT_VARIABLES),
        is_inside=is_process and found_inside(config, folder),
        auto_approve=auto_approve,
        diff=entry_diff(before.written, entry.written) if before else (),
        warnings=tuple(_warnings(entry, folder, file, auto_approve))[:MOST_WARNINGS],
        line=entry.line,
    )


def written_target(config: MCPServerConfig) -> str:
    """The command line, or the whole URL: what in a card may be a key is here what a person says yes to."""
    return config.target if config.transport == "stdio" else config.base_url or ""


def host_of(url: str) -> str:
    """With the port; as it is written, where a placeholder is in its place."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return url


def _warnings(entry: FileEntry, folder: str, file: str, auto_approve: tuple[str, ...]) -> Iterator[str]:
    config = entry.config
    yield from _about_hidden(entry.written, entry.name)
    yield from _about_secrets(config)
    yield from _about_process(config) if config.transport == "stdio" else ()
    if "all" in auto_approve:
        yield Phrase("all its calls would go through unasked")
    if is_writable_by_others(file, stat.S_IWGRP | stat.S_IWOTH):
        yield Phrase("other users of this machine can change the file {file}", file=visible(file))
    if is_writable_by_others(folder, stat.S_IWOTH):
        yield Phrase("other users of this machine can write into the folder {folder}", folder=visible(folder))


def _about_hidden(written: Mapping[str, object], name: str) -> Iterator[str]:
    hidden = sorted({sign for text in (name, *_texts(written)) for sign in text if visible(sign) != sign and sign not in "\n\t\r"})
    if hidden:
        shown = ", ".join(f"U+{ord(sign):04X}" for sign in hidden[:3]) + (", ..." if len(hidden) > 3 else "")
        yield Phrase("it has characters that nobody sees ({shown})", shown=shown)


def _texts(value: object) -> Iterator[str]:
    """All texts in a value, names of members too; however deep it is."""
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
    if config.transport == "stdio":
        yield Phrase("it would get these secrets of yours: {names}", names=names)
    else:
        host = visible(host_of(config.base_url or ""))
        yield Phrase("it would send these secrets of yours to {host}: {names}", host=host, names=names)
        if (config.base_url or "").lower().startswith("http://") and not _is_this_machine(host):
            yield Phrase("it would send them unencrypted")


def _is_this_machine(host: str) -> bool:
    return re.fullmatch(r"(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?", host) is not None


def _about_process(config: MCPServerConfig) -> Iterator[str]:
    if steering := [name for name in config.env if STEERING.fullmatch(name)]:
        names = ", ".join(steering)
        yield Phrase("it sets variables that decide what is run or with whom it talks: {names}", names=names)
    if os.path.basename(config.command or "") in SHELLS:
        yield Phrase("it is started through a shell, which can do anything that you can")


SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "csh", "tcsh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"})
"""What runs whatever its arguments say."""
