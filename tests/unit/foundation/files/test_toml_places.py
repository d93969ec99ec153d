"""toml_places.py: where tables and values stand."""

import pytest

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.toml_places import Header, Pair, read_toml, statements


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
    with pytest.raises(CannotRead, match="it is no TOML") as raised:
        read_toml(text)
    assert raised.value.at == at


@pytest.mark.parametrize("text", ["a = ,", "? = 1"])
def test_what_no_value_and_no_key_begins_with_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(CannotRead, match="means nothing here"):
        statements(text)
