"""Measures npm registries, and chooses which one servers' packages come from.

The first of these that is set counts: the server's own `env`; its `customNpmRegistry`; the `customNpmRegistry` for all servers; the user's
environment; the fastest registry that was measured. If npm is configured to use that registry anyway, no variable is set. A registry that
the user has chosen in npm's own configuration is never replaced by a mirror: it may have packages that no mirror has.
"""

import asyncio
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, shown_url
from tooltray.config.settings.settings_edits import npm_registry
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, NpmRegistryChanged
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.foundation.verbs import always, verb, when_enabled
from tooltray.servers.launch.npm_config import (
    CUSTOM,
    MIRROR,
    NPM,
    REGISTRY_VARIABLE,
    SETTINGS,
    Answer,
    NpmConfiguration,
    Registry,
    has_password,
    host_of,
    normalised,
    own_registry,
)
from tooltray.servers.npm_mirrors.measuring import (
    Measured,
    RegistryCache,
    RegistrySources,
    is_downloaded,
    is_python,
    judged,
    measurement,
    probed_packages,
)

UV_VARIABLE, PIP_VARIABLE = "UV_DEFAULT_INDEX", "PIP_INDEX_URL"
_OWN_INDEX = frozenset({UV_VARIABLE, PIP_VARIABLE, "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"})
_NAMES_INDEX = lazy_pattern(rb"^\s*(\[\[(tool\.uv\.)?index\]\]|[a-z-]*index(-url)?\s*=)", re.MULTILINE)
_MAX_FILE_BYTES = 2**20
logger = logging.getLogger(__name__)

KEPT_FOR_S = 86400.0  # a day; a registry that is fast in one network may be slow in the next, and users move
SETTLES_AFTER_S = 5.0  # by then the servers that start with the hub have been launched, so that measuring does not slow them
LOOKS_EVERY_S = 900.0  # checks whether it is time again; also after a round in which nothing answered, as without a network
NPM_NAME = "npm"
_NO_REGISTRY = Phrase("this npm registry cannot be used")
_HINT = Phrase("Check the address. What a registry answers at ADDRESS/PACKAGE is JSON.")


def npm_variables(url: str, *, env: Mapping[str, str], environ: Mapping[str, str], is_explicit: bool) -> dict[str, str]:
    """Returns the variables for npm.

    Args:
        url: the registry.
        env: the variables of the server's own entry.
        environ: the user's login-shell environment.
        is_explicit: whether the user has chosen this registry; if not, it was measured as the fastest.
    """
    spellings = [name for name in environ if name.lower() == REGISTRY_VARIABLE]  # npm takes any spelling, so all of them are set
    if any(name.lower() == REGISTRY_VARIABLE for name in env) or (spellings and not is_explicit):
        return {}
    return dict.fromkeys(spellings or [REGISTRY_VARIABLE], url)


