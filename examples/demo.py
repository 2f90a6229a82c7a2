"""The main job in half a minute: `make demo` runs this.

It feeds the bundled streams to the command line, as a provider would send them, and shows what comes
out: the events of a turn while it arrives, the assembled turn, and streams that never became whole.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

ROOT = Path(__file__).parent.parent
STREAMS = Path("examples/streams")
COMMAND = [sys.executable, "-m", "turntape"]

console = Console(highlight=False)


def headline(number: int, title: str, explanation: str) -> None:
    """Say what comes next."""
    console.print()
    console.print(Rule(f"[bold]{number}. {title}[/bold]", align="left", style="cyan"))
    console.print(Text(explanation, style="italic"))
    console.print()


def show_command(line: str) -> None:
    """Write the command as one would type it."""
    console.print(Text.assemble(("$ ", "green"), (line, "bold")), soft_wrap=True)
    # What the command writes itself must come after this.
    sys.stdout.flush()


def run(*arguments: str, status: int) -> None:
    """Run the command on a bundled stream, and check that it ends as the demonstration promises."""
    show_command(f"turntape {shlex.join(arguments)}")
    ended = subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=False).returncode  # noqa: S603 (this package)
    report_status(ended, status)


def run_live(path: Path, *, status: int) -> None:
    """Send a bundled stream through a pipe at a provider's pace, cut without regard for its events."""
    show_command(f"turntape decode -    # fed with {path.as_posix()}, bit by bit")
    pause = 0.03 if console.is_terminal else 0.0
    body = (ROOT / path).read_bytes()
    command = [*COMMAND, "decode", "-"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as process:  # noqa: S603 (this package)
        assert process.stdin is not None
        for start in range(0, len(body), 50):
            process.stdin.write(body[start : start + 50])
            process.stdin.flush()
            time.sleep(pause)
    report_status(process.returncode, status)


def report_status(ended: int, expected: int) -> None:
    """Show the exit status of a command."""
    style = "green" if ended == 0 else "red"
    console.print(Text.assemble("exit status ", (str(ended), f"bold {style}")))
    if ended != expected:
        sys.exit(f"demo: the command ended with {ended}, not with {expected}")


def main() -> None:
    """Show the main job, step by step."""
    headline(
        1,
        "Events, while they arrive",
        "A stream of the Anthropic dialect comes through a pipe in pieces of 50 bytes.",
    )
    run_live(STREAMS / "anthropic.sse", status=0)

    headline(
        2,
        "The assembled turn",
        "Another provider, another wire, the same vocabulary: a Chat Completions stream whose tool "
        "call came in nine pieces.",
    )
    run("decode", "examples/streams/openai-chat.sse", "--format", "message", status=0)

    headline(
        3,
        "A stream that was cut",
        "The connection broke inside the arguments of a tool call. Nothing pretends to be whole.",
    )
    run("decode", "examples/streams/truncated.sse", "--format", "message", status=1)

    headline(4, "A provider that gave up", "The error came in mid-stream, behind the status 200.")
    run("decode", "examples/streams/overloaded.sse", status=1)

    headline(5, "Try next", "All of it works on your own recordings as well.")
    for command, purpose in (
        (".venv/bin/turntape decode --summary examples/streams", "many streams in one table"),
        (".venv/bin/turntape decode examples/streams/imitator.sse -f jsonl", "for other programs"),
        (".venv/bin/turntape decode --help", "all options, and what the exit status means"),
        ("make test", "run all tests"),
    ):
        console.print(Text.assemble(("$ ", "green"), (command, "bold")), soft_wrap=True)
        console.print(Text(f"    {purpose}", style="dim"))
    console.print()
    console.print("In Python, three lines do it; README.md goes on from here:")
    console.print()
    console.print(
        Text(
            "  import turntape\n"
            '  body = open("examples/streams/openai-chat.sse", "rb").read()\n'
            '  print(turntape.decode_message(body, "openai-chat").content)',
            style="cyan",
        )
    )


if __name__ == "__main__":
    main()
