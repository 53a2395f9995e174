/** Updates that show nothing new pass, each beside one that looks like it and shows something. */
import test from 'ava';
import { appendRevision, documentObjects, hybridPdf, stream } from '../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  edited,
  FONT,
  FORM,
  FREE,
  objections,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  verdicts,
} from './validation/attack-files.ts';

const FAILED = ['TOTAL-FAILED FORMAT_FAILURE'];
const PASSED = ['TOTAL-PASSED'];
/** `warned` for a signature that passes with a warning about the change. */
function verdictOf(pdf: Buffer): string {
  const [signature] = reportOn(pdf).signatures;
  const isWarned =
    signature?.results.warnings.some(({ type }) => ['pdf.metadata', 'pdf.trailing'].includes(type)) === true;
  if (signature?.indication !== 'TOTAL-PASSED') return signature?.indication ?? 'none';
  return isWarned ? 'warned' : 'passed';
}
type Objects = readonly (readonly [number, string])[];
const updated = (pdf: Buffer, objects: Objects, trailer = ''): Buffer =>
  appendRevision(pdf, new Map(objects), trailer);

/** Appends a revision whose trailer names another root. */
function rooted(pdf: Buffer, objects: Objects, root: number): Buffer {
  const text = updated(pdf, objects).toString('latin1', pdf.length);
  return Buffer.concat([pdf, Buffer.from(text.replace(/\/Root [0-9]+ 0 R/, `/Root ${root} 0 R`), 'latin1')]);
}

test('the catalogue may be rewritten as another object, and not replaced by another catalogue', (t) => {
  const pdf = signed(contract());
  const catalog = bodyOf(pdf, CATALOG);
  t.deepEqual(verdicts(rooted(pdf, [[FREE, catalog]], FREE)), PASSED);
  const acting = catalog.replace('<<', '<< /OpenAction << /S /JavaScript /JS (x) >>');
  t.deepEqual(verdicts(rooted(pdf, [[FREE, acting]], FREE)), FAILED);
  const pages = [
    [FREE, catalog.replace('2 0 R', `${FREE + 1} 0 R`)],
    [FREE + 1, bodyOf(pdf, 2)],
  ] as const;
  t.deepEqual(verdicts(rooted(pdf, pages, FREE)), FAILED);
  t.deepEqual(verdicts(rooted(pdf, [[CONTENT, catalog]], CONTENT)), FAILED);
});

test('a new unreferenced object is reported and permitted', (t) => {
  const pdf = signed(contract());
  const hidden = (number: number): Buffer => {
    const body = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 999) Tj ET');
    const start = Buffer.from(`${number} 0 obj\n${body}\nendobj\n`);
    const rest = updated(Buffer.concat([pdf, start]), [[FREE + 9, '(x)']]);
    return previousAt(rest, pdf);
  };
  t.deepEqual(verdicts(hidden(FREE)), PASSED);
  t.deepEqual(verdicts(hidden(CONTENT)), FAILED);
  const missing = signed(
    contract((objects) => {
      objects.set(
        PAGE,
        (objects.get(PAGE) ?? '').replace(
          `/Contents ${CONTENT} 0 R`,
          `/Contents [${CONTENT} 0 R ${FREE} 0 R]`,
        ),
      );
    }),
  );
  const start = Buffer.from(`${FREE} 0 obj\n${stream('', '0 0 9 9 re f')}\nendobj\n`);
  const filled = previousAt(updated(Buffer.concat([missing, start]), [[FREE + 9, '(x)']]), missing);
  t.deepEqual(verdicts(missing), PASSED);
  t.deepEqual(verdicts(filled), FAILED);
});

/** `appendRevision` looks for startxref at the end, which has hidden bytes. */
function previousAt(file: Buffer, before: Buffer): Buffer {
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(before.toString('latin1'))?.[1] ?? '';
  const text = file.toString('latin1').replace(/\/Prev NaN/, `/Prev ${previous}`);
  return Buffer.from(text, 'latin1');
}

