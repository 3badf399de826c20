/** How measured numbers are printed. */

export function report(title: string, values: ReadonlyMap<string, number>): void {
  console.log(`\n${title}`);
  for (const [name, value] of values) console.log(`  ${name.padEnd(14)} ${value.toFixed(2)}`);
}

export function ratio(values: ReadonlyMap<string, number>, of: string, to: string): number {
  return (values.get(of) ?? Number.NaN) / (values.get(to) ?? Number.NaN);
}

export function goal(what: string, value: number, relation: "≤" | "≥", limit: number): void {
  const isMet = relation === "≤" ? value <= limit : value >= limit;
  console.log(`  ${what} ${value.toFixed(2)} (goal ${relation} ${limit}: ${isMet ? "met" : "missed"})`);
}
