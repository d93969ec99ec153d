"""views/api.py, through McpPresenter's verbs; what each of them does is shown beside the module that does it."""

from tests.fakes.hub_parts import HubParts


async def test_how_tools_are_shown_to_a_client_is_chosen_and_read(parts: HubParts) -> None:
    await parts.presenter.set_client_mode("Cursor", "search")
    assert [each.mode for each in await parts.presenter.get_client_modes() if each.client == "Cursor"] == ["search"]


async def test_sessions_of_clients_are_told(parts: HubParts) -> None:
    assert await parts.presenter.get_sessions() == []
    parts.states.connect("a").client = "Cursor"
    assert [each.client for each in await parts.presenter.get_sessions()] == ["Cursor"]


async def test_profiles_are_written_and_read(parts: HubParts) -> None:
    await parts.presenter.set_profile("work", {"servers": ["s"]})
    assert [each.name for each in await parts.presenter.get_profiles()] == ["work"]
