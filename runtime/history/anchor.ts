/**
 * The anchor of the history: the newest checkpoint, kept outside of the store, so that checkpoints that were removed from
 * the store are missed.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';

/** Content of an anchor, as JSON. */
export interface AnchoredCheckpoint {
  readonly checkpoint: Checkpoint;
  /** True: nothing was committed after it, until the next start. */
  readonly stopped: boolean;
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
    const value = JSON.parse(text) as { readonly checkpoint?: unknown; readonly stopped?: unknown } | null;
    const checkpoint = parseCheckpoint(value?.checkpoint);
    return checkpoint && { checkpoint, stopped: value?.stopped === true };
  } catch {
    return undefined;
  }
}
