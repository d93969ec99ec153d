"""The REST operations on servers to find: the registry, and the list of well-known ones.

Above it: the table of all operations. Below it: the presenter's API. What is added waits for a person's yes, as with any other server.
"""

from tooltray.carriers.rest.operation import Operation
from tooltray.sources.discovery.api import DiscoveryApi

DISCOVERY = "/mcp/discovery"

OPERATIONS = (
    Operation("GET", f"{DISCOVERY}/servers", DiscoveryApi.search_registry),
    Operation("GET", f"{DISCOVERY}/servers/{{name}}", DiscoveryApi.get_registry_server),
    Operation("POST", f"{DISCOVERY}/servers/{{name}}/preview", DiscoveryApi.preview_registry_server),  # may download a bundle
    Operation("POST", f"{DISCOVERY}/servers/{{name}}/add", DiscoveryApi.add_registry_server, status=201, wrap="server"),
    Operation("POST", f"{DISCOVERY}/refresh", DiscoveryApi.refresh_registry),
    Operation("GET", f"{DISCOVERY}/updates", DiscoveryApi.get_registry_updates),
    Operation("POST", f"{DISCOVERY}/updates/{{server}}", DiscoveryApi.update_registry_server, status=204),
    Operation("GET", f"{DISCOVERY}/starters", DiscoveryApi.get_starter_servers),
    Operation("POST", f"{DISCOVERY}/starters/{{id}}/add", DiscoveryApi.add_starter_server, status=201, wrap="server"),
)
