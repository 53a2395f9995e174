import { deflateSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { PadesFormat } from '#crypto/core/types.js';
import { appendRevision, classicPdf, objectStream, stream } from '../../pdf/build.ts';
import { objections, signed, verdicts } from './attack-files.ts';

const FAILED = 'TOTAL-FAILED FORMAT_FAILURE';
const PASSED = 'TOTAL-PASSED';

type Bodies = Readonly<Record<number, string>>;

const GOOD = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 100) Tj ET');
const EVIL = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');
const page = (more = '', content = 4): string =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << >> /Contents ${content} 0 R ${more} >>`;
const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const PAGES = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
const WIDGET = '/Type /Annot /Subtype /Widget /Rect [20 20 90 40] /F 4 /P 3 0 R';

const revised = (pdf: Buffer, bodies: Bodies): Buffer =>
  appendRevision(pdf, new Map(Object.entries(bodies).map(([number, body]) => [Number(number), body])));

const document = (bodies: Bodies): Buffer =>
  classicPdf(
    new Map(
      Object.entries({ 1: CATALOG, 2: PAGES, 3: page(), 4: GOOD, ...bodies }).map(([number, body]) => [
        Number(number),
        body,
      ]),
    ),
  );

/** The attack fails; the same objects written again as they were do no harm. */
function refuses(
  t: ExecutionContext,
  name: string,
  {
    bodies,
    attack,
    pades = {},
  }: { readonly bodies: Bodies; readonly attack: Bodies; readonly pades?: PadesFormat | undefined },
): void {
  const pdf = signed(document(bodies), pades);
  t.deepEqual(verdicts(pdf), [PASSED], name);
  const own: Bodies = { 4: GOOD, ...bodies };
  const again = Object.keys(attack).flatMap((number) => {
    const body = own[Number(number)];
    return body === undefined ? [] : [[number, body] as const];
  });
  t.deepEqual(verdicts(revised(pdf, Object.fromEntries(again))), [PASSED], `${name}, written again`);
  const attacked = revised(pdf, attack);
  t.deepEqual(verdicts(attacked), [FAILED], name);
  t.true(objections(attacked).length > 0, name);
}

test('page tree: an indirect list of pages cannot be exchanged', (t) => {
  const own = { 2: '<< /Type /Pages /Kids 8 0 R /Count 1 >>', 8: '[3 0 R]' };
  refuses(t, 'list', { bodies: own, attack: { 8: '[60 0 R]', 60: page('', 61), 61: EVIL } });
  t.deepEqual(verdicts(signed(signed(document(own)))), [PASSED, PASSED]);
});

test('page tree: the content stays the same on pages at unusual positions of the tree', (t) => {
  const leaf = page().replace('/Type /Page ', '/Type /Pages ');
  const second = { 5: page('', 6), 6: GOOD };
  const two = (kid: string) => `<< /Type /Pages /Kids [5 0 R ${kid}] /Count 2 >>`;
  refuses(t, 'a leaf that calls itself a node', {
    bodies: { ...second, 2: two('3 0 R'), 3: leaf },
    attack: { 4: EVIL },
  });
  refuses(t, 'a page written into the list', { bodies: { ...second, 2: two(page()) }, attack: { 4: EVIL } });
  // No page can get a widget here, so an existing field is signed.
  const root = {
    1: `<< /Type /Catalog /Pages ${PAGES} /AcroForm << /Fields [30 0 R] >> >>`,
    3: page('/Annots [30 0 R]'),
    30: `<< ${WIDGET} /FT /Sig /T (Approval) >>`,
  };
  refuses(t, 'a root written into the catalogue', {
    bodies: root,
    attack: { 4: EVIL },
    pades: { fieldName: 'Approval' },
  });
  const heir = page().replace('/Parent 2 0 R', '/Parent 9 0 R').replace('/Resources << >>', '');
  const resources = (look: string) => `<< /Type /Pages /Resources << /XObject << /X ${look} 0 R >> >> >>`;
  refuses(t, 'a parent outside the tree', {
    bodies: { 3: heir, 9: resources('4') },
    attack: { 9: resources('61'), 61: EVIL },
  });
});

test('fields: the value of a widget outside the form is inherited from its parent', (t) => {
  const value = (text: string) => `<< /FT /Tx /T (a) /V (${text}) /Kids [11 0 R] >>`;
  const bodies = { 3: page('/Annots [11 0 R]'), 11: `<< ${WIDGET} /Parent 12 0 R >>`, 12: value('100') };
  refuses(t, 'no form', { bodies, attack: { 12: value('900') } });
  const form = { 1: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] >> >>' };
  refuses(t, 'an empty form', { bodies: { ...bodies, ...form }, attack: { 12: value('900') } });
});

test('fields: a field written directly into the list keeps the value it refers to', (t) => {
  const inline = (list: string): string =>
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [ ${list} ] >> >>`;
  const field = '<< /FT /Tx /T (a) /V 12 0 R >>';
  refuses(t, 'in the form', { bodies: { 1: inline(field), 12: '(100)' }, attack: { 12: '(900)' } });
  const group = { 1: inline('14 0 R'), 14: `<< /T (g) /Kids [ ${field} ] >>`, 12: '(100)' };
  refuses(t, 'in a group', { bodies: group, attack: { 12: '(900)' } });
});

