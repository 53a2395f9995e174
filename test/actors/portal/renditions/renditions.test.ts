import { readFileSync, rmSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import test from 'ava';
import type { StoredFile } from '../../../../actors/portal/api.ts';
import type { DownloadType } from '../../../../contracts/portal/words.ts';
import type { DocumentId } from '../../../../machines/ids.ts';
import { JPEGS } from '../../../crypto/pades/appearance/appearance-jpegs.ts';
import { FOUR_COLOURS, pngOf } from '../../../crypto/pades/appearance/appearance-pictures.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { classicPdf, documentObjects, stream } from '../../../crypto/pdf/build.ts';
import { complaints, pictures, seenText } from '../../../crypto/pdf/pages/pages-harness.ts';
import { pki } from '../../../pki/pki.ts';
import { opensslCms, pdfsig, runTool, withTools } from '../../../verifiers/index.ts';
import { approver, ORIGIN, type PortalFixture, person, signer } from '../documents/flow-harness.ts';
import { until } from '../service.ts';
import { sharedPortalFixture } from './shared-harness.ts';

const toolTest = withTools(test, 'pdftotext', 'pdfsig', 'certutil', 'qpdf', 'mutool', 'openssl');

const openFixture = sharedPortalFixture();

const TYPES: readonly DownloadType[] = [
  'Signatures',
  'PrinterFriendlyVersion',
  'SigningTags',
  'SignatureMarks',
  'OriginalWithMarks',
  'SignaturesManifest',
];

const get = (fixture: PortalFixture, id: DocumentId, type: DownloadType): Promise<StoredFile> =>
  fixture.portal.documents.content(fixture.tenant, id, type);

/** The code of each version, or `given`. */
async function availability(fixture: PortalFixture, id: DocumentId): Promise<Record<string, string>> {
  const codes: Record<string, string> = {};
  for (const type of TYPES) {
    codes[type] = await get(fixture, id, type).then(
      () => 'given',
      (error: { readonly code: string }) => error.code,
    );
  }
  return codes;
}

const every = (code: string) => Object.fromEntries(TYPES.map((type) => [type, code]));

const MARK = { topLeftX: 120, topLeftY: 30, width: 70, height: 50, pageNumber: 1 } as const;
const pages = () => Buffer.from(classicPdf(documentObjects({ pages: 2, text: 'Clause' })));

/** Ana signs in the first of two steps, with a mark. */
async function signedByAna() {
  const fixture = await openFixture();
  const file = await fixture.file('Contract of work.pdf', pages());
  const id = await fixture.create(
    [
      signer('Ana', 1, {
        title: 'Director',
        user: { name: 'Ana Müller', identifier: '390.533.447-05', email: 'ana@example.org' },
        prePositionedMarks: [MARK, { ...MARK, type: 'SignatureInitials', topLeftY: 150, pageNumber: null }],
      }),
      signer('Bob', 2),
    ],
    { files: [file] },
  );
  await fixture.sign(id, 'ana@example.org', { typedName: 'Ana M.', timeZoneOffset: -180 });
  const document = await fixture.until(id, ({ hasSignature }) => hasSignature);
  // The answers of the mail server are in the manifest, too.
  await until(async () => {
    const { items } = await fixture.portal.documents.history(fixture.tenant, id, { limit: 100, offset: 0 });
    const countOf = (type: string) => items.filter((entry) => entry.type === type).length;
    return countOf('Mailed') === countOf('MailDelivered') ? true : undefined;
  });
  return { fixture, id, document };
}

const textOf = async (path: string) => (await runTool('pdftotext', ['-layout', path, '-'])).stdout;

test('only the original exists before any signature, byte for byte', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([signer('Ana')], { files: [await fixture.file('a b.pdf', contract())] });
  const original = await get(fixture, id, 'Original');
  t.deepEqual(readFileSync(original.path), contract());
  t.is(original.fileName, 'a b.pdf');
  t.is(original.contentType, 'application/pdf');
  t.deepEqual(await availability(fixture, id), every('DocumentHasNoSignatures'));
});

