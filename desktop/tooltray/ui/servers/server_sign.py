"""What stands in a server's tile: its own sign from the settings, an icon that fits its name, or its first letter."""

from tooltray.snapshots.servers import ServerSnapshot

LONGEST_SIGN = 4  # an emoji may have several code points; a path or a URL has more and is no sign

ICONS = (
    (("filesystem", "files", "folder", "drive"), "folder"),
    (("git", "github", "gitlab"), "branch"),
    (("playwright", "browser", "puppeteer", "chrome"), "globe"),
    (("fetch", "download"), "download"),
    (("postgres", "sqlite", "mysql", "database", "redis", "sql"), "database"),
    (("memory", "knowledge"), "layers"),
    (("search", "brave", "exa"), "search"),
    (("time", "clock", "calendar"), "clock"),
    (("slack", "discord", "mail"), "message"),
    (("serena", "code"), "code"),
    (("shell", "terminal", "ssh"), "terminal"),
    (("everything", "context7", "tools"), "tools"),
)


def sign(server: ServerSnapshot) -> tuple[str, str]:
    """Returns the icon's file and the letters of a server's tile; one of them is empty."""
    if server.is_builtin:
        return "server", ""
    if server.icon and len(server.icon) <= LONGEST_SIGN:
        return "", server.icon
    words = server.name.lower().replace("_", "-").replace(".", "-").split("-")
    for names, icon in ICONS:
        if any(name in words for name in names):
            return icon, ""
    return "", server.name[:1].upper()
