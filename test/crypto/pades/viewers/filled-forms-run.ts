/**
 * Certifies forms for filling in (level 2), fills each by three viewers, and validates what they saved:
 * `node dist/test/crypto/pades/viewers/filled-forms-run.js FOLDER [--text "Ana 42"]`. An honest update that fails is an error.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportOn, signed } from '../validation/attack-files.ts';
import { fillWith, VIEWERS } from './viewers.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { text: { type: 'string', default: 'Ana 42' } },
});
const [folder = '.'] = positionals;
const SHORT: Readonly<Record<string, string>> = { 'TOTAL-PASSED': 'passed', 'TOTAL-FAILED': 'FAILED' };
const reasons: string[] = [];
const counts = new Map<string, number>();

console.log(`| form | ${VIEWERS.join(' | ')} |`);
for (const name of readdirSync(folder)
  .filter((one) => one.endsWith('.pdf'))
  .sort()) {
  const cells: string[] = [];
  try {
    const pdf = signed(readFileSync(join(folder, name)), { certification: 2 });
    for (const viewer of VIEWERS) cells.push(await cellOf(name, viewer, pdf));
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  } catch (error) {
    console.log(`| ${name} | not certified: ${(error as Error).message} |`);
  }
}
for (const reason of reasons) console.log(reason);
console.log(Object.fromEntries(counts));
process.exit((counts.get('FAILED') ?? 0) === 0 ? 0 : 1);

async function cellOf(name: string, viewer: (typeof VIEWERS)[number], pdf: Buffer): Promise<string> {
  const filled = await fillWith(viewer, pdf, values.text).catch(() => undefined);
  if (filled === undefined) return 'not filled';
  const [signature] = reportOn(filled.pdf).signatures;
  const verdict = SHORT[signature?.indication ?? ''] ?? 'undecided';
  counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  for (const { message, detail } of signature?.results.errors ?? [])
    reasons.push(`${name} ${viewer}: ${message} ${detail ?? ''}`);
  return `${verdict} (${filled.fields})`;
}
