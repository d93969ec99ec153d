"""All scenes: what pictures are taken of, and what the tests of accessibility walk through."""

from tests.ui.scenes import (
    add_scenes,
    approval_scenes,
    client_scenes,
    feedback_scenes,
    file_scenes,
    found_scenes,
    grant_scenes,
    log_scenes,
    network_scenes,
    palette_scenes,
    project_scenes,
    question_scenes,
    server_scenes,
    settings_scenes,
    sign_in_scenes,
    tray_scenes,
)
from tests.ui.scenes.shot import Scene

SUBJECTS = (
    server_scenes,
    add_scenes,
    question_scenes,
    settings_scenes,
    network_scenes,
    sign_in_scenes,
    approval_scenes,
    grant_scenes,
    log_scenes,
    project_scenes,
    client_scenes,
    found_scenes,
    file_scenes,
    tray_scenes,
    feedback_scenes,
    palette_scenes,
)
SCENES: dict[str, Scene] = {scene.__name__: scene for subject in SUBJECTS for scene in subject.SCENES}
