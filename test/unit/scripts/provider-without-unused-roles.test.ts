import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaveOut } from "../../../scripts/provider-without-unused-roles.mjs";

const provider = join(import.meta.dirname, "../../../node_modules/@cloudflare/workers-oauth-provider");
const source = readFileSync(join(provider, "dist/oauth-provider.js"), "utf8");
const { version } = JSON.parse(readFileSync(join(provider, "package.json"), "utf8")) as { version: string };

test("a method of the provider that is left out throws an error that names it, the others stay", () => {
  const made = leaveOut(source, version);
  expect(made).toContain('\n\tasync handleJwtBearerGrant() { leftOut("handleJwtBearerGrant"); }\n');
  expect(made).toContain('\n\tasync *findGrants() { leftOut("findGrants"); }\n');
  const methods = (text: string) => text.match(/^\t(?:async |get )?\*?\w+\(.*\) \{/gm)?.map((line) => line.slice(0, line.indexOf("(")));
  expect(methods(made)).toEqual(methods(source));
  const bodyOf = (name: string) => new RegExp(`^\\t(?:async )?${name}\\([^]*?^\\t\\}$`, "m").exec(made)?.[0];
  for (const name of ["parseAuthRequest", "completeAuthorization", "updateClient", "revokeGrant", "handleClientRegistration", "revokeToken"]) {
    expect(source).toContain(bodyOf(name) ?? "nothing");
  }
});

test.for<[string, string, string, RegExp]>([
  ["another version", source, "1.2.4", /^The OAuth provider is 1\.2\.4, the parts left out of it were chosen for 1\.2\.3: see in its source/],
  [
    "a method renamed",
    source.replace("\tasync runEmaPipeline(", "\tasync runPipeline("),
    version,
    /^The OAuth provider has 0 methods runEmaPipeline, expected 1: /,
  ],
  ["a method added", `${source}\nvar More = class {\n\tasync listClients(options) {\n\t}\n};\n`, version, /has 2 methods listClients, expected 1: /],
])("the build fails with a sentence at %s", ([, text, ofVersion, sentence]) => {
  expect(() => leaveOut(text, ofVersion)).toThrow(sentence);
});
