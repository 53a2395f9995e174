/**
 * Random changes of entries of a signed PDF: keys of the rules on changes and others, on objects of each place. The document has
 * parts that an entry brings to light: a hidden look, fields without a look, a look that its form does not use, comments.
 */

import { ENTRY_RULES, type Place } from '#crypto/pades/validation/change-rules.js';
import { sourceText } from '#crypto/pdf/syntax/strings.js';
import { readDict } from '#crypto/pdf/syntax/values.js';
import {
  bodyOf,
  CATALOG,
  contract,
  EMPTY_FIELD,
  FORM,
  FREE,
  PAGE,
  signed,
  TEXT_FIELD,
} from '../../crypto/pades/validation/attack-files.ts';
import { appendRevision, stream } from '../../crypto/pdf/build.ts';
import type { Random } from '../random.ts';
import type { PaintedChange, Rectangle } from './changes.ts';

const BARE = 40;
const BOX = 42;
const SIGNER = 43;
const STRIKE = 47;
const POPUP = 48;
const NOTE = 49;
const DRAWN = 60;
const SENTENCE = DRAWN;
const COVER = DRAWN + 1;
const ON = DRAWN + 2;
const OFF = DRAWN + 3;
const NEW_LOOK = FREE;
const NEW_FONT = FREE + 1;
/** "Pay 100 1". */
const TEXT: Rectangle = [20, 97, 75, 110];

interface Base {
  readonly level: 1 | 2 | 3 | undefined;
  readonly hasLock: boolean;
  readonly hasStyle: boolean;
  readonly needsLooks: boolean;
}

const bases = new Map<string, Buffer>();

function fileOf(base: Base): Buffer {
  const key = JSON.stringify(base);
  const known = bases.get(key) ?? built(base);
  bases.set(key, known);
  return known;
}

const look = (content: string, size: string): string =>
  stream(`/Type /XObject /Subtype /Form /BBox [0 0 ${size}] /Resources << /Font << /F1 3 0 R >> >>`, content);
const COVERING = '1 g 0 0 80 20 re f 0 g BT /F1 12 Tf 2 4 Td (Pay 999) Tj ET';

function built({ level, hasLock, hasStyle, needsLooks }: Base): Buffer {
  const pdf = contract((objects) => {
    const widget = (entries: string): string =>
      `<< /Type /Annot /Subtype /Widget /P ${PAGE} 0 R ${entries} >>`;
    const lock = hasLock ? '/Lock << /Type /SigFieldLock /Action /All >>' : '';
    const quads = '/QuadPoints [42 110 64 110 42 97 64 97]';
    const style = hasStyle ? '/DA (/F1 12 Tf 0 g)' : '';
    const needs = needsLooks ? '/NeedAppearances true' : '';
    objects.set(SENTENCE, look(COVERING, '80 20'));
    objects.set(COVER, look(COVERING, '80 20'));
    objects.set(ON, look('0 0 m 10 10 l S', '12 12'));
    objects.set(OFF, look('', '12 12'));
    objects.set(
      EMPTY_FIELD,
      widget(`/FT /Sig /T (Approval) /F 2 /Rect [18 94 98 114] /AP << /N ${SENTENCE} 0 R >>`),
    );
    objects.set(BARE, widget('/FT /Tx /T (Bare) /V (Alice) /F 4 /Rect [20 60 90 75]'));
    objects.set(
      BOX,
      widget(
        `/FT /Btn /T (Box) /V /Off /AS /Off /F 4 /Rect [100 60 112 72] /AP << /N << /Yes ${ON} 0 R /Off ${OFF} 0 R >> >>`,
      ),
    );
    objects.set(SIGNER, widget(`/FT /Sig /T (Signer) /F 132 /Rect [0 0 0 0] ${lock}`));
    objects.set(
      STRIKE,
      `<< /Type /Annot /Subtype /StrikeOut /Rect [42 97 64 110] ${quads} /C [1 0 0] /F 4 /Contents (no) >>`,
    );
    objects.set(
      POPUP,
      `<< /Type /Annot /Subtype /Popup /Rect [18 90 90 120] /Parent ${NOTE} 0 R /Open false /F 4 >>`,
    );
    objects.set(
      NOTE,
      `<< /Type /Annot /Subtype /Text /Rect [150 150 168 168] /Contents (seen) /Popup ${POPUP} 0 R /F 4 >>`,
    );
    const fields = [TEXT_FIELD, EMPTY_FIELD, BARE, BOX, SIGNER].map((number) => `${number} 0 R`).join(' ');
    objects.set(FORM, `<< /Fields [${fields}] /DR << /Font << /F1 3 0 R >> >> ${style} ${needs} >>`);
    const listed = [STRIKE, POPUP, NOTE, TEXT_FIELD, EMPTY_FIELD, BARE, BOX, SIGNER];
    const page = objects.get(PAGE) ?? '';
    objects.set(
      PAGE,
      page.replace(/\/Annots \[.*?\]/, `/Annots [${listed.map((number) => `${number} 0 R`).join(' ')}]`),
    );
  });
  return signed(pdf, { fieldName: 'Signer', ...(level === undefined ? {} : { certification: level }) });
}

