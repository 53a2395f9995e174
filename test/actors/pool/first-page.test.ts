/** Pictures of first pages as SVG. Source: docs/decisions/0430-picture-of-the-first-page.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, deflateSync } from 'node:zlib';
import { firstPageSize } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { decode } from 'jpeg-js';
import { drawFirstPage } from '../../../actors/pool/drawing/first-page.ts';
import { loadPdfJs } from '../../../actors/pool/drawing/pdf-js.ts';
import { TaskFailure } from '../../../actors/pool/task-failure.ts';
import { classicPdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { folderFor } from '../../runtime/folder.ts';

function draw(t: ExecutionContext, pdf: Buffer) {
  const path = join(folderFor(t), 'document.pdf');
  writeFileSync(path, pdf);
  return drawFirstPage({ task: 'portal.first-page', documentId: 'd', path });
}

/** A page with the operators; `more` are further objects. */
function page(operators: string, more: readonly (readonly [number, string])[] = []): Buffer {
  const objects = documentObjects();
  objects.set(11, stream('', operators));
  for (const [number, text] of more) objects.set(number, text);
  return classicPdf(objects);
}

async function svg(t: ExecutionContext, operators: string): Promise<string | undefined> {
  const { picture } = await draw(t, page(operators));
  return picture && brotliDecompressSync(picture).toString();
}

test('letters, lines, clips and opacity of a page are shapes, and a letter that comes again is defined once', async (t) => {
  const text = await svg(
    t,
    'BT /F1 20 Tf 40 150 Td (aaaa b) Tj ET 1 0 0 RG 3 w 10 10 m 190 10 l S q 20 20 50 50 re W n 0 0 1 rg 0 0 99 99 re f Q',
  );
  t.truthy(text);
  const found = text ?? '';
  t.is(found.match(/<use /g)?.length, 4);
  t.is(found.match(/<path id="l/g)?.length, 1);
  t.regex(found, /stroke="#ff0000" stroke-width="\d/);
  t.regex(found, /<clipPath id="c\d+"/);
  t.regex(found, /fill="#0000ff"[^>]* clip-path="url\(#c/);
  t.regex(found, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 1000 \d+">/);
  t.notRegex(found, /NaN|<script|javascript:|undefined/);
});

test('the picture of an image has its samples, at most as many as are seen', async (t) => {
  const samples = Buffer.alloc(2000 * 4, 0).toString('latin1');
  const text = await svg(t, `q 100 0 0 20 50 50 cm BI /W 2000 /H 4 /BPC 8 /CS /G ID ${samples}\nEI Q`);
  const [, width, height, data] =
    /<image width="(\d+)" height="(\d+)"[^>]* href="data:image\/png;base64,([^"]+)"/.exec(text ?? '') ?? [];
  t.deepEqual([width, height], ['2000', '4']);
  const png = Buffer.from(data ?? '', 'base64');
  // Half of the page is 500 units wide.
  t.is(png.readUInt32BE(16), 400);
});

/** A scanned page: lines of grey letters on paper that is nowhere white, as a grey or colored picture of the whole page. */
function scan(parts: 1 | 3): Buffer {
  const width = 1240;
  const height = 1754;
  const data = Buffer.alloc(width * height * parts);
  let seed = 1;
  for (let at = 0; at < data.length; at += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    const pixel = Math.floor(at / parts);
    const isInk = Math.floor(pixel / width) % 40 < 16 && (pixel * 7919) % 11 < 4 && pixel % 9 < 5;
    data[at] = (isInk ? 60 : 225) + (at % parts) * 8 + (seed >>> 27);
  }
  const space = parts === 1 ? '/DeviceGray' : '/DeviceRGB';
  const dict = `/Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /ColorSpace ${space} /Filter /FlateDecode`;
  const objects = documentObjects();
  const [number = 0, text = ''] = [...objects].find(([, one]) => one.includes('/Resources')) ?? [];
  objects.set(number, text.replace('/Font', '/XObject << /Im1 60 0 R >> /Font'));
  objects.set(11, stream('', 'q 200 0 0 200 0 0 cm /Im1 Do Q'));
  objects.set(60, stream(dict, deflateSync(data).toString('latin1')));
  return classicPdf(objects);
}

for (const parts of [1, 3] as const)
  test(`a scanned page with ${parts} part(s) of color has a JPEG of bounded bytes`, async (t) => {
    const { picture } = await draw(t, scan(parts));
    t.true((picture?.length ?? 0) > 10_000 && (picture?.length ?? 0) <= 120_000, `${picture?.length}`);
    const [, data = ''] =
      /href="data:image\/jpeg;base64,([^"]+)"/.exec(
        brotliDecompressSync(picture ?? Buffer.alloc(0)).toString(),
      ) ?? [];
    const jpeg = Buffer.from(data, 'base64');
    const samples = decode(jpeg, { maxResolutionInMP: 2 });
    t.true(samples.width > 100 && samples.height > 100);
    const greys = Array.from({ length: 2_000 }, (_, at) => samples.data[at * 28] ?? 0);
    t.true(Math.max(...greys) - Math.min(...greys) > 40, 'ink and paper are told apart');
  });

