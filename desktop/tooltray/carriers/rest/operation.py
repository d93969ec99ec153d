"""One operation of the REST interface: its path, its verb, and the mapping of a request to the verb's arguments.

Above it: the tables of operations, routing, the OpenAPI document. Below it: shapes. The types of arguments and result come from the verb's
signature, so that the interface and its description always match the verb.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias, get_type_hints

import msgspec

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.rest.shapes import Kind, mirror
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.remote import JsonObject, Verb
from tooltray.foundation.snapshots.http import Scope
from tooltray.foundation.tasks import Spawn

MAX_BODY_BYTES = 1024 * 1024  # a set-up with hundreds of servers has less
REVISION = "revision"  # the argument that is taken from `If-Match`

Arguments: TypeAlias = dict[str, Any]  # of whichever types the verb's have


class Call(msgspec.Struct):
    """One request, ready to run.

    Attributes:
        arguments: the verb's arguments, converted to their types.
        changing_entries: a lock for changes of an entry and its secrets, so that concurrent callers do not get each other's secrets.
        headers: headers of the response, to which `run` may add.
    """

    presenter: McpPresenter
    config: McpConfHelper
    spawn: Spawn
    operation: "Operation"
    arguments: Arguments
    changing_entries: asyncio.Lock
    headers: dict[str, str] = msgspec.field(default_factory=dict)

    def show_revision(self, revision: str) -> None:
        """Sends a revision as `ETag`, which the caller may send back as `If-Match`."""
        self.headers["ETag"] = f'"{revision}"'

    async def verb(self) -> Any:
        """Calls the operation's verb."""
        return await self.presenter.verbs[self.operation.verb.__name__](**self.arguments)


Run = Callable[[Call], Awaitable[Any]]
Guarded = Callable[[Call], Awaitable[bool]]


async def always(call: Call) -> bool:
    return True


async def never(call: Call) -> bool:
    return False


@cache  # operations with the same result have the same type: schemas are named for it
def _wrapped(member: str, kind: Kind) -> Kind:
    return msgspec.defstruct(f"{member.title()}Result", [(member, kind)], rename="camel")


class Operation(msgspec.Struct, frozen=True, dict=True):
    """
    Attributes:
        path: path below `/api`, with `{names}` for arguments; `{server}` is the verb's argument `name` where it has no `server`.
        verb: method of a part of the API; its arguments that are not in the path come from the query (GET, DELETE) or the body.
        summary: what it does, in a few words; if empty, the first paragraph of the verb's docstring.
        status: status of a success; 204 has no body.
        whole: the argument that is the whole body; all others then come from the query.
        wrap: name of the member in which the result is wrapped; empty to return it directly.
        run: runs the operation, if that is more than calling the verb.
        asks: the signature to use, if `run` takes or returns something else than the verb; also its docstring, if it has one. A Struct,
            if what `run` takes is more than a signature should have: then it returns what the verb does.
        needs_trust: returns whether a call needs a person's confirmation, besides what the verb itself requires.
        scope: the token's required scope; empty for "read" (GET) or "manage" (others).
        page_key: returns the key of a list's member; if set, the operation has `limit` and `cursor`.
        max_body_bytes: size limit of the body.
        also: other verbs that this operation covers.
        body_schema: schema of the body with `$defs`, if its type is not precise enough.
    """

    method: str
    path: str
    verb: Verb
    summary: str = ""
    status: int = 200
    whole: str = ""
    wrap: str = ""
    run: Run = Call.verb
    asks: Callable[..., object] | None = None
    needs_trust: Guarded = never
    scope: Scope | Literal[""] = ""
    page_key: Callable[[Any], str] | None = None
    max_body_bytes: int = MAX_BODY_BYTES
    also: tuple[Verb, ...] = ()
    body_schema: JsonObject | None = None

    @property
    def needed_scope(self) -> Scope:
        return self.scope or ("read" if self.method == "GET" else "manage")

    @property
    def is_paced(self) -> bool:
        """Whether servers may have to work for it, so that of many at once some wait."""
        return (self.method, self.scope) == ("POST", "call")

    @property
    def id(self) -> str:
        """Unique among all operations."""
        return "-".join((self.method.lower(), *(segment.strip("{}") for segment in self.segments[1:])))

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.strip("/").split("/"))

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        """The names of the arguments in the path, in order."""
        names = (segment[1:-1] for segment in self.segments if segment.startswith("{"))
        return tuple("name" if name == "server" and name not in self._parameters else name for name in names)

    @cached_property
    def query(self) -> type[msgspec.Struct]:
        return self._struct("Query", self._others if self._has_others_in_query else [])

    @cached_property
    def body(self) -> Kind:
        """The type of the body; None where there is none."""
        if self.whole:
            return mirror(self._hints[self.whole], is_given=True)
        return self._struct("Body", self._others) if self._others and not self._has_others_in_query else None

    @cached_property
    def needs_body(self) -> bool:
        """Whether the body is required."""
        return bool(self.whole) or (self.body is not None and any(each.required for each in msgspec.structs.fields(self.body)))

    @cached_property
    def words(self) -> tuple[str, str]:
        """Summary and description, from the table or from the docstring."""
        text = (inspect.getdoc(self.asks) if self.asks else None) or inspect.getdoc(self.verb) or ""
        paragraphs = [" ".join(each.split()) for each in text.split("\n\n") if not each.startswith(("Args:", "Returns:", "Raises:"))]
        return self.summary or next(iter(paragraphs), "") or self.verb.__name__.replace("_", " ").capitalize(), "\n\n".join(paragraphs)

    @cached_property
    def takes_revision(self) -> bool:
        return REVISION in self._parameters

    @cached_property
    def result(self) -> Kind:
        """The type of the result in JSON; None if there is none."""
        if self.status == 204:
            return None
        found = mirror(self._hints.get("return"))
        return _wrapped(self.wrap, found) if self.wrap else found

    def arguments(self, path: Mapping[str, str], query: msgspec.Struct, body: object, revision: str) -> Arguments:
        """Builds the verb's arguments from the converted parts of a request."""
        given: Arguments = {**path}
        for part in (query, None if self.whole else body):
            if isinstance(part, msgspec.Struct):
                given |= {name: value for name, value in msgspec.structs.asdict(part).items() if value is not msgspec.UNSET}
        if self.whole:
            given[self.whole] = body
        if self.takes_revision:
            given[REVISION] = revision
        return {name: msgspec.convert(value, self._hints[name], from_attributes=True) for name, value in given.items()}

    @cached_property
    def _signature(self) -> Callable[..., object]:
        return self.asks or self.verb

    @cached_property
    def _hints(self) -> dict[str, Kind]:
        return {"return": get_type_hints(self.verb)["return"], **get_type_hints(self._signature)}

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return {name: each for name, each in inspect.signature(self._signature).parameters.items() if name != "self"}

    @property
    def _others(self) -> list[str]:
        """The arguments that are neither in the path nor the whole body nor the revision."""
        elsewhere = {*self.path_names, self.whole, REVISION}
        return [name for name in self._parameters if name not in elsewhere]

    @property
    def _has_others_in_query(self) -> bool:
        return self.method in ("GET", "DELETE") or bool(self.whole)

    def _struct(self, name: str, members: list[str]) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for member in members:
            kind, default = mirror(self._hints[member], is_given=True), self._parameters[member].default
            optional = default is not inspect.Parameter.empty
            fields.append((member, kind | msgspec.UnsetType, msgspec.UNSET) if optional else (member, kind))
        return msgspec.defstruct(f"{name}.{self.id}", fields, rename="camel", forbid_unknown_fields=True, kw_only=True)
