"""Artifacts: redaction, paths, safe writing, pointers."""
