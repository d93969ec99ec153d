"""settings/secret_looks.py: which variables of an entry seem to be secrets."""

import pytest

from tooltray.settings.secret_looks import looks_secret, plain_names


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
