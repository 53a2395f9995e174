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
