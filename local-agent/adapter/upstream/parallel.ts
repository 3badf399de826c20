/** Runs `work` for every item, at most `limit` at a time. Rejections of `work` are the caller's bug: it must not reject. */
export async function eachWithin<T>(limit: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
