"""Cards show calls from before the hub started."""

import time
from pathlib import Path

from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.journals import entry as journal_entry
from tests.fakes.journals import written

from tooltray.foundation.events import ServerChanged

SERVERS = {"files": entry("p")}


def shown(parts: HubParts) -> tuple[int, float]:
    server = parts.servers.get("files")
    card = parts.snapshots.of(server)
    return sum(card.calls), card.p95_ms


async def test_a_card_counts_what_the_journal_has_from_before(tmp_path: Path) -> None:
    now = time.time()
    async with hub_parts(tmp_path, servers=SERVERS) as parts:
        entries = [journal_entry(at=now - 60, duration=0.5), journal_entry(at=now - 60, server="gone"), journal_entry(at=now + 60)]
        written(parts.home.activity, entries).close()
        parts.stats.add("files", 0.1, now)
        await parts.past_stats.count()
        assert shown(parts) == (2, 500.0)
        assert "files" in [event.server.name for event in parts.heard.of(ServerChanged)]
        parts.journal_reader.close()


async def test_a_journal_that_cannot_be_read_counts_nothing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=SERVERS) as parts:
        parts.home.activity.write_bytes(b"no database" * 1000)
        await parts.past_stats.count()
        assert shown(parts) == (0, 0.0)
