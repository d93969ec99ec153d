import pytest

from tooltray.servers.logs.plain_line import plain_line

ODD = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[1;31mERROR\x1b[0m it broke", "ERROR it broke"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        ("10 %\r50 %\r100 %", "100 %"),
        ("a line of Windows\r", "a line of Windows"),
        ("tab\tstays", "tab\tstays"),
        ("bell\x07 null\x00", f"bell{ODD} null{ODD}"),
        ("turned \u202eback", f"turned {ODD}back"),
        ("half \ud800", f"half {ODD}"),
        ("<b>no markup</b> &amp; 資料 🎉", "<b>no markup</b> &amp; 資料 🎉"),
    ],
)
def test_a_line_of_a_server_is_plain_text_on_one_line(written: str, shown: str) -> None:
    assert plain_line(written) == shown
