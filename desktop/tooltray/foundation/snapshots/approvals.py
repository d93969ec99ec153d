"""What waits for the user (tool calls, entries, confirmations), what was allowed for longer, and the audit trail of all decisions."""

from collections.abc import Mapping

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.foundation.verbs import JsonMapping

CHOICES = ("once", "like", "session", "hour", "day", "lock", "always", "reads")
"""The approvals of a call: only for it; for similar calls for some seconds; for its tool for the session, an hour, a day, until the screen
locks, or until it is revoked; for all tools of its server that read."""

UNTIL_REVOKED = "revoked"
"""`until` of a decision: the approval lasts until it is revoked."""

RuleJson = JsonMapping
"""A rule on arguments as it stands in a file: a CallRule."""


class OfferedRule(msgspec.Struct, frozen=True):
    """A rule on arguments that can answer a waiting call: it allows this call, and from now on every call that matches.

    Attributes:
        answer: to the call.
        title: the condition on the arguments, in short.
        words: the calls that it covers.
        rule: a CallRule as JSON.
    """

    answer: str
    title: str
    words: str
    rule: RuleJson


class ApprovalSnapshot(msgspec.Struct, frozen=True):
    """A tool call that waits for the user's approval. Texts of servers and models are cleaned for display."""

    id: str
    server: str
    tool: str  # the server's own name for it
    client: str
    category: str  # "read" or "write"
    arguments: str  # indented JSON, known secrets masked; cut where it is very long
    why: str  # it asks
    ends_at: float  # unix seconds; then it is refused
    choices: tuple[str, ...]  # those of CHOICES that make sense here
    project: str = ""  # path
    description: str = ""  # of the tool
    diff: tuple[str, ...] = ()  # what an edit would change: lines that begin with "+", "-" or " "
    definition_diff: tuple[str, ...] = ()  # how the definition differs from what was allowed before, in the same way
    warnings: tuple[str, ...] = ()  # what is odd in the definition: hidden characters, text that gives orders to a model
    replaces: str = ""  # the id under which this waited before its tool was defined in another way
    is_quiet: bool = False  # the last questions of this AI client were not answered: nothing calls a person for this one
    like_for_s: int = 0  # of the choice "like": for how many seconds
    flow: str = ""  # what the session has read that strangers wrote, where it asks because of that
    rules: tuple[OfferedRule, ...] = ()  # from narrow to wide
    is_declined: bool = False  # already: an answer counts for the next equal call
    is_editable: bool = False  # the answer may come with other arguments, see ApprovalForm
    title: str = ""  # of the tool, as its server has it


class ApprovalForm(msgspec.Struct, frozen=True):
    """What a form needs to edit the arguments of a waiting call.

    Attributes:
        schema: of the tool's arguments, as its server wrote it.
        arguments: as the client sent them; secrets are not masked.
    """

    schema: JsonMapping
    arguments: JsonMapping


class GrantSnapshot(msgspec.Struct, frozen=True):
    """An approval that lasts longer than one call."""

    id: str
    kind: str  # "tool", "reads" (every tool of the server that reads) or "rule" (calls that a rule on arguments covers)
    server: str
    tool: str = ""  # of the kinds "tool" and "rule": the server's own name; empty: of a rule for several
    client: str = ""  # for this AI client alone
    session: str = ""  # for this session alone: its id
    created_at: float = 0.0  # unix seconds
    expires_at: float = 0.0  # unix seconds; 0: it does not expire
    until: str = ""  # "lock": it ends when the screen locks; at `expires_at` if that comes first
    is_held: bool = False  # the definition of its tool, or of a tool of its server, is another one since; such tools ask again
    held_tools: tuple[str, ...] = ()  # which
    rule: RuleJson = {}  # of the kind "rule": a CallRule as JSON
    words: str = ""  # of the kind "rule": the calls that it covers


