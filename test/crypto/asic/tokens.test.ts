/** Containers with time-stamp tokens instead of signatures, and with evidence records. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { manifestText } from '#crypto/asic/manifest.js';
import {
  authority,
  file,
  type HandMade,
  handMade,
  made,
  ORDER,
  REPORT,
  remade,
  validated,
} from './container-harness.ts';

const mimeType = (kind: 's' | 'e'): HandMade => ({
  name: 'mimetype',
  bytes: Buffer.from(`application/vnd.etsi.asic-${kind}+zip`),
});
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
const REPORT_MEMBER: HandMade = { name: 'report.txt', bytes: REPORT };
const OTHER = Buffer.from(REPORT.toString('latin1').replace('One', 'Ten'), 'latin1');

async function tokenOver(bytes: Buffer): Promise<Buffer> {
  const { services } = await authority();
  const token = await services.timestamps?.stamp(sha256(bytes), 'sha256');
  if (token === undefined) throw new Error('no time-stamp authority');
  return token;
}

/** Returns the indication, and the scope of the only entry of the report. */
async function outcome(members: readonly HandMade[], extension = 'asics'): Promise<string> {
  const report = await validated(file(handMade(members), extension));
  const [entry] = report.signatures;
  return [report.indication, entry?.isTimestamp, entry?.scope.description].join(' ');
}

test.serial(
  'a container of one file under a time-stamp token is validated like one under a signature',
  async (t) => {
    const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
    t.is(await outcome([mimeType('s'), REPORT_MEMBER, token]), 'TOTAL-PASSED true report.txt');
    const changed = { ...REPORT_MEMBER, bytes: OTHER };
    t.regex(await outcome([mimeType('s'), changed, token]), /^TOTAL-FAILED|^INDETERMINATE/);
    const broken = { ...token, bytes: Buffer.from('no token') };
    t.regex(await outcome([mimeType('s'), REPORT_MEMBER, broken]), /^TOTAL-FAILED|^INDETERMINATE/);
  },
);

test.serial(
  'a container of several files under a token over a manifest is validated, and each file has to be what is listed',
  async (t) => {
    const proof = { name: 'META-INF/timestamp001.tst', mimeType: 'application/vnd.etsi.timestamp-token' };
    const order = { name: 'order.xml', bytes: ORDER };
    const members = [
      { name: 'report.txt', digest: sha256(REPORT) },
      { name: 'order.xml', digest: sha256(ORDER) },
    ];
    const bytes = Buffer.from(manifestText({ proof, digest: 'sha256', members }));
    const manifest = { name: 'META-INF/ASiCManifest001.xml', bytes };
    const token = { name: proof.name, bytes: await tokenOver(bytes) };
    const honest = [mimeType('e'), REPORT_MEMBER, order, manifest, token];
    t.is(await outcome(honest, 'asice'), 'TOTAL-PASSED true report.txt, order.xml');
    const changed = honest.map((one) => (one === REPORT_MEMBER ? { ...one, bytes: OTHER } : one));
    t.regex(await outcome(changed, 'asice'), /^TOTAL-FAILED/);
    const added = [...honest, { name: 'more.txt', bytes: REPORT }];
    t.regex(await outcome(added, 'asice'), /^INDETERMINATE|^TOTAL-FAILED/);
  },
);

test.serial('an evidence record is reported by name and not evaluated', async (t) => {
  const path = await made('E', 'Cades');
  const record = { name: 'META-INF/evidencerecord001.ers', bytes: Buffer.from('record') };
  const report = await validated(remade(path, (members) => [...members, record]));
  t.is(report.indication, 'TOTAL-PASSED');
  const [warning] = report.results.warnings.filter(({ type }) => type === 'evidence-record');
  t.is(warning?.detail, record.name);
  t.regex(warning?.message ?? '', /not evaluated/);
});
