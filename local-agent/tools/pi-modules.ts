/**
 * Pi's tools, from the modules themselves: the package's root would bring its terminal interface and every model SDK
 * (1.5 s and 95 MB instead of a tenth of both). The version is pinned exactly, and a test holds that names, texts and
 * schemas are those of the public root.
 *
 * PI_OFFLINE and PI_CODING_AGENT_DIR must be set before this module is loaded: Pi reads the directory at import.
 */
export {
  createBashToolDefinition,
  createEditToolDefinition,
  createFindToolDefinition,
  createGrepToolDefinition,
  createLocalBashOperations,
  createLocalPowerShellOperations,
  createLsToolDefinition,
  createPowerShellToolDefinition,
  createReadToolDefinition,
  createWriteToolDefinition,
} from "../../node_modules/@earendil-works/pi-coding-agent/dist/core/tools/index.js";
export { resolveToCwd } from "../../node_modules/@earendil-works/pi-coding-agent/dist/core/tools/path-utils.js";
export { detectSupportedImageMimeType } from "../../node_modules/@earendil-works/pi-coding-agent/dist/utils/mime.js";
export { getShellConfig } from "../../node_modules/@earendil-works/pi-coding-agent/dist/utils/shell.js";
export { validateToolArguments } from "@earendil-works/pi-ai/utils/validation";
