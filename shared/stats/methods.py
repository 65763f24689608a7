"""Methods for comparisons of two groups and descriptions of all; see `catalogue`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CatalogueEntry:
    """A method and the question it answers."""

    question: str
    method: str
    function: str
    """Module and function or class, below `shared/stats`."""
    reference: str
    """The literature of the method."""
    calibration: str
    """Test or simulation that measures its error, below `tests` or in `calibration`."""

    @property
    def section(self) -> str:
        """Return the package of the method, a section of the page."""
        return self.function.split(".", maxsplit=1)[0]


COMPARISON_METHODS = (
    CatalogueEntry(
        "Do the means of two groups differ by more than a tolerance, or by less?",
        "bounded means for few, flat or skew values of a known range; else Student's t with a test"
        " of labels; pairs and single units joined",
        "comparisons.gap_test.compare_samples",
        "Gaffke 2005; Zou and Donner 2008; Student 1908; Stouffer et al. 1949; Schuirmann 1987",
        "calibration/comparisons, every shape",
    ),
    CatalogueEntry(
        "Are twins treated differently (names and texts as drawn)?",
        "exact sign flips of paired differences",
        "comparisons.sign_flips.sign_flip_p",
        "Fisher 1935; Pagano and Tritchler 1983; Horowitz and Sahni 1974",
        "tests/unit/stats/test_sign_flips.py",
    ),
    CatalogueEntry(
        "The same for several groups and features at once?",
        "joint exchange of all labels within sets: largest statistic, step-down over features;"
        " closed testing over groups",
        "comparisons.joint_exchange.joint_exchange",
        "Westfall and Young 1993; Marcus, Peritz and Gabriel 1976; Ryan 1960",
        "tests/unit/stats/test_joint_exchange.py",
    ),
    CatalogueEntry(
        "Does the group matter beyond the drawn names, texts and templates?",
        "t test, cluster-robust in every random factor at once, within texts",
        "comparisons.random_factors.random_factor_gap",
        "Cameron, Gelbach and Miller 2011; Clark 1973; Judd, Westfall and Kenny 2012",
        "tests/unit/stats/test_random_factors.py",
    ),
    CatalogueEntry(
        "Do two independent groups of unlike spread and size have one mean?",
        "studentised exchange of labels",
        "comparisons.studentised_exchange.studentised_exchange_p",
        "Janssen 1997; Chung and Romano 2013; Besag and Clifford 1991",
        "tests/unit/stats/test_studentised_exchange.py",
    ),
    CatalogueEntry(
        "The same of exactly these prompts (`claim: bank`)?",
        "Student's t over answers within prompts, else bounded means; a bound where none vary",
        "comparisons.fixed_prompts.fixed_prompts_gap",
        "Cochran 1977, 5.3; Satterthwaite 1946; Chernoff 1952",
        "calibration/comparisons, shapes/banks",
    ),
    CatalogueEntry(
        "How large is the mean of a group?",
        "one side of the curve of a gap",
        "comparisons.mean_interval.mean_interval",
        "Gaffke 2005; Student 1908",
        "tests/calibration/test_mean_intervals.py",
    ),
    CatalogueEntry(
        "How large is the share of a group that is selected, and the ratio of two shares?",
        "mid-p Clopper-Pearson for whole units; delta interval on the logarithm of the ratio",
        "comparisons.mean_interval.impact_ratio_of_means",
        "Clopper and Pearson 1934; Lancaster 1961; Katz et al. 1978",
        "tests/calibration/test_mean_intervals.py",
    ),
    CatalogueEntry(
        "Did a mean, or a gap, change between two runs?",
        "comparison of pairs of runs; on a bank, a gap of halves; curves of two gaps joined where"
        " prompts differ",
        "comparisons.changes.gap_change",
        "Zou and Donner 2008",
        "tests/calibration/test_run_changes.py",
    ),
    CatalogueEntry(
        "Do the effects of two dimensions add up, or is there an interaction?",
        "sign flips of the difference of gaps in complete 2 x 2 sets; else Hotelling's statistic"
        " over sets, or Welch and James's",
        "groups.interactions.interaction_test",
        "Hotelling 1931; Johansen 1980",
        "tests/unit/stats/test_interactions.py",
    ),
    CatalogueEntry(
        "Do error rates against the truth differ, and by how much?",
        "gaps of means over the rows that meet each rate's condition; the largest gap by intervals"
        " that cover together",
        "groups.error_rates.rate_rows",
        "Hardt, Price and Srebro 2016; Agarwal et al. 2018",
        "tests/unit/api/test_error_rates.py",
    ),
    CatalogueEntry(
        "Are the twins of fixed prompts, or of unequal numbers of answers, treated differently?",
        "exchange of answers within sets: all up to 10,000, else random ones",
        "comparisons.answer_exchange.answer_exchange_p",
        "Fisher 1935; Phipson and Smyth 2010",
        "tests/unit/stats/test_answer_exchange.py",
    ),
    CatalogueEntry(
        "The same at any size, without random numbers?",
        "saddlepoint approximation of all relabellings",
        "comparisons.label_tests.exchange_p",
        "Skovgaard 1987",
        "tests/calibration/test_exact_sizes.py",
    ),
    CatalogueEntry(
        "Are the values of one group larger by rank?",
        "Mann-Whitney's U: exact, normal with ties, or permuted",
        "comparisons.ranks.mann_whitney_p",
        "Mann and Whitney 1947; Lehmann 1975",
        "tests/calibration/test_inference.py",
    ),
    CatalogueEntry(
        "How large is a difference in units of spread?",
        "Hedges' g, d_z for pairs; interval by the noncentral t",
        "comparisons.effect_size.hedges_g",
        "Hedges 1981; Cohen 1988; Steiger and Fouladi 1997",
        "tests/calibration/test_inference.py",
    ),
    CatalogueEntry(
        "Which comparisons of a family remain after correction?",
        "Bonferroni, Holm, Benjamini-Hochberg, Benjamini-Yekutieli",
        "comparisons.multiplicity.adjust",
        "Dunn 1961; Holm 1979; Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001",
        "tests/calibration/test_inference.py",
    ),
    CatalogueEntry(
        "Do groups miss the same share of answers?",
        "chi-square, Fisher's test, or random tables with the same margins",
        "comparisons.missingness.missingness",
        "Pearson 1900; Fisher 1935; Wilson 1927",
        "tests/calibration/test_inference.py",
    ),
    CatalogueEntry(
        "How many prompts and repeats detect a gap?",
        "simulation of the test itself",
        "comparisons.planned_power.simulated_power",
        "Cohen 1988",
        "tests/calibration/test_planned_power.py",
    ),
    CatalogueEntry(
        "Which of these follow from the sums of a large table alone?",
        "Student's t from sums",
        "comparisons.gaps_from_sums.gap_from_sums",
        "Student 1908; Zou and Donner 2008",
        "tests/calibration/test_same_data.py",
    ),
    CatalogueEntry(
        "How are the values of a group distributed?",
        "mean, spread, shape, quantiles, mode, selection rates; against a baseline: divergence,"
        " correlation, precision",
        "groups.summary.summarise",
        "Joanes and Gill 1998; Hyndman and Fan 1996; Lin 1991; Kendall 1945",
        "tests/unit/stats/test_summary_golden.py",
    ),
    CatalogueEntry(
        "How far apart are all groups of a dimension?",
        "range, ratio, standard deviation, Z-scores, Dixon's Q",
        "groups.disparity.disparities",
        "Dixon 1950; Rorabacher 1991; Shiffler 1988",
        "tests/unit/stats/test_summary_golden.py",
    ),
    CatalogueEntry(
        "How far apart would chance put them?",
        "medians of range and ratio under random exchanges of labels within sets",
        "groups.null_disparities.disparities_by_chance",
        "Pitman 1937",
        "tests/unit/stats/test_permutations.py",
    ),
    CatalogueEntry(
        "Does any mean of several groups differ?",
        "Welch-type statistic, labels permuted",
        "groups.overall.overall_test",
        "Welch 1951; Pauly, Brunner and Konietschke 2015",
        "tests/calibration/test_overall.py",
    ),
    CatalogueEntry(
        "How precise are means that share sets, and what do they borrow from one another?",
        "cluster-robust covariance; empirical Bayes",
        "groups.group_means.shrunken_means",
        "Liang and Zeger 1986; Morris 1983; Paule and Mandel 1982; Evans et al. 2018",
        "tests/unit/stats/test_shrunken_means.py",
    ),
    CatalogueEntry(
        "Which ranks of groups are compatible with the data?",
        "simultaneous intervals of all differences",
        "groups.mean_ranks.ranks_of_means",
        "Mogstad, Romano, Shaikh and Wilhelm 2024",
        "tests/calibration/test_mean_ranks.py",
    ),
)
