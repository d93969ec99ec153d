"""What a person has chosen is read from settings that may hold anything."""

from pathlib import Path

import pytest

from tooltray.foundation.preferences import KINDS, Preferences, is_wanted, preferences_of, read_preferences


def test_what_can_be_used_counts_and_the_rest_is_as_if_it_were_not_there() -> None:
    assert preferences_of(
        {"language": "zh_TW", "window": {"theme": "dark", "keepsRunning": False, "startsHidden": True}, "notifications": {"failed": False}}
    ) == Preferences("zh_TW", "dark", False, True, {"failed": False})
    odd = {"language": 7, "window": {"theme": "pink", "keepsRunning": "no", "startsHidden": 1}, "notifications": {"failed": "no"}}
    assert preferences_of(odd) == Preferences()


@pytest.mark.parametrize("document", [None, [], "x", {"window": [], "notifications": []}])
def test_a_document_of_another_shape_says_nothing(document: object) -> None:
    assert preferences_of(document) == Preferences()


def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert read_preferences(file) == Preferences()
    for text in (b"{", b"\xff", b"[" * 100_000):
        file.write_bytes(text)
        assert read_preferences(file) == Preferences()
    file.write_bytes(b'\xef\xbb\xbf{"language": "en"}')
    assert read_preferences(file) == Preferences("en")


def test_a_notification_is_sent_unless_a_person_has_switched_its_kind_off() -> None:
    assert all(is_wanted(kind.name, {}) == kind.is_on for kind in KINDS)
    assert not is_wanted("failed", {"failed": False})
    assert is_wanted("of a later version", {})
