"""The definitions that every AI client can read, as types.

The official SDKs check a list as a whole: one wrongly typed member in one definition costs such a client the lists of all servers. These
are the shapes that the SDKs check (the zod schemas of the TypeScript SDK 1.x and 2.x, the models of the Python SDK), the stricter one where
they differ. msgspec decodes a definition into them, so a good one costs one pass and no Python for its members.
"""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

MOST_LEVELS = 180  # of a definition; the Python SDK reads no message of 200 levels or more
_YEAR_WITH_LEAP_DAY = "(?:[0-9]{2}(?:[2468][048]|[13579][26]|0[48])|(?:[02468][048]|[13579][26])00)"
_DAY_OF_YEAR = "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
DATE = f"(?:{_YEAR_WITH_LEAP_DAY}-02-29|[0-9]{{4}}-{_DAY_OF_YEAR})"
_HOUR_AND_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
DATE_AND_TIME = rf"^{DATE}T{_HOUR_AND_MINUTE}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{_HOUR_AND_MINUTE})\Z"
MOST_BYTES = 10**300  # of a resource; clients in JavaScript cannot hold larger numbers

JsonType = Literal["array", "boolean", "integer", "null", "number", "object", "string"]
Text = str | UnsetType
Priority = Annotated[float, Meta(ge=0, le=1)]
DateAndTime = Annotated[str, Meta(pattern=DATE_AND_TIME)]
Theme = Literal["light", "dark"]
Role = Literal["user", "assistant"]
TaskSupport = Literal["required", "optional", "forbidden"]
Never = Literal["\0"]


class AnyObject(Struct):
    """Any JSON object."""


class Icon(Struct):
    """An icon of a tool, prompt, template or resource."""

    src: str
    mime_type: Text = field(name="mimeType", default=UNSET)
    sizes: list[str] | UnsetType = UNSET
    theme: Theme | UnsetType = UNSET


class Annotations(Struct):
    """The annotations of a resource or a template."""

    audience: list[Role] | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    last_modified: DateAndTime | UnsetType = field(name="lastModified", default=UNSET)


class Execution(Struct):
    """The `execution` of a tool, 2025-11-25."""

    task_support: TaskSupport | UnsetType = field(name="taskSupport", default=UNSET)


class RootSchema(Struct):
    """The root of a tool's schema, with the members that all clients check."""

    type: Literal["object"]
    schema: Text = field(name="$schema", default=UNSET)
    properties: dict[str, AnyObject] | UnsetType = UNSET
    required: list[str] | UnsetType = UNSET


