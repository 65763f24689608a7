"""The tokens a gateway knows: of settings, and of a file that is read again when it changes."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts.access import TokenGrant, TokenRole, TokensFile, verifier_of
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.telemetry import TOKENS_FILE_WRONG, log

EXPECTED = "a tokens file is a mapping with `tokens`, `proxies` or `groups`"
Signature = tuple[int, int, int]


class KnownTokens:
    """Looks at the file for every request, so that a changed file counts at once."""

    def __init__(self, settings: GatewaySettings, *, now: Callable[[], datetime]) -> None:
        self.now = now
        self._path = settings.gateway_tokens_file
        self._guarded = settings.guarded
        self._fixed = tokens_of_settings(settings)
        self._seen = self._signature()
        self._known = self._with_fixed(self._read())

    @property
    def needed(self) -> bool:
        """Whether a request needs a token; without any file or setting, none does."""
        return self._guarded

    def current(self) -> TokensFile:
        """Return the tokens that count now.

        A file that cannot be read or understood changes nothing: the tokens before it stay, and
        the log and a metric say so until it is mended.
        """
        seen = self._signature()
        if seen != self._seen:
            self._seen = seen
            try:
                self._known = self._with_fixed(self._read())
                TOKENS_FILE_WRONG.set(0)
                log("gateway").info("the tokens file was read again", path=str(self._path))
            except (ConfigurationError, UsageError) as error:
                TOKENS_FILE_WRONG.set(1)
                log("gateway").error(
                    "the tokens file is wrong, and the tokens before it stay", why=str(error)
                )
        return self._known

    def _signature(self) -> Signature | None:
        """Return what changes with the file; None where it is not there."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> TokensFile:
        return TokensFile() if self._path is None else read_tokens_file(self._path)

    def _with_fixed(self, found: TokensFile) -> TokensFile:
        both = (*self._fixed, *found.tokens)
        return TokensFile.model_construct(tokens=both, proxies=found.proxies, groups=found.groups)


def read_tokens_file(path: Path) -> TokensFile:
    """Return what a tokens file says.

    Raises
    ------
    ConfigurationError
        It cannot be read, or is wrong; the sentence names the place.
    """
    text = read_text(path, "tokens file", ConfigurationError)
    fields = yaml_mapping(text, path, EXPECTED, ConfigurationError)
    return checked(TokensFile, fields, path, ConfigurationError)


def tokens_of_settings(settings: GatewaySettings) -> tuple[TokenGrant, ...]:
    """Return the tokens that single settings hold: of the tenant `default`, with texts."""
    # One text may be the token of several: the role that may do most comes first.
    given: list[tuple[str, TokenRole, SecretStr | None]] = [
        ("run", TokenRole.RUN, settings.gateway_run_token),
        ("operator", TokenRole.RUN, settings.gateway_operator_token),
        ("read", TokenRole.READ, settings.gateway_read_token),
        ("ingest", TokenRole.INGEST, settings.gateway_ingest_token),
    ]
    return tuple(
        TokenGrant(
            name=f"the {name} token",
            role=role,
            # The operator needs no text: verdicts and sentences of alarms are all it shows.
            texts=name in {"run", "read"},
            verifier=verifier_of(token.get_secret_value()),
        )
        for name, role, token in given
        if token
    )
