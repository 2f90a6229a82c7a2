"""The tape: rows, and what reads, checks and stores them."""
