"""What profiles let a server read and change."""

from pathlib import Path

from tooltray.servers.confinement.granted import granted_by
from tooltray.servers.confinement.policy import Policy


def test_paths_are_granted_with_all_below_them_by_where_their_links_lead(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (tmp_path / "written").mkdir()
    real.mkdir()
    link.symlink_to(real)
    own = Policy(read=(str(link),), write=(str(tmp_path / "written"),))
    granted = granted_by({"own": own, "read": Policy(read=(str(link), str(tmp_path / "written")))}, "/bin/sh")
    assert granted("own", f"{real}/a/b", False)
    assert not granted("own", f"{real}/a/b", True)
    assert granted("own", f"{tmp_path}/written/x", True)
    assert not granted("read", f"{tmp_path}/written/x", True)
    assert granted("read", "/usr/lib/x", False)
    assert granted("read", "/proc/self/status", False)
    assert granted("read", "/dev/null", True)
    assert not granted("own", f"{real}er", False)
    assert not granted("own", "/", False)
