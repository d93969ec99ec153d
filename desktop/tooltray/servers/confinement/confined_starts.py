"""Prepares the start of a confined process: its environment, packages that are installed first, and the launchers around its program. Calls
of tools do not pass here.
"""

import asyncio
import os
from collections.abc import Awaitable, Container, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.secret_looks import plain_names
from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.host_proxies import HostProxies, ProxyDoor
from tooltray.servers.confinement.launch_line import Policy, carried, confined
from tooltray.servers.confinement.package_installs import Preparation, preparation
from tooltray.servers.confinement.profiles import StateFolder, Subject, forget, preparing_policy, profile_of, rename, state_folder
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.shared_files import SharedFiles
from tooltray.servers.confinement.watches import Watch, Watches
from tooltray.servers.launch.command_lookup import look_up, not_found
from tooltray.servers.launch.program_launch import CannotStart, CommandLine, Launch, RunFirst
from tooltray.servers.launch.remembered_variables import INDEX, VARIABLES, meaning

KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"),
        *("NVM_DIR", "PYENV_ROOT", "PYENV_VERSION", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "JAVA_HOME", "DOTNET_ROOT"),
        *(VARIABLES.keys() - {"SSH_AUTH_SOCK"}),
    }
)
"""Of the user's environment: user and home, the language, places of runtimes, proxies, certificates and package indexes."""
_PNPM = lazy_pattern(r"(?:^|[\s/\\])pn(?:pm|px)(?:\.cmd|\.exe)?(?:\s|$)")
LANGUAGES = "LC_"  # LC_ALL and the others
INSTALLERS = ("npm_config_", "uv_", "pip_")  # settings of npm, uv and pip; npm reads them in any case
WATCHED = Confinement(files="own", network="none")
"""For a watched server: it gets the environment and the folder of a confined server, but no launcher restricts it."""
PROXIES = frozenset(name for name in VARIABLES if meaning(name).endswith("_proxy"))


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the part of the user's environment that a confined server gets."""
    return {name: value for name, value in environ.items() if _is_kept(name)}


