/**
 * PDFs of every kind that is met: built here, and made by programs of others as far as they are installed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { runTool } from '../../verifiers/index.ts';
import {
  appendRevision,
  classicPdf,
  documentObjects,
  type FileShape,
  hybridPdf,
  streamPdf,
} from './build.ts';
import { type CorpusFile, type CorpusRecipe, corpusPath } from './corpus-recipe.ts';
import { type EncryptionShape, encrypted } from './encrypt.ts';
import * as shapes from './shapes.ts';

const own = (
  name: string,
  make: () => Buffer,
  more: Pick<CorpusFile, 'mutool' | 'waiting'> = {},
): CorpusRecipe => ({ name, make, ...more });

const UNJUDGED = { mutool: false };

const edited = (pdf: Buffer, edit: (text: string) => string): Buffer =>
  Buffer.from(edit(pdf.toString('latin1')), 'latin1');

const damaged = (pdf: Buffer, from: string | RegExp, to: string): Buffer =>
  edited(pdf, (text) => text.replace(from, to));

const rich = () => documentObjects({ annots: 'indirect', form: 'indirect', pages: 2 });

/** The usual table: every number from 0 on in a single run. */
function oneTable(): Buffer {
  return edited(classicPdf(rich()), (text) => {
    const rows = new Map(
      [...text.matchAll(/^(\d+) 1\n(\d{10} \d{5} [nf] )$/gm)].map(([, number, row]) => [Number(number), row]),
    );
    const size = Math.max(...rows.keys()) + 1;
    const all = Array.from({ length: size }, (_, number) => rows.get(number) ?? '0000000000 00000 f ');
    return text.replace(/xref\n0 1\n[^t]*trailer/, `xref\n0 ${size}\n${all.join('\n')}\ntrailer`);
  });
}

const FONT = 3;

/** Fifty revisions, each of which changes something. */
function manyRevisions(first: Buffer): Buffer {
  let pdf = first;
  for (let revision = 2; revision <= 50; revision++) {
    const font = `<< /Type /Font /Subtype /Type1 /BaseFont /${revision % 2 ? 'Helvetica' : 'Courier'} >>`;
    pdf = appendRevision(pdf, new Map([[FONT, font]]));
  }
  return pdf;
}

/** The same document with its last objects numbered from `first` on. */
function renumbered(first: number): Map<number, string> {
  const objects = documentObjects({ annots: 'indirect', form: 'indirect', fields: 'indirect' });
  const changed = new Map<number, string>();
  const place = (number: number) => (number < 4 ? number : first + number);
  for (const [number, body] of objects) {
    changed.set(
      place(number),
      body.replace(/\b(\d+) 0 R/g, (_all, digits: string) => `${place(Number(digits))} 0 R`),
    );
  }
  return changed;
}

