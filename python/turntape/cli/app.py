"""The application: its commands, and how the process ends."""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from typing import Annotated

import typer

import turntape
from turntape.cli import artifacts, envelope
from turntape.cli.check import CHECK_HELP, check
from turntape.cli.convert import CONVERT_HELP, convert
from turntape.cli.decode import HELP, decode
from turntape.cli.ending import report_output_error
from turntape.cli.importing import IMPORT_HELP, import_
from turntape.cli.offload import HELP as OFFLOAD_HELP
from turntape.cli.offload import offload
from turntape.cli.repair import REPAIR_HELP, repair
from turntape.cli.serve import SERVE_HELP, serve
from turntape.cli.show import SHOW_HELP, show
from turntape.cli.transcode import TRANSCODE_HELP, transcode

__all__ = ["app", "run"]

app = typer.Typer(
    name="turntape",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("decode", help=HELP, no_args_is_help=True)(decode)
app.command("transcode", help=TRANSCODE_HELP, no_args_is_help=True)(transcode)
app.command("convert", help=CONVERT_HELP, no_args_is_help=True)(convert)
app.command("show", help=SHOW_HELP, no_args_is_help=True)(show)
app.command("check", help=CHECK_HELP, no_args_is_help=True)(check)
app.command("repair", help=REPAIR_HELP, no_args_is_help=True)(repair)
app.command("import", help=IMPORT_HELP, no_args_is_help=True)(import_)
app.add_typer(envelope.app, name="envelope")
app.command("offload", help=OFFLOAD_HELP, no_args_is_help=True)(offload)
app.command("serve", help=SERVE_HELP, no_args_is_help=True)(serve)
app.add_typer(artifacts.app, name="artifacts")


def _show_version(asked: bool) -> None:
    if asked:
        print(f"turntape {turntape.__version__}")
        raise typer.Exit


def _show_build(asked: bool) -> None:
    if asked:
        info = turntape.build_info()
        facts = asdict(info) | {"target_features": " ".join(info.target_features)}
        for name, value in facts.items():
            print(f"{name}: {str(value).lower() if isinstance(value, bool) else value}")
        raise typer.Exit


@app.callback()
def _turntape(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    build_info: Annotated[
        bool,
        typer.Option(
            "--build-info",
            callback=_show_build,
            is_eager=True,
            help="Show how the extension was built and exit.",
        ),
    ] = False,
) -> None:
    """Decode the streaming responses of language-model providers: bytes in, events and a message out.

    No network call, no key, and no tool is run. Start with [bold]turntape decode --help[/bold].
    """


def run() -> int:
    """Run the command that the process was called with.

    Returns:
        The exit status.
    """
    # What the terminal's encoding cannot say is escaped, not a failure.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _status()
        # Not left to the end of the interpreter, where a failure cannot be handled any more.
        sys.stdout.flush()
    except OSError as error:
        status = report_output_error(error)
    return status


def _status() -> int:
    try:
        app(prog_name="turntape")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
