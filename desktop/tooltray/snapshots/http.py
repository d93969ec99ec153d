"""Where AI clients and programs can connect over HTTP, and which of them may."""

from dataclasses import dataclass

from tooltray.errors import Problem


@dataclass(frozen=True)
class HttpStatus:
    """Whether and where AI clients can connect over HTTP."""

    is_enabled: bool = False  # by the settings
    is_open: bool = False
    url: str = ""  # of all servers together, if it is open
    requires_token: bool = True
    problem: Problem | None = None  # why it is enabled and not open
    is_api_enabled: bool = False  # programs may do over HTTP what a person can do here; by the settings
    api_url: str = ""  # of that, if it is open
    is_api_trusted: bool = False  # those programs may also approve calls, trust projects and allow folders


@dataclass(frozen=True)
class ClientTokenSnapshot:
    """An AI client that may connect over HTTP; the token itself is known to nobody but the client."""

    name: str
    created_at: float  # unix seconds