test('fields: an indirect list of parts cannot be exchanged', (t) => {
  const bodies = {
    1: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [12 0 R] >> >>',
    3: page('/Annots [11 0 R]'),
    11: `<< ${WIDGET} /Parent 12 0 R >>`,
    12: '<< /FT /Tx /T (a) /V (100) /Kids 13 0 R >>',
    13: '[11 0 R]',
  };
  refuses(t, 'exchanged', { bodies, attack: { 13: '[60 0 R]', 60: `<< ${WIDGET} /Parent 12 0 R >>` } });
  refuses(t, 'longer', { bodies, attack: { 13: '[11 0 R 60 0 R]', 60: `<< ${WIDGET} /Parent 12 0 R >>` } });
  t.deepEqual(verdicts(signed(signed(document(bodies)))), [PASSED, PASSED]);
});

test('annotations: targets and replies of a comment may not change when no page lists it', (t) => {
  const note = (text: string) => `<< /Type /Annot /Subtype /Text /Rect [5 5 9 9] /Contents (${text}) >>`;
  for (const key of ['Popup', 'IRT']) {
    const answer = `<< /Type /Annot /Subtype /Text /Rect [1 1 9 9] /Contents (b) /${key} 12 0 R >>`;
    refuses(t, key, {
      bodies: { 3: page('/Annots [11 0 R]'), 11: answer, 12: note('100') },
      attack: { 12: note('900') },
    });
  }
});

/** A page whose list of contents is packed in a stream that finds its filter's parameters in object 9. */
function packed(): {
  readonly pdf: Buffer;
  readonly revise: (
    pdf: Buffer,
    bodies: Bodies,
    members?: Record<number, readonly [number, number]>,
  ) => Buffer;
} {
  const columns = 24;
  const first = '5 0 [4 0 R %'.padEnd(columns, 'A');
  const second = '\n10 0 R ]'.padEnd(columns, ' ');
  // As rows of a predictor the second one is added to the first; without, it is the rest of a comment.
  const added = Buffer.from(second, 'latin1').map((byte, index) => (byte - first.charCodeAt(index)) & 255);
  const data = Buffer.concat([
    Buffer.from(`\0${first}\x02`, 'latin1'),
    added,
    Buffer.from(`\0${'\n]'.padEnd(columns, ' ')}`, 'latin1'),
  ]);
  const body = deflateSync(data).toString('latin1');
  const head = `/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode /DecodeParms 9 0 R`;
  const list = (entries: Readonly<Record<number, readonly [number, number]>>, at: number, prev: string) => {
    const rows = Object.entries({ ...entries, 20: [1, at] as const });
    const bytes = rows.map(([, [kind, where]]) => {
      const row = Buffer.alloc(6);
      row[0] = kind;
      row.writeUInt32BE(where, 1);
      return row;
    });
    const index = rows.map(([number]) => `${number} 1`).join(' ');
    const dict = `/Type /XRef /Size 200 /Root 1 0 R /W [1 4 1] /Index [${index}] ${prev}`;
    const value = stream(dict, Buffer.concat(bytes).toString('latin1'));
    return `20 0 obj\n${value}\nendobj\nstartxref\n${at}\n%%EOF\n`;
  };
  const write = (
    start: string,
    bodies: Bodies,
    more: Record<number, readonly [number, number]>,
    prev = '',
  ) => {
    let text = start;
    const entries = { ...more };
    for (const [number, value] of Object.entries(bodies)) {
      entries[Number(number)] = [1, text.length];
      text += `${number} 0 obj\n${value}\nendobj\n`;
    }
    return Buffer.from(text + list(entries, text.length, prev), 'latin1');
  };
  const parameters = '<< /Predictor 1 >>';
  const objects = { 1: CATALOG, 2: PAGES, 3: page('', 5), 4: GOOD, 8: stream(head, body), 9: parameters };
  return {
    pdf: write('%PDF-1.7\n', objects, { 0: [0, 0], 5: [2, 8] }),
    revise: (pdf, bodies, members = {}) => {
      const text = pdf.toString('latin1');
      const start =
        text
          .slice(text.lastIndexOf('startxref') + 9)
          .trim()
          .split(/\s/)[0] ?? '';
      return write(text.endsWith('\n') ? text : `${text}\n`, bodies, members, `/Prev ${start}`);
    },
  };
}

