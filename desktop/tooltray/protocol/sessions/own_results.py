"""Results that the hub makes itself, as each era has them: a modern one says who answers.

Above it: lists of all servers, tools of the hub's own, greetings. Below it: protocol. Knows no server.
"""

from msgspec import Raw

from tooltray import __version__
from tooltray.protocol import eras
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import SERVER_INFO_KEY, Era

SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
_META = b'{"_meta":%b,' % bytes(dump({SERVER_INFO_KEY: SERVER_INFO}))


def own_result(method: str, result: Raw, era: Era) -> Envelope:
    """The reply to a request of an era.

    Args:
        result: an object with members, and without `_meta`.
    """
    if era is Era.LEGACY:
        return Envelope(result=result)
    return Envelope(result=eras.as_modern_result(method, Raw(_META + memoryview(result)[1:])))