test('a form may get further fonts and encodings, and keeps its fonts', (t) => {
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>';
  const resources = '<< /Font << /F1 3 0 R >> >>';
  for (const written of [resources, '40 0 R']) {
    const pdf = signed(
      contract((objects) => {
        objects.set(40, resources);
        objects.set(FORM, (objects.get(FORM) ?? '').replace('/DA', `/DR ${written} /DA`));
      }),
    );
    const more = resources
      .replace('3 0 R', `3 0 R /F9 ${FREE} 0 R`)
      .replace(/>>$/, `/Encoding << /E ${FREE + 1} 0 R >> >>`);
    const encoding = [FREE + 1, '<< /Type /Encoding /BaseEncoding /WinAnsiEncoding >>'] as const;
    const change = (to: string): readonly [number, string] =>
      written === resources ? edited(pdf, FORM, resources, to) : [40, to];
    t.deepEqual(objections(updated(pdf, [change(more), [FREE, font], encoding])), []);
    t.deepEqual(verdicts(updated(pdf, [change(more), [FREE, font], encoding])), PASSED);
    const other = resources.replace('3 0 R', `${FREE} 0 R`);
    t.deepEqual(verdicts(updated(pdf, [change(other), [FREE, font]])), FAILED);
  }
});

test('the widget of a new signature field may have resources that draw nothing', (t) => {
  const pdf = signed(contract());
  const widget = `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Later) /Rect [0 0 0 0] /F 132 /P ${PAGE} 0 R /DR << /Font << /F1 3 0 R >> >> >>`;
  const order = [
    edited(pdf, FORM, /(\/Fields *\[[^\]]*)\]/, `$1 ${FREE} 0 R]`),
    edited(pdf, PAGE, /(\/Annots *\[[^\]]*)\]/, `$1 ${FREE} 0 R]`),
  ];
  t.deepEqual(objections(updated(pdf, [...order, [FREE, widget]])), []);
  t.deepEqual(verdicts(updated(pdf, [...order, [FREE, widget]])), PASSED);
  const acting = widget.replace('/DR', '/AA << /E << /S /JavaScript /JS (x) >> >> /DR');
  t.deepEqual(verdicts(updated(pdf, [...order, [FREE, acting]])), FAILED);
});

test('an invisible signature has an appearance in PDF/A-1 alone', (t) => {
  const withPart = (part: number): Buffer =>
    contract((objects) => {
      const metadata = `<rdf:Description pdfaid:part="${part}"/>`;
      objects.set(CATALOG, (objects.get(CATALOG) ?? '').replace('<<', '<< /Metadata 41 0 R'));
      objects.set(41, stream('/Type /Metadata /Subtype /XML', metadata));
    });
  for (const [pdf, has] of [
    [contract(), false],
    [withPart(1), true],
    [withPart(2), false],
  ] as const) {
    const added = signed(pdf, { certification: 1 }).subarray(pdf.length).toString('latin1');
    t.is(/\/AP\s*<</.test(added), has);
  }
});

test('a comment of HTML after the end is harmless, and nothing else is', (t) => {
  const pdf = signed(contract());
  const followed = (tail: string): string => verdictOf(Buffer.concat([pdf, Buffer.from(tail)]));
  t.is(followed('\n<!-- delivered in 12 ms -->\n'), 'warned');
  t.is(followed('\n\n'), 'passed');
  for (const tail of [
    'saved',
    '<!-- one --> <!-- two -->',
    '<!-- <script>pay(9999)</script> -->',
    '<!-- 7 0 obj -->',
    '<!-- endobj -->',
    '<!-- xref -->',
    '<!-- trailer -->',
    '<!-- stream -->',
    '<!-- startxref 9 %%EOF -->',
    '<!-- %PDF-1.7 -->',
    '<!-- /Root 1 0 R -->',
    `<!-- ${'x'.repeat(1100)} -->`,
    '<!-- open',
    '<!-- \0 -->',
  ])
    t.not(followed(tail), 'warned', tail);
  const level1 = signed(contract(), { certification: 1 });
  t.is(verdictOf(Buffer.concat([level1, Buffer.from('<!-- x -->')])), 'INDETERMINATE');
});