for (const [name, content, type] of [
  ['a.pdf', contract(), 'application/pdf'],
  ['a.txt', Buffer.from('Read me.'), 'text/plain'],
] as const) {
  toolTest(
    `${name}, concluded with approvals alone, has a manifest and a printed version that name who approved`,
    async (t) => {
      const fixture = await openFixture();
      const file = await fixture.file(name, content, type);
      const id = await fixture.create([approver('Eve', 1), approver('Cy', 2)], { files: [file] });
      const approve = async (address: string) =>
        fixture.portal.signing.approve(await fixture.ticket(id, address), ORIGIN);
      await approve('eve@example.org');
      t.deepEqual(await availability(fixture, id), every('DocumentHasNoSignatures'), 'while one is asked');
      await approve('cy@example.org');
      await fixture.until(id, ({ status }) => status === 'Concluded');
      const proofs = { SignaturesManifest: 'given', PrinterFriendlyVersion: 'given' };
      t.deepEqual(await availability(fixture, id), { ...every('DocumentHasNoSignatures'), ...proofs });
      for (const type of ['SignaturesManifest', 'PrinterFriendlyVersion'] as const) {
        const text = await textOf((await get(fixture, id, type)).path);
        for (const told of ['Eve', 'Cy', 'Approval', '203.0.113.7'])
          t.true(text.includes(told), `${type}: ${text}`);
      }
    },
  );
}

test('a document that was refused after an approval has the printed version, and no manifest', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([approver('Eve', 1), signer('Ana', 2)]);
  await fixture.portal.signing.approve(await fixture.ticket(id, 'eve@example.org'), ORIGIN);
  await fixture.portal.documents.cancel(fixture.tenant, id, 'Not needed.');
  const given = await availability(fixture, id);
  t.is(given['PrinterFriendlyVersion'], 'given');
  t.is(given['SignaturesManifest'], 'DownloadTypeNotAvailable');
  t.is(given['Signatures'], 'DocumentHasNoSignatures');
});

toolTest('every version exists after the first signature, each a valid PDF with its own name', async (t) => {
  const { fixture, id } = await signedByAna();
  t.deepEqual(await availability(fixture, id), every('given'));
  const names = new Set<string>();
  for (const type of TYPES) {
    const file = await get(fixture, id, type);
    names.add(file.fileName);
    t.is(file.contentType, 'application/pdf');
    t.is(file.length, readFileSync(file.path).length);
    t.is(await complaints(file.path), '', type);
  }
  t.is(names.size, TYPES.length);
  const verdicts = await pdfsig(await fixture.signedFile(id), pki());
  t.deepEqual(
    verdicts.map(({ ok }) => ok),
    [true],
  );
});

toolTest(
  'the printer-friendly version shows the pages, the marks at their places, the key on each page and the signers',
  async (t) => {
    const { fixture, id, document } = await signedByAna();
    const { path } = await get(fixture, id, 'PrinterFriendlyVersion');
    const seen = await seenText(path);
    const on = (page: number) => seen.filter((one) => one.page === page).map(({ text }) => text);
    t.true(on(1).includes('Clause 1') && on(2).includes('Clause 2'));
    const name = seen.find(({ text, page }) => page === 1 && text === 'Ana M.');
    t.true(name !== undefined && name.left >= MARK.topLeftX && name.right <= MARK.topLeftX + MARK.width);
    t.true(name !== undefined && name.top >= MARK.topLeftY && name.bottom <= MARK.topLeftY + MARK.height);
    t.true(on(1).includes('Director'));
    t.true(on(2).includes('AM'), 'initials on the last page');
    const key = document.key.replace(/.{5}(?=.)/g, '$&-');
    for (const page of [1, 2])
      t.true(
        on(page).some((text) => text.includes(key)),
        `page ${page}`,
      );
    const text = await textOf(path);
    const record = await fixture.portal.validation.byDocument(fixture.tenant, id);
    const [signature] = record.signers;
    for (const expected of [
      'Signature manifest',
      'Ana Müller',
      '39053344705',
      'ana@example.org',
      'Director',
      'Electronic signature',
      '203.0.113.7',
      'UTC-03:00',
      'the application App',
      `https://sign.example.org/check/${document.key}`,
      String(signature?.evidences?.['evidencesSha256']),
      signature?.certificateThumbprint ?? 'no thumbprint',
    ]) {
      t.true(text.includes(expected), expected);
    }
    const [signatures = ''] = text.split('History');
    t.false(signatures.includes('Bob'), 'who has not signed is in the history alone');
  },
);

