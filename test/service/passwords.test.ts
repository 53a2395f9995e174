/** Passwords of encrypted PDFs: of one upload by header, of a profile by configuration; kept encrypted and in no log. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import ava from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { pki } from '../pki/pki.ts';
import { runTool, withTools } from '../verifiers/tool.ts';
import { Service, temporaryRoot } from './service.ts';
import { localProfile } from './signing/profiles.ts';

const test = withTools(ava, 'qpdf');

const PASSWORD = 'Geheimnis-für-Tests-42';

async function encryptedPdf(folder: string): Promise<Buffer> {
  const clear = join(folder, 'clear.pdf');
  const path = join(folder, 'encrypted.pdf');
  await writeFile(clear, samplePdf());
  await runTool('qpdf', [
    '--password-mode=unicode',
    '--encrypt',
    PASSWORD,
    'owner',
    '256',
    '--',
    clear,
    path,
  ]);
  return readFile(path);
}

/** Every file below a folder that holds the text, as bytes of any encoding that keeps ASCII. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

test.serial(
  'an encrypted PDF is signed with the password of its upload, or of its profile, which no file and no log contains',
  async (t) => {
    const root = await temporaryRoot(t);
    const elsewhere = await temporaryRoot(t);
    const content = await encryptedPdf(elsewhere);
    const signer = pki().signer('p-256');
    const settings = {
      ...(await localProfile(elsewhere, 0, { name: 'plain', signer, members: { Format: 'Pades' } })),
      ...(await localProfile(elsewhere, 1, {
        name: 'known',
        signer,
        members: { Format: 'Pades', 'Pades:Password': PASSWORD },
      })),
    };
    const service = await Service.start(t, { root, settings, faults: 'pool.sign.staged/again.pdf=throw:1' });
    const key = await service.key();
    const upload = async (name: string, profile: string, password?: string): Promise<string> => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(content)]), name);
      const headers = {
        'X-API-Key': key,
        ...(password !== undefined && { 'X-Document-Password': password }),
      };
      const answer = await fetch(`${service.url}/api/files?profile=${profile}`, {
        method: 'POST',
        headers,
        body: form,
      });
      return answer.ok
        ? ((await answer.json()) as { jobId: string }).jobId
        : JSON.stringify(await answer.json());
    };
    const encoded = encodeURIComponent(PASSWORD);
    for (const [name, profile, password] of [
      ['header.pdf', 'plain', encoded],
      ['profile.pdf', 'known', undefined],
    ] as const) {
      const job = await service.finished(await upload(name, profile, password));
      t.is(job.status, 'Completed', `${name}: ${job.errorMessage}`);
      const path = join(root, 'output', job.outputFileName ?? '');
      const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
      const report = await validateFile({ format: 'Pades', path, at: Date.now(), trust, password: PASSWORD });
      t.is(report.indication, 'TOTAL-PASSED');
    }

    const wrong = await service.finished(await upload('wrong.pdf', 'plain', 'Falsches-Wort-77'));
    t.is(wrong.errorCode, 'pdf.encrypted');
    t.false(JSON.stringify(wrong).includes('Falsches-Wort-77'));
    const none = await service.finished(await upload('none.pdf', 'plain'));
    t.regex(none.errorMessage ?? '', /needs a password/);

    // The retry of a failed job still knows it.
    const failed = await service.finished(await upload('again.pdf', 'plain', encoded));
    t.is(failed.status, 'Failed');
    const headers = { 'X-API-Key': key };
    const retried = await fetch(`${service.url}/api/jobs/${failed.id}/retry`, { method: 'POST', headers });
    const { newJobId } = (await retried.json()) as { newJobId: string };
    const again = await service.finished(newJobId);
    t.is(again.status, 'Completed', again.errorMessage ?? '');

    const post = (headers: Record<string, string>, typed?: string) => {
      const form = new FormData();
      if (typed !== undefined) form.append('password', typed);
      form.append('file', new Blob([new Uint8Array(signed)]), 'a.pdf');
      return fetch(`${service.url}/api/validate`, {
        method: 'POST',
        headers: { 'X-API-Key': key, ...headers },
        body: form,
      });
    };
    const signed = await readFile(join(root, 'output', again.outputFileName ?? ''));
    t.regex(await (await post({ 'X-Document-Password': encoded })).text(), /total-passed/);
    t.regex(await (await post({})).text(), /needs a password/);
    t.regex(await (await post({}, '')).text(), /needs a password/);
    t.regex(await (await post({}, PASSWORD)).text(), /total-passed/);
    t.regex(
      await (await post({ 'X-Document-Password': encoded }, 'Falsches-Wort-77')).text(),
      /total-passed/,
    );
    const long = await post({}, 'x'.repeat(128));
    t.like(await long.json(), { status: 400, code: 'validation.body-invalid' });
    const typedInto = await fetch(`${service.url}/validate`, { headers: { 'X-API-Key': key } });
    t.regex(await typedInto.text(), /<input id="password" name="password" type="password"/);
    const file = join(elsewhere, 'signed.pdf');
    await writeFile(file, signed);
    const main = new URL('../../main.js', import.meta.url).pathname;
    const verify = (words: readonly string[]) =>
      spawnSync(process.execPath, [main, 'verify', '--no-chain', ...words, file], {
        env: { ...process.env, PDF_PASSWORD: PASSWORD },
      });
    t.is(verify(['--password-env', 'PDF_PASSWORD']).status, 0);
    t.is(verify([]).status, 1);

    const malformed = await upload('x.pdf', 'plain', '%zz');
    t.regex(malformed, /validation\.body-invalid/);
    t.is(await service.stop(), 0);
    for (const secret of ['Geheimnis-f', 'Falsches-Wort-77']) {
      t.deepEqual(await filesWith(root, secret), []);
      t.false(service.printed.includes(secret));
    }
  },
);
