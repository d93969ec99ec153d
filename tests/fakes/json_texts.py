"""JSON for property tests: values of every kind, and objects as somebody may write them."""

import json
from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(), max_size=8)  # surrogates too
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
spaces = st.text(" \t\r\n", max_size=3)


@st.composite
def json_objects(draw: st.DrawFn) -> bytes:
    """An object as somebody may write it: any white space, escapes or none, names that stand twice."""
    members = draw(st.lists(st.tuples(texts, values), max_size=6))
    is_ascii = draw(st.booleans())

    def written(value: Any) -> str:
        text = json.dumps(value, ensure_ascii=is_ascii, indent=draw(st.sampled_from([None, 1])))
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not is_ascii else text

    parts = [f"{draw(spaces)}{written(name)}{draw(spaces)}:{draw(spaces)}{written(value)}{draw(spaces)}" for name, value in members]
    return f"{draw(spaces)}{{{','.join(parts)}{draw(spaces)}}}{draw(spaces)}".encode()
