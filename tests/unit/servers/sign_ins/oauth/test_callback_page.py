"""The page at the end of a sign-in."""

from tooltray.servers.sign_ins.oauth.callback_page import Page, answered, declined


def test_names_and_reasons_are_shown_as_text() -> None:
    shown = declined("<b>far</b>", "<img src=x>").response().decode()
    assert "&lt;b&gt;far&lt;/b&gt;" in shown
    assert "&lt;img src=x&gt;" in shown


def test_a_refusal_without_a_reason_is_one_all_the_same() -> None:
    assert declined("far", "").text == "You can close this page, and sign in again in Tooltray."


def test_the_length_is_that_of_the_bytes() -> None:
    head, _, body = answered("伺服器").response().partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert "伺服器" in body.decode()


def test_a_text_that_is_none_can_be_shown() -> None:
    assert b"<h1>?</h1>" in Page(404, "\ud800", "").response()
