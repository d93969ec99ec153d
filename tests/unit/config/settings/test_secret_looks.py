"""secret_looks.py: which variables of an entry seem to be secrets."""

import pytest

from tooltray.config.settings.secret_looks import hidden, hidden_words, looks_secret, plain_names


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "abc"),
        ("API_KEY", "abc"),
        ("apiKey", "abc"),
        ("DB_PASSWORD", "abc"),
        ("PGPASSWORD", "abc"),
        ("WHATEVER", "ghp_0123456789"),
        ("DATABASE_URI", "postgresql://me:pw@localhost/db"),
        ("TOKEN", "${input:token}"),
    ],
)
def test_secrets_are_recognised_by_name_or_form(key: str, value: str) -> None:
    assert looks_secret(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("MAX_TOKENS", "100"),
        ("KEYBOARD", "us"),
        ("API_KEY", "${OPENAI_API_KEY}"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("DATABASE_URI", "postgresql://localhost/db"),
    ],
)
def test_what_only_resembles_a_secret_is_none(key: str, value: str) -> None:
    assert not looks_secret(key, value)


def test_what_is_written_out_and_no_secret_is_plain() -> None:
    env = {"SHARP_IGNORE_GLOBAL_LIBVIPS": "1", "ELECTRON_MIRROR": "https://a.example/", "A_KEY": "k", "A": "${secret:s/A}", "B": "${B}"}
    assert plain_names(env) == {"SHARP_IGNORE_GLOBAL_LIBVIPS", "ELECTRON_MIRROR"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["server", "--api-key", "k-123", "--verbose"], "server --api-key *** --verbose"),
        (["server", "--api-key=k-123", "--token", "--verbose"], "server --api-key=*** --token --verbose"),
        (["docker", "run", "-e", "DB_PASSWORD=hunter2", "image"], "docker run -e DB_PASSWORD=*** image"),
        (["server", "postgres://me:hun/t@r2@db.example/x"], "server postgres://me:***@db.example/x"),
        (["server", "--url", "https://a.example/?api_key=k1&page=2"], "server --url https://a.example/?api_key=***&page=2"),
        (["mcp-remote", "--header", "Authorization: Bearer abcdefgh"], "mcp-remote --header Authorization: Bearer ***"),
        (["mcp-remote", "--header=X-Api-Key: abc"], "mcp-remote --header=X-Api-Key: ***"),
        (["sh", "-c", "exec env API_TOKEN=abc server --password hunter2"], "sh -c exec env API_TOKEN=*** server --password ***"),
        (["server", "ghp_0123456789"], "server ***"),
        (["server", "--key", "/home/me/key.pem", "--token", "${TOKEN}"], "server --key /home/me/key.pem --token ${TOKEN}"),
        (
            ["server", "${secret:s/KEY}", "--header", "Authorization: Bearer ${KEY}"],
            "server ${secret:s/KEY} --header Authorization: Bearer ${KEY}",
        ),
        (["gh", "auth", "token", "list"], "gh auth token list"),
        (["server", "https://a.example/path?page=2", r"C:\Users\me", "--", ""], r"server https://a.example/path?page=2 C:\Users\me -- "),
    ],
)
def test_of_a_command_line_no_secret_is_shown(words: list[str], shown: str) -> None:
    assert " ".join(hidden_words(words)) == shown


def test_of_a_line_that_a_server_prints_no_secret_is_shown() -> None:
    assert hidden("cannot reach redis://:hunter2@localhost:6379: refused") == "cannot reach redis://:***@localhost:6379: refused"
    assert hidden("token: it has expired") == "token: it has expired"
    assert hidden("Missing key: set API_KEY and try again") == "Missing key: set API_KEY and try again"
