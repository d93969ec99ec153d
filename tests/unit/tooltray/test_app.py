"""What the desktop looks at before it loads a window system."""

import pytest

from tooltray.app import check_display
from tooltray.errors import TooltrayError


@pytest.mark.parametrize(
    "environ",
    [
        {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":65000"},  # X is only second choice there
        {"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":65000"},
        {"DISPLAY": "elsewhere:65000"},  # another computer's; Qt says what is wrong with the network
        {},
    ],
)
def test_only_an_x_server_of_this_computer_is_asked(environ: dict[str, str]) -> None:
    check_display(environ)


def test_a_display_that_is_not_there_is_said_in_words_with_a_way_out() -> None:
    with pytest.raises(TooltrayError, match="DISPLAY is :65000"):
        check_display({"DISPLAY": ":65000"})
