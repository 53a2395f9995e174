/**
 * Verifies XML signatures (W3C XML Signature 1.1) by xml-crypto: the digest of every reference, and the signature
 * value by a certificate of KeyInfo. XAdES properties are checked only as referenced data.
 */
import { constants, createHash, type KeyLike, verify, X509Certificate } from 'node:crypto';
import { DOMParser, type Document, type Element } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { type IndependentSignature, notComparable } from './types.ts';

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

/** Size limit in bytes: the library handles such documents in reasonable time and memory. */
const MAX_XML = 2 * 1024 * 1024;
const MAX_SIGNATURES = 256;
/** Most bytes that are read for all signatures: the library reads the document once for each. */
const MAX_READ = 8 * MAX_XML;
const MAX_CERTIFICATES = 16;

/** Algorithms that the library's caller provides, by the runtime's cryptography. */
const DIGESTS: { readonly [uri: string]: string } = {
  [`${MORE}sha384`]: 'sha384',
};
const VALUES: { readonly [uri: string]: { readonly digest: string; readonly ecdsa: boolean } } = {
  [`${MORE}rsa-sha384`]: { digest: 'sha384', ecdsa: false },
  [`${MORE}ecdsa-sha256`]: { digest: 'sha256', ecdsa: true },
  [`${MORE}ecdsa-sha384`]: { digest: 'sha384', ecdsa: true },
  [`${MORE}ecdsa-sha512`]: { digest: 'sha512', ecdsa: true },
};
const KNOWN_TRANSFORMS: ReadonlySet<string> = new Set([
  `${DS}enveloped-signature`,
  EXCLUSIVE,
  `${EXCLUSIVE}WithComments`,
  INCLUSIVE,
  `${INCLUSIVE}#WithComments`,
]);

export function judgeXml(file: Buffer): readonly IndependentSignature[] {
  if (file.length > MAX_XML)
    return [notComparable(`The document is longer than ${MAX_XML} bytes, too long for the library.`)];
  const text = textOf(file);
  if (text === undefined)
    return [notComparable('The library reads text, and its encoding cannot be decoded for it.')];
  const lack = lackOfDocument(text);
  if (lack !== undefined) return [notComparable(lack)];
  let document: Document;
  try {
    document = new DOMParser({ onError: quiet }).parseFromString(text, 'text/xml');
  } catch {
    return [notComparable('The library cannot read the document.')];
  }
  const outer = [...document.getElementsByTagNameNS(DS, 'Signature')].filter((one) => !isInside(one));
  if (outer.length > MAX_SIGNATURES)
    return [notComparable(`There are more than ${MAX_SIGNATURES} signatures.`)];
  if (outer.length * file.length > MAX_READ)
    return [notComparable(`The document has ${outer.length} signatures, too many for its length.`)];
  return outer.map((element) => judgeSignature(element, text));
}

const quiet = (level: 'warning' | 'error' | 'fatalError', message: string) => {
  if (level !== 'warning') throw new Error(message);
};

function textOf(file: Buffer): string | undefined {
  const [first, second] = file;
  const utf16 =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : '';
  const declared = /^<\?xml[^>]{0,200}encoding\s{0,8}=\s{0,8}["']([^"']{1,40})/.exec(
    file
      .subarray(0, 256)
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, ''),
  )?.[1];
  const label = utf16 || (declared?.toLowerCase().replace('us-ascii', 'utf-8') ?? 'utf-8');
  try {
    // A decoder that gives the characters of Microsoft for the controls of ISO 8859 is not asked about them.
    const isSure =
      !/^(windows-1252|iso-8859-(1|9|11)|tis-620)$/.test(label) ||
      !/[\x80-\x9f]/.test(file.toString('latin1'));
    if (!DECODED.test(label) || !isSure) return undefined;
    return new TextDecoder(label, { fatal: true }).decode(file);
  } catch {
    return undefined;
  }
}

/** Encodings whose decoders give the same text in all programs. */
const DECODED = /^(utf-8|utf-16[lb]e|windows-125\d|iso-8859-\d{1,2}|koi8-[ru]|tis-620)$/;

/**
 * Reason why the library can't verify a document: forms that it canonicalizes differently from the recommendation, or
 * does not read.
 */
function lackOfDocument(text: string): string | undefined {
  const body = text.replace(/^<\?xml[^>]{0,400}\?>/, '');
  if (body.includes('<!DOCTYPE')) return 'The library does not read documents with a DTD.';
  return body.includes('<?')
    ? 'The library leaves processing instructions out of the canonical form.'
    : undefined;
}

/** True for a signature inside another one: counter-signatures and signed signatures. */
function isInside(element: Element): boolean {
  for (let up = element.parentElement; up !== null; up = up.parentElement)
    if (up.namespaceURI === DS && up.localName === 'Signature') return true;
  return false;
}

function judgeSignature(element: Element, text: string): IndependentSignature {
  const value = child(element, 'SignatureValue')?.textContent?.replace(/\s+/g, '') ?? '';
  const lack = lackOfSignature(element) ?? lackOfInheritance(element, text);
  if (lack !== undefined) return { ...notComparable(lack), value };
  const certificates = certificatesOf(element);
  if (certificates.length === 0) return { ...notComparable('There is no certificate in KeyInfo.'), value };
  let reason = '';
  for (const certificate of certificates) {
    const miss = missOf(element, text, certificate);
    const signer = createHash('sha256').update(certificate.raw).digest('hex');
    if (miss === undefined) return { kind: 'signature', verdict: 'valid', reason: '', value, signer };
    if (miss instanceof RangeError)
      return { ...notComparable('The document is too deep for the library.'), value };
    reason = miss.message;
  }
  const signer = createHash('sha256')
    .update(certificates[0]?.raw ?? '')
    .digest('hex');
  return { kind: 'signature', verdict: 'invalid', reason, value, signer };
}

