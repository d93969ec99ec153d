"""json_strings.py: a JSON string comes out piece by piece as it would at once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.gateway.kept_results import json_strings
from tooltray.gateway.kept_results.json_strings import pieces, text_of

ODD = 'a"b\\ü\n\u2028漢字🎉\ud83d x \udf89 \ud83d'


@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize("size", [13, 14, 15, 16, 17, 18, 19])
def test_no_escape_pair_or_character_is_cut_in_two(monkeypatch: pytest.MonkeyPatch, size: int, is_ascii: bool) -> None:
    monkeypatch.setattr(json_strings, "PIECE_BYTES", size)
    string = json.dumps(ODD * 9, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    given = list(pieces(Raw(string)))
    assert len(given) > 5
    assert "".join(text_of(piece) for piece in given) == json.loads(string.decode("utf-8", "surrogatepass"))


@given(st.text(), st.booleans())
def test_any_text_comes_out_as_it_is(text: str, is_ascii: bool) -> None:
    assert b"".join(pieces(Raw(json.dumps(text, ensure_ascii=is_ascii).encode()))) == text.encode()
