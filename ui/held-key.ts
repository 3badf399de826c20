/** A key that was held down since before the button had the focus is not a decision. */
export function ignoreHeldKey(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}
