import { useState } from "preact/hooks";

const KEY = "pi-relay.answer.";

/**
 * What the person has begun to write as the answer to a question. Kept for this tab: a search, a reload or an answer from
 * elsewhere takes its field away, and not the words.
 */
export function useAnswerDraft(questionId: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(KEY + questionId) ?? "");
  const change = (next: string): void => {
    setText(next);
    remember(KEY + questionId, next);
  };
  return [text, change];
}

/** Beyond the storage's own bound they stay in the field alone. */
function remember(key: string, text: string): void {
  try {
    if (text !== "") return sessionStorage.setItem(key, text);
  } catch {
    // What is stored is older than what stands in the field.
  }
  sessionStorage.removeItem(key);
}
