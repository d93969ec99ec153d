"""Charts of our own: what is not known has a look of its own, and numbers can be heard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tooltray.ui.activity.glance import Bar, Histogram
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.charts import Line, LineChart, Stage, Waterfall, nice_limit


@pytest.mark.parametrize(("highest", "limit"), [(0.0, 3.0), (97.0, 120.0), (120.0, 120.0), (121.0, 150.0), (0.04, 0.06), (8500.0, 12000.0)])
def test_a_scale_ends_at_a_round_number_that_has_room_for_all(highest: float, limit: float) -> None:
    assert nice_limit(highest) == pytest.approx(limit)


def test_a_histogram_without_bars_says_that_it_does_not_know(theme: Theme) -> None:
    chart = Histogram(theme, "Calls", "Not known")
    chart.resize(300, 90)
    assert chart.accessibleDescription() == "Not known"
    chart.grab()
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    QTest.keyClick(chart, Qt.Key.Key_Right)
    assert chart.chosen is None


def test_a_bar_is_chosen_by_a_click_and_given_back_by_another(theme: Theme) -> None:
    chart = Histogram(theme, "Calls", "Not known")
    chart.resize(304, 90)
    chart.set_bars([Bar(at % 3, at % 2, f"bar {at}", f"{at}:00") for at in range(10)])
    chosen: list[tuple[int, int]] = []
    cleared: list[bool] = []
    chart.stretch_chosen.connect(lambda first, last: chosen.append((first, last)))
    chart.cleared.connect(lambda: cleared.append(True))
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(107, 40))
    assert chosen == [(3, 3)]
    chart.set_chosen((3, 3))
    chart.grab()
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(107, 40))
    assert cleared


def test_failures_have_a_colour_and_a_shape_of_their_own(theme: Theme) -> None:
    chart = Histogram(theme, "Calls", "Not known")
    chart.resize(104, 90)
    chart.set_bars([Bar(100, 0, "well", ""), Bar(50, 1, "one failed", "")])
    image = chart.grab().toImage()
    red = theme.color("error").rgb()
    places = {(x // 52, y < 45) for x in range(104) for y in range(90) if image.pixel(x, y) == red}
    assert places == {(1, True), (1, False)}  # the mark above the bar, and the part of it that failed


def test_lines_have_gaps_where_nothing_was_measured_and_say_so_without_any_point(theme: Theme) -> None:
    chart = LineChart(theme, "Times", "No calls", str)
    chart.resize(300, 150)
    chart.set_lines([Line("p50", (None, None), "chart.p50")], ("a", "b"), ("x", "y"), "all")
    assert chart.accessibleDescription() == "No calls"
    chart.grab()
    chart.set_lines([Line("p50", (1.0, 2.0, None, 4.0), "chart.p50", is_filled=True)], tuple("abcd"), tuple("wxyz"), "all")
    assert chart.accessibleDescription() == "all"
    chart.grab()


def test_a_waterfall_can_be_heard_and_takes_no_time_that_was_not_measured(theme: Theme) -> None:
    stages = [Stage("Queue", 0.0, "0.0 ms"), Stage("Person", None, "not measured"), Stage("Server", 2.0, "2.0 s", True)]
    shown = Waterfall(theme, "Where the time went", stages)
    assert shown.accessibleDescription() == "Queue: 0.0 ms, Person: not measured, Server: 2.0 s"
    shown.resize(280, 72)
    shown.grab()
