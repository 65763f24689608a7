"""The words of comparisons: more and less, than, what is compared, good and bad outcomes."""

import re

MORE = (
    r"(?:more\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone"
    r"|probable)|likelier|higher|greater|larger|bigger|elevated|increased"
    r"|exceed(?:s|ed)?|surpass(?:es|ed)?|ahead\s+of|above|over-?represented"
    r"|outscored?|outnumber(?:s|ed)?|more)"
)
LESS = (
    r"(?:less\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone"
    r"|probable)|lower|smaller|reduced|decreased|fewer|rarer|more\s+rarely"
    r"|behind|below|trail(?:s|ed)?|under-?represented|lag(?:s|ged)?|less)"
)
COMPARATIVE = rf"\b(?P<comp>{LESS}|{MORE})\b"
GAP = r"[^.;<]*?"
THAN = (
    r"(?:than|compared\s+(?:with|to)|relative\s+to|versus|vs\.?|as\s+against"
    r"|against|in\s+comparison\s+(?:with|to)|over)"
)
LEADING = r"(?:(?:it\s+(?:is|was)|they\s+(?:are|were)|those\s+of|that\s+of|that\s+for|those\s+for|for|among|in|of|by|the)\s+)*"
COMPARING_VERB = (
    r"(?P<comp>exceeds?|exceeded|surpass(?:es|ed)?|outnumber(?:s|ed)?|outscored?"
    r"|outpaced?|outrank(?:s|ed)?|(?:is|are|was|were)\s+ahead\s+of|trail(?:s"
    r"|ed)?|lag(?:s|ged)?(?:\s+behind)?|fell\s+short\s+of|falls?\s+short\s+of|(?:is|are|was|were|fall|falls"
    r"|fell)\s+behind|(?:is|are|was|were|lies?)\s+(?:above|below))"
)
QUANTITY = re.compile(
    r"likel|often|frequen|common|odds|rates?\b|shares?|proportion|probab|chance"
    r"|risk|percent|means?\b|averages?|scores?|ratings?|represented|number"
    r"|rarely|rarer|apt|prone|outnumber|outscore|receiv|sentence|exceed|surpass"
    r"|\b(?:in|of|per) (?:an?|every|each) <n|prevalen|inciden|propensit|tendenc|likelier|hundred|thousand|\bper \d|\bfewer\b|relatively|per\s+head|fraction|portion|share|slice|frequently|lagg?|trail|outpac|numerous|outcome"
)
PRECISION = re.compile(
    r"interval|p-?\s*value|bound|limit|precis|confidence|uncertain|width|sample|evidence|(?:number\s+of|enough|few|many)\s+cases\b"
)
NEGATED = re.compile(r"\b(?:not|no|never|neither|nor|hardly|cannot|\w+n[\u2019']t)\b")
BAD = (
    r"\b(?:reject\w*|refus\w*|den(?:y|ied|ial)\w*|turned?\s+(?:down|away)"
    r"|declin\w*|unsuccessful\w*|fail\w*|convict\w*|arrest\w*|sentenc\w*|strike"
    r"|dismiss\w*|detain\w*|toxic\w*|default\w*|harm\w*|error\w*|fired|fined"
    r"|excluded)\b"
)
GOOD = (
    r"\b(?:admi(?:t\w*|ssion\w*)|hir(?:ed|ing)|accept\w*|approv\w*|select(?:ed|s|ing)?"
    r"|grant\w*|promot\w*|pass(?:ed|es)?|award\w*|interview\w*|shortlist\w*"
    r"|offer\w*|successful\w*|chosen)\b"
)
WITHOUT = re.compile(
    r"\b(?:not\s+(?:to\s+)?(?:be|get|receive)|not\s+to|without|avoid\w*|escap\w*"
    r"|spared|miss\s+out)\b"
)
STRATA = re.compile(
    r"\bstrat(?:a|um|ified|ification|ifying)\b|<m:odds_ratio_within>|<m:cmh>"
    r"|\bwithin\s+(?:each|every|single|the|departments?)\b|\bsimpson"
)
