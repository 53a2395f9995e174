/** Updates that show nothing new pass, each beside one that looks like it and shows something. */
import test from 'ava';
import { appendRevision, stream } from '../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  edited,
  FORM,
  FREE,
  objections,
  PAGE,
  signed,
  verdicts,
} from './validation/attack-files.ts';

const FAILED = ['TOTAL-FAILED FORMAT_FAILURE'];
const PASSED = ['TOTAL-PASSED'];
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
