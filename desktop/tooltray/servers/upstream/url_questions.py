"""Who a server has sent to a page: which AI client knows the id of each such question, so that it alone hears that the person is done.

A server asks with `elicitation/create` in the mode "url", or refuses a request with -32042, which names the pages to be visited first.
Later it may say `notifications/elicitation/complete` with the id (2025-11-25; later revisions have neither). Above it: McpClient, which
notes the questions, and the sessions, which pass the news on. Below it: protocol.
"""

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.sessions.caller import Session

URL_ELICITATION_REQUIRED = -32042
REMEMBERED = 256  # of one connection; a person has a few pages open


class _Page(msgspec.Struct):
    id: str = msgspec.field(name="elicitationId", default="")


class _Required(msgspec.Struct):
    elicitations: list[_Page] = []


class _Refusal(msgspec.Struct):
    data: _Required = msgspec.field(default_factory=_Required)


class UrlQuestions:
    """Of one connection to a server."""

    def __init__(self) -> None:
        self._asked: dict[str, Session] = {}  # by id, the oldest first

    def asked(self, params: Raw, session: Session) -> None:
        """A client gets a question; one without an id is none of these."""
        self._note(_page_of(params), session)

    def required(self, error: Raw, session: Session) -> None:
        """A request of a client was refused with an error."""
        if eras.error_code(error) != URL_ELICITATION_REQUIRED:
            return
        try:
            pages = msgspec.json.decode(error, type=_Refusal).data.elicitations
        except (ValueError, RecursionError):
            return
        for page in pages[:REMEMBERED]:
            self._note(page.id, session)

    def ended(self, params: Raw) -> Session | None:
        """Who knows of the page that the person is done with; each is told once."""
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
