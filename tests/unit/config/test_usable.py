"""config/usable.py"""

from tooltray.config.server_config import ToolOverride
from tooltray.config.settings import PublishSettings
from tooltray.config.usable import not_used, read_fields, read_members, read_texts
from tooltray.errors import Problem


def test_an_object_is_read_by_those_of_its_fields_that_can_be_used() -> None:
    publish, odd = read_fields(PublishSettings, {"naming": "always", "lazy_load": 1, "http": {"port": -1, "host": 2}})
    assert (publish.naming, publish.lazy_load, publish.http.host) == ("always", False, "127.0.0.1")
    assert odd == {"lazy_load": ["lazy_load: must be true or false"], "http": ["http.host: must be text", "http.port: must be 0 or more"]}


def test_members_that_cannot_be_used_are_told_by_name_and_null_is_none() -> None:
    told: list[tuple[str, str]] = []
    read = read_members(ToolOverride, {"a": {"name": "x"}, "b": 1, "c": None}, lambda name, why: told.append((name, why)))
    assert read == {"a": ToolOverride(name="x")}
    assert told == [("b", "b: must be an object")]


def test_the_texts_of_a_list_are_read() -> None:
    problems: list[Problem] = []
    assert read_texts("list", None, problems) == ()
    assert read_texts("list", ["a", "b"], problems) == ("a", "b")
    assert problems == []
    assert read_texts("list", "a", problems) == ()
    assert problems == [not_used("list", "list: must be a list")]
    assert read_texts("list", [None, "b"], problems) == ("b",)
    assert problems[1].message == "list: 0: must be text"
