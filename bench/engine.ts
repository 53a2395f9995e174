/**
 * How many signatures a second does the engine make on one core, and what part of the key's own rate is that?
 *
 *   node dist/bench/engine.js [--seconds 2] [--folder /tmp] [--out bench/results/engine.json]
 *
 * One thread, one file after the other. "memory" is parsing, hashing, CMS or XML, and the private-key operation;
 * "shm" and "disk" are `signFile` with everything it does to files, fdatasync included, on a memory file system and
 * on the disk. Beside it, in the same run: `openssl speed` and plain `crypto.sign`. The last output of each case
 * is verified; a bad one fails the run.
 */
import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { envelopBytes } from '../crypto/cades/sign.ts';
import { fingerprintOf } from '../crypto/certificates/certificate.ts';
import { DOCUMENT_SIGNING, issueCertificate } from '../crypto/certificates/issue.ts';
import { signFile, verifyFile } from '../crypto/engine.ts';
import { type LocalKey, localKey } from '../crypto/keys/local-key.ts';
import { signPdfBytes } from '../crypto/pades/sign.ts';
import type { SignatureFormat, Signer } from '../crypto/types.ts';
import { signXml } from '../crypto/xades/sign.ts';
import { noise, samplePdf } from './samples.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    folder: { type: 'string', default: tmpdir() },
    out: { type: 'string' },
  },
});
const SECONDS = Number(values.seconds);
const AT = Date.now();
const KEYS = ['rsa2048', 'p256'] as const;
type Key = (typeof KEYS)[number];

interface Figures {
  /** Calls in a second of processor time, as `openssl speed` counts: other programs on the machine do not matter. */
  readonly perSecond: number;
  /** Calls in a second of the clock, waiting for the disk included. */
  readonly perClockSecond: number;
  /** Milliseconds of the clock. */
  readonly p50: number;
  readonly p99: number;
}

/** Runs `work` for the asked time after a warm-up, timing each call; of `after` only processor time counts. */
function measure(work: () => void, after: () => void = () => {}): Figures {
  const warm = performance.now() + 300;
  while (performance.now() < warm) {
    work();
    after();
  }
  const took: number[] = [];
  let busy = 0;
  const before = process.cpuUsage();
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    const from = performance.now();
    work();
    const duration = performance.now() - from;
    busy += duration;
    took.push(duration);
    after();
  }
  const { user, system } = process.cpuUsage(before);
  took.sort((one, other) => one - other);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  return {
    perSecond: took.length / ((user + system) / 1e6),
    perClockSecond: (took.length / busy) * 1000,
    p50: at(0.5),
    p99: at(0.99),
  };
}