toolTest(
  'versions with marks, with the original and with tags show the content of their names',
  async (t) => {
    const { fixture, id, document } = await signedByAna();
    const shown = async (type: DownloadType) => textOf((await get(fixture, id, type)).path);
    const marks = await shown('SignatureMarks');
    t.true(marks.includes('Ana M.') && !marks.includes('Clause'));
    t.is((await pictures((await get(fixture, id, 'SignatureMarks')).path)).length, 2);
    const both = await shown('OriginalWithMarks');
    t.true(both.includes('Ana M.') && both.includes('Clause') && !both.includes('/check/'));
    const tags = await shown('SigningTags');
    t.true(
      tags.includes('Clause 2') && tags.includes(`/check/${document.key}`) && !tags.includes('Director'),
    );
    const manifest = await shown('SignaturesManifest');
    t.true(manifest.includes('Signature manifest') && !manifest.includes('Clause'));
  },
);

toolTest('a picture is drawn in a mark', async (t) => {
  const drawn = async (image: Buffer | undefined) => {
    const fixture = await openFixture();
    const id = await fixture.create([signer('Ana')], { files: [await fixture.file('c.pdf', pages())] });
    const upload = image && (await fixture.file('signature.png', image, 'image/png'));
    await fixture.sign(id, 'ana@example.org', {
      positions: [MARK],
      ...(upload && { imageUploadId: upload.id }),
    });
    await fixture.until(id, ({ hasSignature }) => hasSignature);
    const { path } = await get(fixture, id, 'OriginalWithMarks');
    const [page] = await pictures(path, 72);
    const text = (await seenText(path)).map((one) => one.text);
    return { page, text };
  };
  const without = await drawn(undefined);
  const withOne = await drawn(FOUR_COLOURS);
  t.not(without.page, withOne.page);
  t.true(withOne.text.includes('Ana'));
});

test('a picture that cannot be drawn is refused with what to do, and the signature can be made without it', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([signer('Ana')], { files: [await fixture.file('c.pdf', pages())] });
  const damaged = Buffer.from(FOUR_COLOURS);
  damaged.fill(0, damaged.length - 30, damaged.length - 20);
  const large = pngOf([
    ['IHDR', Buffer.from([0, 0, 64, 0, 0, 0, 64, 0, 8, 6, 0, 0, 0])],
    ['IDAT', Buffer.alloc(9)],
    ['IEND', Buffer.alloc(0)],
  ]);
  const cases = [
    [damaged, /cannot be drawn.* is a damaged PNG\. Save it as a PNG or JPEG/],
    [large, /is too large: 16384 x 16384, and 16 million pixels is the most\. Save it/],
    [Buffer.from('%PDF-1.7'), /neither PNG nor JPEG/],
  ] as const;
  for (const [image, message] of cases) {
    await t.throwsAsync(fixture.sign(id, 'ana@example.org', { positions: [MARK], image }), { message });
    const upload = await fixture.file('signature.png', image, 'image/png');
    const byId = { positions: [MARK], imageUploadId: upload.id };
    await t.throwsAsync(fixture.sign(id, 'ana@example.org', byId), { message });
  }
  t.false((await fixture.get(id)).hasSignature);
  await fixture.sign(id, 'ana@example.org', { positions: [MARK], image: FOUR_COLOURS });
  await fixture.until(id, ({ hasSignature }) => hasSignature);
});

test('a large picture with missing samples is refused, an intact one of the same size is drawn', async (t) => {
  const fixture = await openFixture();
  const rows = deflateSync(Buffer.alloc((2001 + 1) * 1000));
  const cut = deflateSync(Buffer.alloc((2001 + 1) * 1000 - 1));
  const picture = (samples: Buffer) =>
    pngOf([
      ['IHDR', Buffer.from('000007d1000003e80800000000', 'hex')],
      ['IDAT', samples],
      ['IEND', Buffer.alloc(0)],
    ]);
  const id = await fixture.create([signer('Ana')], { files: [await fixture.file('c.pdf', pages())] });
  const sign = (image: Buffer) => fixture.sign(id, 'ana@example.org', { positions: [MARK], image });
  await t.throwsAsync(sign(picture(cut)), {
    message: /cannot be drawn.* is a PNG with too few samples\. Save it as/,
  });
  t.false((await fixture.get(id)).hasSignature);
  await sign(picture(rows));
  await fixture.until(id, ({ hasSignature }) => hasSignature);
});

