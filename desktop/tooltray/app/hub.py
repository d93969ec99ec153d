"""The one composition of a hub: each part by name, in the order of the packages, from the ground up. The engine starts and ends the parts.

A part is a line: its name, its class, and its constructor's arguments. A parameter that is not given here gets the part of its own name;
so a new collaborator is a new parameter, and a new part one more line. Parts are made on demand, so parts that need one another can be in
any order: one that is called only later is given as a function that resolves it then (`Later`).

Tests may replace parts. tests/contract/test_hub.py checks every parameter against the type of its part.
"""

import os
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tooltray.api.parts import PARTS, Api
from tooltray.api.presenter.live_settings import LiveSettings, Pauses, ReleaseWatch
from tooltray.api.presenter.mcp_presenter import McpPresenter, SessionClients, SessionServers
from tooltray.api.presenter.snapshots import HubSnapshots, Notices, PastStats, ServerNews, ServerSnapshots, Source, problems_of_settings
from tooltray.app.served_configs import in_surroundings
from tooltray.app.stored_parts import StoredParts
from tooltray.carriers.control.control_session import ControlSessions, HubControl
from tooltray.carriers.mcp.first_answers import FirstAnswers
from tooltray.carriers.mcp.http_listener import EndpointTokens, HttpListener
from tooltray.carriers.mcp.served_listener import MakeServed, ServedListener
from tooltray.carriers.mcp.served_routes import ServedTokens
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.catalogue import token_counts
from tooltray.catalogue.call_routes import CallRoutes, ConfirmLimits
from tooltray.catalogue.connections import Connections
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.known_servers import KnownServers
from tooltray.catalogue.list_times import FirstListings, FirstPatience
from tooltray.catalogue.offer import KINDS, TOOLS, Offer
from tooltray.catalogue.offers import Offers, read_offered
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import LinkingRelay, ResourceManager
from tooltray.catalogue.resource_uris import PublishedUris, SkillUris
from tooltray.catalogue.second_looks import LookPatience, SecondLooks
from tooltray.catalogue.server_lists import ServerLists
from tooltray.catalogue.skill import SKILLS, Skill, read_skills
from tooltray.catalogue.tool_copies import ToolCopies, read_tools
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.greetings import Introduction, ServerDeclarations, ServerInstructions
from tooltray.catalogue.views.known_clients import ClientProfiles, KnownClients, read_client_profiles
from tooltray.catalogue.views.meta_calls import Activation, MetaCalls
from tooltray.catalogue.views.meta_tools import READ, RUN, HubTools
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.tool_costs import Count, ToolCosting
from tooltray.catalogue.views.views import ViewLists, Views
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.secrets.provided_secrets import ProvidedSecrets, UnfetchedSecrets
from tooltray.config.secrets.providers import FETCH_S, MAX_VALUE_BYTES
from tooltray.config.settings.settings import Settings
from tooltray.consent.approvals import rule_words
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.approvals import Approvals, SeenDecisions
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grants import GrantEnds, KeptGrants, LiveGrants, ScreenLock, grant_store
from tooltray.consent.approvals.pending_approvals import PendingApprovals
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.consent.approvals.standing_grants import CallRules, RecentApprovals, StandingGrants
from tooltray.consent.askers import Consent
from tooltray.consent.confirmations import Confirmations
from tooltray.consent.kept_file import KeptFile
from tooltray.consent.questions import Inbox
from tooltray.consent.skills.skill_catalogue import KeptSkills, SkillBook, SkillCatalogue, skill_store
from tooltray.consent.skills.skills import SkillReading, Skills
from tooltray.foundation.composition import Later, made, part, read
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.watcher import FileWatcher
from tooltray.foundation.home.home import Home
from tooltray.foundation.moments import SteadyWallClock
from tooltray.foundation.programs import is_frozen, resource
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import LazyPart
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.extensions import ExtensionClaims, ExtensionRoutes
from tooltray.gateway.calls.listens import ClientListens, ExtensionListens
from tooltray.gateway.calls.notifications import FollowedResources, Notifications
from tooltray.gateway.calls.offer_requests import Completion, OfferRequests, SharedState
from tooltray.gateway.calls.own_calls import OwnCalls, TriesApi
from tooltray.gateway.calls.request_router import AllServers, OneServer, ProjectWaits, RequestRouter
from tooltray.gateway.calls.stage import Stage
from tooltray.gateway.calls.stages import OwnTool, SeenServers, ServerUses
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.gateway.calls.tool_call import STAGES, ToolCalls
from tooltray.gateway.calls.tool_resolver import AppCalls, ToolResolver
from tooltray.gateway.feedback.feedback_history import FeedbackHistory, FeedbackNotes
from tooltray.gateway.feedback.feedback_tool import FeedbackTool
from tooltray.gateway.feedback.feedbacks import FeedbackApi, Feedbacks, ReadyAnswers, read_shipped
from tooltray.gateway.kept_results.result_fitting import ResultFitting
from tooltray.gateway.kept_results.result_reading import ResultReading
from tooltray.gateway.kept_results.result_store import ResultStore
from tooltray.gateway.server_tasks.server_tasks import ServerTasks
from tooltray.gateway.server_tasks.task_book import ServerTasksApi, TaskBook, TaskPlaces, TaskStore
from tooltray.gateway.server_tasks.task_news import Hearing, TaskListens, TaskNews
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.sessions.caller import OwnCaller, Session
from tooltray.protocol.sessions.client_limits import KnownLimits, read_client_limits
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.records.audit_trail import AuditApi
from tooltray.records.journal.journal import Journal
from tooltray.records.journal.journal_event import Failures
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.records.log.call_stats import CallStats, CallsUnderWay
from tooltray.records.log.hub_log import HubLog
from tooltray.records.log.structured_log import StructuredLog
from tooltray.records.telemetry.trace_export import TraceExport
from tooltray.servers.builtin import hub_server
from tooltray.servers.builtin.hub_server import HubServer
from tooltray.servers.confinement.confined_starts import ConfinedStarts
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.confinement.host_proxies import HostProxies
from tooltray.servers.confinement.outward import Outward
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.watches import Watches
from tooltray.servers.launch.command_lookup import COMMON
from tooltray.servers.launch.login_shell import LoginShell, OwnUse, own_environ
from tooltray.servers.launch.program_output import Printed, printed_by
from tooltray.servers.launch.remembered_variables import RememberedVariables
from tooltray.servers.launch.variable_sources import ServerEnvironment, VariableSources
from tooltray.servers.logs.log_keeper import LogKeeper
from tooltray.servers.logs.protocol_log import ProtocolLog
from tooltray.servers.npm_mirrors.npm_registries import RegistriesApi
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.relay.log_levels import LogLevels
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.sign_ins.server_access import resolve_target
from tooltray.servers.sign_ins.sign_ins import ResolveTarget, SignIns, SignInsApi
from tooltray.servers.transports.stdio_transport import StdioTransport
from tooltray.servers.transports.transport import MemoryServer
from tooltray.servers.upstream.client_extensions import ClientExtensions, SharedConnections
from tooltray.servers.upstream.handshake import EraMemory
from tooltray.servers.upstream.instance_factory import ProgramStarts, ServerTransports, StartProcess
from tooltray.servers.upstream.mcp_client import AskPerson
from tooltray.servers.upstream.server_listen import ServerListens
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.stops import Stops
from tooltray.servers.upstream.upstream_services import UpstreamServices
from tooltray.servers.upstream.visibility import Visibility
from tooltray.sources.bundles.archive import BundleSources
from tooltray.sources.bundles.bundle_store import BundleFolders, BundleStore
from tooltray.sources.entries.proposals import KeptProposals, Proposals, ProposalSnapshots, proposal_store
from tooltray.sources.entries.server_entries import ServerEntries, ServerRemovals, ServerStarts
from tooltray.sources.entries.server_secrets import SecretUses, ServerSecrets
from tooltray.sources.project_files.folders_in_use import FoldersInUse
from tooltray.sources.project_files.followed_files import FileWatch, ReadFile
from tooltray.sources.project_files.project_servers import ProjectServers
from tooltray.sources.project_files.server_files import ServerFiles
from tooltray.sources.project_files.trust import Trust, TrustStore
from tooltray.sources.project_files.trust_decisions import InMemoryTrust, TrustDecisions
from tooltray.sources.projects.project_sources import ProjectSources, RootRounds
from tooltray.sources.projects.projects import ProjectCopies, Projects, ProjectSnapshots, project_problems

