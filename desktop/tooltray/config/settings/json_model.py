"""The base of all models of JSON in the settings, and descriptions of wrong values in words.

JSON is in camel case, `null` means "not given", and unknown members stay.
"""

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, dataclass_transform, get_args, get_origin

from tooltray.config.settings.json_kinds import HIDDEN, MUST_BE_OBJECT, Path, Reader, ValidationError, places_of, places_under, reader_of
from tooltray.foundation.phrases import Phrase

CORRECT_IT = Phrase("Correct it in settings.json")
MOST_REASONS = 8  # of one part; the next ones are shown once these are corrected


def to_camel(name: str) -> str:
    """Returns a name of Python as JSON spells it."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def without_null(value: object) -> object:
    """Returns an object without its members that are `null`; anything else unchanged."""
    return {key: member for key, member in value.items() if member is not None} if isinstance(value, Mapping) else value


class Field(NamedTuple):
    """A field of a model.

    Attributes:
        alias: its key in JSON; its name is accepted, too.
        annotation: its type, with the marks of json_kinds.
        is_required: whether JSON must have it.
        default: its value otherwise.
    """

    alias: str
    annotation: Any
    is_required: bool
    default: Any = None

    @property
    def kind(self) -> Any:
        """Returns the type without the marks of the field itself."""
        return get_args(self.annotation)[0] if get_origin(self.annotation) is Annotated else self.annotation

    @property
    def is_hidden(self) -> bool:
        return HIDDEN in getattr(self.annotation, "__metadata__", ())


@dataclass_transform(kw_only_default=True, frozen_default=True)
class JsonModel:
    """An object of JSON with checked members. Its attributes are the given ones; the defaults are attributes of its class.

    Attributes:
        model_fields: the fields by their names.
        keeps_unknown: whether unknown members stay; otherwise they are refused.
        model_extra: unknown members, as they were given.
    """

    model_fields: ClassVar[Mapping[str, Field]] = {}
    keeps_unknown: ClassVar[bool] = True
    model_extra: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: kind for name, kind in cls.__annotations__.items() if not name.startswith("_")}
        made = {name: Field(to_camel(name), kind, name not in vars(cls), vars(cls).get(name)) for name, kind in own.items()}
        cls.model_fields = {**cls.model_fields, **made}

    def __init__(self, **given: object) -> None:
        vars(self).update(vars(self.model_validate(given)))

    @classmethod
    def model_validate(cls, data: object) -> Self:
        """Reads and checks an object of JSON; a model of this class stays as it is.

        Raises:
            ValidationError: a part cannot be used.
        """
        try:
            return data if isinstance(data, cls) else cls._read(data)
        except ValueError as error:
            raise ValidationError(*places_of(error)) from None

    @classmethod
    def _read(cls, data: object) -> Self:
        rest = without_null(cls._prepared(data))
        if not isinstance(rest, dict):
            raise ValueError(MUST_BE_OBJECT)
        made, wrong = cls.__new__(cls), []
        for name, (alias, read) in _readers(cls).items():  # type: ignore[arg-type]  # a class is hashable
            key = alias if alias in rest else name
            if key in rest:
                try:
                    vars(made)[name] = read(rest.pop(key))
                except ValueError as error:
                    wrong += places_under(key, error)
            elif cls.model_fields[name].is_required:
                wrong.append(((alias,), Phrase("is missing")))
        if rest and not cls.keeps_unknown:
            wrong += [((key,), Phrase("is not known here")) for key in rest]
        elif rest:
            vars(made)["model_extra"] = rest
        if wrong:
            raise ValidationError(*wrong)
        made._check()
        return made

    @classmethod
    def _prepared(cls, data: object) -> object:
        """Returns a value that is given in another form as the object that it means."""
        return data

    def _check(self) -> None:
        """Raises ValueError if the fields contradict each other."""

    @property
    def model_fields_set(self) -> Collection[str]:
        """Returns the names of the fields that were given."""
        return vars(self).keys() & self.model_fields.keys()

    def model_copy(self, update: Mapping[str, object]) -> Self:
        """Returns a copy with other values of some fields, which are not checked."""
        made = self.__class__.__new__(self.__class__)
        vars(made).update(vars(self), **update)
        return made

    def model_dump(
        self,
        *,
        by_alias: bool = False,
        exclude: Collection[str] = (),
        exclude_unset: bool = False,
        exclude_none: bool = False,
        exclude_defaults: bool = False,
    ) -> dict[str, object]:
        """Returns the JSON of the model.

        Args:
            by_alias: with the keys of JSON, otherwise with the names of the fields.
            exclude: fields and unknown members to leave out.
            exclude_unset, exclude_none, exclude_defaults: whether to leave out fields that were not given, that are None, or that have
                their default, also of models in it.
        """
        how = {"by_alias": by_alias, "exclude_unset": exclude_unset, "exclude_none": exclude_none, "exclude_defaults": exclude_defaults}
        made = {}
        for name, field in self.model_fields.items():
            value = getattr(self, name)
            is_left_out = (exclude_unset and name not in vars(self)) or (exclude_none and value is None)
            if not is_left_out and name not in exclude and not (exclude_defaults and value == field.default):
                made[field.alias if by_alias else name] = as_json(value, **how)
        return made | {key: as_json(value, **how) for key, value in self.model_extra.items() if key not in exclude}

    def _values(self) -> Iterator[object]:
        return (getattr(self, name) for name in self.model_fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonModel) or type(self) is not type(other):
            return NotImplemented
        return self.model_extra == other.model_extra and all(map(operator.eq, self._values(), other._values()))

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, field in self.model_fields.items() if not field.is_hidden)
        return f"{type(self).__name__}({', '.join([*shown, *(f'{key}={value!r}' for key, value in self.model_extra.items())])})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")


@cache
def _readers(model: type[JsonModel]) -> Mapping[str, tuple[str, Reader]]:
    """Returns the keys and readers of a model's fields, made when the first object is read."""
    return {name: (field.alias, reader_of(field.annotation)) for name, field in model.model_fields.items()}


def as_json(value: object, **how: Any) -> object:
    """Returns a value as JSON. `how`: as in `JsonModel.model_dump`, for models in it."""
    match value:
        case JsonModel():
            return value.model_dump(**how)
        case Mapping():
            return {str(key): as_json(each, **how) for key, each in value.items()}
        case list() | tuple():
            return [as_json(each, **how) for each in value]
        case Decimal():
            return str(value)
    return value


def in_words(error: ValidationError) -> str:
    """Returns why a value was refused; values are left out, since the user may have typed a key into them."""
    return joined([of_place(path, reason) for path, reason in error.places])


def joined(reasons: Sequence[str]) -> str:
    """Returns one or more reasons as a sentence."""
    text = reasons[0]
    for other in reasons[1:MOST_REASONS]:
        text = Phrase("{reason}; {other}", reason=text, other=other)
    more = len(reasons) - MOST_REASONS
    return Phrase("{reason}; and {count} more", reason=text, count=more) if more > 0 else text


def of_place(path: Path, reason: str) -> str:
    """Returns a reason with the place that it is about. `path`: empty: the whole value."""
    return Phrase("{field}: {reason}", field=printable(".".join(map(str, path))), reason=reason) if path else reason


def printable(text: str) -> str:
    """Returns a text with `?` for control characters, line ends and marks of writing direction; a Phrase without any stays one."""
    return text if text.isprintable() else "".join(character if character.isprintable() else "?" for character in text)
