/** What a model is told of a tool's parameters. Pure. */
import { parameterLines } from "./parameter-lines.ts";
import { parameterShape } from "./parameter-shape.ts";

/** The type where there is one, the plainer lines otherwise. `heading` is what stands before it, followed by a colon. */
export function describeParameters(schema: unknown): { readonly heading: "Shape" | "Parameters"; readonly text: string } {
  const shape = parameterShape(schema);
  return shape === null ? { heading: "Parameters", text: parameterLines(schema) } : { heading: "Shape", text: shape };
}