if TYPE_CHECKING:  # the classes of parts that are made on demand
    import tooltray.api.presenter.hub_api
    import tooltray.api.presenter.program_api
    import tooltray.catalogue.formats.api
    import tooltray.catalogue.views.activation_answer
    import tooltray.catalogue.views.api
    import tooltray.catalogue.views.meanings
    import tooltray.catalogue.views.search
    import tooltray.catalogue.views.search_words
    import tooltray.catalogue.views.tool_lookup
    import tooltray.consent.api
    import tooltray.consent.approvals.api
    import tooltray.consent.approvals.permissions
    import tooltray.consent.skills.api
    import tooltray.consent.tokens.api
    import tooltray.gateway.calls.api
    import tooltray.gateway.steps.call_checks
    import tooltray.gateway.steps.run_steps
    import tooltray.records.journal.api
    import tooltray.servers.confinement.api
    import tooltray.servers.logs.api
    import tooltray.sources.bundles.api
    import tooltray.sources.bundles.bundle_offers
    import tooltray.sources.clients.api
    import tooltray.sources.clients.client_edits
    import tooltray.sources.clients.imports
    import tooltray.sources.discovery.api
    import tooltray.sources.discovery.registry_copy
    import tooltray.sources.discovery.updates
    import tooltray.sources.doctor.doctor
    import tooltray.sources.doctor.remedies
    import tooltray.sources.doctor.server_tests
    import tooltray.sources.entries.api
    import tooltray.sources.entries.server_renames
    import tooltray.sources.entries.settings_api
    import tooltray.sources.projects.api

