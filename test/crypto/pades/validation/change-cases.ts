/**
 * Updates of a signed document, two for each entry that the closed rule names: one that its row permits, and a twin that
 * differs from it in one respect and that no row permits.
 */

import type { ChangeKind } from '#crypto/pades/validation/change-rules.js';
import { STORED } from '#crypto/pades/validation/embedded-evidence.js';
import { appendRevision, classicPdf, documentObjects, stream } from '../../pdf/build.ts';
import {
  appearance,
  bodyOf,
  CATALOG,
  EMPTY_FIELD,
  edited,
  FORM,
  FREE,
  PAGE,
  TEXT_FIELD,
  textField,
} from './attack-files.ts';

type Objects = readonly (readonly [number, string])[];

/** One update, and what it is by the rule. */
export interface ChangeCase {
  readonly kind: ChangeKind;
  readonly update: (pdf: Buffer) => Buffer;
  /** True for a later signature that is none, so that only the classification is looked at. */
  readonly isUnsigned?: true;
  /** Another document without a real signature, likewise. */
  readonly document?: Document;
}

/**
 * `formless` has no form: its signature would stand on a page alone. `shared` has a signed field with two widgets. `hybrid` holds
 * the document in another format, too.
 */
export type Document = 'formless' | 'shared' | 'hybrid';

export interface EntryCases {
  readonly honest: ChangeCase;
  readonly forged: ChangeCase;
}

const NOTE = 8;
const AUTHOR = 32;
const AGREE = 33;
const PICK = 34;
const HIDDEN = 35;
const GROUP = 36;
const RICH = 39;
const EARLIER = 41;
const TWIN = 45;
const HIGHLIGHT = 46;
const INFORMATION = 50;
const OPEN = 58;
const METADATA = 51;
const TEMPLATE = 59;
const DATA = 60;
const STRUCTURE = 90;
const DOCUMENT = 91;
const PARENTS = 93;
/** Fields that a lock names; it leaves the field Open alone. */
const NAMES = '(Name) (Approval) (Agree) (Pick) (Hidden) (Group) (Rich) (Earlier) (Twin) (Later) (Group2)';

/** Name of the field of the signature that the cases are judged by. */
export const JUDGED = 'Author';

const widget = (type: string, name: string, rectangle: string, more = ''): string =>
  `<< /Type /Annot /Subtype /Widget /FT /${type} ${name === '' ? '' : `/T (${name})`} /Rect [${rectangle}] /F 4 /P ${PAGE} 0 R ${more} >>`;
const part = (parent: number, rectangle: string, more = ''): string =>
  `<< /Type /Annot /Subtype /Widget /Parent ${parent} 0 R /Rect [${rectangle}] /F 4 /P ${PAGE} 0 R ${more} >>`;
const shows = (text: string): string => appearance(`BT /F1 9 Tf 2 2 Td (${text}) Tj ET`);
const mark = (content: string): string =>
  stream('/Type /XObject /Subtype /Form /BBox [0 0 12 12] /Resources << /Font << /F1 3 0 R >> >>', content);
const openField = (value: string, look: number): string =>
  textField(value, look).replace('(Name)', '(Open)').replace('[20 20 90 40]', '[20 40 90 58]');
const xmp = (text: string): string => stream('/Type /Metadata /Subtype /XML', `<dc:title>${text}</dc:title>`);
const SIGNATURE = '<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /Contents <00> >>';

const FIELDS = [TEXT_FIELD, EMPTY_FIELD, AUTHOR, AGREE, PICK, HIDDEN, GROUP, RICH, EARLIER, TWIN, OPEN];
const ANNOTATIONS = [NOTE, HIGHLIGHT, ...FIELDS, 37, 38, 43, 44, 48, 49].filter(
  (number) => ![GROUP, EARLIER, TWIN].includes(number),
);
const listed = (numbers: readonly number[]): string => numbers.map((number) => `${number} 0 R`).join(' ');

/** A document with every kind of object that the rule names, before the judged signature. */
export const ruledDocument = (isLocked: boolean): Buffer => documentOf(isLocked, false);

export function otherDocument(kind: Document): Buffer {
  if (kind === 'shared') return documentOf(false, true);
  const trailer = kind === 'hybrid' ? `/AdditionalStreams [/other ${METADATA} 0 R]` : '';
  const objects = documentObjects({ annots: 'direct', text: 'Pay 100' });
  if (kind === 'hybrid') objects.set(METADATA, stream('', 'Pay 100'));
  return classicPdf(objects, { trailer });
}

