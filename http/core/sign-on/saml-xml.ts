/**
 * Reads messages and metadata of SAML providers, and refuses what signatures do not protect: the library verifies
 * signatures, but accepts a response for another receiver, of another issuer, with a DOCTYPE or with SHA-1.
 *
 * Source: SAML 2.0 Core §§3.2.2, 5.4; Bindings §3.5.5.2; Metadata §§2.3, 2.4; docs/decisions/0286-saml.md.
 */
import { X509Certificate } from 'node:crypto';
import { DOMParser, type Element, onErrorStopParsing } from '@xmldom/xmldom';
import { SignInFailure } from './provider.ts';

/** Contents of the metadata of a provider. */
export interface SamlMetadata {
  /** Entity id of the provider. */
  readonly issuer: string;
  /** Address to which the browser goes (HTTP-Redirect). */
  readonly entryPoint: string;
  /** Certificates of its signing keys, PEM. */
  readonly certificates: readonly string[];
}

/** A response before its signatures are verified. */
export interface UnverifiedResponse {
  /** Id of the request that it names. */
  readonly inResponseTo: string | undefined;
}

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';
/** Statuses that tell of the person, not of the configuration. */
const DENIED = new Set(['AuthnFailed', 'RequestDenied', 'UnknownPrincipal', 'NoAuthnContext', 'NoPassive']);
/**
 * Limits of a response: anybody can send one, and time of the library grows with the square of these, before it has
 * verified a signature. Real ones have about ten of each; the text between tags is not limited.
 */
const MAX_DEPTH = 32;
const MAX_TAG_LENGTH = 4096;
const MAX_PREFIXES = 64;
/** Least length of an RSA key, bits. */
const MIN_RSA_BITS = 2048;

/** Algorithms in a response; without SHA-1, and without secrets as keys. */
const ALLOWED: { readonly [element: string]: ReadonlySet<string | null> } = {
  SignatureMethod: new Set([
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  ]),
  DigestMethod: new Set([
    'http://www.w3.org/2001/04/xmlenc#sha256',
    'http://www.w3.org/2001/04/xmlenc#sha512',
  ]),
  CanonicalizationMethod: new Set(['http://www.w3.org/2001/10/xml-exc-c14n#']),
  Transform: new Set([
    'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
    'http://www.w3.org/2001/10/xml-exc-c14n#',
  ]),
};

/**
 * Checks what is not in the signed part. Throws `SignInFailure`.
 * @param encoded Base64; @param issuer entity id of the provider; @param receiver address that takes the response
 */
export function checkResponse(
  encoded: string,
  { issuer, receiver }: { issuer: string; receiver: string },
): UnverifiedResponse {
  const text = decoded(encoded);
  checkShape(text);
  const root = parsed(text, refuse);
  if (root.namespaceURI !== PROTOCOL || root.localName !== 'Response') refuse('It is not a SAML response.');
  checkStatus(root);
  if (found(root, 'EncryptedAssertion', 'EncryptedID', 'EncryptedData').length > 0)
    throw new SignInFailure(
      'unavailable',
      'The assertion is encrypted, which is not supported; switch encryption off at the provider.',
    );
  const [assertion, ...others] = found(root, 'Assertion');
  if (assertion?.parentNode !== root || others.length > 0)
    refuse('The response must have one assertion, which is not inside another element.');
  for (const [name, allowed] of Object.entries(ALLOWED))
    for (const element of found(root, name)) {
      const algorithm = element.getAttribute('Algorithm');
      if (!allowed.has(algorithm)) refuse(`${name} ${algorithm} is not allowed; use RSA with SHA-256.`);
    }
  const children = childrenOf(root);
  const destination = root.getAttribute('Destination');
  const isSigned = children.some(({ localName }) => localName === 'Signature');
  if (destination === null ? isSigned : destination !== receiver)
    refuse(`The response is for ${destination ?? 'nobody'}, not for ${receiver}.`);
  for (const { textContent } of children.filter(({ localName }) => localName === 'Issuer'))
    if (textContent?.trim() !== issuer)
      refuse(`The issuer of the response is ${textContent}, not ${issuer} as in the metadata.`);
  return { inResponseTo: root.getAttribute('InResponseTo') ?? undefined };
}