MEGABYTE = 10**6


StartedBy = Literal["client", "bridge", "session", "service", "terminal"]
"""What started a hub: an AI client, whose variables are not for servers; a bridge, which passes on no variables; a desktop's session; a
service manager or a container; a user at a terminal.
"""
OWN_USES: Mapping[StartedBy, OwnUse] = {"session": "additions", "service": "first", "terminal": "first"}
"""How this process's environment is used for servers and `${VAR}`, by what started the hub; "fallback" for other starts."""


class HubOptions(msgspec.Struct, frozen=True):
    """How a hub was started.

    Attributes:
        kind: "serve" or "desktop".
        execution_id: is in every log record; generated if empty.
        idle_exit_s: the hub ends so long after the last AI client left; None never.
        started_by: what started this process, which decides how its environment may be used (`OWN_USES`).
        configs: files of other hubs and proxies with servers in them, which are served as they are; absolute.
        project: a folder whose own file's servers every session has; absolute, or empty for no folder.
        may_restart: whether this process may restart after its program was replaced, called in the engine's thread; None: it may not.
        on_raise_window: a second start of the desktop was requested, with this address or ""; called in the engine's thread.
    """

    kind: Literal["serve", "desktop"] = "serve"
    execution_id: str = ""
    log_to_stderr: bool = False
    idle_exit_s: float | None = None
    started_by: StartedBy = "bridge"
    configs: tuple[str, ...] = ()
    project: str = ""
    may_restart: Callable[[], bool] | None = None
    on_raise_window: Callable[[str], None] | None = None


