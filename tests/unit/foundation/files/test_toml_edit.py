"""toml_edit.py: tables and values have positions; one member is removed or written, and every other byte stays."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.toml_edit import MAX_DEPTH, Header, Pair, read_toml, statements, with_member, without_member

ENTRY = {"command": "/home/me/bin/bridge", "startup_timeout_sec": 60}
TABLE = '[mcp_servers.hub]\ncommand = "/home/me/bin/bridge"\nstartup_timeout_sec = 60\n'
PATH = ("mcp_servers", "hub")


def test_headers_and_pairs_are_found_where_they_stand() -> None:
    text = 'a.b = 1 # one\n\n[t."x y"]\nc = { d = "}" }\n'
    pair, header, table = statements(text)
    assert isinstance(pair, Pair)
    assert (pair.path, pair.keys, text[pair.start : pair.value], text[pair.value : pair.end]) == (("a", "b"), 2, "a.b = ", "1")
    assert isinstance(header, Header)
    assert (header.path, text[header.start : header.end], header.is_repeated) == (("t", "x y"), '[t."x y"]', False)
    assert isinstance(table, Pair)
    assert table.path == ("t", "x y", "c")
    assert table.pairs is not None
    assert [(each.path[-1], text[each.value : each.end]) for each in table.pairs] == [("d", '"}"')]


def test_a_table_below_a_list_of_tables_is_one_of_many() -> None:
    found = statements("[[a]]\n[a.b]\n[c]\n")
    assert [each.is_repeated for each in found if isinstance(each, Header)] == [True, True, False]


@pytest.mark.parametrize(("text", "at"), [("a = 1\nb = \n", 10), ("\ufeffa = 1\nb = \n", 11), ("a = [", 5)])
def test_the_place_of_an_error_is_an_index_of_the_text(text: str, at: int) -> None:
    with pytest.raises(CannotRead, match="it is not TOML:") as raised:
        read_toml(text)
    assert raised.value.at == at


@pytest.mark.parametrize("text", ["a = ,", "? = 1"])
def test_what_no_value_and_no_key_begins_with_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(CannotRead, match="this character is not allowed here"):
        statements(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", TABLE),
        ("\ufeff", "\ufeff" + TABLE),
        ('model = "o3" # mine\n', 'model = "o3" # mine\n\n' + TABLE),
        ('model = "o3"', 'model = "o3"\n\n' + TABLE.rstrip("\n")),
        ("[mcp_servers.a]\r\ncommand = 'x'\r\n", "[mcp_servers.a]\r\ncommand = 'x'\r\n\r\n" + TABLE.replace("\n", "\r\n")),
        ("[mcp_servers]\na.command = 'x'\n[other]\n", "[mcp_servers]\na.command = 'x'\n[other]\n\n" + TABLE),
        ("mcp_servers.a.command = 'x'\n", "mcp_servers.a.command = 'x'\n\n" + TABLE),
        (
            "mcp_servers = { a = { command = 'x' } } # all\n",
            "mcp_servers = { a = { command = 'x' }, hub = { command = \"/home/me/bin/bridge\", startup_timeout_sec = 60 } } # all\n",
        ),
        ("mcp_servers = {}\n", 'mcp_servers = { hub = { command = "/home/me/bin/bridge", startup_timeout_sec = 60 }}\n'),
    ],
)
def test_a_new_table_goes_where_it_is_valid_and_comes_out_again(text: str, expected: str) -> None:
    assert with_member(text, PATH, ENTRY) == expected
    assert without_member(expected, PATH) == text


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("[a]\nx = 1\n\n# of b\n[b]\ny = 2\n", ("a",), "# of b\n[b]\ny = 2\n"),
        ("[s.a]\nx = 1\n# inside\nz = 1\n[s.a.env]\nK = '''\n[s.b]\n'''\n\n# end\n[s.b]\ny = 2\n", ("s", "a"), "# end\n[s.b]\ny = 2\n"),
        ("[t]\nk = 1\n\n[s.a]\nx = 1\n\n[s.b]\ny = 2\n\n[s.a.env]\nK = 'v'\n", ("s", "a"), "[t]\nk = 1\n\n[s.b]\ny = 2\n"),
        ("[s]\na.x = 1 # one\nb.x = 2\na.y = 3\n", ("s", "a"), "[s]\nb.x = 2\n"),
        ("[s]\na = { x = 1 }\nb = { x = 2 }", ("s", "b"), "[s]\na = { x = 1 }"),
        ("s = { a = 1, b = 2, c = 3 }\n", ("s", "a"), "s = { b = 2, c = 3 }\n"),
        ("s = { a = 1, b = 2, c = 3 }\n", ("s", "b"), "s = { a = 1, c = 3 }\n"),
        ("s = { a.x = 1, b = 2, a.y = 3 }\n", ("s", "a"), "s = { b = 2 }\n"),
        (
            '\'quoted " key\'."a.b" = 1\nx = [ # many\n 1, # one\n 2, [3] ]\n',
            ('quoted " key', "a.b"),
            "x = [ # many\n 1, # one\n 2, [3] ]\n",
        ),
        ("[[s]]\na = 1\n[s.t]\nb = 1\n[o]\n", ("s",), "[o]\n"),
        ('d = 1979-05-27 07:32:00 # when\ne = """a\\"""""\nf = 1\n', ("e",), "d = 1979-05-27 07:32:00 # when\nf = 1\n"),
    ],
)
def test_a_member_goes_with_what_belongs_to_it(text: str, path: tuple[str, ...], expected: str) -> None:
    assert without_member(text, path) == expected


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ('[s.a]\nc = "old" # mine\nn = 1\n', {"c": "new", "n": 1}, '[s.a]\nc = "new" # mine\nn = 1\n'),
        ("[s.a]\nc = 'x' # mine\n# note\n[t]\n", {"c": "x", "n": 1.5}, "[s.a]\nc = 'x' # mine\nn = 1.5\n# note\n[t]\n"),
        ("[s.a]\n[t]\n", {"n": 1}, "[s.a]\nn = 1\n[t]\n"),
        ("[s.a]", {"n": 1}, "[s.a]\nn = 1"),
        ("[s.a.env]\nK = 'v'\n", {"n": True, "env": {"K": "v"}}, "[s.a.env]\nK = 'v'\n\n[s.a]\nn = true\n"),
        ("[s.a]\nn = 1\nargs = ['a']\n", {"n": 1}, "[s.a]\nn = 1\n"),
        ("[s]\na.n = 1\n", {"n": 2, "x": []}, "[s]\na.n = 2\na.x = []\n"),
        ("[s]\na = { n = 1 }\n", {"n": 1, "env": {"K": "v"}}, '[s]\na = { n = 1, env = { K = "v" } }\n'),
        ("[s.a]\nn = 1\n[s.a.env]\nK = 'v'\n", {"n": 1, "env": "none"}, '[s.a]\nn = 1\nenv = "none"\n'),
        ("[s]\na = 1\n", {"n": {}}, "[s]\na = { n = {} }\n"),
        ("[s.a]\nn = 1\n", {"n": 1, "env": {"K.x": "\x7f"}}, '[s.a]\nn = 1\n\n[s.a.env]\n"K.x" = "\\u007f"\n'),
    ],
)
def test_in_an_existing_member_only_what_differs_changes(text: str, content: dict[str, Any], expected: str) -> None:
    assert with_member(text, ("s", "a"), content) == expected


def test_a_value_of_the_document_itself_goes_before_every_table() -> None:
    assert with_member("\ufeff[a]\n", ["x"], 1) == "\ufeffx = 1\n[a]\n"
    assert with_member("y = 1 # one\n[a]\n", ["x"], tomllib.loads("t = 1979-05-27")["t"]) == "y = 1 # one\nx = 1979-05-27\n[a]\n"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a = \n", 4),
        ("\ufeffa = 1\r\nb = = 1\r\n", 12),
        ("a = 1\na = 2\n", 11),
        ("[a\n", 2),
        ('a = "', 5),
        ("[" * 3, 2),
        ("a = " + "[" * 100_000, None),
        ("a = " + "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), None),
    ],
)
def test_what_is_no_toml_is_refused_with_its_place(text: str, at: int | None) -> None:
    with pytest.raises(CannotRead) as refused:
        with_member(text, PATH, ENTRY)
    assert at is None or refused.value.at == at


@pytest.mark.parametrize(
    ("text", "path", "content"),
    [
        ("[[mcp_servers]]\na = 1\n", PATH, ENTRY),
        ("mcp_servers = 3\n", PATH, ENTRY),
        ("", PATH, {"a": None}),
        ("", PATH, {"a": float("nan")}),
        ("", PATH, {"a": "\ud800"}),
    ],
)
def test_a_member_that_cannot_be_there_is_refused(text: str, path: tuple[str, ...], content: object) -> None:
    with pytest.raises(CannotRead):
        with_member(text, path, content)


@pytest.mark.parametrize("text", ["", "[s.b]\n", "s = 1\n", "[[s]]\na = 1\n"])
def test_a_member_that_is_not_there_cannot_go(text: str) -> None:
    with pytest.raises(CannotRead, match=r"^a not found$"):
        without_member(text, ("s", "a"))


KEYS = st.text("ab-_. \"'é", min_size=1, max_size=4)
SCALARS = st.booleans() | st.integers(-9, 9) | st.text(max_size=6) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(KEYS, SCALARS, max_size=3)
ENTRIES = st.dictionaries(KEYS, VALUES, max_size=4)
TEXTS = st.lists(
    st.sampled_from(
        [
            "# a comment with [brackets] = 1\n",
            "\n",
            "[mcp_servers.x] # one\ncommand = 'npx' # why\nargs = [\n  '-y', # yes\n  \"a\\\"]\",\n]\n",
            '[mcp_servers.y.env]\nKEY = """\n[mcp_servers.hub]\n"""\n',
            '[other]\n"mcp_servers" = { hub = 1 }\n',
            "[[list]]\nn = 1\n[[list]]\nn = 2\n",
            "  [ mcp_servers . z ]\n  url='x'\n",
        ]
    ),
    unique=True,
    max_size=6,
).map("".join)


@given(text=TEXTS, entry=ENTRIES, mark=st.sampled_from(["", "\ufeff"]), end=st.sampled_from(["\n", "\r\n"]), cut=st.booleans())
def test_what_goes_in_comes_out_to_the_byte(text: str, entry: dict[str, Any], mark: str, end: str, cut: bool) -> None:
    text = mark + (text.removesuffix("\n") if cut else text).replace("\n", end)
    after = with_member(text, PATH, entry)
    assert read_toml(after)["mcp_servers"]["hub"] == entry
    assert without_member(after, PATH) == text


@given(text=TEXTS, before=ENTRIES, after=ENTRIES)
def test_any_entry_becomes_any_other(text: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    changed = with_member(with_member(text, PATH, before), PATH, after)
    assert read_toml(changed)["mcp_servers"]["hub"] == after
    assert without_member(changed, PATH) == text
