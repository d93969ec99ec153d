"""The API about calls that wait for a person's consent, and about what was allowed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooltray.catalogue import approval
from tooltray.config.settings.call_rule import read_rule
from tooltray.config.settings.widening import ALL, rules_widen
from tooltray.consent.approvals.grant_ends import end_of
from tooltray.consent.approvals.rule_words import words
from tooltray.foundation.confirmation import (
    YES_TO_CALLS,
    check_unchanged,
    confirm_answer,
    confirm_reading,
    confirm_widening,
    note_narrowing,
)
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.approvals import TAKEN_BACK, ApprovalSnapshot, GrantSnapshot, RulePreview, ServerPermissions, ToolChange
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.consent.approvals.approvals import Approvals
    from tooltray.consent.approvals.definition_changes import DefinitionChanges
    from tooltray.consent.approvals.grant_book import GrantBook
    from tooltray.consent.approvals.grant_ends import ScreenLock
    from tooltray.consent.approvals.new_grants import RuleGrants, ToolGrants
    from tooltray.consent.approvals.permissions import Permissions

ASK = "ask"  # of a tool
REFUSE = "refuse"  # the one answer that allows nothing
LASTED = Phrase("What was allowed for longer")


class ApprovalsApi:
    def __init__(
        self,
        *,
        approvals: "Approvals",
        grants: "GrantBook",
        tool_grants: "ToolGrants",
        rule_grants: "RuleGrants",
        definition_changes: "DefinitionChanges",
        permissions: "Permissions",
        screen_lock: "ScreenLock",
    ) -> None:
        self._approvals, self._grants, self._tool_grants, self._rule_grants = approvals, grants, tool_grants, rule_grants
        self._changes, self._permissions, self._screen_lock = definition_changes, permissions, screen_lock

    async def get_approvals(self) -> list[ApprovalSnapshot]:
        """Returns the calls that wait for the user's approval, the oldest first."""
        return self._approvals.waiting()

    @verb("window")
    async def get_approval_diff(self, id: str) -> tuple[str, ...]:
        """Returns what a call that waits would change in the file on disk that it writes whole, as lines that begin with "+", "-" or " ".
        Only the user sees it: the model has chosen which file that is.

        Returns:
            Nothing if the call waits no longer, writes no file whole, or there is no text file to compare with.

        Raises:
            Denied: no user asks.
        """
        await confirm_reading(Phrase("Reading a file that a call would overwrite"))
        return await self._approvals.disk_diff(id)

    async def answer_approval(self, id: str, answer: str) -> None:
        """Takes the user's answer to a call that waits.

        Args:
            answer: one of its choices (see CHOICES), that of one of its `rules`, or "refuse".

        Raises:
            TooltrayError: it waits no longer, this is no answer to it, or what lasts cannot be written (the call waits on).
        """
        if answer != REFUSE:
            await confirm_answer(YES_TO_CALLS, answer=answer, **self._call(id, answer))
        await self._approvals.answer(id, answer)

    async def get_grants(self) -> list[GrantSnapshot]:
        """Returns what was allowed for longer than one call, the newest first."""
        return self._grants.snapshots()

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[CoveredTool]:
        """Returns the tools that `add_grant` with the same arguments would allow.

        Raises:
            NotFound: there is no such server or tool.
            TooltrayError: there is no such kind.
        """
        return await self._tool_grants.preview(server, kind, tool)

    async def add_grant(
        self,
        server: str,
        kind: str = "tool",
        tool: str = "",
        client: str = "",
        expires_in_s: float | None = None,
        until: str = "",
        seen: str = "",
    ) -> GrantSnapshot:
        """Allows calls for longer than one call, as the tools are defined now.

        Args:
            kind: "tool", or "reads" (every tool of the server that reads).
            tool: of the kind "tool": the server's own name.
            client: for this AI client alone, as it names itself; empty: for all.
            expires_in_s: seconds; None: until it is taken back.
            until: "lock": until the screen locks, at the latest when the hub ends; empty: not.
            seen: `revision` of the preview that the person has looked at; empty: whatever the tools are now.

        Raises:
            NotFound: there is no such server or tool.
            Conflict: the screen is locked, or the tools are others than in the preview.
            TooltrayError: there is no such kind or end, nothing can tell when the screen locks, or the grant cannot be written.
        """
        end = end_of(expires_in_s, until)
        about = {"server": server, "kind": kind, "tool": tool, "client": client, **_end_words(expires_in_s, until)}
        definitions = await self._tool_grants.definitions(server, kind, tool)
        await confirm_widening(YES_TO_CALLS, **about, definitions=definitions)
        check_unchanged(definitions, await self._tool_grants.definitions(server, kind, tool))
        return await self._tool_grants.allow(server, kind, tool, client, end, seen)

    @verb("window")
    async def tell_screen_lock(self, is_locked: bool | None) -> None:
        """Takes from the desktop whether the screen is locked, or that the computer goes to sleep: grants until then end.

        Args:
            is_locked: None: that cannot be known any more.

        Raises:
            Denied: this hub has no window, so it would not hear of the next lock.
        """
        self._screen_lock.tell(is_locked)

    @verb("manage")
    async def preview_rule(self, server: str, rule: JsonObject) -> RulePreview:
        """Returns what a rule on arguments means, in words, and which recent calls it would have covered.

        Args:
            rule: as `callRules` of an entry has them; of a call that waits `rules` has some that cover it.

        Raises:
            NotFound: there is no such server.
            TooltrayError: the rule cannot be used; says why.
        """
        return await self._rule_grants.preview(server, rule)

    async def add_rule(
        self, server: str, rule: JsonObject, client: str = "", expires_in_s: float | None = None, until: str = ""
    ) -> GrantSnapshot:
        """Lets calls of a server through that a rule on arguments covers, for tools as they are defined now. It is listed with the grants.

        Args:
            rule, client, expires_in_s, until: as in `preview_rule` and `add_grant`.

        Raises:
            NotFound: there is no such server, or no tool of which the rule speaks.
            TooltrayError: no call could be covered by this rule, or it cannot be written.
        """
        read, end = read_rule(rule), end_of(expires_in_s, until)
        definitions = await self._rule_grants.definitions(server, read)
        about = {"server": server, "rule": words(read), "client": client, **_end_words(expires_in_s, until)}
        await confirm_widening(YES_TO_CALLS, **about, definitions=definitions)
        check_unchanged(definitions, await self._rule_grants.definitions(server, read))
        return await self._rule_grants.allow(server, rule, client, end)

    async def remove_grant(self, id: str) -> None:
        """Takes back what was allowed.

        Raises:
            NotFound: there is no such grant.
            TooltrayError: that cannot be written.
        """
        about = next((_about(grant) for grant in self._grants.snapshots() if grant.id == id), {"grant": id})
        await self._grants.revoke(id)
        await note_narrowing(LASTED, **about)

    async def restore_grant(self, id: str) -> GrantSnapshot:
        """Allows again what was taken back less than half a minute ago, until its own end.

        Raises:
            NotFound: it cannot be undone any more.
            TooltrayError: that cannot be written.
        """
        taken = self._grants.revoked(id)
        about = {**_about(taken), "rule": taken.words} if taken else {"grant": id}
        await confirm_widening(YES_TO_CALLS, **about)
        return await self._grants.restore(id)

    async def get_permissions(self) -> list[ServerPermissions]:
        """Returns what runs without asking, for each server and each of its tools, and why."""
        return await self._permissions.all()

    async def set_tool_approval(self, server: str, tool: str, approval: str) -> None:
        """Chooses whether one tool runs without asking, in whichever file its server's entry is.

        Args:
            tool: the server's own name for it.
            approval: "always" (it runs without asking), "ask" (it asks first, whatever its server's rules say, and what was allowed for it
                is taken back) or "default" (as its server's rules say).

        Raises:
            NotFound: there is no such server in a file, or it has no such tool.
            TooltrayError: this is no choice, or the settings cannot be written.
        """
        before, after = self._permissions.rules(server), self._permissions.rules_with(server, tool, approval)
        await _decide_rules(before, after, server=server, tool=tool, approval=approval)
        check_unchanged(before, self._permissions.rules(server))
        if after != before:
            await self._permissions.change_rules(server, after)
        if approval == ASK:
            await self._permissions.revoke_grants(server, tool)

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        """Chooses which calls of a server go through unasked, in whichever file its entry is.

        Args:
            rules: rules, and names of tools; none: each call is asked about.

        Raises:
            NotFound: there is no such server in a file.
            TooltrayError: a rule means nothing, or the settings cannot be written.
        """
        if problem := approval.problem_of(server, rules, ()):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        before = self._rules(server)
        await _decide_rules(before, rules, server=server)
        check_unchanged(before, self._rules(server))
        await self._permissions.change_rules(server, rules)

    async def get_tool_changes(self) -> list[ToolChange]:
        """Tools that were allowed and are defined in another way since; they ask again. And skills that are held because they changed."""
        return self._changes.all()

    async def accept_tool_change(self, server: str, tool: str, kind: str = "tool", seen: str = "") -> None:
        """Accepts how a tool differs, which the user has seen: what was allowed counts for it as it is now.

        Args:
            tool: the server's own name for it; of a skill its URI.
            kind: "tool" or "skill".
            seen: `revision` of the ToolChange that the person has looked at; empty: whatever it is now.

        Raises:
            Conflict: it has not changed, or has changed again since.
            TooltrayError: that cannot be written.
        """
        definition = await self._changes.now(server, tool, kind)
        await confirm_widening(YES_TO_CALLS, server=server, tool=tool, kind=kind, definitions=definition)
        check_unchanged(definition, await self._changes.now(server, tool, kind))
        await self._changes.accept(server, tool, kind, seen)

    def _call(self, id: str, answer: str) -> dict[str, object]:
        """Returns what the audit trail has of a call that waits: its names, and in words the rule that it is answered with."""
        call = self._approvals.question(id)
        if call is None:
            return {"call": id}
        rule = next((each.words for each in call.rules if each.answer == answer), "")
        return {"server": call.server, "tool": call.tool, "client": call.client, "project": call.project, "rule": rule}

    def _rules(self, server: str) -> Sequence[str]:
        """Returns the rules that count now; of an unknown server the widest ones, since changing its entry will fail."""
        try:
            return self._permissions.rules(server)
        except NotFound:
            return (ALL,)


async def _decide_rules(before: Sequence[str], after: Sequence[str], **about: object) -> None:
    if rules_widen(before, after):
        await confirm_widening(YES_TO_CALLS, **about, rules=list(after), rules_before=list(before))
    elif list(before) != list(after):
        await note_narrowing(YES_TO_CALLS, **about, rules=list(after), rules_before=list(before))


def _end_words(expires_in_s: float | None, until: str) -> dict[str, object]:
    """Returns how long a grant lasts, also where that is for good: the user who is asked is to read it."""
    return {"expires_in_s": expires_in_s, "until": until or (TAKEN_BACK if expires_in_s is None else "")}


def _about(grant: GrantSnapshot) -> dict[str, object]:
    return {"grant": grant.id, "server": grant.server, "kind": grant.kind, "tool": grant.tool, "client": grant.client}
