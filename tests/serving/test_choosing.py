"""Which turn a request gets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.histories import histories

import turntape
from turntape import Message, ModelRequest, Text, Thinking, ToolResult, ToolUse
from turntape.serving.library import TurnLibrary
from turntape.serving.matching import latest, whole
from turntape.serving.refusals import Refusal
from turntape.serving.turns import turn_of

ANY = ModelRequest("m", [Message.user("Hello?")])


def turns(*names, **asked):
    made = [turn_of(name, name) for name in names]
    return made + [replace(turn_of(name, name), asked=tuple(said)) for name, said in asked.items()]


def request(*messages):
    return ModelRequest("m", messages)


def chosen(library, request, count=1):
    return [library.choose(request).name for _ in range(count)]


def test_one_after_the_other():
    library = TurnLibrary(turns("a", "b"))
    assert library.unserved() == ["a", "b"]
    assert chosen(library, ANY, 2) == ["a", "b"]
    assert library.unserved() == []
    with pytest.raises(Refusal, match="no turn is left: all 2 were served"):
        library.choose(ANY)
    library.add(turn_of("c", "c"))
    assert chosen(library, ANY) == ["c"]


def test_from_the_beginning_again():
    assert chosen(TurnLibrary(turns("a", "b"), loop=True), ANY, 5) == ["a", "b", "a", "b", "a"]


def test_nothing_to_serve():
    for library in (TurnLibrary(), TurnLibrary(loop=True)):
        with pytest.raises(Refusal, match="there is no turn to serve"):
            library.choose(ANY)


def test_by_name():
    library = TurnLibrary(turns("a", "b"))
    assert library.choose(ANY, "b").name == "b"
    # A name leaves the order as it is.
    assert chosen(library, ANY, 2) == ["a", "b"]
    with pytest.raises(Refusal, match="there is no turn 'c': there are a, b"):
        library.choose(ANY, "c")


def test_no_two_have_one_name():
    with pytest.raises(ValueError, match="there is a turn 'a' already"):
        TurnLibrary(turns("a", "a"))


def test_by_a_condition_before_the_order():
    library = TurnLibrary(turns("a", "b"))
    library.add(replace(turn_of("x", "x"), condition=lambda request: request.model == "other"))
    library.add(replace(turn_of("y", "y"), condition=lambda request: request.model == "other"))
    other = ModelRequest("other", [Message.user("Hello?")])
    assert chosen(library, other, 3) == ["x", "y", "x"]
    assert chosen(library, ANY, 2) == ["a", "b"]


def test_by_what_was_asked():
    ask, look = Message.user("What is there?"), Message.assistant([ToolUse("c1", "ls", "{}")])
    found = Message.tool_result("c1", "a.txt")
    library = TurnLibrary(turns("none", first=[ask], second=[ask, look, found]), choice="content")
    # Another id, other white space, a system text, thoughts: the same question.
    again = Message.assistant([Thinking("Hm."), ToolUse("other", "ls", "")])
    result = Message.user([ToolResult("other", (Text("a.txt\n"),), is_error=True)])
    assert chosen(library, request(Message.system("Be brief."), ask)) == ["first"]
    assert chosen(library, request(ask, again, result)) == ["second"]
    assert chosen(library, request(Message.user(" What is there? "))) == ["first"]
    with pytest.raises(Refusal, match="of 3 turns 2 have a recorded request, and none"):
        library.choose(request(Message.user("Who is there?")))


def test_the_same_question_after_another_history():
    ask, hello = Message.user("And now?"), Message.user("Hello?")
    one = [hello, Message.assistant("One."), ask]
    two = [hello, Message.assistant("Two."), ask]
    library = TurnLibrary(turns(one=one, two=two), choice="content")
    assert chosen(library, request(*two), 2) == ["two", "two"]
    assert chosen(library, request(*one)) == ["one"]
    # Neither history: those that were asked the same take turns.
    assert chosen(library, request(ask), 3) == ["one", "one", "two"]


@given(histories(), st.sampled_from(["anthropic", "openai-chat", "openai-responses", "gemini"]))
def test_a_wire_changes_nothing_of_what_was_asked(history, dialect):
    model = {"anthropic": "claude-sonnet-5", "gemini": "gemini-3-pro"}.get(dialect, "gpt-5.2")
    asked = ModelRequest(model, history, max_tokens=9)
    try:
        built = turntape.build_request(asked, dialect)
    except turntape.InvalidRequest:
        return
    # What the wire cannot say is another question: media that move, results that get a prefix, ...
    if built.notes:
        return
    read = turntape.from_request(built.to_json(), dialect, model=model)
    assert latest(read.messages) == latest(history)
    assert whole(read.messages) == whole(history)


def test_many_threads_get_each_turn_once():
    names = [str(number) for number in range(500)]
    library = TurnLibrary(turns(*names))
    with ThreadPoolExecutor(8) as pool:
        got = [turn.name for turn in pool.map(library.choose, [ANY] * 500)]
    assert sorted(got) == sorted(names)
