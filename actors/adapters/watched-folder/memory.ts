/**
 * What was offered and how it looked then, so that no file is offered twice. An entry lives as long as its file
 * is there unchanged; nothing of it survives a restart (then the job records answer).
 */

import type { OfferAnswer } from './contract.ts';
import { type Sample, sameSample } from './stability.ts';

export interface OfferMemory {
  readonly size: number;
  has(fileName: string): boolean;
  /** True when the file was offered looking exactly like this. */
  holds(fileName: string, sample: Sample): boolean;
  remember(fileName: string, sample: Sample, answer: OfferAnswer): void;
  forget(fileName: string): void;
  clear(): void;
  /** Starts a listing: from here on `mark` notes what it shows. */
  beginListing(): void;
  mark(fileName: string): void;
  /** Names that were remembered before the listing began and have not been marked since. */
  unmarked(): Iterable<string>;
  /** Names whose last answer was `active`, longest ago first, at most `limit`. */
  active(limit: number): readonly string[];
}

interface Remembered {
  readonly sample: Sample;
  listing: number;
}

export function createOfferMemory(): OfferMemory {
  const offered = new Map<string, Remembered>();
  const active = new Set<string>();
  let listing = 0;

  return {
    get size() {
      return offered.size;
    },
    has: (fileName) => offered.has(fileName),
    holds(fileName, sample) {
      const known = offered.get(fileName);
      return known !== undefined && sameSample(known.sample, sample);
    },
    remember(fileName, sample, answer) {
      offered.set(fileName, { sample, listing });
      active.delete(fileName);
      if (answer === 'active') active.add(fileName);
    },
    forget(fileName) {
      offered.delete(fileName);
      active.delete(fileName);
    },
    clear() {
      offered.clear();
      active.clear();
    },
    beginListing() {
      listing += 1;
    },
    mark(fileName) {
      const known = offered.get(fileName);
      if (known !== undefined) known.listing = listing;
    },
    *unmarked() {
      for (const [fileName, known] of offered) if (known.listing !== listing) yield fileName;
    },
    active(limit) {
      const names: string[] = [];
      for (const fileName of active) {
        if (names.length === limit) break;
        names.push(fileName);
      }
      return names;
    },
  };
}
