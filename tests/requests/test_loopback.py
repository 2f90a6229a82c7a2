"""The second check of bodies: what arrives when the official clients send them is what was built.

The clients turn what they are given into their own types and these into JSON; a member that they rename,
drop or write otherwise would never arrive as it was built.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.support.building import body_of, built_for, long_integers
from tests.support.histories import histories
from tests.support.model_requests import MODELS, model_requests

from turntape import Dialect

KEY = "not a key"

A, C, R, G, B = Dialect

sent = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def anthropic_client(recorder):
    anthropic = pytest.importorskip("anthropic")
    with anthropic.Anthropic(base_url=recorder.url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def openai_client(recorder):
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{recorder.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def google_client(recorder):
    genai = pytest.importorskip("google.genai")
    # The client's own default is another version of the API by now; the bodies are the same.
    options = {"base_url": recorder.url, "api_version": "v1beta"}
    client = genai.Client(api_key=KEY, http_options=options)
    yield client
    client.close()


@pytest.fixture(scope="module")
def bedrock_client(recorder):
    session = pytest.importorskip("botocore.session").Session()
    config = pytest.importorskip("botocore.config").Config(retries={"total_max_attempts": 1})
    client = session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=recorder.url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=config,
    )
    yield client
    client.close()


def build(request, dialect, model=None):
    """Build a request that Python's own JSON writer can write."""
    built = built_for(request, dialect, model)
    # It is read as infinity, which the clients refuse to write.
    assume(b"e999" not in built.to_json())
    return built


def arrived(recorder, call, error):
    """Make a call, which the server refuses, and give what arrived."""
    recorder.requests.clear()
    with warnings.catch_warnings(), long_integers():
        # The clients advise against old models and old parameters.
        warnings.simplefilter("ignore")
        with pytest.raises(error):
            call()
    (request,) = recorder.requests
    return request


def check(request, built, same=lambda body: body):
    with long_integers():
        body = json.loads(request.body)
    assert request.path == built.path
    assert same(body) == same(body_of(built))
    for name, value in built.headers.items():
        assert request.headers[name.lower()] == value


@pytest.mark.parametrize("model", MODELS[A])
@sent
@given(model_requests(histories()))
def test_anthropic(recorder, anthropic_client, model, request_):
    anthropic = pytest.importorskip("anthropic")
    built = build(request_, A, model)
    is_beta = any(name.lower() == "anthropic-beta" for name in built.headers)
    client = anthropic_client.beta if is_beta else anthropic_client

    def call():
        client.messages.create(**built.body, extra_headers=built.headers, timeout=30)

    check(arrived(recorder, call, anthropic.APIStatusError), built)


@sent
@given(model_requests(histories()))
def test_openai_chat(recorder, openai_client, request_):
    openai = pytest.importorskip("openai")
    built = build(request_, C)

    def call():
        openai_client.chat.completions.create(**built.body, extra_headers=built.headers)

    check(arrived(recorder, call, openai.APIStatusError), built)


@sent
@given(model_requests(histories()))
def test_openai_responses(recorder, openai_client, request_):
    openai = pytest.importorskip("openai")
    built = build(request_, R)

    def call():
        openai_client.responses.create(**built.body, extra_headers=built.headers)

    check(arrived(recorder, call, openai.APIStatusError), built)


@sent
@given(model_requests(histories()))
def test_google(recorder, google_client, request_):
    errors = pytest.importorskip("google.genai.errors")
    types = pytest.importorskip("google.genai.types")
    built = build(request_, G)
    body = built.body
    models = google_client.models
    # The client takes the body's parts by other names: all but the conversation is its configuration.
    settings_: dict[str, Any] = {**body.get("generationConfig", {})}
    settings_ |= {name: body[name] for name in body.keys() - {"contents", "generationConfig"}}
    arguments = {
        "model": MODELS[G][0],
        "contents": [types.Content.model_validate(content) for content in body["contents"]],
        "config": types.GenerateContentConfig.model_validate(settings_),
    }

    def call():
        if request_.stream:
            list(models.generate_content_stream(**arguments))
        else:
            models.generate_content(**arguments)

    request = arrived(recorder, call, errors.APIError)
    check(request, built, in_one_spelling)


# What stands under these is the host's and the model's own.
FREE = {"args", "response", "parametersJsonSchema", "responseJsonSchema"}


def in_one_spelling(value):
    """Spell names and bytes in one way: Google's client writes some in the others that its wire takes."""
    if isinstance(value, list):
        return [in_one_spelling(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    spelled = {}
    for written, of in value.items():
        first, *more = written.split("_")
        name = first + "".join(map(str.capitalize, more))
        if name in {"data", "thoughtSignature"} and isinstance(of, str):
            spelled[name] = of.translate(str.maketrans("-_", "+/"))
        else:
            spelled[name] = of if name in FREE else in_one_spelling(of)
    return spelled


@sent
@given(model_requests(histories()))
def test_bedrock(recorder, bedrock_client, request_):
    exceptions = pytest.importorskip("botocore.exceptions")
    built = build(request_, B)
    call = bedrock_client.converse_stream if request_.stream else bedrock_client.converse
    request = arrived(recorder, lambda: call(**built.to_boto3()), exceptions.ClientError)
    check(request, built)
