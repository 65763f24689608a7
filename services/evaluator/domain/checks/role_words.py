"""The words around a number that say what it is: each role's own, before it and behind it."""

import re

INTERVAL = re.compile(
    r"\b(?:interval|ci|range[sd]?|ranging|limits?|bounds?|between|from|extend\w*"
    r"|span\w*|stretch\w*"
    r"|runs?|goes|reach\w*|lies|low(?:er)?)\b",
    re.IGNORECASE,
)
INTERVAL_NOUN = re.compile(
    r"\b(?:intervals?|cis?|confidence|limits?|bounds?|range[sd]?|ruled\s+out|exclud\w+|plausible|compatible|uncertainty|credible|precision|margin)\b",
    re.IGNORECASE,
)
JOIN = re.compile(
    r"\s*[)\]]?\s*(?:,|;|to|and|up\s+to|through|until|\u2013|\u2014|-|\.\.+)\s*"
    r"(?:an?\s+|the\s+)?(?:upper\s+(?:bound|limit|end)\s*(?:of|at|is)?\s*)?",
    re.IGNORECASE,
)
BRACKET, CLOSED = re.compile(r"[(\[]\s*$"), re.compile(r"\s*[)\]]")
LINK = (
    r"[\s:,(=~\u2248]*(?:(?:of|is|was|at|about|around|approximately|roughly"
    r"|equals?|equal\s+to|being|stands\s+at|comes\s+to|to)\b[\s:(=~\u2248]*)*"
)
LOWER = re.compile(
    rf"\b(?:lower|(?:low|smallest|left)(?=[\s-]*(?:confidence\s+)?(?:bound|limit|end)))[\s-]*(?:confidence\s+)?(?:bound|limit|end"
    rf"|endpoint|one)?(?:\s+(?:of|for)\s+[^.;,0-9]{{0,50}}?)?{LINK}$"
    r"|\b(?:start|begin)s?\s+at\s*$|(?<!least\s)\bas\s+(?:low|small|little)\s+as\s*$"
    r"|\b(?:on|at)\s+(?:the|its)\s+(?:low|lower|bottom|left)\s+end\b[^.;,0-9]{0,50}$",
    re.IGNORECASE,
)
UPPER = re.compile(
    rf"\b(?:upper|(?:high|largest|right)(?=[\s-]*(?:confidence\s+)?(?:bound|limit|end)))[\s-]*(?:confidence\s+)?(?:bound|limit|end"
    rf"|endpoint|one)?(?:\s+(?:of|for)\s+[^.;,0-9]{{0,50}}?)?{LINK}$"
    r"|\b(?:end|stop)s?\s+(?:at|until)\s*$|(?<!least\s)\bas\s+(?:high|large|great|much)\s+as\s*$"
    r"|\b(?:on|at)\s+(?:the|its)\s+(?:high|higher|upper|top|right)\s+end\b[^.;0-9]{0,50}$",
    re.IGNORECASE,
)
P = re.compile(
    r"(?:\bp(?:\s*-?\s*values?)?|\bprobability\s+value|\b(?:associated|attached|corresponding|accompanying|resulting|tail|exceedance|attendant|significance)\s+probabilit(?:y|ies))(?![\w-])[^.;0-9]{0,60}$",
    re.IGNORECASE,
)
P_AFTER = re.compile(
    r"[\s(]*(?:as\s+(?:its|the)\s+)?p(?:\s*-?\s*value)?\b(?!\s*(?:[=<>:,~]|of\b"
    r"|is\b|was\b|value))",
    re.IGNORECASE,
)
LEVEL_BEFORE = re.compile(
    rf"\b(?:level|alpha|\u03b1|threshold|cut-?off|significance|criterion|standard"
    rf"|benchmark)\b{LINK}$",
    re.IGNORECASE,
)
LEVEL_AFTER = re.compile(
    r"[\s-]*(?:(?:two-sided\s+)?(?:confiden(?:ce|t)|significance|credible"
    r"|uncertainty)\b|(?:level|alpha|threshold|cut-?off|mark|ci|interval|range"
    r"|limits?|bounds?|(?:lower|upper)(?=\s+(?:bound|limit|confidence|end)))\b)",
    re.IGNORECASE,
)
NEUTRAL_BEFORE = re.compile(
    r"\b(?:includ\w*|contain\w*|exclud\w*|enclos\w*|bracket\w*|captur\w*|embrac\w*|admit\w*|permit\w*|cover\w*|cross\w*|span\w*|straddl\w*"
    r"|encompass\w*|overlap\w*|reach\w*|touch\w*"
    r"|above|below|over|under|exceed\w*|than|beyond|from|null|parity|equality"
    r"|rules?\s+out|side\s+of|sides\s+of"
    r"|value\s+of|around|past|through|against|with|to|of|no\s+effect|clear\s+of|away\s+from|out)"
    r"(?:\s+(?:the|a|value|of|null|parity|equality|line|reference|at|by|neutral"
    r"|point|mark))*[\s(,:]*$",
    re.IGNORECASE,
)
NEUTRAL_AFTER = re.compile(
    r"[\s),]*(?:,\s*)?(?:which\s+|and\s+)?(?:would|means?|meaning|is|being"
    r"|marks?|stands\s+for|\(?the\s+value|indicat\w*|\(?no\b|corresponds?|line)",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"\s*in\s+relative\s+terms\b|\s*(?:\w+\s+)?(?:likelier|rarer|oftener|bigger|higher|lower|more|less|greater|larger|smaller|fewer"
    r"|increase|decrease|reduction|rise|drop|above|below)\b",
    re.IGNORECASE,
)
CHANGE_BEFORE = re.compile(
    r"\b(?:increase[sd]?|decrease[sd]?|reduc\w+|rise[sn]?|rose|raise[sd]?|cut|higher|greater|larger|smaller|bigger"
    r"|less|more|fewer|down|up|diminished|elevated|lowered|exceed\w*|differ\w*|lower)\s+(?:\w+\s+){0,2}by\s*(?:about|around)?\s*$"
    r"|\b(?:less|more|lower|higher|greater|smaller|fewer|larger|rarer)\b[^.;]*\bby\s+(?:about\s+|around\s+|some\s+)?$"
    r"|\b(?:increase|decrease|reduction|rise|drop|fall|decline|gain|cut|excess)\s+(?:in\s+(?:the\s+)?\w+\s+)?of\s+(?:about\s+|around\s+|some\s+)?$",
    re.IGNORECASE,
)
RATE = re.compile(
    r"\b(?:rates?|shares?|proportions?|percentages?|fractions?|probabilit\w+"
    r"|chances?|risks?(?!\s+(?:ratio|difference))|odds(?!\s+ratio)|likelihood)\b",
    re.IGNORECASE,
)
FREEDOM = re.compile(r"\s*degrees?\s+of\s+freedom|\s*d\.?f\.?\b", re.IGNORECASE)
FREEDOM_BEFORE = re.compile(
    rf"\S\s+(?<!\bone\s)(?<!\bsingle\s)(?:d\.?f\.?|degrees?\s+of\s+freedom){LINK}$|\(d\.?f\.?{LINK}$",
    re.IGNORECASE,
)
"""Not behind a number of its own: "one degree of freedom equals"."""
THRESHOLD = re.compile(
    r"rule|threshold|four[\s-]fifths|guideline|benchmark|cut-?off|regulator|customary|conventional|held\s+against",
    re.IGNORECASE,
)
LEAST = re.compile(
    r"fewest|minimum|at\s+least|needs?|needed|requir\w*|threshold|recommended|floor|least",
    re.IGNORECASE,
)
APPROXIMATE = re.compile(
    r"\b(?:estimates?|ratio|risk|value|statistic|about|roughly|approximately"
    r"|nearly|almost|difference|size|is|was|of)\b[\s(]*$",
    re.IGNORECASE,
)
TOTAL_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,2}?(?:cases|people|persons|observations|records|individuals|participants"
    r"|applicants)?,?\s*(?:in\s+all|in\s+total|altogether|together|overall|combined)\b",
    re.IGNORECASE,
)
TOTAL_BEFORE = re.compile(
    r"\b(?:total\s+of|all\s+told,?|(?:^|[.;]\s*)cases\s*[:=]|drew\s+on|(?-i:\bN)\s*=|in\s+total,?|(?:sample|total)\s+(?:size\s+)?(?:of|is)|people\s+of|cases\s+of|out\s+of\s+all)\s*$",
    re.IGNORECASE,
)
OF_ALL = re.compile(r"\b(?:(?:of|among)\s+(?:the|all|all\s+the)|from)\s*$", re.IGNORECASE)
CASES = re.compile(
    r"\s*(?:cases|files|people|persons|observations|records|individuals|participants|applicants)\b"
    r"(?!\s+(?:with|without|that|who))",
    re.IGNORECASE,
)
CHANCE = re.compile(
    r"\bprobability\b[^;]*\b(?:chi\b|hypothesis|independen\w+|unrelated|chance|(?:made|make|was|were|is|be)\s+no\s+(?:true\s+|real\s+)?(?:difference|association|effect|link)|by\s+luck)"
    r"|\b(?:no|without\s+any)\s+(?:true\s+|real\s+|actual\s+|underlying\s+)*(?:difference|association|effect|link|relationship)\b[^;]*\b(?:probability|chance|likelihood|times\s+in)\b"
    r"|\bprobability\s+(?:of|for|behind|attached\s+to|belonging\s+to)\s+(?:the|this|that)\s+(?:test|statistic|result)\b"
    r"|\b(?:hypothesis|independen\w+|unrelated|chance\s+alone)\b[^;]*\bprobability\b"
    r"|\b(?:if|were|was|had|assum\w+|suppos\w+|under|given|imagin\w+|in\s+a\s+world|where)\b[^;]*\b(?:equal\w*|alike|no\s+(?:true\s+|real\s+)?(?:difference|association|effect|link)"
    r"|unrelated|independen\w+|null|identical|nothing\s+(?:but|was|is|were|going)|not\s+differ|chance)\b[^;]*\b(?:samples?|times?|cases|tables|datasets?|studies|repetitions|probability|chance|likelihood|turn\s+up|arise|occur|happen|appear)",
    re.IGNORECASE,
)
OF_SAMPLES = re.compile(
    r"\s+(?:of|in)\s+(?:all\s+|such\s+|the\s+|repeated\s+|random\s+|hypothetical\s+)*(?:samples?|times?|tables|datasets?|data\s+sets|studies|repetitions|replications|experiments|draws|surveys|occasions)\b",
    re.IGNORECASE,
)
NO_INTERVAL = re.compile(r"\b(?:respectively|rates?)\b", re.IGNORECASE)
SAMPLE = re.compile(
    r"\bsample|\bof\s+(?:all|the)\s+(?:\d+\s+)?cases|m(?:ade|ake)\s+up"
    r"|account\w*\s+for|compris|consist",
    re.IGNORECASE,
)
LACKS = re.compile(
    r"\s*(?:[\w<>]+\s+){0,3}?(?:(?:did|were|was|had|do|are)\s+not|without|lacked|lacks?"
    r"|didn't|weren't)\b|\s*no\b(?!\s+(?:fewer|less|more))",
    re.IGNORECASE,
)
LACKS_BEFORE = re.compile(
    r"\b(?:(?:who|that|which)\s+(?:did|were|was|had|do|are|have)\s+not|without|lack(?:ed|s|ing)?)\b[^,;.:0-9]{0,40}?(?:\b(?:is|was|are|were|numbers?|numbered|equals?|totals?|totalled|comes?\s+to|stands?\s+at|amounts?\s+to|being|at))\s*$",
    re.IGNORECASE,
)
HAS = re.compile(
    r"\s*with\s+(?:it|the\s+outcome|that\s+outcome)\b|\s*(?:[\w<>]+\s+){0,3}?(?:had\s+(?:the|this|that)\s+outcome|did\b(?!\s+not))",
    re.IGNORECASE,
)
LOW_AFTER = re.compile(
    r"\s*(?:\(?(?:the\s+)?lower(?=\))|as\s+(?:the|its)\s+lower|below|at\s+the\s+(?:bottom|lower\s+end))\b",
    re.IGNORECASE,
)
HIGH_AFTER = re.compile(
    r"\s*(?:\(?(?:the\s+)?upper(?=\))|as\s+(?:the|its)\s+upper|above|at\s+the\s+(?:top|upper\s+end))\b",
    re.IGNORECASE,
)
BOUNDS = re.compile(r"\bbounds?\b|\blimits?\b|\bends?\b", re.IGNORECASE)
MULTIPLIED = re.compile(
    r"\b(?:multipl\w+\b[^.;]{0,40}\bby|(?:a|the)\s+factor\s+(?:of|is|was))\s+(?:about\s+|around\s+|roughly\s+)?$",
    re.IGNORECASE,
)
OF_TEST = re.compile(
    r"\b(?:chi|test|statistic)\b[^;]*\b(?:probability|likelihood)\b|\bprobability\b[^;]*\b(?:chi|test|statistic)\b",
    re.IGNORECASE,
)
AT_LEAST = re.compile(r"\bno\s+(?:smaller|lower|less)\s+than\s*$|\bat\s+least\s*$", re.IGNORECASE)
AT_MOST = re.compile(
    r"\bno\s+(?:larger|higher|greater|more|bigger)\s+than\s*$|\bat\s+most\s*$", re.IGNORECASE
)
AS_MUCH = re.compile(
    r"\s+(?:as|of\s+(?:the|that)\s+(?:rate|odds|share|risk|figure|level|chance))\b", re.IGNORECASE
)
LESS = re.compile(r"<|\u2264|below|under|less|smaller|lower", re.IGNORECASE)
MORE = re.compile(r">|\u2265|above|over|greater|larger|higher|more|exceed", re.IGNORECASE)