/** Returns the reason why the signature is invalid for this certificate; undefined when it is valid. */
function missOf(element: Element, text: string, certificate: X509Certificate): Error | undefined {
  const checker = new SignedXml({
    publicCert: certificate.toString(),
    // The certificate is chosen here, because the library takes the first one.
    getCertFromKeyInfo: () => null,
  });
  for (const [uri, digest] of Object.entries(DIGESTS))
    checker.HashAlgorithms[uri] = hashAlgorithm(uri, digest);
  for (const [uri, { digest, ecdsa }] of Object.entries(VALUES))
    checker.SignatureAlgorithms[uri] = valueAlgorithm(uri, digest, ecdsa);
  try {
    checker.loadSignature(element as never);
    return checker.checkSignature(text) ? undefined : new Error('The digest of a reference does not fit.');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function hashAlgorithm(uri: string, digest: string) {
  return class {
    getAlgorithmName = () => uri;
    getHash = (xml: string) => createHash(digest).update(xml, 'utf8').digest('base64');
  };
}

function valueAlgorithm(uri: string, digest: string, ecdsa: boolean) {
  return class {
    getAlgorithmName = () => uri;
    getSignature = (): string => {
      throw new Error('This side only verifies.');
    };
    verifySignature = (material: string, key: KeyLike, value: string): boolean =>
      verify(
        digest,
        Buffer.from(material, 'utf8'),
        ecdsa
          ? { key: key as string, dsaEncoding: 'ieee-p1363' }
          : { key: key as string, padding: constants.RSA_PKCS1_PADDING },
        Buffer.from(value, 'base64'),
      );
  };
}

/** Returns the first feature of a signature that the library does not support. */
function lackOfSignature(element: Element): string | undefined {
  const info = child(element, 'SignedInfo');
  if (info === undefined) return 'There is no SignedInfo.';
  const probe = new SignedXml();
  const method = algorithmOf(child(info, 'SignatureMethod'));
  if (!(method in VALUES) && !(method in probe.SignatureAlgorithms))
    return `The library lacks the signature algorithm ${method}.`;
  const canonical = algorithmOf(child(info, 'CanonicalizationMethod'));
  if (!KNOWN_TRANSFORMS.has(canonical)) return `The library lacks the canonicalization ${canonical}.`;
  for (const reference of children(info, 'Reference')) {
    const uri = reference.getAttribute('URI');
    if (uri !== '' && !uri?.startsWith('#'))
      return 'The library does not fetch what is outside of the document.';
    if (uri.startsWith('#xpointer') || uri.includes("'")) return 'The library reads references by Id only.';
    if (uri !== '' && reference.getAttribute('Id') === uri.slice(1))
      return 'The library finds two elements where a reference has the identifier of its target.';
    const digest = algorithmOf(child(reference, 'DigestMethod'));
    if (!(digest in DIGESTS) && !(digest in probe.HashAlgorithms))
      return `The library lacks the digest algorithm ${digest}.`;
    const list = child(reference, 'Transforms');
    const transforms = (list ? children(list, 'Transform') : []).map(algorithmOf);
    const lacking = transforms.find((name) => !KNOWN_TRANSFORMS.has(name));
    if (lacking !== undefined) return `The library lacks the transform ${lacking}.`;
    if (transforms.slice(0, -1).some((name) => name !== `${DS}enveloped-signature`))
      return 'The library does not read a canonical form again for the transforms after it.';
  }
  return undefined;
}

/** Canonical XML gives an element the attributes of `xml:` that it inherits; the library does not. */
function lackOfInheritance(element: Element, text: string): string | undefined {
  const info = child(element, 'SignedInfo');
  const inclusive =
    info && [...info.getElementsByTagNameNS(DS, '*')].some((one) => algorithmOf(one).startsWith(INCLUSIVE));
  return inclusive === true && /\sxml:[a-z]/.test(text)
    ? 'The library leaves inherited attributes such as xml:lang out of Canonical XML.'
    : undefined;
}

function certificatesOf(element: Element): readonly X509Certificate[] {
  const keyInfo = child(element, 'KeyInfo');
  if (keyInfo === undefined) return [];
  const found: X509Certificate[] = [];
  for (const one of [...keyInfo.getElementsByTagNameNS(DS, 'X509Certificate')].slice(0, MAX_CERTIFICATES)) {
    try {
      found.push(new X509Certificate(Buffer.from(one.textContent ?? '', 'base64')));
    } catch {
      // Unreadable certificates are ignored.
    }
  }
  return found;
}

function algorithmOf(element: Element | undefined): string {
  return element?.getAttribute('Algorithm') ?? '(none)';
}

function child(element: Element, name: string): Element | undefined {
  return children(element, name)[0];
}

function children(element: Element, name: string): readonly Element[] {
  return [...element.children].filter((one) => one.namespaceURI === DS && one.localName === name);
}