function documentOf(isLocked: boolean, isShared: boolean): Buffer {
  const lock = isLocked ? `/Lock << /Type /SigFieldLock /Action /Include /Fields [${NAMES}] >>` : '';
  const objects = documentObjects({ form: 'indirect', annots: 'direct', pages: 2, text: 'Pay 100' });
  const put = (number: number, body: string): void => void objects.set(number, body);
  put(TEXT_FIELD, textField('(x)', 31));
  put(31, shows('x'));
  put(EMPTY_FIELD, widget('Sig', 'Approval', '100 20 180 60'));
  put(AUTHOR, widget('Sig', JUDGED, '0 0 0 0', lock));
  put(
    AGREE,
    widget(
      'Btn',
      'Agree',
      '150 140 162 152',
      '/V /Off /AS /Off /MK << /BG [1] >> /AP << /N << /Yes 53 0 R /Off 54 0 R >> >>',
    ),
  );
  put(53, mark('BT /F1 9 Tf 2 2 Td (X) Tj ET'));
  put(54, mark(''));
  put(PICK, widget('Ch', 'Pick', '20 150 60 180', '/DA (/F1 9 Tf 0 g) /Opt [(a) (b)] /V (a) /I [0] /TI 0'));
  put(HIDDEN, widget('Sig', 'Hidden', '15 90 115 115', '/AP << /N 55 0 R >>').replace('/F 4', '/F 2'));
  put(55, shows('999'));
  put(GROUP, `<< /FT /Tx /T (Group) /V (g) /DA (/F1 9 Tf 0 g) /Kids [37 0 R 38 0 R] >>`);
  for (const [number, rectangle] of [
    [37, '20 60 90 80'],
    [38, '100 70 170 90'],
  ] as const)
    put(number, part(GROUP, rectangle, '/AP << /N 56 0 R >>'));
  put(56, shows('g'));
  put(
    RICH,
    widget(
      'Tx',
      'Rich',
      '100 150 140 170',
      '/Ff 33554432 /V (r) /RV (<p>r</p>) /DA (/F1 9 Tf 0 g) /AP << /N 57 0 R >>',
    ),
  );
  put(57, shows('r'));
  put(OPEN, openField('(x)', 31));
  put(EARLIER, `<< /FT /Sig /T (Earlier) ${isShared ? '/V 42 0 R' : ''} /Kids [43 0 R 44 0 R] >>`);
  put(42, SIGNATURE);
  put(TWIN, '<< /FT /Sig /T (Twin) /Kids [48 0 R 49 0 R] >>');
  for (const [index, number] of [43, 44, 48, 49].entries())
    put(number, part(index < 2 ? EARLIER : TWIN, `${150 + 8 * index} 180 ${156 + 8 * index} 190`));
  put(
    HIGHLIGHT,
    `<< /Type /Annot /Subtype /Highlight /Rect [20 120 60 128] /QuadPoints [20 128 60 128 20 120 60 120] /F 4 /P ${PAGE} 0 R >>`,
  );
  put(
    STRUCTURE,
    `<< /Type /StructTreeRoot /K [${DOCUMENT} 0 R] /ParentTree ${PARENTS} 0 R /ParentTreeNextKey 1 /RoleMap << >> >>`,
  );
  put(DOCUMENT, `<< /Type /StructElem /S /Document /P ${STRUCTURE} 0 R /K [92 0 R] >>`);
  put(92, `<< /Type /StructElem /S /P /P ${DOCUMENT} 0 R /Pg ${PAGE} 0 R /K 0 /ActualText (Pay 100) >>`);
  put(PARENTS, '<< /Nums [0 94 0 R] >>');
  put(94, '[92 0 R]');
  put(INFORMATION, '<< /Title (Pay) /Producer (one) >>');
  put(METADATA, xmp('Pay'));
  put(TEMPLATE, stream('', '<template/>'));
  put(DATA, formData({}));
  const twice = `/XFA [(template) ${TEMPLATE} 0 R (datasets) ${DATA} 0 R]`;
  put(FORM, `<< /Fields [${listed(FIELDS)}] ${twice} /DR << /Font << /F1 3 0 R >> >> >>`);
  put(PAGE, (objects.get(PAGE) ?? '').replace(/\/Annots \[[^\]]*\]/, `/Annots [${listed(ANNOTATIONS)}]`));
  put(
    CATALOG,
    (objects.get(CATALOG) ?? '').replace(
      '<<',
      `<< /Metadata ${METADATA} 0 R /StructTreeRoot ${STRUCTURE} 0 R`,
    ),
  );
  return classicPdf(objects, { trailer: `/Info ${INFORMATION} 0 R` });
}

/** Appends objects, with the document information unless the trailer says otherwise. */
const appended = (pdf: Buffer, objects: Objects, trailer = `/Info ${INFORMATION} 0 R`): Buffer =>
  appendRevision(pdf, new Map(objects), trailer);

const as = (kind: ChangeKind, objects: (pdf: Buffer) => Objects, trailer?: string): ChangeCase => ({
  kind,
  update: (pdf) => appended(pdf, objects(pdf), trailer),
});
const fails = (objects: (pdf: Buffer) => Objects, trailer?: string): ChangeCase =>
  as('forbidden', objects, trailer);

/** Adds an entry to an object, or gives it another value. */
function withEntry(pdf: Buffer, number: number, key: string, value: string): readonly [number, string] {
  const body = bodyOf(pdf, number);
  const found = new RegExp(
    `/${key}(?![A-Za-z]) *(?:<<.*?>>|\\[[^\\]]*\\]|\\((?:\\\\.|[^)\\\\])*\\)|/[A-Za-z]+|[0-9]+ 0 R|[-0-9.]+)`,
  );
  const entry = value === '' ? '' : `/${key} ${value}`;
  return [number, found.test(body) ? body.replace(found, entry) : body.replace('<<', `<< ${entry}`)];
}

/** The values of a form once more, as its description has them (XFA): those of text fields, by their names. */
const formData = (values: Readonly<Record<string, string>>, more = ''): string =>
  stream(
    '',
    `<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data>${Object.entries({
      Open: 'x',
      Name: 'x',
      Agree: '',
      ...values,
    })
      .map(([name, value]) => `<${name}>${value}</${name}>`)
      .join('\n')}</xfa:data>${more}</xfa:datasets>`,
  );

const RUBBISH = [FREE + 20, '<< /Type /Pages >>'] as const;

