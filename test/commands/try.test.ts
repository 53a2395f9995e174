import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { pki } from '../pki/pki.ts';
import { pdfsig } from '../verifiers/index.ts';
import { freePort } from './free-port.ts';
import { freshFolder, run, start } from './program.ts';

test('try makes a document, signs it with the code of the mail, verifies it, and prints working page addresses', async (t) => {
  const cwd = freshFolder();
  const words = [
    `--Batch:Url=http://127.0.0.1:${await freePort()}`,
    `--Portal:Url=http://127.0.0.1:${await freePort()}`,
  ];
  const early = await run(cwd, ['try', ...words]);
  t.is(early.code, 3);
  t.regex(early.err, /Start it in another terminal: node \S*dist\/main\.js serve\n/);

  const program = start(cwd, ['serve', ...words]);
  t.teardown(() => program.child.kill('SIGKILL'));
  await program.says(/\[INF\] Ready/);
  const { code, out, err } = await run(cwd, ['try']);
  t.is(code, 0, out + err);
  t.regex(out, /The code \d{6} was read from the e-mail/);
  t.regex(out, /data\/sample-contract-signed\.pdf is good: 1 signature, trusted: the development authority/);
  const urls = out.match(/http:\/\/\S+/g) ?? [];
  t.is(urls.length, 4, out);
  for (const url of urls) {
    const answer = await fetch(url);
    t.is(answer.status, 200, url);
    t.regex(await answer.text(), /^<!doctype html>/);
  }
  const signed = join(cwd, 'data/sample-contract-signed.pdf');
  t.true(existsSync(signed));
  const [verdict] = await pdfsig(signed, pki());
  t.is(verdict?.signature, 'Signature is Valid.');
  t.is((await run(cwd, ['verify', 'data/sample-contract-signed.pdf'])).code, 0);
});

test('commands reach a service with a certificate for its public host, AllowedHosts and a path', async (t) => {
  const cwd = freshFolder();
  const pair = ['-keyout', join(cwd, 'tls.key'), '-out', join(cwd, 'tls.pem')];
  const kind = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '1'];
  execFileSync('openssl', ['req', ...kind, ...pair, '-subj', '/CN=sign.example'], { stdio: 'ignore' });
  const words = [
    '--Batch:Url=https://127.0.0.1:0',
    '--Portal:Url=https://127.0.0.1:0',
    '--Portal:PublicUrl=https://sign.example/sign',
    '--Hosting:Tls:CertificatePath=tls.pem',
    '--Hosting:Tls:KeyPath=tls.key',
    '--Hosting:RequireHttps=true',
    '--AllowedHosts=sign.example',
  ];
  const program = start(cwd, ['serve', ...words]);
  t.teardown(() => program.child.kill('SIGKILL'));
  await program.says(/\[INF\] Ready/);
  for (const command of [['try'], ['keys', 'service', 'list']]) {
    const { code, out, err } = await run(cwd, [...command, ...words]);
    t.is(code, 0, `${command.join(' ')}: ${out}${err}`);
  }
});
