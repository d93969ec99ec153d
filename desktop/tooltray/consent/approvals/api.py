"""The API about calls that wait for a person's consent, and about approvals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooltray.catalogue import auto_approve
from tooltray.config.settings.call_rule import read_rule
from tooltray.config.settings.widening import ALL, rules_widen
from tooltray.consent.approvals.edited_call import changed_names
from tooltray.consent.approvals.grants import end_of
from tooltray.consent.approvals.rule_words import words
from tooltray.foundation.confirm_widening import (
    OVERWRITTEN,
    YES_TO_CALLS,
    check_unchanged,
    confirm_answer,
    confirm_reading,
    confirm_widening,
    note_narrowing,
)
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import (
    UNTIL_REVOKED,
    ApprovalForm,
    ApprovalSnapshot,
    GrantSnapshot,
    RulePreview,
    ServerPermissions,
    ToolChange,
)
from tooltray.foundation.snapshots.confinement import Files, Net
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.foundation.verbs import JsonObject, verb

if TYPE_CHECKING:
    from tooltray.consent.approvals.approvals import Approvals
    from tooltray.consent.approvals.grant_book import GrantBook
    from tooltray.consent.approvals.grants import ScreenLock
    from tooltray.consent.approvals.permissions import DefinitionChanges, Permissions, RuleGrants, ToolGrants

ASK = "ask"  # of a tool
REFUSE = "refuse"  # the only answer that allows nothing
LASTED = Phrase("A lasting approval")


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
        """Returns what a waiting call would change in the file on disk that it overwrites, as lines that begin with "+", "-" or " ".
        Only the user may see it, since the model has chosen the file.

        Returns:
            The lines; empty if the call waits no longer, overwrites no file, or cannot be compared with a text file.

        Raises:
            Denied: the caller is not the user.
        """
        await confirm_reading(OVERWRITTEN)
        return await self._approvals.disk_diff(id)

    @verb("window")
    async def get_approval_form(self, id: str) -> ApprovalForm:
        """Returns the schema and the arguments of a waiting call, with which the user can change the arguments before allowing it. Only the
        user may see them, since secrets are not masked.

        Raises:
            Conflict: its arguments cannot be changed: it was declined already, or they cannot be shown exactly.
            Denied: the caller is not the user.
            NotFound: it waits no longer.
        """
        await confirm_reading(Phrase("Reading the arguments of a call"))
        return self._approvals.form(id)

    @verb("window")
    async def keep_approval_open(self, id: str) -> float:
        """Lets a waiting call wait for two more minutes, since the user edits its arguments; the window repeats this until the user stops.

        Returns:
            When the call is declined at the latest, however often this is repeated, in unix seconds.

        Raises:
            Conflict: it was declined already.
            NotFound: it waits no longer.
        """
        return self._approvals.keep_open(id)

    @verb("manage")
    async def preview_approval(self, id: str, arguments: JsonObject) -> ApprovalSnapshot:
        """Returns a waiting call as it would be with other arguments: what it would change, and the rules that cover it.

        Raises:
            TooltrayError: it waits no longer, its arguments cannot be changed, or these do not fit the tool's schema.
        """
        return await self._approvals.preview(id, arguments)

    async def answer_approval(self, id: str, answer: str, arguments: JsonObject | None = None) -> None:
        """Answers a waiting call for the user.

        Args:
            answer: one of its choices (see CHOICES), the answer of one of its `rules`, or "refuse".
            arguments: with which the call runs, and to which a rule applies (see `preview_approval`); its client learns what was changed.
                None: its own.

        Raises:
            TooltrayError: it waits no longer, the answer or the arguments are not valid, or a lasting approval cannot be written (the call
                keeps waiting).
        """
        if answer != REFUSE:
            await confirm_answer(YES_TO_CALLS, answer=answer, **await self._call(id, answer, arguments))
        await self._approvals.answer(id, answer, arguments)

    async def get_grants(self) -> list[GrantSnapshot]:
        """Returns the approvals for longer than one call, the newest first."""
        return self._grants.snapshots()

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[CoveredTool]:
        """Returns the tools that `add_grant` with the same arguments would allow.

        Raises:
            NotFound: the server or the tool is unknown.
            TooltrayError: the kind is unknown.
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
            tool: for the kind "tool": the server's own name of the tool.
            client: only for this AI client, as it names itself; empty: for all.
            expires_in_s: seconds; None: until it is revoked.
            until: "lock": until the screen locks, at the latest when Tooltray ends; empty: no such end.
            seen: `revision` of the preview that the person has reviewed; empty: the tools as they are now.

        Raises:
            NotFound: the server or the tool is unknown.
            Conflict: the screen is locked, or the tools differ from the preview.
            TooltrayError: the kind or the end is unknown, the screen's lock cannot be detected, or the grant cannot be written.
        """
        end = end_of(expires_in_s, until)
        about = {"server": server, "kind": kind, "tool": tool, "client": client, **_end_words(expires_in_s, until)}
        definitions = await self._tool_grants.definitions(server, kind, tool)
        await confirm_widening(YES_TO_CALLS, **about, definitions=definitions)
        check_unchanged(definitions, await self._tool_grants.definitions(server, kind, tool))
        return await self._tool_grants.allow(server, kind, tool, client, end, seen)

    @verb("window")
    async def tell_screen_lock(self, is_locked: bool | None) -> None:
        """Reports from the desktop whether the screen is locked, or that the computer goes to sleep, which ends grants until then.

        Args:
            is_locked: None if that cannot be detected any more.

        Raises:
            Denied: Tooltray runs without a window, so the next lock would not be reported.
        """
        self._screen_lock.tell(is_locked)

    @verb("manage")
    async def preview_rule(self, server: str, rule: JsonObject) -> RulePreview:
        """Describes a rule on arguments in words, and returns which recent calls it would have covered.

        Args:
            rule: in the form of `callRules` of an entry; a waiting call has rules that cover it in `rules`.

        Raises:
            NotFound: the server is unknown.
            TooltrayError: the rule cannot be used; the error has the reason.
        """
        return await self._rule_grants.preview(server, rule)

    async def add_rule(
        self, server: str, rule: JsonObject, client: str = "", expires_in_s: float | None = None, until: str = ""
    ) -> GrantSnapshot:
        """Allows calls of a server that a rule on arguments covers, for tools as they are defined now. The rule is listed with the grants.

        Args:
            rule, client, expires_in_s, until: as in `preview_rule` and `add_grant`.

        Raises:
            NotFound: the server is unknown, or has no tool that the rule names.
            TooltrayError: no call could be covered by this rule, or it cannot be written.
        """
        read, end = read_rule(rule), end_of(expires_in_s, until)
        definitions = await self._rule_grants.definitions(server, read)
        about = {"server": server, "rule": words(read), "client": client, **_end_words(expires_in_s, until)}
        await confirm_widening(YES_TO_CALLS, **about, definitions=definitions)
        check_unchanged(definitions, await self._rule_grants.definitions(server, read))
        return await self._rule_grants.allow(server, rule, client, end)

    async def remove_grant(self, id: str) -> None:
        """Revokes a grant.

        Raises:
            NotFound: the grant does not exist.
            TooltrayError: the change cannot be written.
        """
        about = next((_about(grant) for grant in self._grants.snapshots() if grant.id == id), {"grant": id})
        await self._grants.revoke(id)
        await note_narrowing(LASTED, **about)

    async def restore_grant(self, id: str) -> GrantSnapshot:
        """Restores a grant that was revoked less than half a minute ago, with its former end.

        Raises:
            NotFound: it cannot be undone any more.
            TooltrayError: the change cannot be written.
        """
        taken = self._grants.revoked(id)
        about = {**_about(taken), "rule": taken.words} if taken else {"grant": id}
        await confirm_widening(YES_TO_CALLS, **about)
        return await self._grants.restore(id)

    async def get_permissions(self, server: str = "") -> list[ServerPermissions]:
        """Returns for each server and each of its tools whether calls run without asking, and why.

        Args:
            server: only this one; empty: all.
        """
        return await self._permissions.all(server)

    async def set_access(
        self,
        server: str,
        choice: AccessChoice | None,
        rules: list[str] | None = None,
        files: Files | None = None,
        network: Net | None = None,
    ) -> None:
        """Chooses what a server may do, in one change of its entry. A wider choice needs approval, a narrower one does not.

        Args:
            choice: "careful": it is sandboxed, what only reads runs without asking, and changes ask; "trusted": the same without a
                sandbox; "free": nothing asks, and it is not sandboxed. Tools that ask by their names still do, except with "free". None:
                `rules`, `files` and `network` are set instead, for example to restore what an earlier choice has changed.
            rules: as in `set_server_auto_approve`; None: they stay.
            files, network: as in `set_confinement`; None: they stay.

        Raises:
            NotFound: no file has this server.
            Denied: it would be more open, and that was not confirmed.
            Conflict: since the question was asked its program or these settings have changed.
            TooltrayError: it cannot be sandboxed here, a rule is not valid, or the settings cannot be written.
        """
        if choice is not None:
            self._permissions.check_offered(server, choice)
        else:
            _check_rules(server, rules or ())
        _, before = about = self._permissions.access(server)
        after = before.with_choice(choice) if choice is not None else before.with_settings(rules, files, network)
        words: dict[str, object] = {"server": server, "access": choice, "rules": list(after.rules), "rules_before": list(before.rules)}
        if after.widens(before):
            await confirm_widening(Phrase("Letting a server do more"), **words, **after.confinement.beyond(before.confinement))
            check_unchanged(about, self._permissions.access(server))
        elif after != before:
            await note_narrowing(Phrase("Part of what a server may do"), **words)
        if after != before:
            await self._permissions.change_access(server, after)

    async def set_tool_approval(self, server: str, tool: str, approval: str) -> None:
        """Chooses whether one tool runs without asking, in the file with its server's entry.

        Args:
            tool: the server's own name for it.
            approval: "always" (it runs without asking), "ask" (it asks first, regardless of its server's rules, and its grants are revoked)
                or "default" (by its server's rules).

        Raises:
            NotFound: no file has this server, or the server has no such tool.
            TooltrayError: this is not a valid choice, or the settings cannot be written.
        """
        before, after = self._permissions.rules(server), self._permissions.rules_with(server, tool, approval)
        await _decide_rules(before, after, server=server, tool=tool, approval=approval)
        check_unchanged(before, self._permissions.rules(server))
        if after != before:
            await self._permissions.change_rules(server, after)
        if approval == ASK:
            await self._permissions.revoke_grants(server, tool)

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        """Chooses which calls of a server run without asking, in the file with its entry.

        Args:
            rules: rules, and names of tools; empty: each call asks.

        Raises:
            NotFound: no file has this server.
            TooltrayError: a rule is not valid, or the settings cannot be written.
        """
        _check_rules(server, rules)
        before = self._rules(server)
        await _decide_rules(before, rules, server=server)
        check_unchanged(before, self._rules(server))
        await self._permissions.change_rules(server, rules)

    async def get_tool_changes(self) -> list[ToolChange]:
        """Returns tools that were allowed and have changed since, so that they ask again, and changed skills, blocked until reviewed."""
        return self._changes.all()

    async def accept_tool_change(self, server: str, tool: str, kind: str = "tool", seen: str = "") -> None:
        """Accepts a changed tool or skill that the user has reviewed: former approvals then cover its present definition.

        Args:
            tool: the server's own name for it; of a skill its URI.
            kind: "tool" or "skill".
            seen: `revision` of the ToolChange that the person has reviewed; empty: its present definition.

        Raises:
            Conflict: it has not changed, or has changed again since.
            TooltrayError: the change cannot be written.
        """
        definition = await self._changes.now(server, tool, kind)
        await confirm_widening(YES_TO_CALLS, server=server, tool=tool, kind=kind, definitions=definition)
        check_unchanged(definition, await self._changes.now(server, tool, kind))
        await self._changes.accept(server, tool, kind, seen)

    async def _call(self, id: str, answer: str, arguments: JsonObject | None) -> dict[str, object]:
        """Returns a waiting call for the audit trail: its names, its changed arguments' names, and its rule in words.

        Raises:
            TooltrayError: the call waits no longer, or this cannot be its answer.
        """
        call, view = await self._approvals.question(id, answer, arguments)
        rule = next((each.words for each in view.rules if each.answer == answer), "")
        about = {"server": view.server, "tool": view.tool, "client": view.client, "project": view.project, "rule": rule}
        return about | {"changed": changed_names(call)}

    def _rules(self, server: str) -> Sequence[str]:
        """Returns the valid rules of a server; for an unknown server the widest rules, since changing its entry will fail."""
        try:
            return self._permissions.rules(server)
        except NotFound:
            return (ALL,)


def _check_rules(server: str, rules: Sequence[str]) -> None:
    if problem := auto_approve.problem_of(server, rules, ()):
        raise TooltrayError(problem.title, problem.message, problem.hint)


async def _decide_rules(before: Sequence[str], after: Sequence[str], **about: object) -> None:
    if rules_widen(before, after):
        await confirm_widening(YES_TO_CALLS, **about, rules=list(after), rules_before=list(before))
    elif list(before) != list(after):
        await note_narrowing(YES_TO_CALLS, **about, rules=list(after), rules_before=list(before))


def _end_words(expires_in_s: float | None, until: str) -> dict[str, object]:
    """Returns how long a grant lasts, even if it never ends, since the user has to read it before consenting."""
    return {"expires_in_s": expires_in_s, "until": until or (UNTIL_REVOKED if expires_in_s is None else "")}


def _about(grant: GrantSnapshot) -> dict[str, object]:
    return {"grant": grant.id, "server": grant.server, "kind": grant.kind, "tool": grant.tool, "client": grant.client}
