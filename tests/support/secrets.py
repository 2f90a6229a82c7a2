"""What each rule of the default pack finds, and what it must leave alone.

Every secret is made up, and put together here from pieces: written out it would set off every scanner that
looks at this repository.
"""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "-_"
BASE64 = ALNUM + "+/"


def run(length: int, alphabet: str = ALNUM, seed: int = 0) -> str:
    """Characters that look random and are the same every time; the last one is no punctuation."""
    source = random.Random(f"{length} {alphabet} {seed}")
    return "".join(source.choices(alphabet, k=length - 2)) + "a7"


@dataclass(frozen=True)
class Example:
    """A text with one secret in it."""

    before: str
    secret: str
    after: str = ""

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


@dataclass(frozen=True)
class Examples:
    """Of one rule: texts with its secrets, and texts that only look like it."""

    found: tuple[Example, ...]
    left: tuple[str, ...]


def _token(secret: str, *left: str, more: tuple[str, ...] = ()) -> Examples:
    """A token that stands for itself: at the start, in JSON, behind an escaped line end, in an assignment."""
    each = (secret, *more)
    found = [Example("", one, " .") for one in each]
    found += [Example('{"a": "', secret, '"}'), Example("export KEY=", secret, "\nnext")]
    return Examples(tuple(found), left)


def pem(kind: str, lines: int, end: str = "\n") -> str:
    name = "PRIVATE " + "KEY"
    body = end.join(run(64, BASE64, seed) for seed in range(lines))
    return f"-----BEGIN {kind}{name}-----{end}{body}{end}-----END {kind}{name}-----"


def jwt() -> str:
    return f"ey{'J'}{run(30, URL)}.ey{'J'}{run(60, URL)}.{run(43, URL)}"


def _forms() -> dict[str, Examples]:
    opening = "-----BEGIN PRIVATE " + "KEY-----"
    cut = pem("RSA ", 6)[:300]
    encrypted = pem("RSA ", 6).replace(
        "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1
    )
    basic = run(24, BASE64)
    bearer = run(40, URL)
    return {
        "private-key": Examples(
            (
                Example("a\n", pem("", 4), "\nb"),
                Example("", pem("RSA ", 20)),
                Example("", pem("OPENSSH ", 30), "\n"),
                Example('{"key": "', pem("EC ", 4, "\\n"), '\\n"}'),
                Example("x = ", cut, ""),
                Example("", encrypted, " done."),
                Example("> ", pem("", 3).replace("\n", "\n> "), "\n> bye"),
            ),
            (
                f"a file that starts with {opening} holds a key",
                f"grep -l '{opening}' *.pem",
                "-----BEGIN PUBLIC KEY-----\n" + run(64, BASE64) + "\n-----END PUBLIC KEY-----",
                "-----BEGIN CERTIFICATE-----\n" + run(64, BASE64) + "\n-----END CERTIFICATE-----",
            ),
        ),
        "age-key": _token(
            "AGE-SECRET-" + "KEY-1" + run(58, "023456789ACDEFGHJKLMNPQRSTUVWXYZ").upper()
        ),
        "jwt": _token(
            jwt(),
            "ey" + "J is how base64 of a JSON object starts",
            f"ey{'J'}{run(400, BASE64)}",
            f"ey{'J'}abc.def.ghi",
            more=(f"ey{'J'}{run(30, URL)}..{run(16, URL)}.{run(80, URL)}.{run(22, URL)}",),
        ),
        "url-password": Examples(
            (
                Example(
                    "postgres://app:", "correct-horse9", "@db.internal:5432/app?sslmode=require"
                ),
                Example("amqp://guest:", "s3cr3t%2Fpart", "@[::1]:5672/"),
                Example("redis://:", "hunter2", "@cache:6379/0"),
                Example("git clone https://bot:", "x9y8z7", "@git.example.com/a/b.git"),
                Example('"mongodb+srv://u:', "p:w9", '@c.example.net"'),
            ),
            (
                "postgres://app:${DB_PASSWORD}@db/app",
                "postgres://app:<password>@db/app",
                "postgres://app:{{ password }}@db/app",
                "postgres://app:****@db/app",
                "postgres://app@db:5432/app",
                "https://example.com:8080/@scope/name",
                "see http://a.example/b: mail c@example.org",
                "ssh://git@example.com:22/a",
            ),
        ),
        "authorization-header": Examples(
            (
                Example("Authorization: Bearer ", bearer, "\r\nHost: a"),
                Example('{"authorization": "Basic ', basic, '"}'),
                Example("-H 'Authorization: token ", bearer, "'"),
                Example('{\\"Authorization\\":\\"Bearer ', bearer, '\\"}'),
                Example("proxy-authorization=Bearer ", bearer, ""),
            ),
            (
                "Authorization: Bearer $TOKEN",
                "Authorization: Bearer <token>",
                "the Authorization header carries a bearer token",
                "Authorization: Digest username",
            ),
        ),
        "key-header": Examples(
            (
                Example("x-api-key: ", run(32), "\n"),
                Example('"X-Goog-Api-Key":"', run(39), '"'),
                Example("PRIVATE-TOKEN: ", run(20), ""),
            ),
            (
                "x-api-key: ${API_KEY}",
                "x-api-key: your-key-goes-right-here",
                "x-api-key: 1111111111111111",
                "send an x-api-key header",
            ),
        ),
        "assigned-secret": Examples(
            (
                Example("API_KEY=", run(24), "\n"),
                Example('"client_secret": "', run(32), '",'),
                Example("password = '", "Tr0ub4dor&3xyz", "'"),
                Example('{\\"access_token\\": \\"', run(40), '\\"}'),
                Example("db_passwd := ", run(16), ";"),
            ),
            (
                "password = getpass()",
                "access_token: str | None = None",
                "api_key=os.environ['API_KEY_2']",
                "password: ${DB_PASSWORD_1}",
                "password: short1",
                "the password is checked by validate_password_2",
                "access_token = refresh_access_token_from_server",
                "api_key: example-key-12345-abcde",
                "max_tokens: 123456789012345",
            ),
        ),
    }


