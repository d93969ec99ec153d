"""A server with a view, by stdio: `app_server.py NAME SDK [ORIGIN]`. Two of it have one `ui://` URI and tools of the same names.

test_apps.py runs it behind a hub. SDK: the reference of the view's side, a module that is written into the view, as
servers do. ORIGIN: what the view may connect to; the other's may connect to nothing.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

URI = "ui://shared/view.html"
VIEW = """<!doctype html><title>{name}</title><body>the view of {name}<script type="module">
{sdk}
const app = new {App}({{ name: "view of {name}", version: "1" }}, {{}}, {{ autoResize: false }});
const tell = (said) => app.sendLog({{ level: "info", data: {{ view: document.title, ...said }} }});
app.ontoolresult = async (result) => {{
  const asked = await app.callServerTool({{ name: "refresh", arguments: {{}} }}).catch((error) => ({{ error: error.message }}));
  const fetched = await fetch("{probed}").then(() => "fetched", () => "blocked");
  await tell({{ shown: result.content[0].text, called: asked.error ?? asked.content[0].text, fetched }});
}};
await app.connect();
</script>"""


def view(name: str, sdk: Path, probed: str) -> str:
    text = sdk.read_text()
    exported = re.search(r"([\w$]+) as App\b", text)
    assert exported
    return VIEW.format(name=name, sdk=text[: text.rindex("export{")], App=exported[1], probed=probed)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    name, sdk, probed, allowed = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    if method == "initialize":
        capabilities = {"tools": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/ui": {}}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": {"name": name, "version": "1"}}
    if method == "tools/list":
        of_view = {"name": "show", "_meta": {"ui": {"resourceUri": URI}}}
        of_app = {"name": "refresh", "_meta": {"ui": {"visibility": ["app"]}}}
        return {"tools": [{**each, "inputSchema": {"type": "object"}} for each in (of_view, of_app)]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['name']} of {name}"}]}
    if method == "resources/read":
        meta = {"ui": {"csp": {"connectDomains": allowed}, "prefersBorder": True}}
        return {"contents": [{"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": view(name, sdk, probed), "_meta": meta}]}
    return {"resources": []} if method == "resources/list" else {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(
            json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message.get("params", {}))}), flush=True
        )
