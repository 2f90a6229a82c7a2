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
    families = {turntape.TurntapeError, turntape.StreamError, turntape.OffloadError}
    # Nothing is in the module before it is named.
    named = {name: getattr(turntape, name) for name in turntape.__all__}
    errors = {
        name
        for name, value in named.items()
        if isinstance(value, type)
        and issubclass(value, turntape.TurntapeError)
        and value not in families
    }
    assert set(headings("errors.md")) == errors


def test_every_note_is_explained():
    page = (DOCS / "requests.md").read_text("utf-8")
    codes = re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)
    assert codes == list(get_args(turntape.ReplayNoteCode))


def test_every_option_of_the_command_line_is_explained():
    typer = pytest.importorskip("typer")
    from turntape.cli.app import app

    page = (DOCS / "cli.md").read_text("utf-8")
    options: set[str] = set()
    waiting = [typer.main.get_command(app)]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        options.update(
            name for parameter in command.params for name in parameter.opts if name[:2] == "--"
        )
    assert len(options) > 30
    for option in options - {"--install-completion", "--show-completion"}:
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


def test_the_tables_of_models_and_vendors_are_those_of_the_data():
    from tests.support.tables import PAGE, rendered

    page = PAGE.read_text("utf-8")
    assert page == rendered(page), "run: python -m tests.support.tables"
    from turntape.wire.capabilities import EFFORT_BUDGETS

    for effort, budget in EFFORT_BUDGETS.items():
        assert f"| `{effort}` | {budget} |" in page


def test_the_tables_of_what_a_wire_can_say_are_those_that_encoders_are_held_to():
    from tests.support.encoding_table import PAGE, rendered

    page = PAGE.read_text("utf-8")
    assert page == rendered(page), "run: python -m tests.support.encoding_table"
