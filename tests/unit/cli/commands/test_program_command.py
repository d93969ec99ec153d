"""`tooltray diagnostics` and `tooltray licences`."""

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home


def test_diagnostics_are_the_hub_s_without_what_could_move_the_cursor(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_diagnostics": "Tooltray\n  stderr: \x1b[31mred\n"}):
        assert tooltray("diagnostics").out == "Tooltray\n  stderr: red\n"
        assert "stderr" in tooltray("diagnostics", "--json").json["text"]


def test_licences_need_no_hub(tooltray: Tooltray) -> None:
    assert tooltray("licences").out.startswith("MIT License")
    assert tooltray("licences", "--json").json["text"].startswith("MIT License")
