import { Component, type ComponentType, type JSX } from "preact";

/** A part that is drawn again only when one of its properties is another one than before. */
export function memo<P extends object>(draw: (props: P) => JSX.Element | null): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      return keys.length !== Object.keys(this.props).length || keys.some((key) => next[key] !== (this.props as P)[key]);
    }

    override render(): JSX.Element | null {
      const Draw = draw;
      return <Draw {...this.props} />;
    }
  };
}
