/** One signature over several files beside it, as containers hold them (EN 319 162-1 §4.4). */
import type { SigningServices } from '../authorities.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { CryptoError, type SignatureLevel, type SignatureParameters, type Signer } from '../types.ts';
import { type DetachedContent, planDetached } from './detached-plan.ts';
import { raise } from './raise.ts';
import { signValue, textOf } from './sign.ts';
import { raisableNew } from './sign-at-level.ts';
import { CLOSE_SIGNATURE, openSignature } from './signature-text.ts';

export interface DetachedSignatureRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  readonly contents: readonly DetachedContent[];
}

/**
 * The ds:Signature element, in ASCII, for a document that has no other one with the same identifiers: they follow from
 * contents, signer and time. Each content is read once, in pieces.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no contents, a URI that names no file, or a missing service; those of reading,
 *   of the key and of the services
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
    level === 'B' ? [] : await raise(raisableNew(planned, value, request), level, at, services);
  return openSignature(text, value, unsigned) + CLOSE_SIGNATURE;
}
