"""The other real servers under the profile that Watch proposes for them; tests/end2end has the first of them."""

import http.server
import threading
from collections.abc import Iterator

import pytest
from tests.end2end.confined_servers import OTHERS, Server, try_server
from tests.end2end.conftest import world  # noqa: F401 - a fixture
from tests.end2end.processes import World


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<html><body><p>words of a site</p></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("server", OTHERS, ids=lambda each: each.name)
async def test_a_server_works_under_the_profile_proposed_for_it(world: World, site: str, server: Server) -> None:  # noqa: F811
    proposal = await try_server(world, server, site=site)
    own = f"~/.{server.name.lower()}/"  # read if an earlier start had the time to write it
    read = [path for path in proposal["read"] if not path.startswith(own)]
    assert (proposal["files"], proposal["network"], read) == (server.files, server.network, []), proposal