test('a document may open with another part of the window, and not with another action', (t) => {
  const pdf = signed(contract());
  const opening = (entries: string, more: Objects = []): string =>
    verdictOf(updated(pdf, [edited(pdf, CATALOG, '<<', `<< ${entries}`), ...more]));
  for (const entries of [
    '/PageMode /UseOutlines',
    '/PageMode /UseNone',
    '/PageLayout /OneColumn',
    '/Version /1.7',
  ])
    t.is(opening(entries), 'warned', entries);
  for (const entries of [
    '/PageMode /FullScreen',
    '/PageMode /Other',
    '/PageMode (UseNone)',
    '/PageMode << /S /JavaScript /JS (x) >>',
    `/PageMode ${FREE} 0 R`,
    '/PageMode /UseNone /PageMode /FullScreen',
    '/PageLayout [/OneColumn]',
    '/PageLayout /UseNone /OpenAction << /S /JavaScript /JS (x) >>',
    '/ViewerPreferences << /DisplayDocTitle true >>',
    '/Version 2',
    '/PageMode 1 /Lang (de)',
  ])
    t.is(opening(entries, [[FREE, '/UseNone']]), 'TOTAL-FAILED', entries);
});

test('another title or description causes a warning, and the traces of a program do not', (t) => {
  const metadata = (text: string, traces: string): string =>
    stream(
      '/Type /Metadata /Subtype /XML',
      `<rdf:Description><dc:title>${text}</dc:title><xmp:ModifyDate>${traces}</xmp:ModifyDate><xmp:CreatorTool>${traces}</xmp:CreatorTool></rdf:Description>`,
    );
  const described = (text: string): Buffer =>
    signed(
      contract((objects) => {
        objects.set(CATALOG, (objects.get(CATALOG) ?? '').replace('<<', '<< /Metadata 41 0 R'));
        objects.set(41, metadata(text, '2026'));
      }),
    );
  const pdf = described('Pay 100');
  t.is(verdictOf(updated(pdf, [[41, metadata('Pay 100', '2027')]])), 'passed');
  t.is(verdictOf(updated(pdf, [[41, metadata('Pay 9999', '2026')]])), 'warned');
  // Openings without an end must not be searched to the end of the text, each.
  for (const opening of ['<xmpMM:History>', '<?xpacket', '<xmp:ModifyDate>', ' xmp:Producer="'])
    t.is(verdictOf(updated(pdf, [[41, metadata(opening.repeat(60_000), '2026')]])), 'warned', opening);
  const long = 'x'.repeat(1 << 20);
  const large = updated(described(`${long} Pay 100`), [[41, metadata(`${long} Pay 9999`, '2026')]]);
  t.is(verdictOf(large), 'warned', 'what is too long to be compared');
  const informed = (text: string): string => verdictOf(updated(pdf, [[FREE, text]], `/Info ${FREE} 0 R`));
  t.is(informed('<< /ModDate (D:2027) /Producer (x) >>'), 'passed');
  for (const key of ['Title', 'Author', 'Subject', 'Keywords'])
    t.is(informed(`<< /${key} (Pay 9999) >>`), 'warned', key);
});

test('a cross-reference may lead to the white space before an object, and to nothing else before it', (t) => {
  const pdf = signed(contract());
  const shifted = (before: string, by = before.length): readonly string[] => {
    const plain = updated(Buffer.concat([pdf, Buffer.from(before)]), [[CATALOG, bodyOf(pdf, CATALOG)]]);
    const text = previousAt(plain, pdf).toString('latin1');
    const offset = pdf.length + before.length;
    const listed = (at: number): string => `${String(at).padStart(10, '0')} 00000 n`;
    return verdicts(Buffer.from(text.replace(listed(offset), listed(offset - by)), 'latin1'));
  };
  t.deepEqual(shifted('\n'), PASSED);
  t.deepEqual(shifted(' \r\n '), PASSED);
  for (const before of ['x', '%\n', '1', '1 ', '(', '<< >>\n', '7 0 obj\n(y)\nendobj\n', '/', '0 ', '\n%c\n'])
    t.not(shifted(before)[0], 'TOTAL-PASSED', before);
  t.not(shifted('\n', -3)[0], 'TOTAL-PASSED');
});

