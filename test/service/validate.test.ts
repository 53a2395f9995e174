/** `POST /api/validate`: the report of ETSI TS 119 102-2, and the page that says the same. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import type { z } from 'zod';
import { samplePdf } from '../../bench/samples.ts';
import type { validateFile } from '../../contracts/batch/validation.ts';

import { structureFaults } from '../crypto/validation/report-structure.ts';
import { pki } from '../pki/pki.ts';
import { endedAfter } from '../project/ended-after.ts';
import { Service, temporaryRoot } from './service.ts';

const shared = endedAfter(test);
let service: Promise<Service> | undefined;

/** The service of the tests without settings. */
function sharedService(): Promise<Service> {
  service ??= temporaryRoot(shared).then((root) => Service.start(shared, { root }));
  return service;
}

test.serial(
  'an uploaded file is validated in the pool, answered as XML or as a page, and removed',
  async (t) => {
    const service = await sharedService();
    const { root } = service;
    const key = await service.key();
    const { jobId } = await service.upload('a.pdf', samplePdf());
    const job = await service.finished(jobId);
    const signed = await readFile(join(root, 'output', job.outputFileName ?? ''));
    const post = (
      content: Buffer,
      name: string,
      more: Record<string, string> = {},
      fields: Record<string, string> = {},
    ) => {
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      form.append('file', new Blob([new Uint8Array(content)]), name);
      return fetch(`${service.url}/api/validate`, {
        method: 'POST',
        headers: { 'X-API-Key': key, ...more },
        body: form,
      });
    };
    const good = await post(signed, 'a.pdf');
    t.is(good.status, 200);
    t.is(good.headers.get('content-type'), 'application/xml; charset=utf-8');
    const xml = await good.text();
    t.deepEqual(structureFaults(xml), []);
    t.regex(xml, /<MainIndication>urn:etsi:019102:mainindication:total-passed<\/MainIndication>/);

    for (const Accept of ['*/*', 'text/plain, */*', 'application/xml, application/json']) {
      const same = await post(signed, 'a.pdf', { Accept });
      t.is(same.headers.get('content-type'), 'application/xml; charset=utf-8', Accept);
      await same.text();
    }
    for (const Accept of ['application/json', 'application/json, text/plain, */*']) {
      const answer = await post(signed, 'a.pdf', { Accept });
      t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8', Accept);
      const report = (await answer.json()) as z.input<(typeof validateFile.replies)[200][0]>;
      t.like(report, {
        fileName: 'a.pdf',
        format: 'Pades',
        indication: 'TOTAL-PASSED',
        signatures: [{ indication: 'TOTAL-PASSED', subIndication: null, level: 'B', location: null }],
      });
      const [signature] = report.signatures as Record<string, unknown>[];
      // The chain of the own certificate is known also where its revocation is asked for.
      t.deepEqual(Object(signature?.['results']).warnings, []);
      const { validityEnd } = Object(signature?.['certificate']);
      for (const given of [signature?.['signingTime'], signature?.['bestTime'], validityEnd]) {
        const time = String(given);
        t.is(new Date(time).toISOString(), time);
      }
    }

    const changed = Buffer.from(signed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    const bad = await (await post(changed, 'a.pdf')).text();
    t.deepEqual(structureFaults(bad), []);
    t.regex(bad, /total-failed.*HASH_FAILURE/s);

    const page = await post(signed, '<b>.pdf', { Accept: 'text/html' });
    t.regex(page.headers.get('content-type') ?? '', /^text\/html/);
    const html = await page.text();
    t.regex(html, /&lt;b(?:&gt;|>)\.pdf/);
    t.true(html.includes('Valid') && !html.includes('<b>.pdf'));
    const form = await fetch(`${service.url}/validate`, { headers: { 'X-API-Key': key } });
    t.regex(await form.text(), /action="\/api\/validate"/);

    const content = join(root, 'content.pdf');
    const enveloping = join(root, 'content.pdf.p7m');
    await writeFile(content, samplePdf());
    const signer = pki().signer('p-256');
    signFile({ format: 'Cades', input: content, output: enveloping, signer, at: Date.now() });
    const p7m = await readFile(enveloping);
    for (const body of [p7m, Buffer.from(p7m.toString('base64'))]) {
      const text = await (await post(body, 'content.pdf.p7m')).text();
      t.regex(text, /urn:etsi:019102:subindication:NO_CERTIFICATE_CHAIN_FOUND/);
      t.notRegex(text, /NoSignatureFound|HASH_FAILURE/);
    }

    const none = await (await post(samplePdf(), 'b.pdf')).text();
    t.deepEqual(structureFaults(none), []);
    t.regex(none, /NoSignatureFound/);
    for (const [content, fields] of [
      [Buffer.from('plain text'), {}],
      [signed, { format: 'Word' }],
    ] as const) {
      const refused = await post(content, 'a.txt', {}, fields);
      t.like(await refused.json(), { status: 400, code: 'upload.format-unsupported' });
    }
    t.is((await fetch(`${service.url}/api/validate`, { method: 'POST' })).status, 401);
    t.deepEqual(await readdir(join(root, 'input')), []);
  },
);

test.serial('a detached signature is validated over the content parts that follow it', async (t) => {
  const root = await temporaryRoot(t);
  const settings = { 'Signing:Trust:Roots:0': pki().rootFile, 'Signing:Trust:Revocation': 'None' };
  const service = await Service.start(t, { root, settings });
  const key = await service.key();
  const input = join(root, 'order.txt');
  const output = join(root, 'order.p7s');
  await writeFile(input, 'ten pieces');
  const signer = pki().signer('p-256');
  signFile({ format: 'Cades', input, output, signer, at: Date.now(), cades: { detached: true } });
  const signature = await readFile(output);
  const post = async (contents: readonly (readonly [name: string, text: string])[], first = signature) => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(first)]), 'order.p7s');
    for (const [name, text] of contents) form.append('content', new Blob([text]), name);
    const headers = { 'X-API-Key': key };
    const answer = await fetch(`${service.url}/api/validate`, { method: 'POST', headers, body: form });
    const xml = await answer.text();
    if (answer.status === 200) t.deepEqual(structureFaults(xml), []);
    const digest = (text: string) => createHash('sha256').update(text).digest('base64');
    const [, objects = ''] = /<SignersDocumentRef VOReference="([^"]*)"/.exec(xml) ?? [];
    const named = objects
      .split(' ')
      .map((id) => xml.match(new RegExp(`id="${id}".*?<ds:DigestValue>([^<]*)<`))?.[1]);
    t.deepEqual(
      named.slice(0, contents.length),
      contents.map(([, text]) => digest(text)),
    );
    return /mainindication:(total-passed|total-failed|indeterminate)<\/MainIndication>(?![\s\S]*mainindication:(?:total|indet))/.exec(
      xml,
    )?.[1];
  };
  const postUnnamed = async (content: string) => {
    const part = (name: string, fileName: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(part('file', 'order.p7s')),
      signature,
      Buffer.from(`\r\n${part('content', '')}${content}\r\n--b--\r\n`),
    ]);
    const headers = { 'X-API-Key': key, 'Content-Type': 'multipart/form-data; boundary=b' };
    return (await fetch(`${service.url}/api/validate`, { method: 'POST', headers, body })).status;
  };
  t.is(await post([]), 'indeterminate');
  t.is(await post([['order.txt', 'ten pieces']]), 'total-passed');
  // A page sends an empty file input so.
  t.is(await postUnnamed(''), 200);
  t.is(await postUnnamed('ten pieces'), 400);
  t.is(
    await post([
      ['a.txt', 'another'],
      ['order.txt', 'ten pieces'],
    ]),
    // Nothing signs the other file, so the whole does not pass.
    'indeterminate',
  );
  t.is(await post([['order.txt', 'ten Pieces']]), 'total-failed');
  t.is(
    await post([
      ['a.txt', 'another'],
      ['b.txt', 'ten pieces '],
    ]),
    'total-failed',
  );
  const equalNames = new FormData();
  equalNames.append('file', new Blob([new Uint8Array(signature)]), 'order.p7s');
  for (const name of ['a.txt', 'A.TXT']) equalNames.append('content', new Blob(['x']), name);
  const twice = await fetch(`${service.url}/api/validate`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
    body: equalNames,
  });
  t.like(await twice.json(), { status: 400, code: 'upload.invalid-name' });
  const twoSigned = new FormData();
  for (const name of ['order.p7s', 'other.p7s'])
    twoSigned.append('file', new Blob([new Uint8Array(signature)]), name);
  const refused = await fetch(`${service.url}/api/validate`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
    body: twoSigned,
  });
  t.like(await refused.json(), { status: 400, code: 'upload.too-many-files' });
  t.deepEqual(await readdir(join(root, 'input')), []);
});

