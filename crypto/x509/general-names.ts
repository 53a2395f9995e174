/** GeneralName (RFC 5280 §4.2.1.6): names in alternative names, constraints and addresses. */
import { Asn1Error } from '../asn1/asn1-error.ts';
import { childrenOf, contents, type Element, encoded, readElement } from '../asn1/read.ts';

export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly text: string }
  /** DER of the Name. */
  | { readonly kind: 'directory'; readonly name: Buffer }
  /** 4 or 16 octets; twice that in constraints, whose second half is the mask. */
  | { readonly kind: 'ip'; readonly octets: Buffer }
  /** A form that is never compared: otherName, x400Address, ediPartyName, registeredID. */
  | { readonly kind: 'other'; readonly tag: number };

/**
 * Reads a GeneralName. @throws {Asn1Error}
 *     GeneralName ::= CHOICE {
 *      otherName [0], rfc822Name [1] IA5String, dNSName [2] IA5String, x400Address [3],
 *      directoryName [4] EXPLICIT Name, ediPartyName [5], uniformResourceIdentifier [6] IA5String,
 *      iPAddress [7] OCTET STRING, registeredID [8] OBJECT IDENTIFIER }
 */
export function readGeneralName(element: Element): GeneralName {
  switch (element.tag) {
    case 0x81:
      return { kind: 'email', text: contents(element).toString('latin1') };
    case 0x82:
      return { kind: 'dns', text: contents(element).toString('latin1') };
    case 0x86:
      return { kind: 'uri', text: contents(element).toString('latin1') };
    case 0x87:
      return { kind: 'ip', octets: contents(element) };
    case 0xa4:
      return {
        kind: 'directory',
        name: encoded(readElement(element.bytes, element.from, element.to)),
      };
    case 0xa0:
    case 0xa3:
    case 0xa5:
    case 0x88:
      return { kind: 'other', tag: element.tag };
    default:
      throw new Asn1Error('no such kind of name', element.start);
  }
}

/** Reads GeneralNames ::= SEQUENCE OF GeneralName. @throws {Asn1Error} */
export function readGeneralNames(element: Element): GeneralName[] {
  return childrenOf(element).map(readGeneralName);
}

/** Returns the http and https addresses; the engine supports no other scheme. */
export function httpUrls(names: readonly GeneralName[]): string[] {
  return names.flatMap((name) => (name.kind === 'uri' && /^https?:\/\//i.test(name.text) ? [name.text] : []));
}
