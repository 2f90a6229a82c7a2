"""The package as a whole: what importing it costs, and what it offers."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib import import_module, metadata

import pytest

import turntape

# What the first use of a value class may load: the value classes, and what `dataclass` and `enum` stand on.
OWN = {
    "turntape",
    "turntape.dict_form",
    "turntape.errors",
    "turntape.events",
    "turntape.messages",
    "turntape.wire",
    "turntape.wire.dialect",
}
STANDARD = {
    "__future__", "_ast", "_bisect", "_collections", "_functools", "_imp", "_opcode", "_opcode_metadata",
    "_operator", "_random", "_sha2", "_sre", "_tokenize", "_typing", "_weakrefset", "abc", "annotationlib",
    "ast", "collections", "collections.abc", "contextlib", "copy", "copyreg", "dataclasses", "dis", "enum",
    "functools", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "importlib.machinery",
    "inspect", "itertools", "keyword", "linecache", "opcode", "operator", "re", "re._casefix",
    "re._compiler", "re._constants", "re._parser", "reprlib", "string", "token", "tokenize", "types",
    "typing", "typing.io", "typing.re", "warnings", "weakref",
}  # fmt: skip

LIST_MODULES = """
import sys
before = set(sys.modules)
import turntape
after_import = sorted(set(sys.modules) - before)
dir(turntape)
after_names = sorted(set(sys.modules) - before)
turntape.MessageStart("a"), turntape.Text("a"), turntape.Dialect.for_model("m"), turntape.StreamError
after_use = sorted(set(sys.modules) - before)
turntape.decode
after_decode = sorted(set(sys.modules) - before)
import json
print(json.dumps([after_import, after_names, after_use, after_decode]))
"""


def modules() -> list[set[str]]:
    run = subprocess.run(
        [sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True, timeout=60
    )
    return [set(names) for names in json.loads(run.stdout)]


def test_the_import_is_lazy():
    after_import, after_names, after_use, after_decode = modules()
    assert after_import <= {"turntape", "__future__"}
    assert after_names == after_import
    assert {name for name in after_use if name.startswith("turntape")} == OWN
    assert {name for name in after_use if not name.startswith("turntape")} <= STANDARD
    assert "turntape._native" in after_decode
    assert "asyncio" not in after_decode


@pytest.mark.parametrize("name", ["errors", "events", "messages", "wire", "wire.dialect"])
def test_a_module_that_is_named_without_its_import(name):
    command = f"import turntape, types; assert isinstance(turntape.{name}, types.ModuleType)"
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)


def test_the_public_names():
    assert dir(turntape) == sorted(turntape.__all__)
    for name in turntape.__all__:
        assert hasattr(turntape, name), name
    star: dict[str, object] = {}
    exec("from turntape import *", star)  # noqa: S102 (the statement is the test)
    assert set(turntape.__all__) <= set(star)


@pytest.mark.parametrize("name", [name for name in turntape.__all__ if name != "__version__"])
def test_a_public_name_is_documented(name):
    value = getattr(turntape, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getdoc(value)
        assert value.__name__ == name
        assert value.__module__.startswith("turntape")
    if inspect.isclass(value) and value.__module__ != "turntape._native":
        for member, function in inspect.getmembers(value, inspect.isfunction):
            if not member.startswith("_") and function.__module__ == value.__module__:
                assert inspect.getdoc(function), member


def test_a_name_that_is_none():
    with pytest.raises(AttributeError, match="no attribute 'decoder'"):
        getattr(turntape, "decoder")  # noqa: B009 (a type checker would refuse the plain form)
    with pytest.raises(ImportError):
        exec("from turntape import decoder")  # noqa: S102 (the statement is the test)


def test_one_version():
    assert turntape.__version__ == metadata.version("turntape")


@pytest.mark.parametrize("name", ["events", "messages", "errors", "wire.dialect", "wire.streams"])
def test_the_names_of_a_module(name):
    module = import_module(f"turntape.{name}")
    assert sorted(module.__all__) == list(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


def test_signatures_are_readable():
    parameters = inspect.signature(turntape.StreamDecoder).parameters
    assert list(parameters) == [
        "dialect", "choice", "eof", "max_event_bytes", "strict", "server_tools", "name_map", "vendor",
    ]  # fmt: skip
    shared = list(parameters.values())[1:]
    for function in (turntape.decode, turntape.decode_message, turntape.iter_events):
        assert [p.name for p in inspect.signature(function).parameters.values()][2:] == [
            p.name for p in shared
        ]


def test_the_package_is_typed():
    files = metadata.files("turntape")
    assert files is not None
    assert turntape.__file__ is not None
    root = import_module("pathlib").Path(turntape.__file__).parent
    assert (root / "py.typed").exists()
    assert (root / "_native.pyi").exists()
