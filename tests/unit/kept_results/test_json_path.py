"""kept_results/json_path.py: the values that a path leads to, as they were written."""

import pytest
from msgspec import Raw

from tooltray.errors import TooltrayError
from tooltray.kept_results.json_path import MOST_STEPS, chosen, read_path

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
def test_paths(path: str, values: list[bytes]) -> None:
    assert [bytes(value) for value in chosen(TEXT, read_path(path))] == values


@pytest.mark.parametrize("path", ["", "items", "$items", "$.", "$[", "$[x]", "$..name", "$.a b", "$" + ".a" * (MOST_STEPS + 1)])
def test_what_is_no_path_is_refused_in_words(path: str) -> None:
    with pytest.raises(TooltrayError, match="path"):
        read_path(path)
