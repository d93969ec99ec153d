"""The environment of a confined server: what any program needs to run and to reach the network, and nothing else of the user's.

Keys of clouds, tokens, the agent with the user's keys and the session bus stay out; the entry's `env` has to name what a server needs of
them.
"""

import re
from collections.abc import Container, Iterable, Mapping

from tooltray.servers.confinement.state_folders import StateFolder
from tooltray.servers.launch.network_variables import VARIABLES

KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"),
        *("NVM_DIR", "PYENV_ROOT", "PYENV_VERSION", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "JAVA_HOME", "DOTNET_ROOT"),
        *(VARIABLES.keys() - {"SSH_AUTH_SOCK"}),
    }
)
"""Of the user's environment: user and home, the language, places of runtimes, proxies, certificates and package indexes."""
_PNPM = re.compile(r"(?:^|[\s/\\])pn(?:pm|px)(?:\.cmd|\.exe)?(?:\s|$)")
LANGUAGES = "LC_"  # LC_ALL and the others
INSTALLERS = ("npm_config_", "uv_", "pip_")  # settings of npm, uv and pip; npm reads them in any case


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns what a confined server gets of the user's environment."""
    return {name: value for name, value in environ.items() if _is_kept(name)}


def installing_environment(env: Mapping[str, str], plain: Container[str] = ()) -> dict[str, str]:
    """Returns what the installation of a package gets of its server's environment, without keys: it has the network and runs programs of
    the package.

    Args:
        env: of the server.
        plain: names of variables of the entry that hold no secret; install scripts read some, as PUPPETEER_SKIP_DOWNLOAD.
    """
    return {name: value for name, value in env.items() if name in plain or _is_kept(name) or name.lower().startswith(INSTALLERS)}


def _is_kept(name: str) -> bool:
    return name in KEPT or name.startswith(LANGUAGES)


def pnpm_store(state: StateFolder, words: Iterable[str]) -> dict[str, str]:
    """Returns the variable for pnpm's store, for a command line that runs pnpm; npm would warn of this setting at every start.

    Args:
        words: the command and its arguments; one of them may be a line for a shell.
    """
    runs_pnpm = any(_PNPM.search(word) for word in words)
    return {"npm_config_store_dir": str(state.cache / "pnpm")} if runs_pnpm else {}


def own_places(state: StateFolder) -> dict[str, str]:
    """Returns the variables by which programs keep their temporary files, caches and packages in the server's own folder: in a shared cache
    one server could change what another one runs."""
    cache = {
        "XDG_CACHE_HOME": state.cache,
        "npm_config_cache": state.cache / "npm",
        "YARN_CACHE_FOLDER": state.cache / "yarn",
        "BUN_INSTALL_CACHE_DIR": state.cache / "bun",
        "DENO_DIR": state.cache / "deno",
        "PIP_CACHE_DIR": state.cache / "pip",
        "UV_CACHE_DIR": state.cache / "uv",
        "UV_TOOL_DIR": state.cache / "uv-tools",
        "UV_PYTHON_INSTALL_DIR": state.cache / "uv-python",
        "PIPX_HOME": state.cache / "pipx",
    }
    return {name: str(path) for name, path in (cache | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), state.tmp)).items()} | {
        "npm_config_update_notifier": "false",
        "UV_NO_CONFIG": "1",  # a file of settings that may not be read is an error to uv
    }
