/**
 * Updates without a key that another change hides from the check of who draws a field, or that readers take for less than
 * it is. Beside each stands its honest twin.
 */
import test from 'ava';
import { appendRevision, objectStream, stream } from '../../pdf/build.ts';
import {
  appearance,
  bodyOf,
  contract,
  edited,
  FORM,
  FREE,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './attack-files.ts';

type Objects = readonly (readonly [number, string])[];

function verdict(pdf: Buffer): string {
  const [signature] = reportOn(pdf).signatures;
  return signature?.indication ?? 'none';
}

const updated = (pdf: Buffer, objects: Objects): string => verdict(appendRevision(pdf, new Map(objects)));
const certified = (change: (objects: Map<number, string>) => void): Buffer =>
  signed(contract(change), { certification: 2 });
const set =
  (...objects: Objects) =>
  (all: Map<number, string>): void => {
    for (const [number, body] of objects) all.set(number, body);
  };

/** Changes of the field that alone are permitted. */
const QUIET = ['/Ff 1', '/M (D:2026)'];

test('a field that is drawn otherwise fails beside a change of its own that shows nothing', (t) => {
  const needed = (value: string): Buffer =>
    certified(
      set(
        [TEXT_FIELD, textField(value, 31)],
        [31, appearance('BT /F1 9 Tf 2 2 Td (900) Tj ET')],
        [FORM, '<< /Fields [7 0 R 30 0 R] /DA (/F1 0 Tf) /NeedAppearances true >>'],
      ),
    );
  const bare =
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V (9) /Rect [20 95 90 115] /F 4 /P 10 0 R >>';
  const unstyled = certified(set([TEXT_FIELD, bare], [FORM, '<< /Fields [7 0 R 30 0 R] >>']));
  for (const entry of QUIET) {
    const shown = (pdf: Buffer): string =>
      updated(pdf, [
        edited(pdf, FORM, '/NeedAppearances true', ''),
        edited(pdf, TEXT_FIELD, '<<', `<< ${entry}`),
      ]);
    t.is(shown(needed('(100)')), 'TOTAL-FAILED', entry);
    t.is(shown(needed('(900)')), 'TOTAL-PASSED', entry);
    const quiet = edited(unstyled, TEXT_FIELD, '<<', `<< ${entry}`);
    t.is(
      updated(unstyled, [edited(unstyled, FORM, '<<', '<< /DA (/F1 9 Tf)'), quiet]),
      'TOTAL-FAILED',
      entry,
    );
    t.is(updated(unstyled, [quiet]), 'TOTAL-PASSED', entry);
  }
});

test('a part of a field fails that keeps another look than the new value, however deep it is and whatever changed in it', (t) => {
  const PARENT = 40;
  const MIDDLE = 41;
  const part = (parent: number): string =>
    textField('null', 31).replace('/T (Name)', `/Parent ${parent} 0 R`);
  const group = (kid: number): string => `<< /FT /Tx /T (Name) /V (x) /DA (/F1 0 Tf) /Kids [${kid} 0 R] >>`;
  const form = [FORM, `<< /Fields [${PARENT} 0 R 30 0 R] /DA (/F1 0 Tf) >>`] as const;
  const flat = certified(set([TEXT_FIELD, part(PARENT)], [PARENT, group(TEXT_FIELD)], form));
  const deep = certified(
    set(
      [TEXT_FIELD, part(MIDDLE)],
      [MIDDLE, `<< /Parent ${PARENT} 0 R /Kids [${TEXT_FIELD} 0 R] >>`],
      [PARENT, group(MIDDLE)],
      form,
    ),
  );
  const look = [31, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')] as const;
  for (const [name, pdf] of Object.entries({ flat, deep })) {
    const value = edited(pdf, PARENT, '(x)', '(y)');
    const drawn = [TEXT_FIELD, bodyOf(pdf, TEXT_FIELD).replace('31 0 R', `${FREE} 0 R`)] as const;
    t.not(updated(pdf, [value]), 'TOTAL-PASSED', name);
    t.not(updated(pdf, [value, edited(pdf, TEXT_FIELD, '<<', '<< /Ff 1')]), 'TOTAL-PASSED', name);
    t.is(updated(pdf, [value, drawn, [FREE, look[1]]]), 'TOTAL-PASSED', name);
  }
});

const MAP = FREE + 1;
const SAYS_SAME =
  '1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <7e> <0020> endbfrange';

test('a font with which viewers draw a value shows its characters and no others', (t) => {
  const widget =
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /Rect [20 130 120 160] /F 4 /P 10 0 R /DA (/F1 9 Tf 0 g) >>';
  const pdf = certified(
    set([TEXT_FIELD, widget], [FORM, '<< /Fields [7 0 R 30 0 R] /DR << /Font << /F1 3 0 R >> >> >>']),
  );
  const drawn = (font: string, style = '/F2 9 Tf 0 g', value = '(100)'): string =>
    updated(pdf, [
      edited(pdf, FORM, '/F1 3 0 R', `/F1 3 0 R /F2 ${FREE} 0 R`),
      edited(pdf, TEXT_FIELD, '/DA (/F1 9 Tf 0 g)', `/V ${value} /DA (${style})`),
      [FREE, `<< /Type /Font /BaseFont ${font} >>`],
      [MAP, stream('', SAYS_SAME)],
    ]);
  const ENCODED = '/Helvetica /Subtype /Type1 /Encoding << /Type /Encoding /Differences';
  t.is(drawn('/Helvetica /Subtype /Type1'), 'TOTAL-PASSED');
  t.is(drawn('/Helvetica /Subtype /Type1 /Encoding /WinAnsiEncoding'), 'TOTAL-PASSED');
  t.is(drawn(`${ENCODED} [24 /breve 39 /quotesingle 49 /one 128 /bullet 160 /Euro] >>`), 'TOTAL-PASSED');
  t.is(drawn(`${ENCODED} [49 /nine] >>`), 'INDETERMINATE');
  t.is(drawn(`${ENCODED} [49 /nine] >> /ToUnicode ${MAP} 0 R`), 'INDETERMINATE');
  t.is(drawn('/Helvetica /Subtype /Type3 /CharProcs << >>'), 'INDETERMINATE');
  t.is(drawn('/Helvetica /Subtype /Type0 /Encoding /Identity-H'), 'INDETERMINATE');
  t.is(drawn('/Wingdings /Subtype /Type1'), 'INDETERMINATE');
  const widths = (last: string): string =>
    drawn(`/Helvetica /Subtype /Type1 /FirstChar 32 /Widths [${'556 '.repeat(94)}${last}]`);
  t.is(widths('556'), 'TOTAL-PASSED');
  t.is(widths('--556'), 'INDETERMINATE');
  for (const style of ['/F2 --9 Tf 0 g', '/F2 9.0.0 Tf 0 g', '/F2 9 Tf 0-1 g', '/F2 9 Tf /No g'])
    t.is(drawn('/Helvetica /Subtype /Type1', style), 'INDETERMINATE', style);
  for (const style of ['/F1 9 Tf /F2 9 Tf 0 g', '/F2%\n9 Tf 0 g', '/F1 /F2 9 Tf 0 g'])
    t.is(drawn('/Wingdings /Subtype /Type1', style), 'INDETERMINATE', style);
  t.is(drawn('/Wingdings /Subtype /Type1', undefined, '[(100)]'), 'INDETERMINATE');
});

test('an annotation is listed once: a second time it lies above others', (t) => {
  const SQUARE = 40;
  const LOOK = 41;
  const pdf = certified((all) => {
    all.set(
      SQUARE,
      `<< /Type /Annot /Subtype /Square /Rect [15 15 100 45] /F 4 /P 10 0 R /AP << /N ${LOOK} 0 R >> >>`,
    );
    all.set(
      LOOK,
      stream('/Type /XObject /Subtype /Form /BBox [0 0 85 30] /Resources << >>', '1 g 0 0 85 30 re f'),
    );
    all.set(PAGE, (all.get(PAGE) ?? '').replace(/\/Annots *\[/, `/Annots [${SQUARE} 0 R `));
  });
  const listed = (more: string): string =>
    updated(pdf, [edited(pdf, PAGE, /\/Annots *\[([^\]]*)\]/, `/Annots [$1 ${more}]`)]);
  t.is(listed(''), 'TOTAL-PASSED');
  t.is(listed(`${SQUARE} 0 R`), 'TOTAL-FAILED');
});

test('a place moves by no more than rounding, in a small box and by many updates', (t) => {
  const BOX = 40;
  const pdf = certified((all) => {
    all.set(
      BOX,
      stream('/Type /XObject /Subtype /Form /BBox [0 0 0 0.004] /Resources << >>', '0 0 1 1 re f'),
    );
    all.set(
      PAGE,
      (all.get(PAGE) ?? '').replace('/Resources <<', `/Resources << /XObject << /X ${BOX} 0 R >>`),
    );
  });
  t.is(updated(pdf, [edited(pdf, BOX, '[0 0 0 0.004]', '[0 0 0.004 0.004]')]), 'TOTAL-FAILED');
  t.is(updated(pdf, [edited(pdf, BOX, '[0 0 0 0.004]', '[0.0 0 0 .0040]')]), 'TOTAL-PASSED');
  t.is(updated(pdf, [edited(pdf, PAGE, '[0 0 200 200]', '[0 0 200 199.995]')]), 'TOTAL-FAILED');
  t.is(updated(pdf, [edited(pdf, PAGE, '[0 0 200 200]', '[0.0 0 200.00 200.00]')]), 'TOTAL-PASSED');
});

test('a rectangle that some readers take for one with an area has one', (t) => {
  const pdf = certified(() => {});
  const added = (rectangle: string): string =>
    updated(pdf, [
      edited(pdf, FORM, '[', `[${FREE} 0 R `),
      edited(pdf, PAGE, /\/Annots *\[/, `/Annots [${FREE} 0 R `),
      [
        FREE,
        `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Later) /F 4 /P 10 0 R /Rect ${rectangle} /AP << /N ${FREE + 1} 0 R >> >>`,
      ],
      [FREE + 1, appearance('0 g 0 0 70 20 re f')],
    ]);
  t.is(added('[20 90 20.0 120]'), 'TOTAL-PASSED');
  for (const rectangle of ['[20 90 2e1 120]', '[20 90 0x14 120]', '[20 90 20 120 140]'])
    t.is(added(rectangle), 'TOTAL-FAILED', rectangle);
});

test('an object that stays and gets another generation is another one', (t) => {
  const pdf = certified(() => {});
  const exchanged = (number: number, generation: number): string => {
    const at = pdf.length;
    const body = `${number} ${generation} obj\n${bodyOf(pdf, number)}\nendobj\n`;
    const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(pdf.toString('latin1', at - 64))?.[1];
    const row = `${String(at).padStart(10, '0')} ${String(generation).padStart(5, '0')} n \n`;
    const table = `xref\n0 1\n0000000000 65535 f \n${number} 1\n${row}`;
    const trailer = `trailer\n<< /Size 200 /Root 1 0 R /Prev ${previous} >>\nstartxref\n${at + body.length}\n%%EOF\n`;
    return verdict(Buffer.concat([pdf, Buffer.from(body + table + trailer, 'latin1')]));
  };
  for (const number of [11, 31]) {
    t.is(exchanged(number, 0), 'TOTAL-PASSED', String(number));
    t.is(exchanged(number, 1), 'TOTAL-FAILED', String(number));
  }
});

test('an object is where the cross-reference says that it is in its object stream', (t) => {
  const pdf = certified(() => {});
  const packed = (index: number): string => {
    const container = `${FREE} 0 obj\n${objectStream(
      new Map([
        [TEXT_FIELD, bodyOf(pdf, TEXT_FIELD)],
        [FREE + 2, '(x)'],
      ]),
    )}\nendobj\n`;
    const at = pdf.length + Buffer.byteLength(container, 'latin1');
    const rows = Buffer.alloc(21);
    for (const [row, [type, second, third]] of [
      [2, FREE, index],
      [1, pdf.length, 0],
      [1, at, 0],
    ].entries()) {
      rows.writeUInt8(type ?? 0, 7 * row);
      rows.writeUInt32BE(second ?? 0, 7 * row + 1);
      rows.writeUInt16BE(third ?? 0, 7 * row + 5);
    }
    const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(pdf.toString('latin1', pdf.length - 64))?.[1];
    const keys = `/Type /XRef /W [1 4 2] /Index [${TEXT_FIELD} 1 ${FREE} 2] /Size 200 /Root 1 0 R /Prev ${previous}`;
    const section = `${FREE + 1} 0 obj\n${stream(keys, rows.toString('latin1'))}\nendobj\nstartxref\n${at}\n%%EOF\n`;
    return verdict(Buffer.concat([pdf, Buffer.from(container + section, 'latin1')]));
  };
  t.is(packed(0), 'TOTAL-PASSED');
  t.is(packed(1), 'TOTAL-FAILED');
});

test('a comment that moves is judged on each page that lists it', (t) => {
  const NEXT = 12;
  const pdf = signed(
    contract((all) => {
      all.set(NEXT + 1, stream('', 'BT /F1 12 Tf 20 60 Td (Second 555) Tj ET'));
      all.set(NEXT, (all.get(NEXT) ?? '').replace(/\/Annots *\[[^\]]*\]/, ''));
    }),
    { certification: 3 },
  );
  const comment = (bottom: number): string =>
    `<< /Type /Annot /Subtype /Highlight /Rect [20 ${bottom} 120 ${bottom + 14}] /F 4 /AP << /N ${FREE + 1} 0 R >> >>`;
  const look = '/Type /XObject /Subtype /Form /BBox [0 0 100 14] /Resources << >>';
  const listed = appendRevision(
    pdf,
    new Map([
      edited(pdf, PAGE, /\/Annots *\[/, `/Annots [${FREE} 0 R `),
      edited(pdf, NEXT, '/Parent', `/Annots [${FREE} 0 R] /Parent`),
      [FREE, comment(150)],
      [FREE + 1, stream(look, '1 1 0 rg 0 0 100 14 re f')],
    ]),
  );
  t.is(verdict(listed), 'TOTAL-PASSED');
  t.is(updated(listed, [[FREE, comment(140)]]), 'TOTAL-PASSED');
  t.is(updated(listed, [[FREE, comment(57)]]), 'TOTAL-FAILED');
});
