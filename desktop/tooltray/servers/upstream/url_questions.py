"""Which AI client knows the id of each question by which a server sent its user to a page, so that only this client hears that the user is
done.

A server asks with `elicitation/create` in the mode "url", or refuses a request with -32042, which names the pages to be visited first.
Later it may send `notifications/elicitation/complete` with the id (2025-11-25; later revisions have neither).
"""

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.sessions.caller import Session

URL_ELICITATION_REQUIRED = -32042
REMEMBERED = 256  # of one connection; a user has a few pages open


class _Page(msgspec.Struct):
    id: str = msgspec.field(name="elicitationId", default="")


class _Required(msgspec.Struct):
    elicitations: list[_Page] = []


class _Refusal(msgspec.Struct):
    data: _Required = msgspec.field(default_factory=_Required)


class UrlQuestions:
    """The open pages of one connection to a server."""

    def __init__(self) -> None:
        self._asked: dict[str, Session] = {}  # by id, the oldest first

    def asked(self, params: Raw, session: Session) -> None:
        """Notes a question for a client; a question without an id is not one with a page."""
        self._note(_page_of(params), session)

    def required(self, error: Raw, session: Session) -> None:
        """Notes the pages in the error by which a request of a client was refused."""
        if eras.error_code(error) != URL_ELICITATION_REQUIRED:
            return
        try:
            pages = msgspec.json.decode(error, type=_Refusal).data.elicitations
        except (ValueError, RecursionError):
            return
        for page in pages[:REMEMBERED]:
            self._note(page.id, session)

    def ended(self, params: Raw) -> Session | None:
        """Returns the session that knows of the page that the user is done with; each is notified once."""
        return self._asked.pop(_page_of(params), None)

    def _note(self, id: str, session: Session) -> None:
        if id:
            self._asked.pop(id, None)
            self._asked[id] = session
            if len(self._asked) > REMEMBERED:
                del self._asked[next(iter(self._asked))]


def _page_of(params: Raw) -> str:
    try:
        return msgspec.json.decode(params, type=_Page).id
    except (ValueError, RecursionError):
        return ""