class JudgedCall(msgspec.Struct, frozen=True):
    """A past or waiting call, and whether a rule on arguments would have allowed it.

    Attributes:
        at: unix seconds.
        tool: the server's own name.
        line: its arguments, cut; known secrets are masked.
    """

    at: float
    tool: str
    client: str
    line: str
    is_covered: bool


class RulePreview(msgspec.Struct, frozen=True):
    """The meaning of a rule on arguments, and its effect on recent calls.

    Attributes:
        words: the calls that it covers.
        rule: a CallRule as JSON.
        cautions: what the user should know of it that the words do not contain.
        problems: why no call can be covered now, such as a folder that does not exist.
        calls: waiting calls, and recent calls whose arguments the journal has stored; the newest first.
        unknown: the number of recent calls that could not be judged, since their arguments are not stored.
    """

    words: str
    rule: RuleJson
    cautions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    calls: tuple[JudgedCall, ...] = ()
    unknown: int = 0


def tried_in_words(preview: RulePreview) -> tuple[Phrase, ...]:
    """Returns how many recent calls a rule would have covered, a sentence each."""
    known, covered, unknown = len(preview.calls), sum(each.is_covered for each in preview.calls), preview.unknown
    if not known:
        kept = Phrase("Recent calls could not be checked: their arguments are not recorded.")
        return (kept,) if unknown else (Phrase("No recent calls of this tool."),)
    more = Phrase("{count} more could not be checked: their arguments are not recorded.", count=unknown)
    if unknown == 1:
        more = Phrase("1 more could not be checked: its arguments are not recorded.")
    return (_tried(known, covered), more) if unknown else (_tried(known, covered),)


def _tried(known: int, covered: int) -> Phrase:
    if known == 1:
        return Phrase("Matches the only recent call.") if covered else Phrase("Does not match the only recent call.")
    if covered == known:
        return Phrase("Matches all {known} recent calls.", known=known)
    if not covered:
        return Phrase("Matches none of {known} recent calls.", known=known)
    return Phrase("Matches {covered} of {known} recent calls.", covered=covered, known=known)


class ToolChange(msgspec.Struct, frozen=True):
    """A tool whose definition has changed since the user allowed it: it asks again until the user has reviewed the change.

    Or a skill that has changed since it was first offered.
    """

    server: str
    tool: str  # the server's own name
    diff: tuple[str, ...]  # lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()  # as in ApprovalSnapshot
    kind: str = "tool"  # or "skill": `tool` is then its URI, and until a person has seen how it differs AI clients do not get it
    revision: str = ""  # of what it is now; `accept_tool_change` takes it


class ToolPermission(msgspec.Struct, frozen=True):
    """Whether a tool runs without asking, by the settings and by what the user has allowed for all AI clients.

    Attributes:
        tool: the server's own name.
        category: "read" or "write".
        choice: the rule for this tool by its name: "always", "ask", or "default" (as its server).
        is_free: it runs without asking by the rules.
        why: in words; of a tool that a grant covers, why it would ask without the grant.
        grants: ids of the grants that cover it as it is defined now, including those for one AI client or session.
        is_enabled: AI clients see it.
        is_held: its definition has changed since the user allowed it.
        call_rules: in words, the rules on arguments that let some of its calls run for all AI clients, whatever else applies.
    """

    tool: str
    category: str
    choice: str
    is_free: bool
    why: str
    grants: tuple[str, ...] = ()
    is_enabled: bool = True
    is_held: bool = False
    call_rules: tuple[str, ...] = ()


class ServerPermissions(msgspec.Struct, frozen=True):
    """The tools of one server that run without asking, and why.

    Attributes:
        rules: its `autoApprove`.
        single: the rules among them for one tool by its name.
        is_changeable: the user can choose other rules; not for servers that come with Tooltray.
        is_listed: its tools are known.
        call_rules: in words, its `callRules`.
    """

    server: str
    rules: tuple[str, ...]
    single: tuple[str, ...] = ()
    is_changeable: bool = True
    is_listed: bool = True
    tools: tuple[ToolPermission, ...] = ()
    call_rules: tuple[str, ...] = ()


