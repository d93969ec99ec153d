"""operation.py: what follows from a verb's signature, and values as JSON."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import msgspec
import pytest

from tooltray.carriers.rest.operation import camel, encoded, mirror
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.foundation.snapshots.servers import ServerState


class Inner(msgspec.Struct, frozen=True):
    some_words: tuple[str, ...] = ()


class Outer(msgspec.Struct, frozen=True):
    first_name: str
    state: ServerState
    inner_ones: tuple[Inner, ...] = ()
    by_name: Mapping[str, Inner] = msgspec.field(default_factory=dict)
    maybe: Problem | None = None
    kind: Literal["a", "b"] = "a"
    anything: Mapping[str, Any] = msgspec.field(default_factory=dict)


def test_members_are_camel_case_and_keys_of_mappings_stay() -> None:
    whole = Outer("x", ServerState.NEEDS_SIGN_IN, (Inner(("a",)),), {"some_key": Inner()}, Problem("t"), "b", {"snake_key": {"in_it": 1}})
    written = encoded(whole)
    assert written == {
        "firstName": "x",
        "state": "needs_sign_in",
        "innerOnes": [{"someWords": ["a"]}],
        "byName": {"some_key": {"someWords": []}},
        "maybe": {"title": "t", "message": "", "hint": "", "code": ""},
        "kind": "b",
        "anything": {"snake_key": {"in_it": 1}},
    }
    msgspec.convert(written, mirror(Outer))


def test_phrases_are_their_text_and_numbers_are_what_json_has() -> None:
    written = encoded([Phrase("{n} tools", n=3), Decimal("1.5"), math.inf, math.nan, {1: frozenset({"a"})}, True, None, 2])
    assert written == ["3 tools", 1.5, None, None, {"1": ["a"]}, True, None, 2]
    assert type(written[0]) is str


def test_what_is_given_may_leave_out_what_has_a_default_and_nothing_else_may_be_in_it() -> None:
    kind = mirror(Sequence[FeedbackAttachment], is_given=True)
    found = msgspec.convert([{"name": "a.txt", "mimeType": "text/plain"}], kind)
    assert msgspec.convert(found, Sequence[FeedbackAttachment], from_attributes=True) == [FeedbackAttachment("a.txt", "text/plain")]
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert([{"name": "a", "mimeType": "b", "colour": 1}], kind)
    made = msgspec.convert({"firstName": "x", "state": "error"}, mirror(Outer, is_given=True))
    assert msgspec.convert(made, Outer, from_attributes=True).first_name == "x"


def test_names_are_camel_case() -> None:
    assert [camel(name) for name in ("a", "a_b", "p95_ms", "since")] == ["a", "aB", "p95Ms", "since"]
