"""`tooltray registry status|measure|set|clear|auto`: the registry of servers' npm packages."""

import argparse
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING

from tooltray.cli.arguments import Usage, command
from tooltray.cli.hubs import any_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line, day, print_json, print_note, print_table
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement

if TYPE_CHECKING:
    from tooltray.servers.npm_mirrors.npm_registries import RegistriesApi

MEASURE_TIMEOUT_S = 60.0  # 10 s for the registries; before that the login shell and npm may run
COUNTS_LATER = Phrase("Running servers use it after a restart.")
_WORDS = {"custom": Phrase("chosen by you"), "mirror": Phrase("the fastest"), "settings": Phrase("the fastest")}


def declare(parser: Usage) -> None:
    registry = parser.subcommands()
    chosen = partial(_do, lambda api, args: api.set_custom_npm_registry(url=args.url), COUNTS_LATER)
    text = tr("show which npm registry servers use, and how all of them responded")
    command(registry, "status", text, partial(_do, lambda api, _: api.get_npm_registry_status(), ""))
    command(registry, "measure", tr("measure all npm registries now"), measure)
    command(registry, "set", tr("always use this npm registry; it is measured first"), chosen).takes("url")
    text = tr("stop using your own registry")
    command(registry, "clear", text, partial(_do, lambda api, _: api.set_custom_npm_registry(url=""), COUNTS_LATER))
    switched = partial(_do, lambda api, args: api.set_auto_detect_npm_registry(enabled=args.switch == "on"), COUNTS_LATER)
    switching = command(registry, "auto", tr("find and use the fastest npm registry automatically, or not"), switched)
    switching.add_argument("switch", choices=("on", "off"))


def measure(args: argparse.Namespace, home: Home) -> int:
    if not args.json:
        print_note(tr("Measuring; this takes ten seconds at most ..."))
    return _do(lambda api, _: api.refresh_npm_registry(), "", args, home)


def _do(
    verb: "Callable[[RegistriesApi, argparse.Namespace], Coroutine[object, None, NpmRegistryStatus]]",
    note: str,
    args: argparse.Namespace,
    home: Home,
) -> int:
    with any_hub(home) as hub:
        before = hub.ask(hub.api.registries.get_npm_registry_status()) if note and not args.json else None
        status = hub.ask(verb(hub.api.registries, args), timeout_s=MEASURE_TIMEOUT_S)
    if args.json:
        print_json(status)
        return 0
    print("\n".join(_words(status)))
    if status.measurements:
        print_table(
            (tr("REGISTRY"), tr("REGION"), tr("ANSWERED"), tr("STATE"), tr("ADDRESS")), [_row(each, status) for each in status.measurements]
        )
    if before and hub.is_running and status.url != before.url:
        print_note(note)
    return 0


def _words(status: NpmRegistryStatus) -> list[str]:
    if status.url:
        chosen = tr("Servers get npm packages from {url} ({words}).", url=clean_line(status.url), words=_WORDS[status.origin])
    else:
        chosen = tr("Servers get npm packages as configured in npm.")
    return [chosen, _automatic(status), _measured(status)]


def _automatic(status: NpmRegistryStatus) -> str:
    if not status.is_auto_detect:
        return tr("The fastest registry is not used automatically. Turn that on: tooltray registry auto on")
    if status.custom_url:
        return tr("You have chosen a registry, so the fastest one is not used. To change that: tooltray registry clear")
    usable = [each for each in status.measurements if not each.problem]
    if not status.url and usable and usable[0].origin == "mirror":
        return tr("npm's own configuration names a registry, so no mirror is used automatically. Use one: tooltray registry set ADDRESS")
    return tr("Once a day, the fastest registry is found. Turn that off: tooltray registry auto off")


def _measured(status: NpmRegistryStatus) -> str:
    if status.is_measuring:
        return tr("Being measured now.")
    if not status.measured_at:
        what = tr("The others are not") if status.measurements else "Not"
        return tr("{what} measured yet. Do it now with: tooltray registry measure", what=what)
    kept = tr("; what did not answer then is not listed") if status.is_from_cache else ""
    return tr("Measured {measured_at}{kept}.", measured_at=day(status.measured_at), kept=kept)


def _row(each: RegistryMeasurement, status: NpmRegistryStatus) -> list[str]:
    is_used = each.url == status.url or (not status.url and each.origin == "npm")
    state = each.problem or (tr("in use") if is_used else "reachable")
    took = "-" if each.milliseconds is None else f"{each.milliseconds:.0f} ms"
    return [each.name, each.region or "-", took, state, each.url]
