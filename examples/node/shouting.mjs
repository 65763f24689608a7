// A drop-in extractor in JavaScript: how much of a text is in capital letters.
import { connect, nkeyAuthenticator } from "@nats-io/transport-node";
import { Svcm } from "@nats-io/services";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";

const NAME = "shouting", VERSION = "1.0.0";
const seed = process.env.BIASWATCH_NATS_SEED_FILE;
const here = `${homedir()}/.biaswatch/platform.json`; // where `biaswatch up` writes its addresses
const upHere = existsSync(here) ? JSON.parse(readFileSync(here, "utf8")).nats_url : undefined;
const bus = await connect({
  servers: (process.env.NATS_URL ?? upHere ?? "nats://127.0.0.1:4222").split(","),
  inboxPrefix: "_INBOX_dropin",
  maxReconnectAttempts: -1,
  ...(seed && { authenticator: nkeyAuthenticator(Buffer.from(readFileSync(seed, "utf8").trim())) }),
});
const service = await new Svcm(bus).add({
  name: `extractor-${NAME}`, version: VERSION, metadata: { role: "extractor", contract: "1" },
});
const serve = (what, answer) => service.addEndpoint(what, {
  subject: `ext.v1.${NAME}.${what}`,
  handler: (_, request) => {
    try { request.respond(JSON.stringify(answer(request))); }
    catch { request.respondError(422, "this is no call"); }
  },
});
const measure = ({ id, text }) => {
  const letters = text.match(/\p{L}/gu) ?? [];
  if (!letters.length) return { id, unscorable: "no letters" };
  return { id, values: { capitals: (text.match(/\p{Lu}/gu) ?? []).length / letters.length } };
};
serve("spec", () => ({ contract: "1", name: NAME, version: VERSION, features: ["capitals"], instrument: "share of capital letters" }));
serve("check", () => ({ status: "ok" }));
serve("extract", (request) => ({ version: VERSION, results: request.json().texts.map(measure) }));
console.log(`${NAME} is served`);
process.on("SIGTERM", () => bus.drain().then(() => process.exit(0)));
