"""Replay: envelopes, image markers, the native dialect."""
