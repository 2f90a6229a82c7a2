"""Artifacts: oversized results in files, and what the conversation keeps of them."""
