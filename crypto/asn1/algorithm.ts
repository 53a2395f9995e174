/** AlgorithmIdentifier of certificates, CMS structures, keys and containers (RFC 5280 §4.1.1.2). */
import { type Element, enter, oidText } from './ber-reader.ts';
import { TAG } from './tags.ts';

export interface Algorithm<Bytes extends Uint8Array = Uint8Array> {
  readonly id: string;
  readonly parameters: Element<Bytes> | undefined;
}

/**
 * Parses an AlgorithmIdentifier (RFC 5280 §4.1.1.2). @throws {Asn1Error}
 *     AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL }
 */
export function parseAlgorithm<Bytes extends Uint8Array>(element: Element<Bytes>): Algorithm<Bytes> {
  const fields = enter(element, TAG.sequence);
  const id = oidText(fields.next());
  const parameters = fields.done ? undefined : fields.next();
  fields.end();
  return { id, parameters };
}
