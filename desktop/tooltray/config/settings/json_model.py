"""The base of all models of JSON in the settings: camel case in JSON, `null` means "not given", and unknown members stay."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel


def without_null(value: object) -> object:
    """Returns an object without its members that are `null`; anything else unchanged."""
    return {key: member for key, member in value.items() if member is not None} if isinstance(value, Mapping) else value


class JsonModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: object) -> object:
        return without_null(data)
