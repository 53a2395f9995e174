/** Targets for reading, signing and validating PDFs. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { MemoryOutput, type PadesFormat, type SignatureLevel } from '#crypto/core/types.js';
import { augmentPades } from '#crypto/pades/augment.js';
import { signPades } from '#crypto/pades/sign.js';
import { inspectPades } from '#crypto/pades/validate.js';
import { appendRevision, classicPdf, documentObjects, hybridPdf, streamPdf } from '../crypto/pdf/build.ts';
import { CONTENTS, cook, ENCRYPTED, STRUCTURES } from '../crypto/pdf/corpus.ts';
import { richForm } from '../crypto/pdf/shapes.ts';
import { contentsOf, type FuzzEnvironment, memorySource, NOW } from './environment.ts';
import { joinChunks, jpegMutation, pngMutation } from './mutate/chunks.ts';
import { oneOf, several } from './mutate/mutation.ts';
import { pdfMutation } from './mutate/pdf.ts';
import { outcomeOf, plain, reportOn } from './outcome.ts';
import { BrokenPromise, type Target } from './target.ts';

/** Seed size limit: mutations are structural, and large seeds are mostly filler. */
const MAX_SEED = 40_000;

const mutation = several(pdfMutation);

async function plainPdfs(): Promise<Buffer[]> {
  const recipes = [...STRUCTURES, ...CONTENTS, ...ENCRYPTED];
  const files = await Promise.all(recipes.map(cook));
  return files.map(({ bytes }) => bytes).filter(({ length }) => length <= MAX_SEED);
}

async function signedPdfs(environment: FuzzEnvironment): Promise<Buffer[]> {
  const signed: Buffer[] = [];
  const rich = documentObjects({ form: 'indirect', annots: 'indirect', pages: 2 });
  const add = async (pdf: Buffer, level: SignatureLevel, pades: PadesFormat = {}): Promise<Buffer> => {
    const output = contentsOf(await environment.sign(pdf, { format: 'Pades', level, pades }));
    signed.push(output);
    return output;
  };
  for (const level of ['B', 'T', 'LT', 'LTA'] as const) await add(classicPdf(rich), level);
  await add(streamPdf(rich), 'B');
  await add(streamPdf(rich), 'LTA');
  await add(hybridPdf(documentObjects({ form: 'indirect' }), [4, 7]), 'B');
  await add(classicPdf(rich), 'B', { certification: 1 });
  const certified = await add(classicPdf(richForm()), 'B', { certification: 2 });
  await add(certified, 'T');
  const once = await add(classicPdf(rich), 'B');
  await add(await add(once, 'LT'), 'B');
  signed.push(appendRevision(once, new Map([[150, '<< /Producer (later) >>']]), '/Info 150 0 R'));
  await add(classicPdf(rich), 'B', { appearance: visible(image()) });
  return signed;
}

/** Yields the digest of the bytes that each signature's byte range covers. */
function* rangesIn(pdf: Buffer): Generator<string> {
  for (const [, ...numbers] of pdf
    .toString('latin1')
    .matchAll(/\/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/g)) {
    const [from, length, next, rest] = numbers.map(Number) as [number, number, number, number];
    const hash = createHash('sha256').update(pdf.subarray(from, from + length));
    yield hash.update(pdf.subarray(next, next + rest)).digest('hex');
  }
}

/** Validation always gives a report; a signature passes only over bytes that were signed. */
export async function pdfValidation(environment: FuzzEnvironment): Promise<Target> {
  const seeds = await signedPdfs(environment);
  const signed = new Set(seeds.flatMap((seed) => [...rangesIn(seed)]));
  return {
    name: 'pdf',
    seeds,
    mutation,
    run(input) {
      const report = reportOn(environment, 'Pades', inspectPades(memorySource(input)));
      const passing = report.signatures.filter(({ indication }) => indication === 'TOTAL-PASSED').length;
      const genuine = [...rangesIn(input)].filter((digest) => signed.has(digest)).length;
      if (passing > genuine) throw new BrokenPromise(`${passing} signatures pass, ${genuine} were made`);
      return outcomeOf(report);
    },
  };
}

/** Signing keeps every byte, and the signature of an intact file passes validation. */
export async function pdfSigning(environment: FuzzEnvironment): Promise<Target> {
  const seeds = [...(await plainPdfs()), ...(await signedPdfs(environment)).slice(0, 6)];
  const signer = environment.pki.signer('p-256');
  const thumbprint = Buffer.from(signer.fingerprint, 'hex').toString('base64');
  const forms: readonly PadesFormat[] = [
    {},
    { certification: 2 },
    { reason: 'Fuzz', location: 'Łódź', fieldName: 'a' },
    { appearance: visible(undefined) },
  ];
  let turn = 0;
  return {
    name: 'pdf-sign',
    seeds,
    mutation,
    run(input) {
      const form = forms[turn++ % forms.length] ?? {};
      const signed = new MemoryOutput();
      signPades({ format: 'Pades', input, output: signed, signer, at: NOW, pades: form });
      const output = signed.bytes;
      if (!output.subarray(0, input.length).equals(input)) throw new BrokenPromise('bytes were lost');
      const { signatures } = reportOn(environment, 'Pades', inspectPades(memorySource(output)));
      const own = signatures.filter(({ certificate }) => certificate?.thumbprint === thumbprint);
      const last = own.at(-1);
      if (last?.indication === 'TOTAL-PASSED') return `signed ${signatures.length}`;
      // Damaged files prove nothing, and signing does not check the whole file.
      const damage = inspectPades(memorySource(input)).findings.find(({ status }) => status === 'failed');
      if (damage !== undefined) return `signed although ${plain(damage.message)}`;
      const reasons = last?.results.errors.map(({ message }) => message).join(' ');
      throw new BrokenPromise(`the signature of an intact file is ${reasons ?? 'not found'}`);
    },
  };
}

