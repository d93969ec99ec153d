"""Reads mcp-hub's JSON5: `mcpServers` or VS Code's `servers`, with its placeholders and the fields that mcphub.nvim adds.

Above it: reading. Below it: page, hub_placeholders. Knows no disk and no environment: what it needs of that is handed in.

An entry is a command or a URL, never both; all its calls go through unasked unless `autoApprove` says which. A variable of `env` that is
`null` or empty is the process's own. What MCP_HUB_ENV holds is in every server's environment.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from tooltray.files.json_places import Value
from tooltray.foreign_configs.config_page import CannotUse, Page, Place
from tooltray.foreign_configs.hub_placeholders import CannotFill, HubPlaceholders, Surroundings
from tooltray.foreign_configs.mcp_json import is_off, our_type
from tooltray.phrases import Phrase
from tooltray.settings.file_server import FileEntry

HANDED_OVER = "MCP_HUB_ENV"
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_USED = (
    *("dev", "envFile", "custom_instructions"),
    *("disabled_resources", "disabled_resourceTemplates", "disabled_prompts"),
)
_OTHERWISE = {"disabled_tools": "disabledTools", "description": "descriptions"}
_TRANSLATED = ("command", "args", "env", "cwd", "url", "headers", "type", "disabled", "enabled", "autoApprove", *_NOT_USED, *_OTHERWISE)


def read_mcp_hub(page: Page, document: Value, environ: Mapping[str, str], cwd: str) -> tuple[FileEntry, ...]:
    """
    Args:
        environ: of the process.
        cwd: what is called the workspace.

    Raises:
        CannotUse: it is something else altogether.
    """
    page.remark_repeated(document)
    known = Surroundings(_own(environ, cwd), environ, _handed(page, environ))
    return page.entries(_holder(document), lambda place: _Entry(place, known).read())


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


def _handed(page: Page, environ: Mapping[str, str]) -> dict[str, str]:
    given = environ.get(HANDED_OVER)
    if not given:
        return {}
    try:
        values = json.loads(given)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        page.remark(Phrase("the variable {variable} holds no JSON object, so nothing of it is used", variable=HANDED_OVER), 0)
        return {}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items() if value is not None}


class _Entry:
    """One entry on its way."""

    def __init__(self, place: Place, known: Surroundings) -> None:
        self._place, self._known = place, known
        self._placeholders = HubPlaceholders(known)

    def read(self) -> FileEntry:
        place, given = self._place, self._place.written
        if given.get("command") is not None and given.get("url") is not None:
            raise CannotUse(Phrase("it has a command and a URL; keep one of them"), place.place_of("url"))
        place.not_used(*_NOT_USED)
        entry = {key: value for key, value in given.items() if key not in _TRANSLATED}
        entry |= {ours: given[theirs] for theirs, ours in _OTHERWISE.items() if theirs in given}
        entry["env"] = self._env()
        entry |= {key: self._filled(key, given[key]) for key in ("command", "args", "cwd", "url", "headers") if key in given}
        entry |= {"autoApprove": self._approved(), "disable": is_off(given, place), "type": self._type()}
        config = place.checked(entry)
        variables, commands = self._placeholders.variables, self._placeholders.commands
        return FileEntry(place.name, config, place.written, place.line, variables, commands)

    def _env(self) -> Any:
        given = self._place.written.get("env")
        if given is not None and not isinstance(given, dict):
            return given  # the check of the entry says what is wrong with it
        own = {name: f"${{{name}}}" if value in (None, "") else value for name, value in (given or {}).items()}
        handed = {name: f"${{{name}}}" for name in self._known.handed if _VARIABLE_NAME.fullmatch(name)}
        env = handed | own
        found = {name: self._filled_text("env", value) if isinstance(value, str) else value for name, value in env.items()}
        texts = {name: value for name, value in env.items() if isinstance(value, str)}
        self._placeholders.know({name: found[name] for name in texts}, texts)
        return found

    def _filled(self, key: str, value: Any) -> Any:
        match value:
            case str():
                return self._filled_text(key, value)
            case list():
                return [self._word(key, member) if isinstance(member, str) else member for member in value]
            case dict():
                return {name: self._filled_text(key, member) if isinstance(member, str) else member for name, member in value.items()}
        return value

    def _word(self, key: str, word: str) -> str:
        """`$VAR` as a whole argument is a variable there."""
        is_variable = word.startswith("$") and _VARIABLE_NAME.fullmatch(word[1:])
        return self._filled_text(key, f"${{{word[1:]}}}" if is_variable else word)

    def _filled_text(self, key: str, text: str) -> str:
        try:
            return self._placeholders.ours(text)
        except CannotFill as error:
            raise CannotUse(Phrase("'{field}': {reason}", field=key, reason=error.args[0]), self._place.place_of(key)) from None

    def _approved(self) -> Any:
        given = self._place.written.get("autoApprove", True)
        return {True: ["all"], False: []}[given] if isinstance(given, bool) else given

    def _type(self) -> str | None:
        """mcp-hub finds out how a URL wants to be spoken to; where the entry says it, as VS Code's do, that counts."""
        given = self._place.written
        return None if given.get("url") is None or given.get("type") is None else our_type(given["type"], self._place)