class ConfirmationSnapshot(msgspec.Struct, frozen=True):
    """A command's request to allow something. Every text in it is cleaned for display."""

    id: str
    what: str  # the beginning of a sentence: "Allowing tool calls"
    verb: str  # of the API
    facts: tuple[tuple[str, str], ...]  # what it is about: names and values, in the order in which they are to be read
    origin: tuple[str, ...]  # the processes that it comes from, the nearest first, e.g. "bash (4242)"
    ai_client: str  # the AI client among them, as people know it; empty: none that is known
    ends_at: float  # unix seconds; then it is refused
    count: int = 1  # so many have asked for the same


class PassphraseState(msgspec.Struct, frozen=True):
    """Whether a passphrase confirms the requests of commands where no window can."""

    is_set: bool
    tries_left: int  # before the next one has to wait
    waits_s: float = 0.0  # until another one is looked at


class TrustRequest(msgspec.Struct, frozen=True):
    """An entry that runs only after the user's approval. Everything is shown as it is written, with placeholders not filled in."""

    project: str  # the folder of the project's file that has it, absolute; empty: a program has proposed it
    file: str
    entry: str  # its name in the file
    digest: str  # of the content, and of the files that it starts: a yes is for these alone
    is_change: bool  # a person said yes to another content before
    transport: str
    target: str  # command line or URL
    command: str = ""  # of a process
    host: str = ""  # of a server elsewhere
    cwd: str = ""
    secrets: tuple[str, ...] = ()  # the names of those that it would get
    variables: tuple[str, ...] = ()  # the same of the person's environment
    variable_states: tuple[str, ...] = ()  # of each of those, now: "set", "default" (not set, and the entry says what counts) or "missing"
    env: tuple[str, ...] = ()  # the variables that a process is started with besides the person's, as "NAME=value"
    headers: tuple[str, ...] = ()  # that are sent, as "Name: value"
    others: tuple[str, ...] = ()  # every other field of the entry, as "field: value"
    is_inside: bool = False  # what is started lies in the project itself
    auto_approve: tuple[str, ...] = ()  # which of its calls would go through unasked
    diff: tuple[str, ...] = ()  # against what was trusted, as far as that is known: lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()
    line: int = 0  # in the file, from 1
    files: tuple[str, ...] = ()  # of the project that it starts, with the beginning of each one's digest; a yes is for these, too
    confinement: ConfinementSnapshot | None = None  # that it would get; None: it is no process of this computer
    asked_by: str = ""  # the name of the token with which a program has proposed it; empty: it stands in the file


class TrustedEntry(msgspec.Struct, frozen=True):
    """An entry of a project's file that the user has approved."""

    project: str
    entry: str
    server: str  # how it is called here
    trusted_at: float  # unix seconds
    is_own: bool = False  # Tooltray wrote it there itself


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision, without secrets and without the arguments of a call."""

    number: int  # from 1; the next decision has the next number
    at: float  # unix seconds
    what: str  # was decided, as the beginning of a sentence: "Allowing tool calls"
    answer: str  # "yes", "no", "late" (not answered in time), "gone" (the asker has gone), or "narrowed" (revoked)
    way: str  # "window", "terminal", "passphrase", "program" (REST), "client" (a form of an AI client), "script"; empty: by itself
    who: str = ""  # the name of a program's token, or of an AI client
    origin: str = ""  # the processes that it came from, the nearest first
    verb: str = ""  # of the API
    about: Mapping[str, str] = {}  # names of what it is about: server, tool, folder, definition, ...
    previous: str = ""  # SHA-256 of the line before


class AuditCheck(msgspec.Struct, frozen=True):
    """The result of a check that the audit trail is as it was written."""

    is_whole: bool
    first: int  # the oldest number that is kept; 0: nothing was recorded yet
    last: int
    problems: tuple[str, ...] = ()
