"""notices.py"""

from pathlib import Path

from tests.fakes.hub_parts import entry, hub_parts

from tooltray.api.presenter.notices import Notices
from tooltray.foundation.errors import Problem


async def test_the_snapshot_tells_what_a_person_should_know(tmp_path: Path) -> None:
    in_template = entry("program", deferredStartup=True, startupArgsTemplate=["${secret:s/KEY}"])
    servers = {"s": entry("program", args=["--key", "${secret:s/KEY}"]), "bad": {"note": 1}, "waits": in_template}
    async with hub_parts(tmp_path, servers=servers) as parts:
        parts.shell.problem = Problem("Your login shell could not be read")
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert len(titles) == 4
        assert "bad" in titles[0]
        in_arguments = [f"'{name}' gets a secret in its arguments" for name in ("s", "waits")]
        assert titles[1:] == ["Your login shell could not be read", *in_arguments]


def test_each_time_they_are_those_of_that_moment() -> None:
    problems = [Problem("An address is taken")]
    notices = Notices([lambda: problems, lambda: ()])
    assert list(notices) == problems
    problems.append(Problem("A token was lost"))
    assert list(notices) == problems


async def test_the_snapshot_tells_what_settings_say_of_projects_that_is_not_so(tmp_path: Path) -> None:
    servers = {"s": entry("program", deferredStartup=True, startupArgsTemplate=["{nope}"]), "t": entry("program", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, settings={"allowedFolders": ["src"]}) as parts:
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert titles == ["'src' is not allowed as a project", "'s' is not given all that its settings ask for"]
        assert await parts.presenter.get_allowed_folders() == []
        [found] = await parts.presenter.diagnose("s")
        assert found.remark.startswith("{nope} is handed over as it is written")
