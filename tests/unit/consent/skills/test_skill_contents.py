"""skills.py: content of skills is what their entries declare."""

import hashlib
import json
from base64 import b64encode
from typing import Any

import pytest
from msgspec import Raw

from tooltray.catalogue.skill import SkillFile
from tooltray.consent.skills.skills import fault_of, text_of

URI = "skill://a/x"
FILE = SkillFile(f"sha256:{hashlib.sha256('é'.encode()).hexdigest()}", 2)


def result(*contents: Any) -> Raw:
    return Raw(json.dumps({"contents": contents}).encode())


@pytest.mark.parametrize("content", [{"text": "é"}, {"blob": b64encode("é".encode()).decode()}])
def test_text_and_bytes_are_checked_alike(content: dict[str, str]) -> None:
    assert fault_of(result({"uri": URI, **content}), URI, FILE) == ""
    assert fault_of(result({"uri": "written otherwise", **content}), URI, FILE) == ""
    assert text_of(result({"uri": URI, **content}), URI) == "é"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (result({"uri": URI, "text": "éé"}), "it has 4 bytes, not 2"),
        (result({"uri": URI, "text": "ab"}), "its digest is"),
        (result({"uri": URI, "blob": "?"}), ""),
        (result({"uri": URI}), "no content under its URI"),
        (result({"uri": "x", "text": "é"}, {"uri": "y", "text": "é"}), "no content under its URI"),
        (result(7), "no content under its URI"),
        (Raw(b'{"contents":7}'), "no content under its URI"),
        (Raw(b"{}"), "no contents"),
        (Raw(b"[]"), ""),
        (result({"uri": URI, "text": "\ud800"}), ""),
    ],
)
def test_what_is_not_the_file_says_why(answer: Raw, why: str) -> None:
    fault = fault_of(answer, URI, FILE)
    assert fault
    assert why in fault
