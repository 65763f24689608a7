"""Errors of providers, in the forms that each reports them: kind of failure and message."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from biaswatch.shared.backoff import retry_after_s
from biaswatch.shared.foreign_text import on_one_line
from biaswatch.shared.llm.error_documents import (
    CODE_FIELDS,
    MAX_ERROR_PARTS,
    error_document,
    error_words,
    nested,
    objects_of,
    plain_code,
    provider_message,
    values_of,
)
from biaswatch.shared.llm.port import (
    TARGET_SAYS,
    UNKNOWN_TOKENS,
    CallFailed,
    Failure,
    Tokens,
    key_refused,
)
from biaswatch.shared.llm.replies import at, label_of

_STATUSES = {
    402: Failure.QUOTA,
    408: Failure.TIMEOUT,
    409: Failure.SERVER_ERROR,  # both SDKs treat a conflict as temporary
    429: Failure.RATE_LIMITED,
}
_FILTER_CODES = frozenset({
    "contentfilter", "contentfiltered", "contentfiltererror", "contentpolicyviolation",
    "contentpolicyviolationerror", "contentmoderation", "contentblocked", "moderationblocked",
    "responsibleaipolicyviolation", "datainspectionfailed", "promptblocked", "prohibitedcontent",
    "blocklist", "safety", "spii", "recitation", "imagesafety", "sensitive", "sensitivecontent",
    "guardrailintervened", "errortoxic", "contentviolation", "unsafecontent", "blocked",
})  # fmt: skip
"""Codes, types and finish reasons, without case and punctuation."""
_FILTER_WORDS = re.compile(
    r"content (management|filter\w*|policy|policies|moderation)\b.{0,80}(polic|block|flag|trigger"
    r"|violat|reject)|(block|flag|trigger|violat|reject|filter)\w*\b.{0,80}\bcontent (management|"
    r"filter|policy|policies|moderation)|flagged (as|for|by)|(usage|content|safety)"
    r" (polic(y|ies)|guidelines).{0,40}violat|violat\w+.{0,40}(usage|content|safety)"
    r" (polic|guideline)|inappropriate content|content exists risk|considered high risk"
    r"|prohibited content|(blocked|rejected|refused|stopped) (by|due to|because of|for).{0,40}"
    r"(safety|guardrail|moderation|policy)|guardrail.{0,30}(interven|violat|block|reject)"
    r"|moderation (failed|blocked|rejected)|rejected.{0,40}safety (system|filter|check)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA_CODES = frozenset({
    "insufficientquota", "insufficientcredits", "insufficientcredit", "insufficientbalance",
    "insufficientfunds", "exceededcurrentquotaerror", "billinghardlimitreached",
    "billingnotactive", "billingerror", "billinglimit", "creditlimit", "paymentrequired",
    "paymentrequirederror", "budgetexceeded", "arrearage", "outofcredits", "nocredits",
    "quotaexhausted", "creditbalancetoolow", "accountoverdue", "overdue",
})  # fmt: skip
_QUOTA_WORDS = re.compile(
    r"insufficient[_ ](\w+ ){0,3}(quota|credits?|balance|funds)|exceeded (your|the) current quota"
    r"|exceeded your (monthly |included |spending |usage )*(credit|quota|budget|spend)"
    r"|(credit|account|prepaid|wallet) balance|out of (\w+ )?credits?|no (more )?credits?\b"
    r"|not enough (credits?|balance|funds|quota)|(requires?|need) more credits"
    r"|(credits?|quota|balance) (is |are |has been |have been )*(used up|exhausted|depleted|spent"
    r"|too low|left: ?0)|budget has been exceeded|spend(ing)? limit|payment (is )?required"
    r"|overdue payment|billing (hard )?limit",
    re.IGNORECASE,
)
_BILLING_WORDS = re.compile(r"\bbilling\b|good standing|account is not active", re.IGNORECASE)
_RATE_WORDS = re.compile(
    r"rate[ _-]?limit (reached|exceeded)|too many requests|(requests|tokens)[ _-]per|per[ _-]?"
    r"(second|minute|min|hour)\b|(try|retry) again in|rate_limit_exceeded",
    re.IGNORECASE,
)
_FINISH_FIELDS = ("finishReason", "finish_reason", "stopReason", "stop_reason")
_LENGTHS = frozenset({
    "length", "maxtokens", "maxoutputtokens", "modellength", "maxlength", "tokenlimit",
    "modelcontextwindowexceeded", "maxcompletiontokens",
})  # fmt: skip


def failure_of_status(
    who: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    key: str | None,
    key_source: str,
) -> CallFailed:
    """Return the failure that an HTTP error status and its body report; `who` begins it."""
    document = error_document(body)
    why = _why(status, document)
    words = provider_message(document, key)
    if why is Failure.RATE_LIMITED:
        detail = f"{who} limits the rate of calls (HTTP {status})."
        return CallFailed(why, detail, retry_after_s=retry_after_s(headers))
    if why is Failure.KEY_REFUSED:
        refused = key_refused(status, key_source)
        more = f'{TARGET_SAYS}"{words}".' if words else ""
        return CallFailed(why, refused.detail + more)
    return CallFailed(why, _sentence(who, why, f" (HTTP {status})", words))


def failure_in_reply(document: Any, *, key: str | None, tokens: Tokens) -> CallFailed | None:
    """Return the failure that a reply with status 200 reports instead of an answer, if any."""
    if isinstance(document, list) and document:
        document = document[0]
    choice = at(document, "choices", 0)
    if reason := _blocked(document, choice):
        detail = f"The provider's content filter withheld the answer ({reason})."
        return CallFailed(Failure.CONTENT_FILTER, detail, tokens=tokens)
    error = at(document, "error") or at(choice, "error") or _error_itself(document)
    if not error or _has_text(choice):
        return None
    status = _status_in(error)
    why = _why(status or 400, {"error": error})
    if status is None and why is Failure.BAD_REQUEST:
        why = Failure.SERVER_ERROR  # what it means is unknown, and it may pass
    words = provider_message({"error": error}, key)
    return CallFailed(why, _sentence("The provider", why, "", words), tokens=tokens)


def failure_without_text(document: Any, *, key: str | None) -> CallFailed | None:
    """Return why a reply of any format has no text, where it reports an error or its end."""
    if failure := failure_in_reply(document, key=key, tokens=UNKNOWN_TOKENS):
        return failure
    ends = {finish_of(reason) for reason in values_of(document, _FINISH_FIELDS)}
    if "content_filter" in ends:
        detail = "The provider withheld the answer."
        return CallFailed(Failure.CONTENT_FILTER, detail, tokens=UNKNOWN_TOKENS)
    return cut_off(UNKNOWN_TOKENS) if "length" in ends else None


def finish_of(reason: Any) -> str | None:
    """Return why an answer ended; `content_filter` and `length` however a provider spells them."""
    plain = plain_code(reason)
    if plain in _FILTER_CODES or plain.startswith("contentfilter"):
        return "content_filter"
    return "length" if plain in _LENGTHS else label_of(reason)


def cut_off(tokens: Tokens) -> CallFailed:
    """Return the failure of an answer that ended at its limit of tokens before it had a text."""
    detail = "The limit of tokens was reached before the answer began."
    return CallFailed(Failure.TRUNCATED, detail, tokens=tokens)


def _sentence(who: str, why: Failure, status: str, words: str | None) -> str:
    reported = {
        Failure.QUOTA: f"{who}'s quota or credit is used up{status}",
        Failure.CONTENT_FILTER: f"{who}'s content filter withheld the answer{status}",
    }.get(why, f"{who} answered {status.strip(' ()') or 'with an error'}")
    return f'{reported}: "{words}".' if words else f"{reported}."


def _why(status: int, document: Any) -> Failure:
    """Return what an error means; its codes and words come before its status."""
    codes, words = set(_codes(document)), error_words(document)
    if status < 500:
        if codes & _FILTER_CODES or _filtered(document) or _FILTER_WORDS.search(words):
            return Failure.CONTENT_FILTER
        if _is_quota(status, codes, words, document):
            return Failure.QUOTA
    if status in {401, 403}:
        return Failure.KEY_REFUSED
    usual = Failure.SERVER_ERROR if status >= 500 else Failure.BAD_REQUEST
    return _STATUSES.get(status, usual)


def _is_quota(status: int, codes: set[str], words: str, document: Any) -> bool:
    if status == 402 or codes & _QUOTA_CODES:
        return True
    if status == 429:
        return bool(_QUOTA_WORDS.search(words)) and not _is_rate_limit(words, document)
    return bool(_QUOTA_WORDS.search(words) or _BILLING_WORDS.search(words))


def _is_rate_limit(words: str, document: Any) -> bool:
    """Tell a limit of calls a minute from used-up credit: Gemini words both alike."""
    quotas = " ".join(values_of(document, ("quotaId",)))
    if quotas:
        return "PerMinute" in quotas and "PerDay" not in quotas
    return bool(_RATE_WORDS.search(words))


def _status_in(error: Any) -> int | None:
    """Return the HTTP status of an error that was sent with status 200, if it has one."""
    for code in (at(error, "code"), at(error, "status"), at(error, "status_code")):
        number = int(code) if isinstance(code, str) and code.isdecimal() else code
        if isinstance(number, int) and 400 <= number < 600:
            return number
    codes = set(_codes(error))
    if codes & {"ratelimitexceeded", "ratelimiterror", "resourceexhausted"}:
        return 429
    if any(code.startswith(("invalid", "badrequest", "notfound", "modelnot")) for code in codes):
        return 400
    return None


def _blocked(document: Any, choice: Any) -> str | None:
    """Return the block reason of a reply without text; None where nothing was blocked."""
    if _has_text(choice):
        return None
    reason = at(document, "promptFeedback", "blockReason")
    reason = reason or at(document, "prompt_feedback", "block_reason")
    if isinstance(reason, str):
        return on_one_line(reason[:100])
    if at(document, "amazon-bedrock-guardrailAction") == "INTERVENED":
        return "guardrail"
    for results in (document, choice):
        if _filtered(results):
            return "content_filter_results"
    return None


def _error_itself(document: Any) -> Any:
    """Return a reply that calls itself an error or a failure; None of any other."""
    named = "error" in (at(document, "object"), at(document, "type"), at(document, "status"))
    return document if named or at(document, "success") is False else None


def _has_text(choice: Any) -> bool:
    return bool(at(choice, "message", "content"))


def _filtered(document: Any) -> bool:
    """Tell whether filter results of an error or a reply say `filtered: true`."""
    names = ("content_filter_result", "content_filter_results", "prompt_filter_results")
    return any(
        at(result, "filtered") is True
        for results in objects_of(document, names)
        for result in islice(nested(results), MAX_ERROR_PARTS)
    )


def _codes(document: Any) -> Iterator[str]:
    return (plain_code(value) for value in values_of(document, CODE_FIELDS))
