"""document_lines.py: where keys stand."""

from tooltray.config.foreign_configs import document_lines
from tooltray.config.foreign_configs.document_lines import MAX_DEPTH, Place
from tooltray.foundation.files.json_places import read


def lines_of(text: str, positions: document_lines.Positions) -> dict[Place, int]:
    return {place: text.count("\n", 0, at) + 1 for place, at in positions.at.items()}


def test_keys_of_json_are_found_through_lists_and_odd_texts() -> None:
    text = '{"x": [{"a": "}"}, [1]],\n "a\\"b": {},\n "c": {"d": "{", "e": {"f": null}}}'
    found = lines_of(text, document_lines.of_json(text, 0))
    assert found == {(): 1, ("x",): 1, ('a"b',): 2, ("c",): 3, ("c", "d"): 3, ("c", "e"): 3, ("c", "e", "f"): 3}


def test_a_key_that_is_there_twice_is_found_at_the_later_place_and_said_to_be_repeated() -> None:
    found = document_lines.of_json('{"a": 1, "a": 2, "b": 3}', 0)
    assert (found.at, found.repeated) == ({(): 0, ("a",): 9, ("b",): 17}, [(("a",), 9)])


def test_json_that_is_no_object_has_no_keys() -> None:
    assert document_lines.of_json(" [1]", 1).at == {(): 1}


def test_what_is_too_deep_is_left_out() -> None:
    text = '{"a":' * 10 + "1" + "}" * 10
    assert max(map(len, document_lines.of_json(text, 0).at)) == MAX_DEPTH
    assert max(map(len, document_lines.of_value(read(text)).at)) == MAX_DEPTH


def test_json_that_was_read_with_positions_has_those_in_lists_too() -> None:
    found = document_lines.of_value(read('{"a": [1,\n {"b": 2, "b": 3}]}'))
    assert lines_of('{"a": [1,\n ', found) == {(): 1, ("a",): 1, ("a", 0): 1, ("a", 1): 2, ("a", 1, "b"): 2}
    assert found.repeated == [(("a", 1, "b"), 20)]


def test_tables_and_keys_of_toml_are_found_whatever_is_in_texts() -> None:
    text = "\n".join(
        (
            "# [no]",
            'top = """',
            "[not.a.table]",
            '""" # done',
            "one = '''x'''# \"\"\"",
            "[mcp_servers.a]",
            'command = "[x]"',
            "env = { X = 1 }",
            '[mcp_servers."b.c".env]',
            "a.b = 1",
            "[[list]]",
            "k = [",
            '  "v=1",',
            "'''",
            "[no.table.either]",
            "''',",
            '  "w",',
            "]",
            '["\\U0001F600 x"]',
            "'lit eral' = 2",
        )
    )
    positions = document_lines.of_toml(text)
    assert (positions.at[()], positions.at[("top",)]) == (0, text.index("top"))
    found = lines_of(text, positions)
    assert found[("top",)] == 2
    assert ("not",) not in found
    assert found[("one",)] == 5
    assert (found[("mcp_servers",)], found[("mcp_servers", "a")], found[("mcp_servers", "a", "env")]) == (6, 6, 8)
    assert found[("mcp_servers", "b.c")] == found[("mcp_servers", "b.c", "env")] == 9
    assert found[("mcp_servers", "b.c", "env", "a", "b")] == 10
    assert (found[("list",)], found[("list", "k")], ("list", "w") in found) == (11, 12, False)
    assert found[("😀 x", "lit eral")] == 20
    assert ("no",) not in found


def test_a_line_begins_behind_those_before_it() -> None:
    assert [document_lines.start_of_line("a\r\nbc\nd", line) for line in (1, 2, 3, 9)] == [0, 3, 6, 7]
