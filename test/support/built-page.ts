/** The real page, built into a folder of its own so that `dist` is neither needed nor touched. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

export interface BuiltPage {
  readonly uiDir: string;
  remove(): void;
}

export async function buildPage(): Promise<BuiltPage> {
  const uiDir = mkdtempSync(join(tmpdir(), "pimcp-page-"));
  await build({
    configFile: join(import.meta.dirname, "../../ui/vite.config.ts"),
    logLevel: "warn",
    build: { outDir: uiDir, emptyOutDir: true },
  });
  return { uiDir, remove: () => rmSync(uiDir, { recursive: true, force: true }) };
}
