"""A sentence put into few words, so that what denies in it can be counted: every denial is "not"."""

import re

from biaswatch.services.evaluator.domain.checks.phrases import any_of, words_of

LUCK = any_of(
    r"luck(?: of the draw)?|random(?:ness|\s+(?:variation|noise|fluctuations?|errors?|chance|process(?:es)?|scatter|swings?|draws?|variability))?",
    r"(?:sampling|statistical)\s+(?:errors?|variation|variability|noise|fluctuations?|scatter|uncertainty|accident|artefact|artifact|fluke)",
    "noise|flukes?|coincidences?|accidents?|happenstance|fortune|hazard|lottery|vagaries|caprice|the dice|a coin",
    r"(?:mere|pure|sheer|simple|plain|just|blind|only|ordinary)\s+chance",
)
"""What is called the luck of a sample, apart from the word "chance" itself."""
_SIZES = words_of(
    "large high big great wide small low few weak slight modest imprecise pronounced strong marked"
    " striking sizeable thin scant uncertain noisy broad vague feeble faint close blurred"
)
_EFFECT = words_of("difference association effect disparity link relationship gap")
_ALIKE = r"(?:equal(?:ly)?(?:\s+\w+)?|the\s+same(?:\s+\w+)?|identical(?:ly)?|unrelated|independent|alike|not\s+differ|no\s+different|do\s+not\s+differ)"
_WEAK = words_of(
    r"weak thin slim slender scant poor meagre meager missing lacking inconclusive absent wanting inadequate"
    r" insufficient short unconvincing flimsy feeble sparse limited\senough"
)
_BELIEF = words_of(
    "idea notion assumption claim possibility view thesis supposition proposition belief premise conjecture scenario explanation reading"
)
_DOUBT = r"\b(?:no|little|without|beyond|leaves?\s+no)\s+(?:room\s+for\s+|any\s+|a\s+|reasonable\s+|serious\s+|much\s+)*doubt"
_YARDSTICK = words_of(
    "tests? threshold significance mark bar hurdle standard criterion cut-?off line requirement level grade"
)

