"""The builder's composition root: who reads, who answers, who ranks."""

from pathlib import Path

from services.builder.domain.continuations import RuleVerbs
from services.builder.domain.plan import Plan
from services.builder.domain.ranking import LexicalRanking
from services.builder.handlers.asking import Asker, Nobody, Scripted
from services.builder.handlers.building import Build
from services.builder.handlers.reading import ReadSources
from services.builder.settings import BuilderSettings


def build_of(
    plan: Plan, home: Path, settings: BuilderSettings, asker: Asker | None = None
) -> Build:
    """Give the build of a plan whose files lie in `home`.

    Without an asker the plan's script answers, or nobody.
    """
    if asker is None:
        script = plan.model.script if plan.model else None
        asker = Scripted(home / script) if script else Nobody()
    return Build(
        plan,
        home,
        sources=ReadSources(),
        asker=asker,
        ranking=LexicalRanking(),
        verbs=RuleVerbs(),
    )
