"""package_words.py: what a stranger wrote is a package's name, and never an option by which something else runs."""

from typing import Any

import pytest

from tooltray.sources.discovery.package_words import check_words, host, is_pinned, odd_runtime_word, pinned, problem_of, shown
from tooltray.sources.discovery.registry_json import Package, read_described


def package(kind: str = "npm", identifier: str = "notes", **members: Any) -> Package:
    item = {"registryType": kind, "identifier": identifier, "version": "1.0.0", **members}
    found = read_described({"name": "a/b", "packages": [item]})
    assert found is not None
    return found.packages[0]


@pytest.mark.parametrize(
    ("kind", "identifier", "word"),
    [
        ("npm", "@owner/notes", "@owner/notes@1.0.0"),
        ("pypi", "notes_server", "notes_server==1.0.0"),
        ("nuget", "Notes.Server", "Notes.Server@1.0.0"),
        ("oci", "owner/notes", "owner/notes:1.0.0"),
        ("oci", "ghcr.io/owner/notes:2.0", "ghcr.io/owner/notes:2.0"),
        ("oci", "localhost:5000/notes", "localhost:5000/notes:1.0.0"),
        ("oci", "docker.io/owner/notes@sha256:" + "a" * 64, "docker.io/owner/notes@sha256:" + "a" * 64),
    ],
)
def test_packages_are_pinned_to_the_version_one_saw(kind: str, identifier: str, word: str) -> None:
    assert problem_of(package(kind, identifier)) is None
    assert pinned(package(kind, identifier)) == word
    assert is_pinned(package(kind, identifier))


def test_without_a_version_a_package_is_not_pinned() -> None:
    assert pinned(package(version="")) == "notes"
    assert not is_pinned(package(version=""))
    assert not is_pinned(package("oci", "ghcr.io/owner/notes", version=""))


def test_an_image_of_another_registry_is_called_by_its_host() -> None:
    assert pinned(package("oci", "owner/notes", registryBaseUrl="https://ghcr.io")) == "ghcr.io/owner/notes:1.0.0"
    assert pinned(package("oci", "ghcr.io/owner/notes", registryBaseUrl="https://ghcr.io")) == "ghcr.io/owner/notes:1.0.0"
    assert pinned(package("oci", "owner/notes", registryBaseUrl="https://docker.io")) == "owner/notes:1.0.0"


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (package("cargo"), "cannot be started"),
        (package(identifier="-c"), "no name of a package"),
        (package(identifier="--call=rm -rf ~"), "no name of a package"),
        (package(identifier="notes; rm -rf ~"), "no name of a package"),
        (package(identifier="file:../evil"), "no name of a package"),
        (package(identifier="https://evil.example/x.tgz"), "no name of a package"),
        (package("pypi", "git+https://evil.example"), "no name of a package"),
        (package("oci", "--privileged"), "no name of a package"),
        (package(version="1.0.0 evil"), "no version"),
        (package(version="^1.0.0"), "no version"),
        (package(version="-1"), "no version"),
        (package(transport={"type": "streamable-http", "url": "http://localhost/mcp"}), "listens on a port"),
        (package(registryBaseUrl="https://evil.example"), "its package is on evil.example"),
        (package(registryBaseUrl="not an address"), "its package is on"),
        (package(runtimeHint="sh"), "started by 'sh'"),
        (package("pypi", runtimeHint="python", runtimeArguments=[{"value": "-m"}]), "options for 'python'"),
        (package("mcpb", "https://x.example/a.mcpb"), "SHA-256"),
        (package("mcpb", "http://x.example/a.mcpb", fileSha256="a" * 64), "no address of a bundle"),
        (package("mcpb", "https://", fileSha256="a" * 64), "no address of a bundle"),
        (package("mcpb", "https://x.example/\x01", fileSha256="a" * 64), "no address of a bundle"),
    ],
)
def test_what_lies_or_cannot_be_is_refused(item: Package, why: str) -> None:
    problem = problem_of(item)
    assert problem is not None
    assert why in problem.message


def test_usual_places_and_other_names_of_the_program_are_fine() -> None:
    assert problem_of(package("pypi", runtimeHint="python")) is None
    assert problem_of(package(runtimeHint="npx", registryBaseUrl="https://registry.npmjs.example")) is None
    assert problem_of(package("mcpb", "https://x.example/a.mcpb", fileSha256="A" * 64)) is None


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("npm", [{"type": "named", "name": "-y"}, {"type": "positional", "value": "--quiet"}]),
        ("oci", [{"type": "positional", "value": "run"}, {"type": "named", "name": "-e", "value": "A={a}"}]),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "value": "/a:/b"}]),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "valueHint": "mount", "isRequired": True}]),
        ("oci", [{"type": "positional", "value": "--network=host"}, {"type": "named", "name": "--mount", "isRequired": True}]),
        ("pypi", [{"type": "named", "name": "--python", "default": "3.12"}, {"type": "named", "name": "--python", "format": "filepath"}]),
    ],
)
def test_harmless_options_of_the_launcher_may_be_used(kind: str, arguments: list[Any]) -> None:
    assert odd_runtime_word(package(kind, runtimeArguments=arguments)) == ""


@pytest.mark.parametrize(
    ("kind", "arguments", "word"),
    [
        ("npm", [{"type": "positional", "value": "evil-package"}], "evil-package"),
        ("npm", [{"type": "named", "name": "-c", "value": "rm -rf ~"}], "-c"),
        ("npm", [{"type": "named", "name": "-y", "value": "evil-package"}], "-y"),
        ("npm", [{"type": "named", "name": "-y", "isRequired": True}], "-y"),
        ("npm", [{"type": "positional", "value": "{x}", "variables": {"x": {}}}], "{x}"),
        ("npm", [{"type": "positional", "valueHint": "any"}], "any"),
        ("npm", [{"type": "positional"}], "?"),
        ("pypi", [{"type": "named", "name": "--from", "value": "evil"}], "--from"),
        ("oci", [{"type": "named", "name": "--privileged"}], "--privileged"),
        ("oci", [{"type": "named", "name": "-v"}], "-v"),
        ("oci", [{"type": "positional", "value": "-v"}], "…"),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "valueHint": "mount"}], "mount"),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional"}], "?"),
        ("oci", [{"type": "positional", "value": "evil/image"}], "evil/image"),
    ],
)
def test_words_that_would_run_something_else_are_found(kind: str, arguments: list[Any], word: str) -> None:
    assert odd_runtime_word(package(kind, runtimeArguments=arguments)) == word


def test_texts_with_unseen_characters_or_our_placeholders_are_refused() -> None:
    assert check_words(["plain", "$(not ours)", "${open"]) is None
    assert "placeholder" in str(check_words(["${secret:github/TOKEN}"]))
    assert "cannot be seen" in str(check_words(["a\x1b[2J"]))


def test_hosts_and_texts_are_shown_plainly() -> None:
    assert host("https://user@X.example:8/a") == "x.example:8"
    assert host("https://[") == ""
    assert host("ftp://x.example") == ""
    assert shown("a\x1b" + "b" * 100) == "a\\x1b" + "b" * 78 + "…"
