"""ignore_rules.py: as the reference and git would."""

import pytest

from tooltray.sources.bundles.ignore_rules import IgnoreRules


@pytest.mark.parametrize(
    "name", [".git", "a/.env", ".env.local", "a/b.log", "x/package-lock.json", "old.mcpb", "src/__pycache__", "manifest.json", "key.pem"]
)
def test_what_the_reference_leaves_out_stays_out(name: str) -> None:
    assert IgnoreRules().excludes(name)


@pytest.mark.parametrize("name", ["index.js", "environment.py", "src/logs.py", "node_modules/a/index.js"])
def test_the_rest_comes_along(name: str) -> None:
    assert not IgnoreRules().excludes(name)


@pytest.mark.parametrize(
    ("line", "inside", "outside"),
    [
        ("*.txt", "a/b.txt", "b.txt2"),
        ("/top.py", "top.py", "a/top.py"),
        ("docs/*.md", "docs/a.md", "docs/a/b.md"),
        ("docs/**", "docs/a/b", "docs"),
        ("**/temp", "a/b/temp", "a/temporary"),
        ("a/**/b", "a/x/y/b", "a/x/c"),
        ("fi?e", "file", "fi/e"),
        ("[ab].py", "a.py", "c.py"),
        ("[!ab].py", "c.py", "a.py"),
        ("[a-c].py", "b.py", "d.py"),
        ("\\#x", "#x", "x"),
    ],
)
def test_patterns_mean_what_they_mean_to_git(line: str, inside: str, outside: str) -> None:
    rules = IgnoreRules(f"# a comment\n\n{line}\n/\n")
    assert rules.excludes(inside)
    assert not rules.excludes(outside)


def test_folders_alone_and_what_is_taken_back() -> None:
    rules = IgnoreRules("build/\n*.cfg\n!keep.cfg\n")
    assert rules.excludes("build", is_folder=True)
    assert not rules.excludes("build")
    assert rules.excludes("a.cfg")
    assert not rules.excludes("keep.cfg")
