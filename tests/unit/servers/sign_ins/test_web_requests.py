"""What an answer of an authorization server is, and when HTTP is imported."""

import json
import subprocess
import sys

from tooltray.servers.sign_ins.web_requests import Answer


def test_only_a_json_object_is_a_document() -> None:
    assert Answer(200, json.dumps({"a": 1}).encode()).document() == {"a": 1}
    for body in (b"", b"[]", b'"a"', b"<html>", b"\xff", b"[" * 100_000, b'{"a":' * 100_000):
        assert Answer(200, body).document() is None


def test_which_answers_say_nothing_about_what_was_asked() -> None:
    assert [status for status in (200, 204, 302, 400, 401, 404, 408, 425, 429, 500, 503) if Answer(status).is_overloaded] == [
        408,
        425,
        429,
        500,
        503,
    ]
    assert "secret" not in repr(Answer(200, b"secret"))


def test_the_http_library_is_not_imported_before_somebody_asks() -> None:
    parts = "authorization_client", "callback_listener", "web_requests"
    imported = "import sys, " + ", ".join(f"tooltray.servers.sign_ins.{part}" for part in parts)
    subprocess.run([sys.executable, "-c", f"{imported}; assert 'aiohttp' not in sys.modules"], check=True, env={"PYTHONPATH": "desktop"})