/** Cases of a plain entry in one object: a value, and a reference in its place. */
function plainEntry(kind: ChangeKind, number: number, key: string, value: string): EntryCases {
  return {
    honest: as(kind, (pdf) => [withEntry(pdf, number, key, value)]),
    forged: fails((pdf) => [withEntry(pdf, number, key, `${RUBBISH[0]} 0 R`), RUBBISH]),
  };
}

function trailerEntry(key: string, value: string): EntryCases {
  const kept = `/Info ${INFORMATION} 0 R`;
  return {
    honest: as('continuation', () => [[FREE, '(x)']], `${kept} /${key} ${value}`),
    forged: fails(() => [[FREE, '(x)']], `${kept} /${key} [${CATALOG} 0 R]`),
  };
}

/** Cases of a list that moves into an object of its own, and that loses or exchanges members there. */
function list(number: number, key: string, change: (members: string) => string): EntryCases {
  const moved = (pdf: Buffer, to: (members: string) => string): Objects => {
    const members = new RegExp(`/${key} *\\[([^\\]]*)\\]`).exec(bodyOf(pdf, number))?.[1] ?? '';
    const entry = edited(pdf, number, new RegExp(`/${key} *\\[[^\\]]*\\]`), `/${key} ${FREE} 0 R`);
    return [entry, [FREE, `[${to(members)}]`]];
  };
  return {
    honest: as('continuation', (pdf) => moved(pdf, (members) => members)),
    forged: fails((pdf) => moved(pdf, change)),
  };
}

/** Leaves the last member out: the others keep their places, so that nothing else differs. */
const withoutLast = (members: string): string => members.replace(/\d+ 0 R\s*$/, '');
const turned = (members: string): string => (members.match(/\d+ 0 R/g) ?? []).toReversed().join(' ');

function trailerCases(): Record<string, EntryCases> {
  const rooted = (kind: ChangeKind, more: string): ChangeCase => ({
    kind,
    update: (pdf) => {
      const plain = appended(pdf, [[FREE, bodyOf(pdf, CATALOG).replace('<<', `<< ${more}`)]]);
      const tail = plain.toString('latin1', pdf.length).replace(/\/Root \d+ 0 R/, `/Root ${FREE} 0 R`);
      return Buffer.concat([pdf, Buffer.from(tail, 'latin1')]);
    },
  });
  const tail = (from: RegExp, to: string): ChangeCase => ({
    kind: 'forbidden',
    update: (pdf) => {
      const plain = appended(pdf, [[FREE, '(x)']]);
      return Buffer.concat([
        pdf,
        Buffer.from(plain.toString('latin1', pdf.length).replace(from, to), 'latin1'),
      ]);
    },
  });
  const empty = as('continuation', () => [[FREE, '(x)']]);
  const hybrid = (kind: ChangeKind, type: string): ChangeCase => ({
    kind,
    document: 'hybrid',
    update: (pdf) =>
      appendRevision(
        pdf,
        new Map([[FREE, '(x)']]),
        type === '' ? '' : `/AdditionalStreams [${type} ${METADATA} 0 R]`,
      ),
  });
  return {
    'trailer/ID': trailerEntry('ID', '[<00> <01>]'),
    'trailer/DocChecksum': trailerEntry('DocChecksum', '/0123'),
    'trailer/Prev': { honest: empty, forged: tail(/\/Prev (\d+)/, '/Prev $1.0') },
    'trailer/Size': { honest: empty, forged: tail(/\/Size \d+/, '/Size 9000000') },
    'trailer/XRefStm': { honest: empty, forged: tail(/\/Size/, '/XRefStm [1 0 R] /Size') },
    'trailer/Type': trailerEntry('Type', '/XRef'),
    'trailer/W': trailerEntry('W', '[1 2 1]'),
    'trailer/Index': trailerEntry('Index', '[0 1]'),
    'trailer/Length': trailerEntry('Length', '9'),
    'trailer/Filter': trailerEntry('Filter', '/FlateDecode'),
    'trailer/DecodeParms': trailerEntry('DecodeParms', '<< /Columns 4 >>'),
    'trailer/DL': trailerEntry('DL', '9'),
    'trailer/AdditionalStreams': {
      honest: hybrid('continuation', ''),
      forged: hybrid('forbidden', '/another'),
    },
    'trailer/Root': { honest: rooted('metadata', ''), forged: rooted('forbidden', '/NeedsRendering true') },
    'trailer/Info': {
      honest: as('trace', () => [[FREE, '<< /Title (Pay) >>']], `/Info ${FREE} 0 R`),
      forged: fails(() => [[FREE, '[(Pay)]']], `/Info ${FREE} 0 R`),
    },
    ...Object.fromEntries(
      ['Title', 'Author', 'Subject', 'Keywords'].map((key) => [
        `information/${key}`,
        plainEntry('noticed', INFORMATION, key, '(Other)'),
      ]),
    ),
    'information/ModDate': plainEntry('trace', INFORMATION, 'ModDate', '(D:2027)'),
    'information/Producer': plainEntry('trace', INFORMATION, 'Producer', '(two)'),
    'information/*': plainEntry('metadata', INFORMATION, 'Trapped', '/True'),
  };
}