test('a picture in printing colours is refused for a PDF/A file, and drawn in another', async (t) => {
  const fixture = await openFixture();
  const sign = async (name: string, file: Buffer, image: Buffer) => {
    const id = await fixture.create([signer('Ana')], { files: [await fixture.file(name, file)] });
    await fixture.sign(id, 'ana@example.org', { positions: [MARK], image });
    await fixture.until(id, ({ hasSignature }) => hasSignature);
  };
  const objects = documentObjects({ catalog: '/Metadata 90 0 R' });
  objects.set(90, stream('/Type /Metadata /Subtype /XML', '<x pdfaid:part="2"/>'));
  const archive = classicPdf(objects);
  await t.throwsAsync(sign('a.pdf', archive, JPEGS.cmyk), {
    message: /cannot be drawn.* printing colours, .* Save it as a PNG or JPEG of RGB colours/,
  });
  await t.notThrowsAsync(sign('a.pdf', archive, JPEGS.baseline));
  await t.notThrowsAsync(sign('b.pdf', pages(), JPEGS.cmyk));
});

toolTest(
  'a canceled or refused document has its original and its printer-friendly version alone',
  async (t) => {
    const { fixture, id } = await signedByAna();
    await fixture.portal.documents.refuse(fixture.tenant, id, 'Not like this');
    const left = { ...every('DownloadTypeNotAvailable'), PrinterFriendlyVersion: 'given' };
    t.deepEqual(await availability(fixture, id), left);
    await fixture.portal.documents.cancel(fixture.tenant, id, 'Never mind');
    t.deepEqual(await availability(fixture, id), left);
    t.notThrows(() => get(fixture, id, 'Original'));
    const text = await textOf((await get(fixture, id, 'PrinterFriendlyVersion')).path);
    t.true(text.includes('Canceled') && text.includes('Never mind'));
  },
);

toolTest(
  'a file that is not a PDF has its detached signature and the manifest, without drawings on pages',
  async (t) => {
    const fixture = await openFixture();
    const content = Buffer.from('The quick brown fox\n');
    const file = await fixture.file('note.txt', content, 'text/plain');
    const id = await fixture.create([signer('Ana', 1), signer('Bob', 2)], { files: [file] });
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ hasSignature }) => hasSignature);
    t.deepEqual(await availability(fixture, id), {
      Signatures: 'given',
      PrinterFriendlyVersion: 'given',
      SigningTags: 'DownloadTypeNotAvailable',
      SignatureMarks: 'DownloadTypeNotAvailable',
      OriginalWithMarks: 'DownloadTypeNotAvailable',
      SignaturesManifest: 'given',
    });
    const signatures = await get(fixture, id, 'Signatures');
    t.is(signatures.fileName, 'note.txt.p7s');
    t.is(signatures.contentType, 'application/pkcs7-signature');
    const original = await get(fixture, id, 'Original');
    t.true((await opensslCms({ signature: signatures.path, content: original.path, ca: pki().rootFile })).ok);
    const manifest = await get(fixture, id, 'PrinterFriendlyVersion');
    t.is(manifest.fileName, 'note-printable.pdf');
    t.true((await textOf(manifest.path)).includes('Ana'));
  },
);

test('concurrent requests draw a version once, and a version is drawn to the same bytes after a sweep', async (t) => {
  const { fixture, id } = await signedByAna();
  const asked = await Promise.all(
    Array.from({ length: 8 }, () => get(fixture, id, 'PrinterFriendlyVersion')),
  );
  t.is(new Set(asked.map(({ path }) => path)).size, 1);
  const [first] = asked;
  if (first === undefined) return t.fail();
  const bytes = readFileSync(first.path);
  rmSync(first.path);
  const again = await get(fixture, id, 'PrinterFriendlyVersion');
  t.is(again.etag, first.etag);
  t.deepEqual(readFileSync(again.path), bytes);
});

