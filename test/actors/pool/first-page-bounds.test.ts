/** Limits of the pictures of first pages. Source: docs/decisions/0430-picture-of-the-first-page.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import test from 'ava';
import { assertBoundedDecoding } from '../../../actors/pool/drawing/decoding-bounds.ts';
import { drawFirstPage } from '../../../actors/pool/drawing/first-page.ts';
import { Path, type Six } from '../../../actors/pool/drawing/paths.ts';
import { type Pixels, RecordedCanvas, Unrecorded } from '../../../actors/pool/drawing/recorded-canvas.ts';
import { svgOf } from '../../../actors/pool/drawing/svg.ts';
import { TaskFailure } from '../../../actors/pool/task-failure.ts';
import { classicPdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { folderFor } from '../../runtime/folder.ts';

function square(): Path {
  const path = new Path();
  path.rect(0, 0, 1, 1);
  return path;
}

/** Letters within a clip of many curves, each with a matrix of its own or all with one. */
function clippedLetters(sizes: number): RecordedCanvas {
  const canvas = new RecordedCanvas(1_000, 1_000);
  const context = canvas.getContext();
  const clip = new Path();
  for (let at = 0; at < 2_000; at += 1) clip.bezierCurveTo(at, 1, 2, at, 3, at + 1);
  context.clip(clip);
  const letter = square();
  for (let at = 0; at < 100; at += 1) {
    const size = 10 + (at % sizes);
    context.setTransform(size, 0, 0, size, at, at);
    context.fill(letter);
  }
  return canvas;
}

test('a clip is written once for letters of one size, and a page that needs it in many sizes has no picture', (t) => {
  const text = svgOf(clippedLetters(1));
  t.is(text.match(/<clipPath /g)?.length, 1);
  t.throws(() => svgOf(clippedLetters(100)), { instanceOf: Unrecorded, message: /long picture/ });
});

test('64 clips within each other are recorded, and not one more', (t) => {
  const context = new RecordedCanvas(100, 100).getContext();
  for (let at = 0; at < 64; at += 1) context.clip(square());
  t.throws(() => context.clip(square()), { instanceOf: Unrecorded, message: /clips/ });
});

/** A canvas on which a picture is drawn in each of the places. */
function repeated(side: number, sample: (at: number) => number, places: readonly Six[]): RecordedCanvas {
  const canvas = new RecordedCanvas(1_000, 1_000);
  const source = canvas.another(side, side);
  const pixels: Pixels = source.getContext().createImageData(side, side);
  for (let at = 0; at < pixels.data.length; at += 1) pixels.data[at] = at % 4 === 3 ? 255 : sample(at);
  source.getContext().putImageData(pixels, 0, 0);
  const context = canvas.getContext();
  for (const place of places) {
    context.setTransform(...place);
    context.drawImage(source, 0, 0);
  }
  return canvas;
}

test('the samples of a picture count for each size in which it is drawn, and once for one size', (t) => {
  const grey = () => 128;
  const scaled = (scale: number, at: number): Six => [scale, 0, 0, scale, at, 0];
  const same = Array.from({ length: 20 }, (_, at) => scaled(0.01, at));
  t.is(svgOf(repeated(2_000, grey, same)).match(/<image /g)?.length, 20);
  const sizes = [0.01, 0.02, 0.03, 0.04].map((scale) => scaled(scale, 0));
  t.is(svgOf(repeated(2_000, grey, sizes.slice(1))).match(/<image /g)?.length, 3);
  t.throws(() => svgOf(repeated(2_000, grey, sizes)), { instanceOf: Unrecorded, message: /sizes/ });
});

test('a picture that is written often makes the page too long', (t) => {
  const noise = (at: number) => (at * at * 7919 + at * 104_729) % 251;
  const places = Array.from({ length: 900 }, (_, at): Six => [1, 0, 0, 1, at, 0]);
  t.is(svgOf(repeated(100, noise, places.slice(0, 9))).match(/<image /g)?.length, 9);
  t.throws(() => svgOf(repeated(100, noise, places)), { instanceOf: Unrecorded, message: /long picture/ });
});

test('ends and joins of lines are known words', (t) => {
  const lines = (cap: string, join: string) => {
    const canvas = new RecordedCanvas(100, 100);
    const context = canvas.getContext();
    Object.assign(context, { lineCap: cap, lineJoin: join });
    context.stroke(square());
    return canvas.shapes.length;
  };
  t.is(lines('square', 'bevel'), 1);
  t.throws(() => lines('"/><script>', 'bevel'), { instanceOf: Unrecorded });
  t.throws(() => lines('square', 'undefined'), { instanceOf: Unrecorded });
});

function fileWith(dict: string, data: Buffer | string): Buffer {
  const objects = documentObjects();
  objects.set(50, stream(dict, data.toString('latin1')));
  return classicPdf(objects);
}

/** In ASCII85. */
function lettersOf(bytes: Buffer): string {
  let text = '';
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  for (let at = 0; at < padded.length; at += 4) {
    let group = padded.readUInt32BE(at);
    let letters = '';
    for (let digit = 0; digit < 5; digit += 1) {
      letters = String.fromCharCode(33 + (group % 85)) + letters;
      group = Math.floor(group / 85);
    }
    text += letters;
  }
  return `${text}~>`;
}

const MIB = 1 << 20;
const FLATE = '/Filter /FlateDecode';
const zeros = (bytes: number) => deflateSync(Buffer.alloc(bytes));

