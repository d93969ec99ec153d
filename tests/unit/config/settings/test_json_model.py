"""json_model.py, json_kinds.py"""

import copy
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import pytest

from tooltray.config.settings.json_kinds import HIDDEN, After, Before, Between, Sized, ValidationError
from tooltray.config.settings.json_model import MOST_REASONS, JsonModel, in_words, joined, of_place, to_camel
from tooltray.foundation.phrases import Phrase


def test_each_reason_is_a_phrase_that_a_window_can_say_in_its_language_the_first_few_of_very_many() -> None:
    reasons = [of_place((f"a\n{number}",), Phrase("must be text")) for number in range(MOST_REASONS + 2)]
    text = joined(reasons)
    assert isinstance(text, Phrase)
    assert text.startswith("a?0: must be text; a?1: must be text; ")
    assert text.endswith("a?7: must be text; and 2 more")
    assert joined(reasons[: MOST_REASONS + 1]).endswith("; and 1 more")
    assert joined(reasons[:1]) is reasons[0]
    assert joined(reasons[:MOST_REASONS]).endswith("a?7: must be text")


def _short(note: str) -> str:
    if len(note) > 3:
        raise ValueError(Phrase("is too wordy"))
    return note.lower()


class Board(JsonModel):
    keeps_unknown = False

    length: Annotated[int, Between(least=5, most=9)] = 6
    weight: Annotated[float, Between(above=0)] | None = None


class Shelf(JsonModel):
    label_text: str
    boards: Annotated[tuple[Board, ...], Sized(least=1, most=2)] = (Board(),)
    wood: Literal["oak", "ash", "elm"] = "oak"
    note: Annotated[str, After(_short)] = ""
    key: Annotated[str, Before(str.strip), Sized(most=4), HIDDEN] = ""
    places: Mapping[str, bool] = {}
    size: int | tuple[Annotated[str, Sized(most=2)], ...] | Literal["any"] | None = None
    is_empty: bool = False

    _sold: ClassVar[bool] = False  # no field

    @classmethod
    def _prepared(cls, data: object) -> object:
        return {"labelText": data} if isinstance(data, str) else data

    def _check(self) -> None:
        if self.is_empty and self.boards != (Board(),):
            raise ValueError(Phrase("an empty shelf has one board"))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([], "must be an object"),
        ({"labelText": None}, "labelText: is missing"),
        ({"labelText": 4}, "labelText: must be text"),
        ({"labelText": None, "label_text": 4}, "label_text: must be text"),
        ({"boards": "x"}, "boards: must be a list"),
        ({"boards": []}, "boards: must not be empty"),
        ({"boards": [{}, {}, {}]}, "boards: has too many values"),
        ({"boards": [{}, 3, {"length": "x"}]}, "boards.1: must be an object; boards.2.length: must be a whole number"),
        ({"boards": [{"length": 4}, {"length": 10}]}, "boards.0.length: must be 5 or more; boards.1.length: must be 9 or less"),
        ({"boards": [{"length": True}, {"weight": True}]}, "boards.0.length: must be a whole number; boards.1.weight: must be a number"),
        ({"boards": [{"weight": 0}, {"weight": 10**400}]}, "boards.0.weight: must be more than 0; boards.1.weight: must be a number"),
        ({"boards": [{"weight": float("nan")}, {"colour": 1}]}, "boards.0.weight: must be a number; boards.1.colour: is not known here"),
        ({"wood": 3, "note": "much"}, "wood: must be one of 'oak', 'ash', 'elm'; note: is too wordy"),
        ({"key": " 12345 "}, "key: is too long"),
        ({"places": [], "isEmpty": 0}, "places: must be an object; isEmpty: must be true or false"),
        ({"places": {"a": 1, "b": True, "c": "x"}}, "places.a: must be true or false; places.c: must be true or false"),
        (
            {"size": ["abc"]},
            "size.int: must be a whole number; size.tuple[constrained-str, ...].0: is too long; size.literal['any']: must be one of 'any'",
        ),
        ({"boards": [{"length": 7}], "isEmpty": True}, "an empty shelf has one board"),
    ],
)
def test_what_is_wrong_is_described_with_its_place_and_without_its_value(wrong: Any, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Shelf.model_validate({"labelText": "x", **wrong} if isinstance(wrong, dict) else wrong)
    assert in_words(caught.value) == reason


def test_values_are_read_as_their_kinds_and_null_is_absent() -> None:
    given = {"labelText": "x", "boards": [{"weight": 2}], "wood": None, "note": "ABC", "key": " 1 ", "places": {"a": True}, "size": ["ab"]}
    shelf = Shelf.model_validate(given)
    assert (shelf.boards, shelf.wood, shelf.note, shelf.key, shelf.places, shelf.size) == (
        *((Board(weight=2.0),), "oak", "abc", "1"),
        *({"a": True}, ("ab",)),
    )
    assert [type(board.weight) for board in shelf.boards] == [float]
    assert shelf.model_fields_set == {"label_text", "boards", "note", "key", "places", "size"}
    assert [Shelf(label_text="x", size=size).size for size in (3, "any", None)] == [3, "any", None]
    assert Shelf.model_validate("y") == Shelf.model_validate({"label_text": "y"})
    assert Shelf.model_validate(shelf) is shelf


def test_json_is_as_it_was_given_or_with_defaults_and_has_the_unknown_members() -> None:
    shelf = Shelf.model_validate({"labelText": "x", "boards": [{"length": 7}], "maker": {"name": None, "price": [Decimal("1.50")]}})
    maker = {"name": None, "price": ["1.50"]}
    assert shelf.model_dump(by_alias=True, exclude_unset=True) == {"labelText": "x", "boards": [{"length": 7}], "maker": maker}
    assert shelf.model_dump(exclude_none=True, exclude_defaults=True, exclude={"label_text"}) == {"boards": [{"length": 7}], "maker": maker}
    assert shelf.model_dump(exclude=shelf.model_extra) == {
        "label_text": "x",
        "boards": [{"length": 7, "weight": None}],
        "wood": "oak",
        "note": "",
        "key": "",
        "places": {},
        "size": None,
        "is_empty": False,
    }


def test_models_are_values() -> None:
    shelf = Shelf(label_text="x", key="abc")
    assert shelf == copy.deepcopy(shelf)
    assert shelf != shelf.model_copy(update={"wood": "ash"})
    assert shelf != Shelf.model_validate({"labelText": "x", "key": "abc", "maker": 1})
    assert Board() != shelf
    assert shelf != "x"
    assert {Board(length=6)} == {Board()} != {Board(length=7)}
    with pytest.raises(AttributeError, match=r"Shelf\.wood cannot be changed"):
        shelf.wood = "ash"  # type: ignore[misc]


def test_a_hidden_field_is_not_in_the_repr() -> None:
    shown = repr(Shelf.model_validate({"labelText": "x", "key": "abc", "maker": 1}))
    assert shown == (
        "Shelf(label_text='x', boards=(Board(length=6, weight=None),), wood='oak', note='', places={}, size=None, is_empty=False, maker=1)"
    )


def test_names_become_camel_case() -> None:
    assert [to_camel(name) for name in ("a", "auto_approve", "custom_npm_registry", "maxCalls")] == [
        *("a", "autoApprove", "customNpmRegistry", "maxCalls"),
    ]