toolTest('a further signature makes another version', async (t) => {
  const { fixture, id } = await signedByAna();
  const before = await get(fixture, id, 'SignaturesManifest');
  await fixture.sign(id, 'bob@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const after = await get(fixture, id, 'SignaturesManifest');
  t.not(after.etag, before.etag);
  const text = await textOf(after.path);
  t.true(text.includes('Bob') && text.includes('Concluded'));
});

test('a ticket fetches one version without a key, inline for a preview, and no other', async (t) => {
  const { fixture, id } = await signedByAna();
  const { documents } = fixture.portal;
  const ticketOf = (location: string) =>
    new URL(location, 'https://sign.example.org').searchParams.get('ticket') ?? '';
  const location = await documents.contentTicket(fixture.tenant, id, 'SignaturesManifest', false);
  t.regex(location, new RegExp(`^/api/documents/${id}/download\\?ticket=[A-Za-z0-9_-]+$`));
  const file = await documents.ticketContent(ticketOf(location));
  t.is(file.etag, (await get(fixture, id, 'SignaturesManifest')).etag);
  t.false(file.inline);
  const preview = ticketOf(await documents.contentTicket(fixture.tenant, id, 'Original', true));
  t.true((await documents.ticketContent(preview)).inline);
  const wrong = [...preview];
  wrong[10] = wrong[10] === 'A' ? 'B' : 'A';
  await t.throwsAsync(documents.ticketContent(wrong.join('')), { message: 'Nothing is here.' });
  await t.throwsAsync(documents.ticketContent(''), { message: 'Nothing is here.' });
  await documents.remove(fixture.tenant, id);
  const error = await t.throwsAsync<Error & { readonly code: string }>(documents.ticketContent(preview));
  t.is(error?.code, 'DocumentIsDeleted');
});

test('a ticket is refused for a missing version', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([signer('Ana')]);
  const error = await t.throwsAsync<Error & { readonly code: string }>(
    fixture.portal.documents.contentTicket(fixture.tenant, id, 'Signatures', false),
  );
  t.is(error?.code, 'DocumentHasNoSignatures');
});

toolTest(
  'an envelope of two PDFs is one document whose original has the pages of both, and can be signed',
  async (t) => {
    const fixture = await openFixture();
    const files = [await fixture.file('one.pdf', contract()), await fixture.file('two.pdf', pages())];
    const id = await fixture.create([signer('Ana')], { files, isEnvelope: true, envelopeName: 'Both' });
    const original = await get(fixture, id, 'Original');
    const before = [
      ...(await pictures(await pathOf(fixture, files[0]?.id))),
      ...(await pictures(await pathOf(fixture, files[1]?.id))),
    ];
    t.deepEqual(await pictures(original.path), before);
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const verdicts = await pdfsig(await fixture.signedFile(id), pki());
    t.deepEqual(
      verdicts.map(({ ok }) => ok),
      [true],
    );
    const text = await textOf((await get(fixture, id, 'PrinterFriendlyVersion')).path);
    t.true(text.includes('one.pdf') && text.includes('two.pdf') && text.includes('Clause 2'));
  },
);

async function pathOf(fixture: PortalFixture, upload: string | undefined): Promise<string> {
  const found = await fixture.portal.uploads.findUpload(fixture.tenant.organization.id, upload ?? '');
  const { sha256 } = found.blob;
  return `${fixture.root}/portal/blobs/${sha256.slice(0, 2)}/${sha256}`;
}

toolTest('the manifest lists approvers beside signers, and their capacity', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([
    { type: 'Approver', step: 1, title: 'Legal counsel', user: person('Eve') },
    signer('Ana', 2),
  ]);
  await fixture.portal.signing.approve(await fixture.ticket(id, 'eve@example.org'), ORIGIN);
  await fixture.sign(id, 'ana@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const text = await textOf((await get(fixture, id, 'SignaturesManifest')).path);
  t.regex(text, /Eve – Approval[\s\S]*Legal counsel[\s\S]*Ana – Electronic signature/);
});

withTools(
  test,
  'mutool',
  'zbarimg',
)('the QR code of the manifest leads to the page that checks the document', async (t) => {
  const { fixture, id, document } = await signedByAna();
  const { path } = await get(fixture, id, 'SignaturesManifest');
  const picture = `${path}.${process.pid}.png`;
  t.teardown(() => rmSync(picture, { force: true }));
  await runTool('mutool', ['draw', '-q', '-r', '150', '-o', picture, path, '1']);
  const { stdout } = await runTool('zbarimg', ['-q', '--raw', picture]);
  t.regex(stdout, new RegExp(`^https?://\\S+/check/${document.key}\n$`));
});

toolTest('characters without a glyph are shown by code point, and copied as they are', async (t) => {
  const fixture = await openFixture();
  const name = '𡨸𡨸';
  const user = { name, email: 'wang@example.org' };
  const id = await fixture.create([signer('Wang', 1, { user }), signer('Bob', 2)], {
    files: [await fixture.file('x.pdf', pages())],
  });
  await fixture.sign(id, 'wang@example.org', { typedName: name });
  await fixture.until(id, ({ hasSignature }) => hasSignature);
  const { path } = await get(fixture, id, 'SignaturesManifest');
  const text = await textOf(path);
  t.true(text.includes('U+21A38'), text);
  t.true(text.includes('A box stands for a letter'), text);
  t.true(text.includes(name), 'the text of the page is boxes');
});