_CONTRACTED: tuple[tuple[str, str], ...] = (
    (r"n[\u2019']t\b", " not"),
    (r"\bcannot\b", "can not"),
    (r"\bneither\b([^;]{0,80}?)\bnor\b", r"not \1 or"),
)
"""Denials that are written together, or apart."""
_DENIES_NOTHING: tuple[tuple[str, str], ...] = (
    (
        rf"\bnot\s+(?:only|just|merely|simply)\s+(?:(?:an?|the|one|matter|question|product|result|case|due|to|by|of|down|up)\s+)*(?={LUCK}|chance\b)",
        "more than ",
    ),
    (r"\bnot\s+(?:only|merely|just|simply)\b|\bnot\s+least\b", " "),
    (rf"{_DOUBT}\s+that\b", "shown that"),
    (rf"{_DOUBT}\b", " "),
    (
        (
            r"\bnobody\s+can\s+(?:\w+\s+)?(?:deny|doubt|dispute)\b"
            r"|\bcan\s+not\s+(?:\w+\s+)?be\s+(?:denied|doubted|disputed|ignored|overlooked)\b"
            r"|\bnot\s+to\s+(?:say|mention)\b(?=\s+that)"
        ),
        " ",
    ),
    (r"\b(?:not\s+)?evidence\s+of\s+(?:an\s+)?absence\b", " "),
    (
        r"\babsence\s+of\s+(?:\w+\s+)?(?:evidence|proof)\b(?=\s+(?:is|does|can|should|must|would))",
        "it",
    ),
    (r"\bwith\s+(?:and|or)\s+without\b", "beside"),
)
"""Words that look like denials, and deny nothing."""
_PHRASES_THAT_DENY: tuple[tuple[str, str], ...] = (
    (rf"\btoo\s+{_SIZES}(?:\s+(?:an?|of\s+an?)\s+\w+)?\s+(?=to\b|for\b)", "not "),
    (
        r"\b(?:far\s+from|nowhere\s+near|anything\s+but|by\s+no\s+means|in\s+no\s+way|on\s+no\s+account|under\s+no\s+circumstances|not\s+by\s+any\s+means|no\s+closer\s+to)\b",
        "not",
    ),
    (r"\bindistinguishable\b", "not distinguishable"),
    (
        r"\b(?:out\s+of|beyond)\s+reach\b|\b(?:elud|escap)(?:es?|ed|ing)\b|\bwanting\b|\b(?:comes?|came|coming)\s+up\s+(?:short|empty)\b|\b(?:does|do|did)\s+little\s+to\b",
        "not",
    ),
    (
        rf"\b(evidence|support|proof|case|grounds|basis|signal)\s+(?:is|was|are|were|remains?|seems?|proves?|looks?|falls?|fell|runs?)\s+(?:\w+\s+)?(?:too\s+)?{_WEAK}\b",
        r"\1 is not",
    ),
    (
        (
            r"\b(?:would\s+be\s+|is\s+|it\s+is\s+)?(?:wrong|an?\s+(?:\w+\s+)?(?:stretch|mistake|error)|misguided|premature|rash|unwise|unsafe|not\s+safe|unsound|hasty|reckless|bold|going\s+too\s+far)\s+to\s+"
            r"(?:call|say|speak|claim|conclude|infer|put|attribute|ascribe|declare|assert|treat|regard|reject|assume|read|take)\b"
        ),
        "not",
    ),
    (r"\b(?:below|under|short\s+of|inside|within)\s+its\s+critical\b", "not over its critical"),
    (
        rf"(?<=\bp-value)\s+(?:fails?|misses)\b|\b(?:fails?|failed|failing|miss(?:es|ed)?|missing)\b(?=(?:\s+[\w<>%-]+){{0,4}}\s+{_YARDSTICK}\b)",
        " not meets",
    ),
    (
        r"\b(?:no|can\s+not\s+be\s+(?:an?\s+)?)\s*(?:(?:mere|pure|sheer|simple)\s+)?(?:coincidence|accident|fluke)\b",
        "more than chance",
    ),
)
"""Phrases that deny, in whatever form."""
_NULL_HYPOTHESIS: tuple[tuple[str, str], ...] = (
    (rf"\b(?:rul\w+\s+out|exclud\w+)(?:,[^,]*,)?\s+that\b[^;]*?\b{_ALIKE}(?!\w)", "reject nullhypothesis"),
    (
        (
            rf"\b(?:hypothes[ei]s|null|absence|assumption|model|scenario|premise|supposition|case|notion|idea)\s+of\s+(?:(?:a|an|any|there\s+being)\s+)?(?:no\s+)?(?:(?:real|true|actual|underlying|genuine|such|further|systematic|population)\s+)*(?:{_EFFECT}s?|equal\w*"
            r"(?:\s+(?:odds|rates?|chances?|risks?|shares|means|treatment|probabilities|proportions|distributions?))?|independence)\b"
        ),
        "nullhypothesis",
    ),
    (
        rf"\bhypothes[ei]s\s+that\s+there\s+(?:is|was|were|are)\s+(?:no|not\s+any)\s+(?:\w+\s+)?{_EFFECT}(?:\s+between\s+(?:the\s+)?[\w<>]+\s+and\s+(?:the\s+)?[\w<>]+)?",
        "nullhypothesis",
    ),
    (rf"\b(?:null\s+)?hypothes[ei]s\s+that\b[^;]*?\b{_ALIKE}(?!\w)", "nullhypothesis"),
    (r"\bh[_\s]?(?:0|\u2080)(?!\w)", "nullhypothesis"),
    (r"\bnull(?:\s+(?:hypothes[ei]s|model))?\b(?!\s+(?:value|effect|result|finding))|\bhypothes[ei]s\b", "nullhypothesis"),
    (rf"\b(?:the|an?|any)\s+{_BELIEF}\s+that\b[^;]*?\b{_ALIKE}(?!\w)", "nullhypothesis"),
    (r"\bwith\s+(?:there\s+being\s+)?no\s+(?:\w+\s+)?(?:difference|association|effect|disparity|link|relationship|gap)(?:\s+(?:at\s+all|whatsoever))?\b", "with equality"),
    (rf"^\W*no\s+(?:\w+\s+)?{_EFFECT}(?:\s+between\s+(?:the\s+)?[\w<>]+\s+and\s+(?:the\s+)?[\w<>]+)?(?=\s+(?:is|was|remains|stays)\s+(?:\w+\s+)?(?:an?|tenable|plausible|possible|compatible|consistent|rejected|ruled|excluded|retained))", "nullhypothesis"),
)  # fmt: skip
"""Ways to call the hypothesis that the groups are equal."""
_WORDS_THAT_DENY: tuple[tuple[str, str], ...] = (
    (r"\b(?:non-?\s?|in)significan", "not significan"),
    (r"\buntenable\b", "not tenable"),
    (
        r"\bimplausible\b|\bimprobable\b|\bunlikely\b|\bfar-?fetched\b|\b(?:poor|bad|weak|insufficient|unsatisfactory|strained)\s+explanation\b|\bunconvincing\b",
        "not likely",
    ),
    (r"\bincompatible\b", "not compatible"),
    (r"\bunreliabl\w+", "not reliable"),
    (r"\b(?:irreconcilable|unreconcilable)\b", "not reconcilable"),
    (r"\bunsurpris\w+", "not surprising"),
    (r"\b(?:unremarkable|unexceptional)\b", "not remarkable"),
    (r"\b(?:non-?conclusive|inconclusive)\b(?=\s+(?:evidence|proof))", "not"),
    (
        r"\binconsistent\b|\bat\s+(?:odds|variance)\b(?=\s+with)|\bin\s+conflict\b(?=\s+with)",
        "not consistent",
    ),
    (r"\bundetect\w+|\bundiscern\w+", "not detectable"),
    (
        (
            r"\b(?:rarely|seldom|hardly|scarcely|barely|unable|incapable|powerless|never|neither|nor|nothing|none|nobody|nowhere|no|without|lacks?|lacking|lacked|absence|absent|devoid"
            r"|insufficient\w*|inadequate\w*|unwarranted|unsupported|unjustified|unsubstantiated|unfounded|unproven|unconfirmed)\b"
        ),
        "not",
    ),
    (
        r"\b(?:fails?|failed|failing|failure|struggles?|struggled|refus(?:es|ed)|declin(?:es|ed)|neglects?|unwilling)\b(?=\s+(?:\w+ly\s+)?to\b)",
        "not",
    ),
    (
        r"\b(?:prevents?|prevented|keeps?|kept|bars?|barred|stops?|stopped|forbids?|precludes?)\s+(?:us|one|anyone|the\s+reader)\s+(?:from\s+|to\s+)|\b(?:refrains?|refrained|abstains?)\s+from\b",
        "not ",
    ),
    (
        r"\b(?:falls?|fell|falling|stops?|stopped|stopping|comes?|came|stays?|stayed|remains?|remained|ends?\s+up)\s+(?:\w+\s+)?short\s+of\b|\bshort\s+of\b|\bshy\s+of\b",
        "not reaches",
    ),
    (
        r"\b(?:too\s+)?(?:little|scant|weak|scarce|slim|meagre|meager|poor|thin)\b(?=\s+(?:\w+\s+)?(?:evidence|support|reason|proof|indication|basis|grounds?|sign|signal|warrant|cause))",
        "not",
    ),
    (r"\b(?:too\s+)?(?:hard|difficult|impossible|tough|awkward)\b(?=\s+to\b)", "not"),
    (r"\b(?:false|untrue|incorrect|mistaken)\s+that\b|\bnot\s+the\s+case\s+that\b", "not"),
)
"""Words that deny."""
_COMPILED = tuple(
    (re.compile(words), plain)
    for table in (
        _CONTRACTED,
        _DENIES_NOTHING,
        _PHRASES_THAT_DENY,
        _NULL_HYPOTHESIS,
        _WORDS_THAT_DENY,
    )
    for words, plain in table
)
NOT = re.compile(r"\bnot\b")


def plainly(text: str) -> str:
    """Return a sentence in lower case where every word that denies is "not"."""
    for words, plain in _COMPILED:
        text = words.sub(plain, text)
    return " ".join(text.split())


def denied(plain: str) -> bool:
    """Tell whether the denials of a plain text leave it denied: two of them cancel out."""
    return len(NOT.findall(plain)) % 2 == 1
