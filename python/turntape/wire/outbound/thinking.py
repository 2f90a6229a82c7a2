"""Asking for thinking by a budget of tokens, which models of several wires take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from turntape.wire.outbound.parameters import Parameters

__all__ = ["UNSIGNED_ROUND", "budget_for", "claude_thinking_off"]

UNSIGNED_ROUND: Final = "the last round of calls has no signed thinking to go on from"
"""Why a Claude model is told not to think although a budget is given."""


def budget_for(parameters: Parameters, *, limit: int | None) -> int | None:
    """The budget of thinking for a model that takes budgets, whatever was asked for.

    Args:
        parameters: The parameters; a budget that is another than what was asked for is noted there.
        limit: What the budget must be less than; None for nothing.

    Returns:
        The budget; 0 where thinking is switched off by one; None where none fits, noted.
    """
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return None
    takes, notes = parameters.target.capabilities, parameters.notes
    if reasoning.effort is not None:
        budget = takes.budget_of_effort(reasoning.effort, below=limit)
        if budget is None:
            parameters.drop("reasoning", "max_tokens leaves no room for thinking")
        elif budget or reasoning.effort != "none":
            notes.add("effort_mapped", None, f"{reasoning.effort!r} is a budget of {budget} tokens")
        return budget
    asked = reasoning.budget_tokens
    if asked is None or takes.budget_range is None:
        return asked
    if asked == 0 and takes.thinking_off == "budget":
        return 0
    least, most = takes.budget_range
    if limit is not None:
        most = min(most, limit - 1)
    if most < least:
        parameters.drop("reasoning", f"max_tokens leaves no room for {least} tokens of thinking")
        return None
    budget = min(max(asked, least), most)
    if budget != asked:
        notes.add("effort_mapped", None, f"a budget of {asked} tokens is sent as {budget}")
    return budget


def claude_thinking_off(parameters: Parameters) -> dict[str, Any] | None:
    """How a Claude model is told not to think; None where it does not, or cannot be told, noted."""
    takes = parameters.target.capabilities
    if takes.thinking_off is None:
        if takes.thinking:
            parameters.drop("reasoning", "the model's thinking cannot be switched off")
        return None
    if takes.thinking_off == "between_tools":
        parameters.notes.add("effort_mapped", None, "the model goes on thinking between calls")
        return {"type": "between_tools"}
    return {"type": "disabled"}