test('a page in ASCII85 has a picture', async (t) => {
  const letters = [...Buffer.from('q 1 0 0 rg 10 10 50 50 re f Q   ')];
  let text = '';
  for (let at = 0; at < letters.length; at += 4) {
    let group = Buffer.from(letters.slice(at, at + 4)).readUInt32BE();
    let five = '';
    for (let digit = 0; digit < 5; digit += 1) {
      five = String.fromCharCode(33 + (group % 85)) + five;
      group = Math.floor(group / 85);
    }
    text += five;
  }
  const objects = documentObjects();
  objects.set(11, stream('/Filter /ASCII85Decode', `${text}~>`));
  const { picture } = await draw(t, classicPdf(objects));
  t.regex(brotliDecompressSync(picture ?? Buffer.alloc(0)).toString(), /fill="#ff0000"/);
});

test('a page with what is not drawn exactly has no picture', async (t) => {
  const shading =
    '<< /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 100 0] /Function << /FunctionType 2 /Domain [0 1] /C0 [1 0 0] /C1 [0 0 1] /N 1 >> >>';
  const objects = documentObjects();
  const resources = [...objects].find(([, text]) => text.includes('/Resources'));
  t.truthy(resources);
  const [number = 0, text = ''] = resources ?? [];
  const { picture } = await draw(
    t,
    page('/Sh1 sh', [[number, text.replace('/Font', `/Shading << /Sh1 ${shading} >> /Font`)]]),
  );
  t.is(picture, undefined);
});

/** Entries of a page in place of its media box, and what its tree has for all pages. */
const SHAPES: readonly (readonly [own: string, above: string])[] = [
  ['/MediaBox [0 0 595.276 841.89]', ''],
  ['/MediaBox [0 0 612 792] /Rotate 90', ''],
  ['/MediaBox [0 0 612 792] /Rotate -90', ''],
  ['/MediaBox [0 0 612 792] /Rotate 450', ''],
  ['/MediaBox [0 0 612 792] /Rotate 45', ''],
  ['/MediaBox [100 700 500 100]', ''],
  ['/MediaBox [-10 -20 300 400] /CropBox [0 0 200 900]', ''],
  ['/MediaBox [0 0 300 400] /CropBox [500 500 600 600]', ''],
  ['/MediaBox [0 0 300 400] /CropBox [5 5 5 5]', ''],
  ['/MediaBox [0 0 300 400] /UserUnit 2.5 /Rotate 270', ''],
  ['/MediaBox [0 0 300 400] /UserUnit 0', ''],
  ['', '/MediaBox [0 0 420 595] /Rotate 180'],
  ['/Rotate 90', '/MediaBox [0 0 420 595] /CropBox [0 0 210 595]'],
  ['', ''],
  ['/MediaBox 60 0 R', ''],
];

for (const [own, above] of SHAPES)
  test(`the size of a page with ${own || 'no box'}${above && ` below ${above}`} is that of pdf.js`, async (t) => {
    const objects = documentObjects();
    for (const [number, text] of objects)
      objects.set(
        number,
        text.replace('/MediaBox [0 0 200 200]', own).replace('/Type /Pages', `/Type /Pages ${above}`),
      );
    objects.set(60, '[0 0 250 350]');
    const file = classicPdf(objects);
    const { getDocument, VerbosityLevel } = await loadPdfJs();
    const reading = getDocument({ data: new Uint8Array(file), verbosity: VerbosityLevel.ERRORS });
    const { width, height } = (await (await reading.promise).getPage(1)).getViewport({ scale: 1 });
    await reading.destroy();
    t.deepEqual(firstPageSize(file), { width, height });
  });

test('a damaged file has a size only where it may be repaired', (t) => {
  const intact = page('');
  const damaged = Buffer.from(intact.toString('latin1').replace(/startxref\n\d+/, 'startxref\n0'), 'latin1');
  t.deepEqual(firstPageSize(intact, false), { width: 200, height: 200 });
  t.deepEqual(firstPageSize(damaged), { width: 200, height: 200 });
  t.throws(() => firstPageSize(damaged, false));
});

test('a file that cannot be read is refused', async (t) => {
  await t.throwsAsync(draw(t, Buffer.from('%PDF-1.7 and nothing else')), {
    instanceOf: TaskFailure,
    code: 'document.unreadable',
  });
});
