import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { SCHEMA_VERSION, STORE_FORMAT } from '@sealwright/runtime/core';
import test, { type ExecutionContext } from 'ava';
import { freshFolder, run, start, startStubborn } from './program.ts';

const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

test('help and version are given with exit code 0', async (t) => {
  const cwd = freshFolder();
  for (const words of [
    ['--help'],
    ['serve', '--help'],
    ['check-config', '--help'],
    ['verify', '--help'],
    ['decrypt', '--help'],
    ['bench', '--help'],
  ]) {
    const { code, out, err } = await run(cwd, words);
    t.is(code, 0, words.join(' '));
    t.regex(out, /Usage: sealwright/);
    t.notRegex(out, /default: (false|\[\])/);
    t.is(err, '');
  }
  t.is(
    (await run(cwd, ['--version'])).out,
    `${version} (store format ${STORE_FORMAT}, PostgreSQL schema ${SCHEMA_VERSION})\n`,
  );
  t.deepEqual(readdirSync(cwd), []);
});

/** Runs a line of code before the program. */
const before = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});

test('an old Node is told which one is needed, by the entry alone, which it can parse', async (t) => {
  const old = before('Object.defineProperty(process.versions, "node", { value: "18.20.8" })');
  for (const words of [['serve'], ['--version']]) {
    const { code, out, err } = await run(freshFolder(), words, old);
    t.deepEqual([code, out], [1, '']);
    t.regex(err, /^sealwright needs Node 20\.19 or newer; this is Node 18\.20\.8\.\n$/);
  }
  for (const name of ['main.js', 'commands/oldest-node.js'])
    t.notRegex(readFileSync(join('dist', name), 'utf8'), /\?\.|\?\?|^await |from 'node:/m, name);
});

test('a store binary that needs a newer C library is named without a stack trace', async (t) => {
  const cwd = freshFolder();
  const code = `const load = process.dlopen; process.dlopen = (...given) => {
    if (!given[1].includes('lmdb')) return load.apply(process, given);
    throw Object.assign(new Error("libc.so.6: version 'GLIBC_2.34' not found"), { code: 'ERR_DLOPEN_FAILED' });
  }`;
  for (const words of [['serve'], ['doctor'], ['backup', 'x']]) {
    const ended = await run(cwd, words, before(code));
    t.is(ended.code, 1, words.join(' '));
    t.regex(ended.err, /binary does not load on this system: .*GLIBC_2\.34[\s\S]*glibc 2\.34 or newer/);
    t.notRegex(ended.err, /^ {4}at /m);
  }
});

test('where no uWebSockets binary loads, the service starts on node:http and warns, and doctor says why', async (t) => {
  const cwd = freshFolder();
  const without = before(`const load = process.dlopen; process.dlopen = (...given) => {
    if (!/uws/.test(given[1])) return load.apply(process, given);
    throw Object.assign(new Error("libm.so.6: version 'GLIBC_2.38' not found"), { code: 'ERR_DLOPEN_FAILED' });
  }`);
  const service = start(cwd, ['serve', '--Batch:Url=http://127.0.0.1:0', '--Portal:Enabled=false'], without);
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/Listening/);
  t.regex(service.out(), /node:http serves this address[\s\S]*GLIBC_2\.38/);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(service.out()) ?? [];
  t.is((await fetch(`${url}/api/health`)).status, 200);
  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
  const { out } = await run(cwd, ['doctor'], without);
  t.regex(out, /warning {2}native: node:http serves requests[^\n]*GLIBC_2\.38/);
});

for (const words of [['nonsense'], ['serve', '--nonsense'], ['verify'], ['verify', '--format', 'zip', 'x']]) {
  test(`wrong usage "${words.join(' ')}" ends with exit code 2`, async (t) => {
    const { code, err } = await run(freshFolder(), words);
    t.is(code, 2);
    t.regex(err, /error: /);
  });
}

test('check-config lists every key with its origin and masks secrets', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'appsettings.json'), '{ "Auth": { "ApiKey": "not-for-your-eyes" } }');
  const plain = await run(cwd, ['check-config', '--Pipeline:MaxConcurrency=4'], {
    Batch__Url: 'http://127.0.0.1:9',
  });
  t.is(plain.code, 0);
  t.regex(plain.out, /Pipeline:MaxConcurrency +4 +\(the command line\)/);
  t.regex(plain.out, /Batch:Url +http:\/\/127\.0\.0\.1:9 +\(environment variable Batch__Url\)/);
  t.regex(plain.out, /Auth:ApiKey +\*\*\* +\(appsettings\.json\)/);
  t.regex(plain.out, /Upload:MaxBytes +104857600 +\(default\)/);
  const json = await run(cwd, ['check-config', '--json']);
  const data = JSON.parse(json.out) as { ok: boolean; settings: Record<string, { value: unknown }> };
  t.true(data.ok);
  t.is(data.settings['Auth:ApiKey']?.value, '***');
  t.notRegex(plain.out + plain.err + json.out + json.err, /not-for-your-eyes/);
  t.deepEqual(readdirSync(cwd), ['appsettings.json']);
});

