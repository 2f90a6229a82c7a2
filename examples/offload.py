"""An agent's loop with offloading: large results go into files, the model reads them by ranges, old ones go.

Run it with `python examples/offload.py`; it writes into a temporary folder.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import turntape

READ_TOOL = "read_artifact"
THRESHOLD = 4096


class Badges:
    """A redactor of the host's own: badge numbers are secret. `SecretRedactor` finds keys and tokens."""

    def redact(self, text: str, /) -> turntape.Redacted:
        """Take the badge numbers out."""
        scrubbed = text.replace("badge 7741", "badge [gone]")
        return turntape.Redacted(scrubbed, scrubbed != text)


def gauge_log(days: int) -> str:
    """What a tool of the host gives: a table that is too large."""
    lines = [
        f"day {day:04}: low tide at 06:{day % 60:02}, read by badge 7741" for day in range(days)
    ]
    return "\n".join(lines)


def run_tools(writer: turntape.ArtifactWriter) -> list[turntape.Message]:
    """Two rounds: the tool's result is offloaded, and the model reads on in the file."""
    result = turntape.ToolResult("c1", gauge_log(2000))
    shorter, artifacts = turntape.offload_tool_result(result, writer, THRESHOLD, READ_TOOL)
    history = [turntape.Message("user", (shorter,))]
    # The model calls the tool that the pointer names; the host answers with a range.
    chunk = writer.read(artifacts[0].relative_path, offset=60_000, limit=120)
    text, _ = turntape.offload_oversized_result(chunk, writer, 64, READ_TOOL)
    history.append(turntape.Message.tool_result("c2", text))
    return history


def main() -> None:
    """Show what is in the conversation and what is on the disk."""
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "run")
        policy = turntape.PathPolicy(state=[root / "outputs" / "state.json"])
        writer = turntape.ArtifactWriter(
            root, policy=policy, redactor=Badges(), agent_id="tide reader", task_id="t1"
        )
        for message in run_tools(writer):
            (block,) = message.content
            assert isinstance(block, turntape.ToolResult)
            print(str(block.content)[:300].rstrip(), end="\n\n")

        # Nothing leads out, whatever a model asks for.
        for path in ("../secrets.txt", "/etc/hostname", "outputs/state.json"):
            try:
                writer.read(path)
            except turntape.OffloadError as error:
                print(f"refused: {type(error).__name__}")

        turntape.note_artifact_handoff("consumed_by_parent", "tide reader", "t1", writer.written)
        report = turntape.prune(root, max_bytes=0, keep=())
        print(f"pruned {len(report.removed)} of {report.freed_bytes:,} bytes")


if __name__ == "__main__":
    main()
