"""The pages of the documentation name everything that there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import turntape

DOCS = Path(__file__).parents[1] / "docs"

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="docs/ is not here: these are the tests of an installed package"
)


def headings(page: str) -> list[str]:
    return re.findall(r"^## (.+)$", (DOCS / page).read_text("utf-8"), re.MULTILINE)


def test_every_warning_is_explained():
    assert headings("warnings.md") == list(get_args(turntape.WarningCode))


def test_every_error_is_explained():
    families = {turntape.TurntapeError, turntape.StreamError}
    errors = {
        name
        for name, value in vars(turntape).items()
        if isinstance(value, type)
        and issubclass(value, turntape.TurntapeError)
        and value not in families
    }
    assert set(headings("errors.md")) == errors


def test_every_option_of_the_command_line_is_explained():
    typer = pytest.importorskip("typer")
    from turntape.cli.app import app

    page = (DOCS / "cli.md").read_text("utf-8")
    command = typer.main.get_command(app)
    decode = command.commands["decode"]
    options = [name for parameter in decode.params for name in parameter.opts if name[:2] == "--"]
    assert len(options) > 8
    for option in options:
        assert f"`{option}" in page, option


def test_every_dialect_is_listed():
    table = (DOCS / "wires.md").read_text("utf-8")
    readme = DOCS.parent / "README.md"
    for dialect in turntape.Dialect:
        assert re.search(rf"^\| `{dialect}` \|", table, re.MULTILINE), dialect
        if readme.is_file():
            text = readme.read_text("utf-8")
            assert re.search(rf"^\| `{dialect}` \|", text, re.MULTILINE), dialect


def test_every_member_of_a_line_is_in_the_table_in_its_place():
    from turntape.transcript.lines import LINE_MEMBERS

    page = (DOCS / "tape.md").read_text("utf-8")
    table = page[page.index("| member |") : page.index("| any other |")]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == LINE_MEMBERS


def test_every_format_that_can_be_imported_is_explained():
    page = (DOCS / "tape.md").read_text("utf-8")
    table = page[page.index("| format |") :]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == set(
        turntape.IMPORT_FORMATS
    )


@pytest.mark.parametrize("name", ["check", "import", "repair", "show"])
def test_every_option_for_tapes_is_explained(name):
    typer = pytest.importorskip("typer")
    from turntape.cli.app import app

    page = (DOCS / "cli.md").read_text("utf-8")
    start = page.index(f"## turntape {name}\n")
    section = page[start : page.find("\n## ", start + 1)]
    command = typer.main.get_command(app).commands[name]
    for parameter in command.params:
        for option in parameter.opts:
            if option[:2] == "--" and option != "--help":
                assert option in section, option
