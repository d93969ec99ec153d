"""project_folders.py: what is allowed, by the settings and by what a session brings along."""

import os
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.portable import absolute

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.sources.projects.project_folders import ProjectFolders


class Place:
    """Settings, and a home folder with something in it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.home = self.folder("people/person")
        self.config = McpConfHelper(root / "settings.json", EventBus())
        self.folders = ProjectFolders(config=self.config, home=self.home)

    def folder(self, name: str) -> str:
        (self.root / name).mkdir(parents=True, exist_ok=True)
        return str(self.root / name)

    async def allow_in_file(self, *folders: object) -> None:
        await self.config.edit(lambda document: document.update(allowedFolders=list(folders)))

    async def is_permitted(self, path: str, *, folder: str = "", roots: tuple[str, ...] = ()) -> bool:
        try:
            return await self.folders.permitted(path, SessionState("s", folder=folder, roots=roots)) == path
        except TooltrayError:
            return False


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    await place.config.load()
    return place


async def test_what_a_person_allows_is_allowed_with_everything_in_it(place: Place) -> None:
    work, inside, beside = place.folder("work"), place.folder("work/in/side"), place.folder("workshop")
    assert not await place.is_permitted(work)
    assert await place.folders.allow(work) == work
    assert await place.folders.allow(f"{inside}/../..") == work
    assert place.folders.allowed() == [work]
    assert [await place.is_permitted(each) for each in (work, inside, beside)] == [True, True, False]


async def test_what_is_never_a_project_cannot_be_allowed(place: Place) -> None:
    for path in ("/", place.home, str(place.root), "relative", f"{place.home}/none"):
        with pytest.raises(TooltrayError):
            await place.folders.allow(path)
    assert place.folders.allowed() == []


async def test_what_somebody_wrote_into_the_settings_allows_no_more_than_a_person_may(place: Place) -> None:
    project = place.folder("people/person/project")
    await place.allow_in_file("/", place.home, "relative", str(place.root))
    assert not await place.is_permitted(project)
    await place.allow_in_file("/", project)
    assert await place.is_permitted(project)


async def test_what_is_in_the_settings_and_is_not_allowed_is_not_listed_and_told(place: Place) -> None:
    await place.allow_in_file("src", place.home, absolute("srv", "not there now"))
    assert place.folders.listed() == [absolute("srv", "not there now")]
    relative, home = place.folders.problems()
    assert relative.title == "'src' is not allowed as a project"
    assert "write the whole path" in relative.message
    assert home.message == "it is the home folder itself, or home folders are in it"


@pytest.mark.posix
async def test_a_link_into_an_allowed_folder_is_where_it_leads(place: Place) -> None:
    work, secret = place.folder("work"), place.folder("secret")
    await place.folders.allow(work)
    os.symlink(secret, f"{work}/link")
    assert not await place.is_permitted(f"{work}/link")
    with pytest.raises(TooltrayError, match="tooltray projects allow"):
        await place.folders.permitted(f"{work}/link", SessionState("s"))


@pytest.mark.posix
async def test_the_very_folder_in_which_the_bridge_was_started_is_allowed_and_nothing_in_it(place: Place) -> None:
    own, inside = place.folder("own"), place.folder("own/inside")
    os.symlink(own, f"{place.root}/link")
    assert await place.is_permitted(own, folder=own)
    assert not await place.is_permitted(own, folder=f"{place.root}/link")  # a bridge tells the real path: somebody has put it there since
    assert not await place.is_permitted(inside, folder=own)
    assert not await place.is_permitted(own, folder=inside)
    assert await place.is_permitted(own, roots=(own,))


@pytest.mark.parametrize("folder", ["", "/", "relative", "/no/such/folder"])
async def test_a_bridge_that_was_started_nowhere_in_particular_allows_nothing(place: Place, folder: str) -> None:
    assert not await place.is_permitted(place.folder("own"), folder=folder)
    with pytest.raises(TooltrayError):
        await place.folders.own_folder(SessionState("s", folder=folder))


async def test_where_programs_keep_their_own_files_is_no_project_unless_a_person_says_so(place: Place) -> None:
    hidden, deep = place.folder("people/person/.client"), place.folder("people/person/.client/deep")
    for folder in (hidden, deep):
        with pytest.raises(TooltrayError, match="programs keep their own files there"):
            await place.folders.own_folder(SessionState("s", folder=folder))
        assert not await place.is_permitted(folder, folder=folder)
    await place.folders.allow(hidden)
    assert await place.folders.own_folder(SessionState("s", folder=deep)) == deep


@pytest.mark.posix
async def test_what_was_allowed_can_be_taken_back_by_any_path_that_leads_there_also_when_it_is_gone(place: Place) -> None:
    work, gone = place.folder("work"), place.folder("gone")
    os.symlink(work, f"{place.root}/link")
    for folder in (work, gone):
        await place.folders.allow(folder)
    os.rmdir(gone)
    assert await place.folders.disallow(f"{place.root}/link") == work
    assert await place.folders.disallow(gone) == gone
    assert place.folders.allowed() == []
    await place.allow_in_file("relative")
    assert await place.folders.disallow("relative") == "relative"


@pytest.mark.parametrize("path", ["", "/x", "a\0b", "/a\0b"])
async def test_what_was_not_allowed_cannot_be_taken_back(place: Place, path: str) -> None:
    with pytest.raises(TooltrayError, match="tooltray projects list"):
        await place.folders.disallow(path)


@pytest.mark.parametrize("odd", ["work", ["/work", 3]])
async def test_a_list_of_allowed_folders_that_cannot_be_read_allows_nothing_and_stays(place: Place, odd: object) -> None:
    await place.config.edit(lambda document: document.update(allowedFolders=odd))
    with pytest.raises(TooltrayError, match="must be a list of texts"):
        await place.folders.allow(place.folder("work"))
    assert (place.folders.allowed(), place.config.document["allowedFolders"]) == ([], odd)


async def test_where_the_settings_cannot_be_written_nothing_is_allowed(place: Place) -> None:
    with full_disk(1), pytest.raises(TooltrayError):
        await place.folders.allow(place.folder("work"))
    assert place.folders.allowed() == []
