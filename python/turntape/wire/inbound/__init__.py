"""Histories and requests of the wires, read back: one module a wire, and what they share."""