/** Objects of the document, and the place of the rules on them. */
const TARGETS: readonly (readonly [number: number, places: readonly Place[]])[] = [
  [EMPTY_FIELD, ['empty signature field', 'field']],
  [TEXT_FIELD, ['field']],
  [BARE, ['field']],
  [BOX, ['field']],
  [SIGNER, ['signed field']],
  [FORM, ['form', 'form resources']],
  [PAGE, ['page']],
  [CATALOG, ['catalogue']],
  [STRIKE, ['comment', 'new comment']],
  [POPUP, ['comment', 'new comment']],
  [NOTE, ['comment', 'new comment']],
];

/** Entries without a rule on most objects. */
const OTHERS =
  'F Rect MK BS Border DA DR Q MaxLen Opt T FT Subtype OC A AA H Kids Parent Contents Resources MediaBox CropBox Rotate UserUnit Group OCProperties IC CA ca BM RV DS';

const VALUES: Readonly<Record<string, readonly string[]>> = {
  F: ['0', '2', '4', '6', '32', '36', '132', '4.0'],
  V: ['(Bob)', '()', '(x)', '/Yes', '/Off', '(Pay 999)'],
  AP: [
    `<< /N ${NEW_LOOK} 0 R >>`,
    `<< /N ${COVER} 0 R >>`,
    '<< >>',
    `<< /N << /Yes ${NEW_LOOK} 0 R /Off ${OFF} 0 R >> >>`,
  ],
  AS: ['/Yes', '/Off', '/Other'],
  DA: ['(/F1 12 Tf 1 g)', '(/F1 0 Tf)', '(/Zap 12 Tf 0 g)', '(/F1 30 Tf 0 g)', '(/F1 12 Tf 0 g)', '()'],
  Rect: ['[18 94 98 114]', '[0 0 200 200]', '[120 140 190 160]', '[20 60 90 75]', '[0 0 0 0]'],
  QuadPoints: [
    '[20 110 40 110 20 97 40 97]',
    '[0 200 200 200 0 0 200 0]',
    '[120 160 190 160 120 140 190 140]',
  ],
  MK: ['<< /BG [1] >>', '<< /BG [1 1 0] /BC [0] >>', '<< /BC [0 0 0] >>', '<< /R 90 >>', '<< /CA (4) >>'],
  BS: ['<< /W 60 >>', '<< /W 1 >>', '<< /W 3 /S /D >>'],
  Border: ['[0 0 60]', '[0 0 0]', '[0 0 1]'],
  DR: [`<< /Font << /F1 3 0 R /Zap ${NEW_FONT} 0 R >> >>`, `<< /Font << /F1 ${NEW_FONT} 0 R >> >>`, '<< >>'],
  Font: [`<< /F1 3 0 R /Zap ${NEW_FONT} 0 R >>`],
  NeedAppearances: ['true', 'false'],
  Fields: [
    `[${TEXT_FIELD} 0 R ${SIGNER} 0 R]`,
    `[${SIGNER} 0 R ${TEXT_FIELD} 0 R ${EMPTY_FIELD} 0 R ${BARE} 0 R ${BOX} 0 R]`,
  ],
  Annots: [
    `[${SIGNER} 0 R ${TEXT_FIELD} 0 R ${EMPTY_FIELD} 0 R ${BARE} 0 R ${BOX} 0 R]`,
    `[${TEXT_FIELD} 0 R ${EMPTY_FIELD} 0 R ${BARE} 0 R ${BOX} 0 R ${SIGNER} 0 R]`,
    `[${STRIKE} 0 R ${POPUP} 0 R ${NOTE} 0 R ${SIGNER} 0 R]`,
    `[${STRIKE} 0 R ${NOTE} 0 R ${TEXT_FIELD} 0 R ${EMPTY_FIELD} 0 R ${BARE} 0 R ${BOX} 0 R ${SIGNER} 0 R]`,
  ],
  C: ['[1 1 1]', '[0 0 0]', '[1 0 0]', '[]'],
  CA: ['0', '0.2', '1'],
  Open: ['true', 'false'],
  Contents: ['(yes)', '()'],
  Subtype: ['/Stamp', '/Highlight', '/Widget', '/FreeText', '/Text'],
  Rotate: ['90', '0'],
  MediaBox: ['[0 0 100 100]', '[0 0 200 200]'],
  CropBox: ['[0 0 100 100]', '[0 0 200 200]'],
  Q: ['0', '1', '2'],
  Ff: ['0', '1', '4096', '33554432', '16777216'],
  Version: ['/1.7', '/2.0'],
  OC: [`<< /Type /OCG /Name (x) >>`],
};
const ANY = [
  'null',
  '0',
  '1',
  'true',
  '(x)',
  '/Name',
  '[]',
  '<< >>',
  '[0 0 0]',
  `${NEW_LOOK} 0 R`,
  `${COVER} 0 R`,
];

