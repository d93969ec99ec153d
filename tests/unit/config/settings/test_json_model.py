"""json_model.py"""

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, field_validator

from tooltray.config.settings.json_model import MOST_REASONS, JsonModel, in_words, joined, of_place
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


class Shelf(JsonModel):
    width: Annotated[int, Field(ge=5)]
    label: str
    place: Annotated[str, Field(pattern="^[A-Z]$")]
    wood: Literal["oak", "ash", "elm"] = "oak"
    note: str = ""

    @field_validator("note")
    @classmethod
    def _is_short(cls, note: str) -> str:
        if len(note) > 3:
            raise ValueError(Phrase("is too wordy"))
        return note


def test_a_wrong_value_is_described_by_its_bound_by_its_kind_or_in_pydantics_words() -> None:
    with pytest.raises(ValidationError) as caught:
        Shelf.model_validate({"width": 4, "label": None, "place": "a", "wood": 3, "note": "much"})
    reasons = (
        "width: must be 5 or more; label: is missing; place: String should match pattern '^[A-Z]$'; "
        "wood: must be one of 'oak', 'ash', 'elm'; note: is too wordy"
    )
    assert in_words(caught.value) == reasons
    with pytest.raises(ValidationError) as caught:
        Shelf.model_validate([])
    assert in_words(caught.value) == "must be an object"
