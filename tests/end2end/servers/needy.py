"""A server that works only with the certificates of its company, and says what it was started with. Standard library alone."""

import json
import os
import sys

if not os.path.isfile(os.environ.get("SSL_CERT_FILE", "")):
    sys.exit("needy: certificate verify failed: SSL_CERT_FILE is not set")
for line in sys.stdin:
    request = json.loads(line)
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "needy", "version": "1"}},
        "tools/list": {"tools": [{"name": "environment", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]},
    }
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answers.get(request["method"], {})}), flush=True)
