"""FastMCP's proxy on stdio in front of the servers of a JSON config: the named peer of the benchmarks. Runs in FastMCP's own environment.

Usage: fastmcp_proxy.py CONFIG.json [PORT]     with a port: streamable HTTP there, at /mcp
"""

import json
import sys
from pathlib import Path

from fastmcp.server import create_proxy

proxy = create_proxy(json.loads(Path(sys.argv[1]).read_text()))
if len(sys.argv) > 2:
    proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="error")
else:
    proxy.run(show_banner=False)
