import pytest

from tooltray_confine.options import Wrong, parse

NEEDED = ["--abi", "7", "--network", "none"]


def test_words_become_options_and_what_follows_the_dashes_is_the_program():
    words = [*NEEDED, "--read", "/usr", "--read", "/lib", "--write", "/own", "--file-bytes", "9", "--processes", "8", "--open-files", "7"]
    options = parse([*words, "--keep-group", "--own-ids", "--", "/bin/x", "--", "--read"])
    assert (options.read, options.write, options.network, options.abi) == (["/usr", "/lib"], ["/own"], "none", 7)
    assert (options.file_bytes, options.processes, options.open_files) == (9, 8, 7)
    assert options.keeps_group
    assert options.has_own_ids
    assert options.command == ["/bin/x", "--", "--read"]


def test_the_proxy_has_a_port():
    options = parse(["--abi", "4", "--network", "proxy:8080", "--", "/bin/x"])
    assert (options.network, options.proxy_port) == ("proxy", 8080)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--abi", "7", "--", "/bin/x"],
        ["--network", "all", "--", "/bin/x"],
        [*NEEDED, "--"],
        [*NEEDED, "--reed", "/usr", "--", "/bin/x"],
        [*NEEDED, "--read", "usr", "--", "/bin/x"],
        [*NEEDED, "--write"],
        [*NEEDED, "--file-bytes", "-1", "--", "/bin/x"],
        ["--abi", "7", "--network", "some", "--", "/bin/x"],
        ["--abi", "7", "--network", "proxy", "--", "/bin/x"],
        ["--abi", "7", "--network", "proxy:0", "--", "/bin/x"],
        ["--abi", "7", "--network", "proxy:65536", "--", "/bin/x"],
    ],
)
def test_what_is_not_understood_is_refused_and_never_left_out(words: list[str]):
    with pytest.raises(Wrong):
        parse(words)
