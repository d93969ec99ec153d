from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretMissing, SecretsLocked
from tooltray.config.settings.expansion import (
    ResolvedServer,
    fill_text,
    has_secret,
    needed_variables,
    needs_project,
    project_remark,
    resolve,
    secret_names,
    shown_target,
    variable_names,
)
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import SECRETS_UNREACHABLE, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.clients import SessionProject

ENVIRON = {"HOME": "/person", "WORD": "value", "EMPTY": "", "TRICKY": "${WORD} ${secret:a} ~/"}


@pytest.fixture
async def secrets(tmp_path: Path) -> AsyncIterator[SecretStore]:
    store = SecretStore(Home(tmp_path), "memory")
    await store.set("a", "hunter2")
    await store.set("my files/KEY", "swordfish")
    await store.set("tricky", "${WORD} ${secret:a} ${")
    yield store
    await store.close()


async def filled(text: str, secrets: SecretStore, environ: Mapping[str, str] = ENVIRON) -> str:
    resolved = await resolve(MCPServerConfig(command="x", args=(text,)), secrets=secrets, environ=environ, server="files")
    return resolved.args[0]


async def refusal(config: MCPServerConfig, secrets: SecretStore) -> TooltrayError:
    with pytest.raises(TooltrayError) as caught:
        await resolve(config, secrets=secrets, environ=ENVIRON, server="files")
    return caught.value


async def test_every_part_of_a_command_is_filled_in(secrets: SecretStore) -> None:
    config = MCPServerConfig(
        command="${WORD}/bin", args=("-k", "${secret:a}"), env={"${WORD}": "${secret:my files/KEY}!", "B": "${WORD}"}, cwd="/${WORD}"
    )
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON)
    assert (resolved.command, resolved.args, resolved.cwd) == ("value/bin", ("-k", "hunter2"), "/value")
    assert resolved.env == {"${WORD}": "swordfish!", "B": "value"}
    assert (resolved.url, resolved.headers, resolved.secret_names) == (None, {}, ("a", "my files/KEY"))


async def test_every_part_of_a_remote_server_is_filled_in(secrets: SecretStore) -> None:
    config = MCPServerConfig(base_url="https://${WORD}/mcp", custom_headers={"Authorization": "Bearer ${secret:a}"})
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON)
    expected = ResolvedServer(None, (), {}, None, "https://value/mcp", {"Authorization": "Bearer hunter2"}, ("a",), None)
    assert resolved == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no placeholder", "no placeholder"),
        ("${WORD}${WORD} $WORD $${WORD} $$ $", "valuevalue $WORD $value $$ $"),
        ("a${EMPTY}b", "ab"),
        ("${WORD:-default}", "value"),
        ("${EMPTY:-default}", "default"),
        ("${UNSET:-https://h:80/$x}", "https://h:80/$x"),
        ("${UNSET:-}", ""),
        ("${never closed", "${never closed"),
        ("}{", "}{"),
        ("~/kept", "~/kept"),
        ("${TRICKY}", "${WORD} ${secret:a} ~/"),
        ("${secret:tricky}", "${WORD} ${secret:a} ${"),
        ("${secret:tricky}${WORD}}", "${WORD} ${secret:a} ${value}"),
    ],
)
async def test_a_text_is_filled_in_once(secrets: SecretStore, text: str, expected: str) -> None:
    assert await filled(text, secrets) == expected


@given(value=st.text(st.sampled_from("${}:-aW~/secrt"), min_size=1), around=st.text(st.sampled_from("}a~/ ")))
async def test_a_value_is_never_looked_at_again(tmp_path_factory: pytest.TempPathFactory, value: str, around: str) -> None:
    store = SecretStore(Home(tmp_path_factory.mktemp("home")), "memory")
    await store.set("S", value)
    text = f"{around}${{secret:S}}{around}${{V}}{around}"
    assert await filled(text, store, {"V": value}) == f"{around}{value}{around}{value}{around}"
    await store.close()


@given(text=st.text(st.characters(exclude_characters="$")) | st.from_regex(r"(\$[^{$]|[^$])*", fullmatch=True))
async def test_text_without_a_placeholder_stays(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    text = text.replace("\0", "")
    assert await filled(text, SecretStore(Home(tmp_path_factory.mktemp("home")))) == text


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("command", "~/bin/x", "/person/bin/x"),
        ("command", "~", "/person"),
        ("command", "~other/x", "~other/x"),
        ("cwd", "~/${WORD}", "/person/value"),
        ("cwd", "~", "/person"),
        ("cwd", "${TRICKY}", "${WORD} ${secret:a} ~/"),
    ],
)
async def test_a_tilde_stands_for_the_persons_folder(secrets: SecretStore, field: str, text: str, expected: str) -> None:
    config = MCPServerConfig.model_validate({"command": "x"} | {field: text})
    assert getattr(await resolve(config, secrets=secrets, environ=ENVIRON), field) == expected


