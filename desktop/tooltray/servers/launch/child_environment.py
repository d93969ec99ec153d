"""The environment of a server's process: the user's own, the hub's additions, and the server's entry; and the Launch made from it. The
hub's own environment is not used.

- `PATH` of an entry goes in front of the user's PATH and does not replace it: an entry that adds a folder still needs `node`. On Windows
  every spelling of `PATH` is the same variable.
- A proxy that is set in one spelling is set in the other as well: curl and most of Python read `http_proxy`, Node.js and Go programs
  `HTTP_PROXY`, npm either. The entry's spelling goes before the user's.
- Node.js also gets a bundle of certificate authorities that the user named for Python or OpenSSL. The reverse does not hold: Node.js adds
  its file to the authorities that it trusts, while the others trust only their own file.
- Usual folders of programs that no PATH names (package managers' folders, and the Node.js and Python of a version manager) are added behind
  the user's PATH: a desktop starts programs without the variables of the user's terminal. Only folders that exist are added, and a version
  manager's only if the PATH has no `node` (no `python3`) at all: a `npx` of one version that runs the `node` of another fails.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.file_server import PROJECT_FOLDER, FileServer
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.servers.launch.program_launch import Launch

MAX_ALIASES = 8  # nvm's aliases may name each other, also in a circle
MAX_FILE_BYTES = 64 * 1024  # of a version manager's own files, which have a few lines

_IN_HOME = (".local/bin", ".cargo/bin", ".bun/bin", ".volta/bin", ".deno/bin")
_BY_SYSTEM = {
    "darwin": ("/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/opt/local/bin", "/usr/bin", "/bin"),
    "linux": ("/usr/local/bin", "/usr/bin", "/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin", "/run/current-system/sw/bin"),
}
_ON_WINDOWS = (  # a variable, and a folder below the one that it names
    *(("USERPROFILE", folder) for folder in (".local/bin", ".cargo/bin", ".bun/bin", ".deno/bin", "scoop/shims")),
    *(("NVM_SYMLINK", ""), ("APPDATA", "npm"), ("ProgramFiles", "nodejs"), ("LOCALAPPDATA", "Volta/bin")),
    *(("LOCALAPPDATA", "Microsoft/WinGet/Links"), ("ProgramData", "chocolatey/bin")),
)
Manager = Callable[[Mapping[str, str]], Iterator[Path]]  # folders in which a program may be, most likely first
_VERSION = lazy_pattern(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")


def default_folders(environ: Mapping[str, str], *, system: str = sys.platform, root: str = "/") -> list[str]:
    """Returns the folders to search behind the user's own PATH, most likely first. Looks at the file system.

    Args:
        environ: the user's environment; HOME and the version managers' own variables count.
        system: as `sys.platform`.
        root: the folder in which absolute folders are searched.
    """
    if system == "win32":
        return _existing(Path(environ[name], folder) for name, folder in _ON_WINDOWS if environ.get(name))
    found = _existing(Path(root, folder.lstrip("/")) for folder in _BY_SYSTEM.get(system, _BY_SYSTEM["linux"]))
    if not (home := environ.get("HOME", "")):
        return found
    own = _existing(Path(home, folder) for folder in _IN_HOME)
    path = [*environ.get("PATH", "").split(os.pathsep), *own]
    managed = [*_managed("node", _NODE, environ, path), *_managed("python3", _PYTHON, environ, path)]
    return [*own, *dict.fromkeys(managed), *found]


def _existing(folders: Iterator[Path]) -> list[str]:
    return list(dict.fromkeys(str(folder) for folder in folders if folder.is_dir()))


def _managed(program: str, managers: tuple[Manager, ...], environ: Mapping[str, str], path: list[str]) -> list[str]:
    """Returns the folder of the first version manager that has a program that the path lacks."""
    if any(_has(Path(folder), program) for folder in path if folder):
        return []
    candidates = (folder for manager in managers for folder in manager(environ))
    return [str(folder) for folder in candidates if _has(folder, program)][:1]


def _has(folder: Path, program: str) -> bool:
    try:
        return os.access(folder / program, os.X_OK)
    except ValueError:  # a version manager's file contains a zero character
        return False


# Node.js


def _nvm(environ: Mapping[str, str]) -> Iterator[Path]:
    folder = Path(environ.get("NVM_DIR") or Path(environ["HOME"], ".nvm"))
    versions = folder / "versions" / "node"
    wanted = "default"
    for _ in range(MAX_ALIASES):
        if "*" not in wanted and (alias := _first_line(folder / "alias" / wanted)):
            wanted = alias
        elif wanted == "lts/*":  # nvm keeps the name of the newest version in a file of this name
            wanted = _first_line(folder / "alias" / "lts" / "*")
        else:
            break
    is_number = _VERSION.fullmatch(wanted)
    if wanted != "system" and (version := _newest(versions, wanted if is_number else "") or _newest(versions, "")):
        yield versions / version / "bin"


def _fnm(environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environ["HOME"])
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    own = [Path(environ["FNM_DIR"])] if environ.get("FNM_DIR") else []
    for folder in (*own, data / "fnm", home / ".fnm", home / "Library" / "Application Support" / "fnm"):
        yield folder / "aliases" / "default" / "bin"


def _asdf(plugin: str) -> Manager:
    def folders(environ: Mapping[str, str]) -> Iterator[Path]:
        home = Path(environ["HOME"])
        data = Path(environ.get("ASDF_DATA_DIR") or home / ".asdf")
        for line in _lines(home / ".tool-versions"):
            name, *versions = line.split("#")[0].split() or [""]
            if name == plugin:
                yield from (data / "installs" / plugin / version / "bin" for version in versions)

    return folders


def _mise(environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environ["HOME"])
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield Path(environ.get("MISE_DATA_DIR") or data / "mise") / "shims"  # a shim finds the version without a shell


# Python


def _pyenv(environ: Mapping[str, str]) -> Iterator[Path]:
    root = Path(environ.get("PYENV_ROOT") or Path(environ["HOME"], ".pyenv"))
    for version in _lines(root / "version"):
        yield root / "versions" / version.strip() / "bin"


_NODE = (_nvm, _fnm, _asdf("nodejs"), _mise)
_PYTHON = (_pyenv, _asdf("python"), _mise)


def _newest(versions: Path, wanted: str) -> str:
    """Returns the newest installed version that matches a number such as `20` or `v20.1`, or the newest of all if `wanted` is empty; empty
    if no version matches."""
    prefix = _numbers(wanted)
    try:
        installed = [entry.name for entry in versions.iterdir() if _VERSION.fullmatch(entry.name)]
    except OSError:
        installed = []
    return max((name for name in installed if _numbers(name)[: len(prefix)] == prefix), key=_numbers, default="")


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.fullmatch(version)
    return tuple(int(number) for number in found.groups() if number) if found else ()


def _first_line(file: Path) -> str:
    return next((line.strip() for line in _lines(file)), "")


def _lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_FILE_BYTES).decode(errors="replace").splitlines()
    except (OSError, ValueError):
        return []


PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
NODE_AUTHORITIES = "NODE_EXTRA_CA_CERTS"
OTHER_AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
IS_WINDOWS = os.name == "nt"


def prepare_launch(
    resolved: ResolvedServer, *, environ: Mapping[str, str], variables: Mapping[str, str], folder: str, file: FileServer | None = None
) -> Launch:
    """Returns the Launch for an entry whose placeholders are filled in.

    Args:
        environ: the user's environment.
        variables: the hub's additions, such as the npm registry; the entry's own go before them.
        folder: where a server without `cwd` runs.
        file: the file that holds the entry, if that is not the settings.
    """
    env = child_environment(environ, {**variables, **process_variables(file)}, resolved.env)
    resolved = placed(resolved, file)
    return Launch(resolved.command or "", resolved.args, env, resolved.cwd or folder)


def child_environment(
    environ: Mapping[str, str], variables: Mapping[str, str], own: Mapping[str, str], *, is_windows: bool = IS_WINDOWS
) -> dict[str, str]:
    """Returns the whole environment of a server's process.

    Args:
        environ: the user's environment.
        variables: the hub's additions.
        own: the entry's `env`.
    """
    separator = ";" if is_windows else ":"
    paths = [value for name, value in own.items() if _is_path(name, is_windows)]
    env = {**environ, **variables, **{name: value for name, value in own.items() if not _is_path(name, is_windows)}}
    spellings = [name for name in env if _is_path(name, is_windows)]
    persons = [env.pop(name) for name in spellings]
    home = env.get("HOME", "")
    if folders := merged_paths([*paths, *persons], separator, home):
        env[spellings[0] if spellings else "PATH"] = folders
    if not is_windows:  # where both spellings are the same variable
        _twin_proxies(env, own, environ)
    _share_authorities(env)
    return env


def with_default_folders(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the user's environment with the usual folders of programs behind its PATH. Looks at the file system."""
    name = next((name for name in environ if _is_path(name, IS_WINDOWS)), "PATH")
    path = merged_paths([environ.get(name, ""), *default_folders(environ)])
    return {**environ, name: path} if path else dict(environ)