class Hub(StoredParts):
    """A composed hub. Belongs to the engine's loop. Call `build` once, then `load`; the engine starts and ends the parts that need it."""

    def __init__(self, home: Home, options: HubOptions, *, control: HubControl, limits: Mapping[str, Any] | None = None) -> None:
        """
        Args:
            control: the functions on the hub for control sessions.
            limits: see StoredParts.
        """
        super().__init__(home, limits=limits)
        self.options, self.control = options, control

    async def build(self) -> None:
        """Reads the settings and all stores, and makes every part that is not made on demand; nothing runs yet."""
        await self.config.load()
        # to its end: a process started meanwhile (`probe`) holds the hub's lock for a moment, as a copy of this process
        at_start = {name: each for name, each in self.parts().items() if not each.is_on_demand}
        await finish_in_thread(self.make, [name for name, each in at_start.items() if each.reads])
        self.make(at_start)
        if self.home.renaming.exists():
            await self.server_renames.resume()
        self.servers.load()

    async def load(self) -> None:
        """Loads the last hub's knowledge about the servers."""
        await self.tools.load()
        await self.offers.load()
        await self.skill_catalogue.load()
        await self.instructions.load()
        await self.server_declarations.load()

    # the ground: settings, secrets, the environment, the log

    misplaced: list[Problem] = made(lambda hub: [])
    began: tuple[float, float] = made(lambda hub: (time.monotonic(), time.process_time()))
    has_window: bool = made(lambda hub: hub.options.kind == "desktop")
    is_paused: Callable[[], bool] = made(lambda hub: lambda: not hub.config.settings.mcp_enabled)
    deadlines: DeadlineWheel = part()
    log: StructuredLog = made(
        lambda hub: StructuredLog(
            hub.home.logs, execution_id=hub.control.execution_id, to_stderr=hub.options.log_to_stderr, mask=hub.known_values
        )
    )
    hub_log: HubLog = part()
    run: str = made(lambda hub: hub.control.execution_id[:8])
    journal: Journal = part(journal_file="home.activity", run="run", release="journal_reader.close")
    failures: Failures = part()
    traces: TraceExport = part()
    journal_reader: JournalReader = part(journal_file="home.activity", run="run")
    remembered: RememberedVariables = read(lambda hub: _remembered(hub.home, hub.options))
    sources: VariableSources = part()
    login_shell: LoginShell = part(
        own=lambda hub: own_environ(is_foreign=hub.options.started_by == "client"),
        own_use=lambda hub: OWN_USES.get(hub.options.started_by, "fallback"),
        complete="sources.complete",
    )
    environment: ServerEnvironment = part()
    provided_secrets: ProvidedSecrets = part(
        commands=lambda hub: lambda: hub.config.settings.secret_commands, run=lambda hub: partial(_run_provider, str(hub.user_folder))
    )

    # towards servers

    resolve_target: ResolveTarget = made(lambda hub: partial(resolve_target, secrets=hub.secrets, login_shell=hub.login_shell))
    sign_ins: SignIns = part(store="sign_in_store", servers=lambda hub: lambda: hub.servers)
    visibility: Visibility = part()
    unfetched_secrets: UnfetchedSecrets = part(provided="provided_secrets")
    refusals: Refusals = part()
    outward: Outward = part()
    host_proxies: HostProxies = part(note="secrets.note")
    confinements: Confinements = part(refused="refusals.of")
    watches: Watches = part(
        folder="home.watches",
        restart=Later("servers.restart"),
        runs=lambda hub: partial(_is_up, hub),
    )
    start_process: StartProcess = made(lambda hub: StdioTransport)
    own_url: Callable[[], str | None] = made(lambda hub: lambda: hub.http.address)
    packages: Path | None = made(lambda hub: hub.home.python if is_frozen() else None)
    confined: ConfinedStarts = part(proxies="host_proxies", watches="watches")
    program_starts: ProgramStarts = part(
        folder="user_folder",
        registry_variables="registries.variables",
        check_files=Later("project_servers.check_started"),
        packages=lambda hub: hub.packages,
    )
    transports: ServerTransports = part(
        mask="mask.masked",
        authorize="sign_ins.authorization",
        tool_schema=Later("tools.input_schema"),
        may_run="inmemory_trust.allows",
        provided="provided_secrets",
    )
    eras: EraMemory = read(lambda hub: EraMemory(hub.home.eras))
    client_extensions: ClientExtensions = read(lambda hub: ClientExtensions(hub.home.client_extensions, bus=hub.bus, spawn=hub.spawn))
    stops: Stops = part(store="stopped")
    own_server: HubServer = part(
        get_snapshot=Later("presenter.snapshot"), takes_reports=lambda hub: lambda: hub.config.settings.publish.feedback
    )
    elicitations: Elicitations = part(has_window="has_window")
    ask_person: AskPerson = made(lambda hub: hub.elicitations.ask)
    builtins: dict[str, MemoryServer] = made(lambda hub: {hub_server.NAME: hub.own_server})
    services: UpstreamServices = part(
        mask="mask.masked",
        ask_person="ask_person",
        of_task=Later("task_news.question"),
        is_person_there=lambda hub: lambda: hub.elicitations.are_shown,
        keep_output=lambda hub: partial(_keep_output, hub.log_keeper, hub.refusals),
        tap="protocol_log.tap",
        declared="client_extensions.declared",
        is_wanted=lambda hub: lambda client: hub.subscriptions.is_wanted(client) or hub.task_places.works_at(client),
    )
    log_keeper: LogKeeper = part(files="server_logs")
    protocol_log: ProtocolLog = part(servers=lambda hub: lambda: hub.servers)
    servers: ServerManager = part(get_projects=lambda hub: lambda: hub.projects)
    shared_connections: SharedConnections = part()

    # what servers offer

    log_levels: LogLevels = part(serves="servers.serves")
    relay: ServerRelay = part()
    names: PublishedNames = read(lambda hub: PublishedNames(hub.home.names, naming=hub.config.settings.publish.naming))
    first_patience: FirstPatience = part()
    look_patience: LookPatience = part()
    first: FirstListings = part(patience="first_patience")
    tool_lists: ServerLists[ToolDefinition] = part(kinds=lambda hub: (TOOLS,), read=lambda hub: read_tools)
    skill_lists: ServerLists[Skill] = part(kinds=lambda hub: (SKILLS,), read=lambda hub: read_skills)
    other_lists: ServerLists[Offer] = part(kinds=lambda hub: KINDS, read=lambda hub: read_offered)
    offers: Offers = part(lists="other_lists")
    looks: SecondLooks = part(lists="other_lists", patience="look_patience")
    skill_looks: SecondLooks = part(lists="skill_lists", patience="look_patience")
    tool_looks: SecondLooks = part(lists="tool_lists", patience="look_patience")
    published_uris: PublishedUris = part()
    confirm_limits: ConfirmLimits = part()
    tool_copies: ToolCopies = part()
    tools: ToolManager = part(lists="tool_lists")
    call_routes: CallRoutes = part()
    instructions: ServerInstructions = part(mask="mask.masked_whole")
    server_declarations: ServerDeclarations = part()
    skill_uris: SkillUris = part()
    resources: ResourceManager = part()
    linking_relay: LinkingRelay = part()
    prompts: PromptManager = part(relay="linking_relay")

    # what servers do for clients during calls

    task_store: TaskStore = read(lambda hub: TaskStore(hub.home.server_tasks))
    task_book: TaskBook = part(store="task_store")
    task_places: TaskPlaces = part(book="task_book")
    connected: Callable[[], Collection[Hearing]] = made(lambda hub: lambda: hub.sessions.clients)
    task_news: TaskNews = part(
        book="task_book",
        places="task_places",
        publisher=lambda hub: hub.resources.publisher,
        record_delivery=Later("result_fitting.record_delivery"),
    )
    listens: ServerListens = part()
    task_listens: TaskListens = part(book="task_book", places="task_places")
    server_tasks: ServerTasks = part(
        relay="linking_relay", book="task_book", places="task_places", news="task_news", fit="result_fitting.fit_task"
    )

    # the view of each session

    states: SessionStates = part()
    client_profiles: ClientProfiles = read(lambda hub: read_client_profiles(resource("client-profiles.json")))
    client_limits: KnownLimits = read(lambda hub: read_client_limits(resource("client-profiles.json")))
    clients: KnownClients = part(profiles="client_profiles")
    profiles: Profiles = part()
    modes: Modes = part()
    known: KnownServers = read(lambda hub: KnownServers(resource("known-servers.json")))
    query_words: "tooltray.catalogue.views.search_words.QueryWords" = made(lambda hub: _query_words())
    meanings: "tooltray.catalogue.views.meanings.WordMeanings" = made(lambda hub: _word_meanings())
    search: "tooltray.catalogue.views.search.ToolSearch" = part()
    hub_tools: HubTools = part()
    lists: ViewLists = part()
    activation_answer: "tooltray.catalogue.views.activation_answer.ActivationAnswer" = part(said="instructions")
    activation: Activation = part(answer=lambda hub: lambda: hub.activation_answer)
    views: Views = part()
    lookup: "tooltray.catalogue.views.tool_lookup.ToolLookup" = part()
    meta: MetaCalls = part(
        lookup=lambda hub: lambda: hub.lookup,
        call=Later("calls.call"),
        others=lambda hub: {READ: Later("result_reading")(hub), RUN: Later("run_steps")(hub)},
    )
    introduction: Introduction = part(said="instructions", declared="server_declarations")

    # results that are too large

    result_store: ResultStore = read(lambda hub: ResultStore(hub.home.results, most_bytes=lambda: _bytes_of_results(hub.config.settings)))
    result_fitting: ResultFitting = part(store="result_store")
    result_reading: ResultReading = part(store="result_store")
    call_checks: "tooltray.gateway.steps.call_checks.CallChecks" = part()
    run_steps: "tooltray.gateway.steps.run_steps.RunSteps" = part(call=Later("calls.call"), checks="call_checks")

    # consent, projects, reports, files

    inbox: Inbox = part()
    grant_store: KeptFile[KeptGrants] = read(lambda hub: grant_store(hub.home.grants))
    screen_lock: ScreenLock = part()
    live_grants: LiveGrants = part(now=lambda hub: SteadyWallClock())
    grants: GrantBook = part(is_of_file=Later("project_servers.keeps"))
    grant_ends: GrantEnds = part()
    flow_guard: FlowGuard = part()
    recent_approvals: RecentApprovals = part(now=lambda hub: SteadyWallClock())
    skill_store: KeptFile[KeptSkills] = read(lambda hub: skill_store(hub.home.skills))
    skill_book: SkillBook = part(store="skill_store", is_of_file=Later("project_servers.keeps"))
    rules: ApprovalRules = part(settle_project=Later("project_sources.settle"))
    call_rules: CallRules = part()
    standing_grants: StandingGrants = part()
    question_snapshots: QuestionSnapshots = part(masked="mask.masked_whole")
    pending_approvals: PendingApprovals = part()
    approvals: Approvals = part()
    tool_grants: "tooltray.consent.approvals.permissions.ToolGrants" = part()
    definition_changes: "tooltray.consent.approvals.permissions.DefinitionChanges" = part()
    rule_grants: "tooltray.consent.approvals.permissions.RuleGrants" = part(masked="mask.masked_whole")
    permissions: "tooltray.consent.approvals.permissions.Permissions" = part()
    skill_catalogue: SkillCatalogue = part(lists="skill_lists", looks="skill_looks", uris="skill_uris", book="skill_book")
    skills: Skills = part(catalogue="skill_catalogue", book="skill_book")
    project_sources: ProjectSources = part(is_wanted=lambda hub: lambda: bool(hub.servers.deferred()))
    root_rounds: RootRounds = part(sources="project_sources")
    projects: Projects = part(sources="project_sources", rounds="root_rounds", includes="profiles.includes")
    project_copies: ProjectCopies = part(sources="project_sources")
    project_snapshots: ProjectSnapshots = part(includes="profiles.includes")
    shipped_answers: tuple[str, ...] = read(lambda hub: read_shipped(resource("ready-answers.json")))
    ready: ReadyAnswers = part(shipped="shipped_answers")
    notes: FeedbackNotes = part(history=lambda hub: FeedbackHistory(hub.home.feedback), mask="mask.masked_whole")
    feedbacks: Feedbacks = part(mask="mask.masked_whole")
    feedback_tool: FeedbackTool = part(offers="views.offers")
    inmemory_store: TrustStore = read(lambda hub: TrustStore(hub.home.inmemory_trust))
    inmemory_trust: InMemoryTrust = part(
        store="inmemory_store",
        home="user_folder",
        start=Later("servers.start_soon"),
        stop=Later("servers.stop"),
    )
    trust_store: TrustStore = read(lambda hub: TrustStore(hub.home.trust))
    trust: Trust = part(store="trust_store", is_taken=Later("files.is_taken"))
    read_file: ReadFile = made(lambda hub: in_surroundings(read_file, os.environ))
    file_watch: FileWatch = part(make_watcher=lambda hub: FileWatcher)
    decisions: TrustDecisions = part(read="read_file")
    folders_in_use: FoldersInUse = part(keeps=Later("files.has_content"), project="options.project")
    files: ServerFiles = part(configs="options.configs")
    project_servers: ProjectServers = part(start=Later("servers.start_soon"))

    confirmations: Confirmations = part(masked="mask.masked_whole")
    consent: Consent = part(confirmations="confirmations")
    seen_decisions: SeenDecisions = part()

    # requests of AI clients

    stats: CallStats = part()
    under_way: CallsUnderWay = part()
    past_stats: PastStats = part()
    look_at_project: Callable[[Session], Awaitable[None]] = made(lambda hub: partial(_wait_for_project, hub))
    own: dict[tuple[str, str], OwnTool] = made(
        lambda hub: {
            (hub_server.NAME, hub_server.COLLECT_FEEDBACK): hub.feedback_tool,
            **{(hub_server.NAME, tool): SeenServers(hub.own_server, tool, sees=hub.visibility.sees) for tool in hub_server.ABOUT_SERVERS},
        }
    )
    resolver: ToolResolver = part()
    stages: tuple[Stage, ...] = made(lambda hub: tuple(map(hub.construct, STAGES)))
    calls: ToolCalls = part()
    subscriptions: Subscriptions = part()
    completion: Completion = part()
    server_uses: ServerUses = part()
    extension_claims: ExtensionClaims = part()
    extensions: ExtensionRoutes = part()
    extension_listens: ExtensionListens = part()
    client_listens: ClientListens = part()
    notifications: Notifications = part()
    shared_state: SharedState = part()
    offer_requests: OfferRequests = part()
    project_waits: ProjectWaits = part()
    all_servers: AllServers = part()
    one_server: OneServer = part()
    app_calls: AppCalls = part()
    router: RequestRouter = part()

    # parts for the API

    common: tuple[str, ...] = made(lambda hub: COMMON)
    remedies: "tooltray.sources.doctor.remedies.Remedies" = part(home="user_folder")
    moving_line: Callable[[str], str] = made(lambda hub: partial(_moving_line, hub))
    snapshots: ServerSnapshots = part(waits=lambda hub: lambda name: hub.proposals.waits(name) or hub.inmemory_trust.waits(name))
    secret_uses: SecretUses = part(
        projects=lambda hub: lambda: hub.trust.servers,
        served=lambda hub: lambda: [reading.path for reading in hub.files.served()],
        lost=lambda hub: lambda: hub.trust_store.lost,
        proposed=lambda hub: lambda: hub.proposals.entries,
    )
    server_secrets: ServerSecrets = part(provider_problem="provided_secrets.problem", on_stored=Later("starts.retry_failed"))
    proposal_store: KeptFile[KeptProposals] = read(lambda hub: proposal_store(hub.home.proposals))
    proposal_snapshots: ProposalSnapshots = part(
        home="user_folder",
        snapshot=lambda hub: lambda name: hub.snapshots.of(server) if (server := hub.servers.find(name)) else None,
    )
    proposals: Proposals = part(
        files="project_servers",
        store="proposal_store",
        snapshots="proposal_snapshots",
    )
    news: ServerNews = part()
    notices: Notices = part(sources=lambda hub: _sources_of_notices(hub))
    starts: ServerStarts = part()
    hub_snapshots: HubSnapshots = part()
    doctor: "tooltray.sources.doctor.doctor.Doctor" = part(folder="user_folder", secrets="unfetched_secrets")
    check_up: "tooltray.sources.doctor.doctor.CheckUp" = part()
    test_transports: ServerTransports = part(
        mask="mask.masked",
        authorize="sign_ins.settled_authorization",
        tool_schema=lambda hub: lambda server, tool: None,
        may_run="inmemory_trust.allows",
        provided="provided_secrets",
    )
    server_tests: "tooltray.sources.doctor.server_tests.ServerTests" = part()
    server_removals: ServerRemovals = part(on_removed=lambda hub: partial(_forget, hub))
    server_renames: "tooltray.sources.entries.server_renames.ServerRenames" = part(
        note="home.renaming", moves=lambda hub: partial(_moves, hub)
    )
    server_entries: ServerEntries = part()
    caller: OwnCaller = part()
    held: HeldCalls = part()
    own_calls: OwnCalls = part()
    followed: FollowedResources = part()
    connections: Connections = part()
    count: Count = made(lambda hub: token_counts.counted)
    costs: ToolCosting = part(
        listing="views.at_start", sees="visibility.sees", skill_texts="skills.texts", if_compact="views.if_compact", if_full="views.if_full"
    )
    live_settings: LiveSettings = part()
    pauses: Pauses = part()
    client_scans: "tooltray.sources.clients.client_edits.ClientScans" = part(known_projects=lambda hub: lambda: _known_projects(hub))
    import_waits: "tooltray.sources.clients.imports.ImportWaits" = part()
    imports: "tooltray.sources.clients.imports.Imports" = part()
    client_imports: "tooltray.sources.clients.imports.ClientImports" = part()

    # the API, and the ways in

    hub_api: "tooltray.api.presenter.hub_api.HubApi" = part(snapshots="hub_snapshots")
    servers_api: "tooltray.sources.entries.api.ServersApi" = part()
    confinement_api: "tooltray.servers.confinement.api.ConfinementApi" = part(
        guarded="make_guarded", refusals="refusals", watches="watches", moving_line="moving_line"
    )
    logs_api: "tooltray.servers.logs.api.LogsApi" = part(keeper="log_keeper", pages="log_pages", messages="protocol_log")
    bundle_store: BundleStore = read(lambda hub: BundleStore(hub.home.bundles))
    bundle_folders: BundleFolders = part(
        store="bundle_store", configs=lambda hub: lambda: hub.servers.configs, proposed=lambda hub: lambda: hub.proposals.entries
    )
    bundle_sources: BundleSources = part(folder="home.bundles")
    bundle_reader: "tooltray.sources.bundles.bundle_offers.BundleReader" = part(root="home.bundles")
    tools_api: "tooltray.gateway.calls.api.ToolsApi" = part(calls="own_calls")
    tries_api: TriesApi = part(calls="own_calls")
    prompts_api: "tooltray.gateway.calls.api.PromptsApi" = part()
    resources_api: "tooltray.gateway.calls.api.ResourcesApi" = part()
    skill_reading: SkillReading = part()
    skills_api: "tooltray.consent.skills.api.SkillsApi" = part(catalogue="skill_catalogue", book="skill_book")
    formats_api: "tooltray.catalogue.formats.api.FormatsApi" = part()
    secrets_api: "tooltray.sources.entries.settings_api.SecretsApi" = part()
    access_api: "tooltray.consent.tokens.api.AccessApi" = part(door=lambda hub: lambda: hub.http)
    ai_clients_api: "tooltray.sources.clients.api.AiClientsApi" = part()
    questions_api: "tooltray.gateway.calls.api.QuestionsApi" = part()
    approvals_api: "tooltray.consent.approvals.api.ApprovalsApi" = part()
    views_api: "tooltray.catalogue.views.api.ViewsApi" = part(rule_words=lambda hub: rule_words.words)
    lookup_api: "tooltray.catalogue.views.api.LookupApi" = part()
    projects_api: "tooltray.sources.projects.api.ProjectsApi" = part(sources="project_sources", copies="project_copies")
    feedback_api: FeedbackApi = part()
    files_api: "tooltray.sources.entries.settings_api.FilesApi" = part()
    sign_ins_api: SignInsApi = part()
    registries_api: RegistriesApi = part()
    bundles_api: "tooltray.sources.bundles.api.BundlesApi" = part(
        sources="bundle_sources", reader="bundle_reader", folders="bundle_folders"
    )
    registry_copy: "tooltray.sources.discovery.registry_copy.RegistryCopy" = part(
        registry_file="home.registry_copy", default_registry=lambda hub: _default_registry()
    )
    registry_updates: "tooltray.sources.discovery.updates.RegistryUpdates" = part(known_tools="tools.known_names")
    discovery_api: "tooltray.sources.discovery.api.DiscoveryApi" = part()
    setup_api: "tooltray.sources.entries.settings_api.SetupApi" = part()
    settings_api: "tooltray.sources.entries.settings_api.SettingsApi" = part()
    activity_api: "tooltray.records.journal.api.ActivityApi" = part()
    server_tasks_api: ServerTasksApi = part(book="task_book", places="task_places")
    confirmations_api: "tooltray.consent.api.ConfirmationsApi" = part()
    audit_api: AuditApi = part()
    program_api: "tooltray.api.presenter.program_api.ProgramApi" = part(snapshots="hub_snapshots", masked="mask.masked_whole")
    releases: "tooltray.sources.releases.releases.Releases" = part(releases_file="home.releases")
    releases_api: "tooltray.sources.releases.api.ReleasesApi" = part()
    release_watch: ReleaseWatch = part(releases=lambda hub: lambda: hub.releases, is_busy=lambda hub: lambda: hub.sessions.is_busy)
    api: Api = made(lambda hub: _api(hub))
    session_servers: SessionServers = part()
    session_clients: SessionClients = part()
    presenter: McpPresenter = part(snapshots="hub_snapshots")
    control_sessions: ControlSessions = part()
    first_answers: FirstAnswers = part()
    sessions: Sessions = part()
    http: HttpListener = part(tokens=lambda hub: EndpointTokens(hub.tokens, hub.api_tokens, hub.trusted, hub.trail))
    make_served: MakeServed = made(lambda hub: partial(_make_served, hub))
    served: ServedListener = part(tokens=lambda hub: ServedTokens(hub.secrets, os.environ))


