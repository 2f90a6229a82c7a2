"""Keep a conversation on a tape that survives a crash.

    python examples/tape.py [TAPE]

It records a question and the bundled answer, with the call that it makes and its result. Then it leaves a
torn line behind, as a process does that is killed while it writes, reads all of it back, and mends the tape.
Without TAPE the file is one for the moment.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import turntape
from turntape import LosslessCodec, Message, TapeFault, TapeRow, TranscriptStore

BODY = Path(__file__).parent / "streams" / "openai-chat.sse"


def record(store: TranscriptStore) -> None:
    """Put the turns of a conversation on the tape."""
    turn = turntape.decode_message(BODY.read_bytes(), "openai-chat").to_message()
    [call] = [block for block in turn.content if isinstance(block, turntape.ToolUse)]
    history = [
        Message.user("Is there a ferry to Skerrow?"),
        turn,
        Message.tool_result(call.id, "At 14:10, from pier 2."),
    ]
    store.append_many(LosslessCodec().reconcile([], [], history))


def run(path: Path) -> None:
    """Record, crash, read, mend."""
    with TranscriptStore(path, fsync="always") as store:
        record(store)

    with path.open("ab") as file:
        file.write(b'{"role":"assistant","content":"There is one at te')

    with TranscriptStore(path) as store:
        # Whoever writes next ends the torn line first.
        store.append(turntape.TranscriptMessage.assistant("There is one at ten past two."))
        for entry in store.read():
            match entry:
                case TapeRow(line=line, row=row):
                    print(f"line {line}: {row.role}: {row.content}")
                case TapeFault(line=line, detail=detail):
                    print(f"line {line}: no row: {detail}")
                case _:
                    print(f"line {entry.line}: of a newer version")
        report = store.compact()
        print(f"{report.rows} rows kept, {report.rejected} line put aside")
        assert store.verify().ok


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as folder:
            run(Path(folder) / "tape.jsonl")
