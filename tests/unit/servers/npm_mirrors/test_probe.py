"""probe.py, measuring.py: with registries on the loopback."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.npm_registry import (
    SDK,
    FakeRegistry,
    answers,
    answers_bytes,
    answers_html,
    cut_off,
    document,
    listening,
    quick_headers,
    redirects,
)

from tooltray.servers.launch.npm_config import MIRROR, Answer, NpmConfiguration, Registry, normalised
from tooltray.servers.npm_mirrors import probe
from tooltray.servers.npm_mirrors.measuring import measure_registries
from tooltray.servers.npm_mirrors.probe import RegistryProbe
from tooltray.servers.transports.http.certificate_trust import tls_context


async def ask(url: str, *packages: str, limit_s: float = 20.0, authorization: str = "", environ: Mapping[str, str] | None = None) -> Answer:
    async with RegistryProbe(environ=environ or {}, trust=tls_context({}), limit_s=limit_s) as probe:
        registry = Registry(url, "r", MIRROR)
        return await probe.ask(registry, packages or (SDK,), authorization=authorization, with_python=False)


async def test_a_good_registry_answers_with_the_newest_versions_and_its_time() -> None:
    registry = FakeRegistry({SDK: "1.2.3", "mine": "4.5.6"})
    async with listening(registry):
        found = await ask(registry.url, SDK, "mine", "unknown")
    assert (found.problem, found.latest) == ("", {SDK: "1.2.3", "mine": "4.5.6"})
    assert found.milliseconds is not None
    assert found.milliseconds > 0


async def test_it_is_asked_as_npm_asks() -> None:
    registry = FakeRegistry()
    async with listening(registry, path="/npm/"):
        await ask(registry.url, authorization="Bearer token")
    (asked,) = registry.asked.all
    assert asked.path == "/npm/@modelcontextprotocol%2fsdk"
    assert asked.headers["Accept"].startswith("application/vnd.npm.install-v1+json")
    assert asked.headers["Authorization"] == "Bearer token"


async def test_the_time_runs_until_the_whole_answer_is_there_and_not_to_its_headers() -> None:
    quick, liar, may_go_on = FakeRegistry(), FakeRegistry(), asyncio.Event()
    liar.on_package = quick_headers(may_go_on)
    async with listening(quick, liar), asyncio.TaskGroup() as group:
        lying = group.create_task(ask(liar.url))
        await liar.asked.wait()
        honest = await ask(quick.url)
        may_go_on.set()
        found = await lying
    assert (found.problem, honest.problem) == ("", "")
    assert found.milliseconds is not None
    assert honest.milliseconds is not None
    assert found.milliseconds > honest.milliseconds


@pytest.mark.parametrize(
    ("handler", "problem"),
    [
        (answers_html(), "a web page"),
        (answers_html(500), "HTTP 500"),
        (answers({}, status=401), "requires a sign-in (HTTP 401)"),
        (answers({}, status=403), "requires a sign-in (HTTP 403)"),
        (answers({"ok": True}), "does not describe @modelcontextprotocol/sdk"),
        (answers([1]), "does not describe"),
        (answers(document("another", "1.0.0")), "another package"),
        (answers({**document(SDK, "1.0.0"), "versions": {}}), "no version of"),
        (answers_bytes(b'{"name": "\xff", "versions": {}}'), "its answer is not JSON"),
        (answers_bytes(b'{"x": ' + b"[" * 100_000), "its answer is not JSON"),
        (cut_off(says_length=True), "the connection broke"),
        (cut_off(says_length=False), "its answer is not JSON, or was cut off"),
        (redirects(lambda name: "http://elsewhere.example/x"), "redirects to elsewhere.example"),
        (redirects(lambda name: f"/{name}"), "in a circle"),
        (redirects(lambda name: "http://[half"), "HTTP 302"),
    ],
)
async def test_what_a_registry_does_wrong_is_said(handler: Any, problem: str) -> None:
    registry = FakeRegistry(on_package=handler)
    async with listening(registry):
        found = await ask(registry.url)
    assert problem in found.problem
    assert (found.milliseconds, found.latest) == (None, {})


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..b", "xn--", "\u0300", "a\\b"])
async def test_an_address_that_http_does_not_know_is_said_of_it_alone(host: str) -> None:
    good = FakeRegistry()
    async with listening(good):
        registries = [Registry(good.url, "good", MIRROR), Registry(normalised(f"http://me:hunter2@{host}/"), "bad", MIRROR)]
        found, bad = await measure_registries(registries, (SDK,), environ={}, configuration=NpmConfiguration(), with_python=False)
    assert (found.problem, bad.problem) == ("", "its address, or npm's key for it, cannot be sent over HTTP")


async def test_a_key_of_npm_that_is_no_header_is_said() -> None:
    registry = FakeRegistry()
    async with listening(registry):
        assert "npm's key for it" in (await ask(registry.url, authorization="Bearer a\nb")).problem
    assert registry.asked.all == []


async def test_a_redirect_on_the_same_host_is_followed() -> None:
    registry = FakeRegistry()

    async def moved(request: web.BaseRequest, name: str) -> web.StreamResponse:
        if name.startswith("new/"):
            return web.json_response(document(SDK, "1.2.3"))
        return web.Response(status=301, headers={"Location": "/new/x"})

    registry.on_package = moved
    async with listening(registry):
        assert (await ask(registry.url)).latest == {SDK: "1.2.3"}


async def test_a_document_without_a_newest_version_counts_as_there() -> None:
    registry = FakeRegistry(on_package=answers({"name": SDK, "versions": {"1.0.0": {}}}))
    async with listening(registry):
        assert (await ask(registry.url)).latest == {SDK: ""}


async def test_a_registry_that_hangs_is_given_up() -> None:
    registry = FakeRegistry(held=asyncio.Event())
    async with listening(registry):
        found = await ask(registry.url, limit_s=0.05)
    assert found == Answer(found.registry, problem="no whole answer within 0.05 s")


async def test_an_answer_without_end_is_given_up() -> None:
    registry = FakeRegistry()

    async def endless(request: web.BaseRequest, name: str) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(probe.MAX_DOCUMENT_BYTES // 2**20 + 1):
            await response.write(b" " * 2**20)
        return response

    registry.on_package = endless
    async with listening(registry):
        assert "larger than 64 MiB" in (await ask(registry.url)).problem


async def test_an_answer_may_be_packed() -> None:
    registry = FakeRegistry()

    async def packed(request: web.BaseRequest, name: str) -> web.StreamResponse:
        response = web.json_response(document(name, "1.2.3"))
        response.enable_compression(web.ContentCoding.gzip)
        return response

    registry.on_package = packed
    async with listening(registry):
        assert (await ask(registry.url)).latest == {SDK: "1.2.3"}


async def test_nothing_listens_there() -> None:
    registry = FakeRegistry()
    async with listening(registry):
        pass
    found = await ask(registry.url.replace("//", "//me:hunter2@"))
    assert "was refused" in found.problem
    assert "hunter2" not in found.problem


async def test_a_password_in_the_address_signs_in_in_the_place_of_npm_s_token() -> None:
    registry = FakeRegistry()
    async with listening(registry):
        assert (await ask(registry.url.replace("//", "//me:pw@"), authorization="Bearer token")).problem == ""
    assert registry.asked.all[0].headers["Authorization"].startswith("Basic ")


async def test_a_registry_elsewhere_is_asked_through_the_person_s_proxy() -> None:
    proxy = FakeRegistry()
    async with listening(proxy):
        found = await ask("http://registry.example/", environ={"http_proxy": proxy.url})
    assert found.problem == ""
    assert proxy.asked.all[0].headers["Host"] == "registry.example"


async def test_a_proxy_that_cannot_be_used_is_said() -> None:
    assert "proxy cannot be used" in (await ask("http://registry.example/", environ={"http_proxy": "socks5://127.0.0.1:1"})).problem


async def test_several_are_measured_at_the_same_time_and_one_failure_is_its_own() -> None:
    held = asyncio.Event()
    both = [FakeRegistry(held=held), FakeRegistry(held=held), FakeRegistry(on_package=answers_html())]
    async with listening(*both), asyncio.TaskGroup() as group:
        registries = [Registry(each.url, "r", MIRROR) for each in both]
        options: Any = {"environ": {}, "configuration": NpmConfiguration(), "with_python": False}
        work = group.create_task(measure_registries(registries, (SDK,), **options))
        for each in both:
            await each.asked.wait()  # nobody has answered yet, and all have been asked
        held.set()
        found = await work
    assert [bool(each.problem) for each in found] == [False, False, True]


async def test_a_token_goes_to_its_own_registry_only() -> None:
    mine, other = FakeRegistry(), FakeRegistry()
    async with listening(mine, other):
        configuration = NpmConfiguration(entries={f"{mine.url.removeprefix('http:')}:_authToken": "t"})
        registries = [Registry(each.url, "r", MIRROR) for each in (mine, other)]
        await measure_registries(registries, (SDK,), environ={}, configuration=configuration, with_python=False)
    assert mine.asked.all[0].headers["Authorization"] == "Bearer t"
    assert "Authorization" not in other.asked.all[0].headers


async def has_python(registry: FakeRegistry, index: str, *, with_python: bool = True) -> bool:
    async with RegistryProbe(environ={}, trust=tls_context({}), limit_s=20.0) as probe:
        asked = Registry(registry.url, "r", MIRROR, pypi=index)
        return (await probe.ask(asked, (SDK,), authorization="", with_python=with_python)).has_python


async def test_an_index_for_python_packages_counts_if_it_answers_with_packages() -> None:
    good, bad = FakeRegistry(), FakeRegistry(on_package=answers_html())
    async with listening(good, bad):
        assert await has_python(good, f"{good.url}simple/")
        assert not await has_python(good, f"{good.url}simple/", with_python=False)
        assert not await has_python(good, "")
        assert not await has_python(good, f"{good.url}nothing/")
        assert not await has_python(good, f"{bad.url}other/")
        assert not await has_python(good, "http://127.0.0.1:1/simple/")
        assert not await has_python(bad, f"{good.url}simple/")
    assert not await has_python(good, f"{good.url}simple/")


def test_the_http_library_is_loaded_when_something_is_measured_and_not_before() -> None:
    script = "import sys; from tooltray.servers.npm_mirrors import npm_registries; import json; print(json.dumps(sorted(sys.modules)))"
    environ = {"PYTHONPATH": str(Path(__file__).parents[5] / "desktop")}
    output = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, check=True).stdout
    modules = json.loads(output)
    assert "tooltray.servers.npm_mirrors.measuring" in modules
    assert not {"aiohttp", "truststore", "yarl"} & set(modules)