test.serial('a certificate sent beside the file is found for a signature that holds none', async (t) => {
  const service = await sharedService();
  const key = await service.key();
  const send = async (certificates?: string) => {
    const form = new FormData();
    if (certificates !== undefined) form.append('certificates', certificates);
    form.append('file', new Blob([new Uint8Array(await readFile(`${VERDICTS}/nocerts.p7m`))]), 'nocerts.p7m');
    const answer = await fetch(`${service.url}/api/validate`, {
      method: 'POST',
      headers: { 'X-API-Key': key, Accept: 'application/json' },
      body: form,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const certificate = await readFile(`${VERDICTS}/rsa.crt`, 'utf8');
  t.like((await send()).body, { signatures: [{ subIndication: 'NO_SIGNING_CERTIFICATE_FOUND' }] });
  // Found; its root is none of this service.
  t.like((await send(certificate)).body, {
    signatures: [{ subIndication: 'NO_CERTIFICATE_CHAIN_FOUND', certificate: { subjectName: 'Ana rsa' } }],
  });
  t.like(await send('no certificate'), { status: 400, body: { code: 'validation.body-invalid' } });
  t.like(await send(`${certificate}${'x'.repeat(33_000)}`), { status: 400 });
});

const VERDICTS = 'test/fixtures/verdicts';

test.serial('verify --report prints the same report', async (t) => {
  const service = await sharedService();
  const { root } = service;
  const { jobId } = await service.upload('a.xml', '<order/>');
  const job = await service.finished(jobId);
  const main = new URL('../../main.js', import.meta.url).pathname;
  const file = join(root, 'output', job.outputFileName ?? '');
  const xml = execFileSync(
    process.execPath,
    [main, 'verify', '--report', '--trust', join(root, 'keys', 'development-ca.pem'), file],
    {
      encoding: 'utf8',
    },
  );
  t.deepEqual(structureFaults(xml), []);
  t.regex(xml, /total-passed/);
});
