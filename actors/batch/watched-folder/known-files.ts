/**
 * Remembers offered files with their metadata, so that no file is offered twice. An entry lives until its file changes
 * or disappears, and only in memory; after a restart the job records serve instead.
 */

import type { OfferResult } from './contract.ts';
import { type Sample, sameSample } from './stability.ts';

export interface KnownFiles {
  readonly size: number;
  has(fileName: string): boolean;
  /** True when the file was offered with exactly this metadata, which becomes that of one remembered without. */
  containsSample(fileName: string, sample: Sample): boolean;
  add(fileName: string, sample: Sample | undefined, answer: OfferResult): void;
  remove(fileName: string): void;
  clear(): void;
  /** Starts a listing: `mark` records its names. */
  startListing(): void;
  mark(fileName: string): void;
  /** Names remembered before the listing started and not marked since. */
  unmarked(): Iterable<string>;
  /** Names whose last result was `active`, oldest first, at most `limit`. */
  active(limit: number): readonly string[];
}

interface KnownFile {
  sample: Sample | undefined;
  listing: number;
}

export function createKnownFiles(): KnownFiles {
  const offered = new Map<string, KnownFile>();
  const active = new Set<string>();
  let listing = 0;

  return {
    get size() {
      return offered.size;
    },
    has: (fileName) => offered.has(fileName),
    containsSample(fileName, sample) {
      const known = offered.get(fileName);
      if (known === undefined) return false;
      known.sample ??= sample;
      return sameSample(known.sample, sample);
    },
    add(fileName, sample, answer) {
      offered.set(fileName, { sample, listing });
      active.delete(fileName);
      if (answer === 'active') active.add(fileName);
    },
    remove(fileName) {
      offered.delete(fileName);
      active.delete(fileName);
    },
    clear() {
      offered.clear();
      active.clear();
    },
    startListing() {
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
