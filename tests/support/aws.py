"""Writes messages of the AWS event stream, the framing of Bedrock."""

from __future__ import annotations

import struct
from zlib import crc32


def aws_message(kind: str, payload: bytes, message_type: str = "event") -> bytes:
    """Frame a payload as a message; ``kind`` is its event type, or exception type."""
    headers = b"".join(
        struct.pack("!B", len(name))
        + name.encode()
        + struct.pack("!BH", 7, len(value))
        + value.encode()
        for name, value in (
            (f":{message_type}-type", kind),
            (":content-type", "application/json"),
            (":message-type", message_type),
        )
    )
    # Two lengths and their checksum, the headers, the payload, and the checksum of all that.
    lengths = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = lengths + struct.pack("!I", crc32(lengths)) + headers + payload
    return message + struct.pack("!I", crc32(message))