/** Cross-references and the bytes around them. */
export const STRUCTURES: readonly CorpusRecipe[] = [
  own('with a cross-reference table', () => classicPdf(rich())),
  own('with a cross-reference stream and packed objects', () => streamPdf(rich())),
  own('with a cross-reference stream over plain objects', () => streamPdf(rich(), { packed: false })),
  own('with a hybrid cross-reference', () => hybridPdf(documentObjects({ form: 'indirect' }), [4, 7])),
  own('with carriage returns alone as line ends', () => classicPdf(rich(), { eol: '\r' })),
  own('with line ends of two bytes', () => classicPdf(rich(), { eol: '\r\n' })),
  own('with fifty revisions', () => manyRevisions(classicPdf(rich()))),
  own('with fifty revisions of which the first has a stream', () => manyRevisions(streamPdf(rich()))),
  own(
    'with bytes before the header and offsets from the header',
    () => classicPdf(rich(), { head: 'From: someone\r\n\r\n' }),
    UNJUDGED,
  ),
  own(
    'with bytes before the header and offsets from the first byte',
    () => classicPdf(rich(), { head: 'From: someone\r\n\r\n', fromHeader: false }),
    UNJUDGED,
  ),
  own('with bytes after the end', () => classicPdf(rich(), { tail: `${'\0'.repeat(700)}</html>` })),
  own('with a startxref a little off', () => classicPdf(rich(), { startxrefOff: -9 })),
  own('with a startxref a little too high', () => classicPdf(rich(), { startxrefOff: 7 })),
  own('with a startxref far off', () => classicPdf(rich(), { startxrefOff: 900_000 })),
  own('with packed objects and a startxref far off', () => streamPdf(rich(), { startxrefOff: 900_000 })),
  own('with a table whose entries lead elsewhere', () =>
    damaged(classicPdf(rich()), /\d{10}( 00000 n)/g, '0000000017$1'),
  ),
  own('with a table that is not there', () =>
    damaged(classicPdf(rich()), /xref\n0 1\n[^t]*trailer/, 'trailer'),
  ),
  own('with entries of nineteen bytes', () =>
    edited(classicPdf(rich()), (text) => text.replace(/(\d{10} \d{5} [nf]) \n/g, '$1\n')),
  ),
  own(
    'with a table that counts from one',
    () => edited(oneTable(), (text) => text.replace('xref\n0 ', 'xref\n1 ')),
    // mutool finds no page in it.
    UNJUDGED,
  ),
  own('with one run of entries', oneTable),
  own('whose trailer leads back to nothing', () => classicPdf(rich(), { trailer: '/Prev 0' })),
  own('with a size that is too small', () => classicPdf(rich(), { size: 5 })),
  own('that lacks %%EOF', () => edited(classicPdf(rich()), (text) => text.replace(/%%EOF\s*$/, ''))),
  own("with objects that don't end", () =>
    edited(classicPdf(rich()), (text) => text.replace(/\nendobj/g, '\n      ')),
  ),
  own('with streams that give no true length', () =>
    edited(classicPdf(rich()), (text) => text.replace(/\/Length \d\d /g, '/Length 7  ')),
  ),
  own('with blanks around its keywords', () =>
    edited(classicPdf(rich(), { startxrefOff: 1 }), (text) =>
      text.replace('\nxref\n0 1\n', '\n xref \r\n0 1 \n'),
    ),
  ),
  own('that lacks a startxref', () => {
    const pdf = classicPdf(rich());
    return pdf.subarray(0, pdf.lastIndexOf('startxref'));
  }),
  own('with object numbers above a million', () => classicPdf(renumbered(1_000_000))),
  own('with large object numbers in a stream', () => streamPdf(renumbered(200_000))),
  ...['1.3', '1.4', '1.5', '1.6', '1.7', '2.0'].map((version) =>
    own(`of version ${version}`, () => classicPdf(rich(), { version })),
  ),
];

/** Page trees, forms and what else a document can hold. */
export const CONTENTS: readonly CorpusRecipe[] = [
  own('with 3,000 pages', () => classicPdf(documentObjects({ pages: 3000 }))),
  own('with a page tree of 90 levels', () => classicPdf(shapes.deepPageTree(90))),
  own('with nodes of the page tree that lack their type', () => classicPdf(shapes.carelessPageTree())),
  own('with a wrong count of pages', () => classicPdf(shapes.wrongPageCount())),
  own('with resources, size and rotation inherited', () => classicPdf(shapes.inheritedResources())),
  own('with attachments', () => streamPdf(shapes.attachments())),
  own('with layers', () => classicPdf(shapes.layers())),
  own('with fields below fields', () => classicPdf(shapes.richForm()), { waiting: 1 }),
  own('with packed fields below fields', () => streamPdf(shapes.richForm()), { waiting: 1 }),
  own('with fields beside an XFA form', () => classicPdf(shapes.fieldsBesideXfa()), { waiting: 1 }),
  own('with a form that lists no fields', () =>
    classicPdf(documentObjects({ form: 'indirect', fields: 'missing' })),
  ),
  own('with fields and annotations in lists of their own', () =>
    classicPdf(documentObjects({ annots: 'indirect', form: 'indirect', fields: 'indirect' })),
  ),
  own('with annotations that two pages share', () =>
    classicPdf(documentObjects({ annots: 'shared', form: 'direct', pages: 2 })),
  ),
];

type Builder = (objects: Map<number, string>, shape: FileShape) => Buffer;

const methodsOf = ({ strings = 'V2', streams = 'V2' }: EncryptionShape) =>
  [...new Set([strings, streams])].filter((method) => method !== 'Identity');

function sealed(name: string, build: Builder, shape: EncryptionShape): CorpusRecipe {
  return own(
    `encrypted with ${name}`,
    () => {
      const objects = shapes.describedDocument();
      // A number has to be taken by something that is replaced when it is written.
      if (shape.number !== undefined) objects.set(shape.number, 'null');
      return build(objects, encrypted(shape));
    },
    methodsOf(shape).length > 1 ? UNJUDGED : {},
  );
}

