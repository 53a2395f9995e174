/**
 * Whatever object of a signed PDF a later revision exchanges for whatever other one: either the signature does not allow
 * it, or every page looks as it did when it was signed.
 */
import ava, { type ExecutionContext } from 'ava';
import type { PadesFormat } from '#crypto/core/types.js';
import { Random } from '../../../fuzz/random.ts';
import { roundsOf } from '../../../project/rounds.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { appendRevision, classicPdf, stream } from '../../pdf/build.ts';
import { bodyOf, reportOn, signed } from './attack-files.ts';
import { put } from './verdicts.ts';

const test = withTools(ava, 'mutool');

/** Digests of all pages as they are drawn. */
async function drawn(pdf: Buffer): Promise<string> {
  const { exit, stdout, stderr } = await runTool('mutool', ['draw', '-q', '-r', '72', '-s5', put(pdf)]);
  const digests = `${stdout}${stderr}`.match(/[0-9a-f]{32}/g);
  // A program that had no time on a busy machine says nothing about pages.
  if (digests === null) throw new Error(`mutool ended with ${exit}: ${stderr}`);
  return digests.join(' ');
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

/** A document in which things are used by one another in ways that differ by the seed. */
function randomDocument(random: Random): Buffer {
  const objects = new Map<number, string>();
  let next = 10;
  const add = (body: string): number => {
    objects.set(next, body);
    return next++;
  };
  const fonts = [add(FONT), add(FONT.replace('Helvetica', 'Courier-Bold'))];
  const states = [add('<< /ca 1 /CA 1 >>'), add('<< /ca 0.2 /CA 0.2 >>')];
  const groups = ['Shown', 'Hidden'].map((name) => add(`<< /Type /OCG /Name (${name}) >>`));
  const resources = (): string => {
    const [font, other] = random.once(2) ? fonts : [...fonts].reverse();
    const [state, faint] = random.once(2) ? states : [...states].reverse();
    const properties = `/Properties << /O1 ${groups[0]} 0 R /O2 ${groups[1]} 0 R >>`;
    return `<< /Font << /F1 ${font} 0 R /F2 ${other} 0 R >> /ExtGState << /G1 ${state} 0 R /G2 ${faint} 0 R >> ${properties} >>`;
  };
  const shared = [add(resources()), add(resources())];
  const content = (text: string): string =>
    `/G${1 + random.below(2)} gs 0.${1 + random.below(8)} 0.5 0.2 rg ${10 + random.below(60)} 20 90 40 re f ` +
    `/OC /O${1 + random.below(2)} BDC BT /F${1 + random.below(2)} 20 Tf 20 ${60 + random.below(60)} Td (${text}) Tj ET EMC`;
  const forms = [0, 1].map((index) =>
    add(
      stream(
        `/Type /XObject /Subtype /Form /BBox [0 0 90 90] /Resources ${shared[index]} 0 R`,
        `0.9 0.${index + 1} 0 rg 5 5 30 30 re f BT /F1 12 Tf 8 8 Td (Form ${index}) Tj ET`,
      ),
    ),
  );
  const appearances = [0, 1].map((index) =>
    add(
      stream(
        `/Type /XObject /Subtype /Form /BBox [0 0 70 20] /Resources ${shared[index]} 0 R`,
        `BT /F1 9 Tf 2 2 Td (Look ${index}) Tj ET`,
      ),
    ),
  );
  const fields: number[] = [];
  const pages: number[] = [];
  for (let page = 0; page < 2; page++) {
    const [first, second] = random.once(2) ? forms : [...forms].reverse();
    const draws = !random.once(3) ? ` q 1 0 0 1 100 100 cm /X${1 + random.below(2)} Do Q` : '';
    const contents = [add(stream('', `${content(`Page ${page}`)}${draws}`))];
    if (random.once(2)) contents.push(add(stream('', content('More'))));
    const list = random.once(2) ? `[${contents.map((one) => `${one} 0 R`).join(' ')}]` : `${contents[0]} 0 R`;
    const own = add(
      `<< /Font << /F1 ${fonts[page]} 0 R /F2 ${fonts[1 - page]} 0 R >> /ExtGState << /G1 ${states[0]} 0 R /G2 ${states[1]} 0 R >> ` +
        `/XObject << /X1 ${first} 0 R /X2 ${second} 0 R >> /Properties << /O1 ${groups[0]} 0 R /O2 ${groups[1]} 0 R >> >>`,
    );
    const look = appearances[random.below(2)];
    const field = add(
      `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Text${page}) /V (x) /Rect [20 150 90 170] /F 4 /DA (/F1 9 Tf) /AP << /N ${look} 0 R >> >>`,
    );
    fields.push(field);
    const kind = random.pick(['Text', 'Stamp', 'Highlight', 'FreeText']);
    const note = add(
      `<< /Type /Annot /Subtype /${kind} /Rect [120 150 190 170] /F 4 /Contents (Note) /QuadPoints [120 170 190 170 120 150 190 150] /AP << /N ${appearances[page]} 0 R >> >>`,
    );
    const annots = random.once(2) ? `[${field} 0 R ${note} 0 R]` : `${add(`[${field} 0 R ${note} 0 R]`)} 0 R`;
    pages.push(
      add(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources ${!random.once(5) ? own : shared[page]} 0 R /Annots ${annots} /Contents ${list} >>`,
      ),
    );
  }
  const form = `<< /Fields [${fields.map((one) => `${one} 0 R`).join(' ')}] /DA (/F1 9 Tf) /DR << /Font << /F1 ${fonts[0]} 0 R >> >> >>`;
  const formText = random.once(2) ? `${add(form)} 0 R` : form;
  const order = `/OCProperties << /OCGs [${groups.map((one) => `${one} 0 R`).join(' ')}] /D << /OFF [${groups[1]} 0 R] >> >>`;
  objects.set(1, `<< /Type /Catalog /Pages 2 0 R /AcroForm ${formText} ${order} >>`);
  objects.set(2, `<< /Type /Pages /Kids [${pages.map((one) => `${one} 0 R`).join(' ')}] /Count 2 >>`);
  return classicPdf(objects);
}

/** Values that could replace another object: those of the file, and null. */
function bodiesIn(pdf: Buffer): ReadonlyMap<number, string> {
  const numbers = [...pdf.toString('latin1').matchAll(/^(\d+) 0 obj$/gm)].map(([, number]) => Number(number));
  return new Map([...new Set(numbers)].map((number) => [number, bodyOf(pdf, number)]));
}

/**
 * What the first signature says of a later revision: `looks the same` has to be true of what it allows, but for comments
 * where it allows these.
 */
function verdict(pdf: Buffer): 'refused' | 'looks the same' | 'comments' {
  const [record] = reportOn(pdf).signatures;
  if (record?.indication !== 'TOTAL-PASSED') return 'refused';
  return record.changes.some(({ description }) => /an annotation \(/.test(description))
    ? 'comments'
    : 'looks the same';
}

/** All pairs of objects are minutes of work; a run in a hurry takes some of them. */
const EVERY = roundsOf(4, 1);

async function exchanged(t: ExecutionContext, seed: number, pades: PadesFormat): Promise<void> {
  const random = new Random(seed);
  const pdf = signed(randomDocument(random), pades);
  t.is(verdict(pdf), 'looks the same', `seed ${seed}`);
  const before = await drawn(pdf);
  t.regex(before, /[0-9a-f]{32}/);
  const bodies = bodiesIn(pdf);
  let seen = 0;
  for (const number of bodies.keys()) {
    for (const body of [...new Set(bodies.values()), 'null', '<< >>', '[ ]']) {
      if (body === bodies.get(number) || !random.once(EVERY)) continue;
      const later = appendRevision(pdf, new Map([[number, body]]));
      if (verdict(later) !== 'looks the same') continue;
      seen++;
      t.is(await drawn(later), before, `seed ${seed}: object ${number} became ${body.slice(0, 100)}`);
    }
  }
  t.log(`seed ${seed}: ${seen} exchanges were allowed`);
}

for (const certification of [1, 2, 3] as const) {
  test.serial(
    `under a certification of level ${certification}, an exchange of two objects that changes a page is always detected`,
    async (t) => {
      for (const seed of [1, 2]) await exchanged(t, 10 * certification + seed, { certification });
    },
  );
}

test.serial(
  'under a signature, an exchange of two objects that changes a page is always detected',
  async (t) => {
    for (const seed of [1, 2, 3]) await exchanged(t, seed, {});
  },
);

test('the comparison of rendered pages detects an exchange that other programs overlook', async (t) => {
  const pdf = signed(randomDocument(new Random(1)));
  const before = await drawn(pdf);
  const text = [...bodiesIn(pdf)].find(([, body]) => body.includes('Page 0'));
  if (text === undefined) return t.fail();
  const later = appendRevision(pdf, new Map([[text[0], text[1].replace('Page 0', 'Page 9')]]));
  t.not(await drawn(later), before);
  t.is(verdict(later), 'refused');
});
