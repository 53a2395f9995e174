import test from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { CONTENTS, cook, ENCRYPTED, STRUCTURES } from '../corpus.ts';
import { compose, put } from './pages-harness.ts';

/** Delimiters and keywords in wrong positions. */
const WORDS = [
  '/Kids',
  '/Parent',
  '0 R',
  '<<',
  '>>',
  '[',
  ']',
  '(',
  '/Length 9999999',
  'endobj',
  'stream',
  '/Next',
  '-1',
];

/** Numbers that look random and are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function damaged(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = random(bytes.length);
  switch (random(4)) {
    case 0: {
      const copy = Buffer.from(bytes);
      copy[at] = random(256);
      return copy;
    }
    case 1: {
      const word = Buffer.from(WORDS[random(WORDS.length)] ?? '');
      return Buffer.concat([bytes.subarray(0, at), word, bytes.subarray(at + random(2 * word.length))]);
    }
    case 2: {
      const from = random(bytes.length);
      return Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(from, from + random(200)),
        bytes.subarray(at),
      ]);
    }
    default: {
      const text = bytes.toString('latin1');
      const references = [...text.matchAll(/\d+ 0 R/g)];
      const one = references[random(references.length)];
      const other = references[random(references.length)];
      if (one === undefined || other === undefined) return bytes;
      const end = one.index + one[0].length;
      return Buffer.from(`${text.slice(0, one.index)}${other[0]}${text.slice(end)}`, 'latin1');
    }
  }
}

test('a damaged PDF is merged or refused with a code', async (t) => {
  const random = numbers(20_261_121);
  const files = await Promise.all([...STRUCTURES, ...CONTENTS, ...ENCRYPTED].map(cook));
  const small = files.filter(({ bytes }) => bytes.length < 50_000);
  const outcomes = new Map<string, number>();
  for (let round = 0; round < 600; round++) {
    let bytes = small[random(small.length)]?.bytes ?? Buffer.alloc(0);
    for (let count = 1 + random(5); count > 0; count--) bytes = damaged(bytes, random);
    let outcome = 'merged';
    try {
      compose([
        { path: put(bytes), outline: 'one', draw: () => [{ shape: 'text', x: 1, y: 9, size: 9, text: 'a' }] },
      ]);
    } catch (error) {
      if (!(error instanceof CryptoError)) return t.fail(`round ${round}: ${String(error)}`);
      outcome = error.code;
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.deepEqual(
    [...outcomes.keys()].filter((outcome) => outcome !== 'merged' && !outcome.startsWith('pdf.')),
    [],
  );
  t.true((outcomes.get('merged') ?? 0) > 100, JSON.stringify([...outcomes]));
  t.true((outcomes.get('pdf.malformed') ?? 0) > 50, JSON.stringify([...outcomes]));
});