/** Files that tools don't write: each filter on its own, a dictionary in the trailer, damage. */
export const ENCRYPTED: readonly CorpusRecipe[] = [
  sealed('RC4 of 40 bits', classicPdf, { version: 1, number: 41 }),
  sealed('RC4 of 56 bits', classicPdf, { version: 2, length: 7 }),
  sealed('RC4 of 128 bits', classicPdf, { version: 2, number: 41 }),
  sealed('RC4 of 128 bits over packed objects', streamPdf, { version: 2 }),
  sealed('AES of 128 bits over packed objects', streamPdf, {
    version: 4,
    strings: 'AESV2',
    streams: 'AESV2',
  }),
  sealed(
    'AES of 128 bits and a hybrid cross-reference',
    (objects, shape) => hybridPdf(objects, [4, 7], shape),
    {
      version: 4,
      strings: 'AESV2',
      streams: 'AESV2',
    },
  ),
  sealed('RC4 for strings and AES for streams', classicPdf, { version: 4, strings: 'V2', streams: 'AESV2' }),
  sealed('AES for streams and nothing for strings', classicPdf, {
    version: 4,
    strings: 'Identity',
    streams: 'AESV2',
  }),
  sealed('RC4 for strings and nothing for streams', classicPdf, {
    version: 4,
    strings: 'V2',
    streams: 'Identity',
  }),
  sealed('AES and clear metadata', classicPdf, {
    version: 4,
    strings: 'AESV2',
    streams: 'AESV2',
    encryptMetadata: false,
    number: 41,
  }),
  sealed(
    'AES and a damaged table',
    (objects, shape) => classicPdf(objects, { ...shape, startxrefOff: 9e5 }),
    {
      version: 4,
      strings: 'AESV2',
      streams: 'AESV2',
      number: 41,
    },
  ),
  sealed(
    'AES over packed objects and a damaged table',
    (objects, shape) => streamPdf(objects, { ...shape, startxrefOff: 9e5 }),
    { version: 4, strings: 'AESV2', streams: 'AESV2' },
  ),
];

/** Passes a document through qpdf. */
function throughQpdf(name: string, ...options: readonly string[]): CorpusRecipe {
  return {
    name,
    tools: ['qpdf'],
    make: async () => {
      const input = corpusPath('in.pdf');
      const output = corpusPath('out.pdf');
      writeFileSync(input, classicPdf(shapes.describedDocument()));
      const { exit, stderr } = await runTool('qpdf', [
        '--allow-weak-crypto',
        ...options,
        '--',
        input,
        output,
      ]);
      if (exit !== 0) throw new Error(`qpdf ended with ${exit}: ${stderr}`);
      return readFileSync(output);
    },
  };
}

const ENCRYPT = ['--encrypt', '', 'owner'];

export const THROUGH_QPDF: readonly CorpusRecipe[] = [
  throughQpdf('linearized over plain objects', '--linearize', '--object-streams=disable'),
  throughQpdf('linearized with packed objects', '--linearize', '--object-streams=generate'),
  throughQpdf('encrypted by qpdf with 40 bits', ...ENCRYPT, '40'),
  throughQpdf('encrypted by qpdf with RC4 of 128 bits', ...ENCRYPT, '128', '--use-aes=n'),
  throughQpdf('encrypted by qpdf with a crypt filter for RC4', ...ENCRYPT, '128', '--force-V4'),
  throughQpdf('encrypted by qpdf with AES of 128 bits', ...ENCRYPT, '128', '--use-aes=y'),
  throughQpdf('encrypted by qpdf in its fifth revision', ...ENCRYPT, '256', '--force-R5'),
  throughQpdf('encrypted by qpdf with AES of 256 bits', ...ENCRYPT, '256'),
  throughQpdf('encrypted by qpdf but for its metadata', ...ENCRYPT, '256', '--cleartext-metadata'),
  throughQpdf(
    'encrypted by qpdf with AES of 256 bits over packed objects',
    '--object-streams=generate',
    ...ENCRYPT,
    '256',
  ),
  throughQpdf('linearized and encrypted by qpdf', '--linearize', ...ENCRYPT, '128', '--use-aes=y'),
];

const made = new Map<CorpusRecipe, Promise<CorpusFile>>();

/** The file of a recipe, made once in a process. */
export function cook(recipe: CorpusRecipe): Promise<CorpusFile> {
  const known = made.get(recipe);
  if (known !== undefined) return known;
  const { name, mutool = true, waiting = 0 } = recipe;
  const file = (async () => ({ name, mutool, waiting, bytes: await recipe.make() }))();
  made.set(recipe, file);
  return file;
}
