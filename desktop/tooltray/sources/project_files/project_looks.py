"""Waits until the file of a session's project has been read once, so that a list has its servers.

Above it: whoever lists or calls for a session. Below it: ProjectSources, which know the project; FoldersInUse and FileReadings.
"""

from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.sources.project_files.file_readings import FileReadings
from tooltray.sources.project_files.files_in_use import AnyFile, FilesInUse
from tooltray.sources.project_files.folders_in_use import FoldersInUse
from tooltray.sources.projects.project_sources import ProjectSources

LISTING_WAIT_S = 2.0  # a list waits for the first reading of its project's file, but not for a disk that hangs


class ProjectLooks:
    """Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        project_sources: ProjectSources,
        states: SessionStates,
        files_in_use: FilesInUse,
        folders_in_use: FoldersInUse,
        file_readings: FileReadings[AnyFile],
    ) -> None:
        self._sources, self._states = project_sources, states
        self._files, self._in_use, self._readings = files_in_use, folders_in_use, file_readings

    async def look(self, session: Session) -> None:
        """Waits, at most `LISTING_WAIT_S`, until the file of a session's project has been read once, so that a list has its servers."""
        await self._sources.looked(session.state)
        if (project := session.state.project) is None:
            return
        if self._states.find(session.state.id) is not session.state:
            self._in_use.touch(project.path)  # a call by the person
        if file := self._files.of_folder(project.path):
            await self._readings.first(file.path, within_s=LISTING_WAIT_S)
