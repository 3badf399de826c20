import type { Plugin } from "vite";

export const testedProviderWithoutUnusedRoles: Plugin;
export function leaveOut(source: string, version: string): string;
