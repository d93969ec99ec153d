"""Results that the hub makes itself, in the form of each era: a modern result names the server that answers."""

from msgspec import Raw

from tooltray import __version__
from tooltray.protocol import eras
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import SERVER_INFO_KEY, Era

SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
_META = b'{"_meta":%b,' % bytes(dump({SERVER_INFO_KEY: SERVER_INFO}))


def own_result(method: str, result: Raw, era: Era) -> Envelope:
    """Returns the reply to a request of an era.

    Args:
        result: an object that is not empty and has no `_meta`.
    """
    if era is Era.LEGACY:
        return Envelope(result=result)
    return Envelope(result=eras.as_modern_result(method, Raw(_META + memoryview(result)[1:])))
