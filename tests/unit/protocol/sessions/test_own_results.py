"""own_results.py"""

import json

from msgspec import Raw

from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.own_results import SERVER_INFO, own_result


def test_a_modern_result_says_who_answers_and_a_legacy_one_is_as_it_was() -> None:
    made = Raw(b'{"tools":[1e400]}')
    assert own_result("tools/list", made, Era.LEGACY).result == made
    assert json.loads(bytes(own_result("tools/list", made, Era.MODERN).result)) == {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO},
        "tools": [float("inf")],
    }