test('packed objects: the decode parameters of object streams cannot be exchanged', (t) => {
  const { pdf, revise } = packed();
  const one = signed(pdf);
  t.deepEqual(verdicts(one), [PASSED]);
  const attacked = revise(one, { 9: '<< /Predictor 12 /Columns 24 >>', 10: EVIL });
  t.deepEqual(verdicts(attacked), [FAILED]);
  t.regex(objections(attacked).join(), /changed the content of page 1/);
  t.deepEqual(verdicts(revise(one, { 9: '<< /Predictor 1 /Columns 24 >>' })), [PASSED]);
});

test('packed objects: an object stream of a later revision has no second value of an object, nor another document', (t) => {
  const { pdf, revise } = packed();
  const one = signed(pdf);
  const with2 = (...members: (readonly [number, string])[]): Buffer =>
    revise(one, { 60: objectStream(new Map(members)) }, { 61: [2, 60] });
  for (const members of [[], [[62, '(y)']]] as const)
    t.deepEqual(verdicts(with2([61, '(x)'], ...members)), [PASSED]);
  for (const member of [
    [3, page('', 10)],
    [62, '<< /Type /Catalog >>'],
  ] as const) {
    const forged = with2([61, '(x)'], member);
    t.deepEqual(verdicts(forged), [FAILED]);
    t.regex(objections(forged).join(), /holds object (3|62) at .* nothing leads/);
  }
});

test('the same document in another format, which its editor opens in place of the pages, may be left out and not be changed', (t) => {
  const objects = { 1: CATALOG, 2: PAGES, 3: page(), 4: GOOD, 9: stream('', 'Pay 100') };
  const trailer = '/AdditionalStreams [/application#2Fvnd.oasis.opendocument.text 9 0 R]';
  const bodies = (all: Bodies) => new Map(Object.entries(all).map(([key, body]) => [Number(key), body]));
  const pdf = signed(classicPdf(bodies(objects), { trailer }));
  const with9 = (body: string, end: string) => verdicts(appendRevision(pdf, bodies({ 9: body }), end));
  t.deepEqual(verdicts(pdf), [PASSED]);
  t.deepEqual(verdicts(appendRevision(pdf, bodies({ 60: '(x)' }))), [PASSED], 'left out');
  t.deepEqual(with9(objects[9], trailer), [PASSED], 'written again');
  t.deepEqual(with9(stream('', 'Pay 900'), trailer), [FAILED], 'exchanged');
  t.deepEqual(with9(stream('', 'Pay 900'), trailer.replace('text', 'sheet')), [FAILED], 'another type');
  t.deepEqual(with9(stream('', 'Pay 900'), ''), [FAILED], 'exchanged, while the trailer leaves it out');
  const dangling = appendRevision(pdf, bodies({ 60: '(x)' }), trailer.replace('9 0', '61 0'));
  t.deepEqual(verdicts(dangling), [PASSED], 'left out, with a reference to an object that is not in use');
  t.deepEqual(
    verdicts(appendRevision(dangling, bodies({ 61: '(x)' }), trailer.replace('9 0', '62 0'))),
    [PASSED],
    'as before, again',
  );
  t.deepEqual(
    verdicts(appendRevision(dangling, bodies({ 61: '(x)' }), trailer.replace('9 0', '61 0'))),
    [PASSED],
    'put into use as something that is no stream',
  );
  t.deepEqual(
    verdicts(appendRevision(dangling, bodies({ 61: stream('', 'Pay 900') }), trailer.replace('9 0', '61 0'))),
    [FAILED],
    'put into use',
  );
  const plain = signed(document({}));
  t.deepEqual(
    verdicts(appendRevision(plain, bodies({ 9: stream('', 'Pay 900') }), trailer)),
    [FAILED],
    'added',
  );
});

