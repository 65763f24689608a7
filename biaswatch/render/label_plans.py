"""What labels of a number would bring, in the terminal."""

from rich.console import Console

from biaswatch.render.tables import escape, terminal_table
from services.gateway.labels.views import LabelPlan, repeats_in_words
from shared.formatting import number


def print_label_plan(found: LabelPlan) -> None:
    """Print what 50, 100, ... labels of each group would bring, and what few cannot show."""
    console = Console(emoji=False)
    groups = ", ".join(f"{name} {n}" for name, n in found.groups.items())
    console.print(escape(f"{found.extractor}.{found.feature} by {found.dimension}: {groups}."))
    console.print(
        f"By readings alone a gap of two groups has an interval of ± {number(found.by_readings)},"
        " which knows nothing of the instrument's error. With labels:"
    )
    rows = [
        (
            str(each.labels_of_a_group),
            "labels alone" if not each.correlation else f"{each.correlation:g}",
            f"± {number(each.half_width)}",
            number(each.smallest_gap),
        )
        for each in found.lines
    ]
    head = ("labels of a group", "if they correlate with readings", "interval", "found in 80 %")
    console.print(terminal_table(head, rows))
    console.print(escape(repeats_in_words(found)))
