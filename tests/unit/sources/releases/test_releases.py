"""releases.py: the list is read once a day at most, kept over restarts, and what it has for this version is published."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import hub_parts
from tests.fakes.mcp_registry import answers_text
from tests.fakes.release_list import FakeReleaseList, listening_list, release

from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.foundation.events import EventBus, ReleaseNewsChanged
from tooltray.foundation.installs.installation import CHECKOUT, Installation
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.sources.releases.api import ReleasesApi
from tooltray.sources.releases.releases import CHECKED_EVERY_S, Releases

START = 1_000_000.0
DEB = "tooltray_1.3.0_amd64.deb"


class Conf:
    def __init__(self, address: str, check: bool | None = True) -> None:
        self.settings: Settings = read_settings({"updates": {"address": address, "check": check}}).settings


class Made:
    """Makes the part anew over one file, as each hub does."""

    def __init__(self, folder: Path, served: FakeReleaseList) -> None:
        self.path, self.served, self.now = folder / "releases.json", served, START
        self.conf, self.bus = Conf(served.address), EventBus()
        self.heard: list[ReleaseNews] = []
        self.bus.subscribe(ReleaseNewsChanged, lambda event: self.heard.append(event.news))
        self.version, self.kind = "1.2.0", "deb"

    def part(self) -> Releases:
        config: Any = self.conf
        return Releases(
            config=config,
            releases_file=self.path,
            environ=no_variables,
            bus=self.bus,
            installation=lambda: Installation(self.kind, self.version, ()),
            clock=lambda: self.now,
        )

    @property
    def published(self) -> ReleaseNews:
        return self.heard[-1]


async def no_variables() -> Mapping[str, str]:
    return {}


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Made]:
    async with listening_list(FakeReleaseList()) as served:
        served.publish(release("1.3.0", "Tabs", "Fewer pauses", files=(DEB,)))
        yield Made(tmp_path, served)


async def test_a_newer_release_is_published_with_the_way_to_it(made: Made) -> None:
    news = await made.part().check()
    assert news == made.published
    assert news == ReleaseNews(
        made.served.address,
        True,
        START,
        version="1.3.0",
        changes=("Tabs", "Fewer pauses"),
        update=f"Install the newer package: sudo apt install ./{DEB}",
        command=f"sudo apt install ./{DEB}",
        download=made.served.address.replace("releases.json", DEB),
    )


@pytest.mark.parametrize(("kind", "command"), [(CHECKOUT, "git pull && make run"), ("windows-setup", "")])
async def test_a_kind_without_a_file_in_the_list_has_nothing_to_download(made: Made, kind: str, command: str) -> None:
    made.kind = kind
    news = await made.part().check()
    assert (news.version, news.download, news.command) == ("1.3.0", "", command)


@pytest.mark.parametrize("version", ["1.3.0", "2.0.0"])
async def test_the_newest_version_has_no_news(made: Made, version: str) -> None:
    made.version = version
    assert await made.part().check() == ReleaseNews(made.served.address, True, START)


async def test_the_running_version_was_withdrawn(made: Made) -> None:
    made.served.publish(release("1.2.0", withdrawn="It loses settings"))
    assert (await made.part().check()).withdrawn == "It loses settings"


async def test_the_list_is_read_once_a_day_also_by_the_next_hub(made: Made) -> None:
    releases = made.part()
    await releases.check_if_due()
    await releases.check_if_due()
    assert len(made.served.asked) == 1
    made.now += CHECKED_EVERY_S - 1
    later = made.part()
    await later.load()
    assert made.published.version == "1.3.0"
    await later.check_if_due()
    assert len(made.served.asked) == 1
    made.now += 1
    await later.check_if_due()
    assert len(made.served.asked) == 2


async def test_a_failure_counts_as_the_days_attempt_and_what_is_known_stays(made: Made) -> None:
    releases = made.part()
    await releases.check()
    made.now += CHECKED_EVERY_S
    made.served.on_request["/releases.json"] = answers_text("<html>")
    await releases.check_if_due()
    await releases.check_if_due()
    assert len(made.served.asked) == 2
    assert made.published.version == "1.3.0"
    assert made.published.problem is not None
    made.served.publish()
    assert await releases.check() == ReleaseNews(made.served.address, True, made.now)


async def test_a_clock_that_was_set_back_does_not_stop_the_looking(made: Made) -> None:
    releases = made.part()
    await releases.check()
    made.now -= 10 * 365 * 86400
    await releases.check_if_due()
    assert len(made.served.asked) == 2
    await releases.check_if_due()
    assert len(made.served.asked) == 2


async def test_after_an_update_the_kept_list_has_no_news(made: Made) -> None:
    await made.part().check()
    made.version = "1.3.0"
    await made.part().load()
    assert made.published == ReleaseNews(made.served.address, True, START)


async def test_the_list_of_another_address_does_not_count(made: Made) -> None:
    releases = made.part()
    await releases.check()
    made.conf.settings = Conf(made.served.address.replace("releases.json", "others.json")).settings
    address = made.conf.settings.updates.address
    await releases.load()
    assert made.published == ReleaseNews(address, True)
    await releases.check_if_due()
    assert made.published == ReleaseNews(address, True, START)
    assert len(made.served.asked) == 2


async def test_two_checks_at_once_follow_each_other(made: Made) -> None:
    releases = made.part()
    first, second = await asyncio.gather(releases.check(), releases.check())
    assert first == second


async def test_without_an_address_nothing_is_read(made: Made) -> None:
    made.conf.settings = Conf("").settings
    problem = (await made.part().check()).problem
    assert problem is not None
    assert "updates.address" in problem.message
    assert made.served.asked == []


async def test_the_verb_reads_now_also_if_the_user_has_not_decided(made: Made) -> None:
    made.conf.settings = Conf(made.served.address, None).settings
    news = await ReleasesApi(releases=made.part()).check_for_release()
    assert (news.version, news.is_unasked) == ("1.3.0", True)


async def test_without_a_file_nothing_is_known(made: Made) -> None:
    await made.part().load()
    assert made.published == ReleaseNews(made.served.address, True)


@pytest.mark.parametrize("content", [b"{", b'{"tried_at": "x"}', b"[" * 100_000])
async def test_a_file_that_cannot_be_read_is_as_none(made: Made, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    made.path.write_bytes(content)
    with caplog.at_level(logging.INFO):
        await made.part().load()
    assert made.published == ReleaseNews(made.served.address, True)
    assert "cannot be used" in caplog.text


async def test_a_file_that_cannot_be_written_costs_only_the_next_hub(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    made.path = made.path.parent / "gone" / "releases.json"
    with caplog.at_level(logging.INFO):
        assert (await made.part().check()).version == "1.3.0"
    assert "could not be saved" in caplog.text


async def test_the_file_has_no_more_than_is_needed(made: Made) -> None:
    await made.part().check()
    assert set(json.loads(made.path.read_bytes())) == {"address", "tried_at", "releases"}


async def test_a_hub_reads_the_list_by_the_verb_and_has_it_in_its_snapshot(tmp_path: Path, made: Made) -> None:
    made.served.publish(release("99.0.0"))
    async with hub_parts(tmp_path, servers={}, settings={"updates": {"address": made.served.address}}) as parts:
        news = await parts.presenter.check_for_release()
        assert (news.problem, news.version, news.check) == (None, "99.0.0", None)
        assert parts.presenter.snapshot().release == news