test('a form may get another drawing in its resources where no appearance takes it from there', (t) => {
  const drawing = (content: string, more = '/Resources << >>'): string =>
    stream(`/Type /XObject /Subtype /Form /BBox [0 0 70 20] ${more}`, content);
  const changed = (
    to: string,
    more: Objects = [],
    {
      look = drawing('0 0 1 1 re f'),
      inner = drawing('0 0 1 1 re f'),
      note = '',
    }: {
      readonly look?: string | undefined;
      readonly inner?: string | undefined;
      readonly note?: string | undefined;
    } = {},
  ): readonly string[] => {
    const pdf = signed(
      contract((objects) => {
        objects.set(40, drawing('0 0 9 9 re f'));
        objects.set(42, inner);
        objects.set(31, look);
        objects.set(PAGE, (objects.get(PAGE) ?? '').replace('30 0 R ]', `30 0 R ${note} ]`));
        objects.set(
          FORM,
          (objects.get(FORM) ?? '').replace(
            '/DA',
            '/DR << /XObject << /FRM 40 0 R >> /Pattern << /P 42 0 R >> >> /DA',
          ),
        );
      }),
    );
    const form = edited(pdf, FORM, /\/DR <<.*?>> >>/, `/DR ${to}`);
    return verdicts(updated(pdf, [form, [FREE, drawing('9 9 9 9 re f')], ...more]));
  };
  const pattern = '/Pattern << /P 42 0 R >>';
  const to = `<< /XObject << /FRM ${FREE} 0 R >> ${pattern} >>`;
  const nested = '/Resources << /XObject << /I 42 0 R >> >>';
  t.deepEqual(changed(to), PASSED);
  t.deepEqual(changed(to, [], { look: drawing('/I Do', nested) }), PASSED);
  t.deepEqual(changed(to, [], { look: drawing('/FRM Do', '') }), FAILED, 'an appearance without resources');
  t.deepEqual(changed(to, [], { look: drawing('', '') }), PASSED, 'one that draws nothing');
  t.deepEqual(
    changed(to, [], { look: drawing('/I Do', nested), inner: drawing('/FRM Do', '') }),
    FAILED,
    'one inside of another',
  );
  const direct = (more: string): readonly string[] =>
    changed(to, [], {
      look: undefined,
      inner: drawing('/FRM Do', more),
      note: '<< /Type /Annot /Subtype /Widget /Rect [20 60 90 80] /F 4 /AP << /N 42 0 R >> >>',
    });
  t.deepEqual(direct('/Resources << >>'), PASSED);
  t.deepEqual(direct(''), FAILED, 'an annotation that is a direct object of its page');
  const image = stream(
    '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray',
    'x',
  );
  t.deepEqual(changed(to, [[FREE, image]]), FAILED, 'a picture');
  for (const other of [
    `<< /XObject << /Other ${FREE} 0 R >> ${pattern} >>`,
    `<< /XObject << /FRM ${FREE} 0 R /FRM 40 0 R >> ${pattern} >>`,
    `<< /XObject << /FRM null >> ${pattern} >>`,
    `<< /XObject [${FREE} 0 R] ${pattern} >>`,
    `<< ${pattern} >>`,
    `<< /XObject << /FRM ${FREE} 0 R >> /Pattern << /P ${FREE} 0 R >> >>`,
    `<< /XObject << /FRM ${FREE} 0 R >> >>`,
    `<< /XObject << /FRM << /Subtype /Form >> >> ${pattern} >>`,
    'null',
  ])
    t.deepEqual(changed(other), FAILED, other);
  t.deepEqual(changed(to, [[40, drawing('9 9 9 9 re f')]]), FAILED, 'the earlier drawing');
});

