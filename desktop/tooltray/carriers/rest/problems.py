"""The error responses of the REST interface: problem JSON with title, detail and hint (RFC 9457)."""

import json
from collections.abc import Mapping

from aiohttp import web

from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError

PROBLEM_TYPE = "application/problem+json"
WHAT_IT_TAKES = "GET /api/openapi.json says what it takes."
_KINDS = {
    400: "unreadable",
    401: "no-token",
    403: "denied",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    409: "conflict",
    412: "changed-meanwhile",
    413: "too-large",
    415: "unsupported-media-type",
    422: "refused",
    500: "bug",
    503: "not-read",
}
"""The last part of a problem's `type` by status. A name and no URL: the problem itself contains all information."""


class Failed(Exception):
    """A request that is answered with a problem."""

    def __init__(self, status: int, title: str, detail: str = "", hint: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(title, detail, hint)
        self.status, self.title, self.detail, self.hint, self.headers = status, title, detail, hint, dict(headers or {})
        self.scope = ""  # the required scope, if the token's is too small


def failed_by(error: TooltrayError, *, had_revision: bool) -> Failed:
    """Turns an error of a verb into a response.

    Args:
        had_revision: the caller sent `If-Match`; a conflict is then answered with 412 instead of 409.
    """
    problem = error.problem
    match error:
        case NotFound():
            status = 404
        case Conflict():
            status = 412 if had_revision else 409
        case Denied():
            status = 403
        case _:
            status = 422
    return Failed(status, problem.title, problem.message, problem.hint)


def out_of_scope(scope: str, needed: str) -> Failed:
    """Builds the response for a token whose scope is too small."""
    hint = f"Make a token for it: tooltray http api token NAME --scope {needed}"
    challenge = f'Bearer error="insufficient_scope", scope="{needed}"'  # RFC 6750
    detail = f"its scope is {scope}, and this needs {needed}"
    failed = Failed(403, "This token may not do this", detail, hint, headers={"WWW-Authenticate": challenge})
    failed.scope = needed
    return failed


def problem_response(failed: Failed) -> web.Response:
    content = {
        "type": f"urn:tooltray:problem:{_KINDS[failed.status]}",
        "title": failed.title,
        "status": failed.status,
        "detail": failed.detail,
        "hint": failed.hint,
        **({"scope": failed.scope} if failed.scope else {}),
    }
    body = json.dumps(content).encode()  # escapes surrogates, as in file names that are not UTF-8
    return web.Response(status=failed.status, body=body, content_type=PROBLEM_TYPE, headers=failed.headers)
