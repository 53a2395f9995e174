/**
 * A file that is signed as one format and opened as another: programs find a PDF behind other bytes, and a ZIP file before
 * them. Each place of each format that no signature covers is tried, and beside it a file whose signed content is such a
 * document.
 */
import test from 'ava';
import { DIGEST_ID, ID } from '#crypto/asn1/oids.js';
import { TAG } from '#crypto/asn1/read.js';
import { octetString, oid, sequence, setOf, small, tlv } from '#crypto/asn1/write.js';
import { formatOfHeader, HEADER_BYTES } from '#crypto/core/header-format.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import { file, handMade, made, remade, verdict } from '../asic/container-harness.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';
import { enveloped } from '../xades/forging.ts';
import { attributeOf, forgeSigner } from './forge.ts';

const toolTest = withTools(test, 'pdftotext');

const pdfOf = (text: string): Buffer => classicPdf(documentObjects({ pages: 1, text }));
const PDF = pdfOf('Pay 100');
const EVIL = pdfOf('Pay 900');
const ZIP = handMade([{ name: 'word/document.xml', bytes: Buffer.from('<pay>900</pay>') }]);
const TEXT = Buffer.from('One hundred barrels, to be paid on delivery.\n');
const { key, certificate, chain } = pki().signer('p-256');
const signer = { key: key.keyObject, certificate };
const UNKNOWN = oid('1.2.3.4');

interface Parts {
  readonly algorithms?: readonly Buffer[];
  readonly certificates?: readonly Buffer[];
  readonly crls?: readonly Buffer[];
  readonly unsigned?: readonly Buffer[];
}

/** Signs content, with further elements where no signature covers them. */
function cms(
  content: Buffer,
  { algorithms = [], certificates = [], crls = [], unsigned = [] }: Parts,
): Buffer {
  const info = forgeSigner({ signer, content, at: Date.now(), unsigned });
  const inside = sequence(ID.data, tlv(TAG.context0Constructed, octetString(content)));
  return sequence(
    ID.signedData,
    tlv(
      TAG.context0Constructed,
      sequence(
        small(1),
        tlv(TAG.set, sequence(DIGEST_ID.sha256), ...algorithms),
        inside,
        tlv(TAG.context0Constructed, certificate, ...chain, ...certificates),
        ...(crls.length === 0 ? [] : [tlv(TAG.context1Constructed, ...crls)]),
        setOf([info]),
      ),
    ),
  );
}

const pem = (der: Buffer): string =>
  `-----BEGIN CMS-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CMS-----\n`;
const other = (hidden: Buffer) => sequence(UNKNOWN, octetString(hidden));

/** Every place of a CMS file that no signature covers. */
const CMS_PLACES: { readonly [place: string]: (content: Buffer, hidden: Buffer) => Buffer } = {
  'digest algorithms': (content, hidden) => cms(content, { algorithms: [other(hidden)] }),
  certificates: (content, hidden) =>
    cms(content, { certificates: [tlv(0xa3, UNKNOWN, octetString(hidden))] }),
  'revocation values': (content, hidden) => cms(content, { crls: [tlv(0xa1, UNKNOWN, octetString(hidden))] }),
  'unsigned attributes': (content, hidden) =>
    cms(content, { unsigned: [attributeOf(UNKNOWN, octetString(hidden))] }),
  'bytes behind the end': (content, hidden) => Buffer.concat([cms(content, {}), hidden]),
  'text before PEM': (content, hidden) =>
    Buffer.concat([Buffer.from('Signed:\n'), hidden, Buffer.from(`\n${pem(cms(content, {}))}`)]),
  'text behind PEM': (content, hidden) => Buffer.concat([Buffer.from(pem(cms(content, {}))), hidden]),
};

async function judged(bytes: Buffer): Promise<readonly [indication: string, second: boolean]> {
  const format = formatOfHeader(bytes.subarray(0, 1024)) ?? 'Cades';
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  const { indication, results } = await validateFile({ format, path: bytes, at: Date.now(), trust });
  return [indication, results.errors.some(({ type }) => type === 'file.second-format')];
}

/** A file with a PDF before its text is taken for that PDF, which has no signature. */
const isOpen = async (bytes: Buffer) => (await judged(bytes))[0] === 'INDETERMINATE';

const PASSES = ['TOTAL-PASSED', false];
const OPEN = ['INDETERMINATE', true];

for (const [place, build] of Object.entries(CMS_PLACES))
  test(`a document in a place of a CMS file that no signature covers leaves it open: ${place}`, async (t) => {
    t.false(await isOpen(build(PDF, TEXT)));
    for (const content of [PDF, TEXT]) {
      const bytes = build(content, EVIL);
      t.is(await isOpen(bytes), bytes.subarray(0, HEADER_BYTES).includes('%PDF-'), 'a PDF');
      t.true(await isOpen(build(content, ZIP)), 'a ZIP file');
    }
  });

toolTest('what is found in such a file is what other programs show', async (t) => {
  const shown = async (bytes: Buffer) => (await runTool('pdftotext', ['-q', file(bytes, 'pdf'), '-'])).stdout;
  t.regex(await shown(cms(PDF, {})), /Pay 100/);
  t.regex(await shown(CMS_PLACES['digest algorithms']?.(PDF, EVIL) ?? PDF), /Pay 900/);
});

test('signed content may be a document of any format', async (t) => {
  for (const content of [TEXT, PDF, ZIP, Buffer.concat([PDF, ZIP])])
    t.deepEqual(await judged(cms(content, {})), PASSES);
});

test('an XML file with a PDF in a comment is left open', async (t) => {
  t.deepEqual(await judged(Buffer.from(enveloped('<pay>100</pay>'))), PASSES);
  const hidden = EVIL.toString('latin1')
    .replace(/[^\n\x20-\x7e]/g, '')
    .replaceAll('--', '');
  t.deepEqual(await judged(Buffer.from(`<!--${hidden}-->${enveloped('<pay>100</pay>')}`)), OPEN);
});

test('a container with a PDF beside its files is left open, and one with a signed PDF passes', async (t) => {
  const path = await made('E', 'Xades', { inputs: [{ path: file(PDF), name: 'contract.pdf' }] });
  t.is(await verdict(path), 'TOTAL-PASSED');
  t.is(await verdict(remade(path, (members) => members)), 'TOTAL-PASSED', 'stored');
  const localExtra = Buffer.concat([Buffer.from([0xfe, 0xca, EVIL.length & 0xff, EVIL.length >> 8]), EVIL]);
  const hidden = remade(path, ([first, ...rest]) => [...(first ? [{ ...first, localExtra }] : []), ...rest]);
  t.is(await verdict(hidden), 'INDETERMINATE file.second-format');
});
