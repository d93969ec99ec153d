"""yaml_reading.py: YAML without surprises."""

import pytest

from tooltray.config.foreign_configs.document_lines import MAX_DEPTH
from tooltray.config.foreign_configs.yaml_reading import read_yaml
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.yaml_edit import MOST_OPEN_BRACKETS


def test_scalars_are_what_they_look_like_and_quoted_ones_are_texts() -> None:
    text = "a: [~, true, false, no, 0x10, 1_000, 1.5, .inf, 0o17, '1', 2026-01-02, !!python/object:os.system x]"
    value, _ = read_yaml(text)
    assert value == {"a": [None, True, False, "no", 16, 1000, 1.5, ".inf", 15, "1", "2026-01-02", "x"]}


@pytest.mark.parametrize(("text", "at"), [("a: 1\nb: [x\n", 11), ("a: \0", None), ("a: 1\n---\nb: 2\n", 5)])
def test_what_is_no_yaml_is_refused_with_its_place_where_that_is_known(text: str, at: int | None) -> None:
    with pytest.raises(CannotRead, match="this is not YAML") as refused:
        read_yaml(text)
    assert refused.value.at == at


def test_an_alias_is_its_value() -> None:
    value, _ = read_yaml("a: &x {b: 1}\nc: *x\n? [odd, key]\n: 1\n")
    assert value == {"a": {"b": 1}, "c": {"b": 1}, "": 1}


@pytest.mark.parametrize("text", ["# nothing", "---\n"])
def test_a_document_without_anything_is_none(text: str) -> None:
    assert read_yaml(text)[0] is None


def test_aliases_with_too_many_values_are_refused_at_once() -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    with pytest.raises(CannotRead, match="more than"):
        read_yaml(f"a0: &a0 [x]\n{levels}\n")


def test_brackets_that_are_nested_too_deeply_are_refused_before_anything_is_built() -> None:
    with pytest.raises(CannotRead, match="nested"):
        read_yaml("[" * (MOST_OPEN_BRACKETS + 1))


def test_what_contains_itself_is_refused() -> None:
    with pytest.raises(CannotRead, match="more than"):
        read_yaml("a: &a [*a]")


def test_positions_are_those_of_keys_and_items() -> None:
    text = "a:\n  - b: 1\n    b: 2\n  - c\n"
    _, positions = read_yaml(text)
    assert positions.at[()] == 0
    assert {place: text.count("\n", 0, at) + 1 for place, at in positions.at.items()} == {
        (): 1,
        ("a",): 1,
        ("a", 0): 2,
        ("a", 0, "b"): 3,
        ("a", 1): 4,
    }
    assert [place for place, _ in positions.repeated] == [("a", 0, "b")]


def test_what_is_too_deep_has_no_position() -> None:
    _, positions = read_yaml("{a: " * 10 + "1" + "}" * 10)
    assert max(map(len, positions.at)) == MAX_DEPTH
