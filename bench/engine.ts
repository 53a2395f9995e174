/**
 * How many files a second does the engine sign and validate on one core, and what part of the key's own rate is that?
 *
 *   node dist/bench/engine.js [--seconds 0.7] [--only <words>]… [--folder /tmp] [--json <file>] [--list]
 *
 * `--only "Pades B"` picks the cases that have all these words; given twice, those of either. Without it, all cases
 * run, which takes about three minutes. One thread; the local authority for levels T and up has a process of its own.
 * Beside the figures, from the same run: `openssl speed` and plain `crypto.sign`. Every case ends with a validation of
 * what was signed last; a signature that does not pass fails the run.
 */
import { createHash, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { KEYS, type KeyName, startLocalAuthority } from './engine/authority.ts';
import { allCases, type BenchCase, contentOf, nameOf } from './engine/cases.ts';
import { startBench } from './engine/jobs.ts';
import { type Figures, measure, opensslSpeed } from './measure.ts';
import { noise } from './samples.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '0.7' },
    only: { type: 'string', multiple: true, default: [] },
    folder: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);

const cases = allCases().filter((one) => {
  const name = ` ${nameOf(one)} `.toLowerCase();
  const has = (words: string) =>
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => name.includes(` ${word} `));
  return values.only.length === 0 || values.only.some(has);
});
if (values.list) {
  for (const one of cases) console.log(nameOf(one));
  process.exit(0);
}

interface Row extends BenchCase, Figures {
  /** Shares of `openssl speed` and of `crypto.sign` with the same kind of key in this run; of signing alone. */
  readonly ofOpenssl: number | undefined;
  readonly ofNode: number | undefined;
  /** Share of plain SHA-256 over the same content in memory; of contents that take longer to hash than to sign. */
  readonly ofHashing: number | undefined;
}

interface Limits {
  readonly openssl: number | undefined;
  readonly node: number;
}

const authority = await startLocalAuthority();
const bench = startBench(authority, seconds, values.folder);
const rows: Row[] = [];
const limits = new Map<KeyName, Limits>();
const hashing = new Map<number, number>();
try {
  for (const key of KEYS) {
    if (!cases.some((one) => one.key === key)) continue;
    limits.set(key, limitsOf(key));
    for (const one of cases) {
      if (one.key !== key) continue;
      const figures = await bench.run(one);
      if (figures === undefined) continue;
      rows.push(rowOf(one, figures));
      process.stderr.write(`\r${rows.length} of ${cases.length} cases `);
    }
  }
} finally {
  process.stderr.write('\n');
  bench.close();
  authority.close();
}
print();

function limitsOf(key: KeyName): Limits {
  const data = noise(200, 'attributes');
  const { key: own } = authority.signers[key];
  if (own.where !== 'memory') throw new Error('The key is not in memory.');
  return {
    openssl: opensslSpeed(key === 'rsa2048' ? 'rsa2048' : 'ecdsap256', Math.max(1, seconds)),
    node: measure(seconds, () => void sign('sha256', data, own.keyObject)).perSecond,
  };
}

function rowOf(one: BenchCase, figures: Figures): Row {
  const limit = limits.get(one.key);
  const share = (of: number | undefined) =>
    of === undefined || one.work === 'validate' ? undefined : figures.perSecond / of;
  return {
    ...one,
    ...figures,
    ofOpenssl: share(limit?.openssl),
    ofNode: share(limit?.node),
    ofHashing: hashingLimit(one, figures),
  };
}

function hashingLimit(one: BenchCase, { perSecond }: Figures): number | undefined {
  const content = contentOf(one);
  if (content.length < 1 << 20) return undefined;
  const known = hashing.get(content.length);
  const hash = () => void createHash('sha256').update(content).digest();
  const limit = known ?? measure(seconds / 2, hash).perSecond;
  hashing.set(content.length, limit);
  return perSecond / limit;
}

function print(): void {
  const percent = (share: number | undefined) => (share === undefined ? '' : `${Math.round(share * 100)} %`);
  console.log(`${seconds} s a case; figures per second of processor time unless said\n`);
  for (const [key, { openssl, node }] of limits) {
    console.log(`${key}: openssl speed ${Math.round(openssl ?? 0)}/s, crypto.sign ${Math.round(node)}/s`);
  }
  console.table(
    Object.fromEntries(
      rows.map((row) => [
        nameOf(row),
        {
          'per CPU second': rounded(row.perSecond),
          'per clock second': rounded(row.perClockSecond),
          'p50 ms': Number(row.p50.toFixed(3)),
          'p99 ms': Number(row.p99.toFixed(3)),
          'of openssl': percent(row.ofOpenssl),
          'of crypto.sign': percent(row.ofNode),
          'of sha256': percent(row.ofHashing),
        },
      ]),
    ),
  );
  if (values.json === undefined) return;
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  const result = {
    question: 'files signed and validated a second on one core',
    date: new Date().toISOString(),
    machine,
    node: process.version,
    openssl: process.versions.openssl,
    seconds,
    limits: Object.fromEntries(limits),
    rows,
  };
  writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
}

function rounded(rate: number): number {
  return rate < 100 ? Number(rate.toFixed(1)) : Math.round(rate);
}
