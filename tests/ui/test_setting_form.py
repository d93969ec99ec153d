"""A row of a setting shows what the settings say, as far as that can be used."""

from collections.abc import Mapping

import pytest

from tooltray.ui.kit.setting_form import Setting, Value, patch, value_of

DAYS = Setting("activity.days", "Keep entries for", "", 30, (7, 30))
THEME = Setting("window.theme", "Theme", "", "", ("", "light", "dark"))
LINE = Setting("activity.line", "One line of each call", "", True)


@pytest.mark.parametrize(
    ("setting", "settings", "value"),
    [
        (DAYS, {}, 30),
        (DAYS, {"activity": {"days": 3}}, 3),
        (DAYS, {"activity": {"days": -1}}, 30),
        (DAYS, {"activity": {"days": True}}, 30),
        (DAYS, {"activity": {"days": "x"}}, 30),
        (DAYS, {"activity": []}, 30),
        (THEME, {"window": {"theme": "dark"}}, "dark"),
        (THEME, {"window": {"theme": "pink"}}, ""),
        (LINE, {"activity": {"line": False}}, False),
        (LINE, {"activity": {"line": 0}}, True),
    ],
)
def test_what_cannot_be_used_counts_as_not_there(setting: Setting, settings: Mapping[str, object], value: Value) -> None:
    assert value_of(setting, settings) == value


def test_a_change_is_of_one_member() -> None:
    assert patch("language", None) == {"language": None}
    assert patch("window.theme", "dark") == {"window": {"theme": "dark"}}
