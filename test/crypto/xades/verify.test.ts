import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import test from 'ava';
import { verifyXades, verifyXml } from '#crypto/xades/verify.js';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { seeded } from '../xml/documents.ts';
import { ENVELOPED, EXC, forge, transform } from './forging.ts';
import { byXmlsec, failed, NOW, newPath, signDocument, verdict } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

const ORIGINAL = '<?p q?><r xmlns="urn:r"><pay to="A">100</pay><!-- c --><last/></r>';
const signedText = (): string => signDocument(ORIGINAL).bytes.toString();

/** Returns the signature of another document by the same signer. */
const otherSignature = (): string =>
  /<ds:Signature .*<\/ds:Signature>/s.exec(signDocument('<x>other</x>').bytes.toString())?.[0] ?? '';

const replaced = (text: string, from: string | RegExp, to: string): string => {
  const changed = text.replace(from, () => to);
  if (changed === text) throw new Error(`nothing to replace: ${from}`);
  return changed;
};
const piece = (text: string, pattern: RegExp): string => {
  const found = pattern.exec(text)?.[0];
  if (found === undefined) throw new Error(`not found: ${pattern}`);
  return found;
};
const SIGNATURE = /<ds:Signature .*<\/ds:Signature>/s;
const PROPERTIES = /<xades:SignedProperties .*<\/xades:SignedProperties>/s;

interface Tampering {
  readonly what: string;
  readonly make: (signed: string) => string;
  /** Name of the check that must fail. */
  readonly check: string;
  /** Expected result of xmlsec1; left out where it does not check. */
  readonly xmlsec?: 'refuses';
}

