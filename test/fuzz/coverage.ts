/** Engine coverage by V8's counters; an input that reaches a new block is kept. */
import { Session } from 'node:inspector';

export interface Coverage {
  /** Blocks of `crypto/` executed since the last call. */
  reached(): ReadonlySet<string>;
  /** Blocks as in `reached`, without those of earlier calls. */
  fresh(): ReadonlySet<string>;
  /** Number of blocks that `fresh` returned so far. */
  readonly parts: number;
  stop(): void;
}

/** Starts coverage in this thread. Code runs slower. */
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
