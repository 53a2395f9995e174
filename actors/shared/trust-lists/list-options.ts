/** Messages of the thread that refreshes trusted lists. */
import type { KeptState, ListPlace } from '@sealwright/signatures';

/** Plain data. */
export interface ListOptions {
  readonly place: ListPlace;
  /** Folder that an operator fills. */
  readonly source?: string | undefined;
  /** Left out: nothing is fetched. */
  readonly network?:
    | {
        readonly allowPrivate: boolean;
        readonly issuerHosts: readonly string[];
        /** Of one list, milliseconds. */
        readonly timeoutMs: number;
      }
    | undefined;
  /** Between two refreshes, milliseconds. */
  readonly everyMs: number;
}

/** Plain data. */
export interface ListThreadData {
  readonly options: ListOptions;
  /** Present time, milliseconds since the epoch. */
  readonly at: number;
}

/** Plain data. `kept` is undefined without an authentic list of lists. */
export interface RefreshOutcome {
  readonly kept: KeptState | undefined;
  readonly problems: readonly string[];
}
