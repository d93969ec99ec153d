"""The JSON schema of a model of the settings."""

import inspect
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from tooltray.config.settings.json_kinds import Between, Sized
from tooltray.config.settings.json_model import Field, JsonModel, as_json

Schema = dict[str, Any]
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}
_SIZES = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems"), "object": ("minProperties", "maxProperties")}


def schema_of(model: type[JsonModel], parts: str = "#/$defs/") -> Schema:
    """Returns the schema of a model. `parts`: where the schemas of models in it are, for references to them."""
    schemas = _Schemas(parts)
    own = schemas.of_model(model)
    inner = {name: schemas.models[name] for name in sorted(schemas.models)}
    return {"$defs": inner} | own if inner else own


class _Schemas:
    """Schemas that refer to each other.

    Attributes:
        models: the schemas of the models in others, by their names.
    """

    def __init__(self, parts: str) -> None:
        self._parts = parts
        self.models: dict[str, Schema] = {}

    def of_model(self, model: type[JsonModel]) -> Schema:
        fields = model.model_fields.values()
        return _sorted(
            additionalProperties=model.keeps_unknown,
            description=inspect.getdoc(model) or "",
            properties={field.alias: self._field(field) for field in fields},
            required=[field.alias for field in fields if field.is_required],
            title=model.__name__,
            type="object",
        )

    def _field(self, field: Field) -> Schema:
        schema = self._kind(field.annotation)
        is_of_model = any("$ref" in each for each in (schema, *schema.get("anyOf", ())))
        title = {} if is_of_model else {"title": field.alias.capitalize()}
        has_default = not field.is_required and field.default != {}
        return _sorted(**schema, **title, **({"default": as_json(field.default, by_alias=True)} if has_default else {}))

    def _kind(self, kind: Any) -> Schema:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            schema = self._kind(inner[0])
            for mark in inner[1:]:
                schema |= _bounds(schema, mark)
            return _sorted(**schema)
        if origin is Literal:
            return {"enum": list(inner), "type": _PLAIN[type(inner[0])]}
        if origin is tuple:
            return {"items": self._kind(inner[0]), "type": "array"}
        if origin is Mapping:
            return {"additionalProperties": self._kind(inner[1]), "type": "object"}
        if origin in (Union, UnionType):
            choices = [self._kind(each) for each in inner]
            return {"anyOf": [choice for each in choices for choice in each.get("anyOf", [each])]}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if kind.__name__ not in self.models:
            self.models[kind.__name__] = self.of_model(kind)
        return {"$ref": self._parts + kind.__name__}


def _bounds(schema: Schema, mark: object) -> Schema:
    match mark:
        case Between(above, least, most):
            bounds = {"exclusiveMinimum": above, "minimum": least, "maximum": most}
        case Sized(least, most):
            bounds = dict(zip(_SIZES[schema["type"]], (least or None, most), strict=True))
        case _:
            bounds = {}
    return {key: bound for key, bound in bounds.items() if bound is not None}


def _sorted(**schema: Any) -> Schema:
    return {key: schema[key] for key in sorted(schema) if schema[key] != [] or key == "default"}
