/** Issuer names as the older SigningCertificate writes them (RFC 4514 and its dialects), for comparison only. */
import { Asn1Error } from '../../asn1/asn1-error.ts';
import { attributeText, nameKeyOf } from '../../x509/names.ts';

const TYPES: ReadonlyMap<string, string> = new Map([
  ['cn', '2.5.4.3'],
  ['sn', '2.5.4.4'],
  ['surname', '2.5.4.4'],
  ['serialnumber', '2.5.4.5'],
  ['c', '2.5.4.6'],
  ['l', '2.5.4.7'],
  ['st', '2.5.4.8'],
  ['s', '2.5.4.8'],
  ['street', '2.5.4.9'],
  ['o', '2.5.4.10'],
  ['ou', '2.5.4.11'],
  ['t', '2.5.4.12'],
  ['title', '2.5.4.12'],
  ['postalcode', '2.5.4.17'],
  ['gn', '2.5.4.42'],
  ['g', '2.5.4.42'],
  ['givenname', '2.5.4.42'],
  ['organizationidentifier', '2.5.4.97'],
  ['e', '1.2.840.113549.1.9.1'],
  ['emailaddress', '1.2.840.113549.1.9.1'],
  ['dc', '0.9.2342.19200300.100.1.25'],
  ['uid', '0.9.2342.19200300.100.1.1'],
]);
const MAX_LENGTH = 4096;

/**
 * Returns keys for comparison with `nameKey` of a certificate's name: the order of RFC 4514 (most specific RDN
 * first), and the reverse order that some software writes. Empty when the text is not readable.
 */
export function issuerKeysOfText(text: string): string[] {
  if (text.length > MAX_LENGTH) return [];
  const relatives: { readonly type: string; readonly value: string }[][] = [];
  for (const part of split(text, ',;')) {
    const attributes: { readonly type: string; readonly value: string }[] = [];
    for (const pair of split(part, '+')) {
      const [, name = '', value = ''] = /^\s*([A-Za-z0-9.-]+)\s*=(.*)$/s.exec(pair) ?? [];
      const bare = name.replace(/^oid\./i, '');
      const type = /^\d+(\.\d+)+$/.test(bare) ? bare : TYPES.get(bare.toLowerCase());
      const text = valueText(value.trim());
      if (type === undefined || text === undefined) return [];
      attributes.push({ type, value: text });
    }
    relatives.push(attributes);
  }
  return [nameKeyOf([...relatives].reverse()), nameKeyOf(relatives)];
}

/** Splits at separators that are neither escaped nor quoted. */
function split(text: string, separators: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') part += character + text.charAt(++at);
    else if (!quoted && separators.includes(character)) {
      parts.push(part);
      part = '';
    } else {
      if (character === '"') quoted = !quoted;
      part += character;
    }
  }
  return [...parts, part];
}

/** Decodes a value; one that begins with `#` is its DER in hexadecimal (RFC 4514 §2.4). Undefined when not readable. */
function valueText(value: string): string | undefined {
  if (!value.startsWith('#')) return unescaped(value);
  if (!/^#([0-9A-Fa-f]{2})+$/.test(value)) return undefined;
  try {
    return attributeText(Buffer.from(value.slice(1), 'hex'));
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

function unescaped(value: string): string {
  const inner = /^"(.*)"$/s.exec(value)?.[1] ?? value;
  const bytes: Buffer[] = [];
  for (const [found] of inner.matchAll(/\\[0-9A-Fa-f]{2}|\\.|[^\\]+|\\/gs)) {
    if (/^\\[0-9A-Fa-f]{2}$/.test(found)) bytes.push(Buffer.from(found.slice(1), 'hex'));
    else bytes.push(Buffer.from(found.startsWith('\\') ? found.slice(1) : found));
  }
  return Buffer.concat(bytes).toString();
}
