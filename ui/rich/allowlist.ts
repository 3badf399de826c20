/**
 * The second wall around somebody else's text: whatever was made of it, only these elements and attributes reach the page.
 * The first is that it is never read as HTML (`elements.ts`).
 */
import createDOMPurify from "dompurify";

const TEXT_TAGS = "p br hr h4 h5 h6 blockquote ul ol li pre code strong em del a span table thead tbody tr th td".split(" ");
const MATH_TAGS =
  "math semantics mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle mpadded mphantom menclose".split(
    " ",
  );
const MATH_ATTRIBUTES =
  "display mathvariant fence stretchy separator symmetric lspace rspace minsize maxsize accent accentunder width height depth voffset linethickness rowspacing columnspacing columnalign columnlines rowlines scriptlevel displaystyle mathcolor mathbackground mathsize notation movablelimits largeop".split(
    " ",
  );

const ALLOWED = {
  ALLOWED_TAGS: [...TEXT_TAGS, ...MATH_TAGS],
  ALLOWED_ATTR: ["href", "title", "start", "class", "data-language", "xmlns", ...MATH_ATTRIBUTES],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

/** Narrower than what the sanitiser lets through by itself, which looks at every attribute alike. */
const LEADS_OUT = /^(?:https?|mailto):/i;

const purify = createDOMPurify(window);

purify.addHook("afterSanitizeAttributes", (element) => {
  if (element.tagName !== "A") return;
  if (!LEADS_OUT.test(element.getAttribute("href") ?? "")) element.removeAttribute("href");
  element.setAttribute("rel", "noopener noreferrer");
  element.setAttribute("target", "_blank");
});

export function onlyAllowed(made: HTMLElement): DocumentFragment {
  return purify.sanitize(made, { ...ALLOWED, ALLOWED_TAGS: [...ALLOWED.ALLOWED_TAGS], ALLOWED_ATTR: [...ALLOWED.ALLOWED_ATTR] });
}
