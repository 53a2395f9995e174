/** Detached signatures in their own file, over the bytes of other files that they reference (EN 319 132-1 §6.3). */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { CryptoError } from '../core/types.ts';
import type { Source } from '../files/source.ts';
import { mimeTypeOf, mimeTypeText } from './elements/mime-type.ts';
import { uriText } from './elements/uri-text.ts';
import { ALONE, idFor, type PlanRequest, type SigningPlan } from './plan.ts';

/** One file that a detached signature covers. */
export interface DetachedContent {
  /** Relative to the signature, percent-encoded. @default the name in `source.path` */
  readonly uri?: string;
  /** @default by the extension of the name */
  readonly mimeType?: string;
  readonly source: Source;
}

/**
 * Reads each file once, in chunks, and plans the references.
 * @throws {CryptoError} `request.invalid` for a URI that names no file or an invalid media type; `input.unreadable`,
 *   `input.changed`
 */
export function planDetached(
  contents: readonly DetachedContent[],
  request: Omit<PlanRequest, 'form'>,
): SigningPlan {
  const { digest: name } = request.algorithm;
  const signed = createHash(name);
  const references = contents.map(({ uri, mimeType, source }) => {
    // With one file, the digest of its content is also the digest of everything signed.
    const own = contents.length === 1 ? signed : createHash(name);
    for (const chunk of source.chunks()) {
      own.update(chunk);
      if (own !== signed) signed.update(chunk);
    }
    return {
      uri: fileUriText(uri ?? encodeURIComponent(basename(source.path))),
      transforms: '',
      digest: own.copy().digest(),
      mimeType: mimeType === undefined ? mimeTypeOf(source.path) : mimeTypeText(mimeType),
    };
  });
  return {
    id: idFor(Buffer.concat(references.map(({ digest }) => digest)), request),
    references,
    signed,
    frame: { ...ALONE, cut: 0, resume: Number.MAX_SAFE_INTEGER },
  };
}

function fileUriText(uri: string): string {
  if (!uri.startsWith('#')) return uriText(uri, 'the name of a signed file');
  throw new CryptoError('request.invalid', `"${uri}" names a part of the signature's own file.`);
}
