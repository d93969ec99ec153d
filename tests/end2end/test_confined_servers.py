"""A real server under the profile that Watch proposes for it; tests/conformance has the others."""

import sys

import pytest
from tests.end2end.confined_servers import FILESYSTEM, try_server
from tests.end2end.processes import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Watch and its profiles are of Linux")


async def test_a_server_works_under_the_profile_proposed_for_it(world: World) -> None:
    proposal = await try_server(world, FILESYSTEM)
    assert (proposal["files"], proposal["network"]) == (FILESYSTEM.files, FILESYSTEM.network), proposal