async def _run_provider(folder: str, command: Sequence[str], environ: Mapping[str, str]) -> Printed:
    return await printed_by(command, environ=environ, cwd=folder, timeout_s=FETCH_S, most_bytes=MAX_VALUE_BYTES)


def _keep_output(log_keeper: LogKeeper, refusals: Refusals, server: str, line: str) -> None:
    log_keeper.keep(server, line)
    refusals.heard(server, line)


def _remembered(home: Home, options: HubOptions) -> RememberedVariables:
    remembered = RememberedVariables(home.environment)
    remembered.load()
    if options.started_by in OWN_USES:  # later hubs get a terminal's storable variables, and additions of other sources
        remembered.remember(os.environ, is_all=options.started_by == "terminal")
    return remembered


def _is_up(hub: Hub, name: str) -> bool:
    """Reports whether a server runs or is starting; a server that is being stopped does neither."""
    server = hub.servers.find(name)
    return server is not None and any(each.status.is_busy or each.client is not None for each in server.instances)


def _make_served(hub: Hub, server: str) -> Any:
    from tooltray.carriers.mcp.served_app import ServedServer

    schema = hub.session_servers.tool_schema
    return ServedServer(server, opens=hub.sessions, tool_schema=schema, deadlines=hub.deadlines, spawn=hub.spawn)


