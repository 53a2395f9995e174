/**
 * The anchor of the history: the newest checkpoint, kept outside of the store, so that checkpoints that were removed from
 * the store are missed.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import type { WorkDigests } from './work-digests.ts';

/** Content of an anchor, as JSON. */
export interface AnchoredCheckpoint {
  readonly checkpoint: Checkpoint;
  /** True: nothing was committed after it, until the next start. */
  readonly stopped: boolean;
  /** Digests of the pending work at the stop. */
  readonly work?: WorkDigests;
}

export interface HistoryAnchor {
  /** Returns the text that was kept last; undefined when there is none. */
  read(): string | undefined;
  /** Replaces the text. May throw. */
  keep(text: string): void;
  /** Keeps another copy of a text that the store contradicts. */
  setAside(text: string): void;
}

/** Undefined for a text that is no anchor. */
export function parseAnchor(text: string | undefined): AnchoredCheckpoint | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as {
      readonly checkpoint?: unknown;
      readonly stopped?: unknown;
      readonly work?: WorkDigests;
    } | null;
    const checkpoint = parseCheckpoint(value?.checkpoint);
    if (checkpoint === undefined || value?.stopped !== true)
      return checkpoint && { checkpoint, stopped: false };
    return { checkpoint, stopped: true, ...(value.work && { work: value.work }) };
  } catch {
    return undefined;
  }
}