def python_variables(index: str, *, env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for uv and pip; empty if the user has chosen an index in any way that these two read. Reads files."""
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


class NpmRegistries:
    """The choice of the npm registry. Belongs to the engine's loop. A running server keeps its registry; a new choice counts at its next
    start."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        cache: RegistryCache,
        registry_sources: RegistrySources,
        bus: EventBus,
        spawn: Spawn,
        clock: Callable[[], float] = time.time,
        settles_after_s: float = SETTLES_AFTER_S,
    ) -> None:
        """
        Args:
            clock: unix seconds.
            settles_after_s: from `start` to the first measurement.
        """
        self._config, self._cache, self._sources = config, cache, registry_sources
        self._bus, self._spawn, self._clock, self._settles_after_s = bus, spawn, clock, settles_after_s
        self._known, self._is_from_cache = cache.known, cache.known is not None
        self._tested: RegistryMeasurement | None = None  # of the custom registry, from before it was saved
        self._measuring: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._nothing_to_choose_at: float | None = None
        self._is_started = False
        self._told = self.status
        bus.subscribe(ConfigChanged, self._on_config_changed)

    # verbs

    def start(self) -> None:
        """Begins to measure in the background if measurements are missing or too old. May be called again."""
        self._is_started = True
        self._follow()

    @property
    def status(self) -> NpmRegistryStatus:
        chosen, custom, settings = self._chosen(), self._custom(), self._config.settings
        return NpmRegistryStatus(
            url=chosen.shown if chosen else "",
            origin=chosen.origin if chosen else NPM,
            is_auto_detect=settings.auto_detect_npm_registry,
            custom_url=custom.shown if custom else "",
            measured_at=self._known.at if self._known else 0.0,
            is_from_cache=self._is_from_cache,
            is_measuring=self._measuring is not None,
            measurements=self._measurements(custom),
        )

    @property
    def problems(self) -> list[Problem]:
        """Returns the problems of the chosen registry."""
        custom = self._custom()
        if custom is None and self._config.settings.custom_npm_registry:
            title = Phrase("the npm registry in the settings cannot be used")
            return [
                Problem(title, Phrase("`customNpmRegistry` is not the address of a registry"), Phrase("See `tooltray registry status`."))
            ]
        found = [each for each in self._measurements(custom) if custom and each.url == custom.shown and each.problem]
        hint = Phrase("Choose another one, or none: tooltray registry clear")
        return [
            Problem(Phrase("the npm registry that you have chosen cannot be used"), f"{each.url}: {each.problem}", hint)
            for each in found[:1]
        ]

    async def refresh(self) -> NpmRegistryStatus:
        """Measures all registries now, or waits for the measurement that is running."""
        await self._measured()
        return self.status

    async def test(self, url: str) -> RegistryMeasurement:
        """Measures one registry; `problem` of the result describes any failure."""
        try:
            registry = Registry(checked := normalised(url), host_of(checked), CUSTOM)
        except TooltrayError as error:
            shown = shown_url(url.strip()).rpartition("@")[2]  # an invalid address may have a password anywhere before the "@"
            return RegistryMeasurement(shown, "", CUSTOM, problem=error.problem.message)
        registry = next((replace(each, origin=CUSTOM) for each in self._candidates() if each.url == registry.url), registry)
        configuration = await self._sources.configuration()
        packages = self._packages(configuration, may_name_own=True)
        (answer,) = judged(await self._answers([registry], packages, configuration), packages=packages)
        return measurement(answer)

    async def set_custom(self, url: str) -> NpmRegistryStatus:
        """Measures a registry and saves it as the custom one; "" removes that.

        Raises:
            TooltrayError: it is not a registry that answers, or the settings cannot be written.
        """
        if not url.strip():
            await self._config.edit(npm_registry(custom=""))
            return self.status
        checked = normalised(url)
        if has_password(checked):
            hint = Phrase("Leave it out of the address, and let npm sign in: npm login --registry=ADDRESS")
            raise TooltrayError(
                _NO_REGISTRY, Phrase("its address contains a user name or password, which would be saved in the settings"), hint
            )
        tested = await self.test(checked)
        if tested.problem:
            raise TooltrayError(_NO_REGISTRY, f"{tested.url}: {tested.problem}", _HINT)
        self._tested = tested
        await self._config.edit(npm_registry(custom=checked))
        return self.status

    async def set_auto_detect(self, enabled: bool) -> NpmRegistryStatus:
        """Saves whether the fastest registry is used.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        await self._config.edit(npm_registry(is_auto_detect=enabled))
        return self.status

    async def clear_cache(self) -> None:
        """Drops all measurements; if the fastest registry is wanted, measuring begins again."""
        self._known, self._is_from_cache, self._tested, self._nothing_to_choose_at = None, False, None, None
        await finish_in_thread(self._cache.forget)
        self._tell()
        self._follow(is_anew=True)

    async def variables(self, config: MCPServerConfig, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the variables by which npm, uv and pip use the chosen registry, for a server's process. Waits for no network.

        Args:
            config: the server's entry; it is started on stdio.
            environ: the user's login-shell environment.

        Raises:
            TooltrayError: the entry's `customNpmRegistry` is not the address of a registry.
        """
        own = self._of_server(config)
        registry = own or self._chosen()
        if registry is None or await self._is_persons_own_better(registry, environ):
            return {}
        variables = npm_variables(registry.url, env=config.env, environ=environ, is_explicit=registry.origin == CUSTOM)
        if is_python(config) and (index := self._python_index(registry)):
            variables |= await asyncio.to_thread(python_variables, index, env=config.env, environ=environ)
        return variables

    # choosing

    def _chosen(self) -> Registry | None:
        """Returns the registry that servers get; None: the one that npm is configured to use."""
        if custom := self._custom():
            return custom
        if not self._known or not self._config.settings.auto_detect_npm_registry:
            return None
        candidates = {each.shown: each for each in self._candidates() if self._known.may_be_mirror or each.origin != MIRROR}
        usable = (each for each in self._known.measurements if not each.problem)
        fastest = next((each for each in usable if each.origin == NPM or each.url in candidates), None)
        return candidates[fastest.url] if fastest and fastest.origin != NPM else None

    def _custom(self) -> Registry | None:
        text = self._config.settings.custom_npm_registry
        return _registry(text, CUSTOM) if text else None

    def _of_server(self, config: MCPServerConfig) -> Registry | None:
        if not config.custom_npm_registry:
            return None
        if found := _registry(config.custom_npm_registry, CUSTOM):
            return found
        hint = Phrase("Correct it, or take it out of the server's settings.")
        raise TooltrayError(
            Phrase("the server's npm registry cannot be used"), Phrase("its `customNpmRegistry` is not the address of a registry"), hint
        )

    async def _is_persons_own_better(self, registry: Registry, environ: Mapping[str, str]) -> bool:
        """Reports whether the user has chosen a registry in npm's configuration since mirrors were measured."""
        return registry.origin == MIRROR and bool(await asyncio.to_thread(own_registry, environ))

    def _python_index(self, registry: Registry) -> str:
        """Returns the Python index that the operator of a registry runs, if the index answered when it was measured."""
        mirror = next((each for each in self._sources.mirrors if each.url == registry.url), None)
        has_answered = mirror and self._known and mirror.shown in self._known.python
        return mirror.pypi if mirror and has_answered else ""

    def _candidates(self) -> list[Registry]:
        """Returns the registries to choose from besides npm's own, each once: mirrors, and those that the settings add."""
        added = [_registry(each.url, SETTINGS, each.name) for each in self._config.settings.npm_registries]
        every = (*self._sources.mirrors, *(each for each in added if each))
        return list({each.shown: each for each in reversed(every)}.values())[::-1]

    def _measurements(self, custom: Registry | None) -> tuple[RegistryMeasurement, ...]:
        rows = self._known.measurements if self._known else ()
        rows = tuple(each for each in rows if each.origin != CUSTOM or (custom and each.url == custom.shown))
        is_tested = custom and self._tested and self._tested.url == custom.shown
        if is_tested and self._tested and all(each.url != self._tested.url for each in rows):
            return (self._tested, *rows)
        return rows

    # measuring

    def _follow(self, *, is_anew: bool = False) -> None:
        """Starts or stops measuring automatically, as the settings require."""
        is_wanted = self._is_started and self._is_wanted()
        if self._following and (is_anew or not is_wanted):
            self._following.cancel()
            self._following = None
        if is_wanted and self._following is None:
            self._following = self._spawn(self._keep_measured(), name="measure npm registries periodically")

    def _is_wanted(self) -> bool:
        """Reports whether to measure automatically: the fastest registry is wanted, there are several, and a server downloads packages."""
        settings = self._config.settings
        servers = (each for each in settings.mcp_servers.values() if not each.disable and not each.custom_npm_registry)
        is_undecided = settings.auto_detect_npm_registry and not settings.custom_npm_registry
        return is_undecided and bool(self._candidates()) and any(map(is_downloaded, servers))

    async def _keep_measured(self) -> None:
        await asyncio.sleep(self._settles_after_s)
        while True:
            try:
                if self._is_due():
                    await self._measure_unasked()
            except Exception:  # a bug costs this round, not all later ones
                logger.exception("npm registries could not be measured")
            await asyncio.sleep(LOOKS_EVERY_S)  # not longer, because this clock stops while the computer sleeps

    def _is_due(self) -> bool:
        if self._nothing_to_choose_at is not None and self._is_fresh(self._nothing_to_choose_at):
            return False
        if not self._known or not self._known.is_success or not self._is_fresh(self._known.at):
            return True
        return set(self._known.candidates) != {each.shown for each in self._candidates()}

    def _is_fresh(self, at: float) -> bool:
        return 0 <= self._clock() - at < KEPT_FOR_S  # below 0 the clock was set back

    async def _measure_unasked(self) -> None:
        configuration = await self._sources.configuration()
        if not _may_be_mirror(configuration) and all(each.origin == MIRROR for each in self._candidates()):
            self._nothing_to_choose_at = self._clock()
        else:
            await self._measured(configuration)

    async def _measured(self, configuration: NpmConfiguration | None = None) -> None:
        """Starts a measurement, or waits for the running one. Without a configuration the user has requested it: then it also measures the
        registries that are shown but never chosen automatically."""
        if self._measuring is None:
            self._measuring = self._spawn(self._measure(configuration), name="measure npm registries")
            self._tell()
        await asyncio.shield(self._measuring)

    async def _measure(self, configuration: NpmConfiguration | None) -> None:
        try:
            is_asked, configuration = configuration is None, configuration or await self._sources.configuration()
            may_be_mirror = _may_be_mirror(configuration)
            packages = self._packages(configuration, may_name_own=not configuration.is_chosen)
            registries = [each for each in self._all(configuration) if is_asked or may_be_mirror or each.origin != MIRROR]
            answers = await self._answers(registries, packages, configuration)
            await self._remember(judged(answers, packages=packages), may_be_mirror=may_be_mirror)
        finally:
            self._measuring = None
            self._tell()

    async def _remember(self, answers: list[Answer], *, may_be_mirror: bool) -> None:
        candidates = tuple(each.shown for each in self._candidates())
        python = tuple(each.registry.shown for each in answers if each.has_python)
        self._known = Measured(self._clock(), tuple(map(measurement, answers)), candidates, python, may_be_mirror)
        self._is_from_cache, self._nothing_to_choose_at = False, None
        if self._known.is_success:
            await finish_in_thread(self._cache.save, self._known)

    def _packages(self, configuration: NpmConfiguration, *, may_name_own: bool) -> tuple[str, ...]:
        servers = self._config.settings.mcp_servers.values()
        return probed_packages(servers, scopes_elsewhere=configuration.scopes_elsewhere, may_name_own=may_name_own)

    async def _answers(self, registries: Sequence[Registry], packages: tuple[str, ...], configuration: NpmConfiguration) -> list[Answer]:
        environ = await self._sources.environ()
        with_python = any(is_python(each) for each in self._config.settings.mcp_servers.values())
        return await self._sources.measure(registries, packages, environ=environ, configuration=configuration, with_python=with_python)

    def _all(self, configuration: NpmConfiguration) -> list[Registry]:
        """Returns the registries to measure: npm's own, all candidates, and the user's choice; each once."""
        candidates, custom = self._candidates(), self._custom()
        every = [*([_npms_own(configuration, candidates)] if configuration.registry else []), *candidates, *([custom] if custom else [])]
        return list({each.shown: each for each in reversed(every)}.values())[::-1]

    # reporting

    def _on_config_changed(self, event: ConfigChanged) -> None:
        self._tell()
        self._follow()

    def _tell(self) -> None:
        if (status := self.status) != self._told:
            self._told = status
            self._bus.publish(NpmRegistryChanged(status))


