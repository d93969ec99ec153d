"""json_path.py: the values that a path leads to, as they were written."""

import pytest
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.kept_results import json_path
from tooltray.gateway.kept_results.json_path import MOST_STEPS, chosen, read_path

TEXT = Raw(b'{"items": [{"name": "a", "n": 1.10}, {"name": "b"}], "odd.name": {"x": 1180591620717411303424}, "": []}')


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [bytes(TEXT)]),
        ("$.items[0].n", [b"1.10"]),
        ("$.items[-1].name", [b'"b"']),
        ("$.items[*].name", [b'"a"', b'"b"']),
        ("$['odd.name'].*", [b"1180591620717411303424"]),
        ("$['']", [b"[]"]),
        ("$.items[2]", []),
        ("$.items.name", []),
        ("$.none", []),
        ("$.items[0].name[0]", []),
        ("$[0]", []),
    ],
)
@pytest.mark.parametrize("at_once", [0, json_path.OPENED_AT_ONCE_BYTES])
def test_paths(monkeypatch: pytest.MonkeyPatch, path: str, values: list[bytes], at_once: int) -> None:
    monkeypatch.setattr(json_path, "OPENED_AT_ONCE_BYTES", at_once)
    assert [bytes(value) for value in chosen(TEXT, read_path(path))] == values


@pytest.mark.parametrize("path", ["", "items", "$items", "$.", "$[", "$[x]", "$..name", "$.a b", "$" + ".a" * (MOST_STEPS + 1)])
def test_what_is_no_path_is_refused_in_words(path: str) -> None:
    with pytest.raises(TooltrayError, match="path"):
        read_path(path)


@pytest.mark.parametrize(("text", "path"), [(b"[1,2,3]", "$[-3]"), (b'{"a":1,"b":2,"c":3}', "$.*")])
def test_of_too_many_values_none_is_kept(monkeypatch: pytest.MonkeyPatch, text: bytes, path: str) -> None:
    monkeypatch.setattr(json_path, "OPENED_AT_ONCE_BYTES", 0)
    monkeypatch.setattr(json_path, "MOST_VALUES", 2)
    with pytest.raises(TooltrayError, match="more than 2 values"):
        list(chosen(Raw(text), read_path(path)))


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        (b"[1,2,3]", "$[2]", [b"3"]),
        (b"[1,2,3]", "$[3]", []),
        (b"[1,2,3]", "$[-1]", [b"3"]),
        (b"[1]", "$[-2]", []),
        (b'{"a":1,"b":2,"c":3}', "$.c", [b"3"]),
        (b'{"a":1,"b":2,"c":3}', "$.d", []),
    ],
)
def test_one_of_any_number_of_values_is_chosen(monkeypatch: pytest.MonkeyPatch, text: bytes, path: str, found: list[bytes]) -> None:
    monkeypatch.setattr(json_path, "OPENED_AT_ONCE_BYTES", 0)
    monkeypatch.setattr(json_path, "MOST_VALUES", 2)
    assert [bytes(value) for value in chosen(Raw(text), read_path(path))] == found
