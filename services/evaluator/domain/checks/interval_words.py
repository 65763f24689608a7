"""The words of intervals, class by class: what has a value, what lacks it, what lies beside it."""

from biaswatch.services.evaluator.domain.checks.phrases import phrases_of, words_of

NULL_VALUE = "nullvalue"
"""What stands in a sentence for the value of no difference, however it is called."""
_EFFECT = words_of("difference effect association disparity gap relationship imbalance")
_EQUALITY = (
    f"(?:no {_EFFECT}|equality|parity|unity|neutrality|independence"
    r"|equal (?:odds|risks?|rates?|chances?|shares?|means?|probabilities))"
)
_PLACE = words_of("value point possibility line hypothesis ratio position mark figure number case")
_STANDS_FOR = words_of(
    r"of at for that\smeans that\smarks that\sstands\sfor that\sindicates meaning marking denoting"
    r" indicating representing"
)
NAMED_NULL = phrases_of(
    rf"(?:the |a )?{_PLACE} {_STANDS_FOR} (?:the )?{_EQUALITY}",
    rf"no {_EFFECT}(?: at all)?(?= (?:is|was|remains?|stays?|as|among|within|inside|outside|can"
    r"|could|lies?|falls?|sits?|cannot|[.,;)])|$)",
    rf"(?:(?<=with )|(?<=cludes )|(?<=clude )|(?<=clud\w\w\s)|(?<=over\w\w\s)|(?<=tain\w\w\s)|(?<=ross\w\w\s))no {_EFFECT}",
    r"(?:the )?(?:null(?: (?:value|point|line))?|neutral (?:value|point|line)|no-(?:effect|difference) (?:value|point|line)"
    r"|unity|parity|equality|equal (?:odds|risks?|rates?|chances?))(?: of (?=<n|one\b|1))?",
)
"""Ways to call the value of no difference."""
ONE = phrases_of(
    r"(?:one|zero)(?! (?:of|side|end|another|in|group|or|might|may|can|cannot|has|would|such|time"
    r"|which|thing|below <n\d+> to|limit|bound|direction)\b)(?![ -]+\w+s\b(?<!is)(?<!lies)(?<!falls)(?<!sits)(?<!remains)(?<!results)(?<!emerges)(?<!comes)(?<!follows)(?<!means))"
)
"""The number in letters, where it counts nothing."""

HAS = phrases_of(
    r"(?:includ|contain|cover|cross|span|straddl|encompass|overlap|enclos|compris|comprehend|embrac|bracket"
    r"|captur|accommodat|touch|admit|permit|allow|tolerat|envelop|surround|bridg|incorporat|hous|encircl)\w*",
    r"(?:takes?|taking|took) in|pass(?:es|ed|ing)? (?:through|over)|reach(?:es|ed|ing)?|holds?",
    r"extend(?:s|ing)? (?:across|past|over|through)|(?:goes|go|runs?|cuts?|stretch\w*) (?:across|through|over|past)",
    r"(?:sits?|lies?|stands?|is|are) astride|(?:leaves?|has|have|with) (?:any |some |not )?room for|keeps?|leaves? open",
    r"with?in|inside|in between|between|among(?:st)?|amid|part of|belongs? to|member of",
    r"compatible|consistent|plausible|possible|tenable|conceivable|credible|viable|covered|in the (?:interval|range)",
    r"(?:either|both|opposite|different|the two) sides?|across|(?:could|can|might|may) (?:well )?be|in play|on the table",
    "not (?:be )?(?:ruled out|excluded|dismissed|discounted)",
)
"""That an interval has the value, or the value is in it."""
LACKS = phrases_of(
    r"(?:exclud|omit|avoid|preclud|eliminat|bypass|shun|dismiss|discount)\w*",
    r"rul(?:e|es|ed|ing) out|shuts? out|leav(?:e|es|ing) out|left out|skips?|skipped|miss(?:es|ed|ing)?",
    r"le(?:ave|aves|aving|ft) (?:<|nullvalue )?out(?:side)?|leav\w+ nullvalue",
    r"(?:clear|free|short|well clear|wide) of|away from|apart from|distant from|far from|outside|beyond|off",
    r"(?:the same|one|a single|only one|just one) side",
)
"""That an interval does not have it."""

