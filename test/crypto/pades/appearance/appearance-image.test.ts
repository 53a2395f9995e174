import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { casesOf, roundsOf } from '../../../project/rounds.ts';
import { withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects, stream } from '../../pdf/build.ts';
import { inspect } from '../inspect.ts';
import { accepted, put } from '../validation/verdicts.ts';
import { JPEGS, turnedJpeg } from './appearance-jpegs.ts';
import {
  type Colour,
  FOUR_COLOURS,
  isNear,
  type PngShape,
  picture,
  png,
  pngOf,
  refusalOf,
  signVisibly,
  type Viewer,
} from './appearance-pictures.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'pdftoppm'] as const;

const toolTest = withTools(test, ...TOOLS, 'qpdf');
const VIEWERS: readonly Viewer[] = ['mutool', 'pdftoppm'];

/** Images of nine by nine pixels show each as ten points. */
const SIDE = 9;
const RECTANGLE = { left: 20, bottom: 30, width: 94, height: 94 };
const PAPER: Colour = [255, 255, 0];

/** A yellow page. */
function paper(): string {
  const objects = documentObjects();
  objects.set(11, stream('', '1 1 0 rg 0 0 200 200 re f'));
  return put(classicPdf(objects));
}

/** Every pixel has its expected colour in both viewers. */
async function assertPixels(
  t: ExecutionContext,
  image: Buffer,
  wanted: (x: number, y: number) => Colour,
  tolerance = 8,
): Promise<void> {
  const signed = signVisibly(paper(), { page: 1, rectangle: RECTANGLE, image });
  for (const viewer of VIEWERS) {
    const shown = await picture(viewer, signed.output);
    for (let y = 0; y < SIDE; y++) {
      for (let x = 0; x < SIDE; x++) {
        const found = shown.at(22 + 10 * x + 5, 32 + 10 * (SIDE - 1 - y) + 5);
        const message = `${viewer} shows ${found} for ${wanted(x, y)} at ${x}, ${y}`;
        if (!isNear(found, wanted(x, y), tolerance)) t.fail(message);
      }
    }
  }
  // Of the images of a test, which are alike but for their depth, other programs judge the first.
  if (judged.has(t)) return;
  judged.add(t);
  await accepted(t, signed);
}

const judged = new WeakSet<ExecutionContext>();

const top = (bits: number): number => 2 ** bits - 1;
/** Some value of so many bits for each pixel, different from all its neighbours'. */
const value = (x: number, y: number, bits: number): number =>
  (x * 37 + y * 101 + x * y * 13) % (top(bits) + 1);
const level = (sample: number, bits: number): number => (255 * sample) / top(bits);
const mixed = (one: Colour, share: number): Colour => {
  const [r, g, b] = one.map((part, index) => part * share + (PAPER[index] ?? 0) * (1 - share));
  return [r ?? 0, g ?? 0, b ?? 0];
};
const grey = (sample: number): Colour => [sample, sample, sample];
const square = { width: SIDE, height: SIDE };