async def _wait_for_project(hub: Hub, session: Session) -> None:
    """Waits, for a bounded time, until a session's project and the content of that project's file are known."""
    await hub.project_sources.looked(session.state)
    await hub.files.wait_for_project(session.state)


async def _forget(hub: Hub, server: str) -> None:
    """Deletes what only a removed server used."""
    await hub.bundle_folders.forget(server)
    await hub.confined.forget(server)
    await hub.watches.forget(server)


def _moves(hub: Hub, before: str, after: str) -> list[Awaitable[None]]:
    """Gives everything that is kept under a server's name to its new name: at once in memory, and on the disk by what it returns.

    Every move may be repeated, and does nothing where nothing is left under the old name.
    """
    for lists in (hub.tool_lists, hub.skill_lists, hub.other_lists):
        lists.rename(before, after)
    hub.names.rename(before, after)
    return [
        hub.confined.rename(before, after, hub.servers.rename(before, after)),
        hub.sign_ins.rename(before, after),
        hub.grants.rename(before, after),
        hub.skill_book.rename(before, after),
        hub.inmemory_trust.rename(before, after),
        hub.proposals.rename(before, after),
        hub.bundle_folders.rename(before, after),
        finish_in_thread(hub.names.save),
        finish_in_thread(hub.catalogues.rename, before, after),
    ]


