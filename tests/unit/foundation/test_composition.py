"""composition.py: what hubs do not show; tests/contract/test_hub.py proves the rest."""

import sys
from fractions import Fraction
from typing import Any

import pytest

from tooltray.foundation.composition import Composition, made, part


class Parts(Composition):
    word: str = made(lambda parts: "a")
    late: "tests_late.Late" = part()  # type: ignore[name-defined]  # noqa: F821
    known: "fractions.Fraction" = made(lambda parts: Fraction(1, 2))  # type: ignore[name-defined]  # noqa: F821


def test_a_part_whose_class_is_a_text_is_on_demand() -> None:
    assert {name: each.is_on_demand for name, each in Parts.parts().items()} == {"word": False, "late": True, "known": True}
    assert Parts.parts()["known"].kind is Fraction


def test_its_module_is_imported_with_its_first_use(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests_late.py").write_text("class Late:\n    def __init__(self, word: str) -> None:\n        self.word = word\n")
    monkeypatch.syspath_prepend(tmp_path)
    parts = Parts({})
    parts.make(["word"])
    assert "tests_late" not in sys.modules
    assert parts.late.word == "a"
    assert parts.late is parts.late
    monkeypatch.delitem(sys.modules, "tests_late")
