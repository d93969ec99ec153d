"""yaml_edit.py: one member is removed or written, and every other byte stays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.member_change import member_of
from tooltray.foundation.files.yaml_edit import read_yaml, with_member, without_member

GOOSE = {"type": "stdio", "cmd": "/home/me/bridge", "args": [], "timeout": 300}
GOOSE_LINES = "  hub:\n    type: stdio\n    cmd: /home/me/bridge\n    args: []\n    timeout: 300\n"
ITEM = {"name": "hub", "command": "/home/me/my bridge", "args": ["--x"]}
ITEM_LINES = '- name: hub\n  command: "/home/me/my bridge"\n  args: ["--x"]\n'


def _indented(lines: str, by: str = "  ") -> str:
    return "".join(by + line for line in lines.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extensions:\n  a: {x: 1} # one\n# end\n", f"extensions:\n  a: {{x: 1}} # one\n{GOOSE_LINES}# end\n"),
        ("extensions:\n  a:\n    x: |\n      text\n\n\nother: 1", f"extensions:\n  a:\n    x: |\n      text\n{GOOSE_LINES}\n\nother: 1"),
        ("\ufeffextensions:\r\n  a: 1", f"\ufeffextensions:\r\n  a: 1\r\n{GOOSE_LINES}".replace("\r\n", "\n").replace("\n", "\r\n")[:-2]),
        ("extensions: {}\nb: 1\n", "extensions: {hub: {type: stdio, cmd: /home/me/bridge, args: [], timeout: 300}}\nb: 1\n"),
        (
            "extensions: {a: 1, 'b': [2]} # c\n",
            "extensions: {a: 1, 'b': [2], hub: {type: stdio, cmd: /home/me/bridge, args: [], timeout: 300}} # c\n",
        ),
        ("extensions:\n    a: &x\n        y: 1\n    b: *x # same\n", None),
    ],
)
def test_a_new_member_goes_behind_the_last_one_and_comes_out_again(text: str, expected: str | None) -> None:
    after = with_member(text, ["extensions", "hub"], GOOSE)
    assert expected is None or after == expected
    assert without_member(after, ["extensions", "hub"]) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", f"extensions:\n{GOOSE_LINES}"),
        ("a: 1\n...\n# end\n", f"a: 1\nextensions:\n{GOOSE_LINES}...\n# end\n"),
        ("# mine\n", f"# mine\nextensions:\n{GOOSE_LINES}"),
        ("# mine", f"# mine\nextensions:\n{GOOSE_LINES}"[:-1]),
        ("---\n", f"---\nextensions:\n{GOOSE_LINES}"),
        ("a: 1 # x\n# end\n", f"a: 1 # x\nextensions:\n{GOOSE_LINES}# end\n"),
        ("a:\n# end\n", f"a:\nextensions:\n{GOOSE_LINES}# end\n"),
    ],
)
def test_a_mapping_above_it_that_is_missing_is_made(text: str, expected: str) -> None:
    assert with_member(text, ["extensions", "hub"], GOOSE) == expected
    assert without_member(expected, ["extensions"]) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mcpServers:\n  - name: a\n    args:\n      - x # y\n\nmodels: []\n",
            f"mcpServers:\n  - name: a\n    args:\n      - x # y\n{_indented(ITEM_LINES)}\nmodels: []\n",
        ),
        ("mcpServers:\n- name: a\n", f"mcpServers:\n- name: a\n{ITEM_LINES}"),
        ("mcpServers:\n  -\n    name: a\n", f"mcpServers:\n  -\n    name: a\n{_indented(ITEM_LINES)}"),
        ("mcpServers: []\n", 'mcpServers: [{name: hub, command: "/home/me/my bridge", args: ["--x"]}]\n'),
        ("mcpServers: [{name: a}]\n", 'mcpServers: [{name: a}, {name: hub, command: "/home/me/my bridge", args: ["--x"]}]\n'),
    ],
)
def test_in_a_list_its_name_is_the_key(text: str, expected: str) -> None:
    assert with_member(text, ["mcpServers", "hub"], ITEM) == expected
    assert without_member(expected, ["mcpServers", "hub"]) == text


def test_a_list_that_is_missing_or_empty_is_made_with_its_first_item() -> None:
    assert with_member("a: 1\n", ["mcpServers"], [ITEM]) == f"a: 1\nmcpServers:\n{_indented(ITEM_LINES)}"
    after = with_member("mcpServers: # mine\na: 1\n", ["mcpServers"], [ITEM])
    assert after == f"mcpServers: # mine\n{_indented(ITEM_LINES)}a: 1\n"
    assert without_member(after, ["mcpServers", "hub"]) == "mcpServers: [] # mine\na: 1\n"
    assert with_member("extensions:\n", ["extensions", "hub"], {"a": 1}) == "extensions:\n  hub:\n    a: 1\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a:\n  x: 1\n# of b\nb: 2\n", ["a"], "# of b\nb: 2\n"),
        ("a:\n  x: 1 # only\nb: 2\n", ["a", "x"], "a: {}\nb: 2\n"),
        ("a: 1\n", ["a"], ""),
        ("{a: 1, b: 2}\n", ["a"], "{b: 2}\n"),
        ("{a: 1}\n", ["a"], "{}\n"),
        ("a:\n  - name: x\n    k: >\n      folded\n      text\n  - name: y\n", ["a", "x"], "a:\n  - name: y\n"),
        ("a:\n  - 1\n  - name: x\n    '2': y\n", ["a", "x"], "a:\n  - 1\n"),
        ('"a b":\n  "x": "y # z"\n  w:   \n', ["a b", "x"], '"a b":\n  w:   \n'),
    ],
)
def test_a_member_goes_with_what_belongs_to_it(text: str, path: list[str], expected: str) -> None:
    assert without_member(text, path) == expected


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("e:\n  a:\n    cmd: old # mine\n    n: 1\n", {"cmd": "new", "n": 1}, "e:\n  a:\n    cmd: new # mine\n    n: 1\n"),
        (
            "e:\n  a:\n    args: # all\n      - x\n      - y\n    n: 1\n",
            {"args": ["z"], "n": 1},
            "e:\n  a:\n    args: [z] # all\n    n: 1\n",
        ),
        ("e:\n  a:\n    args: [x]\n", {"args": []}, "e:\n  a:\n    args: []\n"),
        ("e:\n  a:\n    n:\n    m: 2\n", {"n": True, "m": 2}, "e:\n  a:\n    n: true\n    m: 2\n"),
        ("e:\n  a:\n    n: |\n      text\n    m: 2\n", {"n": "yes", "m": 2}, 'e:\n  a:\n    n: "yes"\n    m: 2\n'),
        ("e:\n  a:\n    n: 1\n    m: 2\n", {"m": 2, "env": {"K": "v"}}, "e:\n  a:\n    m: 2\n    env:\n      K: v\n"),
        ("e:\n  a: {n: 1}\n", {"n": 1.5}, "e:\n  a: {n: 1.5}\n"),
    ],
)
def test_in_an_existing_member_only_what_differs_changes(text: str, content: dict[str, Any], expected: str) -> None:
    assert with_member(text, ["e", "a"], content) == expected


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a: [1\n", 6),
        ("a: 1\n\tb: 2\n", 5),
        ("a: 1\na: 2\n", 5),
        ("a: 1\n---\nb: 2\n", 5),
        ("a: *nobody\n", 3),
        ("a: !secret x\n", 3),
        ("a: \x00\n", None),
        ("[" * 500 + "]" * 500, None),
        ("- " * 3000, None),
        (
            "a: &a [x, x]\nb: &b [*a, *a]\n"
            + "".join(f"{y}: &{y} [{', '.join([f'*{x}'] * 9)}]\n" for x, y in zip("bcdefgh", "cdefghi", strict=True)),
            None,
        ),
        ("a: &a [*a]\n", None),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, at: int | None) -> None:
    with pytest.raises(CannotRead) as refused:
        with_member(text, ["extensions", "hub"], GOOSE)
    assert at is None or refused.value.at == at


def test_a_key_that_is_given_twice_is_not_told_with_its_value() -> None:
    with pytest.raises(CannotRead) as refused:
        read_yaml("key: sk-dummy-1\nkey: sk-dummy-2\n")
    assert "sk-dummy" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "path", "content"),
    [
        ("e: text\n", ["e", "a"], {"x": 1}),
        ("- 1\n", ["e", "a"], {"x": 1}),
        ("e: &x {b: 1}\nf: *x\n", ["f", "a"], {"x": 1}),
        ("e:\n  <<: {a: 1}\n", ["e", "a"], 2),
        ("", ["e"], float("inf")),
        ("", ["e"], "\ud800"),
        ("e:\n  - name: b\n  - *x\n", ["e", "a"], {"name": "a"}),
        ("x: &x 1\ne:\n  - *x\n  - name: b\n", ["e", "a"], {"name": "a"}),
        ("e:\n  -\n  - name: b\n", ["e", "a"], {"name": "a"}),
    ],
)
def test_a_member_that_cannot_be_there_is_refused(text: str, path: list[str], content: object) -> None:
    with pytest.raises(CannotRead):
        with_member(text, path, content)


@pytest.mark.parametrize(
    ("text", "path"),
    [("", ["a"]), ("e: 1\n", ["e", "a"]), ("e:\n  - a: 1\n    b: 2\n    name: x\n", ["e", "x", "a"]), ("e:\n  - - name: x\n", ["e", "x"])],
)
def test_a_member_that_is_not_there_or_shares_its_line_cannot_go(text: str, path: list[str]) -> None:
    with pytest.raises(CannotRead):
        without_member(text, path)


KEYS = st.text("ab-_. \"':#", min_size=1, max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.text("aé\n:#-'\"{,\\ \U0001f600", max_size=6)
    | st.floats(allow_nan=False, allow_infinity=False)
)
ENTRIES = st.dictionaries(KEYS, SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(KEYS, SCALARS, max_size=3), max_size=4)
PARTS = [
    "# c: 1\n",
    "\n",
    "a: 'x' # y\n",
    "b:\n    - 1\n    -   k: v\n        l: [1, 2] # z\n",
    "c: |+\n  hub: 1\n\n\n",
    "d: {x: 1,\n  y: 2}\n",
    "f:\n",
]
TEXTS = st.lists(st.sampled_from(PARTS), unique=True, max_size=6).map("".join)
HOLDERS = st.sampled_from(["e:\n  one:\n    x: 1 # o\n", "e: {one: 1} # o\n", "e: {}\n", "e:\n      one: >-\n        folded\n\n"])


@given(
    above=TEXTS,
    holder=HOLDERS,
    below=TEXTS,
    entry=ENTRIES,
    mark=st.sampled_from(["", "\ufeff"]),
    end=st.sampled_from(["\n", "\r\n"]),
    cut=st.booleans(),
)
def test_what_goes_in_comes_out_to_the_byte(
    above: str, holder: str, below: str, entry: dict[str, Any], mark: str, end: str, cut: bool
) -> None:
    below = "".join(part for part in [below] if not set(_keys(above)) & set(_keys(below)))
    text = above + holder + below
    text = mark + (text.removesuffix("\n") if cut else text).replace("\n", end)
    after = with_member(text, ("e", "hub"), entry)
    assert member_of(read_yaml(after.removeprefix("\ufeff"))[0], ("e", "hub")) == entry
    assert without_member(after, ("e", "hub")) == text


def _keys(text: str) -> list[str]:
    document, _ = read_yaml(text)
    return list(document) if isinstance(document, dict) else []


@given(text=HOLDERS, before=ENTRIES, after=ENTRIES)
def test_any_entry_becomes_any_other(text: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    changed = with_member(with_member(text, ("e", "hub"), before), ("e", "hub"), after)
    assert member_of(read_yaml(changed)[0], ("e", "hub")) == after