function catalogCases(): Record<string, EntryCases> {
  const entry = (kind: ChangeKind, key: string, value: string, forged: string): EntryCases => ({
    honest: as(kind, (pdf) => [withEntry(pdf, CATALOG, key, value), ...EVIDENCE]),
    forged: fails((pdf) => [withEntry(pdf, CATALOG, key, forged), ...EVIDENCE]),
  });
  const evidence = (name: string, value: string, forged: string): EntryCases => {
    const store = (text: string): string => (name === '' ? text : `<< /VRI << /AB << ${text} >> >> >>`);
    return entry('evidence', 'DSS', store(value), store(forged));
  };
  return {
    'catalogue/AcroForm': {
      honest: as('continuation', (pdf) => [
        withEntry(pdf, CATALOG, 'AcroForm', `${FREE} 0 R`),
        [FREE, bodyOf(pdf, FORM)],
      ]),
      forged: fails((pdf) => [withEntry(pdf, CATALOG, 'AcroForm', `${FREE} 0 R`), [FREE, 'null']]),
    },
    'catalogue/DSS': entry(
      'evidence',
      'DSS',
      `<< /Certs [${FREE} 0 R] >>`,
      `<< /Certs [${RUBBISH[0]} 0 R] >>`,
    ),
    'catalogue/Metadata': {
      honest: as('noticed', () => [[METADATA, xmp('Other')]]),
      forged: fails(() => [[METADATA, stream('/Type /XObject /Subtype /Form', '<x/>')]]),
    },
    'catalogue/Version': entry('noticed', 'Version', '/1.7', '(1.7)'),
    'catalogue/PageMode': entry('noticed', 'PageMode', '/UseOutlines', '/FullScreen'),
    'catalogue/PageLayout': entry('noticed', 'PageLayout', '/OneColumn', '[/OneColumn]'),
    'catalogue/Extensions': entry(
      'upkeep',
      'Extensions',
      '<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>',
      `<< /ESIC ${RUBBISH[0]} 0 R >>`,
    ),
    'evidence store/Type': evidence('', '<< /Type /DSS >>', '<< /Typ /DSS >>'),
    'evidence store/VRI': evidence('', '<< /VRI << /Type /VRI /AB << >> >> >>', '<< /VRI << /AB [] >> >>'),
    ...Object.fromEntries(
      STORED.DSS.map((key) => [
        `evidence store/${key}`,
        evidence('', `<< /${key} [${FREE} 0 R] >>`, `<< /${key} [${RUBBISH[0]} 0 R] >>`),
      ]),
    ),
    ...Object.fromEntries(
      STORED.VRI.map((key) => [
        `evidence of a signature/${key}`,
        evidence('AB', `/${key} [${FREE} 0 R]`, `/${key} [${RUBBISH[0]} 0 R]`),
      ]),
    ),
    'evidence of a signature/Type': evidence('AB', '/Type /VRI', '/Typ /VRI'),
    'evidence of a signature/TU': evidence('AB', '/TU (D:2026)', `/TU ${RUBBISH[0]} 0 R`),
    'evidence of a signature/TS': evidence('AB', `/TS ${FREE} 0 R`, `/TS ${RUBBISH[0]} 0 R`),
  };
}

/** The structure of a document with an element for the field of a signature. */
function structureCases(): Record<string, EntryCases> {
  const element = (parent: number, more = ''): readonly [number, string] => [
    FREE,
    `<< /Type /StructElem /S /Form /P ${parent} 0 R /Pg ${PAGE} 0 R /K << /Type /OBJR /Obj ${EMPTY_FIELD} 0 R >> ${more} >>`,
  ];
  const grown = (pdf: Buffer, number: number, more = ''): Objects => [
    edited(pdf, number, /\/K \[(.*?)\]/, `/K [$1 ${FREE} 0 R]`),
    element(number, more),
  ];
  const parents = (of0: string): readonly [number, string] => [
    PARENTS,
    `<< /Nums [0 ${of0} 1 ${FREE} 0 R] >>`,
  ];
  const next = (pdf: Buffer, key: number) => withEntry(pdf, STRUCTURE, 'ParentTreeNextKey', String(key));
  return {
    'catalogue/StructTreeRoot': {
      honest: as('tagging', (pdf) => grown(pdf, DOCUMENT)),
      forged: fails((pdf) => [withEntry(pdf, CATALOG, 'StructTreeRoot', '')]),
    },
    'structure/K': {
      honest: as('tagging', (pdf) => grown(pdf, STRUCTURE)),
      forged: fails((pdf) => [
        withEntry(pdf, STRUCTURE, 'K', `[${FREE} 0 R ${FREE} 0 R]`),
        element(STRUCTURE),
      ]),
    },
    'structure/ParentTree': {
      honest: as('tagging', (pdf) => [...grown(pdf, DOCUMENT), parents('[92 0 R]')]),
      forged: fails((pdf) => [...grown(pdf, DOCUMENT), parents(`[${DOCUMENT} 0 R]`)]),
    },
    'structure/ParentTreeNextKey': {
      honest: as('tagging', (pdf) => [...grown(pdf, DOCUMENT), parents('94 0 R'), next(pdf, 2)]),
      forged: fails((pdf) => [...grown(pdf, DOCUMENT), parents('94 0 R'), next(pdf, 0)]),
    },
    'structure element/K': {
      honest: as('tagging', (pdf) => grown(pdf, DOCUMENT)),
      forged: fails((pdf) => grown(pdf, DOCUMENT, '/ActualText (Pay 900)')),
    },
  };
}

const EVIDENCE: Objects = [[FREE, stream('', 'x')], RUBBISH];

/** Fills in the field Open, which no lock names. */
const filled = (): Objects => [
  [OPEN, openField('(y)', FREE)],
  [FREE, shows('y')],
];