for (const command of ['check-config', 'serve']) {
  test(`${command} prints all faults together and ends with exit code 2 before it writes to disk`, async (t) => {
    const cwd = freshFolder();
    const env = { Upload__MaxBytes: '1', NODE_ENV: 'production' };
    const { code, err } = await run(cwd, [command, '--Pipeline:MaxConcurrency=99'], env);
    t.is(code, 2);
    t.regex(err, /Upload:MaxBytes must be a whole number of at least 1024/);
    t.regex(err, /Pipeline:MaxConcurrency must be a whole number from 1 to 64/);
    t.regex(err, /Signing:Certificate:Pfx:Path is required/);
    t.regex(err, /3 faults; nothing was started/);
    t.deepEqual(readdirSync(cwd), []);
  });
}

test('an input folder below the root is created, and one elsewhere is not', async (t) => {
  const cwd = freshFolder();
  const elsewhere = join(freshFolder(), 'share');
  const program = start(cwd, [
    '--Batch:Url=http://127.0.0.1:0',
    '--Portal:Url=http://127.0.0.1:0',
    '--Storage:Inputs:0:Name=below',
    '--Storage:Inputs:0:Path=data/in/deep',
    '--Storage:Inputs:1:Name=elsewhere',
    `--Storage:Inputs:1:Path=${elsewhere}`,
  ]);
  await program.says(/\[INF\] Ready/);
  t.is(statSync(join(cwd, 'data/in/deep')).mode & 0o777, 0o750);
  t.false(existsSync(elsewhere));
  program.child.kill('SIGTERM');
  t.is(await program.ended, 0);
});

test('an input folder linked to a work folder is refused with exit code 2', async (t) => {
  const cwd = freshFolder();
  const share = freshFolder();
  mkdirSync(join(cwd, 'data'));
  mkdirSync(join(cwd, 'data/output'));
  symlinkSync(join(cwd, 'data/output'), join(share, 'in'));
  const { code, err } = await run(cwd, [
    '--Batch:Url=http://127.0.0.1:0',
    '--Portal:Url=http://127.0.0.1:0',
    '--Storage:Inputs:0:Name=linked',
    `--Storage:Inputs:0:Path=${join(share, 'in')}`,
  ]);
  t.is(code, 2);
  t.regex(err, /Storage:Inputs:0:Path overlaps with the work folder output of Storage:Root/);
});

/** The banner of a first start, with the ports that are usual and the beginnings of secrets. */
function withoutSecrets(printed: string, cwd: string): string {
  const from = printed.indexOf('\nsealwright ');
  const to = printed.search(/\n\S+ \[INF\] Ready/);
  let text = printed.slice(from, to).trim();
  text = text.replace(/node \S+main\.js try/, 'node dist/main.js try');
  const addresses = [...new Set(text.match(/http:\/\/127\.0\.0\.1:\d+/g))];
  for (const [index, port] of ['8080', '8090'].entries())
    text = text.replaceAll(addresses[index] ?? '', `http://127.0.0.1:${port}`);
  for (const [file, shown] of Object.entries(SHOWN_SECRETS))
    text = text.replaceAll(readFileSync(join(cwd, 'data/keys', file), 'utf8').trim(), shown);
  return text;
}

/** Replacements for generated secrets in docs/tutorial.md. */
const SHOWN_SECRETS = {
  'api-key': 'N1uYTKFM…',
  'portal-application-secret': '7f3c…',
  'portal-monitor-secret': '09be…',
};

function bannerOfTutorial(): string {
  const blocks = readFileSync('docs/tutorial.md', 'utf8').split('```');
  return blocks.find((block) => block.startsWith('\nsealwright '))?.trim() ?? '';
}

