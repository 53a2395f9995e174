/**
 * Writes `scripts/test-seconds.json`, by which the longest test processes start first (ava.config.mjs).
 *
 * node scripts/write-test-seconds.mjs <file> ...   reads what SEALWRIGHT_TEST_TIMES has written, of whole runs; a process that
 *                                                  none of them had keeps its seconds
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL, nameOf, TEST_SECONDS } from './test-suites.mjs';

const OUTPUT = join(import.meta.dirname, 'test-seconds.json');
/** Shorter processes leave no gap at the end, wherever they start. */
const LEAST_SECONDS = 10;

const found = new Map();
for (const file of process.argv.slice(2))
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, elapsed, path] = line.split('\t');
    if (path === undefined) continue;
    const name = nameOf(path);
    found.set(name, Math.max(found.get(name) ?? 0, Math.round(Number(elapsed))));
  }
const isKnown = (name) => name.startsWith('shared/') || ALL.includes(name);
const seconds = Object.entries({ ...TEST_SECONDS, ...Object.fromEntries(found) })
  .filter(([name, elapsed]) => isKnown(name) && elapsed >= LEAST_SECONDS)
  .sort(([name, left], [other, right]) => right - left || name.localeCompare(other));
writeFileSync(OUTPUT, `${JSON.stringify(Object.fromEntries(seconds), undefined, 2)}\n`);
