"""Reads mcp-hub's JSON5: `mcpServers` or VS Code's `servers`, with its placeholders and the fields that mcphub.nvim adds.

Above it: reading. Below it: config_source, hub_placeholders. Reads no disk and no environment: they are arguments.

An entry has a command or a URL, never both. All its calls are approved automatically, unless `autoApprove` limits that. A variable of `env`
that is `null` or empty gets the value of the process's environment. The members of MCP_HUB_ENV are in every server's environment.
"""

import json
import os
import re
from collections.abc import Mapping

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource, RawEntry
from tooltray.config.foreign_configs.hub_placeholders import CannotFill, HubPlaceholders, Surroundings
from tooltray.config.foreign_configs.mcp_json import is_off, our_type
from tooltray.config.settings.file_server import FileEntry
from tooltray.foundation.files.json_places import Value
from tooltray.foundation.phrases import Phrase

HANDED_OVER = "MCP_HUB_ENV"
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_USED = (
    *("dev", "envFile", "custom_instructions"),
    *("disabled_resources", "disabled_resourceTemplates", "disabled_prompts"),
)
_OTHERWISE = {"disabled_tools": "disabledTools", "description": "descriptions"}
_TRANSLATED = ("command", "args", "env", "cwd", "url", "headers", "type", "disabled", "enabled", "autoApprove", *_NOT_USED, *_OTHERWISE)


def read_mcp_hub(source: ConfigSource, document: Value, environ: Mapping[str, str], cwd: str) -> tuple[FileEntry, ...]:
    """Reads the servers of a document; unusable entries become problems of the source.

    Args:
        environ: the environment of the process.
        cwd: the value of `${workspaceFolder}`.

    Raises:
        CannotUse: the document has no object of servers.
    """
    source.remark_repeated(document)
    known = Surroundings(_own(environ, cwd), environ, _handed(source, environ))
    return source.entries(_holder(document), lambda raw: _Entry(raw, known).read())


def _holder(document: Value) -> Value:
    if not isinstance(document.content, dict):
        raise CannotUse(Phrase('the file must be an object with "mcpServers" in it'), document.start)
    key = "servers" if document.content.get("servers") else "mcpServers"
    at, holder = document.members.get(key, (document.start, None))
    if holder is None:
        raise CannotUse(Phrase("'{field}' is missing", field=key), at)
    if not isinstance(holder.content, dict):
        raise CannotUse(Phrase("'{field}' must be an object", field=key), at)
    return holder


def _own(environ: Mapping[str, str], cwd: str) -> dict[str, str]:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    folder = {"workspaceFolder": cwd, "cwd": cwd, "workspaceFolderBasename": os.path.basename(cwd)}
    return folder | {"pathSeparator": os.sep, "/": os.sep} | ({"userHome": home} if home else {})


def _handed(source: ConfigSource, environ: Mapping[str, str]) -> dict[str, str]:
    given = environ.get(HANDED_OVER)
    if not given:
        return {}
    try:
        values = json.loads(given)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        source.remark(Phrase("the variable {variable} holds no JSON object, so nothing of it is used", variable=HANDED_OVER), 0)
        return {}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items() if value is not None}


class _Entry:
    """Translates one entry into our settings."""

    def __init__(self, raw: RawEntry, known: Surroundings) -> None:
        self._raw, self._known = raw, known
        self._placeholders = HubPlaceholders(known)

    def read(self) -> FileEntry:
        raw, given = self._raw, self._raw.written
        if given.get("command") is not None and given.get("url") is not None:
            raise CannotUse(Phrase("it has a command and a URL; keep one of them"), raw.place_of("url"))
        raw.remark_unused(*_NOT_USED)
        entry = {key: value for key, value in given.items() if key not in _TRANSLATED}
        entry |= {ours: given[theirs] for theirs, ours in _OTHERWISE.items() if theirs in given}
        entry["env"] = self._env()
        entry |= {key: self._filled(key, given[key]) for key in ("command", "args", "cwd", "url", "headers") if key in given}
        entry |= {"autoApprove": self._approved(), "disable": is_off(given, raw), "type": self._type()}
        config = raw.checked(entry)
        variables, commands = self._placeholders.variables, self._placeholders.commands
        return FileEntry(raw.name, config, raw.written, raw.line, variables, commands)

    def _env(self) -> object:
        given = self._raw.written.get("env")
        if given is not None and not isinstance(given, dict):
            return given  # the check of the whole entry reports it
        own = {name: f"${{{name}}}" if value in (None, "") else value for name, value in (given or {}).items()}
        handed = {name: f"${{{name}}}" for name in self._known.handed if _VARIABLE_NAME.fullmatch(name)}
        env = handed | own
        found = {name: self._filled_text("env", value) if isinstance(value, str) else value for name, value in env.items()}
        texts = {name: value for name, value in env.items() if isinstance(value, str)}
        self._placeholders.know({name: found[name] for name in texts}, texts)
        return found

    def _filled(self, key: str, value: object) -> object:
        match value:
            case str():
                return self._filled_text(key, value)
            case list():
                return [self._word(key, member) if isinstance(member, str) else member for member in value]
            case dict():
                return {name: self._filled_text(key, member) if isinstance(member, str) else member for name, member in value.items()}
        return value

    def _word(self, key: str, word: str) -> str:
        """Translates one argument; mcp-hub expands `$VAR` if it is the whole argument."""
        is_variable = word.startswith("$") and _VARIABLE_NAME.fullmatch(word[1:])
        return self._filled_text(key, f"${{{word[1:]}}}" if is_variable else word)

    def _filled_text(self, key: str, text: str) -> str:
        try:
            return self._placeholders.ours(text)
        except CannotFill as error:
            raise CannotUse(Phrase("'{field}': {reason}", field=key, reason=error.args[0]), self._raw.place_of(key)) from None

    def _approved(self) -> object:
        given = self._raw.written.get("autoApprove", True)
        return {True: ["all"], False: []}[given] if isinstance(given, bool) else given

    def _type(self) -> str | None:
        """The transport, if the entry names it as VS Code's do; else None: mcp-hub detects the transport of a URL."""
        given = self._raw.written
        return None if given.get("url") is None or given.get("type") is None else our_type(given["type"], self._raw)
