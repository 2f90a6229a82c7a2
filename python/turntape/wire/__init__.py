"""The wire: dialects, and how their streams reach a decoder."""
