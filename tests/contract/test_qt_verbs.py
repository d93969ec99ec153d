"""The Qt presenter layer offers the engine's verbs, all of them and as they are: the two must not drift apart."""

import inspect

import pytest
from tests.fakes.fake_presenter import FakePresenter

from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.verbs import VERBS
from tooltray.ui.presenter.qt_mcp_client import QtMcpClient
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.presenter.qt_server_manager import QtServerManager
from tooltray.ui.presenter.qt_tool_manager import QtToolManager

EVENTS = {"server_started", "server_stopped", "tool_call_result", "config_changed", "server_status_changed", "client_list_updated"}


def verbs(kind: type) -> dict[str, inspect.Signature]:
    """The public coroutine functions of a class, also those that are mixed in."""
    found = inspect.getmembers(kind, inspect.iscoroutinefunction)
    return {name: inspect.signature(value) for name, value in found if not name.startswith("_")}


def subjects(kind: type) -> dict[str, set[str]]:
    """Of each class of verbs that is mixed into a presenter: those that others may call by name."""
    mixed_in = [each for each in kind.__mro__ if each.__name__.endswith("Verbs")]
    return {each.__name__: {name for name in vars(each) if name in VERBS} - {"initialize"} for each in mixed_in}


def shape(signature: inspect.Signature) -> list[tuple[str, object, object, object]]:
    return [(each.name, each.kind, each.default, each.annotation) for each in signature.parameters.values()]


def test_qt_mcp_presenter_has_every_verb_and_no_other() -> None:
    assert set(verbs(QtMcpPresenter)) == set(VERBS)


@pytest.mark.parametrize("kind", [QtMcpPresenter, FakePresenter])
def test_the_verbs_stand_under_the_same_subjects_on_both_sides(kind: type) -> None:
    assert subjects(kind) == subjects(McpPresenter)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_the_same_arguments_on_both_sides(verb: str) -> None:
    assert shape(verbs(QtMcpPresenter)[verb]) == shape(inspect.signature(getattr(McpPresenter, verb)))


@pytest.mark.parametrize("kind", [QtServerManager, QtToolManager])
def test_the_smaller_classes_offer_verbs_under_the_same_names(kind: type) -> None:
    offered = verbs(kind)
    assert offered
    for name, signature in offered.items():
        assert shape(signature) == shape(inspect.signature(getattr(McpPresenter, name))), name


def test_a_client_s_log_is_the_presenter_s_without_the_name() -> None:
    ours = shape(verbs(QtMcpClient)["get_server_log"])
    theirs = shape(inspect.signature(McpPresenter.get_server_log))
    assert ours == [each for each in theirs if each[0] != "name"]


def test_the_six_events_are_signals_under_their_names() -> None:
    signals = {bytes(QtMcpPresenter.staticMetaObject.method(index).name()).decode() for index in range(methods())}
    assert signals >= EVENTS


def methods() -> int:
    return QtMcpPresenter.staticMetaObject.methodCount()


@pytest.mark.parametrize("verb", VERBS)
def test_the_fake_of_the_ui_s_tests_is_called_like_the_real_presenter(verb: str) -> None:
    ours = [each[:3] for each in shape(inspect.signature(getattr(FakePresenter, verb)))]
    assert ours == [each[:3] for each in shape(inspect.signature(getattr(McpPresenter, verb)))]