async def test_without_a_home_a_tilde_stays(secrets: SecretStore) -> None:
    resolved = await resolve(MCPServerConfig(command="~/x"), secrets=secrets, environ={})
    assert resolved.command == "~/x"


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"command": "${NOPE}"}, "command"),
        ({"command": "x", "args": ["", "${NOPE}"]}, "args[1]"),
        ({"command": "x", "env": {"KEY": "${NOPE}"}}, "env.KEY"),
        ({"command": "x", "cwd": "/${NOPE}"}, "cwd"),
        ({"url": "https://${NOPE}"}, "the URL"),
        ({"url": "https://h", "headers": {"Auth": "${NOPE}"}}, "header Auth"),
    ],
)
async def test_an_unset_variable_is_named_with_the_server_and_the_field(secrets: SecretStore, entry: dict[str, Any], place: str) -> None:
    problem = (await refusal(MCPServerConfig.model_validate(entry), secrets)).problem
    assert problem.title == "Variable NOPE is not set"
    assert problem.message == f"server 'files' needs it in {place}"
    assert "${NOPE:-default}" in problem.hint
    assert "write ${secret:NOPE} and store it: tooltray secrets set NOPE" in problem.hint  # a variable is not looked up among the secrets


async def test_without_a_name_the_error_speaks_of_the_server(secrets: SecretStore) -> None:
    with pytest.raises(TooltrayError, match="the server needs it in command"):
        await resolve(MCPServerConfig(command="${NOPE}"), secrets=secrets, environ={})


async def test_a_missing_secret_is_named_with_the_field_and_the_remedy(secrets: SecretStore) -> None:
    error = await refusal(MCPServerConfig(command="x", env={"KEY": "${secret:files/NOPE}"}), secrets)
    assert isinstance(error, SecretMissing)
    assert error.problem.title == "Secret 'files/NOPE' not found"
    assert error.problem.message == "server 'files' needs it in env.KEY"
    assert error.problem.hint == "Store it: tooltray secrets set files/NOPE"


async def test_locked_secrets_say_which_one_was_wanted(tmp_path: Path) -> None:
    fake_keyring = FakeKeyring()
    fake_keyring.error = TimeoutError("no answer")
    store = SecretStore(Home(tmp_path), open_keyring=lambda: fake_keyring)
    error = await refusal(MCPServerConfig(command="x", env={"KEY": "${secret:files/KEY}"}), store)
    assert isinstance(error, SecretsLocked)
    assert error.problem.message == "its prompt was closed or not answered; server 'files' needs secret 'files/KEY' in env.KEY"
    assert error.problem.code == SECRETS_UNREACHABLE
    await store.close()


@pytest.mark.parametrize("inner", ["", "env:WORD", "input:key", "secret:", "a b", "1A", "WORD-x", "WORD:x", "A:-${WORD", "!x"])
async def test_a_placeholder_in_another_spelling_is_refused(secrets: SecretStore, inner: str) -> None:
    problem = (await refusal(MCPServerConfig(command="x", args=(f"${{{inner}}}",)), secrets)).problem
    assert problem.title == f"'${{{inner}}}' is not understood"
    assert problem.message == "server 'files' has it in args[0]"
    assert "${secret:NAME}" in problem.hint


async def test_a_text_beside_the_program_is_filled_in_by_the_same_rules(secrets: SecretStore) -> None:
    assert await fill_text("${secret:a} ${WORD}", "the token", secrets=secrets, environ=ENVIRON, server="files") == "hunter2 value"
    with pytest.raises(TooltrayError, match="server 'files' needs it in the token"):
        await fill_text("${NOPE}", "the token", secrets=secrets, environ=ENVIRON, server="files")


async def test_each_secret_is_asked_for_once(tmp_path: Path) -> None:
    fake_keyring = FakeKeyring()
    fake_keyring.values["tooltray", "a"] = "1"
    store = SecretStore(Home(tmp_path), open_keyring=lambda: fake_keyring)
    assert await filled("${secret:a}${secret:a}", store) == "11"
    assert fake_keyring.call_count == 1
    await store.close()


