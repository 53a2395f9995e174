/** Which parts of the engine have been run, by V8's own counters; a new part makes an input worth keeping. */
import { Session } from 'node:inspector';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface Coverage {
  /** Parts of `crypto/` run since the last call, and never before. */
  fresh(): number;
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
  return {
    fresh() {
      const before = seen.size;
      session.post('Profiler.takePreciseCoverage', (error, answer) => {
        if (error !== null) throw error;
        for (const { url, functions } of answer.result) {
          if (!/\/crypto\/(?!.*\/test\/)/.test(url) || url.includes('/test/')) continue;
          for (const { ranges } of functions) add(seen, url, ranges);
        }
      });
      return seen.size - before;
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

function add(seen: Set<string>, url: string, ranges: readonly Range[]): void {
  for (const { startOffset, endOffset, count } of ranges) {
    if (count > 0) seen.add(`${url}:${startOffset}:${endOffset}`);
  }
}
