"""presenter/notices.py"""

from pathlib import Path

from tests.fakes.hub_parts import entry, hub_parts

from tooltray.errors import Problem


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


async def test_the_snapshot_tells_what_others_were_asked_to_tell(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        parts.notices.add(lambda: [Problem("An address is taken")])
        assert [problem.title for problem in parts.presenter.snapshot().notices] == ["An address is taken"]


async def test_the_snapshot_tells_what_settings_say_of_projects_that_is_not_so(tmp_path: Path) -> None:
    servers = {"s": entry("program", deferredStartup=True, startupArgsTemplate=["{nope}"]), "t": entry("program", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, settings={"allowedFolders": ["src"]}) as parts:
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert titles == ["'src' is not allowed as a project", "'s' is not given all that its settings ask for"]
        assert await parts.presenter.get_allowed_folders() == []
        [found] = await parts.presenter.diagnose("s")
        assert found.remark.startswith("{nope} is handed over as it is written")