def _registry(url: str, origin: str, name: str = "") -> Registry | None:
    try:
        return Registry(checked := normalised(url), name or host_of(checked), origin)
    except TooltrayError:
        return None


def _npms_own(configuration: NpmConfiguration, candidates: Sequence[Registry]) -> Registry:
    """Returns npm's own registry, under the name of the mirror that it may be."""
    url = configuration.registry
    if same := next((each for each in candidates if each.url == url), None):
        return replace(same, origin=NPM)
    return Registry(url, host_of(url) if configuration.is_chosen else NPM_NAME, NPM)


def _may_be_mirror(configuration: NpmConfiguration) -> bool:
    """Reports whether a mirror may replace npm's registry automatically: npm's configuration names a registry to compare with, and the user
    did not choose it."""
    return bool(configuration.registry) and not configuration.is_chosen


class RegistriesApi:
    def __init__(self, *, registries: NpmRegistries) -> None:
        self._registries = registries

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return self._registries.status

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        """Measures all registries now, whatever was measured before."""
        return await self._registries.refresh()

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        """Measures one registry; `problem` of the result describes any failure."""
        return await self._registries.test(url)

    @verb(trusted=always)
    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        """Uses one registry from now on; "" ends that. The registry is measured before it is saved.

        Raises:
            TooltrayError: it is not an npm registry that answers; gives the reason.
        """
        return await self._registries.set_custom(url)

    @verb(trusted=when_enabled)
    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        """Switches the choice of the fastest registry on or off. Off: nothing is measured automatically."""
        return await self._registries.set_auto_detect(enabled)

    async def clear_npm_registry_cache(self) -> None:
        """Deletes all measurements."""
        await self._registries.clear_cache()
