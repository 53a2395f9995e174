/** Answers of authorities, kept until they are due again; each is asked for once at a time. */

/** An answer and when it stops being one, milliseconds since the epoch. */
export interface Dated<T> {
  readonly value: T;
  readonly until: number;
}

export interface AnswerCache<T> {
  /** The value kept under the key, or what `ask` gives; whoever comes while it is asked for waits for the same. */
  get(key: string, now: number, ask: () => Promise<Dated<T>>): Promise<T>;
  /** For an answer that turned out to be no use. */
  forget(key: string): void;
}

/** @param most answers kept; the ones asked for longest ago go first */
export function createAnswerCache<T>(most: number): AnswerCache<T> {
  const kept = new Map<string, Dated<T>>();
  const asked = new Map<string, Promise<Dated<T>>>();
  return {
    async get(key, now, ask) {
      const known = kept.get(key);
      if (known !== undefined && now < known.until) return known.value;
      let underway = asked.get(key);
      if (underway === undefined) {
        underway = ask().finally(() => asked.delete(key));
        asked.set(key, underway);
      }
      const answer = await underway;
      kept.delete(key);
      kept.set(key, answer);
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
      return answer.value;
    },
    forget(key) {
      kept.delete(key);
    },
  };
}
