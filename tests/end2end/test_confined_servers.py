"""Real servers under the profile that Watch proposes for them: those that `make test` installs; tests/conformance has the others."""

import sys

import pytest
from tests.end2end.confined_servers import INSTALLED, Server, try_server
from tests.end2end.processes import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Watch and its profiles are of Linux")


@pytest.mark.parametrize("server", INSTALLED, ids=lambda each: each.name)
async def test_a_server_works_under_the_profile_proposed_for_it(world: World, server: Server) -> None:
    proposal = await try_server(world, server)
    assert (proposal["files"], proposal["network"]) == (server.files, server.network), proposal
