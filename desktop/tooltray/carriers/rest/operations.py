"""The operations of the REST interface, and the lookup by path.

Every verb of the API has the operation that follows from its declaration, unless the verb is only for a person. Servers also have paths of
their own (see server_operations), as other programs of this kind have.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from tooltray.api.parts import part_classes, verbs_of
from tooltray.carriers.rest import server_operations
from tooltray.carriers.rest.operation import Call, Operation, Run, derived
from tooltray.config.settings.settings_edits import http_access
from tooltray.foundation.errors import Denied
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.snapshots.setup import SettingsDocument
from tooltray.foundation.verbs import options_of


async def _set_http(call: Call) -> HttpStatus:
    """Responds before the address of this connection moves, with the status until then; the listener follows the settings."""
    await call.config.edit(http_access(call.arguments["enabled"], call.arguments.get("port")))
    return await call.presenter.access.get_http_status()


async def _change_settings(call: Call) -> SettingsDocument:
    """Changes the settings, except for what programs may do, which only a person decides.

    Raises:
        Denied: the changes concern the REST interface itself.
    """
    place: object = call.arguments["changes"]
    for name in ("publish", "http", "api"):
        if not isinstance(place, dict):
            break  # the parent is replaced, and the interface's settings with it
        if name not in place:
            return await _settings(call)
        place = place[name]
    raise Denied("A program may not do this", "it would change what programs may do here", "See `tooltray http api`.")


async def _settings(call: Call) -> SettingsDocument:
    document: SettingsDocument = await call.verb()
    call.show_revision(document.revision)
    return document


RUNS: dict[str, Run] = {"set_http_enabled": _set_http, "change_settings": _change_settings, "get_settings": _settings}
"""Operations that do more than call their verb."""


@cache
def operations() -> tuple[Operation, ...]:
    """Returns all operations."""
    return (*server_operations.OPERATIONS, *_derived())


def _derived() -> Iterator[Operation]:
    for part, kind in part_classes().items():
        for name in verbs_of(kind):
            verb = getattr(kind, name)
            if name not in server_operations.WITHOUT_ANOTHER and options_of(verb).access not in ("person", "window"):
                yield derived(part, verb, RUNS.get(name, Call.verb))


def operations_at(segments: Sequence[str]) -> dict[str, tuple[Operation, dict[str, str]]]:
    """Returns the operations at a path by method, each with the arguments in the path.

    Args:
        segments: the decoded segments of the path below `/api`.
    """
    fitting = [template for template in _templates() if len(template) == len(segments) and all(map(_fits, template, segments))]
    if not fitting:
        return {}
    template = min(fitting, key=lambda each: [_is_name(part) for part in each])  # a literal segment takes precedence over a name
    names = [segment for part, segment in zip(template, segments, strict=True) if _is_name(part)]
    return {each.method: (each, dict(zip(each.path_names, names, strict=True))) for each in _templates()[template]}


@cache
def _templates() -> dict[tuple[str, ...], list[Operation]]:
    found: dict[tuple[str, ...], list[Operation]] = {}
    for operation in operations():
        found.setdefault(operation.segments, []).append(operation)
    return found


def _is_name(part: str) -> bool:
    return part.startswith("{")


def _fits(part: str, segment: str) -> bool:
    return part == segment or (_is_name(part) and bool(segment))
