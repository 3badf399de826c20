/** What `import … from "pi-relay"` gives (declared/root.d.ts). Pi itself loads the extension alone. */
export { createMcpAdapter, default } from "../extension.ts";
export { parseMcpReference, resolveServerFromToolName } from "../../adapter/catalog/references.ts";
export { MCP_TOOL_APPROVAL_REQUEST_EVENT } from "../approval-broker.ts";
export { MCP_STATUS_EVENT } from "../mcp-status.ts";
export { namespaceProxyName, resolveMcpToolReferences } from "./references.ts";
