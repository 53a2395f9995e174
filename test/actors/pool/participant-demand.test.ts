/** The demand of an organization, asked again when the signature of a participant goes into the document. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime/core';
import test from 'ava';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import {
  beginParticipantSigning,
  finishParticipantSigning,
} from '../../../actors/pool/portal/participant-signing.ts';
import type { PortalTaskContext } from '../../../actors/pool/portal/portal-task-context.ts';
import type { PoolTask } from '../../../actors/pool/tasks.ts';
import { blobPath } from '../../../actors/shared/files/blob-placement.ts';
import { DiskSync } from '../../../actors/shared/files/disk-sync.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { authorityOf, type EntryText, listText, providerText } from '../../crypto/trust-lists/own-lists.ts';
import { makeCrl, type Revoked, serialOf } from '../../pki/revocation-answers.ts';

const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'sealwright-asked-again-'));
const blobs = join(folder, 'blobs');
mkdirSync(blobs);

const authority = authorityOf('BE');
let revoked: Revoked = new Map();
const server = createServer((_, response) => {
  const now = Date.now();
  response.end(makeCrl({ issuer: authority, thisUpdate: now - DAY, nextUpdate: now + DAY, revoked }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
test.after.always(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
const crlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.crl`;
const own = { notBefore: Date.now() - 30 * DAY, crlUrl };
const signer = authority.issue(['compliance', 'signature', 'device'], own);
const other = authority.issue(['compliance', 'signature', 'device'], own);

let entries: readonly EntryText[] = [{}];
let hasLists = true;
const lists = () => {
  const providers = providerText(authority.certificate, entries);
  const list = readTrustedList(Buffer.from(listText({ providers, nextUpdate: Date.now() + DAY })));
  return { listOf: () => list };
};
const profiles = {
  byName: new Map([['seal', { anchors: [], choices: {}, services: {} }]]),
  // Nothing is kept, so each question is asked.
  trust: { ...NO_TRUST, revocation: 'soft', allowPrivate: true, cacheMinutes: 0 },
  get lists() {
    return hasLists ? lists : undefined;
  },
};
const thread = {
  profiles,
  clock: systemClock,
  faults: { at: () => Promise.resolve(), atSync: () => {} },
  disk: new DiskSync(),
} as unknown as PortalTaskContext;

const input = join(folder, 'order.xml');
writeFileSync(input, '<order/>');
const place = { documentId: 'd', format: 'Xades', input, signatures: null, profile: 'seal', blobs } as const;
const parameters = { fieldName: '', name: 'Ana', reason: '', contactInfo: null, visible: null, xades: null };
const NONE = { type: null, holder: null, companyIdentifier: null, qualification: null };
let files = 0;

async function begun(by = signer, qualification: 'QESig' | null = 'QESig') {
  const output = join(folder, `state-${++files}`);
  const at = Date.now();
  const result = await beginParticipantSigning(
    {
      ...place,
      task: 'portal.begin',
      certificate: { der: by.certificate.toString('base64') },
      demands: { ...NONE, qualification },
      allowUnproven: false,
      at,
      parameters,
      output,
    },
    thread,
  );
  if (result.begun === undefined) throw new Error(JSON.stringify(result.verdict));
  const state = blobPath(blobs, result.begun.state.sha256);
  const toSign = Buffer.from(result.begun.toBeSigned, 'base64');
  const value = by.key.sign(toSign, { scheme: 'ecdsa', digest: 'sha256' }).toString('base64');
  return { state, value };
}

function finished(
  { state, value }: { readonly state: string; readonly value: string },
  demand: 'QESig' | null = 'QESig',
) {
  const output = join(folder, `signed-${++files}`);
  return finishParticipantSigning(
    { ...place, task: 'portal.finish', state, value, demand, check: null, output },
    thread,
  );
}

test.serial('a certificate that still reaches the demand signs', async (t) => {
  const { output } = await finished(await begun());
  t.true(readFileSync(blobPath(blobs, output.sha256), 'utf8').includes('SignatureValue'));
});

/** Events between the two steps; the code that each ends with. */
const MEANWHILE: { readonly [what: string]: readonly [() => void, string] } = {
  'its service was withdrawn': [
    () => {
      entries = [{ status: 'withdrawn', since: new Date(Date.now() - 1000).toISOString() }, {}];
    },
    'certificate.untrusted',
  ],
  'its service issues for seals alone': [
    () => {
      entries = [{ information: ['ForeSeals'], since: new Date(Date.now() - 1000).toISOString() }, {}];
    },
    'certificate.demand',
  ],
  'it was revoked': [
    () => {
      revoked = new Map([[serialOf(signer.certificate), { at: Date.now() - 60_000, reason: 1 }]]);
    },
    'certificate.revoked',
  ],
  'the lists are gone': [
    () => {
      hasLists = false;
    },
    'certificate.demand',
  ],
};

for (const [what, [happens, code]] of Object.entries(MEANWHILE))
  test.serial(`no signature is made where meanwhile ${what}`, async (t) => {
    t.teardown(() => {
      entries = [{}];
      revoked = new Map();
      hasLists = true;
    });
    const started = await begun();
    happens();
    await t.throwsAsync(finished(started), { code });
    await t.notThrowsAsync(finished(started, null), 'nothing is asked where nothing is demanded');
  });

test.serial('a demand that was raised meanwhile is asked too', async (t) => {
  const advanced = authority.issue(['compliance', 'signature'], own);
  const started = await begun(advanced, null);
  await t.throwsAsync(finished(started), {
    code: 'certificate.demand',
    message: 'QESig is required, and this is AdESig-QC.',
  });
  await t.notThrowsAsync(finished(await begun(other)));
});

test('where a demand asks for revocation answers, the step goes to the threads that wait', (t) => {
  const source = { profiles: [], trust: { ...NO_TRUST, revocation: 'soft' } } as const;
  const { waitsForNetwork } = poolOptions(source, { processing: '', output: '', error: '', faults: '' });
  const isWaiting = (demand: 'QESig' | null) =>
    waitsForNetwork?.({ task: 'portal.finish', profile: 'seal', demand } as unknown as PoolTask);
  t.true(isWaiting('QESig'));
  t.false(isWaiting(null));
});
