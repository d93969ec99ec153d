"""A program with a terminal of its own cannot say yes in a person's place where a desktop runs, or where a passphrase is set."""

import json
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import place_of, seen_windows

TITLE, PASSPHRASE = "Tooltray asks", "correct horse battery"


def prepare(world: World) -> None:
    world.root.mkdir()
    (world.root / "settings.json").write_text(json.dumps({"version": 1, "autoDetectNpmRegistry": False}))


def folder(world: World, name: str) -> str:
    made = world.home / name
    made.mkdir()
    return str(made)


def allowed(world: World) -> list[str]:
    return json.loads((world.root / "settings.json").read_text()).get("allowedFolders", [])  # type: ignore[no-any-return]


def audit(world: World) -> list[tuple[str, str]]:
    return [(each["answer"], each["way"]) for each in json.loads(world.tooltray("audit", "--json").stdout)]


def test_where_a_desktop_runs_a_command_is_confirmed_in_its_window(world: World, display: XDisplay, tmp_path: Path) -> None:
    prepare(world)
    desktop = world.start(sys.executable, "-m", "tooltray", environ={"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name})
    desktop.heeds_stdin = False
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the main window")

    def answer(command: "Future[tuple[int, str]]", key: str, *, control: bool) -> tuple[int, str]:
        [window] = wait_until(lambda: seen_windows(display.name, TITLE), "the window that asks")
        left, top, width, _ = place_of(display.name, window)

        def has_keyboard() -> bool:
            hands.click(left + width // 2, top + 12)
            return hands.focus() == window

        def gone() -> bool:
            hands.press(key, control=control)  # heeded once the window takes answers
            return not seen_windows(display.name, TITLE)

        wait_until(has_keyboard, "the window to get the keyboard")
        display.screenshot(tmp_path / "confirmation.png").keep_as("confirmation_window")
        wait_until(gone, "the answer")
        return command.result()

    with ThreadPoolExecutor() as terminals, XInput(display.name) as hands:
        typed = terminals.submit(at_terminal, world, "projects", "allow", folder(world, "one"))
        code, seen = answer(typed, "Escape", control=False)
        assert (code, allowed(world)) == (1, [])
        assert "Confirm this in Tooltray's window; the command waits for it" in seen
        assert "you declined it in Tooltray's window" in seen
        typed = terminals.submit(at_terminal, world, "projects", "allow", two := folder(world, "two"))
        code, seen = answer(typed, "Return", control=True)
        assert (code, allowed(world)) == (0, [two]), seen
    assert audit(world) == [("no", "window"), ("yes", "window")]
    assert world.tooltray("stop").returncode == 0
    assert desktop.wait() == 0


def test_a_passphrase_confirms_commands_with_a_hub_and_without_one(world: World) -> None:
    prepare(world)
    world.start_hub()
    code, seen = at_terminal(world, "passphrase", "set", at=[("New passphrase: ", f"{PASSPHRASE}\n"), ("Repeat it: ", f"{PASSPHRASE}\n")])
    assert code == 0, seen
    one, two = folder(world, "one"), folder(world, "two")
    code, seen = at_terminal(world, "projects", "allow", one, at=[("Passphrase: ", "yes, of course\n")])
    assert (code, allowed(world)) == (1, [])
    assert "This is not the passphrase" in seen
    assert "4 more tries" in seen
    code, seen = at_terminal(world, "projects", "allow", one, at=[("Passphrase: ", f"{PASSPHRASE}\n")])
    assert (code, allowed(world)) == (0, [one]), seen
    assert PASSPHRASE not in seen

    assert world.tooltray("stop").returncode == 0
    code, seen = at_terminal(world, "projects", "allow", two, at=[("Passphrase: ", f"{PASSPHRASE}\n")])
    assert (code, allowed(world)) == (0, [one, two]), seen
    assert audit(world) == [("yes", "terminal"), ("yes", "passphrase"), ("yes", "passphrase")]
    assert "The audit trail is intact: entries 1 to 3." in world.tooltray("audit", "--verify").stdout
    trail = world.root / "audit.jsonl"
    trail.write_text("".join(trail.read_text().splitlines(keepends=True)[:2]))
    assert world.tooltray("audit", "--verify").returncode == 1
