r"""The rules that are used where none are given: few, and each for what cannot well be anything else.

Written from the formats that the issuers document. Where a token may be longer than it is today the rule
takes all of it, so that no tail is left behind; where its prefix could occur inside base64 it must stand
alone.
"""

from __future__ import annotations

from functools import cache

from turntape.artifacts.rules import Allowlist, RedactionRule

__all__ = ["default_rules"]

# Between a name and its value: quotes, also escaped ones, a colon or an equals sign, blanks.
_ASSIGNED = r"""["'\\]{0,3}[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4}["'\\]{0,3}"""

# What stands where a secret would: variables, templates, stars, what was redacted before.
_PLACEHOLDER = Allowlist(
    regexes=(
        r"^\$\{?[A-Za-z_][A-Za-z0-9_.:-]*\}?$",
        r"^\$\(",
        r"^\{\{?[^{}]*\}?\}$",
        r"^<[^<>]*>$",
        r"^%[A-Za-z0-9_(]+[)%]?s?$",
        r"^[*x.X_-]+$",
        r"^\[REDACTED",
    ),
    description="what stands where a secret would",
)

_NO_DIGIT = Allowlist(regexes=(r"^[^0-9]*$",), description="a word, not a key")
_EXAMPLE = Allowlist(stopwords=("example",), description="the keys of manuals")


def _rule(
    id_: str,
    description: str,
    regex: str,
    *keywords: str,
    entropy: float = 0.0,
    allow: tuple[Allowlist, ...] = (),
) -> RedactionRule:
    return RedactionRule(id_, regex, description, 0, entropy, keywords, allow)


def _models() -> tuple[RedactionRule, ...]:
    return (
        _rule(
            "anthropic-key",
            "Anthropic: API, admin and OAuth keys",
            r"sk-ant-[a-z]{2,12}[0-9]{2}-[A-Za-z0-9_-]{32,256}",
            "sk-ant-",
        ),
        _rule(
            "openai-key",
            "OpenAI: project, service account, admin and older keys",
            r"\bsk-(?:(?:proj|svcacct|admin|service)-[A-Za-z0-9_-]{32,256}"
            r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,32})",
            "sk-proj-",
            "sk-svcacct-",
            "sk-admin-",
            "sk-service-",
            "t3blbkfj",
        ),
        _rule("openrouter-key", "OpenRouter", r"sk-or-v1-[0-9a-f]{64}", "sk-or-v1-"),
        _rule(
            "sk-key",
            "Keys of many model providers and proxies: sk- and a long run",
            r"(?:\b|\\[nrt])(sk-[A-Za-z0-9]{32,128})",
            "sk-",
            entropy=3.0,
        ),
        _rule(
            "google-api-key",
            "Google: Gemini, Maps, Firebase",
            r"(?:\b|\\[nrt])(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)",
            "aiza",
            entropy=3.0,
        ),
        _rule("xai-key", "xAI", r"\bxai-[A-Za-z0-9]{64,128}", "xai-"),
        _rule("groq-key", "Groq", r"\bgsk_[A-Za-z0-9]{40,80}", "gsk_"),
        _rule("perplexity-key", "Perplexity", r"\bpplx-[A-Za-z0-9]{40,64}", "pplx-"),
        _rule("cerebras-key", "Cerebras", r"\bcsk-[a-z0-9]{40,64}", "csk-"),
        _rule("nvidia-key", "NVIDIA", r"\bnvapi-[A-Za-z0-9_-]{60,80}", "nvapi-"),
        _rule(
            "hugging-face-token",
            "Hugging Face: users and organisations",
            r"\b(?:hf|api_org)_[A-Za-z0-9]{34,64}",
            "hf_",
            "api_org_",
            entropy=3.0,
        ),
        _rule("replicate-token", "Replicate", r"\br8_[A-Za-z0-9]{37,48}", "r8_"),
        _rule("tavily-key", "Tavily", r"\btvly-(?:dev-|prod-)?[A-Za-z0-9-]{30,64}", "tvly-"),
        _rule(
            "langsmith-key",
            "LangSmith: personal and service keys",
            r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
            "lsv2_",
        ),
    )


