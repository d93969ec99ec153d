"""FastMCP's proxy on stdio in front of the servers of a JSON config: the named peer of the benchmarks. Runs in FastMCP's own environment.

Usage: fastmcp_proxy.py CONFIG.json
"""

import json
import sys
from pathlib import Path

from fastmcp.server import create_proxy

create_proxy(json.loads(Path(sys.argv[1]).read_text())).run(show_banner=False)