const TAMPERINGS: readonly Tampering[] = [
  {
    what: 'text changed',
    make: (text) => replaced(text, '>100<', '>101<'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'attribute changed',
    make: (text) => replaced(text, 'to="A"', 'to="B"'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'attribute added',
    make: (text) => replaced(text, 'to="A"', 'to="A" x="1"'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'namespace changed',
    make: (text) => replaced(text, '"urn:r"', '"urn:s"'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'white space added',
    make: (text) => replaced(text, '<last/>', ' <last/>'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'element added after the signature',
    make: (text) => replaced(text, '</r>', '<more/></r>'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'instruction before the root changed',
    make: (text) => replaced(text, '<?p q?>', '<?p z?>'),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'instruction after the root added',
    make: (text) => `${text}<?p q?>`,
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  // Comments are not part of the canonical form, so only the comparison with the original detects the change.
  { what: 'comment changed', make: (text) => replaced(text, '<!-- c -->', '<!-- d -->'), check: 'content' },
  { what: 'spelling changed', make: (text) => replaced(text, '<last/>', '<last></last>'), check: 'content' },
  { what: 'bytes added at the end', make: (text) => `${text}\n`, check: 'content' },
  {
    what: 'signature taken from another document',
    make: (text) => replaced(text, SIGNATURE, otherSignature()),
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'signature removed',
    make: (text) => replaced(text, SIGNATURE, ''),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'signature moved into another element',
    make: (text) =>
      replaced(replaced(text, SIGNATURE, ''), '<last/>', `<last>${piece(text, SIGNATURE)}</last>`),
    check: 'content',
  },
  {
    what: 'document wrapped in another one',
    make: (text) => `<evil>${replaced(text, '<?p q?>', '')}</evil>`,
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'document wrapped in another one that takes over the signature',
    make: (text) => `<evil><keep>${replaced(text, SIGNATURE, '')}</keep>${piece(text, SIGNATURE)}</evil>`,
    check: 'document-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'signing time changed',
    make: (text) => replaced(text, /(?<=<xades:SigningTime>)\d{4}/, '1999'),
    check: 'properties-digest',
    xmlsec: 'refuses',
  },
  {
    what: 'SignedProperties taken from another signature',
    make: (text) => replaced(text, PROPERTIES, piece(otherSignature(), PROPERTIES)),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'changed SignedProperties in place, the signed ones in a second object',
    make: (text) => {
      const signed = piece(text, PROPERTIES);
      const changed = replaced(
        replaced(signed, /Id="[^"]*"/, 'Id="fresh"'),
        /(?<=<xades:SigningTime>)\d{4}/,
        '1999',
      );
      return replaced(
        replaced(text, PROPERTIES, changed),
        '</ds:Signature>',
        `<ds:Object>${replaced(signed, '<xades:SignedProperties', '<xades:SignedProperties xmlns:xades="http://uri.etsi.org/01903/v1.3.2#"')}</ds:Object></ds:Signature>`,
      );
    },
    check: 'structure',
  },
  {
    what: 'changed SignedProperties in place, the signed ones hidden among the unsigned under the same identifier',
    make: (text) => {
      const signed = piece(text, PROPERTIES);
      const changed = replaced(signed, /(?<=<xades:SigningTime>)\d{4}/, '1999');
      return replaced(
        text,
        PROPERTIES,
        `${changed}<xades:UnsignedProperties>${signed}</xades:UnsignedProperties>`,
      );
    },
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'identifier of the signature used a second time',
    make: (text) =>
      replaced(
        text,
        '</xades:SignedProperties>',
        `</xades:SignedProperties><xades:UnsignedProperties Id="${/<ds:Signature [^>]*Id="([^"]*)"/.exec(text)?.[1]}"/>`,
      ),
    check: 'unique-ids',
  },
  {
    what: 'target of the properties changed',
    make: (text) => replaced(text, /Target="#[^"]*"/, 'Target="#other"'),
    check: 'structure',
  },
  {
    what: 'certificate exchanged',
    make: (text) =>
      replaced(
        text,
        pki().signer('p-256').certificate.toString('base64'),
        pki().untrustedSigner().certificate.toString('base64'),
      ),
    check: 'signing-certificate',
    xmlsec: 'refuses',
  },
  {
    what: 'certificate that is none',
    make: (text) => replaced(text, pki().signer('p-256').certificate.toString('base64'), 'AAAA'),
    check: 'signing-certificate',
    xmlsec: 'refuses',
  },
  {
    what: 'certificates removed',
    make: (text) => replaced(text, /<ds:X509Data>.*<\/ds:X509Data>/, ''),
    check: 'signing-certificate',
    xmlsec: 'refuses',
  },
  {
    what: 'signature value changed',
    make: (text) => replaced(text, /(?<=<ds:SignatureValue [^>]*>)...../, 'AAAAA'),
    check: 'signature-value',
    xmlsec: 'refuses',
  },
  {
    what: 'signature value of another length',
    make: (text) => replaced(text, /(?<=<ds:SignatureValue [^>]*>)[^<]*/, 'AAAA'),
    check: 'signature-value',
    xmlsec: 'refuses',
  },
  {
    what: 'signature value that is not base64',
    make: (text) => replaced(text, /(?<=<ds:SignatureValue [^>]*>)[^<]*/, '*'),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'signature value with a letter of which a lax decoder reads one byte, the right one',
    make: (text) => {
      const [first = ''] = /(?<=<ds:SignatureValue [^>]*>)./.exec(text) ?? [];
      const other = String.fromCharCode(0x100 + first.charCodeAt(0));
      return replaced(text, /(?<=<ds:SignatureValue [^>]*>)./, other);
    },
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'digest of the document brought in line after a change',
    make: (text) => {
      const changed = replaced(text, '>100<', '>101<');
      const canonical = replaced(
        replaced(replaced(changed, SIGNATURE, ''), '<!-- c -->', ''),
        '<last/>',
        '<last></last>',
      );
      const digest = createHash('sha256')
        .update(replaced(canonical, '?>', '?>\n'))
        .digest('base64');
      return replaced(changed, /(?<=<ds:DigestValue>)[^<]*/, digest);
    },
    check: 'signature-value',
    xmlsec: 'refuses',
  },
  {
    what: 'reference to the document redirected to an element',
    make: (text) => replaced(replaced(text, 'URI=""', 'URI="#p"'), '<pay ', '<pay Id="p" '),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'reference removed',
    make: (text) => replaced(text, /<ds:Reference Type.*<\/ds:Reference>/, ''),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'transform added that leaves content out',
    make: (text) =>
      replaced(
        text,
        /<ds:Transform Algorithm="[^"]*enveloped-signature"><\/ds:Transform>/,
        '$&<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>self::x</ds:XPath></ds:Transform>',
      ),
    check: 'structure',
    xmlsec: 'refuses',
  },
  {
    what: 'digest algorithm weakened',
    make: (text) =>
      replaced(text, 'http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
    check: 'algorithms',
    xmlsec: 'refuses',
  },
  {
    what: 'signature algorithm changed to a keyed hash',
    make: (text) => replaced(text, 'xmldsig-more#ecdsa-sha256', 'xmldsig-more#hmac-sha256'),
    check: 'algorithms',
    xmlsec: 'refuses',
  },
  {
    what: 'signature algorithm of another key type',
    make: (text) => replaced(text, 'xmldsig-more#ecdsa-sha256', 'xmldsig-more#rsa-sha256'),
    check: 'signature-value',
    xmlsec: 'refuses',
  },
  {
    what: 'comment inside a digest value',
    make: (text) => replaced(text, '<ds:DigestValue>', '<ds:DigestValue><!---->'),
    check: 'structure',
  },
  {
    what: 'document type declaration put in front',
    make: (text) => `<!DOCTYPE r [<!ENTITY x "y">]>${replaced(text, '<?p q?>', '')}`,
    check: 'structure',
  },
  { what: 'last byte cut off', make: (text) => text.slice(0, -1), check: 'structure', xmlsec: 'refuses' },
];

for (const { what, make, check, xmlsec } of TAMPERINGS) {
  toolTest.serial(`the check "${check}" fails: ${what}`, async (t) => {
    const path = newPath();
    writeFileSync(path, make(signedText()));
    const report = verdict(path, Buffer.from(ORIGINAL));
    t.false(report.ok);
    t.true(failed(report).includes(check), JSON.stringify(report.checks, undefined, 1));
    if (what.startsWith('digest of the document')) t.false(failed(report).includes('document-digest'));
    if (xmlsec === undefined) return;
    const other = await byXmlsec(path);
    t.false(other.ok && other.references === 2, other.text);
  });
}

test('the original document passes every check that the tampered ones fail', (t) => {
  const report = verdict(signDocument(ORIGINAL).path, Buffer.from(ORIGINAL));
  t.true(report.ok);
  const seen = report.checks.map(({ name }) => name);
  for (const { check } of TAMPERINGS) t.true(seen.includes(check), check);
});

test('a signature over a part of a document fails the check of its coverage where the content is not compared', (t) => {
  const part = '<part Id="p">100</part>';
  const path = newPath();
  const verified = (uri: string, data: string, transforms: string) => {
    const signature = forge({ references: [{ uri, data, transforms }], at: NOW });
    writeFileSync(path, `<r>${part}${signature}</r>`);
    return failed(verifyXades({ format: 'Xades', path, at: NOW }));
  };
  t.deepEqual(verified('', `<r>${part}</r>`, transform(ENVELOPED) + transform(EXC)), []);
  t.deepEqual(verified('#p', part, transform(EXC)), ['coverage']);
});

test('a changed byte anywhere in a signed document is detected', (t) => {
  const original = Buffer.from('<r a="1">x<y/></r>');
  const { bytes } = signDocument(original);
  const sha256 = createHash('sha256').update(original).digest('hex');
  const random = seeded(7);
  const options = {
    at: NOW,
    signer: pki().signer('p-256').fingerprint,
    content: { sha256, length: original.length },
  };
  t.true(verifyXml(bytes, options).ok);
  // Base64 and white space have several spellings; such changes inside the signature are accepted.
  const from = bytes.indexOf('<ds:Signature ');
  const to = bytes.indexOf('</ds:Signature>');
  for (let at = 0; at < bytes.length; at++) {
    if (at > from && at < to && at % 7 !== 0) continue;
    const changed = Buffer.from(bytes);
    changed[at] = ((changed[at] ?? 0) + 1 + Math.floor(random() * 255)) & 0xff;
    const report = verifyXml(changed, options);
    const withoutSignature = Buffer.concat([changed.subarray(0, from), changed.subarray(to + 15)]);
    if (report.ok) t.deepEqual(withoutSignature, original, `byte ${at}`);
    if (at <= from || at >= to) t.false(report.ok, `byte ${at}`);
  }
});

toolTest.serial(
  'the chain check refuses a signature by a certificate of another root, in the engine and in xmlsec1',
  async (t) => {
    const signer = pki().untrustedSigner();
    const signed = signDocument(ORIGINAL, { signer });
    t.deepEqual(failed(verdict(signed.path, signed.original, signer)), ['chain']);
    t.false((await byXmlsec(signed.path)).ok);
  },
);

test('documents without a signature, and files that are not XML, fail checks without an exception', (t) => {
  for (const document of ['<r/>', 'no xml', '<r>', '<!DOCTYPE r><r/>', '\0\x01\x02']) {
    const report = verifyXml(Buffer.from(document), { at: NOW });
    t.deepEqual(failed(report), ['structure'], document);
    t.is(report.signatures, 0);
  }
});

test('a signed document cut at any byte, and random bytes, fail checks without an exception', (t) => {
  const { bytes } = signDocument(ORIGINAL);
  for (let length = 0; length < bytes.length; length++)
    t.false(verifyXml(bytes.subarray(0, length), { at: NOW }).ok);
  const random = seeded(3);
  for (let round = 0; round < 200; round++) {
    const noise = Buffer.from(Array.from({ length: 1 + (round % 64) }, () => Math.floor(random() * 256)));
    t.false(verifyXml(noise, { at: NOW }).ok);
    t.false(verifyXml(Buffer.concat([bytes.subarray(0, 200), noise, bytes.subarray(200)]), { at: NOW }).ok);
  }
});

test('a signature with a hundred thousand elements is refused before they are read', (t) => {
  const text = replaced(signedText(), '</ds:KeyInfo>', `${'<x/>'.repeat(100_000)}</ds:KeyInfo>`);
  const report = verifyXml(Buffer.from(text), { at: NOW });
  t.deepEqual(failed(report), ['structure']);
  t.regex(report.checks[0]?.detail ?? '', /more than 5000 elements/);
});
