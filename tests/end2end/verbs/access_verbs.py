"""Secrets, questions of servers, and who comes in over HTTP with which token."""

from tests.end2end.verbs.hub_at_work import Checks

# secrets


async def secret_names(hub):
    assert isinstance(await hub("get_secret_names"), list)


async def set_secret(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("set_secret", name="a/KEY", value="a value of mine")
    assert "a/KEY" in await hub("get_secret_names")


async def remove_secret(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("set_secret", name="b/KEY", value="a value of mine")
    await hub("remove_secret", name="b/KEY")
    assert "b/KEY" not in await hub("get_secret_names")


async def restore_secret(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("set_secret", name="back/KEY", value="a value of mine")
    await hub("remove_secret", name="back/KEY")
    await hub("restore_secret", name="back/KEY")
    said = await hub("get_secrets")
    assert (said["backend"], said["is_proven"]) == ("memory", True)
    assert [each["is_stored"] for each in said["secrets"] if each["name"] == "back/KEY"] == [True]


async def unused_secrets(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("add_mcp_server", name="leaving", config={"command": "x", "disable": True, "env": {"KEY": "${secret:leaving/KEY}"}})
    for name in ("leaving/KEY", "leaving/OLD"):
        await hub("set_secret", name=name, value="a value of mine")
    assert (await hub("preview_removal", name="leaving"))["secrets"] == ["leaving/KEY", "leaving/OLD"]
    assert "leaving/OLD" in await hub("get_unused_secrets")
    assert await hub("remove_unused_secrets", names=["leaving/KEY", "leaving/OLD"]) == ["leaving/OLD"]
    assert (await hub("remove_mcp_server", name="leaving"))["secrets"] == ["leaving/KEY"]
    assert "leaving/KEY" not in await hub("get_secret_names")


async def check_secrets(hub):
    await hub("set_secret_backend", kind="memory")
    assert await hub("check_secrets") == "memory"


async def unlock_secrets(hub):
    await hub("set_secret_backend", kind="file")
    await hub("unlock_secrets", passphrase="open sesame")
    assert await hub("check_secrets") == "file"
    await hub("set_secret_backend", kind="memory")


async def secret_backend(hub):
    assert "is no place for secrets" in await hub.refusal("set_secret_backend", kind="drawer")


# questions of servers


async def answer_question(hub):
    assert "has ended" in await hub.refusal("answer_elicitation", id="none", action="accept")


# who comes in over HTTP


async def http_status(hub):
    assert (await hub("get_http_status"))["is_open"] is False


async def enable_http(hub):
    opened = await hub("set_http_enabled", enabled=True, port=0)
    assert opened["is_open"]
    assert opened["url"].startswith("http://127.0.0.1:")
    assert (await hub("set_http_enabled", enabled=False))["is_open"] is False


async def list_tokens(hub):
    await hub("create_client_token", name="listed")
    assert "listed" in {each["name"] for each in await hub("list_client_tokens")}


async def create_token(hub):
    assert len(await hub("create_client_token", name="made")) > 20


async def remove_token(hub):
    await hub("create_client_token", name="short-lived")
    await hub("remove_client_token", name="short-lived")
    await hub("restore_client_token", name="short-lived")
    await hub("remove_client_token", name="short-lived")
    assert "short-lived" not in {each["name"] for each in await hub("list_client_tokens")}


async def enable_api(hub):
    await hub("set_http_enabled", enabled=False, port=0)
    opened = await hub("set_api_enabled", enabled=True, trusted=False)
    assert (opened["is_open"], opened["is_api_enabled"], opened["is_api_trusted"]) == (True, True, False)
    assert opened["api_url"] == opened["url"].removesuffix("/mcp") + "/api/mcp"
    assert (await hub("set_api_enabled", enabled=False))["api_url"] == ""
    assert (await hub("set_http_enabled", enabled=False))["is_open"] is False


async def api_token(hub):
    token = await hub("get_api_token")
    assert token.startswith("tooltray_api_")
    assert await hub("get_api_token") == token


async def rotate_token(hub):
    before = await hub("get_api_token")
    assert before != await hub("rotate_api_token") == await hub("get_api_token")


async def api_tokens(hub):
    before = await hub("list_api_tokens")
    made = await hub("create_api_token", name="ci", scope="read", expires_in_s=60.0, trusted=False)
    assert made["token"].startswith("tooltray_api_")
    assert [each["name"] for each in await hub("list_api_tokens") if each not in before] == ["ci"]
    await hub("revoke_api_token", name="ci")
    assert await hub("list_api_tokens") == before
    assert "no token" in await hub.refusal("revoke_api_token", name="ci")


CHECKS: Checks = {
    "get_secret_names": secret_names,
    "set_secret": set_secret,
    "remove_secret": remove_secret,
    "restore_secret": restore_secret,
    "get_secrets": restore_secret,
    "preview_removal": unused_secrets,
    "get_unused_secrets": unused_secrets,
    "remove_unused_secrets": unused_secrets,
    "check_secrets": check_secrets,
    "unlock_secrets": unlock_secrets,
    "set_secret_backend": secret_backend,
    "answer_elicitation": answer_question,
    "get_http_status": http_status,
    "set_http_enabled": enable_http,
    "set_api_enabled": enable_api,
    "get_api_token": api_token,
    "rotate_api_token": rotate_token,
    "list_api_tokens": api_tokens,
    "create_api_token": api_tokens,
    "revoke_api_token": api_tokens,
    "list_client_tokens": list_tokens,
    "create_client_token": create_token,
    "restore_client_token": remove_token,
    "remove_client_token": remove_token,
}