def _clouds() -> dict[str, Examples]:
    secret = run(40, BASE64)
    return {
        "aws-access-key-id": Examples(
            (
                Example("", "AK" + "IA" + "Q3EGRVZ7K2M5T4XW", " end"),
                Example('"id":"', "AS" + "IA" + "Q3EGRVZ7K2M5T4XW", '"'),
                Example("a\\n", "AK" + "IA" + "Q3EGRVZ7K2M5T4XW", "\\nb"),
            ),
            (
                "AK" + "IAIOSFODNN7EXAMPLE",
                "AK" + "IAAAAAAAAAAAAAAAAAA",
                "xAK" + "IAQ3EGRVZ7K2M5T4XW",
                "AK" + "IAQ3EGRVZ7K2M5T4XWQQ",
                "ASIA-PACIFIC-REGION",
            ),
        ),
        "aws-secret-key": Examples(
            (
                Example("aws_secret_access_key = ", secret, "\n"),
                Example('"SecretAccessKey": "', secret, '"'),
                Example("AWS_SECRET_ACCESS_KEY=", secret, ""),
            ),
            (
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "aws_secret_access_key = " + "0" * 40,
                "aws_secret_access_key = " + run(64, HEX) + run(8, HEX),
                secret,
            ),
        ),
        "aws-session-token": Examples(
            (
                Example("aws_session_token=", run(300, BASE64), "\n"),
                Example('"X-Amz-Security-Token":"', run(120, BASE64), '"'),
            ),
            ("aws_session_token=$AWS_SESSION_TOKEN", "session_token: short"),
        ),
        "bedrock-key": _token(
            "AB" + "SK" + run(120, BASE64),
            "ABSK",
            more=("bedrock-api-" + "key-" + run(80, BASE64),),
        ),
        "azure-storage-key": Examples(
            (
                Example(
                    "AccountName=a;AccountKey=", run(86, BASE64) + "==", ";EndpointSuffix=core"
                ),
                Example("SharedAccessKey=", run(43, BASE64) + "=", ""),
            ),
            ("AccountKey=<key>", "AccountKey="),
        ),
        "azure-sas-signature": Examples(
            (Example("https://a.blob.example/c?sv=2024&sig=", run(43, ALNUM) + "%3D", "&se=1"),),
            ("?sig=abc", "design=" + run(43) + "%3D"),
        ),
        "google-oauth": _token(
            "ya2" + "9." + run(120, URL), "ya29.short", more=("GOC" + "SPX-" + run(28, URL),)
        ),
        "google-api-key": _token(
            "AI" + "za" + run(35, URL), "AI" + "za" + run(60, URL), "AIza", "AI" + "za" + "A" * 35
        ),
        "digitalocean-token": _token(
            "do" + "p_v1_" + run(64, HEX), "dop_v1_", "loop_v1_" + run(64, HEX)
        ),
        "databricks-token": _token("da" + "pi" + run(32, HEX), "dapi", "dapi" + run(40, HEX)),
        "vault-token": _token("hv" + "s." + run(90, URL), "hvs.short"),
        "terraform-token": _token(run(14) + ".atlas" + "v1." + run(67, URL), "x.atlasv1.y"),
        "supabase-key": _token(
            "sb" + "p_" + run(40, HEX), "sbp_1", more=("sb_" + "secret_" + run(32, URL),)
        ),
    }


