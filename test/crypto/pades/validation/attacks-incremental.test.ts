import test from 'ava';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, withTools } from '../../../verifiers/index.ts';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  FREE,
  failedTypes,
  objections,
  reportOn,
  signed,
  verdicts,
} from './attack-files.ts';
import { put } from './verdicts.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil');

const FAILED = ['TOTAL-FAILED FORMAT_FAILURE'];
const EVIL = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');
const text = (pdf: Buffer): string => pdf.toString('latin1');
const more = (pdf: Buffer, tail: string): Buffer => Buffer.concat([pdf, Buffer.from(tail, 'latin1')]);

/** Returns the objects of a revision that replaces the page. */
function update(pdf: Buffer): {
  readonly body: string;
  readonly table: string;
  readonly trailer: string;
  readonly end: string;
} {
  const added = text(appendRevision(pdf, new Map([[CONTENT, EVIL]]))).slice(pdf.length);
  const [xref, trailer, start] = ['xref\n', 'trailer\n', 'startxref\n'].map((word) => added.indexOf(word));
  return {
    body: added.slice(0, xref),
    table: added.slice(xref, trailer),
    trailer: added.slice(trailer, start),
    end: added.slice(start),
  };
}

test('incremental saving: an update with all, some or none of its parts is always detected', (t) => {
  const pdf = signed(contract());
  t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
  const { body, table, trailer, end } = update(pdf);
  const previous = /startxref\n\d+\n%%EOF\n$/.exec(text(pdf))?.[0] ?? '';
  for (const [name, tail] of [
    ['whole', body + table + trailer + end],
    ['no end mark', body + table + trailer + end.replace('%%EOF\n', '')],
    ['no startxref', body + table + trailer],
    ['no table', body + trailer + end],
    ['no trailer', body + table + end],
    ['objects alone', body],
    ['objects and an old end', body + previous],
    ['objects, a trailer and an old end', body + trailer + previous],
    ['an old end again, and objects before it', `${body}${trailer.replace(/\/Prev \d+/, '')}${previous}`],
  ] as const) {
    const bad = more(pdf, tail);
    // What can't even be mended has no signatures to speak of.
    const [verdict] = verdicts(bad);
    t.true(verdict === FAILED[0] || verdict === 'none', name);
    t.is(reportOn(bad).indication, 'TOTAL-FAILED', name);
  }
});

test('incremental saving: white space and an old end mark at the end change nothing', (t) => {
  const pdf = signed(contract());
  t.deepEqual(verdicts(more(pdf, '\n\r\n \0')), ['TOTAL-PASSED']);
  t.deepEqual(verdicts(more(pdf, '\n%%EOF\r\n%%EOF')), ['TOTAL-PASSED']);
  for (const bytes of ['%%EOF x', '%%EOF%%EOF', '%%EOF /Root'])
    t.deepEqual(verdicts(more(pdf, `\n${bytes}\n`)), FAILED, bytes);
});

test('bytes after the end that no reader takes for a part are not called broken, nor pass in silence', (t) => {
  const level1 = signed(contract(), { certification: 1 });
  for (const [tail, usual, certified] of [
    ['\x1a', 'TOTAL-PASSED', 'INDETERMINATE'],
    ['\r\n\x1a\0\0\x1a', 'TOTAL-PASSED', 'INDETERMINATE'],
    ['junk that is nothing\n', 'INDETERMINATE', 'INDETERMINATE'],
    ['%EOF', 'INDETERMINATE', 'INDETERMINATE'],
    ['<html><body>502</body></html>', 'INDETERMINATE', 'INDETERMINATE'],
    [' '.repeat(1500), 'INDETERMINATE', 'INDETERMINATE'],
    ['\x1a'.repeat(1500), 'INDETERMINATE', 'INDETERMINATE'],
    ['\x1a7 0 obj', 'TOTAL-FAILED', 'TOTAL-FAILED'],
    [`${' '.repeat(2000)}7 0 obj`, 'TOTAL-FAILED', 'TOTAL-FAILED'],
  ] as const) {
    for (const [pdf, verdict] of [
      [signed(contract()), usual],
      [level1, certified],
    ] as const) {
      const report = reportOn(more(pdf, tail));
      t.is(report.indication, verdict, JSON.stringify(tail.slice(0, 30)));
      if (verdict === 'TOTAL-PASSED') t.regex(JSON.stringify(report), /pdf\.trailing/);
    }
  }
});

toolTest('incremental saving: a copy of the signature in the update does not cover the update', async (t) => {
  const pdf = signed(contract());
  const number = Number(/(\d+) 0 obj\n<<\/Type\/Sig/.exec(text(pdf))?.[1]);
  const bad = appendRevision(
    pdf,
    new Map([
      [CONTENT, EVIL],
      [number, bodyOf(pdf, number)],
    ]),
  );
  t.deepEqual(verdicts(bad), FAILED);
  t.true(failedTypes(bad).includes('pdf.byte-range'));
  t.false((await pdfsig(put(bad), pki()))[0]?.coversWholeFile);
});

