"""The words of the Settings page: what a change of the set-up is."""

import pytest
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.settings.backup_sheet import change_look, does_something, subject


@pytest.mark.parametrize(
    ("kind", "of", "words"),
    [
        ("add", "server", ("Server", "Is added")),
        ("replace", "server", ("Server", "Is replaced")),
        ("remove", "server", ("Server", "Is removed")),
        ("keep", "setting", ("Setting", "Stays")),
        ("add", "secret", ("Secret", "To be given")),
        ("add", "default", ("Start", "Is changed")),
        ("remove", "default", ("Start", "Is changed")),
    ],
)
def test_a_change_of_the_set_up_in_words(app: QApplication, kind: str, of: str, words: tuple[str, str]) -> None:
    change = SetupChange(kind, of, "x")
    assert (subject(change), change_look(change).word) == words


def test_secrets_to_be_given_are_no_change_by_themselves() -> None:
    assert not does_something([SetupChange("keep", "server", "a"), SetupChange("add", "secret", "TOKEN")])
    assert does_something([SetupChange("remove", "default", "a")])
