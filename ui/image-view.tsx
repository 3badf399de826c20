import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { HumanImage } from "../shared/human/entry.ts";
import type { ConversationApi } from "./conversation-api.ts";

/** An image of the person's own, fetched with the secret of the page. */
export function ImageView({ image, name, api }: { readonly image: HumanImage; readonly name: string; readonly api: ConversationApi }): JSX.Element {
  const [address, setAddress] = useState<string | { readonly failed: string } | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    void api.imageAddress(image.id).then((address) => {
      if (isCurrent) setAddress(address);
    });
    return () => void (isCurrent = false);
  }, [api, image.id]);
  if (address === undefined) return <span class="image loading muted">Loading {name} …</span>;
  if (typeof address === "object") return <span class="image muted">{name} cannot be shown.</span>;
  return <img class="image" src={address} alt={name} />;
}
