"""A scripted server with skills, by the extension `io.modelcontextprotocol/skills`.

What is in `files` is what it gives; its entries say what was there when they were made, unless a test makes them anew.
"""

import hashlib
from typing import Any

from tests.fakes.offering import OfferingServer
from tests.fakes.scripted_server import Copy, error

EXTENSION = "io.modelcontextprotocol/skills"


def skill_md(name: str, text: str = "Do it well.") -> str:
    return f"---\nname: {name}\ndescription: About {name}\n---\n\n{text}\n"


def skill_entry(uri: str, files: dict[str, str], **frontmatter: Any) -> dict[str, Any]:
    """The entry of a skill whose `SKILL.md` is at a URI, with all files of its folder."""
    folder, name = uri.removesuffix("SKILL.md"), uri.split("/")[-2]
    resources = [
        {"uri": each, "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}", "size": len(text.encode())}
        for each, text in files.items()
        if each.startswith(folder)
    ]
    return {"uri": uri, "frontmatter": {"name": name, "description": f"About {name}", **frontmatter}, "resources": resources}


class SkillServer(OfferingServer):
    """
    Attributes:
        files: text by URI; what is under another scheme or of no skill may be in it, too.
        skills: the entries; those of `unlisted` are told to who asks for them alone.
    """

    def __init__(self, *paths: str, eras: tuple[str, ...] = ("legacy",), lists_files: bool = False) -> None:
        """
        Args:
            paths: of its skills: "git-workflow", "acme/billing/refunds".
            lists_files: whether each `SKILL.md` is in `resources/list`, too.
        """
        super().__init__(resources=[], eras=eras)
        self.files = {f"skill://{path}/SKILL.md": skill_md(path.rpartition("/")[2]) for path in paths}
        self.files |= {f"skill://{path}/references/more.md": f"More of {path}" for path in paths}
        self.skills: list[Any] = []
        self.unlisted: list[Any] = []
        self.renew()
        if lists_files:
            self.resources = [{"uri": each["uri"], "name": "SKILL.md"} for each in self.skills]
        self.handlers |= {
            "skills/list": lambda copy, params: {"skills": self.skills},
            "skills/get": self._get,
            "resources/directory/read": self._folder,
        }
        for method in ("initialize", "server/discover"):
            self.handlers[method] = self._declaring(self.handlers[method])

    def renew(self) -> None:
        """Its entries say what is in its files."""
        self.skills = [skill_entry(uri, self.files) for uri in self.files if uri.endswith("/SKILL.md")]

    def _declaring(self, usual: Any) -> Any:
        def answer(copy: Copy, params: Any) -> Any:
            reply = usual(copy, params)
            if isinstance(reply, dict):
                reply["capabilities"]["extensions"] = {EXTENSION: {"directoryRead": True}}
            return reply

        return answer

    def _get(self, copy: Copy, params: Any) -> Any:
        found = [each for each in (*self.skills, *self.unlisted) if each["uri"] == params["uri"]]
        return {"skill": found[0]} if found else error(-32602, f"No skill is served at {params['uri']}")

    def _read(self, copy: Copy, params: Any) -> Any:
        if text := self.files.get(params["uri"]):
            return {"contents": [{"uri": params["uri"], "mimeType": "text/markdown", "text": text}]}
        return error(-32602, f"{copy.name} has no {params['uri']}")

    def _folder(self, copy: Copy, params: Any) -> Any:
        folder = params["uri"] + "/"
        children = dict.fromkeys(folder + each.removeprefix(folder).partition("/")[0] for each in self.files if each.startswith(folder))
        if not children:
            return error(-32602, f"{params['uri']} is not a directory resource")
        return {"resources": [{"uri": each, "name": each.rpartition("/")[2]} for each in children]}