def _services() -> dict[str, Examples]:
    return {
        "github-token": _token(
            "gh" + "p_" + run(36),
            "ghp_short",
            more=("gh" + "s_" + run(80), "github_" + "pat_" + run(22) + "_" + run(59)),
        ),
        "gitlab-token": _token(
            "gl" + "pat-" + run(20, URL),
            "glpat-xxxxxxxxxxxxxxxxxxxx",
            "glass-" + run(20),
            more=(
                "gl" + "pat-" + run(27, URL) + ".01." + run(9, LOWER),
                "gl" + "rt-" + run(20, URL),
            ),
        ),
        "slack-token": _token(
            "xo" + "xb-" + "1234567890-1234567890-" + run(24),
            "xoxb-your-bot-token-goes-here",
            "xoxb-",
            more=("xap" + "p-1-A012BCD3E-1234567890-" + run(64, HEX),),
        ),
        "slack-webhook": Examples(
            (Example("https://hooks.slack.com/services/", f"T{run(9)}/B{run(9)}/{run(24)}", " x"),),
            ("https://hooks.slack.com/services/T000/B000/XXX",),
        ),
        "discord-webhook": Examples(
            (Example("https://discord.com/api/webhooks/123456789012345678/", run(68, URL), ""),),
            ("https://discord.com/api/webhooks/1/x",),
        ),
        "telegram-bot-token": Examples(
            (
                Example("", "123456789:A" + "A" + run(33, URL), " x"),
                Example(
                    "https://api.telegram.org/bot", "123456789:A" + "A" + run(33, URL), "/getMe"
                ),
            ),
            ("12:34:AA", "123456789:AA" + run(60, URL)),
        ),
        "stripe-key": _token(
            "sk" + "_live_" + run(24),
            "sk_live_short",
            more=("rk" + "_test_" + run(99), "whs" + "ec_" + run(32)),
        ),
        "shopify-token": _token("shp" + "at_" + run(32, HEX), "shpat_1"),
        "sendgrid-key": _token("S" + "G." + run(22, URL) + "." + run(43, URL), "SG.a.b"),
        "mailgun-key": _token(
            "ke" + "y-" + run(32, HEX), "key-" + run(33, HEX), "monkey-" + run(32, HEX)
        ),
        "twilio-key": _token("S" + "K" + run(32, HEX), "SK" + "0" * 32, "TASK" + run(32, HEX)),
        "npm-token": _token("np" + "m_" + run(36), "npm_config_registry"),
        "pypi-token": _token("pyp" + "i-AgE" + run(150, URL), "pypi-AgE"),
        "rubygems-key": _token("ruby" + "gems_" + run(48, HEX), "rubygems_version"),
        "docker-token": _token("dc" + "kr_pat_" + run(27, URL), "dckr_pat_x"),
        "linear-key": _token("lin_" + "api_" + run(40), "lin_api_x"),
        "notion-token": _token("nt" + "n_" + "12345678901" + run(35), "ntn_123"),
        "grafana-token": _token("gl" + "sa_" + run(32) + "_" + run(8, HEX), "glsa_x"),
        "postman-key": _token("PM" + "AK-" + run(24, HEX) + "-" + run(34, HEX), "PMAK-1"),
        "atlassian-token": _token("AT" + "ATT3" + run(186, URL) + "=0A1B2C3D", "ATATT3x"),
    }


def _models() -> dict[str, Examples]:
    return {
        "anthropic-key": _token(
            "sk-" + "ant-api03-" + run(95, URL),
            "sk-ant-api03-...",
            more=("sk-" + "ant-oat01-" + run(90, URL),),
        ),
        "openai-key": _token(
            "sk-" + "proj-" + run(120, URL),
            "sk-proj-...",
            more=("sk-" + "svcacct-" + run(100, URL), "sk-" + run(20) + "T3Blb" + "kFJ" + run(20)),
        ),
        "openrouter-key": _token("sk-" + "or-v1-" + run(64, HEX), "sk-or-v1-x"),
        "sk-key": _token(
            "sk" + "-" + run(48),
            "sk-" + "x" * 40,
            "task-" + run(40),
            "sk-learn",
            more=("sk" + "-" + run(32, HEX),),
        ),
        "xai-key": _token("xa" + "i-" + run(80), "xai-grok-3"),
        "groq-key": _token("gs" + "k_" + run(52), "gsk_x"),
        "perplexity-key": _token("pp" + "lx-" + run(48), "pplx-70b-online"),
        "cerebras-key": _token("cs" + "k-" + run(48, LOWER), "csk-x"),
        "nvidia-key": _token("nv" + "api-" + run(64, URL), "nvapi-x"),
        "hugging-face-token": _token("h" + "f_" + run(34), "hf_hub_download", "hf_" + "x" * 34),
        "replicate-token": _token("r" + "8_" + run(37), "r8_x"),
        "tavily-key": _token("tv" + "ly-" + run(32), "tvly-x", more=("tv" + "ly-dev-" + run(32),)),
        "langsmith-key": _token("lsv" + "2_pt_" + run(32, HEX) + "_" + run(10, HEX), "lsv2_pt_x"),
    }


def examples() -> dict[str, Examples]:
    """The examples of every rule, by its id."""
    return _models() | _clouds() | _services() | _forms()
