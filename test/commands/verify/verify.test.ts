import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signFile, type ValidationReport } from '@sealwright/signatures';
import { verifyFiles } from '@sealwright/signatures/command-line';
import test from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import { counterSignXades } from '#crypto/xades/counter-sign.js';
import { signXades } from '#crypto/xades/sign.js';
import { compareIndependently } from '../../../commands/command-line/file-commands.ts';
import { pki } from '../../pki/pki.ts';
import { freshFolder, run, start } from '../program.ts';

/** A folder in which the program itself has signed `hello.txt`. */
async function signedHello(): Promise<{ cwd: string; file: string }> {
  const cwd = freshFolder();
  const words = [
    '--Batch:Url=http://127.0.0.1:0',
    '--Portal:Enabled=false',
    '--WatchedFolder:StabilityPollIntervalMs=50',
  ];
  const program = start(cwd, words);
  await program.says(/\[INF\] Ready/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(program.out())?.[0] ?? '';
  const headers = { 'X-API-Key': readFileSync(join(cwd, 'data/keys/api-key'), 'utf8').trim() };
  const form = new FormData();
  form.append('file', new Blob(['Hello\n']), 'hello.txt');
  const accepted = await fetch(`${url}/api/files`, { method: 'POST', headers, body: form });
  const { jobId } = (await accepted.json()) as { jobId: string };
  for (;;) {
    const job = (await (await fetch(`${url}/api/jobs/${jobId}`, { headers })).json()) as { status: string };
    if (job.status === 'Completed') break;
    if (job.status === 'Failed') throw new Error(JSON.stringify(job));
  }
  program.child.kill('SIGTERM');
  await program.ended;
  return { cwd, file: 'data/output/hello.signed.txt' };
}

test('verify accepts an output of the service by content, below a given root and the root of the service, and refuses a changed copy', async (t) => {
  const { cwd, file } = await signedHello();
  const trust = ['--trust', 'data/keys/development-ca.pem'];
  const good = await run(cwd, ['verify', ...trust, file]);
  t.is(good.code, 0, good.out + good.err);
  t.regex(good.out, /^good {2}data\/output\/hello\.signed\.txt {2}Cades, 1 signature {2}TOTAL-PASSED/);
  t.regex(good.out, /signer 1 {2}TOTAL-PASSED {2}level B/);
  t.regex(good.out, /issued by {3}.*development/i);

  const own = await run(cwd, ['verify', file]);
  t.is(own.code, 0, own.out + own.err);
  t.regex(
    own.out,
    /no --trust given: trusted: the development authority of this installation \(data\/keys\//,
  );
  // The name says nothing about the content.
  copyFileSync(join(cwd, file), join(cwd, 'hello.pdf'));
  const renamed = await run(cwd, ['verify', 'hello.pdf']);
  t.regex(renamed.out, /^good {2}hello\.pdf {2}Cades/);

  const nobody = await run(freshFolder(), ['verify', join(cwd, file)]);
  t.is(nobody.code, 1);
  t.regex(nobody.out, /^BAD {3}.*INDETERMINATE/);
  t.regex(nobody.out, /INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND/);
  t.regex(nobody.out, /no --trust given: nobody is trusted/);
  const intact = await run(cwd, ['verify', '--no-chain', file]);
  t.is(intact.code, 0);
  t.regex(intact.out, /^good {2}/);
  t.regex(intact.out, /--no-chain: whose certificate it is was not checked/);

  const bytes = readFileSync(join(cwd, file));
  const at = bytes.indexOf('Hello');
  t.true(at > 0);
  bytes[at] = 'J'.charCodeAt(0);
  writeFileSync(join(cwd, 'changed.txt'), bytes);
  const changed = await run(cwd, ['verify', ...trust, file, 'changed.txt']);
  t.is(changed.code, 1);
  t.regex(changed.out, /^good {2}/m);
  t.regex(changed.out, /^BAD {3}changed\.txt.*TOTAL-FAILED/m);
  t.regex(changed.out, /FAIL {2}The content has another digest/);

  const json = await run(cwd, ['verify', '--json', ...trust, file, 'changed.txt']);
  t.is(json.code, 1);
  const printed = JSON.parse(json.out) as Printed;
  t.false(printed.ok);
  t.deepEqual(
    printed.files.map(({ ok, report }) => [ok, report?.indication, report?.signatures[0]?.subIndication]),
    [
      [true, 'TOTAL-PASSED', undefined],
      [false, 'TOTAL-FAILED', 'HASH_FAILURE'],
    ],
  );
  t.true((printed.files[0]?.report?.signatures[0]?.results.passedChecks.length ?? 0) > 5);

  const early = await run(cwd, ['verify', '--at', '2020-01-01T00:00:00Z', ...trust, file]);
  t.is(early.code, 1);
  t.regex(early.out, /TOTAL-FAILED: NOT_YET_VALID/);
});

interface Printed {
  readonly ok: boolean;
  readonly files: readonly {
    readonly ok: boolean;
    readonly format: string;
    readonly report: ValidationReport | null;
    readonly error: { readonly code: string } | null;
  }[];
}

test('a failed counter-signature ends verify with exit code 1, and the signature below it stays valid', async (t) => {
  const cwd = freshFolder();
  const [input, signed, output] = ['in.xml', 'signed.xml', 'countered.xml'].map((name) => join(cwd, name));
  if (input === undefined || signed === undefined || output === undefined) return t.fail();
  writeFileSync(input, '<order>100</order>');
  const at = Date.now();
  const signer = pki().signer('p-256');
  signXades({ format: 'Xades', input, output: signed, signer, at });
  await counterSignXades({ input: signed, output, signer: pki().signer('rsa-2048'), at });
  const trust = ['--trust', pki().rootFile];
  const honest = await run(cwd, ['verify', '--json', ...trust, output]);
  t.is(honest.code, 0, honest.out + honest.err);

  const text = readFileSync(output, 'utf8');
  const counter = text.indexOf(':CounterSignature');
  const value = text.indexOf(':SigningTime>20', counter) + ':SigningTime>'.length;
  t.true(counter > 0 && value > counter);
  writeFileSync(output, `${text.slice(0, value)}19${text.slice(value + 2)}`);
  for (const options of [trust, ['--no-chain']]) {
    const forged = await run(cwd, ['verify', '--json', ...options, output]);
    t.is(forged.code, 1);
    const [report] = (JSON.parse(forged.out) as Printed).files.map((file) => file.report);
    t.is(report?.indication, 'TOTAL-FAILED');
    const [signature] = report?.signatures ?? [];
    if (options === trust) t.is(signature?.indication, 'TOTAL-PASSED');
    t.true(signature?.results.warnings.some(({ type }) => type === 'counter-signature'));
    t.is(signature?.counterSignatures[0]?.subIndication, 'HASH_FAILURE');
  }
});

test('verify ends with exit code 1 and a reason for each missing or unsigned file', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'a.txt'), 'not signed');
  writeFileSync(join(cwd, 'b.xml'), '<a/>');
  writeFileSync(join(cwd, 'c.pdf'), '%PDF-1.4 broken');
  writeFileSync(join(cwd, 'd.xml'), '');
  const { code, out } = await run(cwd, [
    'verify',
    '--json',
    'a.txt',
    'b.xml',
    'c.pdf',
    'missing.pdf',
    'd.xml',
  ]);
  const { ok, files } = JSON.parse(out) as Printed;
  t.is(code, 1);
  t.false(ok);
  t.deepEqual(
    files.map(({ format }) => format),
    ['Cades', 'Xades', 'Pades', 'Pades', 'Xades'],
  );
  for (const file of files) {
    t.false(file.ok);
    t.true(file.error !== null || file.report?.results.isValid === false);
  }
  t.deepEqual(
    files.map(({ error }) => error?.code),
    [undefined, undefined, undefined, 'input.unreadable', 'input.empty'],
  );
  const integrity = await run(cwd, ['verify', '--no-chain', 'a.txt', 'b.xml', 'c.pdf']);
  t.is(integrity.code, 1);
  t.is(integrity.out.match(/^BAD/gm)?.length, 3);
});

