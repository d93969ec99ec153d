"""One operation of the REST interface: its path, its verb, and the mapping of a request to the verb's arguments.

Above it: the tables of operations, routing, the OpenAPI document. Below it: shapes. The types of arguments and result come from the verb's
signature, so that the interface and its description always match the verb.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, Literal, get_type_hints

import msgspec

from tooltray.api import Verb
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.rest.shapes import built, mirror
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.http import Scope
from tooltray.tasks import Spawn

MAX_BODY_BYTES = 1024 * 1024  # a set-up with hundreds of servers has less
REVISION = "revision"  # the argument that is taken from `If-Match`


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
    arguments: dict[str, Any]
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


class Operation(msgspec.Struct, frozen=True, dict=True):
    """
    Attributes:
        path: path below `/api`, with `{names}` for arguments.
        verb: method of a part of the API; its arguments that are not in the path come from the query (GET, DELETE) or the body.
        summary: what it does, in a few words; if empty, the first paragraph of the verb's docstring.
        status: status of a success; 204 has no body.
        takes: maps a name in the path to the verb's argument, if they differ.
        fixed: arguments with fixed values, which callers cannot give.
        in_query: arguments that come from the query even though there is a body.
        whole: the argument that is the whole body.
        wrap: name of the member in which the result is wrapped; empty to return it directly.
        run: runs the operation, if that is more than calling the verb.
        asks: the signature to use, if `run` takes other arguments than the verb.
        gives: type of the result, if it differs from the verb's.
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
    takes: Mapping[str, str] = msgspec.field(default_factory=dict)
    fixed: Mapping[str, Any] = msgspec.field(default_factory=dict)
    in_query: tuple[str, ...] = ()
    whole: str = ""
    wrap: str = ""
    run: Run = Call.verb
    asks: Callable[..., Any] | None = None
    gives: Any = inspect.Parameter.empty
    needs_trust: Guarded = never
    scope: Scope | Literal[""] = ""
    page_key: Callable[[Any], str] | None = None
    max_body_bytes: int = MAX_BODY_BYTES
    also: tuple[Verb, ...] = ()
    body_schema: Mapping[str, Any] | None = None

    @property
    def needed_scope(self) -> Scope:
        return self.scope or ("read" if self.method == "GET" else "manage")

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
        return tuple(self.takes.get(name, name) for name in names)

    @cached_property
    def query(self) -> type[msgspec.Struct]:
        return self._struct("Query", self._split()[0])

    @cached_property
    def body(self) -> Any:
        """The type of the body; None where there is none."""
        if self.whole:
            return mirror(self._hints[self.whole], is_given=True)
        members = self._split()[1]
        return self._struct("Body", members) if members else None

    @cached_property
    def needs_body(self) -> bool:
        """Whether the body is required."""
        if self.whole or self.body is None:
            return bool(self.whole)
        return any(each.required for each in msgspec.structs.fields(self.body))

    @cached_property
    def words(self) -> tuple[str, str]:
        """Summary and description, from the table or from the verb's docstring."""
        text = inspect.getdoc(self._signature) or ""
        paragraphs = [each for each in text.split("\n\n") if not each.startswith(("Args:", "Returns:", "Raises:"))]
        first = " ".join((paragraphs or [""])[0].split())
        return self.summary or first or self.verb.__name__.replace("_", " ").capitalize(), "\n\n".join(
            " ".join(each.split()) for each in paragraphs
        )

    @cached_property
    def takes_revision(self) -> bool:
        return REVISION in self._parameters

    @cached_property
    def result(self) -> Any:
        """The type of the result in JSON; None if there is none."""
        if self.status == 204:
            return None
        kind = self._hints.get("return") if self.gives is inspect.Parameter.empty else self.gives
        found = mirror(kind)
        return msgspec.defstruct(f"{self.wrap.title()}Result", [(self.wrap, found)], rename="camel") if self.wrap else found

    def arguments(self, path: Mapping[str, str], query: msgspec.Struct, body: Any, revision: str) -> dict[str, Any]:
        """Builds the verb's arguments from the converted parts of a request."""
        given: dict[str, Any] = {**self.fixed, **path}
        for part in (query, body):
            if isinstance(part, msgspec.Struct) and not (part is body and self.whole):
                given |= {name: getattr(part, name) for name in part.__struct_fields__ if getattr(part, name) is not msgspec.UNSET}
        if self.whole:
            given[self.whole] = body
        if self.takes_revision:
            given[REVISION] = revision
        return {name: built(self._hints[name], value) for name, value in given.items()}

    @cached_property
    def _signature(self) -> Callable[..., Any]:
        return self.asks or self.verb

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self._signature)

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return {name: each for name, each in inspect.signature(self._signature).parameters.items() if name != "self"}

    def _split(self) -> tuple[list[str], list[str]]:
        """Returns the names of the query's arguments and of the body's."""
        elsewhere = {*self.path_names, *self.fixed, self.whole, REVISION}
        names = [name for name in self._parameters if name not in elsewhere]
        if self.method in ("GET", "DELETE"):
            return names, []
        return [name for name in names if name in self.in_query], [name for name in names if name not in self.in_query]

    def _struct(self, name: str, members: list[str]) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for member in members:
            kind, default = mirror(self._hints[member], is_given=True), self._parameters[member].default
            optional = default is not inspect.Parameter.empty
            fields.append((member, kind | msgspec.UnsetType, msgspec.UNSET) if optional else (member, kind))
        return msgspec.defstruct(f"{name}.{self.id}", fields, rename="camel", forbid_unknown_fields=True, kw_only=True)