def _api(hub: Hub) -> Api:
    parts: dict[str, Any] = {name: LazyPart(partial(getattr, hub, f"{name}_api")) for name in PARTS}
    return Api(**parts)


def _query_words() -> "tooltray.catalogue.views.search_words.QueryWords":
    from tooltray.catalogue.views.search_words import read_query_words

    return read_query_words(resource("search-words.json"))


def _word_meanings() -> "tooltray.catalogue.views.meanings.WordMeanings":
    from tooltray.catalogue.views.meanings import WordMeanings

    return WordMeanings(resource("word-meanings.bin"))


def _moving_line(hub: Hub, server: str) -> str:
    from tooltray.sources.doctor.remedies import moving_line

    return moving_line(server, config=hub.config, known=hub.known, home=hub.home)


def _default_registry() -> str:
    from tooltray.sources.discovery.registry_copy import default_registry

    return default_registry(resource("mcp-registry.json"))


def _known_projects(hub: Hub) -> list[str]:
    """Returns the folders that the user has allowed, and those that sessions work on now."""
    return [*hub.folders.listed(), *(state.project.path for state in hub.states if state.project)]


def _bytes_of_results(settings: Settings) -> int:
    return settings.results.megabytes * MEGABYTE


def _sources_of_notices(hub: Hub) -> Iterator[Source]:
    """Yields the sources of notices in the order in which the user reads them."""
    yield lambda: hub.misplaced
    yield lambda: hub.config.problems
    yield lambda: hub.access_api.problems
    yield lambda: hub.registries.problems
    yield hub.tools.problems
    yield hub.profiles.problems
    yield lambda: hub.sign_ins.problems
    yield lambda: filter(None, [hub.live_grants.problem])
    yield hub.call_rules.problems
    yield partial(project_problems, hub.folders, hub.servers)
    yield hub.files.problems
    yield lambda: hub.stops.problems
    yield lambda: filter(None, [hub.proposals.problem, hub.inmemory_store.problem])
    yield lambda: hub.served.problems
    yield lambda: filter(None, [hub.login_shell.problem])
    yield lambda: hub.journal.problems
    yield lambda: hub.traces.problems
    yield lambda: hub.result_fitting.problems
    yield lambda: problems_of_settings(hub.config.settings)