ABOVE = (
    r"(?:above|over(?! (?:the whole|all|its))|(?:greater|larger|higher|more|bigger) than|exceed\w*|in excess of"
    r"|(?:to (?:the|its) |on (?:the|its) )?right(?:-hand side)? of|north of|upwards? of|surpass\w*|past"
    r"|(?:upper|high|higher|top) side of|greater or equal than)"
)
BELOW = (
    r"(?:below|under|underneath|beneath|(?:less|smaller|lower) than|(?:to (?:the|its) |on (?:the|its) )?left(?:-hand side)? of"
    r"|south of|(?:fall|falls|fell|falling|stops?|stay|stays|are|is|be) (?:just |well |a little )?(?:short|shy) of|short of|shy of|undercut\w*"
    r"|(?:lower|low|bottom|under) side of)"
)
DOWN_TO = r"(?:as (?:low|small|little) as|(?:extends?|goes|go|runs?|comes?|gets?|reach(?:es)?) down to|(?:drops?|falls?|dips?|sinks?|descends?) (?:down )?to|down to)"
"""Words that say how low an interval goes."""
UP_TO = r"(?:as (?:high|large|great|much|big) as|(?:extends?|goes|go|runs?|comes?|gets?|reach(?:es)?) up to|(?:rises?|climbs?) (?:up )?to|up to)"
"""Words that say how high it goes."""
GOES = phrases_of(
    r"(?:dip|drop|sink|descend|plunge|reach|extend|stretch|rise|climb|stray|poke|spill|venture|go|goes|going|get)(?:s|ed|ing|es|ped|ping)?"
)
"""What an interval does with one of its ends: "dips below one"."""

END = words_of("bound limit end edge value endpoint end-point estimate extreme boundary margin")
LOWER = phrases_of(
    rf"(?:lower|low|smallest|lowest|left|bottom|minimum|left-hand)[ -]+(?:[\w<>%-]+ ){{0,2}}?{END}",
    r"(?:starts?|begins?|commences?|opens?|starting|beginning)",
)
UPPER = phrases_of(
    rf"(?:upper|high|largest|highest|right|top|maximum|right-hand)[ -]+(?:[\w<>%-]+ ){{0,2}}?{END}",
    r"(?:(?<!both )(?<!two )(?<!the )(?<!its )ends|stops|finishes|closes|terminates|ending|stopping)",
)
WHOLE = phrases_of(
    "intervals?|ci|range|band|span",
    f"(?:both|two|each of the|all) (?:of (?:its|the) )?(?:[\\w<>%-]+ )?(?:{END}|ends|edges)s?",
    "bounds|limits|ends|edges|endpoints|extremes",
    r"entire\w*|wholly|whole|completely|fully|throughout|in full",
    "all (?:the |of the )?(?:[\\w<>%-]+ ){0,2}values|every(?: [\\w<>%-]+){0,2} value",
)
SOME = phrases_of(
    r"(?:(?:any|some|no|not any|a|not a|only) (?:part|portion|piece|section|stretch|segment|bit)|parts?|portion|neither|none|never|nowhere"
    r"|at no point|(?:no|not a|any|some|not a single|not one) (?:(?:single|plausible|compatible|possible|credible) )*(?:values?|bound|limit|end|point|number|ratio))"
)
"""What speaks of any of an interval's values, not of them all."""
POINT = phrases_of("(?:point )?estimates?|point")
TOLD = phrases_of(
    "intervals?|ci|range|bounds?|limits?|compatible|plausible|values?|ruled out|excludes?|excluded|ends?|it|which|both"
)
"""Whether a sentence may speak of an interval at all."""
GENERAL = phrases_of(
    r"if|would|whether|further|closer|nearer|farther|suppose",
    r"(?<!from )(?<!to )(?<!and )(?<!at )(?:an?|any) (?:<m:[\w-]+>|ratio|value|difference|interval) (?:that \w+ |which \w+ )?(?:above|below|greater|less|larger|smaller|over|under|includes?|contain|equal)",
)
"""What says how intervals are read, not what this one is."""
