/**
 * Fuzzes what permitted changes of a signed PDF paint. Two renderers look at each change that passes.
 *
 *   node dist/test/fuzz/painted-run.js [--changes 20000] [--seed 1] [--minutes 60] [--files <folder of PDFs>] [--out <folder>]
 *
 * Changes are made on a document of the tests, and on the first page of each PDF of the folder that has text and no rotation
 * (rewritten by `qpdf`, signed here). Writes the PDF of each false accept to `--out`. Exit code 1 with any.
 */
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CONTRACT } from './painted/changes.ts';
import { pagesOf } from './painted/given-files.ts';
import { paintedSession } from './painted/session.ts';
import { Random } from './random.ts';

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    files: { type: 'string' },
    out: { type: 'string' },
  },
});
if (values.out !== undefined) mkdirSync(values.out, { recursive: true });
const given = values.files === undefined ? [] : await pagesOf(values.files);
// The document of the tests is the quickest to draw.
const pages = [...given, ...Array.from({ length: Math.max(1, 2 * given.length) }, () => CONTRACT)];
const until = Date.now() + Number(values.minutes) * 60_000;
const { verdicts, accepted } = await paintedSession({
  random: new Random(Number(values.seed)),
  pages,
  changes: Number(values.changes),
  out: values.out,
  isOver: () => Date.now() > until,
});
for (const one of accepted) console.log(one);
const total = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
console.log(
  `${total} changes of ${given.length + 1} documents: ${JSON.stringify(verdicts)}, ${accepted.length} false accepts`,
);
process.exit(accepted.length === 0 ? 0 : 1);