def installing_environment(env: Mapping[str, str], plain: Container[str]) -> dict[str, str]:
    """Returns the part of a server's environment that the installation of its package gets. It has no keys, because an installation has the
    network and runs programs of the package.

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
        "UV_NO_CONFIG": "1",  # uv fails if it may not read a file of settings
    }


class ConfinedStarts:
    """Makes the starts of confined servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        confinements: Confinements,
        refusals: Refusals,
        home: Home,
        user_folder: Path,
        watches: Watches | None = None,
        proxies: HostProxies | None = None,
    ) -> None:
        """
        Args:
            watches: knows which servers run through the tracer now; None: servers are never watched.
            user_folder: the user's home folder.
            proxies: let servers reach their listed hosts; None: servers that are limited to hosts have no network.
        """
        self._confinements, self._refusals, self._home = confinements, refusals, home
        self._watches, self._proxies = watches, proxies
        self._user_folder = str(user_folder)
        self._shared = SharedFiles(home.confined / "shared")  # other names in this folder end in a hash
        self._installing: dict[str, asyncio.Lock] = {}  # by server
        self._renamed: dict[str, str] = {}  # servers whose folder is still under the old name
        self._moving = asyncio.Lock()

    async def begin(self, server: str, config: MCPServerConfig, project: str, environ: Mapping[str, str]) -> "ConfinedStart | None":
        """Returns the confined start of a server; None: the server is open, or this computer cannot confine it.

        Args:
            project: the folder that it works for; empty: none.
            environ: the user's environment.

        Raises:
            TooltrayError: its folder cannot be created, or no port is free for its proxy.
        """
        watch = self._watches.begin(server, what_runs(config)) if self._watches else None
        chosen = WATCHED if watch else config.confinement
        if watch is None and not self._confinements.applies(chosen):
            self._refusals.end(server)
            return None
        state = state_folder(self._home.confined, server)
        try:
            await self._move(server)
            await finish_in_thread(state.prepare)
        except OSError as error:
            title = Phrase("the folder of '{name}' cannot be made", name=server)
            raise CannotStart(title, Phrase("{path}: {reason}", path=str(state.root), reason=error.strerror or "")) from None
        door = await self._door(server, chosen)
        return ConfinedStart(
            server=server,
            chosen=chosen,
            environ=own_environment(environ),
            project=project,
            state=state,
            guarded=GuardedFolders(self._user_folder, str(self._home.root)),
            bundles=str(self._home.bundles),
            door=door,
            confinements=self._confinements,
            refusals=self._refusals,
            watch=watch,
            plain=plain_names(config.env),
            shared=self._shared,
            installing=self._installing.setdefault(server, asyncio.Lock()),
        )

    def rename(self, before: str, after: str, ended: Awaitable[None]) -> Awaitable[None]:
        """Gives the folder of a server to its new name: once the server has ended, and before it starts under that name.

        Args:
            ended: returns when the server does not run under the old name any more.

        Returns:
            The rest, which waits for that. It raises OSError if the folder cannot be moved.
        """
        self._refusals.end(before)
        self._renamed[after] = before
        return self._move_after(ended, after)

    async def _move_after(self, ended: Awaitable[None], server: str) -> None:
        await ended
        await self._move(server)

    async def _move(self, server: str) -> None:
        async with self._moving:
            if server in self._renamed:
                await finish_in_thread(rename, self._home.confined, self._renamed[server], server)
                self._renamed.pop(server)

    async def forget(self, server: str) -> None:
        """Deletes the files of a server that was removed for good."""
        self._refusals.end(server)
        self._installing.pop(server, None)
        await finish_in_thread(forget, self._home.confined, server)
        await finish_in_thread(self._shared.delete_unused)

    async def _door(self, server: str, chosen: Confinement) -> ProxyDoor | None:
        """Returns the server's proxy; None: it is not limited to hosts, or cannot be, and then gets no network at all."""
        if chosen.network != "hosts" or not self._confinements.here.hosts or self._proxies is None:
            return None
        return await self._proxies.door(server, chosen.hosts)


def _is_for_installing(name: str, value: str) -> bool:
    """Reports whether a variable is only for installing: proxies, and package indexes with a password or a key in their address."""
    return name in PROXIES or (name in VARIABLES and VARIABLES[name] is INDEX and not INDEX.can_be_remembered(value))


