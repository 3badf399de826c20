/** Names of workspaces, and where on its relay each one lies. The default workspace has no name, which is `null` everywhere. */

/** The object of the workspace without a name. Nobody may take this name, so the two can never be one. */
export const DEFAULT_WORKSPACE = "default";

/** How a name is spelt. */
export const WORKSPACE_SPELLING = "1 to 32 lower-case letters, digits and hyphens, without a hyphen at either end";

/** What a name is: one that is spelt so and free. */
export const WORKSPACE_RULE = `${WORKSPACE_SPELLING}, and not "${DEFAULT_WORKSPACE}"`;

/** One spelling only, and nothing that a URL, a file system or a person could read in two ways. */
export function isWorkspaceName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(text) && text !== DEFAULT_WORKSPACE;
}

/** What stands between the origin and the paths of a workspace; `name` has passed `isWorkspaceName`. */
export function workspacePrefix(name: string | null): string {
  return name === null ? "" : `/w/${name}`;
}
