"""Which program a server's entry runs, as far as it can be packed: its folder, its entry point, and the manifest that says the same.

Above it: packing. Below it: the disk, where it looks for what the entry names. No value of a secret or of a variable gets into the
manifest: each becomes a setting that the next person fills in.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tooltray.config.settings.expansion import has_secret
from tooltray.config.settings.secret_looks import looks_secret
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.command_lookup import downloads, program_name
from tooltray.sources.bundles.manifest import BundleKind

_SCRIPTS: Mapping[BundleKind, tuple[str, ...]] = {"node": (".js", ".mjs", ".cjs"), "python": (".py",)}
_PROJECT = {"node": ("package.json",), "python": ("pyproject.toml", "requirements.txt", "setup.py")}
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")
_PLAIN_KEY = re.compile(r"[^a-z0-9_]+")


class Program(msgspec.Struct, frozen=True):
    """
    Attributes:
        folder: what is packed.
        entry_point: from there, with slashes.
        command, args: with `${__dirname}` and `${user_config.KEY}` in them.
    """

    kind: BundleKind
    folder: Path
    entry_point: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    settings: Mapping[str, Mapping[str, object]]

    @property
    def is_uv(self) -> bool:
        return self.kind == "uv"


def program_of(name: str, config: MCPServerConfig, user_folder: Path) -> Program:
    """What of an entry can be packed.

    Args:
        config: with `${secret:NAME}` wherever a secret is.
        user_folder: where a server without `cwd` runs; never packed itself.

    Raises:
        TooltrayError: it is no program of a folder of this computer; says why.
    """
    if config.transport != "stdio" or not config.command:
        raise _cannot(name, Phrase("it runs elsewhere; give others its address"))
    if downloads(config.command, config.args):
        raise _cannot(name, Phrase("{program} downloads it; give others the command itself", program=program_name(config.command)))
    cwd = Path(os.path.realpath(os.path.expanduser(config.cwd or user_folder)))
    found = _found(config, cwd)
    if found is None:
        raise _cannot(name, Phrase("its command names no script and no program of a folder of its own"))
    kind, script, folder = found
    if folder == Path(folder.anchor) or user_folder.resolve().is_relative_to(folder):
        raise _cannot(name, Phrase("{folder} has more in it than this server", folder=folder), Phrase("Put it into a folder of its own."))
    settings = _Settings()
    pairs = zip(("", *config.args), config.args, strict=False)
    args = tuple(arg if before == "-m" else _argument(arg, cwd, folder, settings) for before, arg in pairs)
    env = {variable: settings.reference(variable, is_secret=_is_secret(variable, text)) for variable, text in config.env.items()}
    entry = script.relative_to(folder).as_posix()
    if kind == "python" and _has_dependencies(folder):
        words = ("run", "--directory", "${__dirname}", *_behind_interpreter(args))
        return Program("uv", folder, entry, "uv", words, env, settings.made)
    command = f"${{__dirname}}/{entry}" if kind == "binary" else kind
    return Program(kind, folder, entry, command, args, env, settings.made)


def _found(config: MCPServerConfig, cwd: Path) -> tuple[BundleKind, Path, Path] | None:
    """Kind, script and folder of what is run."""
    program = program_name(config.command or "")
    kinds: list[BundleKind] = ["node"] if program == "node" else ["python"] if re.fullmatch(r"python[0-9.]*|py", program) else []
    for kind in kinds:
        for script in _scripts(config.args, cwd, kind):
            return kind, script, _project(script, kind, cwd)
    own = Path(os.path.realpath(cwd / os.path.expanduser(config.command or "")))
    is_own = not kinds and bool(config.cwd) and own.is_relative_to(cwd) and own.is_file()
    return ("binary", own, cwd) if is_own else None


def _scripts(args: Sequence[str], cwd: Path, kind: BundleKind) -> Iterator[Path]:
    for before, arg in zip(("", *args), args, strict=False):
        names = [arg] if arg.endswith(_SCRIPTS[kind]) else []
        if kind == "python" and before == "-m":
            names = [f"{arg.replace('.', '/')}.py", f"{arg.replace('.', '/')}/__main__.py"]
        for name in names:
            path = Path(os.path.realpath(cwd / os.path.expanduser(name)))
            if path.is_file():
                yield path


def _project(script: Path, kind: BundleKind, cwd: Path) -> Path:
    """The nearest folder around a script that is a project; else where it runs, or where it lies."""
    marks = _PROJECT[kind]
    around = [folder for folder in script.parents if any((folder / mark).is_file() for mark in marks)]
    if around:
        return around[0]
    return cwd if script.is_relative_to(cwd) and cwd != Path.home() else script.parent


def _argument(arg: str, cwd: Path, folder: Path, settings: "_Settings") -> str:
    name, equals, value = arg.partition("=") if arg.startswith("-") else ("", "", arg)
    if _PLACEHOLDER.search(value):
        key = name.lstrip("-") or (_PLACEHOLDER.findall(value)[0][2:-1].rpartition("/")[2].rpartition(":")[2])
        return f"{name}{equals}{settings.reference(key, is_secret=has_secret(value))}"
    path = Path(os.path.realpath(cwd / os.path.expanduser(value)))
    is_path = os.path.isabs(os.path.expanduser(value)) or (bool(value) and path.exists() and path.is_relative_to(folder))
    if not is_path:
        return arg
    if path == folder or path.is_relative_to(folder):
        inside = path.relative_to(folder).as_posix()
        return f"{name}{equals}${{__dirname}}" + ("" if inside == "." else f"/{inside}")
    kind = "file" if path.is_file() else "directory"
    return f"{name}{equals}{settings.reference(name.lstrip('-') or kind, kind=kind)}"


def _behind_interpreter(args: tuple[str, ...]) -> tuple[str, ...]:
    """What `uv run` takes where Python took it."""
    return ("python", *args) if args[:1] == ("-m",) or (args and args[0].startswith("-")) else args


def _has_dependencies(folder: Path) -> bool:
    with suppress(OSError, ValueError):
        project: Any = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("project", {})
        return bool(isinstance(project, dict) and project.get("dependencies"))
    return False


def _is_secret(name: str, value: str) -> bool:
    return has_secret(value) or looks_secret(name, value)


class _Settings:
    """The `user_config` in the making."""

    def __init__(self) -> None:
        self.made: dict[str, dict[str, object]] = {}

    def reference(self, name: str, *, kind: str = "string", is_secret: bool = False) -> str:
        """Makes a setting and returns the placeholder for its value."""
        plain = _PLAIN_KEY.sub("_", name.lower()).strip("_") or "value"
        key, number = plain, 1
        while key in self.made:
            number += 1
            key = f"{plain}_{number}"
        about: dict[str, object] = {"type": kind, "title": name, "description": name, "required": True}
        self.made[key] = about | ({"sensitive": True} if is_secret else {})
        return f"${{user_config.{key}}}"


def _cannot(name: str, reason: str, hint: str = "") -> TooltrayError:
    return TooltrayError(Phrase("'{name}' cannot be packed", name=name), reason, hint)
