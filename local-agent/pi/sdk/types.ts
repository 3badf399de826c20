/** What `import … from "pi-relay/types"` gives: the names of the channels; the rest of it is declarations (declared/types.d.ts). */
export { MCP_TOOL_APPROVAL_REQUEST_EVENT } from "../approval-broker.ts";
export { MCP_STATUS_EVENT } from "../mcp-status.ts";
