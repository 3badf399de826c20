/** One line of a description list: what it is, and what it says. */
import type { ComponentChildren, JSX } from "preact";

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
