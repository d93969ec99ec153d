"""What a FakePresenter knows, and what a test does to it in place of the world. Its verbs work on it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from tests.fakes.server_snapshots import BUILTIN, STARTED_AT

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import (
    ApprovalAsked,
    ApprovalEnded,
    ConfigChanged,
    EventBus,
    FeedbackAsked,
    FeedbackEnded,
    ServerChanged,
    SessionsChanged,
    ToolListChanged,
)
from tooltray.foundation.snapshots.activity import ActivityRow, CallNow, JournalStatus
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit, ClientScan, ImportedServer, ImportPlan
from tooltray.foundation.snapshots.approvals import (
    ApprovalForm,
    ApprovalSnapshot,
    AuditCheck,
    AuditEntry,
    GrantSnapshot,
    RulePreview,
    ServerPermissions,
    ToolChange,
    TrustedEntry,
    TrustRequest,
)
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientModeSnapshot, HttpStatus, ProfileSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.discovery import (
    BundleOffer,
    RegistryHit,
    RegistrySearch,
    RegistryServer,
    RegistryStatus,
    RegistryUpdate,
    StarterServer,
)
from tooltray.foundation.snapshots.entries import NewServer, ServerTest
from tooltray.foundation.snapshots.hub import HubSnapshot, NpmRegistryStatus, ProgramLoad, ProgramSnapshot
from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.snapshots.servers import InMemoryServer, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot, ServerRemoval, SetupChange, StoredSecrets
from tooltray.foundation.snapshots.tools import ToolCosts, ToolSnapshot

PLACES = ("/home/ann/.tooltray", "/home/ann/.tooltray/settings.json", "/home/ann/.tooltray/logs")


class HubInMemory:
    """Snapshots, entries and secrets that tests may set; `calls` is what was asked, `failures` what a verb shall raise."""

    def __init__(self, servers: Sequence[ServerSnapshot] = (), tools: Sequence[ToolSnapshot] = (), **fields: Any) -> None:
        self.bus = EventBus()
        self.calls: list[tuple[Any, ...]] = []
        self.failures: dict[str, TooltrayError] = {}
        self.server_tests: dict[str, ServerTest] = {}  # what a test gives, by the server's name
        self.running_tests: dict[str, asyncio.Event] = {}
        self.entries: dict[str, dict[str, Any]] = {each.name: {"command": "npx"} for each in servers if not each.is_builtin}
        self.names_in_files: dict[str, str] = {}  # of servers of other files that have another one there
        self.chosen: dict[str, dict[str, Any]] = {}  # beside the entries of such servers
        self.defaults: list[str] = [each.name for each in servers if each.is_default]
        self.secrets: dict[str, str] = {}
        self.settings: dict[str, Any] = {}  # besides the servers
        self.journal_status = JournalStatus()
        self.removed_secrets: dict[str, str] = {}
        self.stored_secrets = StoredSecrets("keyring")  # its `secrets` besides those above and what entries use
        self.logs: dict[str, list[str]] = {}
        self.tools = list(tools)
        self.http = HttpStatus()
        self.calls_now: list[CallNow] = []
        self.activity: list[ActivityRow] = []
        self.load = ProgramLoad(212_000_000, 0.014, 1_480_000_000, 6)
        self.program = ProgramSnapshot(
            "0.1.0", "deb", "Debian package", "Run: sudo apt install ./tooltray_VERSION_amd64.deb", False, *PLACES
        )
        self.api_token = "api-token-of-a-fake"
        self.files: list[ServerFileSnapshot] = []
        self.trust_requests: list[TrustRequest] = []
        self.trusted: list[TrustedEntry] = []
        self.reload_changes: list[ReloadChange] = []
        self.registry = NpmRegistryStatus()
        self.setup_changes: list[SetupChange] = []
        self.diagnoses: list[Any] = []
        self.client_names: set[str] = set()
        self.api_tokens: dict[str, ApiTokenSnapshot] = {}
        self.sessions: list[SessionSnapshot] = []
        self.client_modes: list[ClientModeSnapshot] = []
        self.profiles: list[ProfileSnapshot] = []
        self.costs = ToolCosts("", 0, 0, ())
        self.cost_of: dict[str, ToolCosts] = {}  # by client or session, where it is another one
        self.allowed_folders: list[str] = []
        self.approvals: list[ApprovalSnapshot] = []
        self.disk_diffs: dict[str, tuple[str, ...]] = {}
        self.approval_form = ApprovalForm({}, {})
        self.latest_end = 0.0  # of a call that is edited, in unix seconds
        self.changed_call: ApprovalSnapshot | None = None  # with the arguments of the person
        self.grants: list[GrantSnapshot] = []
        self.taken_back: dict[str, GrantSnapshot] = {}
        self.permissions: list[ServerPermissions] = []
        self.tool_changes: list[ToolChange] = []
        self.rule_preview = RulePreview("", {})
        self.decisions: list[AuditEntry] = []
        self.audit_check = AuditCheck(True, 0, 0)
        self.feedback: list[FeedbackSnapshot] = []
        self.feedback_history: list[FeedbackEntry] = []
        self.ready_answers: list[str] = []
        self.client_scan = ClientScan()
        self.client_edits: list[ClientEdit] = []
        self.client_changes: list[ClientChange] = []
        self.import_plan = ImportPlan()
        self.imported: list[ImportedServer] = []
        self.starters: list[StarterServer] = []
        self.registry_servers: dict[str, RegistryServer] = {}
        self.registry_status = RegistryStatus()
        self.registry_hits: list[RegistryHit] = []
        self.registry_updates: list[RegistryUpdate] = []
        self.bundle: BundleOffer | None = None
        self.new_server = NewServer("new", {})
        self.client_links: dict[str, str] = {}
        self.inmemory_servers: list[InMemoryServer] = []
        known = {"pid": 1, "version": "0", "is_paused": False, "session_count": 0, "started_at": STARTED_AT}
        self.snapshot = HubSnapshot(**{**known, "servers": (*servers, BUILTIN), **fields})

    # what a test does in place of the world

    def tell(self, changed: ServerSnapshot) -> None:
        """A server changed, or is new."""
        names = [each.name for each in self.snapshot.servers]
        others = tuple(changed if each.name == changed.name else each for each in self.snapshot.servers)
        self.snapshot = replace(self.snapshot, servers=others if changed.name in names else (*others, changed))
        self.bus.publish(ServerChanged(changed))

    def set_state(self, name: str, state: ServerState, **fields: Any) -> None:
        self.tell(replace(self.find(name), state=state, **fields))

    def set_sessions(self, count: int) -> None:
        self.snapshot = replace(self.snapshot, session_count=count)
        self.bus.publish(SessionsChanged(count))

    def set_tools(self, tools: Sequence[ToolSnapshot], of: str) -> None:
        self.tools = [each for each in self.tools if each.server != of] + list(tools)
        self.bus.publish(ToolListChanged(of))

    def ask_approval(self, request: ApprovalSnapshot) -> None:
        """A call waits, or what it waits for is another thing now."""
        self.approvals = [*(each for each in self.approvals if each.id != request.id), request]
        self.bus.publish(ApprovalAsked(request))

    def end_approval(self, id: str) -> None:
        self.approvals = [each for each in self.approvals if each.id != id]
        self.bus.publish(ApprovalEnded(id))

    def ask_feedback(self, request: FeedbackSnapshot) -> None:
        """A model reports, or reports again."""
        self.feedback = [*(each for each in self.feedback if each.id != request.id), request]
        self.bus.publish(FeedbackAsked(request))

    def end_feedback(self, id: str) -> None:
        self.feedback = [each for each in self.feedback if each.id != id]
        self.bus.publish(FeedbackEnded(id))

    def registry_search(self, limit: int) -> RegistrySearch:
        return RegistrySearch(tuple(self.registry_hits[:limit]), len(self.registry_hits), self.registry_status)

    def find(self, name: str) -> ServerSnapshot:
        return next(each for each in self.snapshot.servers if each.name == name)

    # for the verbs

    def _publish_config(self) -> None:
        self.bus.publish(ConfigChanged(self.entries, tuple(self.defaults), not self.snapshot.is_paused))

    def removal(self, name: str) -> ServerRemoval:
        """What is named after a server is its own; there are no others."""
        return ServerRemoval(name, tuple(secret for secret in self.secrets if secret.startswith(f"{name}/")))
