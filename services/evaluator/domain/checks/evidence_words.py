"""The words of evidence, and a sentence put into few of them, so that what denies can be counted."""

import re

_SAME_MEANING: tuple[tuple[str, str], ...] = (
    (r"n[\u2019']t\b", " not"),
    (r"\bcannot\b", "can not"),
    (r"\bwith\s+(?:and|or)\s+without\b", "beside"),
    (r"\bneither\b([^;]{0,80}?)\bnor\b", r"not \1 or"),
    (r"\btoo\s+(?:large|high|big|great|wide|small|low|few|weak|slight|modest|imprecise|pronounced|strong|marked|striking|sizeable)(?:\s+an?\s+\w+)?\s+(?=to\b|for\b)", "not "),
    (r"\b(?:far\s+from|nowhere\s+near|anything\s+but|by\s+no\s+means|in\s+no\s+way)\b", "not"),
    (r"\bindistinguishable\b", "not distinguishable"),
    (r"\b(?:out\s+of|beyond)\s+reach\b|\b(?:elud|escap)(?:es?|ed|ing)\b|\bwanting\b", "not"),
    (r"\b(evidence|support|proof|case)\s+(?:is|was|remains|seems|proves|looks)\s+(?:\w+\s+)?(?:too\s+)?(?:weak|thin|slim|slender|scant|poor|meagre|missing|lacking|inconclusive)\b", r"\1 is not"),
    (r"\b(?:not\s+)?evidence\s+of\s+(?:an\s+)?absence\b", " "),
    # What denies nothing.
    (r"\bnot\s+(?:only|merely|just|simply)\b|\bnot\s+least\b", " "),
    (r"\b(?:no|little|without|beyond|leaves?\s+no)\s+(?:room\s+for\s+|any\s+|a\s+|reasonable\s+)*doubt\s+that\b", "shown that"),
    (r"\b(?:no|little|without|beyond|leaves?\s+no)\s+(?:room\s+for\s+|any\s+|a\s+|reasonable\s+)*doubt\b", " "),
    (r"\bwith\s+no\s+(?:\w+\s+)?(?:difference|association|effect|disparity|link|relationship)\b", "with equality"),
    (r"\b(?:would\s+be\s+|is\s+|it\s+is\s+)?wrong\s+to\s+(?:call|say|speak|claim|conclude)\b", "not"),
    (r"\b(?:below|under|short\s+of)\s+its\s+critical\b", "not over its critical"),
    (r"\b(?:rul\w+\s+out|exclud\w+)(?:,[^,]*,)?\s+that\b[^;]*?\b(?:unrelated|independent|equal|alike|the\s+same)\b", "reject nullhypothesis"),
    (r"(?<=\bp-value)\s+(?:fails?|misses)\b|\b(?:fails?|failed|miss(?:es|ed)?)\b(?=(?:\s+[\w<>%]+){0,4}\s+(?:tests?|threshold|significance|mark|bar|hurdle)\b)", " not meets"),
    (r"\b(?:no|can\s+not\s+be\s+(?:an?\s+)?)\s*(?:coincidence|accident)\b", "more than chance"),
    (r"\bnobody\s+can\s+(?:\w+\s+)?(?:deny|doubt|dispute)\b|\bcan\s+not\s+(?:\w+\s+)?be\s+(?:denied|doubted|disputed|ignored|overlooked)\b", " "),
    (r"\b(?:hypothes[ei]s|null)\s+of\s+(?:no\s+\w+|equal\w*(?:\s+(?:odds|rates?|chances?|risks?|shares|means|treatment|probabilities|proportions|distributions?))?|independence)", "nullhypothesis"),
    (r"\bhypothes[ei]s\s+that\s+there\s+(?:is|was|were|are)\s+(?:no|not\s+any)\s+\w+(?:\s+between\s+(?:the\s+)?[\w<>]+\s+and\s+(?:the\s+)?[\w<>]+)?", "nullhypothesis"),
    (r"\b(?:null\s+)?hypothes[ei]s\s+that\b[^;]*?\b(?:equal(?:\s+\w+)?|the\s+same(?:\s+\w+)?|identical|unrelated|independent|do\s+not\s+differ|alike)\b", "nullhypothesis"),
    (r"\bnull(?:\s+hypothes[ei]s)?\b(?!\s+(?:value|effect))|\bhypothes[ei]s\b", "nullhypothesis"),
    (r"\bthe\s+(?:idea|notion|assumption|claim|possibility)\s+that\b[^;]*?\b(?:equal(?:\s+\w+)?|the\s+same(?:\s+\w+)?|identical|unrelated|independent|alike)\b", "nullhypothesis"),
    # Words that deny.
    (r"\b(?:non-?\s?|in)significan", "not significan"),
    (r"\buntenable\b", "not tenable"),
    (r"\bimplausible\b|\bimprobable\b|\bunlikely\b|\bfar-fetched\b|\bpoor\s+explanation\b", "not likely"),
    (r"\bincompatible\b", "not compatible"),
    (r"\binconsistent\b|\bat\s+odds\b(?=\s+with)", "not consistent"),
    (r"\bundetect\w+", "not detectable"),
    (r"\b(?:rarely|seldom|hardly|scarcely|barely|unable|never|neither|nor|nothing|none|nowhere|no|without|lacks?|lacking|lacked|absence|absent|insufficient\w*|inadequate\w*|unwarranted|unsupported|unjustified)\b", "not"),
    (r"\b(?:fails?|failed|failing|failure|struggles?)\b(?=\s+to\b)", "not"),
    (r"\b(?:falls?|fell|falling|stops?|stopped)\s+(?:well\s+|just\s+)?short\s+of\b|\bshort\s+of\b", "not reaches"),
    (r"\b(?:too\s+)?(?:little|scant|weak|scarce|slim|meagre|meager|poor)\b(?=\s+(?:\w+\s+)?(?:evidence|support|reason|proof|indication|basis|grounds?|sign))", "not"),
    (r"\b(?:too\s+)?(?:hard|difficult|impossible|tough)\b(?=\s+to\b)", "not"),
    (r"\b(?:false|untrue|incorrect|mistaken)\s+that\b|\bnot\s+the\s+case\s+that\b", "not"),
)  # fmt: skip
_COMPILED = tuple((re.compile(words), plain) for words, plain in _SAME_MEANING)
NOT = re.compile(r"\bnot\b")


