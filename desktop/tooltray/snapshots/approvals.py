"""Tool calls that wait for a yes, yeses that last, and what runs without asking."""

import msgspec

CHOICES = ("once", "like", "session", "hour", "day", "lock", "always", "reads")
"""The yeses to a call: to it alone; to the like of it for some seconds; to its tool for the session, an hour, a day, until the screen
locks, or until it is taken back; to all tools of its server that read."""


class ApprovalSnapshot(msgspec.Struct, frozen=True):
    """A tool call that waits for a person's yes. Texts of servers and models are made harmless."""

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


class GrantSnapshot(msgspec.Struct, frozen=True):
    """A yes of a person that lasts."""

    id: str
    kind: str  # "tool" or "reads" (every tool of the server that reads)
    server: str
    tool: str = ""  # of the kind "tool": the server's own name
    client: str = ""  # for this AI client alone
    session: str = ""  # for this session alone: its id
    created_at: float = 0.0  # unix seconds
    expires_at: float = 0.0  # unix seconds; 0: it does not expire
    until: str = ""  # "lock": it ends when the screen locks; at `expires_at` if that comes first
    is_held: bool = False  # the definition of its tool, or of a tool of its server, is another one since; such tools ask again
    held_tools: tuple[str, ...] = ()  # which


class ToolChange(msgspec.Struct, frozen=True):
    """A tool that a person allowed, and whose definition is another one since: it asks again until a person has seen how it differs.

    Or a skill that is another one than when it was first offered.
    """

    server: str
    tool: str  # the server's own name
    diff: tuple[str, ...]  # lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()  # as in ApprovalSnapshot
    kind: str = "tool"  # or "skill": `tool` is then its URI, and until a person has seen how it differs AI clients do not get it


class ToolPermission(msgspec.Struct, frozen=True):
    """Whether a tool runs without asking, by what is written and by what a person has allowed for all AI clients.

    Attributes:
        tool: the server's own name.
        category: "read" or "write".
        choice: what a person says of this tool by its name: "always", "ask", or "default" (as its server).
        is_free: it runs without asking by the rules.
        why: in words; of a tool that a grant covers, why it would ask without that.
        grants: ids of the grants that cover it as it is defined now, those for one AI client or session among them.
        is_enabled: AI clients see it.
        is_held: a person allowed it, and it is defined in another way since.
    """

    tool: str
    category: str
    choice: str
    is_free: bool
    why: str
    grants: tuple[str, ...] = ()
    is_enabled: bool = True
    is_held: bool = False


class ServerPermissions(msgspec.Struct, frozen=True):
    """What runs without asking of one server.

    Attributes:
        rules: its `autoApprove`.
        single: those of them that speak of one tool by its name.
        is_changeable: a person can choose others; not of what comes with Tooltray.
        is_listed: which tools it has is known.
    """

    server: str
    rules: tuple[str, ...]
    single: tuple[str, ...] = ()
    is_changeable: bool = True
    is_listed: bool = True
    tools: tuple[ToolPermission, ...] = ()