test('files whose streams decode to 64 MiB or more have no picture, however the bytes are wrapped', (t) => {
  t.notThrows(() => assertBoundedDecoding(fileWith(FLATE, zeros(60 * MIB))));
  const bombs = {
    'one stream': fileWith(FLATE, zeros(65 * MIB)),
    'two streams': Buffer.concat([fileWith(FLATE, zeros(33 * MIB)), fileWith(FLATE, zeros(33 * MIB))]),
    'two filters': fileWith('/Filter [/FlateDecode /FlateDecode]', deflateSync(zeros(65 * MIB))),
    'letters of a coding': fileWith('/Filter /ASCII85Decode', 'z'.repeat(17 * MIB)),
    'a stream in letters': fileWith('/Filter [/A85 /Fl]', lettersOf(zeros(65 * MIB))),
    'a stream of letters': fileWith(
      '/Filter [/Fl /A85]',
      deflateSync(Buffer.from(lettersOf(zeros(65 * MIB)))),
    ),
    // 4 bytes each do not end at the limit.
    'letters that stand for more, in a stream': fileWith(
      '/Filter [/Fl /A85]',
      deflateSync(Buffer.alloc(20 * MIB + 1, 'z')),
    ),
    'an image of a content stream': fileWith(
      '',
      `BI /W 9 /H 9 /F /Fl ID ${zeros(65 * MIB).toString('latin1')} EI`,
    ),
  };
  for (const [name, file] of Object.entries(bombs))
    t.throws(() => assertBoundedDecoding(file), { instanceOf: Unrecorded, message: /many bytes/ }, name);
});

test('letters that are read again for many streams are bounded', (t) => {
  const again = (times: number) =>
    fileWith('/Filter /ASCII85Decode', `${'stream\n'.repeat(times)}${' '.repeat(MIB)}`);
  t.notThrows(() => assertBoundedDecoding(again(8)));
  t.throws(() => assertBoundedDecoding(again(100)), { instanceOf: Unrecorded, message: /in letters/ });
});

test('codings whose output is not counted, damaged streams and large images have no picture', (t) => {
  const jpeg = (high: number, wide: number) => {
    const sizes = Buffer.alloc(4);
    sizes.writeUInt16BE(high, 0);
    sizes.writeUInt16BE(wide, 2);
    return `\xff\xd8\xff\xc0\0\x0b\x08${sizes.toString('latin1')}\x01\x01\x11\0\xff\xd9`;
  };
  // A block of the reserved type.
  const damaged = Buffer.from([0x78, 0x9c, 0xff, 0xff, 0xff]);
  const cases: readonly (readonly [fits: boolean, dict: string, data: Buffer | string])[] = [
    [true, '/Filter /DCTDecode', jpeg(3_000, 4_000)],
    [false, '/Filter /DCTDecode', jpeg(3_001, 4_000)],
    [false, '/Filter /DCTDecode', `junk${jpeg(0, 4_000)}`],
    [false, '/Filter [/FlateDecode /DCTDecode]', deflateSync(Buffer.from(jpeg(9_000, 9_000), 'latin1'))],
    [false, '/Filter /LZWDecode', 'data'],
    [false, '/Filter /L#5aWDecode', 'data'],
    [true, '/Filter [/ASCII85Decode /DCTDecode]', lettersOf(Buffer.from(jpeg(3_000, 4_000), 'latin1'))],
    [false, '/Filter [/ASCII85Decode /DCTDecode]', lettersOf(Buffer.from(jpeg(3_001, 4_000), 'latin1'))],
    // Named in a stream alone, it may be of any stream.
    [false, FLATE, deflateSync(Buffer.from('/ASCII85Decode '))],
    [false, '/Filter [/AHx /Fl]', 'data'],
    [false, '/Filter /RunLengthDecode', 'data'],
    [false, '/Filter /JPXDecode', 'data'],
    [false, '/Encrypt 9 0 R', 'data'],
    [true, '/Note /Encryption', 'data'],
    [false, FLATE, damaged],
    [false, FLATE, deflateSync(Buffer.alloc(MIB, '#41'))],
    [false, FLATE, deflateSync(Buffer.alloc(MIB, '/W 1 '))],
    [false, FLATE, deflateSync(Buffer.alloc(MIB, 'stream\n'))],
    [true, '/Width 4000 /Height 3000', 'data'],
    [false, '/Width 4000 /Height 3001', 'data'],
    [false, '/Width 60000 /Height 300', 'data'],
    [true, '/SMask 9 0 R /Width 6000 /Height 2000', 'data'],
    [false, '/SMask 9 0 R /Width 6001 /Height 10', 'data'],
    [false, '/Mask 9 0 R /W 10 0 R /H 10', 'data'],
    [true, '/SMask /None /Mask [0 1] /W 10 0 R /H 10', 'data'],
    [true, '/SMask 9 0 R /W [0 [500 600]]', 'data'],
  ];
  for (const [fits, dict, data] of cases) {
    const check = () => assertBoundedDecoding(fileWith(dict, data));
    if (fits) t.notThrows(check, dict);
    else t.throws(check, { instanceOf: Unrecorded }, dict);
  }
});

test('a file above the limits is refused before its first page is read', async (t) => {
  const path = join(folderFor(t), 'document.pdf');
  writeFileSync(path, fileWith(FLATE, zeros(65 * MIB)));
  await t.throwsAsync(drawFirstPage({ task: 'portal.first-page', documentId: 'd', path }), {
    instanceOf: TaskFailure,
    code: 'document.unreadable',
    message: /decode to many bytes/,
  });
});
