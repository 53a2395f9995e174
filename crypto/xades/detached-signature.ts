/** One signature over several files of a container (EN 319 162-1 §4.4). */

import { algorithmOf } from '../algorithms/algorithm-choice.ts';
import { CryptoError, type SignatureLevel, type SignatureParameters, type Signer } from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { type DetachedContent, planDetached } from './detached-plan.ts';
import { CLOSE_SIGNATURE, openSignature } from './elements/signature-text.ts';
import { raisableNew } from './levels.ts';
import { raiseLevel } from './raise-level.ts';
import { signValue, textOf } from './sign.ts';

export interface DetachedSignatureRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  readonly contents: readonly DetachedContent[];
}

/**
 * Creates the ds:Signature element, in ASCII, for a document that has no other signature with the same identifiers:
 * they are derived from contents, signer and time. Each content is read once, in chunks.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no contents, a URI that names no file, or a missing service; errors of
 *   reading, of the key and of the services
 */
export async function detachedSignature(
  request: DetachedSignatureRequest,
  services: SigningServices = {},
): Promise<string> {
  const { signer, contents, at, level = 'B' } = request;
  if (contents.length === 0) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  const algorithm = algorithmOf(signer, request);
  const plan = planDetached(contents, { signer, algorithm, at, archived: level === 'LTA' });
  const text = textOf(plan, signer, algorithm, request);
  const value = signValue(signer, text, algorithm);
  const planned = { plan, text, algorithm };
  const unsigned =
    level === 'B' ? [] : await raiseLevel(raisableNew(planned, value, request), level, at, services);
  return openSignature(text, value, unsigned) + CLOSE_SIGNATURE;
}