test('levels of extensions may rise, as programs write them with evidence, and nothing else of them may change', (t) => {
  const extension = (level: number, version = '1.7', more = '') =>
    `<< /BaseVersion /${version} /ExtensionLevel ${level} ${more} >>`;
  const before = `<< /ESIC ${extension(2)} /ISO_ [${extension(32004, '2.0')}] >>`;
  const pdf = signed(document({ 1: CATALOG.replace('>>', '/Extensions 8 0 R >>'), 8: before }));
  const other = (from: string, to: string): string => before.replace(from, to);
  for (const honest of [
    other('/ExtensionLevel 2 ', '/ExtensionLevel 5 '),
    other('/BaseVersion /1.7', '/BaseVersion /2.0'),
    other(extension(2), `[${extension(1)} ${extension(2, '1.7', '/URL (https://example.org) /Type /X')}]`),
    other('/ESIC', `/ADBE ${extension(8)} /Type /Extensions /ESIC`),
  ])
    t.deepEqual(verdicts(revised(pdf, { 8: honest })), [PASSED], honest);
  for (const forged of [
    other('/ExtensionLevel 2 ', '/ExtensionLevel 1 '),
    other('/BaseVersion /1.7', '/BaseVersion /1.6'),
    other('/ExtensionLevel 2 ', '/ExtensionLevel 100000 '),
    other('/ExtensionLevel 2 ', '/ExtensionLevel 5 /Script (x) '),
    other('/ExtensionLevel 2 ', '/ExtensionLevel 5 /URL 3 0 R '),
    other(extension(2), '[]'),
    other(extension(2), '3 0 R'),
    other('/ESIC', '/Type /Catalog /ESIC'),
    other(`/ESIC ${extension(2)}`, ''),
    '(x)',
  ])
    t.deepEqual(verdicts(revised(pdf, { 8: forged })), [FAILED], forged);
});

