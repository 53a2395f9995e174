/** Which parts of the engine have been run, by V8's own counters; a new part makes an input worth keeping. */
import { Session } from 'node:inspector';

export interface Coverage {
  /** Parts of `crypto/` run since the last call. */
  reached(): ReadonlySet<string>;
  /** As `reached`, but for those that an earlier call of this gave. */
  fresh(): ReadonlySet<string>;
  /** Parts that `fresh` gave so far. */
  readonly parts: number;
  stop(): void;
}

/** Counts from now on, in this thread. Code runs slower for it. */
export function startCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const seen = new Set<string>();
  const reached = (): Set<string> => {
    const parts = new Set<string>();
    session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      for (const { scriptId, url, functions } of answer.result) {
        if (!url.includes('/crypto/') || url.includes('/test/')) continue;
        for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
          if (count > 0) parts.add(`${scriptId}:${startOffset}:${endOffset}`);
        }
      }
    });
    return parts;
  };
  return {
    reached,
    fresh() {
      const parts = reached();
      for (const part of parts) {
        if (seen.has(part)) parts.delete(part);
        else seen.add(part);
      }
      return parts;
    },
    get parts() {
      return seen.size;
    },
    stop() {
      session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
    },
  };
}
