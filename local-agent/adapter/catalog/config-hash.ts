/**
 * The fingerprint of a server's definition in the metadata cache. Other packages compute it on their own, so its text is fixed bit for
 * bit (docs/spec/upstream-catalog.md); a field that is added here makes their lookups find nothing.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { expandHome, expandPlaceholders, secretValue, variable } from "../config/expansion.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import type { Environment } from "../ports.ts";

export interface HashPorts {
  readonly env: Environment;
  /** Absolute home directory, for `~`. */
  readonly home: string;
  /** Hex SHA-256 of the UTF-8 text. */
  readonly sha256: (text: string) => string;
}

/** The canonical text of a field's value; undefined: the field is absent. */
type Reading = (value: JsonValue | undefined, place: HashPlace) => string;

interface HashPlace extends HashPorts {
  readonly entry: JsonObject;
}

/** Absent is written as the bare word, which is no JSON and so is no value either. */
const ABSENT = "undefined";

/** Every field that counts, in the order of the text, with how its value is read. */
const FIELDS: readonly (readonly [name: string, read: Reading])[] = [
  ["args", asIs],
  ["auth", asIs],
  ["bearerToken", token],
  ["bearerTokenEnv", asIs],
  ["command", asIs],
  ["cwd", path],
  ["env", secrets],
  ["excludeTools", asIs],
  ["exposeResources", asIs],
  ["headers", secrets],
  ["includeTools", asIs],
  ["protocolVersion", asIs],
  ["requestHeadersCommand", program],
  ["socket", path],
  ["url", url],
];

/**
 * Hex SHA-256 over the fields that decide what a server is and offers, with the environment as it is now. A URL whose variables are not
 * set is taken as it is written: no catalog was ever kept under that.
 */
export function configHash(definition: Pick<ServerDefinition, "entry" | "transport">, ports: HashPorts): string {
  const { entry } = definition;
  const literal = isLiteral(definition.transport);
  const members = FIELDS.map(([name, read]) => {
    const value = memberOf(entry, name);
    return `"${name}":${literal ? asIs(value) : read(value, { ...ports, entry })}`;
  });
  return ports.sha256(`{${members.join(",")}}`);
}

function memberOf(entry: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(entry, name) ? entry[name] : undefined;
}

/** An Agent Plugin's values stand for themselves. */
function isLiteral(transport: ServerDefinition["transport"]): boolean {
  if (transport.kind === "http") return transport.literal;
  return transport.kind === "stdio" && transport.plugin !== null;
}

function asIs(value: JsonValue | undefined): string {
  return value === undefined ? ABSENT : canonicalJson(value);
}

/** The variable's value stands in for a token that is not there. */
function token(value: JsonValue | undefined, place: HashPlace): string {
  if (value !== undefined && value !== null) return secret(value, place);
  const name = memberOf(place.entry, "bearerTokenEnv");
  return asIs((typeof name === "string" ? variable(place.env, name) : undefined) ?? value);
}

/** A command stays text: computing a hash runs nothing. */
function secret(value: JsonValue, { env }: HashPorts): string {
  if (typeof value !== "string") return asIs(value);
  const read = secretValue(value);
  return asIs(read.kind === "command" ? value : expandPlaceholders(read.text, env).text);
}

function secrets(value: JsonValue | undefined, place: HashPlace): string {
  if (!isJsonObject(value)) return asIs(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${secret(member, place)}`).join(",")}}`;
}

function path(value: JsonValue | undefined, { env, home }: HashPlace): string {
  return asIs(typeof value === "string" ? expandHome(expandPlaceholders(value, env).text, home) : value);
}

function url(value: JsonValue | undefined, { env }: HashPlace): string {
  if (typeof value !== "string") return asIs(value);
  const { text, missing } = expandPlaceholders(value, env);
  return asIs(missing.length > 0 ? value : text);
}

/** Its own four fields and no others; absent ones are written, too. */
function program(value: JsonValue | undefined, place: HashPlace): string {
  if (!isJsonObject(value)) return asIs(value);
  const plain = (member: JsonValue | undefined): string => asIs(typeof member === "string" ? expandPlaceholders(member, place.env).text : member);
  const args = memberOf(value, "args");
  const listed = Array.isArray(args) ? `[${args.map(plain).join(",")}]` : asIs(args);
  const timeout = asIs(memberOf(value, "timeoutMs"));
  return `{"args":${listed},"command":${plain(memberOf(value, "command"))},"env":${secrets(memberOf(value, "env"), place)},"timeoutMs":${timeout}}`;
}
