"""The verbs `login` and `logout`: sign in at the issuer that a gateway names."""

import asyncio

import typer

from biaswatch.cli.options import gateway
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import check_address
from biaswatch.local.logins import Login, LoginFile, confirmed_login, device_code, revoke
from biaswatch.render.terminal import printable
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.network.openid import issuer_document
from biaswatch.shared.runtime.settings import Settings, load_settings


def login() -> None:
    """Sign in at a gateway's OpenID Connect issuer; later commands use and refresh the login."""
    server = _server()
    login = asyncio.run(_signed_in(server))
    _file().write(server, login)
    typer.echo(f"Signed in. Commands with --server {server} use this login.")


async def _signed_in(server: str) -> Login:
    client = GatewayClient(server)
    try:
        view = await client.sign_in()
    finally:
        await client.close()
    document = await issuer_document(view.issuer)
    device = await device_code(view, document)
    typer.echo(f"Open {printable(device.address)} and confirm the code {printable(device.code)}")
    return await confirmed_login(view, document, device)


def logout() -> None:
    """Forget the login at a gateway, and end it at the issuer."""
    server = _server()
    login = _file().read(server)
    if login is None:
        raise UsageError(f"There is no login for {server}.")
    _file().write(server, None)
    try:
        ended = asyncio.run(revoke(login))
    except TransientError as error:
        typer.echo(f"Forgotten here, but not ended at the issuer. {printable(str(error))}")
        return
    typer.echo("Signed out." if ended else "Forgotten here; the issuer ends logins by itself.")


def _server() -> str:
    server = gateway().server
    if server is None:
        raise UsageError(
            "Name the gateway: --server https://host. The platform of this machine needs no login."
        )
    check_address(server)
    return server


def _file() -> LoginFile:
    return LoginFile(load_settings(Settings).state_dir)
