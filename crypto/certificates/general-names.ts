/** GeneralName (RFC 5280 §4.2.1.6): what alternative names, constraints and addresses are made of. */
import { Asn1Error } from '../asn1/error.ts';
import { childrenOf, contents, type Element, encoded, readElement } from '../asn1/read.ts';

export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly text: string }
  /** DER of the Name. */
  | { readonly kind: 'directory'; readonly name: Buffer }
  /** 4 or 16 octets; twice that in constraints, where the second half is the mask. */
  | { readonly kind: 'ip'; readonly octets: Buffer }
  /** A form nothing here compares: otherName, x400Address, ediPartyName, registeredID. */
  | { readonly kind: 'other'; readonly tag: number };

/** @throws {Asn1Error} */
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

/** @throws {Asn1Error} */
export function readGeneralNames(element: Element): GeneralName[] {
  return childrenOf(element).map(readGeneralName);
}

/** The addresses among names: http and https only, other schemes are nothing this engine can reach. */
export function httpUrls(names: readonly GeneralName[]): string[] {
  return names.flatMap((name) => (name.kind === 'uri' && /^https?:\/\//i.test(name.text) ? [name.text] : []));
}
