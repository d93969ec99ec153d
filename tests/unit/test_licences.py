import email
from importlib.metadata import PackageMetadata
from pathlib import Path
from typing import cast

import pytest
from scripts import licences


def about(*lines: str) -> PackageMetadata:
    return cast(PackageMetadata, email.message_from_string("\n".join(lines)))


def test_everything_that_is_shipped_may_be_shipped() -> None:
    lock = Path(licences.ROOT, "requirements", "run.txt").read_text()
    assert "aiohttp" in licences.shipped(lock)
    assert list(licences.not_allowed(licences.shipped(lock))) == []


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 AND MIT", True),
        ("LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only", True),
        ("GPL-3.0-or-later", False),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-only OR GPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_package_may_be_shipped_under_one_of_its_licences_that_is_no_gpl(expression: str, is_allowed: bool) -> None:
    assert licences.is_allowed(expression) == is_allowed


def test_packages_without_an_expression_are_read_by_their_older_fields() -> None:
    assert licences.licence(about("License: Apache 2.0")) == "Apache-2.0"
    assert licences.licence(about("License: see file", "Classifier: License :: OSI Approved :: MIT License")) == "MIT"
    assert licences.licence(about("License: GPLv3")) == ""


def test_what_nobody_has_read_is_named() -> None:
    assert list(licences.not_allowed(["no-such-package", "pywin32-ctypes"])) == ["no-such-package: no licence that is known"]
