import type { BuildOptions } from "esbuild";

export const workerBundle: BuildOptions;
