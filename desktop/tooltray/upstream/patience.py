"""How long a server is waited for, and when it is tried again: the limits of one copy's life.

Above it: Instance, which keeps to them. Below it: the limits of a start (start_watch) and of the greeting (handshake).
"""

import msgspec

from tooltray.upstream.handshake import DISCOVER_TIMEOUT_S
from tooltray.upstream.start_watch import StartLimits

RESTART_AFTER_S = (1.0, 2.0, 4.0)  # three failures in a row; then somebody has to act
HEALTHY_AFTER_S = 60.0  # a copy that ran this long starts counting anew
START_LIMIT_S = 300.0  # from the first attempt to reach it to its greeting; npx and uvx may have to download the server first
EXPIRY_AFTER_S = 10.0  # a session that ends sooner is a failure, or we would open one after the other
SLOW_AFTER_S = 45.0  # from then on the card says so
REMOTE_RETRY_AFTER_S = (15.0, 30.0, 60.0, 120.0, 300.0)  # a server elsewhere comes back by itself; the last pause stays


class Patience(msgspec.Struct, frozen=True):
    """How long a server is waited for, and how often it is tried again; all in seconds.

    Attributes:
        restart_after_s: one pause per restart in a row.
        healthy_after_s: a copy that ran this long starts counting anew.
        expiry_after_s: a server elsewhere that forgets our session is opened anew at once, unless it does so sooner than this.
        start_limit_s: from the first attempt to reach it to its greeting.
        start: what ends the wait sooner, by what the server does meanwhile.
        slow_after_s: a start that takes longer is called slow.
        remote_retry_after_s: the pauses after which a server elsewhere is tried again in the background; the last one stays.
        discover_timeout_s: after which a server counts as silent to the modern greeting.
    """

    restart_after_s: tuple[float, ...] = RESTART_AFTER_S
    healthy_after_s: float = HEALTHY_AFTER_S
    expiry_after_s: float = EXPIRY_AFTER_S
    start_limit_s: float = START_LIMIT_S
    start: StartLimits = msgspec.field(default_factory=StartLimits)
    slow_after_s: float = SLOW_AFTER_S
    remote_retry_after_s: tuple[float, ...] = REMOTE_RETRY_AFTER_S
    discover_timeout_s: float = DISCOVER_TIMEOUT_S