for (const interlaced of [false, true]) {
  const kind = interlaced ? 'an interlaced PNG' : 'a PNG';
  /** Interlaced, the check tries the least depth and the greatest: the samples are then read as without. */
  const depths = (...all: readonly number[]) =>
    interlaced ? casesOf([all.at(0) ?? 0, all.at(-1) ?? 0], all.slice(1, -1)) : all;

  toolTest(`${kind} in grey is rendered at every depth`, async (t) => {
    for (const bits of depths(1, 2, 4, 8, 16)) {
      const image = png({ ...square, type: 0, bits, interlaced, pixel: (x, y) => [value(x, y, bits)] });
      await assertPixels(t, image, (x, y) => grey(level(value(x, y, bits), bits)));
    }
  });

  toolTest(`${kind} in colour is rendered at every depth`, async (t) => {
    for (const bits of depths(8, 16)) {
      const samples = (x: number, y: number) =>
        [value(x, y, bits), value(y, x, bits), value(x + 3, y, bits)] as const;
      const image = png({ ...square, type: 2, bits, interlaced, pixel: samples });
      await assertPixels(t, image, (x, y) => {
        const [r, g, b] = samples(x, y);
        return [level(r, bits), level(g, bits), level(b, bits)];
      });
    }
  });

  toolTest(`${kind} with a palette is rendered at every depth, transparent entries included`, async (t) => {
    for (const bits of depths(1, 2, 4, 8)) {
      const palette = Array.from(
        { length: top(bits) + 1 },
        (_, index): Colour => [level(index, bits), (index * 77) % 256, 255 - level(index, bits)],
      );
      const shape = { ...square, type: 3, bits, interlaced, palette } as const;
      const pixel = (x: number, y: number) => [value(x, y, bits)];
      const colour = (x: number, y: number): Colour => palette[value(x, y, bits)] ?? PAPER;
      await assertPixels(t, png({ ...shape, pixel }), colour);
      const clear = { ...shape, pixel, transparency: Buffer.from([0, 128]) };
      await assertPixels(t, png(clear), (x, y) => {
        const index = value(x, y, bits);
        return mixed(colour(x, y), index === 0 ? 0 : index === 1 ? 128 / 255 : 1);
      });
    }
  });

  toolTest(`${kind} with alpha shows the page through it`, async (t) => {
    for (const bits of depths(8, 16)) {
      const alpha = (x: number, y: number): number => value(x + y, y, bits);
      const image = (type: 4 | 6, pixel: PngShape['pixel']) =>
        png({ ...square, type, bits, interlaced, pixel });
      const shade = (x: number, y: number): number => value(x, y, bits);
      await assertPixels(
        t,
        image(4, (x, y) => [shade(x, y), alpha(x, y)]),
        (x, y) => mixed(grey(level(shade(x, y), bits)), alpha(x, y) / top(bits)),
      );
      await assertPixels(
        t,
        image(6, (x, y) => [shade(x, y), 0, top(bits), alpha(x, y)]),
        (x, y) => mixed([level(shade(x, y), bits), 0, 255], alpha(x, y) / top(bits)),
      );
    }
  });
}

toolTest('the transparent colour of a PNG shows the page through it', async (t) => {
  const spot = (x: number, y: number): boolean => (x + y) % 3 === 0;
  const clear = Buffer.from([0, 10, 0, 20, 0, 30]);
  const colour = png({
    ...square,
    type: 2,
    bits: 8,
    transparency: clear,
    pixel: (x, y) => (spot(x, y) ? [10, 20, 30] : [10, 20, 31]),
  });
  await assertPixels(t, colour, (x, y) => (spot(x, y) ? PAPER : [10, 20, 31]));
  const shade = { ...square, type: 0, bits: 4, transparency: Buffer.from([0, 5]) } as const;
  await assertPixels(t, png({ ...shade, pixel: (x, y) => [spot(x, y) ? 5 : 6] }), (x, y) =>
    spot(x, y) ? PAPER : grey(102),
  );
});

toolTest('an image without transparency has no mask', async (t) => {
  const opaque = png({ ...square, type: 6, bits: 8, pixel: (x) => [x, x, x, 255] });
  const clear = png({ ...square, type: 6, bits: 8, pixel: (x) => [x, x, x, 254] });
  for (const [image, masked] of [
    [opaque, false],
    [clear, true],
  ] as const) {
    const file = await inspect(signVisibly(paper(), { page: 1, rectangle: RECTANGLE, image }).output);
    const form = file.dict(file.dict(file.dict(file.fields[0]?.object)['/AP'])['/N']);
    const shown = file.dict(file.dict(file.dict(form['/Resources'])['/XObject'])['/Im']);
    t.is('/SMask' in shown, masked);
  }
});