test('a trust file without certificates is refused with exit code 2', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'empty.pem'), 'nothing');
  for (const option of ['--trust', '--intermediates']) {
    const { code, err } = await run(cwd, ['verify', option, 'empty.pem', 'x.pdf']);
    t.is(code, 2);
    t.regex(err, /empty\.pem holds no readable certificate/);
  }
});

test('a trust file is read without the certificates in it whose key is of a kind that is not known', async (t) => {
  const cwd = freshFolder();
  const known = pki().root.certificate;
  const unknown = Buffer.from(pki().otherRoot.certificate);
  unknown.writeUInt8(0x7f, unknown.indexOf('2a8648ce3d0201', 0, 'hex') + 6);
  const bundle = [unknown, known].map((der) => certificatePem(der)).join('');
  writeFileSync(join(cwd, 'bundle.pem'), bundle);
  writeFileSync(join(cwd, 'unknown.pem'), certificatePem(unknown));
  writeFileSync(join(cwd, 'a.txt'), 'a');
  const some = await run(cwd, ['verify', '--trust', 'bundle.pem', 'a.txt']);
  t.is(some.code, 1);
  t.regex(some.err, /bundle\.pem: 1 of 2 certificates cannot be read/);
  const none = await run(cwd, ['verify', '--trust', 'unknown.pem', 'a.txt']);
  t.is(none.code, 2);
  t.regex(none.err, /unknown\.pem holds no readable certificate: .*not supported/);
});

