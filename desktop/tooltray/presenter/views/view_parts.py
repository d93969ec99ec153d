"""Joins the parts of Views.

Above it: the engine. Below it: Views and what it is made of.
"""

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.events import EventBus
from tooltray.presenter.offers import Offers
from tooltray.presenter.prompt_manager import PromptManager
from tooltray.presenter.relay import START_WAIT_S
from tooltray.presenter.resource_manager import ResourceManager
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.session_state import SessionStates
from tooltray.presenter.tool_manager import ToolManager
from tooltray.presenter.views.activation import LISTS_WAIT_S, Activation
from tooltray.presenter.views.modes import Modes
from tooltray.presenter.views.profiles import Profiles
from tooltray.presenter.views.session_view import SessionViews
from tooltray.presenter.views.view_lists import ViewLists
from tooltray.presenter.views.views import ToolCall, Views
from tooltray.presenter.visibility import Visibility
from tooltray.tools.asked_words import AskedWords
from tooltray.tools.known_servers import KnownServers
from tooltray.tools.names import PublishedNames


def make_views(
    *,
    config: McpConfHelper,
    servers: ServerManager,
    tools: ToolManager,
    offers: Offers,
    prompts: PromptManager,
    resources: ResourceManager,
    names: PublishedNames,
    modes: Modes,
    profiles: Profiles,
    visibility: Visibility,
    states: SessionStates,
    known: KnownServers,
    asked: AskedWords,
    call: ToolCall,
    bus: EventBus,
    start_wait_s: float = START_WAIT_S,
    lists_wait_s: float = LISTS_WAIT_S,
) -> Views:
    """For arguments see Views, ViewLists and Activation."""
    lists = ViewLists(config=config, servers=servers, tools=tools, offers=offers, profiles=profiles, names=names, known=known, asked=asked)
    activation = Activation(
        servers=servers,
        tools=tools,
        offers=offers,
        prompts=prompts,
        resources=resources,
        lists=lists,
        is_paused=lambda: not config.settings.mcp_enabled,
        start_wait_s=start_wait_s,
        lists_wait_s=lists_wait_s,
    )
    views = Views(
        servers=servers,
        tools=tools,
        profiles=profiles,
        states=states,
        views=SessionViews(config=config, servers=servers, tools=tools, modes=modes, profiles=profiles, visibility=visibility),
        lists=lists,
        activation=activation,
        call=call,
        bus=bus,
    )
    modes.listen(views.invalidate)
    return views
    modes.listen(views.invalidate)
    return views
