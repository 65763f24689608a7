"""An imitation of the API server over HTTP: lists, watches, patches, status, finalizers, events.

It holds callers to a Role, and objects to the schemas of their definitions, as the real one does.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonpatch
import jsonschema
import yaml
from aiohttp import web

from biaswatch.services.operator.domain.conditions import GROUP, VERSION
from tests.support.structural_schemas import as_json_schema, pruned, with_defaults

PERSON, ROBOT = "a-person", "the-operator"
"""Tokens: one may do everything, the other what a Role says."""
PLAIN = ("configmaps", "leases")
"""Kinds without a definition; the operator's manifests bring an object of each."""
NAMESPACES = ("biaswatch", "team-a")
VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete"}
Body = dict[str, Any]


class KubernetesApi:
    """Objects of some definitions and events, in any namespace."""

    def __init__(self, definitions: list[Body], rules: list[Body]) -> None:
        self._kinds = {
            definition["spec"]["names"]["plural"]: definition["spec"] for definition in definitions
        }
        self._rules = rules
        self._objects = {
            (plural, namespace, "operator"): {"metadata": {
                "name": "operator", "namespace": namespace, "resourceVersion": "1",
                "generation": 1, "uid": plural,
            }} for plural in PLAIN for namespace in NAMESPACES
        }  # fmt: skip
        self._told: list[Body] = []
        self._versions = count(2)
        self._changed = asyncio.Condition()
        self.events: list[Body] = []
        self.refused: list[str] = []
        """What the operator asked for and may not."""
        self.lease_reads = 0
        self.served = True
        """Whether the definitions are there."""

    def object_of(self, *key: str) -> Body:
        """Return an object by its plural, namespace and name."""
        plural, namespace, name = key
        return self._objects[plural, namespace, name]

    def take_lease(self, holder: str) -> None:
        """Give the Lease to another holder."""
        lease = self.object_of("leases", "biaswatch", "operator")
        lease["spec"] = {**lease["spec"], "holderIdentity": holder}
        lease["metadata"]["resourceVersion"] = str(next(self._versions))

    def app(self) -> web.Application:
        """Return the application."""
        app = web.Application(middlewares=[self._guard])
        one = "/apis/{group}/{version}/namespaces/{namespace}/{plural}"
        app.router.add_get("/api", self._core)
        app.router.add_get("/api/v1", self._core_resources)
        app.router.add_get("/apis", self._groups)
        app.router.add_get(f"/apis/{GROUP}/{VERSION}", self._resources)
        app.router.add_post("/api/v1/namespaces/{namespace}/{plural}", self._event)
        core = "/api/v1/namespaces/{namespace}/{plural}/{name}"
        app.router.add_get(core, self._get)
        app.router.add_patch(core, self._patch)
        app.router.add_get(one, self._list)
        app.router.add_post(one, self._create)
        for path in (f"{one}/{{name}}", f"{one}/{{name}}/{{sub}}"):
            app.router.add_get(path, self._get)
            app.router.add_patch(path, self._patch)
            app.router.add_delete(path, self._delete)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in {PERSON, ROBOT}:
            return _status(401, "Unauthorized")
        info = request.match_info
        if token == ROBOT and "plural" in info:
            verb = VERBS[request.method]
            if verb == "get" and "name" not in info:
                verb = "watch" if "watch" in request.query else "list"
            resource = "/".join(filter(None, (info["plural"], info.get("sub"))))
            group = info.get("group", "")
            if not any(
                group in rule["apiGroups"]
                and resource in rule["resources"]
                and verb in rule["verbs"]
                and info.get("name") in rule.get("resourceNames", [info.get("name")])
                for rule in self._rules
            ):
                self.refused.append(f"{verb} {group} {resource}")
                return _status(403, f"cannot {verb} {resource}")
        reply: web.StreamResponse = await handler(request)
        return reply

    async def _core(self, _: web.Request) -> web.Response:
        return web.json_response({"versions": ["v1"]})

    async def _core_resources(self, _: web.Request) -> web.Response:
        event = {"name": "events", "singularName": "", "kind": "Event", "namespaced": True,
                 "verbs": ["create", "list", "watch"]}  # fmt: skip
        space = {"name": "namespaces", "singularName": "", "kind": "Namespace",
                 "namespaced": False, "verbs": ["list", "watch"]}  # fmt: skip
        return web.json_response({"resources": [event, space]})

    async def _groups(self, _: web.Request) -> web.Response:
        version = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
        group = {"name": "biaswatch.io", "versions": [version], "preferredVersion": version}
        return web.json_response({"groups": [group] if self.served else []})

    async def _resources(self, _: web.Request) -> web.Response:
        if not self.served:
            return _status(404, "page not found")
        made = []
        for plural, spec in self._kinds.items():
            names = spec["names"]
            kind = {"kind": names["kind"], "namespaced": True, "singularName": names["singular"]}
            verbs = ["get", "list", "watch", "create", "patch", "delete"]
            made.append({"name": plural, **kind, "verbs": verbs})
            made.append({"name": f"{plural}/status", **kind, "verbs": ["get", "patch"]})
        return web.json_response({"resources": made})

    async def _event(self, request: web.Request) -> web.Response:
        event = await request.json()
        self.events.append(event)
        return web.json_response(event, status=201)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        plural, namespace = request.match_info["plural"], request.match_info["namespace"]
        if "watch" in request.query:
            return await self._watch(request, plural, namespace)
        items = [item for (p, n, _), item in self._objects.items() if (p, n) == (plural, namespace)]
        latest = str(max((int(e["object"]["metadata"]["resourceVersion"]) for e in self._told),
                         default=0))  # fmt: skip
        kind = self._kinds[plural]["names"]["listKind"]
        return web.json_response(
            {"kind": kind, "metadata": {"resourceVersion": latest}, "items": items}
        )

    async def _watch(self, request: web.Request, plural: str, namespace: str) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Type": "application/json"})
        await reply.prepare(request)
        since, sent = int(request.query.get("resourceVersion") or 0), 0
        while True:
            async with self._changed:
                while len(self._told) == sent:
                    await self._changed.wait()
                new, sent = self._told[sent:], len(self._told)
            for event in new:
                meta = event["object"]["metadata"]
                matches = event["plural"] == plural and meta["namespace"] == namespace
                if matches and int(meta["resourceVersion"]) > since:
                    line = {"type": event["type"], "object": event["object"]}
                    await reply.write(json.dumps(line).encode() + b"\n")

    async def _get(self, request: web.Request) -> web.Response:
        self.lease_reads += request.match_info["plural"] == "leases"
        body = self._objects.get(_key(request))
        return web.json_response(body) if body else _status(404, "not found")

    async def _create(self, request: web.Request) -> web.Response:
        body, info = await request.json(), request.match_info
        key = info["plural"], info["namespace"], body["metadata"]["name"]
        if key in self._objects:
            return _status(409, "already exists")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        body["metadata"] |= {
            "namespace": info["namespace"], "uid": str(uuid4()), "generation": 1,
            "creationTimestamp": now,
        }  # fmt: skip
        body.pop("status", None)
        return await self._keep(key, body, "ADDED", created=True)

    async def _patch(self, request: web.Request) -> web.Response:
        key, of_status = _key(request), request.match_info.get("sub") == "status"
        before = self._objects.get(key)
        if before is None:
            return _status(404, "not found")
        change = await request.json()
        version = before["metadata"]["resourceVersion"]
        meta = change.get("metadata", {}) if isinstance(change, dict) else {}
        if meta.get("resourceVersion", version) != version:
            return _status(409, "the object has been modified")
        try:
            after = _patched(before, change, request.headers["Content-Type"])
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
            return _status(422, str(error))
        if of_status:
            after = {**deepcopy(before), "status": after.get("status", {})}
        else:
            after.pop("status", None)
            after |= {"status": deepcopy(before["status"])} if "status" in before else {}
        fixed = {"uid", "creationTimestamp", "generation", "deletionTimestamp"}
        meta = before["metadata"]
        after["metadata"] |= {name: meta[name] for name in fixed & meta.keys()}
        after["metadata"]["generation"] += after.get("spec") != before.get("spec")
        if after == before:
            return web.json_response(before)
        return await self._keep(key, after, "MODIFIED")

    async def _delete(self, request: web.Request) -> web.Response:
        key = _key(request)
        before = self._objects.get(key)
        if before is None:
            return _status(404, "not found")
        after = deepcopy(before)
        if after["metadata"].get("finalizers"):
            after["metadata"].setdefault(
                "deletionTimestamp", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            )
        return await self._keep(key, after, "DELETED")

    async def _keep(
        self, key: tuple[str, str, str], body: Body, how: str, *, created: bool = False
    ) -> web.Response:
        """Store an object as it would be stored, and tell those who watch."""
        if key[0] not in PLAIN:
            schema = self._kinds[key[0]]["versions"][0]["schema"]["openAPIV3Schema"]
            body = with_defaults(schema, pruned(schema, body))
            try:
                jsonschema.validate(body, as_json_schema(schema))
            except jsonschema.ValidationError as error:
                return _status(422, f"{error.json_path}: {error.message}")
        meta = body["metadata"]
        meta["resourceVersion"] = str(next(self._versions))
        deleted = how == "DELETED" or "deletionTimestamp" in meta
        gone = deleted and not meta.get("finalizers")
        if gone:
            self._objects.pop(key, None)
        else:
            self._objects[key] = body
        async with self._changed:
            what = "DELETED" if gone else "MODIFIED" if how == "DELETED" else how
            self._told.append({"type": what, "plural": key[0], "object": deepcopy(body)})
            self._changed.notify_all()
        return web.json_response(body, status=201 if created else 200)


