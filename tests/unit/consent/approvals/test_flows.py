"""flows.py: which tools read what strangers wrote, and which send or publish."""

import pytest

from tooltray.catalogue.approval import tool_of
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.consent.approvals.flows import NO_FLOW, Flow, flow_of

OPEN, CLOSED = {"openWorldHint": True}, {"openWorldHint": False}


def flow(name: str, hints: object = None, *, is_remote: bool = False, override: ToolOverride | None = None) -> tuple[bool, bool]:
    reads, sends, _ = flow_of(tool_of(name, hints), override, is_remote=is_remote)
    return reads, sends


@pytest.mark.parametrize(
    "name", ["fetch", "browse_page", "web_search", "get_issue", "list_comments", "read_inbox", "searchMessages", "http_get", "read_url"]
)
def test_a_tool_that_reads_the_web_mail_or_a_tracker_brings_what_strangers_wrote_whatever_its_hints_say(name: str) -> None:
    for hints in (None, OPEN, CLOSED, {"readOnlyHint": True, **CLOSED}):
        assert flow(name, hints)[0]


@pytest.mark.parametrize("name", ["read_file", "list_directory", "search_notes", "get_user", "write_file", "delete_branch", "git_commit"])
def test_what_stays_on_this_computer_neither_brings_nor_sends_anything(name: str) -> None:
    assert flow(name) == (False, False)


@pytest.mark.parametrize(
    "name",
    [
        "send_mail",
        "mail_send",
        "post_message",
        "publish_package",
        "git_push",
        "upload_file",
        "create_issue",
        "add_comment",
        "updateIssue",
        "create_pull_request",
        "create_gist",
        "merge_pull_request",
        "browser_type",
        "browser_fill_form",
        "page_evaluate_url",
        "share_document",
    ],
)
def test_a_tool_that_sends_or_publishes_does_whatever_its_hints_say(name: str) -> None:
    assert flow(name)[1]
    assert flow(name, CLOSED)[1]


def test_a_tool_that_writes_into_the_open_world_sends_and_one_that_reads_from_there_brings_it() -> None:
    assert flow("change_thing", OPEN) == (False, True)
    assert flow("change_thing", CLOSED) == (False, False)
    assert flow("get_thing", OPEN) == (True, False)
    assert flow("get_thing", is_remote=True) == (True, False)
    assert flow("change_thing", is_remote=True) == (False, True)
    assert flow("get_thing", CLOSED, is_remote=True) == flow("change_thing", CLOSED, is_remote=True) == (False, False)
    assert flow("browser_click", is_remote=True) == (True, False)  # every step in a browser would ask
    assert flow("create_folder") == (False, False)


def test_a_person_says_otherwise_for_one_tool() -> None:
    chosen = {choice: flow("send_mail", override=ToolOverride(flow=choice)) for choice in ("reads", "sends", "both", "none")}
    assert chosen == {"reads": (True, False), "sends": (False, True), "both": (True, True), "none": (False, False)}
    assert flow("send_mail", override=ToolOverride(name="other")) == (False, True)
    assert Flow(reads=False, sends=False, fetches=False) == NO_FLOW
