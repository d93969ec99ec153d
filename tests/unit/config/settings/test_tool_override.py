"""tool_override.py: what cannot be shown to AI clients is refused."""

from typing import Any

import pytest

from tooltray.config.settings.json_kinds import ValidationError
from tooltray.config.settings.tool_override import LONGEST_ADDRESS, LONGEST_IMAGE, LONGEST_TITLE, MOST_ICONS, ToolOverride

ADDRESS, IMAGE = "https://example.org/", "data:image/png;base64,"
DRAWN = {"src": f"{IMAGE}AAAA"}


@pytest.mark.parametrize(
    "odd",
    [
        {"title": 5},
        {"title": "t" * (LONGEST_TITLE + 1)},
        {"annotations": {"readOnlyHint": "yes"}},
        {"annotations": ["readOnlyHint"]},
        {"icons": {"src": "https://example.org"}},
        {"icons": [{}]},
        {"icons": [{"src": "http://example.org/i.png"}]},
        {"icons": [{"src": "javascript:alert(1)"}]},
        {"icons": [{"src": "data:text/html,<b>"}]},
        {"icons": [{"src": "https://example.org/a b"}]},
        {"icons": [{"src": IMAGE.ljust(LONGEST_IMAGE + 1, "A")}]},
        {"icons": [{"src": ADDRESS.ljust(LONGEST_ADDRESS + 1, "a")}]},
        {"icons": [DRAWN] * (MOST_ICONS + 1)},
        {"icons": [{**DRAWN, "theme": "blue"}]},
    ],
)
def test_what_cannot_be_shown_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ToolOverride.model_validate(odd)


def test_the_longest_that_can_be_shown_is_taken_and_a_blank_one_is_none() -> None:
    sources = [IMAGE.ljust(LONGEST_IMAGE, "A"), ADDRESS.ljust(LONGEST_ADDRESS, "a")]
    shown = ToolOverride.model_validate({"title": "t" * LONGEST_TITLE, "name": " ", "icons": [{"src": each} for each in sources]})
    assert (shown.title, shown.name, [each.src for each in shown.icons or ()]) == ("t" * LONGEST_TITLE, None, sources)


def test_members_for_clients_are_the_given_ones_that_are_known_in_the_protocols_spelling() -> None:
    shown = ToolOverride.model_validate(
        {"annotations": {"readOnlyHint": True, "odd": 1}, "icons": [{"src": ADDRESS, "mimeType": "image/png"}]}
    )
    assert shown.annotations is not None
    assert shown.annotations.members() == {"readOnlyHint": True}
    assert [each.members() for each in shown.icons or ()] == [{"src": ADDRESS, "mimeType": "image/png"}]
