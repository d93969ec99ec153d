"""The page that a browser shows at the end of a sign-in: plain HTML without scripts, images or external resources."""

from html import escape

import msgspec

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Connection": "close",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the page's URL contains the authorization code
    "X-Content-Type-Options": "nosniff",
}
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto 0;padding:0 1.5em}"
    "h1{font-size:1.4em;font-weight:600;margin:0 0 .4em}p{margin:0;overflow-wrap:anywhere}"
)
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone"}


class Page(msgspec.Struct, frozen=True):
    status: int
    title: str
    text: str

    def response(self) -> bytes:
        """Returns the whole HTTP response as bytes."""
        title, text = escape(self.title), escape(self.text)
        body = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{_STYLE}</style></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>\n"
        ).encode(errors="replace")
        head = "".join(f"{name}: {value}\r\n" for name, value in {**_HEADERS, "Content-Length": str(len(body))}.items())
        return f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n{head}\r\n".encode() + body


def answered(server: str) -> Page:
    return Page(200, "You can close this page", f"Tooltray has the answer and now connects to '{server}'.")


def declined(server: str, reason: str) -> Page:
    """
    Args:
        reason: the authorization server's error text; short and on one line.
    """
    quote = f"The sign-in page said: {reason}. " if reason else ""
    return Page(200, f"You are not signed in to '{server}'", f"{quote}You can close this page, and sign in again in Tooltray.")


def refused(server: str, reason: str) -> Page:
    """Returns the page for an answer that is not accepted.

    Args:
        reason: why Tooltray does not accept the answer.
    """
    return Page(400, f"You are not signed in to '{server}'", f"Tooltray does not take this answer: {reason}. You can close this page.")


OTHER_SIGN_IN = Page(400, "This page belongs to another sign-in", "Close it, and go on in the page that Tooltray opened last.")
UNREADABLE = Page(400, "This address cannot be read", "Sign in again in Tooltray.")
OVER = Page(410, "This sign-in is over", "You can close this page.")
NOT_HERE = Page(404, "There is nothing here", "This address is for the end of a sign-in alone.")
FORBIDDEN = Page(403, "There is nothing here", "This address is for this computer's own browser alone.")
WRONG_METHOD = Page(405, "There is nothing here", "This address is for the end of a sign-in alone.")
