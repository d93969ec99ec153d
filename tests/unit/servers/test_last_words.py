"""servers/last_words.py: the line that tells most."""

import pytest

from tooltray.servers.last_words import LastWords

NOT_FOUND = """npm error code E404
npm error 404 Not Found - GET https://registry.example/nothing
npm error 404
npm error 404  'nothing@*' is not in this registry.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", ""),
        ("Traceback\nboom", "boom"),
        (NOT_FOUND, "npm: code E404; 404 Not Found - GET https://registry.example/nothing"),
        (f"starting\n{NOT_FOUND}", "npm: code E404; 404 Not Found - GET https://registry.example/nothing"),
        (f"{NOT_FOUND}\nboom", "boom"),
        (f"{NOT_FOUND}\nboom\nnpm ERR! code ETIMEDOUT", "npm: code ETIMEDOUT"),
        ("npm error", "npm error"),
        ("npm error\nnpm error code E1", "npm: code E1"),
    ],
)
def test_of_npm_the_beginning_counts_and_of_others_the_end(lines: str, words: str) -> None:
    last = LastWords()
    for line in lines.splitlines():
        last.add(line)
    assert str(last) == words
