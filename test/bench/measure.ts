/** Timing loops and medians. Rounds of the subjects are interleaved, so that noise of the machine hits all of them alike. */

export interface Subject {
  readonly name: string;
  readonly once: () => Promise<void>;
}

/** Median milliseconds of one call, by subject. */
export async function medians(subjects: readonly Subject[], rounds: number, perRound: number): Promise<Map<string, number>> {
  const times = new Map(subjects.map((subject) => [subject.name, [] as number[]]));
  for (const subject of subjects) for (let n = 0; n < perRound; n++) await subject.once();
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      for (let n = 0; n < perRound; n++) {
        const start = performance.now();
        await subject.once();
        times.get(subject.name)?.push(performance.now() - start);
      }
    }
  }
  return new Map([...times].map(([name, list]) => [name, median(list)]));
}

/** Median over rounds of calls per second with `width` calls in flight, by subject. */
export async function throughput(subjects: readonly Subject[], width: number, rounds: number, perRound: number): Promise<Map<string, number>> {
  const rates = new Map(subjects.map((subject) => [subject.name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      let left = perRound;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: width }, async () => {
          while (left-- > 0) await subject.once();
        }),
      );
      rates.get(subject.name)?.push((perRound * 1000) / (performance.now() - start));
    }
  }
  return new Map([...rates].map(([name, list]) => [name, median(list)]));
}

export function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
