"""Translates the placeholders of AI clients into Tooltray's. Each client fills in different placeholders.

- A variable of the environment becomes `${NAME}` or `${NAME:-default}`, looked up when the server starts; no value is copied.
- A placeholder for a known folder or character becomes its value. The folder that a client has open becomes the folder of the entry's
project, else `{project_path}`: such a server starts for each project. - The user is asked for values that are not on the disk:
`${input:KEY}` stays in the text until then. - The content of a file is filled in, and is a secret. - A `${...}` that the client passes on
unchanged cannot be expressed here, so the entry is refused.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from tooltray.config.foreign_configs.config_source import CannotUse, shown
from tooltray.config.settings.expansion import VARIABLE_NAME
from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import FormField
from tooltray.sources.entries.pasted_parts import VARIABLE_WORD

_NAME = VARIABLE_NAME.pattern
_ASKED_KEY = re.compile(r"[^{}\s]{1,100}")
_PLACEHOLDERS = re.compile(
    r"\$\{\{(?P<template>[^{}]*)\}\}"  # ${{ secrets.NAME }}
    r"|\$\{(?P<braced>[^{}]*)\}"
    r"|(?<![{$])\{(?P<textual>(?:env|file):[^{}]*)\}"
    rf"|\$(?P<plain>{_NAME})"
)
_WITH_DEFAULT = re.compile(rf"({_NAME}):-([^{{}}]*)")
ASKED = re.compile(r"\$\{input:([^{}\s]+)\}")
"""The placeholder in a text for a value that the user is asked for."""
_FOLDER_NAMES = {"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}


class Syntax(msgspec.Struct, frozen=True):
    """The placeholders that an AI client fills in.

    Attributes:
        braced: `${NAME}`.
        defaults: `${NAME:-default}`.
        plain: `$NAME`.
        words: `$NAME`, in capital letters and as a whole word.
        editor: `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and similar ones.
        inputs: `${input:id}`.
        files: `${file:path}`.
        textual: `{env:NAME}` and `{file:path}`.
        templates: `${{ secrets.NAME }}`.
        commands: `$(command)`, whose output is filled in.
        bundles: `${__dirname}`, `${user_config.KEY}`, `${HOME}`.
    """

    braced: bool = False
    defaults: bool = False
    plain: bool = False
    words: bool = False
    editor: bool = False
    inputs: bool = False
    files: bool = False
    textual: bool = False
    templates: bool = False
    commands: bool = False
    bundles: bool = False


_EDITOR = Syntax(braced=True, editor=True, inputs=True)
ANY = Syntax(braced=True, defaults=True, editor=True, inputs=True, files=True, textual=True, templates=True)
"""The syntax for unknown clients, and for clients whose syntax is unknown."""
OF_A_TEXT = msgspec.structs.replace(ANY, words=True)
"""The syntax of a pasted text, which may be for a client that fills in `$NAME`, while a value may contain `$`."""
SYNTAXES: Mapping[str, Syntax] = {
    "claude": Syntax(braced=True, defaults=True),
    "cline": Syntax(),
    "codex": Syntax(),
    "continue": Syntax(templates=True),
    "copilot-cli": Syntax(braced=True, defaults=True, plain=True),
    "crush": Syntax(braced=True, defaults=True, plain=True, commands=True),
    "cursor": _EDITOR,
    "droid": Syntax(braced=True),
    "extension": Syntax(bundles=True),
    "gemini": Syntax(braced=True, defaults=True, plain=True),
    "kiro": Syntax(braced=True),
    "opencode": Syntax(textual=True),
    "roo": _EDITOR,
    "vscode": _EDITOR,
    "windsurf": Syntax(braced=True, editor=True, files=True),
}
"""The syntax by the shape of a client's entries: measured, or from the client's documentation; for others ANY."""


class Surroundings(msgspec.Struct, frozen=True):
    """The values that an entry's placeholders refer to.

    Attributes:
        home: the user's folder.
        project: the folder of a project's file with the entry; empty for an entry for all projects.
        folder: of the file; empty without a file.
        inputs: a client's descriptions of the values that it asks for, by their ids.
        read_file: reads a small text file; raises CannotUse.
    """

    home: str
    project: str
    folder: str
    inputs: Mapping[str, Mapping[str, object]]
    read_file: Callable[[str], str]


class Variables:
    """Translates the texts of one entry.

    Attributes:
        asks: the fields for values that the user is asked for, by their keys.
        read: contents of files that were filled in; they are secrets.
        needs_project: the server has to be started for a project.
    """

    def __init__(self, syntax: Syntax, around: Surroundings) -> None:
        self._syntax, self._around = syntax, around
        self.asks: dict[str, FormField] = {}
        self.read: list[str] = []
        self.needs_project = False

    def ours(self, text: str, key: str, *, is_command: bool = False) -> str:
        """Returns a text with Tooltray's placeholders.

        Args:
            key: the name of its variable, header or field: it shows whether a value that the user is asked for is a secret.
            is_command: the text is the program, which must be the same for all projects.

        Raises:
            CannotUse: the text cannot be expressed here.
        """
        if self._syntax.commands and "$(" in text:
            raise CannotUse(Phrase("its client runs a command to get a value of it"))
        return _PLACEHOLDERS.sub(lambda each: self._one(each, key, is_command), text)

    def ask(self, key: str, label: str, *, is_secret: bool) -> str:
        """Records a value that the user is asked for; returns its placeholder."""
        if not _ASKED_KEY.fullmatch(key):
            raise CannotUse(Phrase("'{name}' cannot be the name of a value", name=shown(key)))
        field = _field(key, label, self._around.inputs.get(key, {}), is_secret)
        known = self.asks.get(key)
        self.asks[key] = msgspec.structs.replace(field, is_secret=field.is_secret or (known is not None and known.is_secret))
        return f"${{input:{key}}}"

    @contextlib.contextmanager
    def limited_to(self, syntax: Syntax | None) -> Iterator[None]:
        """Applies another syntax to some texts of a client; None: the same syntax."""
        usual = self._syntax
        self._syntax = syntax or usual
        yield
        self._syntax = usual

    def content(self, path: str) -> str:
        """Returns the content of a file that an entry names.

        Raises:
            CannotUse: the file cannot be read, or its text would be taken for a placeholder.
        """
        content = self._around.read_file(self._absolute(path)).strip()
        if "${" in content:
            raise CannotUse(Phrase("what is in {file} would be taken for a placeholder", file=shown(path)))
        return content

    def _secret(self, path: str) -> str:
        content = self.content(path)
        self.read.append(content)
        return content

    def _absolute(self, path: str) -> str:
        path = path.strip()
        if path == "~" or path.startswith("~/"):
            path = self._around.home + path[1:]
        return path if os.path.isabs(path) else os.path.join(self._around.project or self._around.folder or self._around.home, path)

    def _one(self, found: re.Match[str], key: str, is_command: bool) -> str:
        syntax = self._syntax
        if (plain := found["plain"]) is not None:
            return f"${{{plain}}}" if syntax.plain or (syntax.words and VARIABLE_WORD.match(found.string, found.start())) else found[0]
        if (textual := found["textual"]) is not None:
            return self._textual(textual) if syntax.textual else found[0]
        if (template := found["template"]) is not None:
            return self._template(template, found[0])
        return self._braced(found["braced"], found[0], key, is_command)

    def _textual(self, inner: str) -> str:
        kind, _, rest = inner.partition(":")
        if kind == "file":
            return self._secret(rest)
        return _variable(rest, f"{{{inner}}}")

    def _template(self, inner: str, whole: str) -> str:
        kind, _, name = inner.strip().partition(".")
        if not self._syntax.templates or kind not in ("secrets", "inputs"):
            raise _not_understood(whole)
        return self.ask(name, name, is_secret=True)

    def _braced(self, inner: str, whole: str, key: str, is_command: bool) -> str:
        syntax = self._syntax
        if syntax.editor and (known := self._of_editor(inner, whole, is_command)) is not None:
            return known
        if syntax.braced and VARIABLE_NAME.fullmatch(inner):
            return self._folder(is_command) if inner == "CLAUDE_PROJECT_DIR" else whole
        if syntax.defaults and _WITH_DEFAULT.fullmatch(inner):
            return whole
        kind, _, rest = inner.partition(":")
        if syntax.inputs and kind == "input":
            return self.ask(rest, rest, is_secret=looks_secret(key, whole))
        if syntax.files and kind == "file":
            return self._secret(rest)
        if syntax.bundles:
            return self._of_bundle(inner, whole)
        raise _not_understood(whole) if syntax.editor else _literal(whole)

    def _of_editor(self, inner: str, whole: str, is_command: bool) -> str | None:
        if inner.startswith("env:"):
            return _variable(inner.removeprefix("env:"), whole)
        match inner:
            case "userHome":
                return self._around.home
            case "pathSeparator" | "/":
                return os.sep
            case "workspaceFolder":
                return self._folder(is_command)
            case "workspaceFolderBasename":
                return os.path.basename(self._folder(is_command)) if self._around.project else self._project("{project_name}", is_command)
        return None

    def _of_bundle(self, inner: str, whole: str) -> str:
        kind, _, key = inner.partition(".")
        if kind == "user_config":
            return self.ask(key, key, is_secret=looks_secret(key, "value"))
        if inner == "__dirname" and self._around.folder:
            return self._around.folder
        if inner in ("pathSeparator", "/"):
            return os.sep
        if inner == "HOME":
            return self._around.home
        if inner in _FOLDER_NAMES:
            return os.path.join(self._around.home, _FOLDER_NAMES[inner])
        raise _literal(whole)

    def _folder(self, is_command: bool) -> str:
        return self._around.project or self._project("{project_path}", is_command)

    def _project(self, placeholder: str, is_command: bool) -> str:
        if is_command:
            raise CannotUse(Phrase("which program it starts depends on the folder that is open"))
        self.needs_project = True
        return placeholder


def _variable(name: str, whole: str) -> str:
    if not VARIABLE_NAME.fullmatch(name):
        raise _not_understood(whole)
    return f"${{{name}}}"


def _literal(whole: str) -> CannotUse:
    return CannotUse(Phrase("its client hands {placeholder} over as it is written; here it would be filled in", placeholder=shown(whole)))


def _not_understood(whole: str) -> CannotUse:
    return CannotUse(Phrase("the meaning of {placeholder} here is unknown", placeholder=shown(whole)))


def _field(key: str, label: str, described: Mapping[str, object], is_secret: bool) -> FormField:
    """Returns the field for a value that the user is asked for.

    Args:
        described: the client's description, as in VS Code's `inputs`.
    """
    options = described.get("options")
    choices = (
        tuple(str(each.get("value", "")) if isinstance(each, dict) else str(each) for each in options) if isinstance(options, list) else ()
    )
    default, description = described.get("default"), described.get("description")
    is_secret = is_secret or described.get("password") is True
    return FormField(
        key=key,
        label=description if isinstance(description, str) and description else label,
        kind="choice" if choices else "text",
        is_required=True,
        is_secret=is_secret,
        default=default if isinstance(default, str) and not is_secret else None,
        choices=choices,
    )