@asynccontextmanager
async def served_api(api: KubernetesApi, folder: Path) -> AsyncIterator["ApiServer"]:
    """Serve an imitation while the context lasts; the operator's kubeconfig lies in the folder."""
    runner = web.AppRunner(api.app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    [(host, port, *_)] = runner.addresses
    url = f"http://{host}:{port}"
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(_kubeconfig(url)))
    try:
        yield ApiServer(url, path)
    finally:
        await runner.cleanup()


class ApiServer:
    """Where an imitation is."""

    def __init__(self, url: str, kubeconfig: Path) -> None:
        self.url = url
        self.kubeconfig = kubeconfig


def _kubeconfig(url: str) -> Body:
    return {
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {"token": ROBOT}}],
    }


def _key(request: web.Request) -> tuple[str, str, str]:
    info = request.match_info
    return info["plural"], info["namespace"], info["name"]


def _status(code: int, message: str) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    return web.json_response({**body, "message": message}, status=code)


def _patched(before: Body, patch: Any, how: str) -> Body:
    if "json-patch+json" in how:
        made: Body = jsonpatch.apply_patch(deepcopy(before), patch)
        return made
    merged: Body = _merged(deepcopy(before), patch)
    return merged


def _merged(before: Any, patch: Any) -> Any:
    """Return a value after a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(before) if isinstance(before, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = _merged(made.get(name), value)
    return made
