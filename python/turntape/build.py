"""How the extension was built, for reports of what is slow or wrong.

>>> from turntape import build_info
>>> build_info().version == __import__("turntape").__version__
True
"""

from __future__ import annotations

from dataclasses import dataclass

from turntape._native import build_facts

__all__ = ["BuildInfo", "build_info"]


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """How the extension was built.

    Attributes:
        version: The version of the extension, which is that of the package.
        profile: Cargo's profile: ``release``, ``fast``, which is for work on turntape, or ``dev``, which
            is many times slower.
        pgo: Whether a recorded profile of the benchmarks guided the compiler.
        debug_assertions: Whether it checks itself while it runs.
        target: What it was built for, as a target triple.
        target_features: The abilities of the processor that it needs.
        rustc: The compiler, with its version.
        abi3: Whether it is for every version of Python from 3.11 on that has the global lock.
        free_threaded: Whether it is for an interpreter without the global lock.
    """

    version: str
    profile: str
    pgo: bool
    debug_assertions: bool
    target: str
    target_features: tuple[str, ...]
    rustc: str
    abi3: bool
    free_threaded: bool

    def __str__(self) -> str:
        """Say it in one line."""
        guided = "with PGO" if self.pgo else "without PGO"
        checked = ", with debug assertions" if self.debug_assertions else ""
        if self.free_threaded:
            abi = "free-threaded"
        else:
            abi = "abi3" if self.abi3 else "one version of Python"
        return (
            f"turntape {self.version}, {self.profile} profile {guided}{checked}, {self.target}, {abi}, "
            f"{self.rustc}"
        )


def build_info() -> BuildInfo:
    """Tell how the extension was built."""
    facts = build_facts()
    facts["target_features"] = tuple(facts["target_features"])
    return BuildInfo(**facts)
