"""documents.py: files of AI clients, whatever state they are in."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.client_files import put

from tooltray.config.foreign_configs.documents import MAX_BYTES, MAX_SLOW_CHARACTERS, Document, Format, read_content, read_document
from tooltray.foundation.files.edited_files import digest_of_bytes
from tooltray.foundation.files.file_text import CannotOpen, FileText
from tooltray.foundation.files.json_places import CannotRead


def refusal(path: Path, format: Format = "json") -> CannotOpen:
    with pytest.raises(CannotOpen) as raised:
        read_document(path, format)
    return raised.value


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '{"a": {"b": [1, true, null]}}'),
        ("json", '// c\r\n{"a": /* c */ {"b": [1, true, null,],}, // "x"\r\n}\r\n'),
        ("json", "{a: {'b': [+1, true, null]}}"),
        ("yaml", "a:\n  b: [1, true, null]\n"),
    ],
)
def test_every_spelling_of_a_format_has_the_same_content(tmp_path: Path, format: Format, text: str) -> None:
    document = read_document(put(tmp_path / "file", text), format)
    assert document.content == {"a": {"b": [1, True, None]}}
    assert document.text == text


def test_toml_is_read_with_its_dates_as_texts(tmp_path: Path) -> None:
    document = read_document(put(tmp_path / "file", "[a]\nb = [1, 1.5, 2026-01-02]\n"), "toml")
    assert document.content == {"a": {"b": [1, 1.5, "2026-01-02"]}}


def test_the_content_of_a_text_is_the_text(tmp_path: Path) -> None:
    assert read_document(put(tmp_path / "SKILL.md", "{a: # no JSON\n"), "text").content == "{a: # no JSON\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize(("format", "text"), [("json", '\r\n{"é": 1}\r\n'), ("toml", '"é" = 1\r\n'), ("yaml", "é: 1\r\n")])
def test_a_file_is_read_in_its_encoding_and_its_bytes_are_known(tmp_path: Path, encoding: str, format: Format, text: str) -> None:
    data = text.encode(encoding)
    document = read_document(put(tmp_path / "file", data), format)
    assert document.content == {"é": 1}
    assert (document.raw, document.digest, document.exists) == (data, digest_of_bytes(data), True)
    assert document.encoding == encoding.replace("-sig", "").replace("16-le", "16").replace("utf-16", "utf-16-le")
    assert document.line_of(["é"]) == (2 if format == "json" else 1)


def test_a_missing_file_and_an_empty_one_have_no_content(tmp_path: Path) -> None:
    missing = read_document(tmp_path / "file", "json")
    assert (missing.content, missing.digest, missing.exists, missing.raw) == (None, "", False, b"")
    empty = read_document(put(tmp_path / "file", b"\xef\xbb\xbf \r\n"), "json")
    assert (empty.content, empty.exists, empty.line_of(["a"]), empty.repeated()) == (None, True, 0, [])


@pytest.mark.parametrize(
    ("format", "text", "line"),
    [
        ("json", '{\n"a": sk-not-real-123\n}', 2),
        ("json", '{"a": 1,\n', 2),
        ("json", '{"a": ' + "1" * 5000 + "}", 1),
        ("json", '{"a": NaN}', 1),
        ("json", "/* no end", 1),
        ("toml", "a = 1\nb = sk-not-real-123\n", 2),
        ("toml", "a = 1\na = 2\n", 2),
        ("toml", 'a = """x', 1),
        ("toml", "a = " + "1" * 5000, 1),
        ("yaml", "a: 1\nb: [sk-not-real-123\n", 3),
        ("yaml", "a: \0", 0),
        ("yaml", "a: 1\n---\nb: 2\n", 2),
    ],
)
def test_a_malformed_file_is_an_error_with_its_line_and_without_its_text(tmp_path: Path, format: Format, text: str, line: int) -> None:
    error = refusal(put(tmp_path / "file", text), format)
    assert error.line == line
    assert error.reason
    assert "not-real" not in error.reason
    assert error.digest == digest_of_bytes(text.encode())


@pytest.mark.posix  # how deep a text may be nested before reading it fails is another depth on Windows
def test_a_file_that_can_just_be_read_breaks_nothing_later() -> None:
    read = refused = lost = 0
    for depth in range(700, 1000):
        try:
            document = Document(Path("/f"), "json", FileText(), read_content('{"a": 1, "b":' + "[" * depth + "]" * depth + "}", "json"))
        except CannotRead:
            refused += 1
            continue
        read += 1
        lost += _deeper(5, lambda document=document: document.line_of(["a"])) == 0  # type: ignore[misc]
    assert read
    assert refused
    assert lost


def _deeper(frames: int, work: Callable[[], int]) -> int:
    return _deeper(frames - 1, work) if frames else work()