async def test_what_was_filled_in_does_not_show_in_a_repr(secrets: SecretStore) -> None:
    text = "${secret:a}"
    config = MCPServerConfig(command=text, args=(text,), env={"A": text}, cwd=text, base_url=text, type="http", custom_headers={"A": text})
    assert repr(await resolve(config, secrets=secrets, environ={})) == "ResolvedServer(secret_names=('a',))"


def test_the_secrets_an_entry_wants_are_known_without_asking() -> None:
    config = MCPServerConfig(
        command="${A}", args=("${secret:b}", "${secret:a/KEY}${secret:b}"), env={"X": "${secret:c}", "Y": "${secret:}"}
    )
    assert secret_names(config) == ("b", "a/KEY", "c")
    assert secret_names(MCPServerConfig(base_url="https://${secret:u}", custom_headers={"A": "${secret:h}"})) == ("u", "h")


def test_the_variables_an_entry_wants_are_known_and_which_of_them_must_be_set() -> None:
    config = MCPServerConfig(command="${A}", args=("${B:-b}", "${A}"), env={"X": "${B}", "Y": "${C:-}", "Z": "${secret:s}"})
    assert variable_names(config) == ("A", "B", "C")
    assert needed_variables(config) == {"A", "B"}


async def test_the_secret_of_a_sign_in_is_filled_in_and_the_rest_of_it_stays(secrets: SecretStore) -> None:
    config = MCPServerConfig.model_validate({"url": "https://x/", "oauth": {"clientId": "${WORD}", "clientSecret": "${secret:a}"}})
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON)
    assert resolved.oauth
    assert (resolved.oauth.client_id, resolved.oauth.client_secret, resolved.secret_names) == ("${WORD}", "hunter2", ("a",))
    assert "hunter2" not in repr(resolved) + repr(resolved.oauth)
    public = MCPServerConfig.model_validate({"url": "https://x/", "oauth": {"clientId": "public"}})
    assert (await resolve(public, secrets=secrets, environ=ENVIRON)).oauth == public.oauth
    missing = MCPServerConfig.model_validate({"url": "https://x/", "oauth": {"clientId": "c", "clientSecret": "${secret:none}"}})
    assert "oauth.clientSecret" in str(await refusal(missing, secrets))


# projects

PROJECT = SessionProject("/home/p/my app", "My app", "feedback")


async def filled_for_project(text: str, secrets: SecretStore, project: SessionProject = PROJECT) -> str:
    config = MCPServerConfig(command="x", args=("unused",), startup_args_template=(text,), deferred_startup=True)
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON, server="files", project=project)
    return resolved.args[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{project_path}", "/home/p/my app"),
        ("--name={project_name}/{project_path}{project_name}", "--name=My app//home/p/my appMy app"),
        ('{"path": "{project_path}"}', '{"path": "/home/p/my app"}'),
        ("${WORD}{project_name}${secret:a}", "valueMy apphunter2"),
        ("{{project_path}}", "{{project_path}}"),
        ("{{project_path}", "{{project_path}"),
        ("{project_path}}", "{project_path}}"),
        ("{unknown} {PROJECT_PATH} { project_path } {} {", "{unknown} {PROJECT_PATH} { project_path } {} {"),
        ("{project_{project_name}}", "{project_{project_name}}"),
        ("{project_{project_name}_path}", "{project_My app_path}"),
    ],
)
async def test_a_projects_placeholders_are_filled_in_and_nothing_else_in_braces(text: str, expected: str, secrets: SecretStore) -> None:
    assert await filled_for_project(text, secrets) == expected


async def test_nothing_that_was_filled_in_is_looked_at_again(secrets: SecretStore) -> None:
    await secrets.set("braces", "{project_path}")
    tricky = SessionProject("/p/${secret:a}", "${WORD}{project_path}", "feedback")
    text = "{project_name} {project_path} ${secret:braces} ${TRICKY}"
    assert await filled_for_project(text, secrets, tricky) == "${WORD}{project_path} /p/${secret:a} {project_path} ${WORD} ${secret:a} ~/"


async def test_a_placeholder_of_ours_cannot_hold_a_projects(secrets: SecretStore) -> None:
    for text in ("${WORD:-{project_path}}", "${project_path}"):
        with pytest.raises(TooltrayError):
            await filled_for_project(text, secrets)