toolTest('a repeated image has the same samples each time', async (t) => {
  const samplesOf = async (image: Buffer): Promise<string> => {
    const file = await inspect(signVisibly(paper(), { page: 1, rectangle: RECTANGLE, image }).output);
    const form = file.dict(file.dict(file.dict(file.fields[0]?.object)['/AP'])['/N']);
    const reference = file.dict(file.dict(form['/Resources'])['/XObject'])['/Im'];
    return file.stream(reference).toString('hex');
  };
  // More than the cache of images holds.
  const shades = Array.from({ length: 12 }, (_, shade) => shade * 20);
  const images = shades.map((shade) => png({ width: 2, height: 1, type: 0, bits: 8, pixel: () => [shade] }));
  for (const image of [...images, ...images]) {
    const shade = shades[images.indexOf(image)] ?? -1;
    t.is(await samplesOf(image), Buffer.from([shade, shade]).toString('hex'));
  }
});

toolTest('baseline and progressive JPEGs are rendered in grey, RGB and CMYK', async (t) => {
  for (const [name, image] of Object.entries(JPEGS)) {
    const signed = signVisibly(paper(), { page: 1, rectangle: RECTANGLE, image });
    for (const viewer of VIEWERS) {
      const shown = await picture(viewer, signed.output);
      const left = shown.at(30, 80);
      const right = shown.at(106, 80);
      const what = `${name}: ${viewer} shows ${left} and ${right}`;
      if (name === 'grey') {
        t.true(isNear(left, [0, 0, 0], 12) && isNear(right, [255, 255, 255], 12), what);
      } else {
        t.true(left[0] > 200 && left[2] < 80, what);
        t.true(right[0] < 100 && right[2] > 120, what);
      }
    }
    await accepted(t, signed);
  }
});

toolTest('a JPEG is turned as its metadata says, and the metadata is left out', async (t) => {
  const isRed = ([red, , blue]: readonly number[]): boolean => (red ?? 0) > 200 && (blue ?? 0) < 80;
  // Where the red half is to be seen, from orientation 1 on.
  for (const [index, side] of [
    'left',
    'right',
    'right',
    'left',
    'top',
    'top',
    'bottom',
    'bottom',
  ].entries()) {
    const image = turnedJpeg(index + 1, index % 2 === 0 ? 'II' : 'MM');
    const signed = signVisibly(paper(), { page: 1, rectangle: RECTANGLE, image });
    t.false(readFileSync(signed.output).includes('Place of Ana'));
    for (const viewer of VIEWERS) {
      const shown = await picture(viewer, signed.output);
      const x = RECTANGLE.left + RECTANGLE.width / 2;
      const y = RECTANGLE.bottom + RECTANGLE.height / 2;
      const off = RECTANGLE.height / 4;
      const seen = {
        left: isRed(shown.at(x - off, y + off)) && isRed(shown.at(x - off, y - off)),
        right: isRed(shown.at(x + off, y + off)) && isRed(shown.at(x + off, y - off)),
        top: isRed(shown.at(x - off, y + off)) && isRed(shown.at(x + off, y + off)),
        bottom: isRed(shown.at(x - off, y - off)) && isRed(shown.at(x + off, y - off)),
      };
      const sides = Object.entries(seen).flatMap(([name, isThere]) => (isThere ? [name] : []));
      t.deepEqual(sides, [side], `${index + 1}: ${viewer}`);
    }
  }
});

function refused(t: ExecutionContext, image: Buffer, why: RegExp): void {
  const text = refusalOf(paper(), { page: 1, rectangle: RECTANGLE, image });
  t.regex(text, /^request\.invalid: The image of the signature /);
  t.regex(text, why);
}

const header = (width: number, height: number, rest: readonly number[] = [8, 6, 0, 0, 0]): Buffer => {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body.set(rest, 8);
  return body;
};

const pngWith = (head: Buffer, data: Buffer): Buffer =>
  pngOf([
    ['IHDR', head],
    ['IDAT', data],
    ['IEND', Buffer.alloc(0)],
  ]);

