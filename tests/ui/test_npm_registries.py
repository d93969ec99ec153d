"""The words of the Network tab: which registry is in use and which cannot be."""

from datetime import datetime

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.i18n import JsonTranslator
from tooltray.ui.settings.registries import measured, registry_look, registry_time, where_from

NPM = RegistryMeasurement("https://npm.example/", "npm", "npm", "", 200.0)
MIRROR = RegistryMeasurement("https://mirror.example/", "M", "mirror", "China", 50.0)
STALE = RegistryMeasurement("https://stale.example/", "S", "mirror", "", 20.0, "its copy of npx is old")
SILENT = RegistryMeasurement("https://silent.example/", "X", "settings", "", None, "no answer within 10 s")


@pytest.mark.parametrize(
    ("entry", "url", "word"),
    [
        (MIRROR, MIRROR.url, "In use"),
        (NPM, MIRROR.url, "Reachable"),
        (NPM, "", "In use"),  # nothing is set, so that npm uses what it is configured to use
        (MIRROR, "", "Reachable"),
        (STALE, "", "Left out"),
        (SILENT, "", "No answer"),
        (SILENT, SILENT.url, "No answer"),  # chosen by the person, and of no use
        (STALE, STALE.url, "Left out"),
        (RegistryMeasurement("https://new.example/", "n", "custom"), "https://new.example/", "In use"),
    ],
)
def test_a_registry_is_in_use_reachable_left_out_or_silent(app: QApplication, entry: RegistryMeasurement, url: str, word: str) -> None:
    assert registry_look(entry, NpmRegistryStatus(url=url)).word == word


def test_bars_share_the_slowest_and_what_cannot_be_used_is_never_green(app: QApplication) -> None:
    status = NpmRegistryStatus(url=MIRROR.url, measurements=(MIRROR, NPM, STALE, SILENT))
    assert registry_time(MIRROR, status) == (50 / 300, "success", "50 ms")
    assert registry_time(NPM, status) == (200 / 300, "neutral", "200 ms")
    assert registry_time(SILENT, status) == (0.0, "neutral", "–")
    assert registry_time(STALE, NpmRegistryStatus(url=STALE.url))[1] == "neutral"


def test_where_a_registry_comes_from_is_said_in_the_person_s_language(app: QApplication) -> None:
    custom = RegistryMeasurement("https://c.example/", "c", "custom")
    far = RegistryMeasurement("https://f.example/", "f", "mirror", "Atlantis")
    assert [where_from(each) for each in (NPM, custom, SILENT, STALE, far)] == [
        "your npm configuration",
        "chosen by you",
        "your settings",
        "mirror",
        "Atlantis",
    ]
    translator = JsonTranslator("zh_TW")
    QCoreApplication.installTranslator(translator)
    try:
        assert where_from(MIRROR) == "中國"
    finally:
        QCoreApplication.removeTranslator(translator)


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (30, "Measured just now."),
        (600, "Measured 10 min ago."),
        (7300, "Measured 2 h ago."),
        (4 * 86400, "Measured 4 days ago."),
    ],
)
def test_when_it_was_measured(app: QApplication, age_s: float, text: str) -> None:
    now = datetime(2026, 11, 22, 12)
    assert measured(NpmRegistryStatus(measured_at=now.timestamp() - age_s), now) == text


def test_what_is_being_measured_or_never_was(app: QApplication) -> None:
    now = datetime(2026, 11, 22)
    assert measured(NpmRegistryStatus(is_measuring=True, measured_at=1.0), now) == "They are being measured now."
    assert measured(NpmRegistryStatus(), now) == "Not measured yet."
