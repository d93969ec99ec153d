"""version_ranges.py: ranges as manifests have them."""

import pytest

from tooltray.sources.bundles.version_ranges import fits, version_in


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (">=16.0.0", (16, 0, 0), (15, 9, 9)),
        (">=3.8,<4.0", (3, 11, 2), (4, 0, 0)),
        (">=16 <20", (18, 0, 0), (20, 0, 0)),
        ("^1.2.3", (1, 9, 0), (2, 0, 0)),
        ("^0.2.3", (0, 2, 9), (0, 3, 0)),
        ("^0.0.3", (0, 0, 3), (0, 0, 4)),
        ("^0", (0, 5, 0), (1, 0, 0)),
        ("~1.2.3", (1, 2, 9), (1, 3, 0)),
        ("~1", (1, 9, 0), (2, 0, 0)),
        ("~=3.8", (3, 9, 0), (4, 0, 0)),
        ("~=3.8.1", (3, 8, 5), (3, 9, 0)),
        ("18.x", (18, 3, 0), (19, 0, 0)),
        ("v20", (20, 1, 0), (21, 0, 0)),
        ("==3.11", (3, 11, 7), (3, 12, 0)),
        (">3.11", (3, 12, 0), (3, 11, 9)),
        ("<=3.11", (3, 11, 9), (3, 12, 0)),
        ("!=3.11", (3, 12, 0), (3, 11, 9)),
        ("16 - 18", (18, 5, 0), (19, 0, 0)),
        ("<16 || >=20", (22, 0, 0), (18, 0, 0)),
        (">= 18.0.0-rc.1", (18, 0, 0), (17, 0, 0)),
    ],
)
def test_a_version_is_in_a_range_or_not(wanted: str, inside: tuple[int, int, int], outside: tuple[int, int, int]) -> None:
    assert fits(inside, wanted)
    assert not fits(outside, wanted)


@pytest.mark.parametrize("wanted", ["", "*", "x", "latest", "a lot"])
def test_what_is_not_understood_excludes_nothing(wanted: str) -> None:
    assert fits((0, 1, 0), wanted)


def test_a_version_is_found_in_what_a_program_prints() -> None:
    assert version_in("v22.1.0\n") == (22, 1, 0)
    assert version_in("Python 3.12") == (3, 12, 0)
    assert version_in("none") is None
