/**
 * Formats of PDFs that were inspected while they were stored, so that the creation of a document soon after needs no
 * second task. Kept in memory: without an entry, the creation inspects the file.
 */

import type { Clock } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Millis } from '../../../machines/ids.ts';
import type { BlobRef, DocumentFormat } from '../../../machines/portal/portal-types.ts';

const MAX_ENTRIES = 4096;
/** Age up to which a result is used, milliseconds: the key and its certificate may change. */
const MAX_AGE: Millis = 10 * 60_000;

/** Properties that determine the format of a file, besides its content. */
export interface FileDescription {
  readonly name: string;
  readonly contentType: string;
  readonly isPdf?: boolean;
}

export class InspectedUploads {
  readonly #formats = new LRUCache<string, { readonly format: DocumentFormat; readonly at: Millis }>({
    max: MAX_ENTRIES,
  });

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  add(blob: Pick<BlobRef, 'sha256'>, file: FileDescription, format: DocumentFormat): void {
    this.#formats.set(keyOf(blob, file), { format, at: this.clock.now() });
  }

  /** Undefined: it is not known that this file can be signed. */
  formatOf(blob: Pick<BlobRef, 'sha256'>, file: FileDescription): DocumentFormat | undefined {
    const found = this.#formats.get(keyOf(blob, file));
    if (found === undefined) return undefined;
    const age = this.clock.now() - found.at;
    return age >= 0 && age < MAX_AGE ? found.format : undefined;
  }
}

function keyOf({ sha256 }: Pick<BlobRef, 'sha256'>, { name, contentType }: FileDescription): string {
  return `${sha256}/${contentType}/${name}`;
}