def _clouds() -> tuple[RedactionRule, ...]:
    return (
        _rule(
            "aws-access-key-id",
            "Amazon Web Services: ids of long-lived and of session keys",
            r"(?:\b|\\[nrt])((?:AKIA|ASIA)[A-Z2-7]{16})\b",
            "akia",
            "asia",
            entropy=2.5,
            allow=(_EXAMPLE,),
        ),
        _rule(
            "aws-secret-key",
            "Amazon Web Services: the secret beside the id",
            rf"(?i)(?:aws_?secret(?:_?access)?_?key|secret_?access_?key|aws_?secret){_ASSIGNED}"
            r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
            "aws_secret",
            "awssecret",
            "secret_access_key",
            "secretaccesskey",
            entropy=3.5,
            allow=(_EXAMPLE,),
        ),
        _rule(
            "aws-session-token",
            "Amazon Web Services: session tokens",
            rf"(?i)(?:aws_?session_?token|aws_?security_?token|x-amz-security-token){_ASSIGNED}"
            r"([A-Za-z0-9/+%]{80,}={0,2})",
            "session_token",
            "sessiontoken",
            "security_token",
            "security-token",
        ),
        _rule(
            "bedrock-key",
            "Amazon Bedrock: long-lived and short-lived API keys",
            r"\b(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/_-]{40,}={0,2})",
            "absk",
            "bedrock-api-key-",
        ),
        _rule(
            "azure-storage-key",
            "Azure: account keys in connection strings",
            r"(?i)(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{42,86}={1,2})",
            "accountkey=",
            "sharedaccesskey=",
        ),
        _rule(
            "azure-sas-signature",
            "Azure: signatures of shared access URLs",
            r"[?&;]sig=([A-Za-z0-9%+/]{40,100}(?:%3[Dd]|=))",
            "sig=",
        ),
        _rule(
            "google-oauth",
            "Google: access tokens and client secrets",
            r"\b(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28,64})",
            "ya29.",
            "gocspx-",
        ),
        _rule(
            "digitalocean-token",
            "DigitalOcean: personal, OAuth and refresh tokens",
            r"\bdo[oprt]_v1_[0-9a-f]{64}",
            "_v1_",
        ),
        _rule("databricks-token", "Databricks", r"\bdapi[0-9a-f]{32}(?:-[0-9])?\b", "dapi"),
        _rule(
            "vault-token",
            "HashiCorp Vault: service, batch and recovery tokens",
            r"\bhv[bsr]\.[A-Za-z0-9_-]{24,512}",
            "hvb.",
            "hvs.",
            "hvr.",
        ),
        _rule(
            "terraform-token",
            "Terraform Cloud",
            r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,128}",
            ".atlasv1.",
        ),
        _rule(
            "supabase-key",
            "Supabase: secret and access keys",
            r"\b(?:sb_secret_[A-Za-z0-9_-]{20,64}|sbp_[0-9a-f]{40})",
            "sb_secret_",
            "sbp_",
        ),
    )


def _services() -> tuple[RedactionRule, ...]:
    return (
        _rule(
            "github-token",
            "GitHub: personal, OAuth, app and refresh tokens",
            r"(?:gh[oprsu]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})",
            "gho_",
            "ghp_",
            "ghr_",
            "ghs_",
            "ghu_",
            "github_pat_",
        ),
        _rule(
            "gitlab-token",
            "GitLab: personal, deploy, runner, trigger and other tokens",
            r"\bgl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_-]{20,255}"
            r"(?:\.[A-Za-z0-9_-]{2,64}){0,3}",
            "gl",
            entropy=3.0,
        ),
        _rule(
            "slack-token",
            "Slack: bot, user, refresh and app tokens",
            r"\b(?:xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,255}"
            r"|xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[0-9a-f]{32,128})",
            "xox",
            "xapp-",
            allow=(_NO_DIGIT,),
        ),
        _rule(
            "slack-webhook",
            "Slack: what an incoming webhook is called by",
            r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/+_-]{30,128})",
            "hooks.slack.com/",
        ),
        _rule(
            "discord-webhook",
            "Discord: what a webhook is called by",
            r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{60,128})",
            "/api/webhooks/",
        ),
        _rule(
            "telegram-bot-token",
            "Telegram",
            r"(?:\b|bot)([0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)",
            ":aa",
        ),
        _rule(
            "stripe-key",
            "Stripe: secret and restricted keys, webhook secrets",
            r"\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/]{32,128}={0,2})",
            "k_live_",
            "k_test_",
            "whsec_",
        ),
        _rule(
            "shopify-token",
            "Shopify: access tokens and shared secrets",
            r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,64}",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
        ),
        _rule(
            "sendgrid-key",
            "SendGrid",
            r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}",
            "sg.",
        ),
        _rule("mailgun-key", "Mailgun", r"\bkey-[0-9a-f]{32}\b", "key-"),
        _rule("twilio-key", "Twilio: API keys", r"\bSK[0-9a-f]{32}\b", "sk", entropy=3.0),
        _rule("npm-token", "npm", r"\bnpm_[A-Za-z0-9]{36,64}", "npm_"),
        _rule("pypi-token", "PyPI and TestPyPI", r"\bpypi-AgE[A-Za-z0-9_-]{50,}", "pypi-age"),
        _rule("rubygems-key", "RubyGems", r"\brubygems_[0-9a-f]{48}", "rubygems_"),
        _rule(
            "docker-token",
            "Docker Hub: personal and organisation tokens",
            r"\bdckr_[op]at_[A-Za-z0-9_-]{27,64}",
            "dckr_",
        ),
        _rule("linear-key", "Linear", r"\blin_api_[A-Za-z0-9]{40,64}", "lin_api_"),
        _rule("notion-token", "Notion", r"\bntn_[0-9]{11}[A-Za-z0-9]{35,64}", "ntn_"),
        _rule("grafana-token", "Grafana", r"\bglsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}", "glsa_"),
        _rule("postman-key", "Postman", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
        _rule(
            "atlassian-token",
            "Atlassian: API tokens",
            r"\bATATT3[A-Za-z0-9_-]{180,}(?:=[0-9A-F]{8})?",
            "atatt3",
        ),
    )


