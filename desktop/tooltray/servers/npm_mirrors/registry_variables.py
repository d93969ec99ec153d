"""The variables that make npm, uv and pip use a registry. What a server's own entry sets is never changed; what the user's environment sets
only where the user has chosen a registry in Tooltray as well."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tooltray.foundation.regular_file import open_regular
from tooltray.servers.launch.npm_config import REGISTRY_VARIABLE

UV_VARIABLE, PIP_VARIABLE = "UV_DEFAULT_INDEX", "PIP_INDEX_URL"
_OWN_INDEX = frozenset({UV_VARIABLE, PIP_VARIABLE, "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"})
_NAMES_INDEX = re.compile(rb"^\s*(\[\[(tool\.uv\.)?index\]\]|[a-z-]*index(-url)?\s*=)", re.MULTILINE)
_MAX_FILE_BYTES = 2**20


def npm_variables(url: str, *, env: Mapping[str, str], environ: Mapping[str, str], is_explicit: bool) -> dict[str, str]:
    """Returns the variables for npm.

    Args:
        url: the registry.
        env: what the server's own entry sets.
        environ: the user's login-shell environment.
        is_explicit: the user has chosen this registry; it was not just measured as the fastest.
    """
    spellings = [name for name in environ if name.lower() == REGISTRY_VARIABLE]  # npm takes any, so all of them have to agree
    if any(name.lower() == REGISTRY_VARIABLE for name in env) or (spellings and not is_explicit):
        return {}
    return dict.fromkeys(spellings or [REGISTRY_VARIABLE], url)


def python_variables(index: str, *, env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for uv and pip; nothing where the user has chosen an index in any way that these two know. Reads files."""
    if _OWN_INDEX & (env.keys() | environ.keys()) or any(_names_index(path) for path in _files({**environ, **env})):
        return {}
    return {UV_VARIABLE: index, PIP_VARIABLE: index}


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yields the files that uv and pip read, on every platform."""
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or os.sep)
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    given = [environ[name] for name in ("UV_CONFIG_FILE", "PIP_CONFIG_FILE") if environ.get(name)]
    roaming = [Path(environ["APPDATA"])] if environ.get("APPDATA") else []
    for folder in (config, home / "Library" / "Application Support", Path("/etc"), Path("/etc/xdg"), *roaming):
        yield from (folder / "uv" / "uv.toml", folder / "pip" / "pip.conf", folder / "pip" / "pip.ini")
    yield from (Path("/etc/pip.conf"), home / ".pip" / "pip.conf", home / "pip" / "pip.ini", *map(Path, given))


def _names_index(path: Path) -> bool:
    try:
        with open(path, "rb", opener=open_regular) as file:
            return bool(_NAMES_INDEX.search(file.read(_MAX_FILE_BYTES)))
    except OSError:
        return False