const LOOK_CONTENTS = [
  COVERING,
  '0 g BT /F1 9 Tf 2 4 Td (Bob) Tj ET',
  '0 g BT /F1 9 Tf 2 4 Td (x) Tj ET',
  '0 g BT /F1 9 Tf 2 4 Td (Alice) Tj ET',
  '1 g 0 0 80 20 re f',
  '1 0 0 RG 1 w 0 6 m 22 6 l S',
  '',
];

/** Returns a dictionary with entries set, or removed where the value is undefined. */
function withEntries(body: string, entries: ReadonlyMap<string, string | undefined>): string {
  const dict = readDict(Buffer.from(`${body} `, 'latin1'), 0, 0);
  const found = new Map<string, string | undefined>(
    dict.entries.map((entry) => [dict.keyOf(entry), sourceText(dict.valueAt(entry))]),
  );
  for (const [key, value] of entries) found.set(key, value);
  const written = [...found].flatMap(([key, value]) => (value === undefined ? [] : [`/${key} ${value}`]));
  return `<< ${written.join(' ')} >>`;
}

function keysOf(places: readonly Place[]): readonly string[] {
  const ruled = ENTRY_RULES.filter(({ place }) => places.includes(place)).flatMap(({ keys }) => keys);
  return ruled.filter((key) => key !== '*');
}

/** Changes one to three entries of one or two objects. */
export function entryChange(random: Random): PaintedChange {
  const base: Base = {
    level: random.once(6) ? undefined : random.pick([1, 2, 2, 3, 3] as const),
    hasLock: random.once(4),
    hasStyle: random.once(2),
    needsLooks: random.once(3),
  };
  const before = fileOf(base);
  const objects = new Map<number, string>();
  const told: string[] = [];
  for (let count = random.few(2); count > 0; count--) {
    const [number, places] = random.pick(TARGETS);
    const entries = new Map<string, string | undefined>();
    for (let more = random.few(3); more > 0; more--) {
      const key = random.once(3) ? random.pick(OTHERS.split(' ')) : random.pick(keysOf(places));
      const value = random.once(5) ? undefined : random.pick(random.once(6) ? ANY : (VALUES[key] ?? ANY));
      entries.set(key, value);
    }
    objects.set(number, withEntries(objects.get(number) ?? bodyOf(before, number), entries));
    told.push(`${number}: ${[...entries].map(([key, value]) => `/${key} ${value ?? 'removed'}`).join(' ')}`);
  }
  const content = random.pick(LOOK_CONTENTS);
  if ([...objects.values()].some((body) => body.includes(`${NEW_LOOK} 0 R`)))
    objects.set(NEW_LOOK, look(content, '80 20'));
  if ([...objects.values()].some((body) => body.includes(`${NEW_FONT} 0 R`)))
    objects.set(NEW_FONT, '<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>');
  return {
    kind: 'entry',
    description: `${JSON.stringify(base)} ${told.join('; ')} look: ${content}`,
    before,
    after: appendRevision(before, objects, ''),
    place: TEXT,
    isFrozen: base.level === 1,
  };
}