def plainly(text: str) -> str:
    """Return a sentence in lower case where every word that denies is "not"."""
    for words, plain in _COMPILED:
        text = words.sub(plain, text)
    return " ".join(text.split())


_LUCK = (
    r"(?:luck|random(?:ness|\s+(?:variation|noise|fluctuations?|error|chance|process))?|(?:sampling|statistical)"
    r"\s+(?:error|variation|variability|noise|fluctuations?)|noise|flukes?|coincidence|accident|happenstance)"
)
CHANCE = re.compile(
    rf"\b{_LUCK}\b|(?:\b(?:by|through|via|to|than|from|beyond|with|mere|mer|pure|sheer|alone|out|simple|of|than\s+just|for)\s+)chance\b(?!\s+(?:of|to|for|that)\b)"
    r"|\bchance\s+(?:alone|variation|explanation|finding|fluctuation|result|remains?|could|can|may|might|would|is\s+(?:an?|not|likely)|does|as\s+an?|explains?|accounts?|has|had|played|plays|was)\b"
    r"|\bmore\s+than\s+chance\b"
)
OVER_CHANCE = re.compile(
    r"\b(?:more|larger|bigger|greater|wider|stronger|higher|further|other)\b[^;]*?\bthan\b|\bbeyond\b|\bexceed\w*"
    r"|\brul(?:e|es|ed|ing)\s+out\b|\b(?:exclud|dismiss|discount|reject|eliminat|refut)\w*|\bagainst\b"
    r"|\b(?:rather\s+than|instead\s+of|over)\s+(?:\w+\s+){0,3}?(?:chance|luck|noise|random\w*|sampling|flukes?|accident|coincidence)\b|\bdistinguish\w*|\bsurpass\w*|\boutside\b|\babove\b"
)
NULL = re.compile(
    r"\bnullhypothesis\b|\bunrelated\b|\bindependence\b|\bequality\b|(?<!than\s)\bequal\s+(?:rates?|odds|chances?|risks?|treatment|shares|means)\b"
    r"|\bnot\s+(?:association|difference|effect|relationship|disparity)\b(?=\s+(?:is|was)\s+(?:rejected|retained|tenable))"
)
REFUSED = re.compile(
    r"\breject\w*|\brefut\w*|\bdiscard\w*|\babandon\w*|\bdrop(?:s|ped)?\b|\boverturn\w*|\bcontradict\w*|\bagainst\b|\brul\w+\s+out\b|\bdisprov\w*|\bthrow\w*\s+out|\bdoubt\w*"
    r"|\bdismiss\w*|\bgiven?\s+up\b|\bset\s+aside\b|\bcast\s+(?:aside|off)\b|\bstruck\s+down\b|\btoppl\w*|\bdefeat\w*|\bundermin\w*|\bfalsif\w*|\bturned\s+down\b|\bgoes\b(?!\s+un)|\bfalls\b|\bexclud\w*"
)
KEPT = re.compile(
    r"\bretain\w*|\bkept\b|\bkeep\b|\baccept\w*|\bsurviv\w*|\btenable\b|\bstands?\b|\bholds?\b|\bcompatible\b|\bconsistent\b|\bmaintain\w*|\bin\s+(?:line|keeping)\s+with\b|\bsquares?\b|\bplausible\b|\bsustain\w*"
    r"|\bstays?\b|\bremains?\b|\bwithstand\w*|\bwithstood\b|\bresist\w*|\bupheld\b|\bupholds?\b|\bfits?\b|\breconcil\w*|\bviable\b|\bstanding\b|\bin\s+place\b"
)
SIGNIFICANT = re.compile(
    r"\bsignifican(?:t(?:ly)?|ce)\b(?!\s+(?:level|threshold|tests?\b|testing|criterion))"
    r"|(?<=\btest\sof\s)significance\b|\bstatistically\s+(?:detectable|reliable|discernible|distinguishable|clear|demonstrable|established|robust)\b|\bdetectable\b"
    r"|\b(?:pass(?:es|ed)?|clears?|cleared|meets?|met|reach(?:es|ed)?|attains?|attained)\b[^;]{0,40}\b(?:mark|hurdle|bar|standard|threshold|cut-?off|criterion|level)\b"
    r"|\b(?:statistically\s+)?(?:distinguishable|distinguished|distinct|different)\s+from\s+(?:zero|one|nothing|not\s+(?:difference|effect)|nullhypothesis)\b"
    r"|\b(?:told|tell)\s+(?:[\w<>]+\s+){0,4}?apart\b|\bsatisf(?:y|ies|ied)\b[^;]{0,40}\b(?:threshold|criterion|standard|test)\b|\bmakes?\s+the\s+cut\b"
    r"|\bholds?\s+up\b|\bon\s+the\s+(?:right|significant)\s+side\b|\b(?:over|above|exceeds?)\s+its\s+critical\b"
)
WRONG_SIDE = re.compile(r"\bon\s+the\s+wrong\s+side\b|\bcame\s+back\s+negative\b|\bn\.\s?s\.")
NO_FINDING = re.compile(
    r"\bpractical(?:ly)?\b|\bsubstantive\w*|\bclinical\w*|\bsignificance\s+of\s+(?:this|the)\s+(?:issue|matter|topic)"
)
P_VALUE = re.compile(
    r"\bp-?\s*values?\b|\bp\s+value\b|(?<![\w<:])p(?![\w:>-])|\balpha\b|\bprobability\s+value\b"
)
_YARDSTICK = (
    r"(?:(?:the|its|our|this|that|a|of|usual|conventional|customary|common|chosen|standard|significance|set|statistical|agreed|five|percent|per\s+cent|level\s+of)\s+|<n\d+>\s+)*"
    r"(?:<n\d+>|level|threshold|alpha|cut-?off|mark|line|limit|criterion|five\s+per\s?cent|bar)"
)
UNDER = re.compile(
    rf"(?:\b(?:below|under|beneath|(?:smaller|less|lower)\s+than|undercuts?|inside|within)|<(?![ngm]))\s+{_YARDSTICK}"
)
OVER = re.compile(
    rf"(?:\b(?:above|over|exceed\w*|(?:larger|greater|higher|more|bigger)\s+than|beyond|outside)|(?<!\w)>)\s+{_YARDSTICK}"
)
OBJECT = (
    r"(?:differences?|disparit(?:y|ies)|gap|associations?|links?|linked|relationships?|related|connection|dependen\w+|depends?"
    r"|inequalit(?:y|ies)|imbalance|differ(?:s|ed|ing|ent)?|unequal|associated|diverge\w*|apart)"
)
EVIDENCE = re.compile(
    r"\b(?:evidence|proof|proofs|indications?|(?<!the\s)signs?|case)\b(?:\s+(?:of|for|that|to|from|against|in)\b)"
    r"(?!\s+(?:\w+\s+){0,2}(?:absence|discriminat\w*|bias\w*|cause|causation|effects?|prejudice|racis\w+|sexis\w+|unfair\w*))"
    r"|\bevidence\s+(?:was|is|has|exists|were)\b|\bevidence\s+(?:on|about)\s+the\s+question|\bcounts?\s+as\s+evidence\b"
    rf"|\b(?:reason|grounds?|basis)\s+(?:to|for)\s+(?:believ\w+|think\w*|conclud\w+|suppos\w+|infer\w*|claim\w*|say\w*)\b[^;]*?\b(?:{OBJECT}|real)\b"
    rf"|\b(?:shows?|showed|shown|demonstrat\w+|establish\w*|reveals?|revealed|detect(?:s|ed)?|support(?:s|ed)?|proves?|proven|proved|confirm(?:s|ed)?|indicates?|indicated|bears?\s+out)\s+(?:that\s+)?(?:(?!<g|not\b)[\w<>:-]+\s+){{0,5}}?{OBJECT}\b(?!\s+of\s+<n)"
    rf"|\b{OBJECT}\b(?:\s+(?!not\b)[\w<>:-]+){{0,6}}?\s+(?:is|was|are|were|been|be)\s+(?:not\s+)?(?:shown|demonstrated|established|proven|proved|supported|detected|confirmed|borne\s+out)\b"
    r"|\bshown\s+to\s+(?:depend|differ|be\s+(?:related|linked|associated))"
)
REAL = re.compile(
    r"\b(?:differences?|gap|disparity|association|link)\s+(?:is|was|appears?\s+to\s+be|seems?\s+to\s+be|may\s+be|must\s+be|to\s+be)\s+(?:not\s+)?(?:\w+\s+)?(?:real|genuine)\b"
    r"|\b(?:real|genuine)\s+(?:difference|gap|disparity|association|link)\b"
)
OPEN = re.compile(
    r"\bjury\s+is\s+(?:still\s+)?out\b|\binconclusive\w*|\bundecided\b|\bunresolved\b|\bunproven\b|\bquestion\b[^;]*\b(?:open|unanswered|unsettled)\b|\bopen\s+question\b"
    rf"|\bwhether\b[^;]*\b(?:{OBJECT}|real|chance)\b[^;]*\b(?:open|uncertain|unclear|unknown|unsettled)\b"
    rf"|\b(?:open|uncertain|unclear|unknown|unsettled)\s+whether\b[^;]*\b(?:{OBJECT}|real|chance|gap)\b"
)
UNTOLD = re.compile(
    rf"\bwhether\b[^;]*\b(?:{OBJECT}|real|ahead)\b[^;]*\bnot\s+(?:\w+\s+){{0,2}}(?:told|tell|said|say|known|know|decided|decide|determined|determine|settled|established|concluded)\b"
    rf"|\bnot\s+(?:\w+\s+){{0,3}}(?:tell|say|know|decide|determine|settle|establish|conclude)\b[^;]*\b(?:whether|if|that)\b[^;]*\b(?:{OBJECT}|real)\b"
)
CAUSES = re.compile(
    r"\bcaus\w+|\bsimpson\w*|\bparadox\w*|\brevers\w+|\b(?:what|who|how|which)\b|\bdiscriminat\w*|\bprejudice\w*|\bbias\w*|\bwhy\b|\bracis\w+|\bsexis\w+|\bunfair\w*|\bexplanation\s+among\b"
)
GENERAL = re.compile(
    r"^(?:if|when|suppose|assuming|were|had|whether|in\s+general)\b(?!.*\bcan\s+not\s+be\s+told\b)|\bif\b(?=[^;]*\b(?:would|were|is|contain|made|had)\b)|\b(?:asks?|tests?|assess\w*|tell\w*\s+us|checks?|examin\w+|decid\w+)\s+whether\b"
    r"|\b(?<!with\s)(?:a|any)\s+p-?\s*value\b(?!\s+of)|\bwould\s+(?:be|count|mean|indicate)\b(?!\s+not\b)|\bhas\s+to\s+be\s+read\b|\bpractical(?:ly)?\b|\bsubstantive\b"
    r"|\bsignificance\s+(?:\w+\s+)?(?:says|tells|means|speaks|is\s+(?:no|not)\s+(?:a\s+)?(?:size|measure))\b|\bconventionally\s+called\b|\bin\s+general\b"
)
