/**
 * Checks each regular expression of the product for super-linear time: backtracking between two quantifiers, or within
 * one, and quantifiers whose search begins anew at each position. Regular expressions that are put together at run time
 * must be in `CONSTRUCTED`, with the reason why their time is bounded.
 *
 * node scripts/check-regexes.mjs [--root <folder>]   exit 0: nothing to say, 1: findings on standard error
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { tokens } from './layout/scan.mjs';

/** Folders whose code reads nothing that callers send. */
const SKIPPED = /^(node_modules|dist.*|data|docs|scripts|test|bench|\..*)$/;

/** Files with `new RegExp`, and why that is linear. */
const CONSTRUCTED = {
  'crypto/asic/container.ts': 'literals of the same file, for any case',
  'crypto/xml/value-prefixes.ts':
    'a match begins only where no part of a name stands before; one name is anchored at both ends',
  'actors/portal/webhooks/deliveries.ts': 'anchored, of fixed length',
  'logging/secrets.ts': 'an alternative of literal texts',
  'actors/pool/drawing/decoding-bounds.ts':
    'each begins with a literal name or sticks to a place; runs of white space behind two of them do not overlap',
  'contracts/plain-text.ts': 'single characters, and a run of joiners without another quantifier',
};

const option = process.argv.indexOf('--root');
const root = option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..');

let checked = 0;
const findings = [];
for (const path of sourceFiles('')) {
  const list = tokens(readFileSync(join(root, path), 'utf8'));
  for (const [index, { text, regex, line }] of list.entries()) {
    if (regex !== undefined) findings.push(...literalFindings(path, line, regex));
    if (text === 'RegExp' && list[index + 1]?.text === '(' && !Object.hasOwn(CONSTRUCTED, path))
      findings.push(
        `${path}:${line}: a regular expression is put together at run time; write a literal, or say in CONSTRUCTED why it is linear`,
      );
  }
}
for (const finding of findings) console.error(finding);
console.log(`${checked} regular expressions, ${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;

function literalFindings(path, line, regex) {
  checked += 1;
  const end = regex.lastIndexOf('/');
  const { reports } = analyse({ source: regex.slice(1, end), flags: regex.slice(end + 1) });
  return reports.map(({ type, exponential, character }) => {
    const growth = exponential ? 'exponential' : 'super-linear';
    return `${path}:${line}: ${regex} takes ${growth} time (${type}) for a repeated ${JSON.stringify(character.pick)}`;
  });
}

function sourceFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return entry.name === 'node_modules' ||
        entry.name === 'dist' ||
        (folder === '' && SKIPPED.test(entry.name))
        ? []
        : sourceFiles(path);
    return /\.m?[jt]sx?$/.test(path) && !path.endsWith('.d.ts') ? [path] : [];
  });
}
