"""bundle_settings.py: the form, and what was filled in."""

from typing import Any

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.forms import FormField
from tooltray.sources.bundles.bundle_settings import answers_to, form_of
from tooltray.sources.bundles.manifest import Author, BundleServer, Manifest, Setting

FOLDERS = {"HOME": "/home/me", "DESKTOP": "/home/me/Desktop"}


def form(*, kept: Any = None, stored: Any = (), **settings: Setting) -> tuple[FormField, ...]:
    manifest = Manifest("n", "1", "d", Author("a"), BundleServer("node", "x"), user_config=settings)
    return form_of(manifest, FOLDERS, kept, stored)


def test_each_kind_of_setting_is_a_field() -> None:
    fields = form(
        text=Setting("string", title="A text", description="d", default="${HOME}/x"),
        size=Setting("number", default=10, min=1, max=100),
        on=Setting("boolean", default=True, multiple=True),
        folders=Setting("directory", multiple=True, default=("${DESKTOP}", "${OTHER}"), required=True),
        file=Setting("file", multiple=True, default="/a"),
        key=Setting("string", sensitive=True, default="for everybody", multiple=True, required=True),
    )
    assert [field.kind for field in fields] == ["text", "number", "boolean", "folder", "file", "text"]
    assert [field.default for field in fields] == ["/home/me/x", 10, True, ("/home/me/Desktop", "${OTHER}"), ("/a",), None]
    assert [field.is_list for field in fields] == [False, False, False, True, True, False]
    assert (fields[0].label, fields[1].label, fields[1].minimum, fields[1].maximum) == ("A text", "size", 1, 100)
    assert (fields[5].is_secret, fields[5].is_required, fields[3].is_required) == (True, True, True)


def test_what_was_given_for_an_earlier_version_is_there_again() -> None:
    fields = form(kept={"a": ["x"], "b": "y"}, stored={"key"}, a=Setting("file", multiple=True), b=Setting("string", default="z"),
                  key=Setting("string", sensitive=True, required=True))  # fmt: skip
    assert [field.default for field in fields] == [("x",), "y", None]
    assert (fields[2].is_required, fields[2].placeholder) == (False, "kept as it is")


def test_defaults_count_where_nothing_was_given_and_secrets_go_apart() -> None:
    fields = form(a=Setting("string", default="x"), n=Setting("number", required=True, default=10), on=Setting("boolean"),
                  key=Setting("string", sensitive=True), none=Setting("string"), many=Setting("directory", multiple=True))  # fmt: skip
    answers = answers_to(fields, {"key": "dummy-secret", "on": "True", "many": ["/a", "/b"]})
    assert answers.values == {"a": "x", "n": "10", "on": "true", "many": ("/a", "/b")}
    assert answers.given == {"a": "x", "n": 10, "on": True, "many": ["/a", "/b"]}
    assert answers.secrets == {"key": "dummy-secret"}
    assert "dummy-secret" not in repr(answers)
    assert answers_to(fields, {"n": "2.5", "on": False, "many": "/c", "a": ["y"]}).values == {
        "a": "y",
        "n": "2.5",
        "on": "false",
        "many": ("/c",),
    }


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        (Setting("string", required=True), "", "missing"),
        (Setting("string", required=True, sensitive=True), " ", "missing"),
        (Setting("string", required=True), None, "missing"),
        (Setting("string"), 5, "a text"),
        (Setting("string"), "${secret:other}", "cannot be in it"),
        (Setting("string"), "a\0b", "cannot be in it"),
        (Setting("string"), ["a", "b"], "one value"),
        (Setting("number"), "many", "a number"),
        (Setting("number"), True, "a number"),
        (Setting("number"), "nan", "a number"),
        (Setting("number"), "inf", "a number"),
        (Setting("number", min=1), 0, "at least 1"),
        (Setting("number", max=3), 4, "at most 3"),
        (Setting("boolean"), "perhaps", "true or false"),
        (Setting("boolean"), 1, "true or false"),
        (Setting("directory", multiple=True), ["a", "${b}"], "cannot be in it"),
    ],
)
def test_what_cannot_be_is_refused_by_name(setting: Setting, value: Any, reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason) as raised:
        answers_to(form(it=setting), {} if value is None else {"it": value})
    assert "'it'" in str(raised.value)


def test_a_setting_that_is_not_there_is_refused() -> None:
    with pytest.raises(TooltrayError, match="no setting 'x'"):
        answers_to(form(), {"x": "1"})
