"""The operations of the REST interface: the table, the lookup by path, and the OpenAPI 3.1 document made from it.

Every verb of the API has the operation that follows from its declaration, unless the verb is only for a person. Servers also have paths of
their own (see server_operations), as other programs of this kind have.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from tooltray import __version__
from tooltray.api.parts import part_classes, verbs_of
from tooltray.carriers.rest import server_operations
from tooltray.carriers.rest.operation import Call, Kind, Operation, Run, derived
from tooltray.carriers.rest.requests import MOST
from tooltray.carriers.rest.responses import PROBLEM_TYPE
from tooltray.config.settings.settings_edits import http_access
from tooltray.foundation.errors import Denied
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.snapshots.setup import SettingsDocument
from tooltray.foundation.verbs import JsonObject, options_of

INDEX_PATH, OPENAPI_PATH, EVENTS_PATH = "/api/mcp", "/api/openapi.json", "/api/events"
_JSON, _COMPONENTS = "application/json", "#/components/schemas/{name}"
_FAILURES = {
    400: "The request is malformed.",
    401: "The token is missing or wrong.",
    403: "The request comes from another site, the token's scope is too small, or the user has not allowed this to programs.",
    404: "Not found.",
    408: "The body was not received in time.",
    409: "Conflict: a name is in use, or something has changed meanwhile.",
    412: "The revision in If-Match is outdated.",
    413: "The body is too large.",
    415: "The body is not JSON in UTF-8.",
    422: "The request was understood but cannot be carried out; the message has the reason.",
}
TOKEN = (
    "A token from `tooltray http api token`. Each operation names the scope that it requires: read; call, which includes read; manage, "
    "which includes call. A request that would run or allow something new waits for the user's approval or is denied, unless the token is "
    "trusted."
)
_OF_ALL = (400, 401, 403, 404, 413, 422)


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
    raise Denied("Programs may not do this", "it would change what programs may do here", "See `tooltray http api`.")


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


class Failure(msgspec.Struct):
    """A problem (RFC 9457); `scope` is what the token would need."""

    type: str
    title: str
    status: int
    detail: str
    hint: str
    scope: str = ""


class Index(msgspec.Struct):
    """The paths of the interface."""

    name: str
    version: str
    openapi: str
    events: str


@cache
def document() -> JsonObject:
    """Returns the whole document, which is cached: callers must not change it."""
    types = [Failure, Index, *_types()]
    schemas, components = msgspec.json.schema_components(types, ref_template=_COMPONENTS)
    known = dict(zip(map(_key, types), schemas, strict=True))
    paths: dict[str, JsonObject] = {}
    for operation in operations():
        components |= (operation.body_schema or {}).get("$defs", {})
        paths.setdefault(f"/api{operation.path}", {})[operation.method.lower()] = _Described(operation, known).operation()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tooltray", "version": __version__, "description": "What window and command line can do, for programs."},
        "security": [{"token": []}],
        "paths": {**_own_paths(known), **dict(sorted(paths.items()))},
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": TOKEN}},
        },
    }


def _types() -> Iterator[Kind]:
    for operation in operations():
        yield from (kind for kind in (operation.body, operation.result) if kind is not None)
        yield from (field.type for field in msgspec.structs.fields(operation.query))


def _key(kind: Kind) -> str:
    return f"{kind!r} {id(kind) if isinstance(kind, type) else ''}"


class _Described:
    """One operation as an OpenAPI operation object."""

    def __init__(self, operation: Operation, known: JsonObject) -> None:
        self._operation, self._known = operation, known

    def operation(self) -> JsonObject:
        (summary, description), segments = self._operation.words, self._operation.segments
        found = {
            "operationId": self._operation.id,
            "tags": [segments[1] if segments[0] == "mcp" else segments[0]],
            "summary": summary,
            "description": description,
            "security": [{"token": [self._operation.needed_scope]}],
            "parameters": [*self._path(), *self._query(), *self._paging(), *self._revision()],
            "responses": {**self._success(), **self._failures()},
        }
        if self._operation.body is not None:
            schema = self._body()
            found["requestBody"] = {"required": self._operation.needs_body, "content": {_JSON: {"schema": schema}}}
        return found

    def _schema(self, kind: Kind) -> JsonObject:
        found: JsonObject = self._known[_key(kind)]
        return found

    def _body(self) -> JsonObject:
        given = self._operation.body_schema
        return self._schema(self._operation.body) if given is None else {key: value for key, value in given.items() if key != "$defs"}

    def _path(self) -> Iterator[JsonObject]:
        for segment in self._operation.segments:
            if segment.startswith("{"):
                schema = {"type": "string", "minLength": 1}
                yield {"name": segment[1:-1], "in": "path", "required": True, "schema": schema}

    def _query(self) -> Iterator[JsonObject]:
        for field in msgspec.structs.fields(self._operation.query):
            yield {"name": field.encode_name, "in": "query", "required": field.required, "schema": self._schema(field.type)}

    def _paging(self) -> Iterator[JsonObject]:
        if self._operation.page_key:
            yield {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": MOST}}
            yield {
                "name": "cursor",
                "in": "query",
                "schema": {"type": "string"},
                "description": "As in the previous page's Link header.",
            }

    def _revision(self) -> Iterator[JsonObject]:
        if self._operation.takes_revision:
            description = "The ETag of the last read; without it, any revision is changed."
            yield {"name": "If-Match", "in": "header", "schema": {"type": "string"}, "description": description}

    def _success(self) -> JsonObject:
        found: JsonObject = {"description": "Done."}
        if self._operation.result is not None:
            found["content"] = {_JSON: {"schema": self._schema(self._operation.result)}}
        if self._operation.page_key:
            found["headers"] = {"Link": {"schema": {"type": "string"}, "description": "The next page, if any."}}
        return {str(self._operation.status): found}

    def _failures(self) -> JsonObject:
        statuses = set(_OF_ALL)
        if self._operation.method != "GET":
            statuses.add(409)
        if self._operation.takes_revision:
            statuses.add(412)
        if self._operation.body is not None:
            statuses |= {408, 415}
        return {str(status): _failure(status, self._schema(Failure)) for status in sorted(statuses)}


def _failure(status: int, schema: JsonObject) -> JsonObject:
    return {"description": _FAILURES[status], "content": {PROBLEM_TYPE: {"schema": schema}}}


def _own_paths(known: JsonObject) -> JsonObject:
    """Returns the path items of the paths without an operation."""
    problem = known[_key(Failure)]
    shown = {
        INDEX_PATH: ("index", "Where things are", _JSON, known[_key(Index)]),
        OPENAPI_PATH: ("openapi", "This description", _JSON, {"type": "object"}),
        EVENTS_PATH: (
            "events",
            "Tooltray's events as they happen; resumable by Last-Event-ID",
            "text/event-stream",
            {"type": "string"},
        ),
    }
    failures = {str(status): _failure(status, problem) for status in (400, 401, 403, 404)}
    return {
        path: {
            "get": {
                "operationId": name,
                "summary": summary,
                "security": [{"token": ["read"]}],
                "responses": {"200": {"description": "Done.", "content": {kind: {"schema": schema}}}, **failures},
            }
        }
        for path, (name, summary, kind, schema) in shown.items()
    }