function opensslSpeed(algorithm: 'rsa2048' | 'ecdsap256'): number | undefined {
  const run = spawnSync('openssl', ['speed', '-seconds', String(Math.ceil(SECONDS)), algorithm], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  // The table's last line: …, seconds per signature, seconds per check, signatures a second, checks a second.
  const fields = run.stdout?.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? [];
  const rate = Number(fields.at(-2));
  return Number.isFinite(rate) ? rate : undefined;
}

interface BenchSigner extends Signer {
  readonly key: LocalKey;
}

function makeSigner(key: Key): BenchSigner {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pair =
    key === 'rsa2048'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signingKey = localKey(pair.privateKey);
  const shared = {
    issuer: { commonName: 'benchmark CA' },
    issuerKey: root.privateKey,
    notBefore: AT - 3_600_000,
    notAfter: AT + 86_400_000,
  };
  const certificate = issueCertificate({
    ...shared,
    subject: { commonName: 'benchmark signer' },
    publicKey: pair.publicKey,
    serial: randomBytes(16),
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
    crlUrl: 'http://127.0.0.1:8899/int.crl',
  });
  const issuing = issueCertificate({
    ...shared,
    subject: shared.issuer,
    publicKey: root.publicKey,
    serial: randomBytes(16),
    use: { kind: 'ca', pathLength: 0 },
  });
  return {
    key: signingKey,
    certificate,
    chain: [issuing],
    keyType: signingKey.type,
    keyBits: signingKey.bits,
    fingerprint: fingerprintOf(certificate),
  };
}

function sampleXml(bytes = 2000): Buffer {
  const lines: string[] = [];
  for (let line = 1; lines.join('').length < bytes - 200; line++) {
    lines.push(
      `\n  <inv:line number="${line}"><inv:text>Item &amp; more</inv:text><inv:price>12.50</inv:price></inv:line>`,
    );
  }
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<inv:invoice xmlns:inv="urn:example:invoice">${lines.join('')}\n</inv:invoice>\n`,
  );
}

const INPUTS: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: samplePdf(28_000),
  Cades: noise(28_000, 'binary'),
  Xades: sampleXml(),
};

const IN_MEMORY: {
  readonly [format in SignatureFormat]: (input: Buffer, signer: BenchSigner) => readonly Buffer[];
} = {
  Pades: (input, signer) => [signPdfBytes(input, { signer, at: AT, digest: 'sha256' })],
  Cades: (input, signer) => {
    const { head, tail } = envelopBytes(input, { signer, at: AT, digest: 'sha256' });
    return [head, input, tail];
  },
  Xades: (input, signer) => {
    const { before, inserted, after } = signXml(input, { signer, at: AT });
    return [before, inserted, after];
  },
};

interface Row extends Figures {
  readonly format: SignatureFormat;
  readonly key: Key;
  readonly where: 'memory' | 'shm' | 'disk' | 'verify';
  /** Share of plain `crypto.sign` with the same key in this run. */
  readonly ofNode: number | null;
  /** Share of `openssl speed` in this run. */
  readonly ofOpenssl: number | null;
}

const folders: { readonly where: 'shm' | 'disk'; readonly path: string }[] = [
  { where: 'disk', path: mkdtempSync(join(values.folder, 'sealwright-bench-')) },
];
if (existsSync('/dev/shm')) {
  folders.unshift({ where: 'shm', path: mkdtempSync('/dev/shm/sealwright-bench-') });
}
process.on('exit', () => {
  for (const { path } of folders) rmSync(path, { recursive: true, force: true });
});

function mustVerify(format: SignatureFormat, path: string, signer: BenchSigner): void {
  const content = {
    sha256: createHash('sha256').update(INPUTS[format]).digest('hex'),
    length: INPUTS[format].length,
  };
  const report = verifyFile({
    format,
    path,
    at: AT,
    signer: signer.fingerprint,
    content,
    anchors: signer.chain,
  });
  if (!report.ok) {
    console.error(
      format,
      report.checks.filter(({ ok }) => !ok),
    );
    process.exit(1);
  }
}

const rows: Row[] = [];
const baseline: { [name: string]: number | null } = {};
for (const key of KEYS) {
  const signer = makeSigner(key);
  const openssl = opensslSpeed(key === 'rsa2048' ? 'rsa2048' : 'ecdsap256');
  const data = noise(200, 'attributes');
  const node = measure(() => sign('sha256', data, signer.key.keyObject));
  baseline[`openssl speed ${key}`] = openssl ?? null;
  baseline[`crypto.sign ${key}`] = node.perSecond;
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const add = (where: Row['where'], figures: Figures) =>
      rows.push({
        format,
        key,
        where,
        ...figures,
        ofNode: where === 'verify' ? null : figures.perSecond / node.perSecond,
        ofOpenssl: where === 'verify' || openssl === undefined ? null : figures.perSecond / openssl,
      });
    const input = INPUTS[format];
    let last: readonly Buffer[] = [];
    add(
      'memory',
      measure(() => {
        last = IN_MEMORY[format](input, signer);
      }),
    );
    for (const { where, path } of folders) {
      const from = join(path, 'input');
      const output = join(path, 'output');
      writeFileSync(from, input);
      writeFileSync(output, Buffer.concat(last));
      mustVerify(format, output, signer);
      unlinkSync(output);
      const work = () => signFile({ format, input: from, output, signer, at: AT });
      add(
        where,
        measure(work, () => unlinkSync(output)),
      );
      work();
      if (where === folders[0]?.where)
        add(
          'verify',
          measure(() => mustVerify(format, output, signer)),
        );
      else mustVerify(format, output, signer);
      unlinkSync(output);
    }
  }
}

const result = {
  question: 'signatures a second on one core',
  date: new Date(AT).toISOString(),
  machine: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`,
  node: process.version,
  openssl: process.versions.openssl,
  seconds: SECONDS,
  inputs: { Pades: INPUTS.Pades.length, Cades: INPUTS.Cades.length, Xades: INPUTS.Xades.length },
  baseline,
  rows,
};
console.table(baseline);
console.table(
  rows.map(({ format, key, where, perSecond, perClockSecond, p50, p99, ofNode, ofOpenssl }) => ({
    format,
    key,
    where,
    'per CPU second': Math.round(perSecond),
    'per clock second': Math.round(perClockSecond),
    'p50 ms': Number(p50.toFixed(3)),
    'p99 ms': Number(p99.toFixed(3)),
    'of crypto.sign': ofNode === null ? '' : `${Math.round(ofNode * 100)} %`,
    'of openssl': ofOpenssl === null ? '' : `${Math.round(ofOpenssl * 100)} %`,
  })),
);
const json = JSON.stringify(result, null, 2);
if (values.out === undefined) console.log(json);
else writeFileSync(values.out, `${json}\n`);