/** The XFA data beside the field Open with the value y, by what differs. */
export const FORM_DATA: Readonly<Record<string, ChangeCase>> = Object.fromEntries(
  (
    [
      ['the value of the field', 'form-data', { Open: 'y' }],
      ['the same value as a reference', 'form-data', { Open: '&#121;' }],
      ['the same value as a section', 'form-data', { Open: '<![CDATA[y]]>' }],
      ['the value of a field that stays', 'form-data', { Open: 'y', Name: 'x' }],
      ['another value', 'form-data-open', { Open: '9' }],
      ['another value of a field that stays', 'forbidden', { Open: 'y', Name: '9' }],
      ['no value of a field that stays', 'forbidden', { Open: 'y', Name: '' }],
      ['another state of a box', 'form-data-open', { Open: 'y', Agree: 'Yes' }],
      ['a value of no field', 'form-data-open', { Open: 'y', Total: '9' }],
      ['elements in a value', 'form-data-open', { Open: '<p>y</p>' }],
      ['a second value', 'form-data-open', { Open: 'y</Open><Open>9' }],
      ['a description of the data', 'form-data-open', { Open: 'y' }, '<d/>'],
      ['an instruction', 'form-data-open', { Open: 'y<?d?>' }],
      ['what is no XML', 'form-data-open', { Open: 'y&' }],
      ['an entity of its own', 'form-data-open', { Open: '&y;' }],
    ] as const
  ).map(([name, kind, values, more = '']) => [
    name,
    as(kind, () => [[DATA, formData(values, more)], ...filled()]),
  ]),
);

/** The same where the template differs as well, the part has another type, and where no field was filled in. */
export const OTHER_FORM_DATA: Readonly<Record<string, ChangeCase>> = {
  'the template': fails(() => [[TEMPLATE, stream('', '<template>y</template>')], ...filled()]),
  'a drawing': fails(() => [[DATA, formData({ Open: 'y' }).replace('<<', '<< /Subtype /Form')], ...filled()]),
  'another order of parts': fails((pdf) => [
    edited(pdf, FORM, /\/XFA *\[[^\]]*\]/, `/XFA [(datasets) ${DATA} 0 R (template) ${TEMPLATE} 0 R]`),
    ...filled(),
  ]),
  'no field': fails(() => [[DATA, formData({ Total: '9' })]]),
};

function formCases(): Record<string, EntryCases> {
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>';
  const drawing = stream('/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << >>', '');
  const resource = (kind: string, body: string): EntryCases => {
    const others = kind === 'Font' ? '' : '/Font << /F1 3 0 R >>';
    const changed =
      (entry: string) =>
      (pdf: Buffer): Objects => [
        edited(pdf, FORM, /\/DR *<<.*?>> *>>/s, `/DR << ${others} ${entry} >>`),
        [FREE, body],
      ];
    // The one font that was there stays.
    if (kind === 'Font') {
      const fonts = (number: number): string => `/Font << /F1 ${number} 0 R /F9 ${FREE} 0 R >>`;
      return { honest: as('setting', changed(fonts(3))), forged: fails(changed(fonts(FREE))) };
    }
    const added = `<< /N9 ${FREE} 0 R >>`;
    return {
      honest: as('setting', changed(`/${kind} ${added}`)),
      forged: fails(changed(`/${kind}x ${added}`)),
    };
  };
  const fresh = (key: string, value: string, forged: string): EntryCases => {
    const made =
      (text: string): ((pdf: Buffer) => Objects) =>
      (pdf) => [withEntry(pdf, CATALOG, 'AcroForm', `<< ${key === 'Fields' ? '' : '/Fields []'} ${text} >>`)];
    return {
      honest: { ...as('upkeep', made(`/${key} ${value}`), ''), document: 'formless' },
      forged: { ...fails(made(forged), ''), document: 'formless' },
    };
  };
  const empty =
    (entries: string): ((pdf: Buffer) => Objects) =>
    (pdf) => [withEntry(pdf, CATALOG, 'AcroForm', `<< ${entries} >>`)];
  return {
    'form/Fields': list(FORM, 'Fields', withoutLast),
    'form/SigFlags': {
      honest: as('unlisted', (pdf) => [withEntry(pdf, FORM, 'SigFlags', '2')]),
      forged: fails((pdf) => [withEntry(pdf, FORM, 'SigFlags', '/Both')]),
    },
    'form/DA': {
      honest: as('setting', (pdf) => [withEntry(pdf, FORM, 'DA', '(/F1 9 Tf 0 g)')]),
      // A field without a style of its own and without a look takes it.
      forged: fails((pdf) => [withEntry(pdf, FORM, 'DA', '5')]),
    },
    'form/NeedAppearances': {
      honest: as('redrawn', (pdf) => [withEntry(pdf, FORM, 'NeedAppearances', 'true'), ...filled()]),
      forged: fails((pdf) => [withEntry(pdf, FORM, 'NeedAppearances', 'true')]),
    },
    'form/XFA': {
      honest: as('form-data', () => [[DATA, formData({ Open: 'y' })], ...filled()]),
      forged: fails(() => [[DATA, formData({ Open: 'y', Name: '9' })], ...filled()]),
    },
    'form/DR': {
      honest: as('continuation', (pdf) => [
        edited(pdf, FORM, /\/DR *<<.*?>> *>>/s, `/DR ${FREE} 0 R`),
        [FREE, '<< /Font << /F1 3 0 R >> >>'],
      ]),
      forged: fails((pdf) => [
        edited(pdf, FORM, /\/DR *<<.*?>> *>>/s, `/DR ${FREE} 0 R`),
        [FREE, '<< /Font << >> >>'],
      ]),
    },
    'new form/Fields': {
      honest: { ...as('continuation', empty('/Fields []'), ''), document: 'formless' },
      forged: { ...fails(empty('/Fields [8 0 R]'), ''), document: 'formless' },
    },
    'new form/DR': {
      honest: { ...as('setting', empty('/DR << /Font << /F9 3 0 R >> >>'), ''), document: 'formless' },
      forged: { ...fails(empty('/DR << /Fonts << /F9 3 0 R >> >>'), ''), document: 'formless' },
    },
    'new form/SigFlags': fresh('SigFlags', '3', '/SigFlags /Both'),
    'new form/DA': fresh('DA', '(/F1 9 Tf)', '/DS (font: 9pt)'),
    'new form/Q': fresh('Q', '1', '/CO []'),
    'new form/NeedAppearances': fresh('NeedAppearances', 'false', '/NeedAppearances true'),
    'form resources/Font': resource('Font', font),
    'form resources/XObject': resource('XObject', drawing),
    ...Object.fromEntries(
      ['ExtGState', 'ColorSpace', 'Pattern', 'Shading', 'Properties', 'ProcSet', 'Encoding'].map((kind) => [
        `form resources/${kind}`,
        resource(kind, '<< >>'),
      ]),
    ),
  };
}

