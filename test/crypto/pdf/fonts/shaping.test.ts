import { readFileSync } from 'node:fs';
import { composePdf } from '@sealwright/signatures';
import test from 'ava';
import { isShowable } from '#crypto/pdf/fonts/shaped-text.js';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { type Picture, picture } from '../../pades/appearance/appearance-pictures.ts';
import { freshPath } from '../../pades/validation/verdicts.ts';

const toolTest = withTools(test, 'pdftotext', 'mutool');

const NAMES = {
  Chinese: ['张伟', '陳大文'],
  Japanese: ['山田さくら', '髙橋アキラ'],
  Korean: ['김민수'],
  Thai: ['สมชาย น้ำใส'],
  Arabic: ['محمد علي الأحمد'],
  Hebrew: ['שלום כהן'],
  Devanagari: ['श्रीमती क्षत्रिय'],
} as const;

/** One page with a line of text each 40 points. */
function drawn(lines: readonly string[], size = 24): string {
  const output = freshPath('shaped.pdf');
  const items = lines.map(
    (text, index) => ({ shape: 'text', x: 20, y: 40 * (index + 1), size, text }) as const,
  );
  composePdf({ output, title: 'Names', at: 0, parts: [{ pages: [{ width: 400, height: 400, items }] }] });
  return output;
}

/** The number of connected dark areas of a page. */
function darkAreas({ width, height, at }: Picture): number {
  const dark = new Set<number>();
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (at(x, y)[0] < 128) dark.add(y * width + x);
  let areas = 0;
  for (const start of dark) {
    areas++;
    const open = [start];
    for (let pixel = open.pop(); pixel !== undefined; pixel = open.pop()) {
      if (!dark.delete(pixel)) continue;
      for (const dy of [-1, 0, 1]) for (const dx of [-1, 0, 1]) open.push(pixel + dy * width + dx);
    }
  }
  return areas;
}

for (const [script, names] of Object.entries(NAMES)) {
  toolTest(`names in ${script} are drawn with glyphs of their script and can be copied`, async (t) => {
    for (const name of names) t.true(isShowable(name), name);
    const path = drawn(names);
    const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', path, '-']);
    // The tool puts marks of direction around what it found to be read from the right.
    const text = stdout.replace(/[\u202a-\u202e]/g, '').normalize('NFC');
    for (const name of names) t.true(text.includes(name.normalize('NFC')), text);
    // Boxes would be equal to each other.
    const boxes = drawn(names.map((name) => name.replace(/\S/gu, '\u25a1')));
    t.not(
      darkAreas(await picture('mutool', path, 1, 144)),
      darkAreas(await picture('mutool', boxes, 1, 144)),
    );
  });
}

toolTest('letters of an Arabic word are joined', async (t) => {
  const areas = async (text: string) => darkAreas(await picture('mutool', drawn([text], 40), 1, 144));
  t.is(await areas('محمد'), 1);
  t.is(await areas([...'محمد'].join('\u200c')), 4);
});

toolTest('a Thai mark is above its letter, and a Devanagari vowel sign before its letter', async (t) => {
  const extent = async (text: string) => {
    const page = await picture('mutool', drawn([text], 40), 1, 144);
    const columns = Array.from({ length: page.width }, (_, x) => x);
    const rows = Array.from({ length: page.height }, (_, y) => y);
    const used = columns.filter((x) => rows.some((y) => page.at(x, y)[0] < 128));
    const usedRows = rows.filter((y) => columns.some((x) => page.at(x, y)[0] < 128));
    return { width: (used.at(-1) ?? 0) - (used[0] ?? 0), height: usedRows.length };
  };
  const letter = await extent('ก');
  const marked = await extent('ก้');
  t.true(Math.abs(marked.width - letter.width) < 6, JSON.stringify([letter, marked]));
  t.true(marked.height > letter.height + 4);
  t.true((await extent('हि')).width > (await extent('ह')).width + 6);
});

toolTest(
  'a Hebrew word is to the left of the one before it, with the number to the left of both',
  async (t) => {
    const path = drawn(['By כהן לוי 12 now']);
    const { stdout } = await runTool('pdftotext', ['-bbox', path, '-']);
    // This output has the letters in the order of the page.
    const left = (word: string) => {
      const letters = /[\u0590-\u05ff]/.test(word) ? [...word].reverse().join('') : word;
      return Number(new RegExp(`xMin="([\\d.]+)"[^>]*>${letters}<`).exec(stdout)?.[1] ?? Number.NaN);
    };
    const words = ['By', '12', 'לוי', 'כהן', 'now'];
    t.deepEqual(
      [...words].sort((one, other) => left(one) - left(other)),
      words,
      stdout,
    );
    t.true(
      words.every((word) => left(word) > 0),
      stdout,
    );
  },
);

test('only the glyphs in use are embedded', (t) => {
  const path = drawn(['张伟 محمد']);
  t.true(readFileSync(path).length < 12_000, String(readFileSync(path).length));
});
