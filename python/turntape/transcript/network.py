"""Whether a file is on a network file system, where neither locks nor appends can be relied on."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NETWORK_FILE_SYSTEMS", "NetworkFileSystemWarning", "network_file_system"]


class NetworkFileSystemWarning(UserWarning):
    """A tape is on a network file system: only one writer at a time may use it, which is yours to see to."""


NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs",
        "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre",
        "ncpfs", "nfs", "nfs4", "orangefs", "smb3", "smbfs",
    }
)  # fmt: skip
"""The types of file systems, as Linux names them, whose files other machines may write as well."""

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_file_system(path: str) -> str | None:
    r"""Name the network file system that a file is or would be on.

    Linux tells; on other systems only Windows' names of shares do (``\\server\share``).

    Args:
        path: The file, absolute and without links; it and its folders need not be there yet.

    Returns:
        The type of the file system; None where it is local or nobody can tell.
    """
    if os.name == "nt":
        return "a share" if path.startswith("\\\\") and not path.startswith("\\\\?\\") else None
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    kind = _file_system(path, mounts)
    return kind if kind in NETWORK_FILE_SYSTEMS else None


def _file_system(path: str, mounts: Iterable[str]) -> str | None:
    """The type of what is mounted nearest above a path; of two at one place the later hides the other."""
    longest, found = -1, None
    for line in mounts:
        # Fields of their own may follow the sixth, up to a dash.
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:  # noqa: PLR2004 (the fifth is the mount's place)
            continue
        place = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4])
        within = place in {"/", path} or path.startswith(f"{place}/")
        if within and len(place) >= longest:
            longest, found = len(place), after.split(" ", 1)[0]
    return found
