"""Recorded turns, served again at the providers' own paths (needs the extra ``serve``)."""