test('a start without configuration gets ready, prints the banner of the tutorial, refuses a second process, drains on SIGTERM and starts again', async (t) => {
  const cwd = freshFolder();
  const words = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  const first = start(cwd, words);
  await first.says(/\[INF\] Ready/);
  t.regex(first.out(), /shown this once/);
  const key = readFileSync(join(cwd, 'data/keys/api-key'), 'utf8').trim();
  t.true(first.out().includes(key));
  t.is(withoutSecrets(first.out(), cwd), bannerOfTutorial());
  t.is(statSync(join(cwd, 'data/keys')).mode & 0o777, 0o700);
  // The login link is in no log: its file is the owner's alone, and the page behind it logs in.
  const loginFile = join(cwd, 'data/keys/login-link');
  t.is(statSync(loginFile).mode & 0o777, 0o600);
  const link = new URL(readFileSync(loginFile, 'utf8').trim());
  t.false(first.out().includes(link.search));
  const once = link.searchParams.get('once') ?? '';
  const logIn = () =>
    fetch(`${link.origin}/api/auth/login`, {
      method: 'POST',
      body: new URLSearchParams({ Once: once, ReturnUrl: '/' }),
      redirect: 'manual',
    });
  t.deepEqual([(await logIn()).status, (await logIn()).status], [302, 401]);
  for (const folder of ['', 'input', 'output', 'processing', 'error', 'db'])
    t.is(statSync(join(cwd, 'data', folder)).mode & 0o777, 0o750, folder);

  const second = await run(cwd, words);
  t.is(second.code, 3);
  t.regex(second.err, new RegExp(`in use by process ${first.child.pid}`));
  // The address is that of the running service, not the configured one.
  const keys = await run(cwd, ['keys', 'list']);
  const portal = /Portal: "(http:[^"]+)"/.exec(first.out())?.[1] ?? 'no address';
  t.true(keys.err.includes(`GET /api/admin/organizations at ${portal}`), keys.err);

  first.child.kill('SIGTERM');
  t.is(await first.ended, 0);
  t.regex(first.out(), /\[INF\] Stopped/);

  // A link that cannot be stored keeps no service from its work.
  rmSync(loginFile);
  mkdirSync(loginFile);
  const again = start(cwd, words);
  await again.says(/\[INF\] Ready/);
  t.regex(again.out(), /The login link could not be stored/);
  t.notRegex(again.out(), /login link in/);
  t.notRegex(again.out(), /shown this once/);
  t.false(again.out().includes(key));
  // One Ctrl-C under npm arrives twice.
  again.child.kill('SIGINT');
  again.child.kill('SIGINT');
  t.is(await again.ended, 0);
});

test('a read-only root ends with exit code 3', async (t) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'file'), '');
  const { code, err } = await run(cwd, ['--Storage:Root=file/data']);
  t.is(code, 3);
  t.regex(err, /could not start: /);
});

test('an unreadable signing certificate ends with exit code 2', async (t) => {
  const { code, err } = await run(freshFolder(), [
    '--Signing:Certificate:Pfx:Path=missing.pfx',
    '--Batch:Url=http://127.0.0.1:0',
    '--Portal:Url=http://127.0.0.1:0',
  ]);
  t.is(code, 2);
  t.regex(err, /missing\.pfx/);
});

test('a port in use ends with exit code 3 and a command that starts on free ports', async (t) => {
  const taken = await Promise.all([0, 0].map(() => listening(t)));
  const [batch, portal] = taken;
  const urls = [`--Batch:Url=http://127.0.0.1:${batch}`, `--Portal:Url=http://127.0.0.1:${portal}`];
  const { code, err } = await run(freshFolder(), urls);
  t.is(code, 3);
  t.regex(err, new RegExp(`127\\.0\\.0\\.1:${batch}: in use`));
  const command = /^ +node (\S+) serve (.+)$/m.exec(err);
  t.truthy(command, err);
  const words = (command?.[2] ?? '').split(' ');
  t.deepEqual(
    words.map((word) => word.replace(/\d+$/, '')),
    ['--Batch:Url=http://127.0.0.1:', '--Portal:Url=http://127.0.0.1:'],
  );
  const program = start(freshFolder(), ['serve', ...words]);
  t.teardown(() => program.child.kill('SIGKILL'));
  await program.says(/\[INF\] Ready/);
});

/** A port that another program listens on. */
async function listening(t: ExecutionContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a second signal ends a service that does not stop', async (t) => {
  const program = startStubborn('never-stops');
  await program.says(/\[INF\] Ready/);
  program.child.kill('SIGTERM');
  await program.says(/\[INF\] Stopping/);
  program.child.kill('SIGTERM');
  t.is(await program.ended, 1);
  t.regex(program.out(), /\[FTL\] Ended at once by a second signal/);
});

for (const [manner, said] of [
  ['stops-late', /did not stop cleanly.*did not stop in time/],
  ['fails-to-stop', /did not stop cleanly.*the store would not close/],
] as const) {
  test(`a failed stop (${manner}) is reported and ends with exit code 1`, async (t) => {
    const program = startStubborn(manner);
    await program.says(/\[INF\] Ready/);
    program.child.kill('SIGTERM');
    t.is(await program.ended, 1);
    t.regex(program.out(), said);
  });
}

for (const [manner, said] of [
  ['throws-later', /\[FTL\] Uncaught exception .*thrown where nobody catches.*Stack: /],
  ['loses-its-store', /\[FTL\] The service cannot go on.*the writing thread ended/],
  ['rejects-later', /\[FTL\] Unhandled rejection .*rejected where nobody waits/],
] as const) {
  test(`an unhandled failure (${manner}) is logged before the process ends with exit code 1`, async (t) => {
    const program = startStubborn(manner);
    t.is(await program.ended, 1);
    t.regex(program.out(), said);
    t.regex(program.err(), /^sealwright cannot go on: /m);
  });
}
