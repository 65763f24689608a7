"""The realm of the Keycloak example fits its compose file, its groups and docs/access.md."""

import json
import re
from pathlib import Path

import yaml

from biaswatch.services.gateway.callers import read_tokens_file
from biaswatch.services.gateway.sign_in.routes import SIGN_IN_PATH

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "sign-in"
REALM = json.loads((FOLDER / "realm.json").read_text())


def variables() -> dict[str, str]:
    """Return the variables that the page sets for the gateway."""
    return dict(re.findall(r"(BIASWATCH_GATEWAY_\w+)=(\S+)", (ROOT / "docs/access.md").read_text()))


def test_the_page_names_the_realm_and_its_clients() -> None:
    set_there, [keycloak] = (
        variables(),
        yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"].values(),
    )
    [port] = [part.rpartition(":")[2] for part in keycloak["ports"]]
    issuer = f"http://localhost:{port}/realms/{REALM['realm']}"
    assert set_there["BIASWATCH_GATEWAY_OIDC_ISSUER"] == issuer
    assert f"--http-port={port}" in keycloak["command"]
    assert (ROOT / set_there["BIASWATCH_GATEWAY_TOKENS_FILE"]).exists()
    clients = {client["clientId"]: client for client in REALM["clients"]}
    pages = clients[set_there["BIASWATCH_GATEWAY_OIDC_CLIENT"]]
    assert pages["secret"] == set_there["BIASWATCH_GATEWAY_OIDC_SECRET"]
    assert all(address.endswith(f"{SIGN_IN_PATH}/callback") for address in pages["redirectUris"])
    command_line = clients[set_there["BIASWATCH_GATEWAY_OIDC_CLI_CLIENT"]]
    assert command_line["publicClient"]
    assert command_line["attributes"]["oauth2.device.authorization.grant.enabled"] == "true"


def test_people_have_groups_with_a_role_and_tokens_name_them() -> None:
    roles = {grant.group for grant in read_tokens_file(FOLDER / "tokens.yaml").groups}
    groups = {group["name"] for group in REALM["groups"]}
    assert roles == groups == {group for user in REALM["users"] for group in user["groups"]}
    for client in REALM["clients"]:
        [mapper] = client["protocolMappers"]
        assert mapper["config"]["claim.name"] == "groups"
        assert mapper["config"]["id.token.claim"] == "true"
