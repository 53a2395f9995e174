/** Distinguished names (RFC 5280 §4.1.2.4): decoded for people, and compared as §7.1 requires. */
import {
  Asn1Error,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  oidText,
  readElement,
  readWhole,
  TAG,
} from '../asn1/read.ts';

/** One attribute of a name. */
interface NameAttribute {
  /** Dotted. */
  readonly type: string;
  /** Decoded text; `#` and hex for values that are not strings. */
  readonly value: string;
}

/** Attributes of a name for people; undefined when absent. The first of several is used. */
interface NameFields {
  readonly commonName: string | undefined;
  readonly organization: string | undefined;
  /** 2.5.4.97 (EN 319 412-1 §5.1.4). */
  readonly organizationIdentifier: string | undefined;
  readonly organizationalUnit: string | undefined;
  readonly country: string | undefined;
  readonly givenName: string | undefined;
  readonly surname: string | undefined;
  /** serialNumber of the person or machine (EN 319 412-1 §5.1.3), not of the certificate. */
  readonly serialNumber: string | undefined;
  readonly emailAddress: string | undefined;
  /** The whole name on one line, most specific attribute first: `CN=…, O=…, C=…`. */
  readonly text: string;
}

/** Most attributes in one name; real ones have fewer than ten. */
const MAX_ATTRIBUTES = 100;

const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'CN'],
  ['2.5.4.4', 'SN'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.42', 'GN'],
  ['2.5.4.97', 'organizationIdentifier'],
  ['1.2.840.113549.1.9.1', 'emailAddress'],
  ['0.9.2342.19200300.100.1.25', 'DC'],
]);

/**
 * Reads the relative names of a Name, each with its attributes, in order of the encoding. @throws {Asn1Error}
 *     Name ::= CHOICE { rdnSequence SEQUENCE OF RelativeDistinguishedName }
 *     RelativeDistinguishedName ::= SET OF SEQUENCE { type OBJECT IDENTIFIER, value ANY }
 */
export function readName(der: Buffer): NameAttribute[][] {
  let count = 0;
  return childrenOf(readWhole(der)).map((relative) => {
    if (relative.tag !== TAG.set) throw new Asn1Error('name malformed', relative.start);
    return childrenOf(relative).map((attribute) => {
      if (++count > MAX_ATTRIBUTES) throw new Asn1Error('name too long', attribute.start);
      const fields = enter(attribute, TAG.sequence);
      const type = oidText(fields.next());
      return { type, value: textOf(fields.next()) };
    });
  });
}

/**
 * Returns the attributes of a name. An empty name has the text ''; an unreadable one has no attributes and its DER in
 * hex as text.
 * Source: RFC 5280 §4.1.2.4; RFC 4514 §2.
 */
export function nameFields(der: Buffer): NameFields {
  const relatives = readable(der);
  const attributes = relatives?.flat() ?? [];
  const first = (type: string) => attributes.find((attribute) => attribute.type === type)?.value;
  return {
    commonName: first('2.5.4.3'),
    organization: first('2.5.4.10'),
    organizationIdentifier: first('2.5.4.97'),
    organizationalUnit: first('2.5.4.11'),
    country: first('2.5.4.6'),
    givenName: first('2.5.4.42'),
    surname: first('2.5.4.4'),
    serialNumber: first('2.5.4.5'),
    emailAddress: first('1.2.840.113549.1.9.1'),
    text: relatives === undefined ? der.toString('hex') : relatives.map(lineOf).reverse().join(', '),
  };
}

function lineOf(relative: readonly NameAttribute[]): string {
  return relative.map(({ type, value }) => `${SHORT_NAMES.get(type) ?? type}=${escaped(value)}`).join(' + ');
}

/** Escapes a value (RFC 4514 §2.4), so that it can't imitate another attribute; control characters become hex. */
function escaped(value: string): string {
  return value.replace(/[\p{Cc}\p{Cf}",+;<=>\\]/gu, (found) =>
    /[\p{Cc}\p{Cf}]/u.test(found) ? Buffer.from(found).toString('hex').replace(/../g, '\\$&') : `\\${found}`,
  );
}

/**
 * Returns one key for each relative name, equal for names that match under RFC 5280 §7.1: string type, case,
 * number of spaces and the order of attributes within one relative name are ignored.
 */
export function relativeKeys(der: Buffer): string[] {
  const relatives = readable(der);
  if (relatives === undefined) return [`#${der.toString('hex')}`];
  return keysOf(relatives);
}

function keysOf(relatives: readonly (readonly NameAttribute[])[]): string[] {
  return relatives.map((relative) =>
    JSON.stringify(relative.map(({ type, value }) => `${type}=${folded(value)}`).sort()),
  );
}

/** Returns one key for the whole name; see `relativeKeys`. */
export function nameKey(der: Buffer): string {
  return relativeKeys(der).join('\n');
}

/** Returns the key of a name from another notation, in the order of the DER. */
export function nameKeyOf(relatives: readonly (readonly NameAttribute[])[]): string {
  return keysOf(relatives).join('\n');
}

function folded(value: string): string {
  return value.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ');
}

function readable(der: Buffer): NameAttribute[][] | undefined {
  try {
    return readName(der);
  } catch {
    return undefined;
  }
}

const TELETEX = 0x14;
const UNIVERSAL = 0x1c;
const BMP = 0x1e;

/** Returns the text of an attribute value in DER, as `NameAttribute.value` has it. @throws {Asn1Error} */
export function attributeText(der: Buffer): string {
  return textOf(readWhole(der));
}

/** Decodes DirectoryString, IA5String and other string types in names. */
function textOf(element: Element): string {
  const value = contents(element);
  switch (element.tag) {
    case TAG.utf8String:
      return value.toString('utf8');
    case TAG.printableString:
    case TAG.ia5String:
    case TELETEX:
      return value.toString('latin1');
    case BMP:
      return value.length % 2 === 0 ? Buffer.from(value).swap16().toString('utf16le') : hexOf(value);
    case UNIVERSAL:
      return universal(value);
    default:
      return hexOf(value);
  }
}

function universal(value: Buffer): string {
  if (value.length % 4 !== 0 || value.length > 4096) return hexOf(value);
  let text = '';
  for (let at = 0; at < value.length; at += 4) {
    const point = value.readUInt32BE(at);
    text += point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
  }
  return text;
}

function hexOf(value: Buffer): string {
  return `#${value.toString('hex')}`;
}

/** GeneralName (RFC 5280 §4.2.1.6): names in alternative names, constraints and addresses. */
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