test('a field without parts gets no list of them, and a state of a box is a name', (t) => {
  const box = (state: string): string =>
    `<< /Type /Annot /Subtype /Widget /FT /Btn /T (Box) /V /Off /AS ${state} /Rect [100 60 112 72] /F 4 /P ${PAGE} 0 R /AP << /N << /Yes 42 0 R /Off 43 0 R >> >> >>`;
  const look = (content: string): string =>
    stream('/Type /XObject /Subtype /Form /BBox [0 0 12 12] /Resources << >>', content);
  const pdf = signed(
    contract((objects) => {
      objects.set(40, box('/Off'));
      objects.set(42, look('0 0 m 10 10 l S'));
      objects.set(43, look(''));
      objects.set(FORM, (objects.get(FORM) ?? '').replace('30 0 R', '30 0 R 40 0 R'));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('30 0 R', '30 0 R 40 0 R'));
    }),
    { certification: 2 },
  );
  t.deepEqual(verdicts(updated(pdf, [[40, box('/Off')]])), PASSED);
  for (const state of ['[]', '(Yes)', '0']) t.deepEqual(verdicts(updated(pdf, [[40, box(state)]])), FAILED);
  const field = bodyOf(pdf, TEXT_FIELD);
  const withList = (list: string): readonly string[] =>
    verdicts(updated(pdf, [[TEXT_FIELD, field.replace('/T (Name)', `/T (Name) ${list}`)]]));
  t.deepEqual(withList(''), PASSED);
  t.deepEqual(withList('/Kids null'), PASSED);
  t.deepEqual(withList('/Kids []'), FAILED);
});

test('evidence that is taken out or exchanged is a warning, and more evidence is none', (t) => {
  const value = (text: string): string => stream('', text);
  const pdf = signed(contract());
  const first = updated(pdf, [
    [CATALOG, bodyOf(pdf, CATALOG).replace('<<', `<< /DSS << /Certs [${FREE} 0 R] >>`)],
    [FREE, value('a')],
  ]);
  const warned = (objects: Objects): readonly string[] => {
    const [signature] = reportOn(updated(first, objects)).signatures;
    t.is(signature?.indication, 'TOTAL-PASSED');
    return signature?.results.warnings.map(({ type }) => type) ?? [];
  };
  const store = (written: string) => edited(first, CATALOG, /\/DSS << .*? >>/, `/DSS ${written}`);
  const other = [FREE + 1, value('b')] as const;
  t.deepEqual(warned([store(`<< /Certs [${FREE} 0 R ${FREE + 1} 0 R] >>`), other]), []);
  t.deepEqual(warned([store(`<< /VRI << /AB << /Cert [${FREE} 0 R] >> >> >>`)]), []);
  t.deepEqual(warned([store(`<< /Certs [${FREE + 1} 0 R] >>`), other]), ['pdf.evidence']);
  t.deepEqual(warned([store(`<< /Certs [${FREE + 1} 0 R] >>`), [FREE + 1, value('a')]]), []);
  t.deepEqual(warned([store('<< >>')]), ['pdf.evidence']);
  t.deepEqual(warned([[FREE, value('c')]]), ['pdf.evidence']);
});

test('a trailer may repeat the hybrid stream of the section before, and no other one', (t) => {
  const objects = documentObjects({ form: 'direct', annots: 'direct', text: 'Pay 100' });
  const hybrid = hybridPdf(objects, [FONT]);
  const beside = /\/XRefStm \d+/.exec(hybrid.toString('latin1'))?.[0];
  // The table gives the font a new place, and the stream the old one.
  const font: Objects = [[FONT, objects.get(FONT) ?? '']];
  const repeated = signed(updated(hybrid, font, beside));
  t.deepEqual(verdicts(repeated), PASSED);
  t.deepEqual(verdicts(updated(repeated, [[FREE, '(x)']])), PASSED);
  t.deepEqual(verdicts(updated(signed(updated(hybrid, font)), font, beside)), FAILED);
});