async def test_a_project_counts_everywhere_but_in_the_command_and_in_names(secrets: SecretStore) -> None:
    config = MCPServerConfig(
        command="{project_path}", args=("{project_name}",), env={"{project_name}": "{project_path}"}, cwd="{project_path}/sub"
    )
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON, project=PROJECT)
    assert (resolved.command, resolved.args, resolved.cwd) == ("{project_path}", ("My app",), "/home/p/my app/sub")
    assert resolved.env == {"{project_name}": "/home/p/my app"}


async def test_what_could_not_stand_in_a_url_or_a_header_is_encoded(secrets: SecretStore) -> None:
    config = MCPServerConfig(
        base_url="https://h/{project_path}?n={project_name}", custom_headers={"X-Project": "{project_name}: {project_path}"}
    )
    odd = SessionProject("/p/a?b#c", '專案 & "co"', "feedback")
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON, project=odd)
    assert resolved.url == "https://h//p/a%3Fb%23c?n=%E5%B0%88%E6%A1%88%20%26%20%22co%22"
    assert resolved.headers == {"X-Project": '%E5%B0%88%E6%A1%88 & "co": /p/a?b#c'}


async def test_a_projects_name_leads_to_no_other_host_and_no_other_page(secrets: SecretStore) -> None:
    config = MCPServerConfig(base_url="https://{project_name}.example.com/{project_name}/mcp")
    named = SessionProject("/p", "evil.com/@x:1?#", "feedback")
    resolved = await resolve(config, secrets=secrets, environ=ENVIRON, project=named)
    assert resolved.url == "https://{0}.example.com/{0}/mcp".format("evil.com%2F%40x%3A1%3F%23")


async def test_without_a_project_its_placeholders_are_text_and_the_template_is_not_used(secrets: SecretStore) -> None:
    config = MCPServerConfig(command="x", args=("{project_path}",), startup_args_template=("other",), deferred_startup=True)
    assert (await resolve(config, secrets=secrets, environ=ENVIRON)).args == ("{project_path}",)


def test_what_cannot_do_without_a_project_is_known_beforehand() -> None:
    assert needs_project(MCPServerConfig(command="x", args=("a{project_path}",)))
    assert needs_project(MCPServerConfig(command="x", cwd="{project_path}"))
    assert needs_project(MCPServerConfig(command="x", env={"A": "{project_name}"}))
    assert needs_project(MCPServerConfig(base_url="https://h/{project_name}"))
    assert needs_project(MCPServerConfig(base_url="https://h", custom_headers={"A": "{project_name}"}))
    only_template = MCPServerConfig(command="{project_path}", args=("{{project_path}}",), startup_args_template=("{project_path}",))
    assert not needs_project(only_template)


def test_what_looks_like_a_projects_place_and_is_none_is_remarked_upon() -> None:
    odd = MCPServerConfig(command="{project_path}/x", args=("{a}",), startup_args_template=("{nope}{nope}", "{b-c}"), deferred_startup=True)
    assert project_remark(odd).startswith("{nope}, {b-c}, {project_path} is handed over as it is written")
    well = MCPServerConfig(
        command="x", args=("{project_path}", '{"a": 1}', "{{a}}", "${a}", "{}", "{a b}"), cwd="{project_name}", deferred_startup=True
    )
    assert project_remark(well) == ""
    assert project_remark(MCPServerConfig(command="x", args=("{nope}",))) == ""  # it does not start for a project


def test_what_is_shown_of_a_project_has_its_values_and_no_secret() -> None:
    config = MCPServerConfig(command="x", args=("no",), startup_args_template=("{project_path}", "${secret:a}", "{other}"))
    assert shown_target(config, PROJECT) == joined(["x", "/home/p/my app", "${secret:a}", "{other}"])
    assert shown_target(MCPServerConfig(base_url="https://h/{project_name}?key=1"), PROJECT) == "https://h/My app"
    deferred = config.model_copy(update={"deferred_startup": True})
    assert (shown_target(deferred, PROJECT), shown_target(deferred, None)) == (shown_target(config, PROJECT), "x no")


def test_secrets_in_a_template_are_known() -> None:
    config = MCPServerConfig(command="x", startup_args_template=("${secret:t}",), deferred_startup=True)
    assert secret_names(config) == ("t",)


def test_what_names_a_secret_is_told_from_other_text() -> None:
    assert has_secret("Bearer ${secret:s/KEY}")
    assert not has_secret("${HOME} secret:s/KEY")
