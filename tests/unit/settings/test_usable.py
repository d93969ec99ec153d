"""settings/usable.py"""

from tooltray.phrases import Phrase
from tooltray.settings.server_config import ToolOverride
from tooltray.settings.settings import PublishSettings
from tooltray.settings.usable import (
    CORRECT_IT,
    MOST_REASONS,
    Slip,
    correct_it,
    joined,
    not_used,
    of_field,
    of_member,
    read_fields,
    read_members,
    read_texts,
)


def test_an_object_is_read_by_those_of_its_fields_that_can_be_used() -> None:
    publish, odd = read_fields(PublishSettings, {"naming": "always", "lazy_load": 1, "http": {"port": -1, "host": 2}})
    assert (publish.naming, publish.lazy_load, publish.http.host) == ("always", False, "127.0.0.1")
    assert odd == {"lazy_load": ["lazy_load: must be true or false"], "http": ["http.host: must be text", "http.port: must be 0 or more"]}


def test_members_that_cannot_be_used_are_told_by_name_and_null_is_none() -> None:
    told: list[tuple[str, str]] = []
    read = read_members(ToolOverride, {"a": {"name": "x"}, "b": 1, "c": None}, lambda name, why: told.append((name, why)))
    assert read == {"a": ToolOverride(name="x")}
    assert told == [("b", "b: must be an object")]


def test_the_hint_says_what_counts_until_it_is_corrected() -> None:
    assert correct_it("it is off") == f"{CORRECT_IT}; until then it is off"
    assert correct_it("") == CORRECT_IT


def test_the_texts_of_a_list_are_read() -> None:
    slips: list[Slip] = []
    assert read_texts("list", None, slips) == ()
    assert read_texts("list", ["a", "b"], slips) == ("a", "b")
    assert slips == []
    assert read_texts("list", "a", slips) == ()
    assert slips == [not_used("list", "list: must be a list")]
    assert read_texts("list", ["a", None, "b"], slips) == ("a", "b")
    assert (slips[1].problem.message, slips[1].path) == ("list: 1: must be text", ("list", 1))


def test_each_reason_is_a_phrase_that_a_window_can_say_in_its_language_the_first_few_of_very_many() -> None:
    reasons = [of_field(f"a\n{number}", Phrase("must be text")) for number in range(MOST_REASONS + 2)]
    text = joined(reasons)
    assert isinstance(text, Phrase)
    assert text.startswith("a?0: must be text; a?1: must be text; ")
    assert text.endswith("a?7: must be text; and 2 more")
    assert joined(reasons[:1]) is reasons[0]


def test_what_is_wrong_in_a_part_of_a_part_is_told_by_the_way_to_it_and_several_things_by_the_part() -> None:
    reason = of_field("inner", Phrase("must be text"))
    assert of_member("outer", reason) == "outer.inner: must be text"
    assert of_member("outer", joined([reason, reason])) == "outer: inner: must be text; inner: must be text"