test('the logical structure gets the element of a signature field, and nothing else of what is read aloud changes', (t) => {
  const outline = '<< /Title (One) /Parent 20 0 R /Dest [3 0 R /Fit] /SE 11 0 R >>';
  const own: Bodies = {
    1: CATALOG.replace(
      '>>',
      '/StructTreeRoot 10 0 R /Outlines 20 0 R /AcroForm << /Fields [30 0 R 31 0 R] >> >>',
    ),
    3: page('/Annots [30 0 R 31 0 R]'),
    10: '<< /Type /StructTreeRoot /K 11 0 R /ParentTree 15 0 R /Namespaces [18 0 R] >>',
    11: '<< /Type /StructElem /S /Document /P 10 0 R /K 14 0 R >>',
    12: '<< /S /P /P 11 0 R /Pg 3 0 R /K [0 << /Type /MCR /MCID 1 >>] >>',
    13: '<< /S /P /P 11 0 R /Pg 3 0 R /K 17 0 R >>',
    14: '[12 0 R 13 0 R]',
    15: '<< /Kids [16 0 R] >>',
    16: '<< /Limits [0 0] /Nums [0 [12 0 R 12 0 R 13 0 R]] >>',
    17: '<< /Type /MCR /MCID 2 >>',
    18: '<< /Type /Namespace /NS (http://iso.org/pdf2/ssn) >>',
    20: '<< /First 21 0 R /Last 21 0 R /Count 1 >>',
    21: outline,
    30: `<< ${WIDGET} /FT /Sig /T (Later) /StructParent 1 >>`,
    31: `<< ${WIDGET.replace('20 20 90 40', '20 50 90 70')} /FT /Tx /T (Text) >>`,
  };
  const pdf = signed(document(own));
  t.deepEqual(verdicts(pdf), [PASSED]);
  const element = (more = '', field = 30, type = 'OBJR') =>
    `<< /Type /StructElem /S /Form /P 11 0 R /Pg 3 0 R /K [<< /Type /${type} /Obj ${field} 0 R >>] ${more} >>`;
  const honest: Bodies = {
    14: '[60 0 R 12 0 R 13 0 R]',
    15: '<< /Kids [16 0 R 61 0 R] >>',
    60: element('/NS 18 0 R'),
    61: '<< /Limits [1 1] /Nums [1 60 0 R] >>',
  };
  t.deepEqual(verdicts(revised(pdf, honest)), [PASSED]);
  t.deepEqual(verdicts(revised(revised(pdf, honest), { 62: '(x)' })), [PASSED]);
  const forgeries: Readonly<Record<string, Bodies>> = {
    'other order': { 14: '[13 0 R 60 0 R 12 0 R]' },
    'a kid left out': { 14: '[12 0 R 60 0 R]' },
    'a kid read twice': { 14: '[12 0 R 13 0 R 12 0 R 60 0 R]' },
    'an alternative text': { 60: element('/Alt (Pay 900)') },
    'another role': { 60: element().replace('/Form', '/P') },
    'a namespace of its own': { 60: element('/NS 62 0 R'), 62: '<< /Type /Namespace /NS (x) >>' },
    'another parent': { 60: element().replace('/P 11', '/P 12') },
    'text of the page': { 60: element().replace(/\/K .*\]/, '/K 5') },
    'two kids': { 60: element().replace('] ', ' 5] ') },
    'the element of another field': { 60: element('', 31) },
    'another kind of kid': { 60: element('', 30, 'MCR') },
    'another object in the place of an element': { 12: element() },
    'the content of an element': { 17: '<< /Type /MCR /MCID 0 >>' },
    'the parents of the page': { 16: '<< /Limits [0 0] /Nums [0 [13 0 R 12 0 R 13 0 R]] >>' },
    'a parent without an element': { 61: '<< /Limits [1 1] /Nums [1 12 0 R] >>' },
    'the same key twice': { 61: '<< /Limits [1 1] /Nums [0 60 0 R 1 60 0 R] >>' },
    'a loop in the parent tree': { 61: '<< /Kids [61 0 R] >>' },
    'a role map': { 10: (own[10] ?? '').replace('/K', '/RoleMap << /P /Artifact >> /K') },
    'the aim of a bookmark': { 21: outline.replace('11 0', '12 0') },
  };
  for (const [name, forged] of Object.entries(forgeries))
    t.deepEqual(verdicts(revised(pdf, { ...honest, ...forged })), [FAILED], name);
  const unread = signed(document({ ...own, 16: '<< /Nums [0 12 0 R 0 13 0 R] >>' }));
  t.deepEqual(
    verdicts(revised(unread, { 16: own[16] ?? '' })),
    [FAILED],
    'a parent tree that was not readable',
  );
});

test('a signature over the look of an earlier one leaves the earlier one undecided', (t) => {
  const field = (name: string) =>
    `<< /Type /Annot /Subtype /Widget /Rect [20 20 120 60] /F 4 /P 3 0 R /FT /Sig /T (${name}) >>`;
  const appearance = { lines: ['Signed by Ana'] };
  const own: Bodies = {
    1: CATALOG.replace('>>', '/AcroForm << /Fields [30 0 R 31 0 R] >> >>'),
    3: page('/Annots [30 0 R 31 0 R]'),
    30: field('One'),
    31: field('Two'),
  };
  const one = signed(document(own), { fieldName: 'One', appearance });
  t.deepEqual(verdicts(signed(one, { fieldName: 'Two' })), [PASSED, PASSED], 'without a look');
  t.deepEqual(verdicts(signed(one, { fieldName: 'Two', appearance })), ['INDETERMINATE GENERIC', PASSED]);
  const certified = signed(document(own), { fieldName: 'One', appearance, certification: 2 });
  t.deepEqual(verdicts(signed(certified, { fieldName: 'Two', appearance })), [FAILED, PASSED]);
});
