"""npm's settings as far as they say what npx runs: where its cache and its packages for all are, and whether anything else is set.

Above it: npx. Below it: the file system alone. No value of a setting is kept but these: keys of registries stand among them.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

NPX = "npx-cli.js"  # the file that npm's own `npx` is a link to; a version manager's stand-in is another
MAX_NPMRC_BYTES = 1024 * 1024

# settings that change what npx runs, or how; with one of them npm is to decide
DECISIVE = frozenset(
    {
        *("before", "call", "c", "dangerously-allow-all-scripts", "global", "globalconfig", "include-workspace-root", "location"),
        *("min-release-age", "node-arg", "node-options", "package", "p", "script-shell", "shell", "userconfig", "workspace", "workspaces"),
    }
)


class NpmSettings(msgspec.Struct, frozen=True):
    """
    Attributes:
        npm: the folder of npm itself.
        cache: its cache.
        prefix: where packages that are installed for all go.
    """

    npm: Path
    cache: Path
    prefix: Path


def read_npm_settings(environ: Mapping[str, str], *, npx: str, node: str) -> NpmSettings | None:
    """None where a setting changes what npx runs, or where this `npx` is not npm's own.

    Args:
        environ: of the process that npx would be.
        npx, node: the programs that the PATH leads to.
    """
    npm, home = Path(os.path.realpath(npx)).parent.parent, Path(environ.get("HOME", ""))
    is_npms_own = os.path.basename(os.path.realpath(npx)) == NPX and (npm / "bin" / "npm-cli.js").is_file()
    if not is_npms_own or not home.is_absolute() or environ.get("DESTDIR"):
        return None
    known = {**_read(npm / "npmrc"), **_read(home / ".npmrc"), **dict(_of_environ(environ))}
    prefix = _folder(known.get("prefix") or environ.get("PREFIX") or str(Path(os.path.realpath(node)).parent.parent), home)
    if prefix is None:
        return None
    known = {**_read(prefix / "etc" / "npmrc"), **known}
    cache = _folder(known.get("cache") or "~/.npm", home)
    return None if cache is None or DECISIVE & known.keys() else NpmSettings(npm, cache, prefix)


def _of_environ(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`npm_config_script_shell` and `NPM_CONFIG_SCRIPT_SHELL` are the setting script-shell; an empty one counts as not set."""
    for name, value in environ.items():
        if name.lower().startswith("npm_config_") and value:
            yield name.lower().removeprefix("npm_config_").replace("_", "-"), value


def _read(npmrc: Path) -> dict[str, str]:
    """The settings of one file; none, if it is not there."""
    try:
        with npmrc.open("rb") as opened:
            lines = opened.read(MAX_NPMRC_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition("=") for line in lines if not line.strip().startswith((";", "#", "[")))
    return {key.strip().removesuffix("[]"): value.strip().strip("\"'") for key, _, value in pairs if key.strip()}


def _folder(value: str, home: Path) -> Path | None:
    """An absolute folder; None where a variable stands in it, or what may be a comment."""
    path = home / value.removeprefix("~/") if value.startswith("~/") else Path(value)
    return path if path.is_absolute() and not set(value) & set("$;#") else None
