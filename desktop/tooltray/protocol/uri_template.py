"""URI templates (RFC 6570, all four levels) as MCP servers list them: which URIs one can become, and how an expansion is taken apart.

The only question is which template a URI could come from, so values are not decoded and the names of variables do not count. Servers write
templates and clients write URIs, so nothing here backtracks: the time is bounded by the product of the two lengths.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern

MAX_URI_LENGTH = 8192  # longer ones come from no template; real URIs have some hundred characters
MAX_EXPRESSIONS = 64  # a template with more matches nothing

_EXPRESSION = lazy_pattern(r"\{([+#./;?&]?)[^{}]*\}")


class _Form(msgspec.Struct, frozen=True):
    """The form of an expression's expansion.

    Attributes:
        first: its first characters, unless all its variables are undefined; the expansion is then empty.
        excluded: the characters that it does not contain.
    """

    first: str
    excluded: str


_FORMS = {
    "": _Form("", "/?#"),
    "+": _Form("", ""),
    "#": _Form("#", ""),
    ".": _Form(".", "/"),
    "/": _Form("/", "?#"),
    ";": _Form(";", "/?#"),
    "?": _Form("?", "#"),
    "&": _Form("&", "#"),
}
"""By operator. As in servers' own matchers, a plain value is never empty: `users/` does not match `users/{id}`."""


class UriTemplate:
    """One template. Text outside expressions is literal (also a single brace)."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(_EXPRESSION.finditer(text))
        edges = [0, *(edge for each in found for edge in each.span()), len(text)]
        self._literals = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
        self._expressions = [each[0] for each in found]
        self._forms = [_FORMS[each[1]] for each in found]

    def changed(self, change: Callable[[str], str], *, prefix: str = "") -> "UriTemplate":
        """Returns the template with other literal text and the same expressions.

        Args:
            change: makes the new text of each literal part; must not make a brace.
            prefix: goes before the whole text.
        """
        return UriTemplate(prefix + _woven([change(each) for each in self._literals], self._expressions))

    def expanded(self, values: Sequence[str]) -> str:
        """Returns the URI with these expansions, which `match` returned for a template with the same expressions."""
        return _woven(self._literals, values)

    def match(self, uri: str) -> list[str] | None:
        """Returns the expansion of each expression, verbatim from the URI; None if the URI does not come from this template."""
        if len(self._forms) > MAX_EXPRESSIONS or len(uri) > MAX_URI_LENGTH or not uri.startswith(self._literals[0]):
            return None
        ends = [{len(self._literals[0])}]  # where the template's parts up to each literal may end in the URI
        for form, literal in zip(self._forms, self._literals[1:], strict=True):
            ends.append({at + len(literal) for at in _ends_of(form, uri, ends[-1]) if uri.startswith(literal, at)})
        return self._taken_apart(uri, ends) if len(uri) in ends[-1] else None

    def _taken_apart(self, uri: str, ends: Sequence[set[int]]) -> list[str]:
        """Returns the expansions, found from the end; if several readings are possible, later expressions are as short as possible."""
        values, end = [], len(uri)
        for form, literal, starts in reversed(list(zip(self._forms, self._literals[1:], ends[:-1], strict=True))):
            end -= len(literal)
            start = _start_of(form, uri, starts, end)
            values.append(uri[start:end])
            end = start
        return values[::-1]


def _ends_of(form: _Form, uri: str, starts: set[int]) -> Iterator[int]:
    """Yields the places where an expansion may end that begins at any of `starts`."""
    is_within = False
    for at in range(min(starts, default=len(uri)), len(uri)):
        begins = at in starts
        if is_within or (begins and form.first):
            yield at
        is_within = (is_within or (begins and not form.first)) and uri[at] not in form.excluded
        is_within = is_within or (begins and uri[at] == form.first)
    if is_within or (form.first and len(uri) in starts):
        yield len(uri)


def _start_of(form: _Form, uri: str, starts: set[int], end: int) -> int:
    """Returns the latest place where an expansion that ends at `end` may begin; such a place exists."""
    if form.first and end in starts:
        return end
    return next(at for at in range(end - 1, -1, -1) if at in starts and uri.startswith(form.first, at))


def _woven(literals: Sequence[str], between: Sequence[str]) -> str:
    return "".join(part for pair in zip(literals, [*between, ""], strict=True) for part in pair)
