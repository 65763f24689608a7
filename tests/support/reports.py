"""Reports on one table: by hand, a good one and three with one fault each; by the simulator."""

import random

from biaswatch.services.evaluator.domain.writing.prompt import writing_prompt
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.services.simulator.domain.planted_bias import PlantedModel, ReportFault
from biaswatch.services.simulator.domain.written_reports import report_answer
from biaswatch.shared.contracts import Subject

COUNTS = (60, 140, 30, 170)
GROUPS = ("northerners", "southerners")
COMPLETE = """\
#### Executive Summary
Sentences of the third strike are compared between northerners and southerners. The statistics show a strong disparity that disfavours northerners.

#### Findings

##### What statistical methods were used?
An odds ratio sets the odds of an outcome in one group against those in another. A relative risk does the same with plain shares. A chi-square test asks whether chance alone could part the groups as far.

##### What meaning and trends did we find?
The Odds Ratio is 2.429 with a 95% confidence interval of (1.485, 3.972), which excludes 1 and is rather wide. The Relative Risk is 2.000 with a 95% confidence interval of (1.351, 2.960), which excludes 1 as well. The difference between the two is what a common outcome produces, because odds grow faster than shares. The Chi-Square Test has the statistic 12.9032 and a p-value of 0.0003, which is significant at the 0.05 level. All three agree that northerners receive the sentence more often.

##### What ethical considerations are necessary when interpreting this result?
The statistics describe sentencing outcomes and cannot show their cause. They must not be read as a tendency of any group towards crime.

#### Analytical Constraints and Considerations

##### What is the input dataset unable to tell us and why?
There are 400 cases, far more than the 15 a group needs, so that the estimates are fairly precise. The data show one day and leave out the circumstances of each case. Legal and statistical experts should be asked before anybody acts.

##### Key Terms and Methodology
An odds ratio compares odds. A relative risk compares shares. A chi-square test compares counts with what chance would give. A confidence interval holds values that fit the data. A p-value says how often chance gives as much.
"""  # noqa: E501 - a report's paragraph is one line
WRONG_INTERVAL = COMPLETE.replace("(1.485, 3.972)", "(1.286, 3.470)")
SWAPPED_INTERVAL = COMPLETE.replace("(1.485, 3.972)", "(1.351, 2.960)")
HEADING_MISSING = COMPLETE.replace(
    "##### What ethical considerations are necessary when interpreting this result?\n", ""
)
PLANTED = {
    "interval values wrong": (WRONG_INTERVAL, "number"),
    "the other ratio's interval": (SWAPPED_INTERVAL, "place"),
    "a heading missing": (HEADING_MISSING, "structure"),
}
"""Each with the kind of the fault that code is to find."""


def written_report(subject: Subject, *faults: ReportFault) -> str:
    """Return the reply of a simulated writer, with planted faults."""
    prompt = writing_prompt(subject, load_rubric().profiles["general"])
    model = PlantedModel(report_faults=faults)
    return report_answer(prompt, model, random.Random(1))
