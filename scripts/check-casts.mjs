/**
 * Fails the build when product code has more casts that switch type checks off than MAX_CASTS: `as unknown as`,
 * `as never`, `as any`, and `context as`, which gives an untyped context a type. Comments and texts do not count.
 *
 * node scripts/check-casts.mjs [--list] [--root <folder>]   exit 0: at most MAX_CASTS, 1: more; --list names each place
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SKIPPED_FOLDERS, ZONES } from './layout/rules.mjs';
import { tokens } from './layout/scan.mjs';

/** Casts in product code, at most. Kinds of actors carry their types, and stored contexts are trusted at one place. */
const MAX_CASTS = 15;

/** Sequences of words that count. */
const CASTS = [
  ['as', 'unknown', 'as'],
  ['as', 'never'],
  ['as', 'any'],
  ['context', 'as'],
];

const option = process.argv.indexOf('--root');
const root = option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..');
const isProduct = (path) =>
  Object.entries(ZONES).some(([name, { owns }]) => name !== 'test' && name !== 'bench' && owns.test(path));

const found = sourceFiles('').flatMap((path) => castsIn(path));
if (process.argv.includes('--list')) for (const place of found) console.log(place);
if (found.length > MAX_CASTS) {
  for (const place of found) console.error(place);
  console.error(
    `\n${found.length} casts in product code; at most ${MAX_CASTS}. Give the value its type instead.`,
  );
  process.exitCode = 1;
}

function sourceFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED_FOLDERS.test(entry.name) ? [] : sourceFiles(path);
    return /\.tsx?$/.test(path) && isProduct(path) ? [path] : [];
  });
}

function castsIn(path) {
  const list = tokens(readFileSync(join(root, path), 'utf8'));
  return list.flatMap((token, index) => {
    const cast = CASTS.find((words) =>
      words.every(
        (word, offset) => list[index + offset]?.kind === 'word' && list[index + offset].text === word,
      ),
    );
    // `context as unknown as` is one cast.
    const isCounted = cast?.[0] === 'context' && ['unknown', 'never', 'any'].includes(list[index + 2]?.text);
    return cast === undefined || isCounted ? [] : [`${path}:${token.line}: ${cast.join(' ')}`];
  });
}