/** Reads the metadata of one provider. @throws {Error} with the reason */
export function readMetadata(text: string, now: number): SamlMetadata {
  const fail = (why: string): never => {
    throw new Error(why);
  };
  const root = parsed(text, fail);
  const entities = [root, ...found(root, 'EntityDescriptor')].filter(
    (one) => one.localName === 'EntityDescriptor' && childrenOf(one).some(isProvider),
  );
  const [entity, another] = entities;
  if (entity === undefined || another !== undefined)
    return fail(`it describes ${entities.length} identity providers, not one`);
  const roles = childrenOf(entity).filter(isProvider);
  const ends = [root, entity, ...roles].flatMap((one) => {
    const given = one.getAttribute('validUntil');
    return given === null ? [] : [Date.parse(given)];
  });
  // A time that cannot be read is over.
  const over = ends.find((end) => !(end > now));
  if (over !== undefined) fail('it has expired (validUntil)');
  const service = roles
    .flatMap((role) => found(role, 'SingleSignOnService'))
    .find((one) => one.getAttribute('Binding') === REDIRECT);
  const entryPoint = service?.getAttribute('Location') ?? '';
  if (!URL.canParse(entryPoint) || !/^https?:/i.test(entryPoint))
    fail('it has no SingleSignOnService with the binding HTTP-Redirect');
  const issuer = entity.getAttribute('entityID')?.trim() ?? '';
  if (issuer === '') fail('it has no entityID');
  return { issuer, entryPoint, certificates: signingCertificates(roles, now, fail) };
}

function signingCertificates(
  roles: readonly Element[],
  now: number,
  fail: (why: string) => never,
): readonly string[] {
  const given = roles
    .flatMap((role) => found(role, 'KeyDescriptor'))
    .filter((one) => one.getAttribute('use') !== 'encryption')
    .flatMap((one) => found(one, 'X509Certificate'))
    .map(({ textContent }) => new X509Certificate(Buffer.from(textContent ?? '', 'base64')));
  // Asked for the details of some keys of other types, Node ends the program.
  const isStrong = ({ publicKey }: X509Certificate) =>
    publicKey.asymmetricKeyType === 'rsa' &&
    (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
  const strong = given.filter(isStrong);
  if (strong.length === 0) fail(`it has no signing certificate with an RSA key of ${MIN_RSA_BITS} bits`);
  const valid = strong.filter(({ validTo }) => Date.parse(validTo) > now);
  if (valid.length === 0) fail(`its signing certificate ended on ${strong[0]?.validTo}`);
  return valid.map((one) => one.toString());
}

function isProvider({ namespaceURI, localName }: Element): boolean {
  return namespaceURI === METADATA && localName === 'IDPSSODescriptor';
}

function checkStatus(root: Element): void {
  const [status] = childrenOf(root).filter(({ localName }) => localName === 'Status');
  const codes = (status === undefined ? [] : found(status, 'StatusCode')).map(
    (one) => one.getAttribute('Value')?.replace(STATUS, '') ?? '',
  );
  if (codes[0] === 'Success') return;
  const [message] = status === undefined ? [] : found(status, 'StatusMessage');
  throw new SignInFailure(
    codes.some((one) => DENIED.has(one)) ? 'denied' : 'unavailable',
    `The provider answered ${codes.join(', ') || 'no status'}: ${message?.textContent ?? ''}`.slice(0, 300),
  );
}

function decoded(encoded: string): string {
  const base64 = encoded.replace(/\s/g, '');
  if (base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) refuse('The response is not Base64.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return refuse('The response is not UTF-8.');
  }
}

/** Refuses what would take long to read. */
function checkShape(text: string): void {
  // Attributes cannot hold `<`, so each one begins a tag.
  const tags = text.match(/<(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g) ?? [];
  if (tags.length !== text.split('<').length - 1) refuse('It is not XML.');
  let depth = 0;
  for (const tag of tags) {
    if (tag.startsWith('</')) depth -= 1;
    else if (!tag.endsWith('/>') && !tag.startsWith('<?')) depth += 1;
    if (tag.length > MAX_TAG_LENGTH || depth > MAX_DEPTH)
      refuse('The response has tags that are too long, or too deep.');
  }
  if (new Set(text.match(/xmlns:[^\s=]*/g)).size > MAX_PREFIXES)
    refuse('The response has too many namespace prefixes.');
}

/** Comments, too, are refused: readers differ about text that they divide. */
function parsed(text: string, fail: (why: string) => never): Element {
  const body = text.replace(/^\uFEFF?\s*<\?xml\s[^>]*\?>/, '');
  if (/<[!?]/.test(body) && fail === refuse)
    fail('The response has a document type, a comment or a processing instruction.');
  if (/<!(?:DOCTYPE|ENTITY)/i.test(body)) fail('it has a document type, which is not allowed');
  try {
    const { documentElement } = new DOMParser({ onError: onErrorStopParsing }).parseFromString(
      body.trimStart(),
      'text/xml',
    );
    if (documentElement !== null) return documentElement;
  } catch {}
  return fail('It is not XML.');
}

function refuse(why: string): never {
  throw new SignInFailure('refused', why);
}

/** Elements below another, by local names in any namespace. */
function found(within: Element, ...names: readonly string[]): Element[] {
  return names.flatMap((name) => Array.from(within.getElementsByTagNameNS('*', name)));
}

function childrenOf({ childNodes }: Element): Element[] {
  return Array.from(childNodes).filter((one): one is Element => one.nodeType === 1);
}
