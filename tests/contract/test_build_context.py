"""An image is built from the source and from no key beside it."""

import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest

PLANTED = "planted-in-the-context"
BESIDE = (
    *("deploy/secrets/generator.seed", "deploy/secrets/biaswatch_openai_api_key", ".env"),
    *("tokens.yaml", ".biaswatch/store.db", "keys/ca.key", "docs/notes.txt"),
)
"""Outside of what is named."""
WITHIN = (
    *("services/generator.seed", "shared/keys/operator.seed", "services/gateway/.env.local"),
    *("biaswatch/local/tls.key", "suites/tls.pem", "suites/store.db-wal", "shared/my-tokens.yaml"),
    *("services/gateway/tokens.yaml", "biaswatch/authorization.conf", "requirements/.env"),
    *("services/notifier/channels.yaml", "services/notifier/secrets/chat_url"),
    *("services/gateway/otlp-headers.yaml", "shared/store/.pgpass"),
)
"""Inside of a folder that is copied."""


def context(root: Path) -> set[str]:
    """Return the files that go into the build context, by the rules of `.dockerignore`.

    The last rule that matches a file, or a folder above it, decides.
    """
    lines = (root / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]

    def enters(path: Path) -> bool:
        inside = True
        for rule in rules:
            pattern, takes = rule.removeprefix("!"), rule.startswith("!")
            above = [path, *path.parents][:-1]
            if any(matches(item, pattern) for item in above):
                inside = takes
        return inside

    files = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {path.as_posix() for path in files if enters(path)}


def matches(path: Path, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch(path.name, pattern.removeprefix("**/"))
    return len(path.parts) == pattern.count("/") + 1 and fnmatch(path.as_posix(), pattern)


@pytest.fixture
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    shutil.copy(request.config.rootpath / ".dockerignore", tmp_path)
    for name in (*BESIDE, *WITHIN, "services/gateway/app.py", "deploy/image/install"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PLANTED)
    return tmp_path


def test_no_key_beside_or_within_the_source_goes_into_an_image(tree: Path) -> None:
    assert context(tree) == {"services/gateway/app.py", "deploy/image/install"}