class ConfinedStart(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One start of one server. Satisfies Around.

    Attributes:
        environ: the part of the user's environment that it gets.
        project: the folder that it works for; empty: none.
        door: the proxy that it is limited to; None: it has no proxy.
        ahead: the package that is installed before it starts.
        plain: names of the variables of its entry that hold no secret: its installation gets them, too.
        watch: runs it through the tracer, unconfined; None: it is not watched.
        shared: the files that the packages of several servers have.
        installing: held while its package is installed: another instance of it waits.
    """

    server: str
    chosen: Confinement
    environ: Mapping[str, str]
    project: str
    state: StateFolder
    guarded: GuardedFolders
    bundles: str
    door: ProxyDoor | None
    confinements: Confinements
    refusals: Refusals
    shared: SharedFiles
    installing: asyncio.Lock
    ahead: Preparation | None = None
    watch: Watch | None
    plain: frozenset[str]

    @property
    def folder(self) -> str:
        """Returns where the server runs unless its entry names another place."""
        return str(self.state.work)

    @property
    def environment(self) -> Mapping[str, str]:
        """Returns the part of the user's environment that the server gets. A server without direct access to the network does not need the
        passwords of proxies."""
        if self.chosen.network == "open":
            return self.environ
        return {name: value for name, value in self.environ.items() if not _is_for_installing(name, value)}

    def variables(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Returns the hub's additions to the environment. `variables`: the additions for all servers."""
        return {**variables, **own_places(self.state)}

    def put_around(self, launch: Launch) -> Launch:
        """Returns the launch of the server with its confinement."""
        ahead = preparation(launch.command, launch.args, self.state.packages) if self.chosen.network != "open" else None
        store = pnpm_store(self.state, (launch.command, *launch.args))
        return replace(launch, env={**launch.env, **store, **(self.door.variables if self.door else {})}, around=replace(self, ahead=ahead))

    async def command(self, program: str, launch: Launch, run_first: RunFirst) -> CommandLine:
        """Implements Around."""
        args = launch.args
        if self.ahead is not None:
            program, args = await self._install(self.ahead, program, launch, run_first), self.ahead.rest
        subject = self._subject(program, args, launch)
        if self.watch is not None:
            return CommandLine(await self._watched(self.watch, subject), launch.env)
        profile = await finish_in_thread(profile_of, subject, self.chosen)
        self.confinements.note_left_out(self.server, profile.left_out)
        self.refusals.begin(self.server, profile.policy)
        return await self._around(profile.policy, program, args, launch.env)

    async def _watched(self, watch: Watch, subject: Subject) -> Sequence[str]:
        """Returns the command line that runs the server through the tracer.

        Raises:
            TooltrayError: the watching has ended since this start began; the next start is confined as before.
        """
        words = await finish_in_thread(watch.command, subject)
        if not watch.until:
            raise TooltrayError(Phrase("'{server}' is not being watched", server=self.server))
        return words

    async def _around(self, policy: Policy, program: str, args: Sequence[str], env: Mapping[str, str]) -> CommandLine:
        support = self.confinements.support
        words = await finish_in_thread(confined, policy, support, program, args)
        return CommandLine(words, carried(env, support))

    async def _install(self, ahead: Preparation, launcher: str, launch: Launch, run_first: RunFirst) -> str:
        async with self.installing:
            program = await finish_in_thread(ahead.installed)
            if not program:
                have_ended = await self._run_installation(ahead, launcher, launch, run_first)
                program = await finish_in_thread(ahead.finish, self.shared if have_ended and self._keeps_packages else None)
                await finish_in_thread(self.shared.delete_unused)
            elif not self._keeps_packages:
                await finish_in_thread(ahead.separate, self.shared)
            return program

    @property
    def _keeps_packages(self) -> bool:
        """Reports whether the server cannot change its packages: Landlock or bubblewrap prevents it."""
        support = self.confinements.support
        return self.watch is None and self.chosen.files != "open" and bool(support.abi or support.bwrap)

    async def _run_installation(self, ahead: Preparation, launcher: str, launch: Launch, run_first: RunFirst) -> bool:
        beside = os.pathsep.join(filter(None, (launch.env.get("PATH"), os.path.dirname(launcher))))
        lookup = look_up(ahead.command, env={**launch.env, "PATH": beside}, cwd=launch.cwd)
        if not lookup.resolved:
            raise not_found(lookup)
        await finish_in_thread(ahead.begin)
        env = self._open_environment(launch, ahead)
        subject = self._subject(lookup.resolved, ahead.args, replace(launch, env=env, cwd=str(ahead.folder)))
        policy = await finish_in_thread(preparing_policy, subject, str(ahead.folder))
        line = await self._around(policy, lookup.resolved, ahead.args, env)
        return await run_first(line.words, line.env, str(ahead.folder))

    def _open_environment(self, launch: Launch, ahead: Preparation) -> dict[str, str]:
        """Returns the environment of an installation: it uses the user's own proxies, and keeps temporary files where the server
        cannot change them."""
        env = installing_environment(
            {name: value for name, value in launch.env.items() if not self.door or name not in self.door.variables},
            self.plain,
        )
        outward = {name: value for name, value in self.environ.items() if _is_for_installing(name, value)}
        return {**env, **outward, **ahead.env, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(ahead.temporary))}

    def _subject(self, program: str, args: Sequence[str], launch: Launch) -> Subject:
        return Subject(
            program=program,
            args=args,
            env=launch.env,
            cwd=launch.cwd,
            state=self.state,
            guarded=self.guarded,
            bundles=self.bundles,
            project=self.project,
            proxy_port=self.door.port if self.door else 0,
        )
