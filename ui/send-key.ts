/**
 * Whether a key press sends what is in the box: Enter, but not with Shift, not while an input method composes (there it
 * takes a suggestion; some say so only by the key code 229), not held down, and not on a touch keyboard, which has no
 * Shift+Enter to write a line with.
 */
export function isSendKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing || event.keyCode === 229 || event.repeat) return false;
  return event.ctrlKey || event.metaKey || !window.matchMedia("(pointer: coarse)").matches;
}
