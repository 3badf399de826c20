/** Ends a process of Windows with all it started, which has no groups there and no polite signal. */

/** By its full path: a bare name is looked for in the working directory first, where a remote client may have put a program of it. */
export function taskKill(
  pid: number,
  env: Readonly<Record<string, string | undefined>>,
): { readonly file: string; readonly args: readonly string[] } {
  return { file: `${env["SystemRoot"] ?? "C:\\Windows"}\\System32\\taskkill.exe`, args: ["/F", "/T", "/PID", String(pid)] };
}