def _is_path(name: str, is_windows: bool) -> bool:
    return name.upper() == "PATH" if is_windows else name == "PATH"


def merged_paths(paths: list[str], separator: str = os.pathsep, home: str = "") -> str:
    """Returns several PATHs as one, each folder at its first place. An empty entry means the current folder and stays; an empty PATH adds
    nothing."""
    folders = (folder for path in paths if path for folder in path.split(separator))
    written_out = (home + folder[1:] if home and folder.startswith("~/") else folder for folder in folders)
    return separator.join(dict.fromkeys(written_out))


def _twin_proxies(env: dict[str, str], *before: Mapping[str, str]) -> None:
    for name in PROXY_VARIABLES:
        spellings = (name, name.upper())
        for source in before:
            given = [spelling for spelling in spellings if spelling in source]
            if given:
                env.update(dict.fromkeys(set(spellings) - set(given), source[given[0]]))
                break


def _share_authorities(env: dict[str, str]) -> None:
    named = next((env[name] for name in OTHER_AUTHORITIES if env.get(name)), "")
    if named and NODE_AUTHORITIES not in env and Path(named).is_file():
        env[NODE_AUTHORITIES] = named


def folder_of(file: FileServer | None, otherwise: str) -> str:
    """Returns the default working folder of a server: the folder of its file, or `otherwise` if the file has none."""
    return file.folder if file and file.folder else otherwise


def placeholder_variables(file: FileServer | None, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the variables for an entry's placeholders: the variables of its file, then the user's environment."""
    return {**environ, **file.entry.variables} if file else environ


def process_variables(file: FileServer | None) -> Mapping[str, str]:
    """Returns the variables that a server gets because of its file."""
    return {PROJECT_FOLDER: file.folder} if file and file.origin == "project" else {}


def placed(resolved: ResolvedServer, file: FileServer | None) -> ResolvedServer:
    """Returns the entry with absolute paths, resolved from the file's folder: its `cwd`, and a command that is not a bare name."""
    if not (file and file.folder):
        return resolved
    command = resolved.command
    if command and os.path.dirname(command):
        command = os.path.join(file.folder, command)
    return replace(resolved, command=command, cwd=os.path.join(file.folder, resolved.cwd) if resolved.cwd else file.folder)
