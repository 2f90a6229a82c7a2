"""What the extension tells of its build, and the work that builds are trained on."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import turntape
from turntape import BuildInfo, build_info

ROOT = Path(__file__).parents[1]


def test_what_it_tells_is_so():
    from turntape import _native

    info = build_info()
    assert info.version == turntape.__version__
    assert info.profile in {"release", "fast", "dev"}
    assert info.debug_assertions == (info.profile == "dev")
    assert re.fullmatch(r"[a-z0-9_.]+(-[a-z0-9_.]+){1,4}", info.target)
    assert re.match(r"rustc \d+\.\d+\.\d+", info.rustc)
    assert all(re.fullmatch(r"[a-z0-9._-]+", feature) for feature in info.target_features)
    assert info.free_threaded == bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert not (info.abi3 and info.free_threaded)
    if sys.platform != "win32":
        assert _native.__file__ is not None
        assert info.abi3 == _native.__file__.endswith(".abi3.so")
        assert _native.__file__.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))


def test_it_is_a_plain_value():
    info = build_info()
    assert info == build_info()
    assert hash(info) == hash(build_info())
    assert BuildInfo(**dataclasses.asdict(info)) == info
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.pgo = True  # type: ignore[misc]


def test_it_is_said_in_one_line():
    info = build_info()
    said = str(info)
    assert "\n" not in said
    for part in (info.version, info.target, info.rustc, f"{info.profile} profile"):
        assert part in said
    assert ("with PGO" in said) == info.pgo
    other = dataclasses.replace(
        info, pgo=not info.pgo, debug_assertions=True, abi3=False, free_threaded=True
    )
    assert ("with PGO" in str(other)) == other.pgo
    assert "with debug assertions" in str(other)
    assert "free-threaded" in str(other)


def test_it_is_imported_at_first_use():
    code = (
        "import sys, turntape\nassert 'turntape.build' not in sys.modules\nturntape.build_info()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


source_tree = pytest.mark.skipif(
    not (ROOT / "benches" / "train.py").is_file(),
    reason="benches/ is not here: these are the tests of an installed package",
)


@source_tree
def test_the_training_runs_with_nothing_but_turntape():
    code = (
        "import runpy, sys\n"
        "runpy.run_module('benches.train', run_name='__main__')\n"
        "others = {'orjson', 'pytest', 'pyarrow', 'httpx2', 'pydantic'} & set(sys.modules)\n"
        "assert not others, others\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment, cwd=ROOT)


@source_tree
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(("fitting", "found"), [("19", "19"), ("21", "21"), ("9", "9"), ("", None)])
def test_a_tool_that_fits_is_found(fitting, found, tmp_path):
    """With stand-ins for the compiler, and for tools of which one reads what it measures."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        # A build gives a program; with a measured one a run leaves a file behind.
        "rustc": 'case "$*" in *sysroot*) echo /none; exit;; esac\n'
        'for word in "$@"; do case "$word" in\n'
        "    -Cprofile-generate=*) raw=${word#*=};;\n"
        '    -Cprofile-use=*) grep -q merged "${word#*=}" || exit 1;;\n'
        "esac; last=$word; done\n"
        'echo "#!/bin/sh\nmkdir -p $raw; echo raw > $raw/a.profraw" > "$last"; chmod +x "$last"\n',
    }
    for version in ("9", "14", "19", "21"):
        good = 'grep -q raw "$4" && echo merged > "$3"' if version == fitting else "exit 1"
        scripts[f"llvm-profdata-{version}"] = good
    for name, script in scripts.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": str(ROOT),
        "LLVM_PROFDATA": "",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "benches.profdata"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
        cwd=tmp_path,
    )
    if found is None:
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "no llvm-profdata fits" in ended.stderr
    else:
        assert ended.returncode == 0, ended.stderr
        [tool] = Path(ended.stdout.strip()).iterdir()
        assert tool.resolve() == folder / f"llvm-profdata-{found}"