for (const words of [
  ['--at', 'yesterday'],
  ['--revocation', 'maybe'],
]) {
  test(`verify refuses the usage ${words.join(' ')} with exit code 2`, async (t) => {
    const { code, err } = await run(freshFolder(), ['verify', ...words, 'x.pdf']);
    t.is(code, 2);
    t.true(err.length > 0);
  });
}

test('verify --independent reports the agreement of a second implementation, and the checks it cannot do', async (t) => {
  const cwd = freshFolder();
  const signer = pki().signer('p-256');
  const at = Date.now();
  for (const [name, content] of [
    ['a.xml', '<order/>'],
    ['b.xml', '<order><?note x?></order>'],
  ] as const) {
    writeFileSync(join(cwd, `in-${name}`), content);
    signFile({ format: 'Xades', input: join(cwd, `in-${name}`), output: join(cwd, name), signer, at });
  }
  const agreed = await run(cwd, ['verify', '--no-chain', '--independent', 'a.xml']);
  t.is(agreed.code, 0, agreed.out + agreed.err);
  t.regex(agreed.out, /an independent implementation agrees/);
  const other = await run(cwd, ['verify', '--no-chain', '--independent', '--json', 'b.xml']);
  t.is(other.code, 0, other.out + other.err);
  t.like(JSON.parse(other.out), { files: [{ ok: true, independent: { verdict: 'not-comparable' } }] });
});

test('verify fails a file that the engine accepts and the second implementation refuses', async (t) => {
  const cwd = freshFolder();
  const [good, other] = ['a.xml', 'b.xml'].map((name) => join(cwd, name));
  const lines: string[] = [];
  const signer = pki().signer('p-256');
  writeFileSync(join(cwd, 'in.xml'), '<order/>');
  signFile({ format: 'Xades', input: join(cwd, 'in.xml'), output: good ?? '', signer, at: Date.now() });
  writeFileSync(other ?? '', readFileSync(good ?? '', 'utf8').replace('<order>', '<order a="b">'));
  const { validateFile } = await import('@sealwright/signatures');
  const compare = compareIndependently(Date.now());
  const code = await verifyFiles(
    [good ?? ''],
    {
      json: false,
      format: undefined,
      trust: [],
      intermediates: [],
      content: undefined,
      chain: false,
      revocation: 'none',
      at: Date.now(),
    },
    { out: (text) => lines.push(text), err: (text) => lines.push(text), colors: false },
    {
      validate: validateFile,
      // The second implementation is shown the changed copy.
      compareWith: (report) => compare(report, other ?? '', undefined),
    },
  );
  t.is(code, 1);
  t.regex(lines.join(''), /^BAD {3}.*\n(.*\n)*.*FAIL {2}an independent implementation disagrees/);
});
