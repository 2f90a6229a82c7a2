"""Requests out: from the message model to the body of each provider."""
