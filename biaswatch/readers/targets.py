"""Read targets and their files on the command line, and check them before a run starts."""

import hashlib
import re
import shutil
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from biaswatch.services.generator.domain.model_calls import price_of
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Budget, Run, Suite, Target, parse_target, probes_of
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.contracts.target import ROLE
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.llm.http_app import read_application
from biaswatch.shared.llm.local_models import gguf_file
from biaswatch.shared.llm.replay import read_recording
from biaswatch.shared.runtime.settings import load_settings


def read_target(written: str) -> Target:
    """Parse a target, with the parameters from its file.

    Raises
    ------
    UsageError
        The target or its file is invalid, or the file cannot be read.
    """
    return parse_target(with_file(written))


def with_file(written: str) -> str:
    """Add the parameters from its file to a target, since the gateway opens no files."""
    name, _, rest = written.partition(":")
    path, mark, query = rest.partition("?")
    if name not in PROVIDERS or PROVIDERS[name].request_model is not Application or not path:
        return written
    parameters = {item.partition("=")[0] for item in query.split("&")} - {"", ROLE}
    if parameters & Application.model_fields.keys():
        return written
    if parameters:
        raise UsageError(
            f"The target {written!r} takes no parameters; write them into the request of its file."
        )
    return f"{written}{'&' if mark else '?'}{read_application(Path(path)).as_parameters()}"


def check_scaffolds(suite: Suite, targets: Sequence[Target], scaffolds: Sequence[str]) -> None:
    """Raise UsageError if a scaffold cannot present a probe; recordings are not checked."""
    live = [target for target in targets if not PROVIDERS[target.provider].recorded]
    if not live:
        return
    strictest = max(live, key=lambda target: target.in_batches)
    at = datetime.now(UTC)
    run = Run(
        at=at,
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(strictest,),
        scaffolds=tuple(scaffolds),
    )
    for probe in probes_of(run, suite, at):
        try:
            scaffold_of(probe.scaffold).first(probe)
        except UnfitProbe as unfit:
            raise UsageError(
                f"The scaffold {probe.scaffold} cannot present the probe {probe.key}: {unfit}"
            ) from None


def check_means(targets: Sequence[Target], budget: Budget, settings: GeneratorSettings) -> None:
    """Raise ConfigurationError if a key, or a price for the cost budget, is missing."""
    prices = settings.prices()
    for target in targets:
        if PROVIDERS[target.provider].key_variable:
            settings.key_for(target.provider, target.base_url)
        if budget.cost is not None and price_of(target, prices) is None:
            raise ConfigurationError(
                f"The price of {target.name} is unknown, so its cost cannot be limited. Add"
                f" {target.model} to the file named by BIASWATCH_PRICES_FILE."
            )


def check_recordings(targets: Sequence[Target]) -> None:
    """Raise UsageError if recorded answers on this machine cannot be read."""
    for target in targets:
        if PROVIDERS[target.provider].recorded:
            read_recording(Path(target.model))


def check_local(targets: Sequence[Target]) -> None:
    """Raise UsageError if a local model or its server is not on this machine."""
    for target in targets:
        if PROVIDERS[target.provider].local:
            try:
                gguf_file(target.model)
            except ConfigurationError as error:
                raise UsageError(str(error)) from None


def check_simulated(targets: Sequence[Target], known: Collection[str]) -> None:
    """Raise UsageError if the simulator has no such model."""
    for target in targets:
        if PROVIDERS[target.provider].simulated and target.model not in known:
            raise UsageError(
                f"The simulator has no model {target.model!r}; it has {', '.join(sorted(known))}."
            )


KEPT = "recordings"
"""The state directory's folder of recordings; a local generator reads no others."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def recordings_folder(state_dir: Path) -> Path:
    """Return the default folder of recordings of a local platform."""
    return state_dir / KEPT


def kept_name(file: Path) -> str:
    """Copy recorded answers to the generator's folder; return their name there.

    Raises
    ------
    UsageError
        The file cannot be read or copied.
    """
    settings = load_settings(GeneratorSettings)
    if (own := settings.generator_recordings_dir) is not None:
        inside = file.resolve().is_relative_to(own.resolve())
        return str(file.resolve().relative_to(own.resolve()) if inside else file.absolute())
    folder = recordings_folder(settings.state_dir)
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        name = f"{_NOT_IN_NAMES.sub('-', file.stem)[:64]}-{digest[:12]}{file.suffix}"
        if not (folder / name).exists():
            _copy(file, folder / name)
    except OSError as error:
        raise UsageError(
            f"The recorded answers {file} cannot be copied to {folder} ({error.strerror})."
        ) from None
    return name


def _copy(file: Path, to: Path) -> None:
    """Copy atomically, so that concurrent readers never see a partial file."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=to.parent, delete=False) as half, file.open("rb") as opened:
        shutil.copyfileobj(opened, half)
    Path(half.name).replace(to)


def sent_target(written: str, server: str | None) -> str:
    """Convert a target for the gateway; copy recorded answers for a local gateway.

    Raises
    ------
    UsageError
        Its file is invalid, or cannot be read or copied.
    """
    name, _, rest = written.partition(":")
    if name in PROVIDERS and PROVIDERS[name].local:
        return _with_whole_path(name, rest)
    if name not in PROVIDERS or not PROVIDERS[name].recorded:
        return with_file(written)
    here = server is None and Path(rest).is_file()
    return f"{name}:{kept_name(Path(rest))}" if here else written


def _with_whole_path(provider: str, rest: str) -> str:
    """Return a local target whose file the generator finds from any folder."""
    path, mark, query = rest.partition("?")
    whole = str(Path(path).resolve()) if path.endswith(".gguf") else path
    return f"{provider}:{whole}{mark}{query}"
