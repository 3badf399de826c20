/** What a client is called on the page. */
import { OWN_TOKEN_NAME } from "../../shared/principal.ts";
import { visibleLine } from "../../shared/visible-text.ts";

/** The person's own tokens are named by us or by them; a name that is all in quotes is one that a client chose, so none can pass for it. */
export function clientLabel({ principalId, client }: { readonly principalId: string; readonly client: string }): string {
  const name = `“${visibleLine(client, 200)}”`;
  if (!principalId.startsWith("token:")) return name;
  return client === OWN_TOKEN_NAME ? "your token" : `your token ${name}`;
}
