"""One operation of the REST interface: its path, its verb, and how a request becomes the verb's arguments.

The types of arguments and result come from the verb's signature, so that the interface and its description always match the verb. Structs
become JSON with camelCase members. `encoded` and `mirror` follow the same rules, so that a result always matches its schema: all members
of a struct are present, in camelCase; the keys of mappings stay unchanged.
"""

import asyncio
import functools
import inspect
import json
import math
import operator
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.clients import Scope
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import JsonObject, Verb, VerbOptions, options_of

Kind: TypeAlias = Any  # a type, also a union or a generic one, for which the type system has no name
REVISION = "revision"  # the argument that is taken from `If-Match`


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def encoded(value: object) -> Any:
    """Converts a result to plain JSON values."""
    match value:
        case msgspec.Struct():
            return {camel(name): encoded(getattr(value, name)) for name in value.__struct_fields__}
        case Mapping():
            return {str(key): encoded(member) for key, member in value.items()}
        case str():
            return str(value)  # a Phrase becomes plain text
        case Enum():
            return encoded(value.value)
        case Sequence() | set() | frozenset():
            return [encoded(member) for member in value]
        case Decimal():
            return encoded(float(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_json(value: object) -> bytes:
    """Encodes plain values as a response body or an event's data.

    Raises:
        RecursionError: they are nested too deeply.
    """
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):  # a file name that is not UTF-8; a number with hundreds of digits
        return json.dumps(value).encode()


def mirror(kind: Kind, *, is_given: bool = False) -> Kind:
    """Returns a msgspec type with the same members as the JSON form of a type of ours.

    Args:
        is_given: the value comes from a caller: members with a default may be missing, and unknown members are refused. `msgspec.convert`
            with `from_attributes` makes the value of ours from it.
    """
    return _mirror(kind, is_given)


@cache  # a type has one mirror: schemas are named for it
def _mirror(kind: Kind, is_given: bool) -> Kind:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        members = [(each.name, _mirror(each.type, is_given), *(_default(each) if is_given else ())) for each in fields]
        name = f"{kind.__name__}{'Given' if is_given else ''}"
        return msgspec.defstruct(name, members, rename="camel", forbid_unknown_fields=is_given, kw_only=True)
    origin: Any = get_origin(kind)
    arguments = get_args(kind)
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, (_mirror(each, is_given) for each in arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _mirror(arguments[1], is_given)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list[_mirror(arguments[0], is_given)]  # type: ignore[misc]
    return kind


def _default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.default is not msgspec.NODEFAULT:
        return (field.default,)
    if field.default_factory is not msgspec.NODEFAULT:
        return (msgspec.field(default_factory=field.default_factory),)
    return ()


Arguments: TypeAlias = JsonObject  # with the types of the verb's parameters


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
        return await self.presenter.verbs[self.operation.name](**self.arguments)

    async def needs_trust(self) -> bool:
        """Reports whether a program needs a trusted token for this call, besides the confirmation by a person that the verb itself
        requires.
        """
        operation = self.operation
        if operation.options.trusted is None:
            return False
        part = self.presenter.verbs[operation.name].__self__  # type: ignore[attr-defined] # a bound method
        needed = operation.options.trusted(part, {**operation.defaults, **self.arguments})
        return await needed if inspect.isawaitable(needed) else needed


Run = Callable[[Call], Awaitable[Any]]


class Operation(msgspec.Struct, frozen=True, dict=True):
    """
    Attributes:
        path: path below `/api`, with `{names}` for arguments; `{server}` is the verb's argument `name`.
        verb: method of a part of the API; its arguments that are not in the path come from the query (GET, DELETE) or the body.
        summary: what it does, in a few words; if empty, the first paragraph of the verb's docstring.
        status: status of a success; 204 has no body.
        whole: the argument that is the whole body.
        run: runs the operation, if that does more than call the verb.
        asks: the signature to use, if `run` takes or returns something else than the verb; also its docstring, if it has one.
        page_key: returns the key of a list's member; if set, the operation has `limit` and `cursor`.
        body_schema: schema of the body with `$defs`, if its type is not precise enough.
    """

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    verb: Verb
    summary: str = ""
    status: int = 200
    whole: str = ""
    run: Run = Call.verb
    asks: Callable[..., object] | None = None
    page_key: Callable[[Any], str] | None = None
    body_schema: JsonObject | None = None

    @property
    def name(self) -> str:
        """The verb's name."""
        return self.verb.__name__

    @cached_property
    def options(self) -> VerbOptions:
        return options_of(self.verb)

    @property
    def needed_scope(self) -> Scope:
        """The scope that a token needs."""
        access = self.options.access
        return access if access in ("read", "call") else "manage"

    @property
    def is_paced(self) -> bool:
        """Reports whether servers may have to work for the operation, so that some of many simultaneous calls wait."""
        return self.needed_scope == "call"

    @property
    def id(self) -> str:
        """The id, which is unique among all operations."""
        parts = [segment.strip("{}") for segment in self.segments]
        return "-".join((self.method.lower(), *parts[1:]) if parts[0] == "mcp" else parts)

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
        """The type of the body; None without a body."""
        if self.whole:
            return mirror(self._hints[self.whole], is_given=True)
        return self._struct("Body", self._others) if self._others and not self._has_others_in_query else None

    @cached_property
    def needs_body(self) -> bool:
        return bool(self.whole) or (self.body is not None and any(each.required for each in msgspec.structs.fields(self.body)))

    @cached_property
    def words(self) -> tuple[str, str]:
        """Summary and description, from the table or from the docstring."""
        text = (inspect.getdoc(self.asks) if self.asks else None) or inspect.getdoc(self.verb) or ""
        paragraphs = [" ".join(each.split()) for each in text.split("\n\n") if not each.startswith(("Args:", "Returns:", "Raises:"))]
        return self.summary or next(iter(paragraphs), "") or self.name.replace("_", " ").capitalize(), "\n\n".join(paragraphs)

    @cached_property
    def takes_revision(self) -> bool:
        return REVISION in self._parameters

    @cached_property
    def result(self) -> Kind:
        """The type of the result in JSON; None without a result."""
        return None if self.status == 204 else mirror(self._hints.get("return"))

    @cached_property
    def defaults(self) -> Arguments:
        """The arguments that a request may leave out."""
        return {name: each.default for name, each in self._parameters.items() if each.default is not inspect.Parameter.empty}

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
        return self.method in ("GET", "DELETE")

    def _struct(self, name: str, members: list[str]) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for member in members:
            kind = mirror(self._hints[member], is_given=True)
            fields.append((member, kind | msgspec.UnsetType, msgspec.UNSET) if member in self.defaults else (member, kind))
        return msgspec.defstruct(f"{name}.{self.id}", fields, rename="camel", forbid_unknown_fields=True, kw_only=True)


def derived(part: str, verb: Verb, run: Run = Call.verb) -> Operation:
    """Makes the operation of a verb that has no path of its own: `/{part}/{verb}`, with GET if it reads and a query can hold its arguments.

    Args:
        part: name of the part of the API that has the verb.
        run: see Operation.
    """
    hints = get_type_hints(verb)
    result = hints.pop("return")
    is_get = options_of(verb).access == "read" and all(map(_fits_a_query, hints.values()))
    status = 204 if result is types.NoneType else 200
    return Operation("GET" if is_get else "POST", f"/{part}/{verb.__name__}", verb, status=status, run=run)


def _fits_a_query(kind: Kind) -> bool:
    """Reports whether a text determines the value of a type; for one that may be a number or a text it does not."""
    origin: object = get_origin(kind)
    if origin in (Union, types.UnionType):
        kinds = [each for each in get_args(kind) if each is not types.NoneType]
        return len(kinds) == 1 and _fits_a_query(kinds[0])
    return kind in (str, int, float, bool) or origin is Literal
