"""QtMcpPresenter: the engine's McpPresenter for the GUI thread."""

from msgspec.structs import replace
from PySide6.QtCore import Property, QObject, Signal

from tooltray.api.parts import Api, remote_parts
from tooltray.foundation.events import (
    ActivityWritten,
    ApprovalAsked,
    ApprovalEnded,
    ClientListUpdated,
    ConfigChanged,
    ConfirmationAsked,
    ConfirmationEnded,
    ElicitationAsked,
    ElicitationEnded,
    FeedbackAsked,
    FeedbackEnded,
    GrantsChanged,
    HttpAddressChanged,
    ImportProgressed,
    LogWritten,
    NpmRegistryChanged,
    ProblemReported,
    ResourceUpdated,
    SecretsChanged,
    ServerChanged,
    ServerFilesChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    ServerTestOutput,
    SessionListChanged,
    SessionsChanged,
    ToolCallResult,
    TryProgressed,
)
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.ui.link.link import EngineLink


class QtMcpPresenter(Api, QObject):
    """The hub's last snapshot, its events as signals, and the parts of the engine's API: `hub.servers.restart_server(name)`.

    Verbs are awaited in the GUI thread and raise TooltrayError as the engine's do.

    Attributes:
        hears_lock: the desktop hears when the screen locks, so something can be allowed until then.
    """

    snapshot_changed = Signal()
    server_started = Signal(str)
    server_stopped = Signal(str)
    tool_call_result = Signal(object)  # MCPToolResponse
    config_changed = Signal(object)  # ConfigChanged
    server_status_changed = Signal(object)  # ServerStatusChanged
    client_list_updated = Signal()
    problem_reported = Signal(object)  # ProblemReported
    npm_registry_changed = Signal(object)  # NpmRegistryStatus
    elicitation_asked = Signal(object)  # ElicitationSnapshot
    elicitation_ended = Signal(str)
    session_list_changed = Signal()
    approval_asked = Signal(object)  # ApprovalSnapshot
    approval_ended = Signal(str)
    grants_changed = Signal()
    confirmation_asked = Signal(object)  # ConfirmationSnapshot
    confirmation_ended = Signal(str)
    feedback_asked = Signal(object)  # FeedbackSnapshot
    feedback_ended = Signal(str)
    server_files_changed = Signal()
    http_address_changed = Signal()
    secrets_changed = Signal()
    activity_written = Signal(int)  # the newest entry of the journal; 0: it was emptied
    server_test_output = Signal(str, object)  # a test as whoever began it has named it; tuple[str, ...]: lines of the server's stderr
    log_written = Signal(str)  # the source of the log that has new lines
    try_progressed = Signal(object)  # TryProgressed
    resource_updated = Signal(str)  # its URI
    import_progressed = Signal(object)  # ImportProgressed

    def __init__(self, link: EngineLink, parent: QObject | None = None) -> None:
        QObject.__init__(self, parent)
        Api.__init__(self, **remote_parts(link.run))
        self._snapshot: HubSnapshot | None = None
        self.hears_lock = False
        link.news_arrived.connect(self._on_news)

    def _get_snapshot(self) -> HubSnapshot | None:
        return self._snapshot

    snapshot: HubSnapshot | None = Property(object, _get_snapshot, notify=snapshot_changed)  # type: ignore[assignment]
    """The hub as it was last told of; None until then."""

    @property
    def secret_backend(self) -> str:
        """The place of secrets: "keyring", "file" or "memory"; "keyring" while no hub is known."""
        return self._snapshot.secret_backend if self._snapshot is not None else "keyring"

    def forget(self) -> None:
        """Drops the snapshot of an engine that has ended."""
        if self._snapshot is not None:
            self._snapshot = None
            self.snapshot_changed.emit()

    def _on_news(self, news: tuple[object, ...]) -> None:
        before = self._snapshot
        for item in news:
            self._snapshot = applied(self._snapshot, item)
        if self._snapshot != before:
            self.snapshot_changed.emit()
        for item in news:
            self._tell(item)

    def _tell(self, item: object) -> None:
        match item:
            case ToolCallResult(response=response):
                self.tool_call_result.emit(response)
            case ServerStarted(server_name=name):
                self.server_started.emit(name)
            case ServerStopped(server_name=name):
                self.server_stopped.emit(name)
            case ConfigChanged():
                self.config_changed.emit(item)
            case ServerStatusChanged():
                self.server_status_changed.emit(item)
            case ClientListUpdated():
                self.client_list_updated.emit()
            case ProblemReported():
                self.problem_reported.emit(item)
            case NpmRegistryChanged(status=status):
                self.npm_registry_changed.emit(status)
            case ElicitationAsked(question=question):
                self.elicitation_asked.emit(question)
            case ElicitationEnded(id=id):
                self.elicitation_ended.emit(id)
            case SessionListChanged():
                self.session_list_changed.emit()
            case ApprovalAsked(request=approval):
                self.approval_asked.emit(approval)
            case ApprovalEnded(id=id):
                self.approval_ended.emit(id)
            case ConfirmationAsked(request=confirmation):
                self.confirmation_asked.emit(confirmation)
            case ConfirmationEnded(id=id):
                self.confirmation_ended.emit(id)
            case ServerTestOutput(test=test, lines=lines):
                self.server_test_output.emit(test, lines)
            case GrantsChanged():
                self.grants_changed.emit()
            case FeedbackAsked(request=feedback):
                self.feedback_asked.emit(feedback)
            case FeedbackEnded(id=id):
                self.feedback_ended.emit(id)
            case ServerFilesChanged():
                self.server_files_changed.emit()
            case HttpAddressChanged():
                self.http_address_changed.emit()
            case SecretsChanged():
                self.secrets_changed.emit()
            case ActivityWritten(last_id=last):
                self.activity_written.emit(last)
            case TryProgressed():
                self.try_progressed.emit(item)
            case ResourceUpdated(uri=uri):
                self.resource_updated.emit(uri)
            case ImportProgressed():
                self.import_progressed.emit(item)
            case LogWritten(source=source):
                self.log_written.emit(source)


def applied(snapshot: HubSnapshot | None, news: object) -> HubSnapshot | None:
    """Returns a hub's snapshot after an event; a new server is added at the end."""
    if isinstance(news, HubSnapshot):
        return news
    if snapshot is None:
        return None
    match news:
        case ServerChanged(server=changed):
            servers = tuple(changed if server.name == changed.name else server for server in snapshot.servers)
            return replace(snapshot, servers=servers if changed in servers else (*servers, changed))
        case ServerRemoved(name=name):
            return replace(snapshot, servers=tuple(server for server in snapshot.servers if server.name != name))
        case SessionsChanged(session_count=count):
            return replace(snapshot, session_count=count)
        case ConfigChanged(mcp_enabled=is_enabled):
            return replace(snapshot, is_paused=not is_enabled, paused_until=0.0 if is_enabled else snapshot.paused_until)
        case SecretsChanged(backend=backend):
            return replace(snapshot, secret_backend=backend)
        case _:
            return snapshot
