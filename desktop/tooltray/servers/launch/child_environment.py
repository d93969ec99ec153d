"""The environment of a server's process: the user's own, the hub's additions, and the server's entry; and the Launch made from it. The
hub's own environment is not used.

- `PATH` of an entry goes in front of the user's PATH and does not replace it: an entry that adds a folder still needs `node`. On Windows
  every spelling of `PATH` is the same variable.
- A proxy that is set in one spelling is set in the other as well: curl and most of Python read `http_proxy`, Node.js and Go programs
  `HTTP_PROXY`, npm either. The entry's spelling goes before the user's.
- Node.js also gets a bundle of certificate authorities that the user named for Python or OpenSSL. The reverse does not hold: Node.js adds
  its file to the authorities that it trusts, while the others trust only their own file.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.file_server import PROJECT_FOLDER, FileServer
from tooltray.servers.launch.default_folders import default_folders
from tooltray.servers.launch.program_launch import Launch

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
    """Returns where a server runs unless its entry names another place. `otherwise`: the result for a server whose file has no folder."""
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
