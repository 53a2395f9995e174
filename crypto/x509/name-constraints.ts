/** Compares the names of a certificate with name constraints (RFC 5280 §4.2.1.10). */
import type { Certificate } from './certificate.ts';
import type { NameConstraints } from './extensions.ts';
import { type GeneralName, nameFields, readName, relativeKeys } from './names.ts';

/** Most comparisons for one certificate and one set of constraints; real ones need fewer than a hundred. */
const MAX_COMPARISONS = 10_000;

/** Returns the name that the constraints forbid, as a reason; undefined when all names are permitted. */
export function constraintFault(certificate: Certificate, constraints: NameConstraints): string | undefined {
  const { permitted, excluded } = constraints;
  const names = namesOf(certificate);
  if (names.length * (permitted.length + excluded.length) > MAX_COMPARISONS) {
    return 'has too many names to compare with the constraints';
  }
  for (const name of names) {
    if (excluded.some((subtree) => mayBeWithin(name, subtree)))
      return `has the excluded name ${describe(name)}`;
    const sameKind = permitted.filter((subtree) => isSameKind(name, subtree));
    if (sameKind.length > 0 && !sameKind.some((subtree) => isWithin(name, subtree))) {
      return `has a name that is not permitted, ${describe(name)}`;
    }
    // A name that can't be compared is treated as excluded, and as not permitted.
    if (!IS_CLEAR[name.kind](name) && [...permitted, ...excluded].some((one) => isSameKind(name, one))) {
      return `has a constrained name that can't be compared, ${describe(name)}`;
    }
  }
  return undefined;
}

/** Returns the subject, the alternative names, and e-mail addresses in the subject of older certificates. */
function namesOf(certificate: Certificate): GeneralName[] {
  const names: GeneralName[] = [...certificate.alternativeNames];
  const attributes = readName(certificate.subject).flat();
  if (attributes.length > 0) names.push({ kind: 'directory', name: certificate.subject });
  for (const { type, value } of attributes) {
    if (type === '1.2.840.113549.1.9.1') names.push({ kind: 'email', text: value });
  }
  return names;
}

function isSameKind(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind === 'other') return subtree.kind === 'other' && subtree.tag === name.tag;
  return name.kind === subtree.kind;
}

function isWithin(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind === 'email' && subtree.kind === 'email') return isEmailWithin(name.text, subtree.text);
  if (name.kind === 'dns' && subtree.kind === 'dns') return isDnsWithin(name.text, subtree.text);
  if (name.kind === 'uri' && subtree.kind === 'uri') return isUriWithin(name.text, subtree.text);
  if (name.kind === 'ip' && subtree.kind === 'ip') return isAddressWithin(name.octets, subtree.octets);
  if (name.kind === 'directory' && subtree.kind === 'directory') {
    const keys = relativeKeys(name.name);
    const wanted = relativeKeys(subtree.name);
    return wanted.length <= keys.length && wanted.every((key, index) => key === keys[index]);
  }
  return false;
}

function isEmailWithin(address: string, subtree: string): boolean {
  const at = address.lastIndexOf('@');
  const host = hostOf(address.slice(at + 1));
  const subtreeAt = subtree.lastIndexOf('@');
  if (subtreeAt >= 0) {
    return (
      address.slice(0, Math.max(at, 0)) === subtree.slice(0, subtreeAt) &&
      host === hostOf(subtree.slice(subtreeAt + 1))
    );
  }
  return isHostWithin(host, subtree);
}

function isDnsWithin(name: string, subtree: string): boolean {
  const host = hostOf(name);
  const wanted = hostOf(subtree);
  if (wanted === '' || host === wanted) return true;
  return host.endsWith(wanted.startsWith('.') ? wanted : `.${wanted}`);
}

function isUriWithin(text: string, subtree: string): boolean {
  const host = uriHost(text);
  return host !== undefined && isHostWithin(host, subtree);
}

/** Returns the host of a URI; undefined when there is none, or an IP address in its place. */
function uriHost(text: string): string | undefined {
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text) ?? [];
  const host = hostOf(authority.replace(/^.*@/, '').replace(/:\d*$/, ''));
  return host === '' || /^[\d.]+$|^\[/.test(host) ? undefined : host;
}

/** True also for a wildcard that stands for a name within the subtree (RFC 6125 §6.4.3). */
function mayBeWithin(name: GeneralName, subtree: GeneralName): boolean {
  if (isWithin(name, subtree)) return true;
  if (name.kind !== 'dns' || subtree.kind !== 'dns' || !name.text.startsWith('*.')) return false;
  return isDnsWithin(subtree.text, name.text.slice(2));
}

/** Labels of a host (RFC 1123 §2.1), and of those that are in use with an underscore. */
const HOST = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i;

/** Tells of each kind of name whether it has the form in which names of its kind are compared (§4.2.1.6). */
const IS_CLEAR: { readonly [kind in GeneralName['kind']]: (name: GeneralName) => boolean } = {
  dns: (name) => name.kind === 'dns' && HOST.test(name.text.replace(/^\*\./, '')),
  email: (name) =>
    name.kind === 'email' && HOST.test(/^(?:"[^"]*"|[^@\s"]+)@([^@\s]+)$/.exec(name.text)?.[1] ?? ''),
  uri: (name) => name.kind === 'uri' && uriHost(name.text) !== undefined,
  ip: (name) => name.kind === 'ip' && (name.octets.length === 4 || name.octets.length === 16),
  directory: () => true,
  other: () => false,
};

/** `.example.com`: every subdomain; `example.com`: that host only. */
function isHostWithin(host: string, subtree: string): boolean {
  const wanted = hostOf(subtree);
  if (wanted === '') return true;
  return wanted.startsWith('.') ? host.endsWith(wanted) && host.length > wanted.length : host === wanted;
}

function hostOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

/** @param subtree address and mask, concatenated */
function isAddressWithin(address: Buffer, subtree: Buffer): boolean {
  if (subtree.length !== address.length * 2) return false;
  return address.every((octet, index) => {
    const mask = subtree[address.length + index] ?? 0xff;
    return (octet & mask) === ((subtree[index] ?? 0) & mask);
  });
}

function describe(name: GeneralName): string {
  if (name.kind === 'directory') return nameFields(name.name).text;
  if (name.kind === 'ip') return `address ${name.octets.toString('hex')}`;
  return name.kind === 'other' ? 'of another kind' : JSON.stringify(name.text);
}
