import type { Source } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import { MAX_DOCUMENT_LENGTH } from '../xml/index.ts';

/** Limit for validation: the largest document that can be signed, plus signatures with their evidence. */
export const MAX_SIGNED_LENGTH = MAX_DOCUMENT_LENGTH + 2 ** 26;

/**
 * Reads a whole file of at most `limit` bytes.
 * @throws CryptoError `input.empty`, `input.too-large`, and those of `Source.read`
 */
export function readDocument(source: Source, limit: number): Buffer {
  if (source.size === 0) throw new CryptoError('input.empty', `${source.path} is empty.`);
  if (source.size > limit) {
    throw new CryptoError(
      'input.too-large',
      `${source.path} has ${source.size} bytes; an XML document may have ${limit}.`,
    );
  }
  return source.read(0, source.size);
}