test('hidden objects: an object without a cross-reference is detected, in any revision after the signature', (t) => {
  const pdf = signed(contract());
  const both = appendRevision(
    pdf,
    new Map([
      [CATALOG, bodyOf(pdf, CATALOG)],
      [CONTENT, EVIL],
    ]),
  );
  const listed = text(both).slice(pdf.length);
  const unlisted = listed.replace(/11 1\n\d{10} 00000 n \n/, '');
  t.not(listed, unlisted);
  const bad = more(pdf, unlisted);
  t.deepEqual(verdicts(bad), FAILED);
  t.regex(objections(bad).join('\n'), /holds object 11 at offset \d+, to which nothing leads/);
  const honest = appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)]]));
  t.deepEqual(verdicts(honest), ['TOTAL-PASSED']);
});

test('hidden objects: harmless hidden objects do not end the search for others', (t) => {
  const pdf = signed(contract());
  const hiding = (objects: readonly (readonly [number, string])[]): Buffer => {
    const bodies = objects.map(([number, value]) => `${number} 0 obj\n${value}\nendobj\n`).join('');
    const whole = text(appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)]]))).slice(pdf.length);
    const moved = whole
      .replace(
        /(\d{10}) 00000 n/g,
        (_, at: string) => `${String(Number(at) + bodies.length).padStart(10, '0')} 00000 n`,
      )
      .replace(/startxref\n(\d+)/, (_, at: string) => `startxref\n${Number(at) + bodies.length}`);
    return more(pdf, bodies + moved);
  };
  const harmless = Array.from({ length: 7 }, (_, index) => [FREE + index, '(unused)'] as const);
  t.deepEqual(verdicts(hiding(harmless)), ['TOTAL-PASSED']);
  const forged = hiding([...harmless, [CONTENT, EVIL]]);
  t.deepEqual(verdicts(forged), FAILED);
  t.regex(objections(forged).join('\n'), /holds object 11 at offset \d+, to which nothing leads/);
});

test('hidden objects: a stream or text may contain object syntax, but no object of the document', (t) => {
  const pdf = signed(contract());
  const containing = (number: number): readonly Buffer[] => {
    const inner = `\n${number} 0 obj\n<< /A 1 >>\nendobj\nstartxref\n0\nxref trailer obj\n%%EOF\n`;
    return [stream('/Type /Metadata /Subtype /XML', inner), `(${inner})`].map((body) =>
      appendRevision(pdf, new Map([[FREE, body]])),
    );
  };
  for (const honest of containing(FREE + 1)) t.deepEqual(verdicts(honest), ['TOTAL-PASSED']);
  for (const forged of containing(CONTENT)) {
    t.deepEqual(verdicts(forged), FAILED);
    t.regex(objections(forged).join('\n'), /holds object 11 at offset \d+, to which nothing leads/);
  }
});

test('a later cross-reference that does not lead back to the signed one leaves the signature without its revision', (t) => {
  const pdf = signed(contract());
  const chained = appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)]]));
  t.deepEqual(verdicts(chained), ['TOTAL-PASSED']);
  const tail = text(chained).slice(pdf.length);
  const first = Number(/startxref\n(\d+)\n%%EOF/.exec(text(pdf))?.[1]);
  const skipping = more(pdf, tail.replace(/\/Prev \d+/, `/Prev ${String(first)}`));
  const [verdict = ''] = verdicts(skipping);
  // The form of the signed revision is gone with it, and so is the field of the signature.
  t.true(verdict === 'none' || verdict.startsWith('TOTAL-FAILED'), verdict);
  t.not(reportOn(skipping).indication, 'TOTAL-PASSED');
});

test('an encrypted trailer after the signature, and encrypted files, are reported as such', (t) => {
  const pdf = signed(contract());
  const bad = appendRevision(
    pdf,
    new Map([[150, '<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <00> /U <00> >>']]),
    '/Encrypt 150 0 R',
  );
  const report = reportOn(bad);
  t.not(report.indication, 'TOTAL-PASSED');
  // A handler that encrypts attachments alone leaves the pages readable, and is no less a change.
  const attachments = appendRevision(
    pdf,
    new Map([
      [
        150,
        '<< /Filter /Standard /V 4 /R 4 /Length 128 /P -4 /O <00> /U <00> /StmF /Identity /StrF /Identity /EFF /StdCF /CF << /StdCF << /CFM /AESV2 /AuthEvent /EFOpen /Length 16 >> >> >>',
      ],
    ]),
    '/Encrypt 150 0 R',
  );
  t.not(reportOn(attachments).indication, 'TOTAL-PASSED');
});

test('fifty legitimate revisions after a signature are reported by number', (t) => {
  let pdf = signed(contract());
  for (let round = 0; round < 50; round++) {
    pdf = appendRevision(pdf, new Map([[150, `<< /Producer (${round}) >>`]]), '/Info 150 0 R');
  }
  const [record] = reportOn(pdf).signatures;
  t.is(record?.indication, 'TOTAL-PASSED');
  t.is(record?.scope.description, 'revision 2 of 52');
  t.deepEqual(
    record?.changes.map(({ revision }) => revision),
    Array.from({ length: 50 }, (_, index) => index + 3),
  );
});
