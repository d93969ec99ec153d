"""The protocol's own words: versions, envelope keys, error codes. Source: the MCP specification, 2024-11-05 to 2026-07-28.

Written down here, and not taken from the SDK, because importing the SDK costs 0.6-1 s at every start of a hub.
"""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # oldest first; reached by `initialize`
BATCH_VERSION = "2025-03-26"  # the only one that has batches
MODERN_VERSIONS = ("2026-07-28",)  # stateless: every request carries its envelope in `_meta`

META_PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION_KEY = META_PREFIX + "protocolVersion"
CLIENT_INFO_KEY = META_PREFIX + "clientInfo"
CLIENT_CAPABILITIES_KEY = META_PREFIX + "clientCapabilities"
LOG_LEVEL_KEY = META_PREFIX + "logLevel"
SERVER_INFO_KEY = META_PREFIX + "serverInfo"
SUBSCRIPTION_ID_KEY = META_PREFIX + "subscriptionId"

MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022

# what a server may ask of a client, and the capability that allows it
CAPABILITY_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