class Node(Struct, kw_only=True):
    """A schema at any depth of an `outputSchema`. Clients compile it when they list tools, and lose the list if it cannot be compiled.

    The types are the ones that ajv 8 requires of its keywords (draft-07, not strict), with which the TypeScript SDK compiles. `id` is a
    keyword of draft-04, which ajv refuses.
    """

    type: "JsonType | list[JsonType] | UnsetType" = UNSET
    schema: Text = field(name="$schema", default=UNSET)
    id_: Text = field(name="$id", default=UNSET)
    draft_04_id: Never | UnsetType = field(name="id", default=UNSET)
    ref: Text = field(name="$ref", default=UNSET)
    defs: "dict[str, Node | bool] | UnsetType" = field(name="$defs", default=UNSET)
    definitions: "dict[str, Node | bool] | UnsetType" = UNSET
    properties: "dict[str, Node | bool] | UnsetType" = UNSET
    pattern_properties: "dict[str, Node | bool] | UnsetType" = field(name="patternProperties", default=UNSET)
    additional_properties: "Node | bool | UnsetType" = field(name="additionalProperties", default=UNSET)
    property_names: "Node | bool | UnsetType" = field(name="propertyNames", default=UNSET)
    dependencies: "dict[str, Node | bool | list[str]] | UnsetType" = UNSET
    items: "Node | bool | list[Node | bool] | UnsetType" = UNSET
    additional_items: "Node | bool | UnsetType" = field(name="additionalItems", default=UNSET)
    contains: "Node | bool | UnsetType" = UNSET
    any_of: "list[Node | bool] | UnsetType" = field(name="anyOf", default=UNSET)
    one_of: "list[Node | bool] | UnsetType" = field(name="oneOf", default=UNSET)
    all_of: "list[Node | bool] | UnsetType" = field(name="allOf", default=UNSET)
    not_: "Node | bool | UnsetType" = field(name="not", default=UNSET)
    if_: "Node | bool | UnsetType" = field(name="if", default=UNSET)
    then: "Node | bool | UnsetType" = UNSET
    else_: "Node | bool | UnsetType" = field(name="else", default=UNSET)
    enum: Annotated[list[Any], Meta(min_length=1)] | UnsetType = UNSET
    required: list[str] | UnsetType = UNSET
    nullable: bool | UnsetType = UNSET
    format: Text = UNSET
    pattern: Text = UNSET
    minimum: float | UnsetType = UNSET
    maximum: float | UnsetType = UNSET
    exclusive_minimum: float | UnsetType = field(name="exclusiveMinimum", default=UNSET)
    exclusive_maximum: float | UnsetType = field(name="exclusiveMaximum", default=UNSET)
    multiple_of: float | UnsetType = field(name="multipleOf", default=UNSET)
    min_length: float | UnsetType = field(name="minLength", default=UNSET)
    max_length: float | UnsetType = field(name="maxLength", default=UNSET)
    min_items: float | UnsetType = field(name="minItems", default=UNSET)
    max_items: float | UnsetType = field(name="maxItems", default=UNSET)
    min_properties: float | UnsetType = field(name="minProperties", default=UNSET)
    max_properties: float | UnsetType = field(name="maxProperties", default=UNSET)
    unique_items: bool | UnsetType = field(name="uniqueItems", default=UNSET)


class OutputSchema(Node, kw_only=True):
    """An `outputSchema` that clients of both eras can read: its root is an object, and no property's schema is a boolean."""

    type: Literal["object"] = field()
    properties: dict[str, Node] | UnsetType = UNSET  # type: ignore[assignment]


class Named(Struct, kw_only=True):
    """The members that all definitions have."""

    name: str
    title: Text = UNSET
    description: Text = UNSET
    icons: list[Icon] | UnsetType = UNSET
    meta: AnyObject | UnsetType = field(name="_meta", default=UNSET)


class Tool(Named, kw_only=True):
    """A tool."""

    input_schema: RootSchema = field(name="inputSchema")
    output_schema: OutputSchema | UnsetType = field(name="outputSchema", default=UNSET)
    annotations: Raw | UnsetType = UNSET
    execution: Execution | UnsetType = UNSET


class Argument(Struct):
    """An argument of a prompt."""

    name: str
    title: Text = UNSET
    description: Text = UNSET
    required: bool | UnsetType = UNSET


class Prompt(Named, kw_only=True):
    """A prompt."""

    arguments: list[Argument] | UnsetType = UNSET


class Template(Named, kw_only=True):
    """A resource template."""

    uri_template: str = field(name="uriTemplate")
    mime_type: Text = field(name="mimeType", default=UNSET)
    annotations: Annotations | UnsetType = UNSET


class Resource(Named, kw_only=True):
    """A resource."""

    uri: str = field()
    mime_type: Text = field(name="mimeType", default=UNSET)
    annotations: Annotations | UnsetType = UNSET
    size: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.size is not UNSET and not is_size(self.size):
            raise ValueError("size is out of range")


def is_size(value: int) -> bool:
    """Returns whether every client can hold the size of a resource."""
    return abs(value) <= MOST_BYTES


Shape = TypeVar("Shape")


def decoded(decoder: msgspec.json.Decoder[Shape], raw: bytes) -> Shape | None:
    """Returns a value of the decoder's shape; None if the text has another shape."""
    try:
        return decoder.decode(raw)
    except (ValueError, RecursionError):
        return None
