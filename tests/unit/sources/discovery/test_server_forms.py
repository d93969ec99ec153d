"""server_forms.py: what an entry of a registry asks for, and what is made of the answers; never more than words."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.mcp_registry import npm

from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FieldValue, FormField
from tooltray.sources.discovery.registry_json import Described, read_described
from tooltray.sources.discovery.server_forms import (
    MAX_FIELDS,
    Choice,
    Made,
    choices_of,
    find_choice,
    fingerprint,
    is_address,
    made_of,
    place_of,
)


def described(*packages: Mapping[str, Any], remotes: list[Any] | None = None) -> Described:
    found = read_described({"name": "io.github.owner/notes", "version": "1.0.0", "packages": list(packages), "remotes": remotes or []})
    assert found is not None
    return found


def choice(*packages: Mapping[str, Any], remotes: list[Any] | None = None) -> Choice:
    return find_choice(described(*packages, remotes=remotes), "")


def made(item: Choice, **values: FieldValue) -> Made:
    result = made_of(item, values, server="notes")
    read_entry("notes", result.entry)  # it is an entry that can be used
    return result


def fields(item: Choice) -> dict[str, FormField]:
    return {field.key: field for field in item.option.fields}


def arguments(*items: Mapping[str, Any]) -> dict[str, Any]:
    return {"packageArguments": list(items)}


# what is asked for


def test_each_kind_of_value_becomes_a_field() -> None:
    form = fields(
        choice(
            npm(
                "notes",
                environmentVariables=[
                    {"name": "KEY", "isSecret": True, "isRequired": True, "description": "Yours", "placeholder": "k-..."},
                    {"name": "LEVEL", "choices": ["low", "high"], "default": "low"},
                    {"name": "ODD", "choices": ["low"], "default": "none of them"},
                    {"name": "FIXED", "value": "yes"},
                ],
                **arguments(
                    {"type": "positional", "valueHint": "folders", "isRepeated": True, "format": "filepath", "default": "/data"},
                    {"type": "named", "name": "--port", "format": "number", "default": "80"},
                    {"type": "named", "name": "--debug", "format": "boolean", "default": "true"},
                    {"type": "named", "name": "--KEY", "format": "number", "default": "many"},
                    {"type": "positional", "isRequired": True},
                    {"type": "named", "name": "--all"},
                ),
            )
        )
    )
    assert list(form) == ["KEY", "LEVEL", "ODD", "folders", "port", "debug", "KEY-2", "argument-5"]
    assert form["KEY"] == FormField("KEY", "KEY", description="Yours", placeholder="k-...", is_required=True, is_secret=True)
    assert (form["LEVEL"].kind, form["LEVEL"].default, form["ODD"].default) == ("choice", "low", None)
    assert (form["folders"].kind, form["folders"].is_list, form["folders"].default) == ("file", True, ("/data",))
    assert (form["port"].kind, form["port"].default, form["debug"].default, form["KEY-2"].default) == ("number", 80.0, True, None)


def test_a_fixed_value_asks_for_its_variables_alone() -> None:
    value = {"name": "A", "value": "{x}-{y}-{x}", "variables": {"x": {"isRequired": True}, "unused": {}}}
    assert list(fields(choice(npm("notes", environmentVariables=[value])))) == ["x"]


def test_options_say_what_they_are_and_what_they_need() -> None:
    server = described(npm("notes", "1.2.3"), {"registryType": "cargo", "identifier": "c"}, remotes=[{"url": "https://x.example/mcp"}])
    first, second, third = (each.option for each in choices_of(server))
    assert (first.id, first.kind, first.label, first.needs, first.problem) == ("npm-1", "npm", "notes@1.2.3", "npx", None)
    assert (second.id, second.label) == ("cargo-2", "c")
    assert second.problem is not None
    assert (third.id, third.kind, third.label, third.needs) == ("remote-1", "remote", "https://x.example/mcp", "")
    assert find_choice(server, "remote-1").option == third
    assert place_of(find_choice(server, "remote-1")) == "x.example"
    assert place_of(find_choice(server, "")) == "npm: notes@1.2.3"


def test_an_option_that_is_not_there_or_cannot_be_had_is_refused_with_the_reason() -> None:
    server = described({"registryType": "cargo", "identifier": "c"})
    for option, why in (("npm-1", "Available: cargo-1"), ("cargo-1", "cannot be started"), ("", "cannot be started")):
        with pytest.raises(TooltrayError, match=why):
            find_choice(server, option)
    with pytest.raises(TooltrayError, match="The registry describes no way to install it"):
        find_choice(described(), "")


# commands


def test_npm_pypi_nuget_and_images_become_commands_pinned_to_their_version() -> None:
    more = arguments({"type": "positional", "value": "serve"})
    assert made(choice(npm("@o/notes", "1.2.3", **more))).entry == {"command": "npx", "args": ["-y", "@o/notes@1.2.3", "serve"]}
    python = {**npm("notes", "1.2.3", **more), "registryType": "pypi"}
    assert made(choice(python)).entry == {"command": "uvx", "args": ["notes==1.2.3", "serve"]}
    nuget = {**npm("Notes", "1.2.3", **more), "registryType": "nuget"}
    assert made(choice(nuget)).entry == {"command": "dnx", "args": ["Notes@1.2.3", "--yes", "--", "serve"]}
    assert made(choice({**nuget, "packageArguments": []})).entry["args"] == ["Notes@1.2.3", "--yes"]
    image = {**npm("ghcr.io/o/notes", "1.2.3", **more), "registryType": "oci"}
    assert made(choice(image)).entry == {"command": "docker", "args": ["run", "-i", "--rm", "ghcr.io/o/notes:1.2.3", "serve"]}


def test_variables_of_a_container_go_by_its_environment_and_the_publisher_s_own_words_are_not_doubled() -> None:
    words = [{"type": "positional", "value": "run"}, {"type": "named", "name": "--interactive"}, {"type": "named", "name": "--init"}]
    image = npm("o/notes", environmentVariables=[{"name": "KEY", "isSecret": True}, {"name": "UNSET"}], runtimeArguments=words)
    result = made(choice({**image, "registryType": "oci"}), KEY="dummy")
    assert result.entry["args"] == ["run", "-i", "--rm", "--init", "-e", "KEY", "o/notes:1.0.0"]
    assert result.entry["env"] == {"KEY": "${secret:notes/KEY}"}
    assert made(choice(npm("notes", runtimeArguments=[{"type": "named", "name": "--yes"}]))).entry["args"] == ["-y", "notes@1.0.0"]


def test_arguments_stand_where_the_description_says() -> None:
    package = npm(
        "notes",
        **arguments(
            {"type": "named", "name": "--port", "format": "number", "default": 80},
            {"type": "named", "name": "--rate", "format": "number"},
            {"type": "named", "name": "--debug", "format": "boolean"},
            {"type": "named", "name": "--level=", "choices": ["low"], "default": "low"},
            {"type": "named", "name": "--tag", "isRepeated": True, "isRequired": True},
            {"type": "named", "name": "--left-out", "placeholder": "x"},
            {"type": "named", "name": "--at", "value": "{host}:{port}", "variables": {"host": {}, "port": {"default": "1"}}},
            {"type": "named", "name": "--all"},
            {"type": "positional", "valueHint": "file"},
        ),
    )
    words = made(choice(package), rate=1.5, debug=True, tag=["a", "b"], host="h", file="; rm -rf ~").entry["args"]
    expected = "--port 80 --rate 1.5 --debug --level=low --tag a --tag b --at h:1 --all"
    assert words == ["-y", "notes@1.0.0", *expected.split(), "; rm -rf ~"]
    words = made(choice(package), tag="a", debug=False).entry["args"]
    assert words == ["-y", "notes@1.0.0", *["--port", "80", "--level=low", "--tag", "a", "--all"]]


def test_what_is_neither_fixed_nor_asked_stays_as_it_is_written() -> None:
    assert made(choice(npm("notes", environmentVariables=[{"name": "A", "value": "{unknown} text"}]))).entry["env"] == {
        "A": "{unknown} text"
    }


# secrets


def test_secrets_leave_their_placeholders_alone_in_the_entry() -> None:
    package = npm(
        "notes",
        environmentVariables=[
            {"name": "KEY", "isSecret": True},
            {"name": "AUTH", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}},
        ],
    )
    result = made(choice(package), KEY="dummy-1", token="dummy-2")
    assert result.entry["env"] == {"KEY": "${secret:notes/KEY}", "AUTH": "Bearer ${secret:notes/token}"}
    assert result.secrets == {"notes/KEY": "dummy-1", "notes/token": "dummy-2"}
    assert result.answers == {"KEY": "${secret:notes/KEY}", "token": "${secret:notes/token}"}
    assert "dummy" not in repr(result)
    assert result.warnings == ()


def test_what_is_a_secret_by_its_name_or_its_form_is_kept_as_one_although_the_publisher_does_not_say_so() -> None:
    names = [{"name": "API_KEY"}, {"name": "WHERE"}, {"name": "KEY_FILE", "format": "filepath"}, {"name": "MAX_TOKENS"}]
    item = choice(npm("notes", environmentVariables=names))
    assert [field.key for field in item.option.fields if field.is_secret] == ["API_KEY"]
    result = made(item, API_KEY="dummy", WHERE="postgres://user:dummy@host/db", KEY_FILE="/k", MAX_TOKENS="7")
    placeholders = {name: f"${{secret:notes/{name}}}" for name in ("API_KEY", "WHERE")}
    assert result.entry["env"] == result.answers == {**placeholders, "KEY_FILE": "/k", "MAX_TOKENS": "7"}
    assert result.secrets == {"notes/API_KEY": "dummy", "notes/WHERE": "postgres://user:dummy@host/db"}


def test_a_reference_that_is_given_for_a_secret_stays_one() -> None:
    result = made(choice(npm("notes", environmentVariables=[{"name": "KEY", "isSecret": True}])), KEY="${MY_KEY}")
    assert (result.entry["env"], result.secrets, result.answers) == ({"KEY": "${MY_KEY}"}, {}, {"KEY": "${MY_KEY}"})


def test_secrets_among_arguments_are_told_of_and_several_have_names_of_their_own() -> None:
    result = made(
        choice(npm("notes", **arguments({"type": "named", "name": "--key", "isSecret": True, "isRepeated": True}))), key=["d1", "d2", "d1"]
    )
    first, second = "${secret:notes/key}", "${secret:notes/key-2}"
    assert result.entry["args"][2:] == ["--key", first, "--key", second, "--key", first]
    assert result.secrets == {"notes/key": "d1", "notes/key-2": "d2"}
    assert ["key" in str(each) for each in result.warnings] == [True]
    assert result.answers == {"key": [first, second, first]}


# elsewhere


REMOTE = {
    "type": "streamable-http",
    "url": "https://{tenant}.x.example/{room}/mcp?key={key}",
    "variables": {"tenant": {"isRequired": True}, "key": {"isSecret": True}},
    "headers": [
        {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True, "isRequired": True}}},
        {"name": "X-Mode", "choices": ["a", "b"]},
    ],
}


def test_a_server_elsewhere_gets_its_url_and_headers() -> None:
    item = choice(remotes=[REMOTE])
    assert list(fields(item)) == ["tenant", "room", "key", "token", "X-Mode"]
    assert fields(item)["room"].is_required  # nothing says what it is, and without it there is no address
    result = made(item, tenant="me", room="a/b", key="d/1", token="d2")
    assert result.entry == {
        "type": "http",
        "url": "https://me.x.example/a%2Fb/mcp?key=${secret:notes/key}",
        "headers": {"Authorization": "Bearer ${secret:notes/token}"},
    }
    assert result.secrets == {"notes/key": "d%2F1", "notes/token": "d2"}
    assert result.warnings == ()


def test_a_url_that_begins_with_a_value_takes_it_as_it_is() -> None:
    item = choice(remotes=[{"type": "sse", "url": "{base}/sse"}])
    assert made(item, base="https://my.example/a").entry == {"type": "sse", "url": "https://my.example/a/sse"}
    with pytest.raises(TooltrayError, match="is not an address"):
        made(item, base="file:///etc/passwd")


@pytest.mark.parametrize(
    ("remote", "why"),
    [
        ({"type": "ws", "url": "https://x.example"}, "transport 'ws' is unknown"),
        ({"url": "http://x.example"}, "is not an address"),
        ({"url": "https://user:pw@x.example"}, "is not an address"),
        ({"url": "https://x.example/${secret:other/KEY}"}, "placeholder"),
        ({"url": "https://x.example", "headers": [{"name": "A B"}]}, "' is not a header name"),
        ({"url": "https://x.example", "headers": [{"name": "A", "value": "${secret:other/KEY}"}]}, "placeholder"),
        ({"url": "https://x.example", "headers": [{"name": "A", "value": "a\r\nB: c"}]}, "cannot be seen"),
    ],
)
def test_addresses_that_lie_are_refused(remote: Any, why: str) -> None:
    (item,) = choices_of(described(remotes=[remote]))
    assert item.option.problem is not None
    assert why in item.option.problem.message
    assert item.option.fields == ()


def many(number: int) -> list[dict[str, Any]]:
    """Values with a hundred variables each."""
    names = [f"a{each}" for each in range(100)]
    value = {"type": "positional", "value": "".join(f"{{{name}}}" for name in names), "variables": {name: {} for name in names}}
    return [{**value, "name": f"X{each}"} for each in range(number)]


@pytest.mark.parametrize("place", ["packageArguments", "environmentVariables"])
def test_a_form_that_nobody_could_fill_in_is_refused(place: str) -> None:
    assert len(choice(npm("notes", **{place: many(2)})).option.fields) == MAX_FIELDS
    with pytest.raises(TooltrayError, match="it asks for more than 200 values"):
        choice(npm("notes", **{place: many(3)}))


def test_so_is_one_of_a_server_elsewhere() -> None:
    remote = {"type": "sse", "url": "https://h.example/"}
    assert len(choice(remotes=[{**remote, "headers": many(2)}]).option.fields) == MAX_FIELDS
    with pytest.raises(TooltrayError, match="it asks for more than 200 values"):
        choice(remotes=[{**remote, "headers": many(3)}])


def test_a_header_with_a_line_break_is_refused() -> None:
    with pytest.raises(TooltrayError, match="line break"):
        made(choice(remotes=[{"url": "https://x.example", "headers": [{"name": "A"}]}]), A="a\r\nB: c")


@pytest.mark.parametrize("url", ["https://x.example", "https://x.example:8443/mcp", "http://127.0.0.1:80/mcp", "http://localhost/"])
def test_addresses_are_taken(url: str) -> None:
    assert is_address(url)


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://x.example", "https://", "https://x:port/", "https://[", "https://a b", "http://x.example", "https://x:0/"]
)
def test_other_texts_are_no_addresses(url: str) -> None:
    assert not is_address(url)


# what is refused


@pytest.mark.parametrize(
    ("package", "why"),
    [
        (npm("notes", **arguments({"type": "positional", "value": "${secret:other/KEY}"})), "placeholder"),
        (npm("notes", environmentVariables=[{"name": "A", "default": "${secret:other/KEY}"}]), "placeholder"),
        (npm("notes", environmentVariables=[{"name": "A", "value": "{x}", "variables": {"x": {"choices": ["${HOME}"]}}}]), "placeholder"),
        (npm("notes", **arguments({"type": "positional", "value": "a\x00b"})), "cannot be seen"),
        (npm("notes", **arguments({"type": "named", "name": "--a b", "value": "c"})), "is not an option"),
        (npm("notes", environmentVariables=[{"name": "A B"}]), "not a variable name"),
        (npm("notes", runtimeArguments=[{"type": "named", "name": "-c", "value": "rm -rf ~"}]), "something else than its package"),
        (npm("notes && rm -rf ~"), "' is not a package name"),
    ],
)
def test_manifests_that_lie_are_refused(package: Any, why: str) -> None:
    (item,) = choices_of(described(package))
    assert item.option.problem is not None
    assert why in item.option.problem.message


def test_numbers_and_lists_come_in_any_form() -> None:
    item = choice(npm("notes", environmentVariables=[{"name": "A", "format": "number"}]))
    assert [made(item, A=value).entry["env"]["A"] for value in (1, 2.0, 2.5, "3", ["4"])] == ["1", "2", "2.5", "3", "4"]
    assert "env" not in made(item, A=[]).entry
    flag = choice(npm("notes", environmentVariables=[{"name": "A", "format": "boolean"}]))
    assert made(flag, A=False).entry["env"] == {"A": "false"}


# what a person should know


def test_what_could_surprise_a_person_is_told() -> None:
    package = npm(
        "o/notes",
        "",
        runtimeArguments=[{"type": "named", "name": "-v", "value": "/:/host"}],
        environmentVariables=[{"name": "NODE_OPTIONS", "value": "--require x"}, {"name": "PATH"}],
        **arguments({"type": "positional", "value": "$(rm -rf ~)"}),
    )
    told = [str(each) for each in made(choice({**package, "registryType": "oci"})).warnings]
    assert [each.partition(".")[0] for each in told] == [
        "Its version is not pinned: each start takes the newest one there is",
        "'$(rm -rf ~)' looks like a command for a shell: no shell sees it: the program gets it as one argument",
        "It sets the variable NODE_OPTIONS: which decides what else runs with it",
        "Its container is started with '-v': it reaches something outside itself by that",
    ]


def test_the_fingerprint_is_of_what_was_made_and_of_nothing_else() -> None:
    entry = made(choice(npm("notes"))).entry
    assert fingerprint({**entry, "disable": True, "autoApprove": []}) == fingerprint(entry)
    assert fingerprint({**entry, "args": []}) != fingerprint(entry)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ARGUMENTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["named", "positional"])},
        optional={"name": TEXT, "value": TEXT, "valueHint": TEXT, "isRequired": st.booleans()},
    ),
    max_size=3,
)


@settings(max_examples=80, deadline=None)
@given(TEXT, TEXT, ARGUMENTS, ARGUMENTS)
def test_a_hostile_entry_is_refused_or_starts_its_own_package(identifier: str, version: str, runtime: list[Any], own: list[Any]) -> None:
    (item, *_) = choices_of(described(npm(identifier or "x", version, runtimeArguments=runtime, packageArguments=own)))
    if item.option.problem is None:
        words = made_of(item, {field.key: "v" for field in item.option.fields}, server="notes").entry["args"]
        first = next(word for word in words if not word.startswith("-"))
        assert first == item.option.label
