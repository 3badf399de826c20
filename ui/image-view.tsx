import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { HumanImage } from "../shared/human/entry.ts";
import type { ConversationApi } from "./conversation-api.ts";

const FAILED = Symbol("the image cannot be shown");

/** An image of the person's own, fetched with the secret of the page. */
export function ImageView({ image, name, api }: { readonly image: HumanImage; readonly name: string; readonly api: ConversationApi }): JSX.Element {
  const [address, setAddress] = useState<string | typeof FAILED | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    let made: string | undefined;
    void api.image(image.id).then((bytes) => {
      if (!isCurrent) return;
      made = "failed" in bytes ? undefined : URL.createObjectURL(bytes);
      setAddress(made ?? FAILED);
    });
    return () => {
      isCurrent = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [api, image.id]);
  if (address === undefined) return <span class="image loading muted">Loading {name} …</span>;
  if (address === FAILED) return <span class="image muted">{name} cannot be shown.</span>;
  return <img class="image" src={address} alt={name} />;
}
