import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { startAuthority } from '../pki/authority.ts';

const MAIN = fileURLToPath(import.meta.resolve('#crypto/command-line/main.js'));
const PEM = (label: string, der: Uint8Array) =>
  `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`;

function run(cwd: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...words],
      { cwd, env: { ...process.env, ...env } },
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

test('the command line signs, extends and verifies files of every format', async (t) => {
  const authority = await startAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-command-'));
  t.teardown(async () => {
    rmSync(folder, { recursive: true, force: true });
    await authority.close();
  });
  const signer = authority.pki.signer('p-256');
  const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'word' } as const;
  const key = createPrivateKey(signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, 'key.pem'), key.export(cipher));
  writeFileSync(join(folder, 'word.txt'), 'word\n');
  writeFileSync(
    join(folder, 'certificate.pem'),
    [signer.certificate, ...signer.chain].map((der) => PEM('CERTIFICATE', der)).join(''),
  );
  const [root = Buffer.alloc(0)] = authority.trust.anchors;
  writeFileSync(join(folder, 'root.pem'), PEM('CERTIFICATE', root));
  writeFileSync(join(folder, 'a.pdf'), samplePdf());
  writeFileSync(join(folder, 'a.xml'), '<order><item/></order>');
  writeFileSync(join(folder, 'a.txt'), 'any file');
  const trust = ['--trust', 'root.pem', '--allow-private'];
  const made = ['--key', 'key.pem', '--certificate', 'certificate.pem'];
  const byEnv = ['--key-password-env', 'WORD'];
  const tsa = ['--timestamp-url', authority.timestampUrl];

  const signed = await run(
    folder,
    ['sign', 'a.pdf', 'a.xml', 'a.txt', ...made, ...byEnv, '--level', 'B-T', ...tsa, ...trust],
    { WORD: 'word' },
  );
  const help = await run(folder, ['sign', 'a.pdf', '--help']);
  t.like(help, { code: 0, err: '' });
  t.true(help.out.startsWith('Usage: sealwright-signatures <command>'));
  t.deepEqual(signed, { code: 0, out: 'a.signed.pdf\na.signed.xml\na.txt.p7m\n', err: '' });
  const container = ['--container', 'E', '--out', 'all.asice', '--key-password-file', 'word.txt'];
  const contained = await run(folder, ['sign', 'a.pdf', 'a.txt', ...made, ...container]);
  t.deepEqual(contained, { code: 0, out: 'all.asice\n', err: '' });

  const files = ['a.signed.pdf', 'a.signed.xml', 'a.txt.p7m'];
  const extended = await run(folder, ['extend', ...files, '--level', 'B-LT', ...tsa, ...trust]);
  t.is(extended.code, 0, extended.err);
  const outputs = ['a.signed.extended.pdf', 'a.signed.extended.xml', 'a.txt.extended.p7m'];
  t.is(extended.out, `${outputs.join('\n')}\n`);
  const verified = await run(folder, ['verify', ...outputs, 'all.asice', '--revocation', 'none', ...trust]);
  t.is(verified.code, 0, verified.out);
  t.is([...verified.out.matchAll(/^good {2}/gm)].length, 4);
  t.is([...verified.out.matchAll(/level LT$/gm)].length, 3);

  const changed = readFileSync(join(folder, 'a.signed.xml'), 'utf8').replace('<item/>', '<other/>');
  writeFileSync(join(folder, 'changed.xml'), changed);
  const broken = await run(folder, ['verify', 'changed.xml', ...trust]);
  t.is(broken.code, 1);
  t.regex(broken.out, /^BAD {3}changed\.xml .*TOTAL-FAILED/);

  const again = await run(folder, ['sign', 'a.txt', ...made, ...byEnv], { WORD: 'word' });
  t.is(again.code, 1);
  t.is(again.err, 'a.txt: a.txt.p7m exists already. (output.exists)\n');
  for (const [words, message] of [
    [['sign', 'a.txt', ...made, ...byEnv], /The password does not open the private key/],
    [['sign', 'a.txt', ...made], /encrypted and no password/],
    [['sign', 'a.txt', ...made], /--key-password-env or --key-password-file/],
    [['sign', 'a.txt', '--key', 'key.pem', ...byEnv], /A private key takes --certificate/],
    [['sign', 'a.txt', ...made, ...byEnv, '--level', 'B-T'], /--level B-T takes --timestamp-url/],
    [['sign', 'a.txt', ...made, '--password', 'word'], /Unknown option '--password'/],
    [['sign', 'a.txt', '--level', 'B-X'], /--level is one of B-B, B-T, B-LT, B-LTA/],
    [['extend', 'a.signed.pdf'], /--timestamp-url is missing/],
    [['verify'], /Name at least one file/],
    [[], /Usage: sealwright-signatures/],
  ] as const) {
    const refused = await run(folder, words, { WORD: 'another' });
    t.is(refused.code, 2, words.join(' '));
    t.regex(refused.err, message);
  }
  t.false(existsSync(join(folder, 'a.signed.extended.extended.pdf')));
});
