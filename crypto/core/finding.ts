/** Results of single checks, and the algorithms they depend on. */
import type { SubIndication } from './validation-report.ts';

/** One check. A failed one without a sub-indication means FORMAT_FAILURE. */
export interface Finding {
  readonly status: 'passed' | 'warning' | 'failed';
  /** As `ValidationItem.type`. */
  readonly type: string;
  readonly message: string;
  readonly detail?: string;
  readonly subIndication?: SubIndication;
}

/** An algorithm in use, for the policy that ends algorithms by date. */
export interface AlgorithmUse {
  /** Lower-case: `sha1`, `sha256`, `rsa-pkcs1`, `rsa-pss`, `ecdsa`, `ed25519`, or the dotted or URI name of an unknown one. */
  readonly name: string;
  /** Bits of the key, for signature algorithms. */
  readonly bits?: number;
  /** Text for people: `content digest`, `signature value`. */
  readonly where: string;
  /** True when only a second preimage could harm, which is unknown for every listed hash: a weak one is a warning. */
  readonly preimage?: boolean;
}
