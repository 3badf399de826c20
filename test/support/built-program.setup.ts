/**
 * Global set-up of the projects that run the real program: builds `dist` when a source changed and takes a copy, so that
 * one run tests one build even when somebody builds meanwhile.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** `pimcp.mjs` of the copy. */
    readonly program: string;
  }
}

interface Preparation {
  ensureBuild(root: string, node: string, env: NodeJS.ProcessEnv): Promise<void>;
}
interface SetupLock {
  withSetupLock<T>(path: string, work: () => Promise<T>): Promise<T>;
}

const root = join(import.meta.dirname, "../..");

export default async function setup(project: TestProject): Promise<() => void> {
  // Below node_modules, so that what the bundle leaves outside is found.
  const copy = join(root, `node_modules/.cache/program-${process.pid}-${project.name}`);
  const prepare = (await import(join(root, "scripts/run/prepare.mjs"))) as Preparation;
  const lock = (await import(join(root, "scripts/run/setup-lock.mjs"))) as SetupLock;
  await lock.withSetupLock(join(root, ".setup.lock"), async () => {
    await prepare.ensureBuild(root, process.execPath, process.env);
    mkdirSync(copy, { recursive: true });
    for (const part of ["dist", "bin", "skills", "package.json", "wrangler.toml"]) cpSync(join(root, part), join(copy, part), { recursive: true });
  });
  project.provide("program", join(copy, "dist/pimcp.mjs"));
  return () => rmSync(copy, { recursive: true, force: true });
}
