"""member_names.py: names that mean the same file everywhere, and no place outside."""

import ntpath
import os
import posixpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.sources.bundles.member_names import MAX_DEPTH, clash_among, folded, why_not


@pytest.mark.parametrize(
    "name", ["a", "a/b.js", "node_modules/@scope/name/index.js", "a/", ".hidden", "é/ü.py", "comics.txt", "console.js"]
)
def test_usual_names_are_taken(name: str) -> None:
    assert why_not(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../a",
            "a/../../b",
            "/etc/passwd",
            "a//b",
            "./a",
            "",
            "/",
            "a/.",
            "C:/a",
            "C:a",
            "a:stream",
            "\\\\host\\share",
            "a\\..\\b",
            "~/\0",
        ),
        *(
            "a\nb",
            "a\x7f",
            "a\x85",
            "con",
            "CON.txt",
            "a/nul",
            "lpt1.log",
            "com¹",
            "aux .js",
            "a.",
            "a ",
            "a./b",
            " a",
            "a?",
            "a*",
            'a"',
            "a|b",
        ),
        *("x" * 201, "a/" * MAX_DEPTH + "b", "/".join(["x" * 100] * 11), "\ud800"),
    ],
)
def test_names_that_lead_out_or_are_another_file_somewhere_are_refused(name: str) -> None:
    assert why_not(name)


@given(st.text(st.sampled_from("a.b/\\:C ~\0") | st.characters(), max_size=30))
@settings(max_examples=300)
def test_whatever_is_taken_stays_inside_its_folder_on_every_system(name: str) -> None:
    if not why_not(name):
        for path, root in ((posixpath, "/bundle/x"), (ntpath, "C:\\bundle\\x")):
            joined = path.normpath(path.join(root, name))
            assert joined.startswith(root + path.sep)
            assert not os.path.isabs(name)


def test_names_that_are_one_file_on_some_system_are_found() -> None:
    assert clash_among(["a/b", "a/c", "d"]) == ("", "")
    assert clash_among(["a/", "a/b"]) == ("", "")
    assert clash_among(["a/b", "a/"]) == ("", "")
    assert clash_among(["a/B", "a/b"]) == ("a/B", "a/b")
    assert clash_among(["A/x", "a/y"]) == ("A", "a")
    assert clash_among(["a", "a/b"]) == ("a", "a")
    assert clash_among(["a/b", "a"]) == ("a", "a")
    assert clash_among(["a", "a"]) == ("a", "a")
    assert clash_among(["\u00e9", "e\u0301"]) == ("\u00e9", "e\u0301")
    assert folded("ß") == folded("SS")
