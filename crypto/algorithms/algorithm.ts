/** AlgorithmIdentifier of certificates, CMS structures and keys (RFC 5280 §4.1.1.2). */
import { type Element, enter, oidText } from '../asn1/read.ts';

import { TAG } from '../asn1/tags.ts';

export interface Algorithm {
  readonly id: string;
  readonly parameters: Element | undefined;
}

/**
 * Parses an AlgorithmIdentifier (RFC 5280 §4.1.1.2). @throws {Asn1Error}
 *     AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL }
 */
export function parseAlgorithm(element: Element): Algorithm {
  const fields = enter(element, TAG.sequence);
  const id = oidText(fields.next());
  const parameters = fields.done ? undefined : fields.next();
  fields.end();
  return { id, parameters };
}
