import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import ava from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { startAuthority, type TestAuthority } from '../pki/authority.ts';
import { opensslCms, withTools } from '../verifiers/index.ts';

const test = withTools(ava, 'openssl');

const run = promisify(execFile);
const PAGES = ['README', 'keys', 'levels', 'visible'];

/** A folder with the files that the guide and the examples name. */
async function prepared(authority: TestAuthority): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-guide-'));
  const pem = (der: Uint8Array) =>
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`;
  const signer = authority.pki.signer('p-256');
  writeFileSync(join(folder, 'key.pem'), signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, 'certificate.pem'), [signer.certificate, ...signer.chain].map(pem).join(''));
  writeFileSync(join(folder, 'roots.pem'), authority.trust.anchors.map(pem).join(''));
  await run(
    'openssl',
    [
      'pkcs12',
      '-export',
      '-inkey',
      'key.pem',
      '-in',
      'certificate.pem',
      '-out',
      'key.p12',
      '-passout',
      'pass:word',
    ],
    { cwd: folder },
  );
  writeFileSync(join(folder, 'contract.pdf'), samplePdf());
  writeFileSync(join(folder, 'order.xml'), '<order><item>1</item></order>');
  writeFileSync(join(folder, 'data.bin'), 'any file');
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('the programs of the guide and the examples run as they are printed', async (t) => {
  const authority = await startAuthority();
  const folder = await prepared(authority);
  t.teardown(async () => {
    rmSync(folder, { recursive: true, force: true });
    await authority.close();
  });
  const names: string[] = [];
  for (const page of PAGES) {
    const text = readFileSync(`docs/signatures/${page}.md`, 'utf8');
    for (const [, block = ''] of text.matchAll(/```js\n(.*?)```/gs)) {
      const name = `${page}-${names.length}.mjs`;
      names.push(name);
      // The authority of the test is at a private address.
      const code = block
        .replace('http://timestamps.example', authority.timestampUrl)
        .replace(
          'createEvidenceSource({ anchors: certificatesIn',
          'createEvidenceSource({ transport: createHttpTransport({ allowPrivate: true }), anchors: certificatesIn',
        )
        .replace(
          'createEvidenceSource, createTimestampAuthority',
          'createEvidenceSource, createHttpTransport, createTimestampAuthority',
        );
      writeFileSync(join(folder, name), code);
    }
  }
  t.is(names.length, 12);
  writeFileSync(
    join(folder, 'all.mjs'),
    names.map((name) => `console.log('${name}'); await import('./${name}');`).join('\n'),
  );
  const env = { ...process.env, KEY_PASSWORD: 'word' };
  const { stdout } = await run(process.execPath, ['all.mjs'], { cwd: folder, env });
  t.regex(stdout, /^TOTAL-PASSED \[/m, stdout);
  t.regex(stdout, /^Asic .+$/m);
  t.regex(stdout, /^%PDF-$/m);
  t.regex(readFileSync(join(folder, 'report.xml'), 'utf8'), /ValidationReport/);
  for (const file of ['contract.remote.pdf', 'contract.later.pdf', 'contract.visible.pdf'])
    t.is(readFileSync(join(folder, file)).subarray(0, 5).toString(), '%PDF-', file);
  const detached = { signature: join(folder, 'data.bin.p7s'), content: join(folder, 'data.bin') };
  const { ok, text } = await opensslCms({ ...detached, ca: authority.pki.rootFile });
  t.true(ok, text);

  const example = (name: string) => join(process.cwd(), 'examples', name);
  rmSync(join(folder, 'contract.signed.pdf'));
  const signing = [example('sign-pdf.mjs'), 'contract.pdf', 'key.p12', 'roots.pem', authority.timestampUrl];
  const signed = await run(process.execPath, signing, { cwd: folder, env });
  t.is(signed.stdout, 'contract.signed.pdf: TOTAL-PASSED, level T\n');

  const server = spawn(process.execPath, [example('validation-handler.mjs'), 'roots.pem', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => server.kill());
  const [address] = (await once(createInterface(server.stdout), 'line')) as [string];
  const ask = async (body: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(address, { method: 'POST', body });
    return (await response.json()) as { readonly valid: boolean; readonly signers: readonly unknown[] };
  };
  const file = new Uint8Array(readFileSync(join(folder, 'contract.signed.pdf')));
  t.true((await ask(file)).valid);
  file[200] = (file[200] ?? 0) ^ 1;
  const changed = await ask(file);
  t.false(changed.valid);
});
