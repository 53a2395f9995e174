import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { freshFolder, run, start } from './program.ts';

/** A folder in which the program itself has signed `hello.txt`. */
async function signedHello(): Promise<{ cwd: string; file: string }> {
  const cwd = freshFolder();
  const words = ['--Batch:Url=http://127.0.0.1:0', '--WatchedFolder:StabilityPollIntervalMs=50'];
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

test('verify accepts what the service signed, with the chain when a root is given, and refuses a changed copy', async (t) => {
  const { cwd, file } = await signedHello();
  const good = await run(cwd, ['verify', file]);
  t.is(good.code, 0, good.out + good.err);
  t.regex(good.out, /^good {2}data\/output\/hello\.signed\.txt {2}Cades, 1 signature/);
  t.regex(good.out, /no --trust given/);

  const trusted = await run(cwd, ['verify', '--json', '--trust', 'data/keys/development-ca.pem', file]);
  const report = JSON.parse(trusted.out) as {
    ok: boolean;
    chainChecked: boolean;
    files: { checks: { ok: boolean }[] }[];
  };
  t.is(trusted.code, 0);
  t.true(report.ok && report.chainChecked);
  t.true((report.files[0]?.checks.length ?? 0) > 3);

  const bytes = readFileSync(join(cwd, file));
  const at = bytes.indexOf('Hello');
  t.true(at > 0);
  bytes[at] = 'J'.charCodeAt(0);
  writeFileSync(join(cwd, 'changed.txt'), bytes);
  const changed = await run(cwd, ['verify', file, 'changed.txt']);
  t.is(changed.code, 1);
  t.regex(changed.out, /^good {2}/m);
  t.regex(changed.out, /^BAD {3}changed\.txt/m);
  t.regex(changed.out, /FAIL/);
});

test('verify answers for files that are missing or unsigned with exit code 1 and a reason each', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'a.txt'), 'not signed');
  writeFileSync(join(cwd, 'b.xml'), '<a/>');
  writeFileSync(join(cwd, 'c.pdf'), '%PDF-1.4 broken');
  const { code, out } = await run(cwd, ['verify', '--json', 'a.txt', 'b.xml', 'c.pdf', 'missing.pdf']);
  const { ok, files } = JSON.parse(out) as {
    ok: boolean;
    files: { ok: boolean; format: string; error: { code: string } | null; checks: { ok: boolean }[] }[];
  };
  t.is(code, 1);
  t.false(ok);
  t.deepEqual(
    files.map(({ format }) => format),
    ['Cades', 'Xades', 'Pades', 'Pades'],
  );
  for (const file of files) t.true(file.error !== null || file.checks.some((check) => !check.ok));
});

test('a trust file without certificates is refused with exit code 2', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'empty.pem'), 'nothing');
  const { code, err } = await run(cwd, ['verify', '--trust', 'empty.pem', 'x.pdf']);
  t.is(code, 2);
  t.regex(err, /empty\.pem holds no readable certificate/);
});