function fieldCases(): Record<string, EntryCases> {
  const name = (value: string, shown: string, more = ''): Objects => [
    [TEXT_FIELD, textField(value, FREE).replace('/DA (/F1 0 Tf)', `/DA (/F1 0 Tf) ${more}`)],
    [FREE, shows(shown)],
  ];
  const agree =
    (value: string, state: string, colours = '/MK << /BG [1] >>') =>
    (pdf: Buffer): Objects => [
      edited(pdf, AGREE, /\/V \/Off .*?>>/, `/V /${value} /AS /${state} ${colours}`),
    ];
  const rich =
    (text: string) =>
    (pdf: Buffer): Objects => [
      edited(
        pdf,
        RICH,
        /\/V .*\/AP << \/N 57 0 R >>/,
        `/V (s) /RV (<p>${text}</p>) /DA (/F1 9 Tf 0 g) /AP << /N ${FREE} 0 R >>`,
      ),
      [FREE, shows('s')],
    ];
  const pick =
    (to: string, from = /\/V \(a\)/) =>
    (pdf: Buffer): Objects => [edited(pdf, PICK, from, to)];
  const kids = list(EARLIER, 'Kids', withoutLast);
  const flags = (number: number): EntryCases => ({
    honest: as('metadata', (pdf) => [withEntry(pdf, number, 'Ff', '1')]),
    forged: fails((pdf) => [withEntry(pdf, number, 'Ff', '3')]),
  });
  const signs = (more: string, value = SIGNATURE): ChangeCase => ({
    ...as(value === SIGNATURE ? 'signature' : 'forbidden', (pdf) => [
      edited(pdf, EMPTY_FIELD, '<<', `<< /V ${FREE} 0 R ${more}`),
      [FREE, value],
      [FREE + 1, shows('Ann')],
    ]),
    isUnsigned: true,
  });
  return {
    'field/V': { honest: as('fill', () => name('(y)', 'y')), forged: fails(() => name('(9)', 'y')) },
    'field/AP': { honest: as('fill', () => name('(y)', 'y')), forged: fails(() => name('(x)', 'y')) },
    'field/AS': { honest: as('fill', agree('Yes', 'Yes')), forged: as('fill-open', agree('Off', 'Yes')) },
    'field/RV': { honest: as('fill', rich('s')), forged: as('fill-open', rich('9')) },
    'field/I': {
      honest: as('fill', pick('/V (b) /I [1]', /\/V \(a\) \/I \[0\]/)),
      forged: fails(pick('/V (a) /I [1]', /\/V \(a\) \/I \[0\]/)),
    },
    'field/TI': {
      honest: as('fill', pick('/V (b) /I [1] /TI 1', /\/V.*\/TI 0/)),
      forged: fails(pick('/TI 1', /\/TI 0/)),
    },
    'field/DA': {
      honest: as('fill', () =>
        name('(y)', 'y').map(([number, body]) => [number, body.replace('/F1 0 Tf', '/F1 9 Tf 0 g')]),
      ),
      forged: fails((pdf) => [edited(pdf, TEXT_FIELD, '/F1 0 Tf', '/F1 9 Tf 0 g')]),
    },
    'field/Q': {
      honest: as('fill', () => name('(y)', 'y', '/Q 0')),
      forged: fails((pdf) => [withEntry(pdf, TEXT_FIELD, 'Q', '0')]),
    },
    'field/MK': {
      honest: as('fill', agree('Yes', 'Yes', '/MK << /BG [1 1 1] >>')),
      forged: fails(agree('Yes', 'Yes', '/MK << /BG [0 0 0] >>')),
    },
    'field/M': plainEntry('entry', TEXT_FIELD, 'M', '(D:2027)'),
    'field/Ff': flags(TEXT_FIELD),
    'field/Kids': list(GROUP, 'Kids', withoutLast),
    'empty signature field/V': { honest: signs(''), forged: signs('', '<< /Type /Font >>') },
    'empty signature field/AP': {
      honest: signs(`/AP << /N ${FREE + 1} 0 R >>`),
      forged: fails((pdf) => [
        edited(pdf, EMPTY_FIELD, '<<', `<< /AP << /N ${FREE} 0 R >>`),
        [FREE, shows('Ann')],
      ]),
    },
    'empty signature field/Lock': {
      honest: signs('/Lock << /Type /SigFieldLock /Action /All >>'),
      forged: fails((pdf) => [
        edited(pdf, EMPTY_FIELD, '<<', '<< /Lock << /Type /SigFieldLock /Action /All >>'),
      ]),
    },
    'empty signature field/AS': {
      honest: signs('/AS /On'),
      forged: fails((pdf) => [edited(pdf, EMPTY_FIELD, '<<', '<< /AS /On')]),
    },
    'empty signature field/F': {
      honest: as('entry', (pdf) => [edited(pdf, EMPTY_FIELD, '/F 4', '/F 2')]),
      forged: fails((pdf) => [edited(pdf, HIDDEN, '/F 2', '/F 4')]),
    },
    'empty signature field/M': plainEntry('entry', EMPTY_FIELD, 'M', '(D:2027)'),
    'empty signature field/Ff': flags(EMPTY_FIELD),
    'empty signature field/Kids': list(TWIN, 'Kids', withoutLast),
    'signed field/Ff': flags(AUTHOR),
    'signed field/Kids': {
      honest: { ...kids.honest, document: 'shared' },
      forged: { ...kids.forged, document: 'shared' },
    },
  };
}

