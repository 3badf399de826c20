// Leaves out of the OAuth provider what it cannot reach as worker/oauth/provider.ts runs it: half of its bytes, see
// docs/decisions/0007. It is one file of classes, of which a bundler drops no method.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The version that was read to make the list: another may call from new places. */
const READ_VERSION = "1.2.3";

/** Names of methods and how many classes have one. Whoever calls them is named, or they are ours to call and we do not. */
const LEFT_OUT = [
  {
    why: "Enterprise-managed authorization: its grant type is refused before, because the option is not set.",
    methods: { handleJwtBearerGrant: 1, runEmaPipeline: 1, verifyAssertionSignature: 1, issueEmaAccessToken: 1, resolveNewTokenResource: 1 },
  },
  {
    why: "Token exchange: its grant type is refused before, because neither the option nor a callback is set.",
    methods: { handleTokenExchangeGrant: 1, exchangeToken: 2, resolveTokenExchangeResource: 1, callTokenExchangeCallback: 1 },
  },
  {
    why: "Consent pages and upstream sign-in: the page is ours, and consent is given on the workstation.",
    methods: {
      describeConsent: 1,
      isConsentRemembered: 1,
      beginConsent: 1,
      approveConsent: 1,
      denyConsent: 1,
      beginUpstream: 1,
      finishUpstream: 1,
    },
  },
  {
    why: "The protected resource and its metadata: only the combined role serves or sets them up, ours is the authorization server.",
    methods: {
      validateHandler: 1,
      assertRouteCoveredByResource: 1,
      findResourceServerForMetadataUrl: 1,
      findApiRouteForUrl: 1,
      matchApiRoute: 1,
      handleApiRequest: 1,
      handleProtectedResourceMetadata: 1,
      createExternalTokenErrorResponse: 1,
      buildWwwAuthenticateHeader: 1,
      getResourceMetadataUrlForRequest: 1,
      getConfiguredResourceMetadataUrl: 1,
    },
  },
  {
    why: "Purging and listing: rows expire in sql-kv.ts, and grants.ts lists them from the tables.",
    methods: { purgeExpiredData: 3, listClients: 1, listUserGrants: 1 },
  },
  {
    why: "Clients made or removed by hand: they register themselves, and expire.",
    methods: { createClient: 1, deleteClient: 1 },
  },
  {
    why: "Looking for a client's earlier grants: completeAuthorization is told to leave them alone (revokeExistingGrants).",
    methods: { findGrantIds: 1, findGrants: 1 },
  },
];

const PROVIDER_FILE = /[\\/]@cloudflare[\\/]workers-oauth-provider[\\/].*\.[cm]?js$/;
const name = "provider-without-unused-roles";

/** For esbuild. The build fails when the provider is another than the one that was read. */
export const providerWithoutUnusedRoles = {
  name,
  setup(bundle) {
    bundle.onLoad({ filter: PROVIDER_FILE }, async ({ path }) => ({ contents: await readProvider(path), loader: "js" }));
  },
};

/** The same for Vite: the Worker's tests inside workerd run on what is left, too. */
export const testedProviderWithoutUnusedRoles = { name, enforce: "pre", load: (path) => (PROVIDER_FILE.test(path) ? readProvider(path) : undefined) };

async function readProvider(path) {
  const { version } = JSON.parse(await readFile(join(dirname(path), "../package.json"), "utf8"));
  return leaveOut(await readFile(path, "utf8"), version);
}

/**
 * The provider's source, where every left-out method throws an error that names it: reaching one is a 500 that shows, never
 * a different answer. Throws a sentence when a name is missing, or there more or less often than it was read.
 */
export function leaveOut(source, version) {
  if (version !== READ_VERSION)
    throw new Error(`The OAuth provider is ${version}, the parts left out of it were chosen for ${READ_VERSION}: ${READ_IT_AGAIN}`);
  const counts = Object.assign({}, ...LEFT_OUT.map(({ methods }) => methods));
  const kept = Object.entries(counts).reduce((text, [name, count]) => withoutMethod(text, name, count), source);
  return `${kept}\nfunction leftOut(name) { throw new Error(name + " is left out of this build"); }\n`;
}

const READ_IT_AGAIN = "see in its source that nothing of ours reaches them, then correct scripts/provider-without-unused-roles.mjs.";

function withoutMethod(source, name, count) {
  // As the provider is published: one tab before a method of a class, and before the brace that ends it.
  const methods = new RegExp(`^(\\t(?:async )?\\*?${name})\\(.*\\) \\{\\n[^]*?^\\t\\}$`, "gm");
  const found = source.match(methods)?.length ?? 0;
  if (found !== count) throw new Error(`The OAuth provider has ${found} methods ${name}, expected ${count}: ${READ_IT_AGAIN}`);
  return source.replace(methods, (_method, head) => `${head}() { leftOut("${name}"); }`);
}