@pytest.mark.parametrize(
    ("format", "text"), [("json", "[" * 100_000), ("json", '{"a":' * 100_000), ("toml", "a = " + "[" * 5000), ("yaml", "[" * 3000)]
)
def test_what_is_nested_too_deeply_is_refused(tmp_path: Path, format: Format, text: str) -> None:
    assert refusal(put(tmp_path / "file", text), format).reason


def test_a_file_of_fifty_megabytes_is_not_read(tmp_path: Path) -> None:
    with put(tmp_path / "file", "{}").open("ab") as file:
        file.truncate(50 * 1024 * 1024)
    assert refusal(tmp_path / "file").reason == f"it is larger than {MAX_BYTES // 1024 // 1024} MB"


@pytest.mark.parametrize("format", ["toml", "yaml"])
def test_what_takes_long_to_read_may_not_be_large(tmp_path: Path, format: Format) -> None:
    assert refusal(put(tmp_path / "file", "#" * (MAX_SLOW_CHARACTERS + 1)), format).reason == "it is larger than 1 MB"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path).reason == "it is a folder"


@pytest.mark.posix
def test_a_socket_and_a_pipe_are_no_files_and_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert {refusal(tmp_path / name).reason for name in ("pipe", "socket")} == {"it is not a file, but a pipe or a device"}


@pytest.mark.posix
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "file", "{}")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    assert refusal(tmp_path / "file").reason == "it cannot be read: Permission denied"


@pytest.mark.posix
def test_a_link_leads_to_a_file_of_one_s_own_and_not_to_one_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = put(tmp_path / "dotfiles" / "file", '{"a": 1}')
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert read_document(tmp_path / "link", "json").path == tmp_path / "link"
    assert not read_document(tmp_path / "dangling", "json").exists
    monkeypatch.setattr("os.getuid", lambda: real.stat().st_uid + 1)
    if real.stat().st_uid == 0:
        assert read_document(tmp_path / "link", "json").exists, "the system's own"
        os.chown(real, 4711, -1)
    assert refusal(tmp_path / "link").reason == "it is a link to another user's file"
    assert read_document(real, "json").exists


def test_of_a_key_that_is_there_twice_the_last_one_counts_with_a_remark(tmp_path: Path) -> None:
    for format, text in (
        ("json", '{"a": 1,\n "a": 2}'),
        ("json", '{"a": 1, // c\n "a": 2}'),
        ("json", "{a: 1,\n a: 2}"),
        ("yaml", "a: 1\na: 2\n"),
    ):
        document = read_document(put(tmp_path / "file", text), format)  # type: ignore[arg-type]
        assert (document.content, document.repeated()) == ({"a": 2}, [(("a",), 2)])
    assert read_document(put(tmp_path / "file", '{"a": {"b": 1}, "b": 1}'), "json").repeated() == []
    assert read_document(put(tmp_path / "file", "a = 1"), "toml").repeated() == []


def test_positions_are_read_again_only_where_a_key_may_be_there_twice_and_comments_cost_no_slow_reader() -> None:
    texts: list[tuple[Format, str]] = [("json", ""), ("json", "[1]"), ("toml", "a = 1"), ("json", '{"a": 1, "a": 2}'), ("json", "{a: 1}")]
    assert [read_content(text, format).may_repeat for format, text in texts] == [False, False, False, True, True]
    commented = read_content('// c\n{"a": ["//", 1,], /* c */}', "json")
    assert (commented.value, commented.may_repeat) == ({"a": ["//", 1]}, False)


def test_a_value_without_a_line_has_that_of_its_holder(tmp_path: Path) -> None:
    document = read_document(put(tmp_path / "file", '\n{"a":\n {"b": [1]}}'), "json")
    assert [document.line_of(place) for place in ((), ("a",), ("a", "b"), ("a", "b", 0), ("a", "x", "y"))] == [2, 2, 3, 3, 2]


def test_a_text_from_no_file_is_read_too() -> None:
    assert read_content("\ufeffa = 1", "toml").value == {"a": 1}
    with pytest.raises(CannotRead):
        read_content("{", "json")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="{}[],:\"'/*\\ \n#=-&a1<>!|%@.\0", max_size=60), st.sampled_from(["json", "toml", "yaml"]))
def test_no_text_breaks_a_reader(text: str, format: Format) -> None:
    try:
        content = read_content(text, format)
    except CannotRead:
        return
    content.positions()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(JSON, st.sampled_from([None, 1]))
def test_every_member_of_strict_json_has_its_line(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    positions = read_content(text, "json").positions()

    def check(place: tuple[str, ...], inner: object) -> None:
        for key, each in inner.items() if isinstance(inner, dict) and len(place) < 7 else ():
            at = positions.at[(*place, key)]
            assert json.loads(text[at : text.index(":", at + len(json.dumps(key)))]) == key
            check((*place, key), each)

    check((), value)
