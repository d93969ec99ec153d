"""The sources of registries, and the measuring of several at once. probe is imported in a thread when something is measured for the first
time: a hub without servers from npm does not load the HTTP library for it."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from tooltray.servers.launch.npm_config import NpmConfiguration, ReadConfiguration, read_configuration
from tooltray.servers.launch.npm_registry import Answer, Registry


class Measure(Protocol):
    """A function that measures registries: `measure_registries`, or a fake."""

    async def __call__(
        self,
        registries: Sequence[Registry],
        packages: tuple[str, ...],
        *,
        environ: Mapping[str, str],
        configuration: NpmConfiguration,
        with_python: bool,
    ) -> list[Answer]: ...


async def measure_registries(
    registries: Sequence[Registry],
    packages: tuple[str, ...],
    *,
    environ: Mapping[str, str],
    configuration: NpmConfiguration,
    with_python: bool,
) -> list[Answer]:
    """Measures all registries at the same time, each within ten seconds. Never fails: errors are in the answers.

    Args:
        packages: requested from each registry.
        environ: the user's login-shell environment, for proxies and certificate authorities.
        configuration: how npm signs in to each.
        with_python: whether their indexes for Python packages are measured as well.
    """
    for module in ("tooltray.servers.npm_mirrors.probe", "tooltray.servers.transports.http.certificate_trust"):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.npm_mirrors.probe import RegistryProbe
    from tooltray.servers.transports.http.certificate_trust import tls_context

    trust = await asyncio.to_thread(tls_context, environ)
    async with RegistryProbe(environ=environ, trust=trust) as probe:
        asked = (
            probe.ask(each, packages, authorization=configuration.authorization(each.url), with_python=with_python) for each in registries
        )
        return list(await asyncio.gather(*asked))


class RegistrySources(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of NpmRegistries.

    Attributes:
        environ: returns the user's login-shell environment.
        folder: where npm is run for its configuration; the user's own.
        mirrors: those that come with Tooltray.
        measure, read: measure registries, and read npm's configuration.
    """

    environ: Callable[[], Awaitable[Mapping[str, str]]]
    folder: str
    mirrors: tuple[Registry, ...]
    measure: Measure = measure_registries
    read: ReadConfiguration = read_configuration

    async def configuration(self) -> NpmConfiguration:
        """Returns how npm is configured for the user."""
        return await self.read(await self.environ(), self.folder)