# A private key is a key from its first line on, even if the last one was cut off.
_BASE64_LINES = (
    r"(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,100}(?:[\r\n]|\\[nr])+)*"
    r"(?:[\s\"'+>|#,]|\\[nr])*[A-Za-z0-9+/]{32,}"
    r"(?:(?:[\s\"'+>|#,]|\\[nr])+[A-Za-z0-9+/=]{16,})*"
    # The line that it breaks off in.
    r"(?:(?:[\s\"'+>|#,]|\\[nr])+[A-Za-z0-9+/=]{1,15}$)?"
)


def _forms() -> tuple[RedactionRule, ...]:
    return (
        _rule(
            "private-key",
            "Private keys in PEM or OpenPGP armour, whole or cut off",
            r"-----BEGIN[ A-Z0-9]{0,40} PRIVATE KEY(?: BLOCK)?-----"
            r"""(?:(?:-?[A-Za-z0-9+/=\s\\"',:.()<>@|#])+?"""
            r"-----END[ A-Z0-9]{0,40} PRIVATE KEY(?: BLOCK)?-----"
            rf"|{_BASE64_LINES})",
            "private key",
        ),
        _rule(
            "age-key",
            "Secret keys of age",
            r"\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}",
            "age-secret-key-",
        ),
        _rule(
            "jwt",
            "JSON web tokens, signed or encrypted",
            r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
            r"|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
            "eyj",
        ),
        _rule(
            "url-password",
            "Passwords in URLs: databases, queues, proxies, repositories",
            r"""(?i)\b[a-z][a-z0-9+.-]{1,19}://[!$&-.0-9;=A-Z_a-z~%]{0,64}:"""
            r"""([!$&-.0-9:;=A-Z_a-z~%*+^{}()|[\]<>]{1,128})@[a-z0-9\[]""",
            "://",
            allow=(_PLACEHOLDER,),
        ),
        _rule(
            "authorization-header",
            "Credentials in Authorization headers",
            rf"(?i)\b(?:proxy-)?authorization{_ASSIGNED}(?:bearer|token|basic|apikey|bot)[ \t]{{1,4}}"
            r"([A-Za-z0-9._~+/-]{8,}={0,2})",
            "authorization",
            allow=(_PLACEHOLDER,),
        ),
        _rule(
            "key-header",
            "Credentials in headers of their own",
            r"(?i)\b(?:x-api-key|x-goog-api-key|x-auth-token|x-vault-token|private-token|api-key)"
            rf"{_ASSIGNED}([A-Za-z0-9._~+/-]{{16,256}}={{0,2}})",
            "api-key",
            "x-auth-token",
            "x-vault-token",
            "private-token",
            entropy=3.0,
            allow=(_PLACEHOLDER, _NO_DIGIT),
        ),
        _rule(
            "assigned-secret",
            "Keys, secrets, tokens and passwords that are assigned to a name that says so",
            r"(?i)(?:api_?key|secret_?key|client_?secret|app_?secret|signing_?secret|auth_?token"
            r"|access_?token|refresh_?token|bot_?token|private_?token|passw(?:or)?d|passphrase)"
            rf"{_ASSIGNED}([A-Za-z0-9!#$%&*+./=?@^_~-]{{12,256}})",
            "apikey",
            "api_key",
            "secret",
            "token",
            "passwd",
            "password",
            "passphrase",
            entropy=3.0,
            allow=(_PLACEHOLDER, _NO_DIGIT, _EXAMPLE),
        ),
    )


@cache
def default_rules() -> tuple[RedactionRule, ...]:
    """Give the rules that are used where none are given.

    Each finds what cannot well be anything else: keys of model providers and clouds, tokens of well-known
    services, private keys, web tokens, passwords in URLs, credentials in headers and in assignments.

    Returns:
        The rules. The list grows with versions; an id keeps its meaning.

    >>> "private-key" in {rule.id for rule in default_rules()}
    True
    """
    return _models() + _clouds() + _services() + _forms()
