/**
 * Every entry that a standard or a program gives a meaning, written into an object by a later revision: only those that
 * the closed rule names pass, each with a harmless value.
 */
import test from 'ava';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  edited,
  FONT,
  FORM,
  FREE,
  PAGE,
  signed,
  TEXT_FIELD,
  verdicts,
} from './attack-files.ts';

const PAGES = 2;
const NOTE = 8;
const SCRIPT = '<< /S /JavaScript /JS (x) >>';
const EVIL = stream('/Type /XObject /Subtype /Form /BBox [0 0 200 200]', '1 g 0 0 200 200 re f');
const NEW = `${FREE} 0 R`;

/** Entries by object, each with a value that shows, hides, runs or renames something, where it has an effect at all. */
const ENTRIES: { readonly [object: number]: { readonly [key: string]: string } } = {
  [CATALOG]: {
    PageLabels: '<< /Nums [0 << /S /D /St 99 >>] >>',
    OCProperties: '<< /OCGs [] /D << /BaseState /OFF >> >>',
    Names: `<< /JavaScript << /Names [(a) ${SCRIPT}] >> /AP << /Names [(Name) ${NEW}] >> >>`,
    Dests: `<< /a [${PAGE} 0 R /Fit] >>`,
    OpenAction: SCRIPT,
    AA: `<< /WP ${SCRIPT} >>`,
    URI: '<< /Base (x:) >>',
    ViewerPreferences: '<< /Direction /R2L >>',
    Collection: '<< /View /T >>',
    NeedsRendering: 'true',
    Requirements: '[<< /S /EnableJavaScripts >>]',
    ...Object.fromEntries(['Legal', 'SpiderInfo', 'PieceInfo', 'DPartRoot'].map((key) => [key, '<< >>'])),
    ...Object.fromEntries(['OutputIntents', 'Threads', 'AF'].map((key) => [key, '[]'])),
    Lang: '(de)',
    Perms: `<< /UR3 ${NEW} >>`,
    MarkInfo: '<< /Marked true >>',
    Metadata: NEW,
    Pages: NEW,
    '#50ages': NEW,
    Other: '1',
    Version: '/2.0',
    PageMode: '/UseOC',
    PageLayout: '/TwoPageRight',
  },
  [PAGES]: {
    MediaBox: '[0 0 50 50]',
    CropBox: '[0 0 50 50]',
    Rotate: '90',
    UserUnit: '2',
    AA: `<< /O ${SCRIPT} >>`,
    Resources: `<< /Font << /F1 ${NEW} >> >>`,
    Count: '1',
    Kids: `[${PAGES} 0 R]`,
    Parent: `${PAGE} 0 R`,
    Type: '/Page',
  },
  [PAGE]: {
    CropBox: '[0 0 50 50]',
    Rotate: '180',
    UserUnit: '9',
    AA: `<< /O ${SCRIPT} >>`,
    Trans: '<< /S /Wipe >>',
    Group: '<< /S /Transparency /K true >>',
    ...Object.fromEntries(['Thumb', 'Metadata', 'Con#74ents', 'DPart'].map((key) => [key, NEW])),
    ...Object.fromEntries(['VP', 'B', 'AF', 'OutputIntents'].map((key) => [key, '[]'])),
    ...Object.fromEntries(['PresSteps', 'BoxColorInfo', 'SeparationInfo'].map((key) => [key, '<< >>'])),
    ...Object.fromEntries(['PZ', 'Dur', 'ID', 'StructParents'].map((key) => [key, '1'])),
    Tabs: '/S',
  },
  [FORM]: {
    XFA: `[(template) ${NEW}]`,
    CO: `[${TEXT_FIELD} 0 R]`,
    NeedAppearances: 'true',
    DA: '(/F1 99 Tf)',
    Q: '2',
    SigFlags: '0',
    'F#69elds': '[]',
    Other: '1',
  },
  [TEXT_FIELD]: {
    AA: `<< /V ${SCRIPT} >>`,
    A: SCRIPT,
    ...Object.fromEntries(['TU', 'TM', 'DV', 'V', 'Lang', 'DS', 'RV'].map((key) => [key, '(900)'])),
    ...Object.fromEntries(['MaxLen', 'CA', 'ca', 'StructParent'].map((key) => [key, '0'])),
    DA: '(/F1 99 Tf)',
    Q: '2',
    MK: '<< /R 180 >>',
    OC: '<< /Type /OCG >>',
    F: '2',
    Rect: '[0 0 200 200]',
    BS: '<< /W 99 >>',
    Opt: '[(a)]',
    BM: '/Multiply',
    PMD: NEW,
    Kids: '[30 0 R]',
    FT: '/Sig',
    Ff: '1',
  },
  [NOTE]: {
    OC: '<< >>',
    A: SCRIPT,
    AA: `<< /E ${SCRIPT} >>`,
    Subtype: '/FreeText',
    Parent: `${PAGES} 0 R`,
    IRT: `${TEXT_FIELD} 0 R`,
  },
  [FONT]: {
    Encoding: '<< /Differences [49 /nine] >>',
    ToUnicode: NEW,
    FontDescriptor: NEW,
    Widths: '[1]',
    CharProcs: `<< /one ${NEW} >>`,
    BaseFont: '/Courier',
    Subtype: '/Type3',
  },
  [CONTENT]: {
    F: '(other)',
    FFilter: '/Crypt',
    DL: '1',
    Filter: '/Crypt',
    DecodeParms: '<< >>',
    Length: '1',
  },
};

/** Entries of the closed rule that pass with the value above. */
const PASSING = ['4 SigFlags', '1 Version', '1 PageMode', '1 PageLayout', '10 Tabs', '7 Ff'];

test('an entry that a later revision writes passes only where the rule names it', (t) => {
  const pdf = signed(contract());
  const passing = Object.entries(ENTRIES).flatMap(([object, entries]) =>
    Object.entries(entries).flatMap(([key, value]) => {
      const number = Number(object);
      const without = bodyOf(pdf, number).replace(
        new RegExp(`/${key} (?:/\\w+|\\d+(?: 0 R)?|\\([^)]*\\))`),
        '',
      );
      const changed = [number, without.replace('<<', `<< /${key} ${value}`)] as const;
      const verdict = verdicts(appendRevision(pdf, new Map([changed, [FREE, EVIL]])));
      return verdict.includes('TOTAL-PASSED') ? [`${object} ${key}`] : [];
    }),
  );
  t.deepEqual(passing.toSorted(), PASSING.toSorted());
});

const KINDS =
  `Popup Link FreeText Stamp Redact Watermark Screen 3D RichMedia Projection TrapNet PrinterMark Widget
  FileAttachment Sound Movie Caret Ink Line Square Circle Polygon PolyLine Other`.split(/\s+/);

test('a new annotation of any kind that paints white over the page does not pass', (t) => {
  const pdf = signed(contract());
  for (const kind of KINDS) {
    const body = `<< /Type /Annot /Subtype /${kind} /Rect [0 90 200 120] /F 4 /AP << /N ${FREE + 1} 0 R >> >>`;
    const page = edited(pdf, PAGE, `${TEXT_FIELD} 0 R`, `${TEXT_FIELD} 0 R ${NEW}`);
    const update = appendRevision(pdf, new Map([page, [FREE, body], [FREE + 1, EVIL]]));
    t.notDeepEqual(verdicts(update), ['TOTAL-PASSED'], kind);
  }
});