/** Values of the entries of a new signature field and its widget. */
const NEW_FIELD: Readonly<Record<string, string>> = {
  V: `${FREE + 1} 0 R`,
  AP: `<< /N ${FREE + 2} 0 R >>`,
  AS: '/On',
  F: '132',
  Rect: '[100 100 110 110]',
  MK: '<< >>',
  BS: '<< /W 1 >>',
  Border: '[0 0 0]',
  DA: '(/F1 0 Tf)',
  DR: '<< /Font << /F1 3 0 R >> >>',
  Q: '1',
  Type: '/Annot',
  Subtype: '/Widget',
  FT: '/Sig',
  T: '(Later)',
  TU: '(Sign here)',
  TM: '(later)',
  Ff: '1',
  P: `${PAGE} 0 R`,
  M: '(D:2026)',
  NM: '(n)',
  Lock: '<< /Type /SigFieldLock /Action /All >>',
  SV: '<< /Type /SV >>',
  H: '/N',
  Parent: 'null',
  Kids: '[]',
  StructParent: '3',
  Lang: '(de)',
};

function newFieldCases(): Record<string, EntryCases> {
  const BASE = ['Type', 'Subtype', 'FT', 'T', 'F', 'P'];
  const added =
    (key: string, written: string): ((pdf: Buffer) => Objects) =>
    (pdf) => {
      const keys = [...new Set([...BASE, ...(key === 'AP' ? ['V'] : []), key])];
      const entries = keys.map((one) => `/${one === key ? written : one} ${NEW_FIELD[one]}`);
      const place = key === 'Rect' ? [] : ['/Rect [0 0 0 0]'];
      return [
        edited(pdf, FORM, /(\/Fields *\[)/, `$1 ${FREE} 0 R `),
        edited(pdf, PAGE, /(\/Annots *\[)/, `$1 ${FREE} 0 R `),
        [FREE, `<< ${[...entries, ...place].join(' ')} >>`],
        [FREE + 1, SIGNATURE],
        [FREE + 2, shows('Ann')],
      ];
    };
  const cases = Object.keys(NEW_FIELD).map((key): [string, EntryCases] => {
    const isSigned = key === 'V' || key === 'AP';
    const honest = as(key === 'Rect' ? 'new-signature' : 'signature', added(key, key));
    return [
      `new signature field/${key}`,
      { honest: isSigned ? { ...honest, isUnsigned: true } : honest, forged: fails(added(key, `${key}x`)) },
    ];
  });
  const group =
    (keys: Readonly<Record<string, string>>) =>
    (pdf: Buffer): Objects => [
      edited(pdf, FORM, /(\/Fields *\[)/, `$1 ${FREE + 3} 0 R `),
      [
        FREE + 3,
        `<< ${Object.entries(keys)
          .map(([key, value]) => `/${key} ${value}`)
          .join(' ')} >>`,
      ],
      [FREE, '<< /FT /Sig /T (Later) >>'],
    ];
  const KEYS = { T: '(Group2)', Kids: `[${FREE} 0 R]`, Parent: 'null' };
  const groups = Object.keys(KEYS).map((key): [string, EntryCases] => {
    const wrong = Object.fromEntries(
      Object.entries(KEYS).map(([one, value]) => [one === key ? `${one}x` : one, value]),
    );
    return [
      `new group of fields/${key}`,
      { honest: as('signature', group(KEYS)), forged: fails(group(wrong)) },
    ];
  });
  return Object.fromEntries([...cases, ...groups]);
}

function pageCases(): Record<string, EntryCases> {
  const note = (key: string, value: string): EntryCases =>
    plainEntry(['M', 'NM', 'Open'].includes(key) ? 'comment' : 'comment-changed', NOTE, key, value);
  const line = (color: string): string =>
    stream('/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << >>', `${color} 2 2 m 7 2 l S`);
  const NEW_COMMENT: Readonly<Record<string, string>> = {
    Type: '/Annot',
    Subtype: '/Text',
    Rect: '[120 120 130 130]',
    Contents: '(seen)',
    P: `${PAGE} 0 R`,
    NM: '(n)',
    M: '(D:2026)',
    F: '4',
    AP: `<< /N ${FREE + 1} 0 R >>`,
    AS: '/On',
    Border: '[0 0 1]',
    C: '[1 1 0]',
    Lang: '(de)',
    DA: '(/F1 12 Tf 0 g)',
    BM: '/Multiply',
    CA: '0.5',
    T: '(Ann)',
    Popup: 'null',
    RC: '(<p>seen</p>)',
    CreationDate: '(D:2026)',
    IRT: `${NOTE} 0 R`,
    Subj: '(s)',
    RT: '/R',
    IT: '/Note',
    QuadPoints: '[0 9 9 9 0 0 9 0]',
    Name: '/Note',
    Open: 'false',
    Parent: 'null',
    State: '(Marked)',
    StateModel: '(Marked)',
    BS: '<< /W 1 >>',
    RD: '[0 0 0 0]',
    Sy: '/P',
    FS: 'null',
    OC: '<< /Type /OCG /Name (Layer) >>',
  };
  const BASE = ['Type', 'Subtype', 'Rect', 'Contents', 'F'];
  const added =
    (key: string, written: string) =>
    (pdf: Buffer): Objects => [
      edited(pdf, PAGE, /(\/Annots *\[)/, `$1 ${FREE} 0 R `),
      [
        FREE,
        `<< ${[...new Set([...BASE, key])].map((one) => `/${one === key ? written : one} ${NEW_COMMENT[one]}`).join(' ')} >>`,
      ],
      [FREE + 1, line('0 0 1 RG')],
    ];
  const fresh = Object.keys(NEW_COMMENT).map((key): [string, EntryCases] => [
    `new comment/${key}`,
    {
      honest: as(key === 'AP' ? 'comment-drawn' : key === 'OC' ? 'comment-open' : 'comment', added(key, key)),
      forged: fails(added(key, `${key}x`)),
    },
  ]);
  const text = (['Contents', 'RC', 'M', 'NM', 'T', 'Subj', 'State', 'StateModel'] as const).map(
    (key): [string, EntryCases] => [`comment/${key}`, note(key, '(other)')],
  );
  return {
    'page/Annots': list(PAGE, 'Annots', turned),
    'page/Tabs': {
      honest: as('metadata', (pdf) => [withEntry(pdf, PAGE, 'Tabs', '/S')]),
      forged: fails((pdf) => [withEntry(pdf, PAGE, 'Tabs', '(S)')]),
    },
    ...Object.fromEntries([...text, ...fresh]),
    'comment/C': note('C', '[1 0 0]'),
    'comment/AS': note('AS', '/On'),
    'comment/Open': note('Open', 'false'),
    'comment/F': note('F', '28'),
    'comment/Rect': note('Rect', '[2 1 10 9]'),
    'comment/QuadPoints': plainEntry(
      'comment-changed',
      HIGHLIGHT,
      'QuadPoints',
      '[20 128 50 128 20 120 50 120]',
    ),
    'comment/AP': {
      honest: as('comment-changed', (pdf) => [
        withEntry(pdf, NOTE, 'AP', `<< /N ${FREE} 0 R >>`),
        [FREE, line('0 0 1 RG')],
      ]),
      forged: fails((pdf) => [withEntry(pdf, NOTE, 'AP', `<< /N ${FREE} 0 R >>`), [FREE, shows('9')]]),
    },
  };
}

/** Cases by place and key, as `form/DA`. */
export const changeCases = (): Readonly<Record<string, EntryCases>> => ({
  ...trailerCases(),
  ...catalogCases(),
  ...structureCases(),
  ...formCases(),
  ...fieldCases(),
  ...newFieldCases(),
  ...pageCases(),
});

/** Keys of the standard, and one of nobody, that no row names; by the number of an object of this place. */
export const UNNAMED: readonly (readonly [place: string, number: number, keys: string])[] = [
  [
    'catalogue',
    CATALOG,
    'Pages PageLabels Names Dests ViewerPreferences Outlines Threads OpenAction AA URI MarkInfo Lang SpiderInfo OutputIntents PieceInfo OCProperties Perms Legal Requirements Collection NeedsRendering AF DPartRoot Zz',
  ],
  ['form', FORM, 'CO Q Zz'],
  ['structure', STRUCTURE, 'Type IDTree RoleMap ClassMap Namespaces PronunciationLexicon AF Zz'],
  [
    'structure element',
    DOCUMENT,
    'S P ID Ref Pg A C R T Lang Alt E ActualText AF NS PhoneticAlphabet Phoneme Zz',
  ],
  [
    'field',
    TEXT_FIELD,
    'FT T TU TM DV AA DS MaxLen Opt Parent Rect F BS Border A H C OC StructParent NM P Contents Zz',
  ],
  ['empty signature field', EMPTY_FIELD, 'SV T TU Rect MK BS Border DA Q AA A H OC StructParent Zz'],
  ['signed field', AUTHOR, 'T F AP Rect MK Lock SV DA AA M Zz'],
  ['page tree', 2, 'Kids Count Parent Resources MediaBox CropBox Rotate Zz'],
  [
    'page',
    PAGE,
    'Contents Resources MediaBox CropBox BleedBox TrimBox ArtBox Rotate Group Thumb B Dur Trans AA Metadata PieceInfo StructParents ID PZ SeparationInfo TemplateInstantiated PresSteps UserUnit VP AF OutputIntents DPart LastModified Zz',
  ],
  ['comment', NOTE, 'Subtype A AA OC BE Border BS StructParent IC LE Zz'],
];

/** An unnamed entry with a value that it did not have. */
export const unnamed = (pdf: Buffer, number: number, key: string): Buffer =>
  appended(pdf, [withEntry(pdf, number, key, '(forged)')]);