/** Signatures of unknown origin are augmented to the highest level, or refused. */
export async function pdfAugmenting(environment: FuzzEnvironment): Promise<Target> {
  return {
    name: 'pdf-augment',
    seeds: await signedPdfs(environment),
    mutation,
    async run(input) {
      const output = environment.path();
      const request = {
        format: 'Pades',
        input: environment.path(input),
        output,
        to: 'LTA',
        at: NOW,
        sync: false,
      } as const;
      await augmentPades(request, environment.services);
      return `augmented ${outcomeOf(reportOn(environment, 'Pades', inspectPades(memorySource(contentsOf(output)))))}`;
    },
  };
}

function visible(image: Buffer | undefined): NonNullable<PadesFormat['appearance']> {
  const rectangle = { left: 10, bottom: 10, width: 150, height: 50 };
  return { page: 1, rectangle, lines: ['Signed', 'by Żółć'], ...(image === undefined ? {} : { image }) };
}

/** Creates a PNG of eight by four pixels. */
function image(): Buffer {
  return pngOf(8, 4, { colour: 6 });
}

export function pngOf(
  width: number,
  height: number,
  {
    colour,
    depth = 8,
    interlaced = 0,
  }: {
    /** As in IHDR: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha. */
    readonly colour: 0 | 2 | 3 | 4 | 6;
    readonly depth?: number | undefined;
    readonly interlaced?: number | undefined;
  },
): Buffer {
  const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colour];
  const row = 1 + Math.ceil((width * channels * depth) / 8);
  // Interlaced images have additional rows, each with its filter byte.
  const data = Buffer.from(
    Array.from({ length: row * height * (interlaced ? 2 : 1) }, (_, at) =>
      at % row === 0 ? at % 5 : at * 7,
    ),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([depth, colour, 0, 0, interlaced], 8);
  const chunks: [string, Buffer][] = [['IHDR', head]];
  if (colour === 3) chunks.push(['PLTE', Buffer.alloc(3 * 2 ** depth, 90)], ['tRNS', Buffer.alloc(4, 128)]);
  chunks.push(['IDAT', deflateSync(data)], ['IEND', Buffer.alloc(0)]);
  return chunkedPng(chunks);
}

function chunkedPng(chunks: readonly (readonly [string, Buffer])[]): Buffer {
  return joinChunks(
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunks.map(([type, data]) => ({ type: Buffer.from(type), data })),
  );
}

/** Creates a baseline JPEG header with that many components. */
function jpegOf(components: 1 | 3 | 4): Buffer {
  const segment = (marker: number, data: Buffer): Buffer => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(data.length + 2);
    return Buffer.concat([Buffer.from([0xff, marker]), length, data]);
  };
  const parts = Array.from({ length: components }, (_, index) => Buffer.from([index + 1, 0x11, 0]));
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    segment(0xdb, Buffer.alloc(65, 1)),
    segment(0xc0, Buffer.concat([Buffer.from([8, 0, 8, 0, 8, components]), ...parts])),
    segment(0xc4, Buffer.alloc(19)),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.alloc(20, 0x55),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** Target for images of visible signatures. */
export function images(environment: FuzzEnvironment): Target {
  const signer = environment.pki.signer('p-256');
  const pdf = classicPdf(documentObjects());
  const seeds = [
    ...([0, 2, 3, 4, 6] as const).map((colour) => pngOf(9, 5, { colour })),
    pngOf(5, 9, { colour: 0, depth: 1 }),
    pngOf(5, 9, { colour: 3, depth: 2 }),
    pngOf(5, 9, { colour: 2, depth: 16 }),
    pngOf(7, 7, { colour: 6, depth: 8, interlaced: 1 }),
    jpegOf(1),
    jpegOf(3),
    jpegOf(4),
  ];
  const mutations = several(oneOf([pngMutation, pngMutation, jpegMutation]), 4);
  return {
    name: 'image',
    seeds,
    mutation: mutations,
    run(picture) {
      const form = { appearance: visible(picture) };
      const signed = new MemoryOutput();
      signPades({ format: 'Pades', input: pdf, output: signed, signer, at: NOW, pades: form });
      const output = signed.bytes;
      const { indication } = reportOn(environment, 'Pades', inspectPades(memorySource(output)));
      if (indication !== 'TOTAL-PASSED') throw new BrokenPromise(`a new signature is ${indication}`);
      return `signed ${Math.round(Math.log2(output.length))}`;
    },
  };
}
