export function entryOf(root: string, program: string, packageName?: string): string;
export function npmCommand(from: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly node: string;
  readonly platform: NodeJS.Platform;
  readonly exists?: (path: string) => boolean;
}): string[];
export function pinnedNode(root: string, platform: NodeJS.Platform): string;
