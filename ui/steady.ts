import { useEffect, useState } from "preact/hooks";

/** A card that slides under the pointer, or takes the place of one just decided, must not be hit by a click meant for something else. */
const DEAD_MS = 800;

/** False for a moment after `movedAt`: the buttons of all cards are dead meanwhile. */
export function useSteady(movedAt: number): boolean {
  const [steadySince, setSteadySince] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setSteadySince(movedAt), DEAD_MS);
    return () => clearTimeout(timer);
  }, [movedAt]);
  return steadySince === movedAt;
}
