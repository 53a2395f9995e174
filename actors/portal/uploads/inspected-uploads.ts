/**
 * Results for PDFs that were inspected while they were stored, so that the creation of a document soon after needs no
 * second task. Kept in memory: without an entry, the creation inspects the file.
 */

import type { Clock } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Millis } from '../../../machines/ids.ts';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { InspectedFile } from '../../pool/portal-tasks.ts';

const MAX_ENTRIES = 4096;
/** Age up to which a result is used, milliseconds: the key and its certificate may change. */
const MAX_AGE_MS: Millis = 10 * 60_000;

/** Properties that determine the format of a file, besides its content. */
export interface FileDescription {
  readonly name: string;
  readonly contentType: string;
  readonly isPdf?: boolean;
}

export class InspectedUploads {
  readonly #results = new LRUCache<string, { readonly result: InspectedFile; readonly at: Millis }>({
    max: MAX_ENTRIES,
  });

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  add(blob: Pick<BlobRef, 'sha256'>, file: FileDescription, result: InspectedFile): void {
    this.#results.set(keyOf(blob, file), { result, at: this.clock.now() });
  }

  /** Undefined: it is not known that this file can be signed. */
  resultOf(blob: Pick<BlobRef, 'sha256'>, file: FileDescription): InspectedFile | undefined {
    const found = this.#results.get(keyOf(blob, file));
    if (found === undefined) return undefined;
    const age = this.clock.now() - found.at;
    return age >= 0 && age < MAX_AGE_MS ? found.result : undefined;
  }
}

function keyOf({ sha256 }: Pick<BlobRef, 'sha256'>, { name, contentType }: FileDescription): string {
  return `${sha256}/${contentType}/${name}`;
}