test('images that unpack to excessive sizes are refused before they are decoded', (t) => {
  refused(t, pngWith(header(100_000, 100_000), deflateSync(Buffer.alloc(10))), /too large/);
  refused(t, pngWith(header(0xffffffff, 1), deflateSync(Buffer.alloc(10))), /too large/);
  refused(t, pngWith(header(5000, 5000), deflateSync(Buffer.alloc(10))), /too large/);
  refused(t, pngWith(header(0, 5), deflateSync(Buffer.alloc(10))), /no extent/);
  refused(t, pngWith(header(2900, 2900), deflateSync(Buffer.alloc(10))), /more than 32 MiB/);
  refused(t, pngWith(header(10, 10), deflateSync(Buffer.alloc(200 << 20), { level: 9 })), /too many/);
  refused(t, Buffer.concat([FOUR_COLOURS, Buffer.alloc(17 << 20)]), /more than 16 MiB/);
  const large = Buffer.from(JPEGS.baseline);
  const frame = large.indexOf(Buffer.from([0xff, 0xc0]));
  large.writeUInt32BE(0xffffffff, frame + 5);
  refused(t, large, /too large/);
  large.writeUInt32BE(16, frame + 5);
  refused(t, large, /no extent/);
});

test('damaged, truncated and unknown images are refused', (t) => {
  for (const image of [FOUR_COLOURS, ...Object.values(JPEGS)]) {
    for (let length = 0; length < image.length; length += roundsOf(7, 1)) {
      const text = refusalOf(paper(), { page: 1, rectangle: RECTANGLE, image: image.subarray(0, length) });
      if (!text.startsWith('request.invalid: The image')) t.fail(`${length} bytes: ${text}`);
    }
  }
  refused(t, Buffer.from('GIF89a'), /neither PNG nor JPEG/);
  refused(t, Buffer.alloc(0), /neither PNG nor JPEG/);
  const short = deflateSync(Buffer.alloc(4 * 33));
  refused(t, pngWith(header(8, 8), short), /too few samples/);
  refused(t, pngWith(header(8, 4), Buffer.concat([short.subarray(0, -1), Buffer.from([2])])), /damaged/);
  refused(t, pngWith(header(1, 1), deflateSync(Buffer.from([9, 0, 0, 0, 0]))), /damaged/);
  for (const rest of [
    [3, 0, 0, 0, 0],
    [16, 3, 0, 0, 0],
    [8, 5, 0, 0, 0],
    [8, 6, 1, 0, 0],
    [8, 6, 0, 0, 2],
  ]) {
    refused(t, pngWith(header(1, 1, rest), deflateSync(Buffer.alloc(5))), /nobody knows/);
  }
  refused(t, pngWith(header(1, 1, [8, 3, 0, 0, 0]), deflateSync(Buffer.alloc(2))), /without its palette/);
  // Arithmetic coding, twelve bits, two components.
  for (const [offset, byte] of [
    [1, 0xc9],
    [4, 12],
    [9, 2],
  ] as const) {
    const image = Buffer.from(JPEGS.baseline);
    image[image.indexOf(Buffer.from([0xff, 0xc0])) + offset] = byte;
    refused(t, image, /JPEG/);
  }
});

test('an image of any bytes is rendered or refused', (t) => {
  let state = 11;
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
  const input = paper();
  const outcomes = new Map<string, number>();
  const palette = png({ ...square, type: 3, bits: 4, interlaced: true, palette: [PAPER], pixel: () => [0] });
  const images = [FOUR_COLOURS, palette, ...Object.values(JPEGS)];
  for (let round = 0; round < 600; round++) {
    const image = Buffer.from(images[round % images.length] ?? FOUR_COLOURS);
    for (let flips = 1 + next(4); flips > 0; flips--) image[next(image.length)] = next(256);
    const text = refusalOf(input, { page: 1, rectangle: RECTANGLE, image });
    const outcome = text.split(':')[0] ?? '';
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.deepEqual([...outcomes.keys()].sort(), ['', 'request.invalid']);
});
