"""Finds the `llvm-profdata` that profile-guided builds need: `python -m benches.profdata`.

It has to read what this rustc's programs write, and to write what this rustc reads. Which versions do
is found out by trying: a small program is built, run, and built again with its profile. Looked at are the
`LLVM_PROFDATA` of the environment, the component `llvm-tools` of rustup, and the tools of LLVM on the
path and where Debian puts them, the newest first.

The folder of a fitting one goes to standard output, under the name that maturin looks for. The status is 1
where there is none; standard error tells why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = 'fn main() { println!("{}", std::env::args().map(|word| word.len()).sum::<usize>()); }\n'


def run(*command: str | Path, **environment: str) -> str:
    """What a command prints.

    Raises:
        subprocess.CalledProcessError: It failed.
        OSError: It is not there.
    """
    ended = subprocess.run(  # noqa: S603 (the compiler and its tools)
        [*map(str, command)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def candidates() -> Iterator[Path]:
    """The tools that are there, the likeliest first."""
    if named := os.environ.get("LLVM_PROFDATA"):
        yield Path(named)
    yield from Path(run("rustc", "--print", "sysroot").strip()).glob(
        "lib/rustlib/*/bin/llvm-profdata*"
    )
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += Path("/usr/lib").glob("llvm-*/bin")
    found = [tool for folder in folders for tool in folder.glob("llvm-profdata*")]
    yield from sorted(found, key=version, reverse=True)


def version(tool: Path) -> int:
    """The version of a tool of LLVM, as its path tells it; of one without a number nothing is known."""
    numbers = re.findall(r"(?:llvm|profdata)-(\d+)", str(tool))
    return int(numbers[-1]) if numbers else 0


class Trial:
    """A program that was built to be measured, and what it wrote."""

    def __init__(self, folder: Path) -> None:
        """Build it and run it."""
        self._folder = folder
        self._source = folder / "program.rs"
        self._source.write_text(PROGRAM, encoding="utf-8")
        raw, program = folder / "raw", folder / "measured"
        run("rustc", "-O", f"-Cprofile-generate={raw}", self._source, "-o", program)
        run(program)
        self._written = sorted(raw.glob("*.profraw"))

    def fits(self, tool: Path) -> bool:
        """Whether a tool makes a profile of it that the compiler takes."""
        merged = self._folder / "merged.profdata"
        try:
            run(tool, "merge", "-o", merged, *self._written)
            guided = self._folder / "guided"
            run("rustc", "-O", f"-Cprofile-use={merged}", self._source, "-o", guided)
        except (OSError, subprocess.CalledProcessError):
            return False
        return bool(self._written)


def find() -> Path | None:
    """A fitting tool; None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        return next((tool for tool in candidates() if trial.fits(tool)), None)


def main() -> int:
    """Print the folder of a fitting tool; the status to exit with."""
    try:
        tool = find()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"this Rust toolchain measures no programs: {error}", file=sys.stderr)
        return 1
    if tool is None:
        print(
            "no llvm-profdata fits this rustc: rustup component add llvm-tools, or install LLVM 19 "
            "or newer",
            file=sys.stderr,
        )
        return 1
    folder = Path("target/profdata").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    named = folder / f"llvm-profdata{tool.suffix if tool.suffix == '.exe' else ''}"
    named.unlink(missing_ok=True)
    try:
        named.symlink_to(tool.resolve())
    except OSError:
        # Windows lets not everybody make links.
        shutil.copy2(tool, named)
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
