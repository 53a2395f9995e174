import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemIds } from '@sealwright/runtime';
import { makeDevelopmentCertificates } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import type { Finding } from '../../commands/doctor/finding.ts';
import { startRelay } from '../actors/portal/mails/relay.ts';
import { smallDisk } from '../service/small-disk.ts';
import { withTools } from '../verifiers/tool.ts';
import { freshFolder, run, start } from './program.ts';

const toolTest = withTools(test, 'tmpfs');

const TAMIL = '/usr/share/fonts/truetype/noto/NotoSansTamil-Regular.ttf';
const FREE_PORT = '--Batch:Url=http://127.0.0.1:0';
const FREE_PORTAL_PORT = '--Portal:Url=http://127.0.0.1:0';

/** Runs `doctor --json`; every problem must come with cause and remedy. */
async function examine(t: ExecutionContext, cwd: string, words: readonly string[] = [FREE_PORT]) {
  const { code, out, err } = await run(cwd, ['doctor', '--json', FREE_PORTAL_PORT, ...words]);
  t.is(err, '');
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: readonly Finding[] };
  t.is(code, ok ? 0 : 1);
  for (const { verdict, cause, remedy, name } of checks) {
    if (verdict === 'good') continue;
    t.truthy(cause, name);
    t.truthy(remedy, name);
  }
  const found = (name: string) => checks.filter((check) => check.name === name);
  return { ok, checks, verdict: (name: string) => found(name)[0]?.verdict, found };
}

async function listening(t: ExecutionContext, date?: string): Promise<string> {
  const server = createServer((_, response) => {
    if (date !== undefined) response.sendDate = false;
    if (date !== undefined) response.setHeader('Date', date);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Certificate and key in files, made some days ago for the given number of days from now. */
async function keyPair(cwd: string, now: number) {
  const made = await makeDevelopmentCertificates({
    label: 'doctor',
    now,
    random: (length) => systemIds.bytes(length),
  });
  writeFileSync(join(cwd, 'certificate.pem'), `${made.certificate}\n${made.caCertificate}`);
  writeFileSync(join(cwd, 'key.pem'), made.key, { mode: 0o600 });
  return [
    FREE_PORT,
    '--Signing:Certificate:Source=Pem',
    '--Signing:Certificate:Pem:CertificatePath=certificate.pem',
    '--Signing:Certificate:Pem:KeyPath=key.pem',
  ];
}

test('doctor reports no problem on a fresh machine, and leaves no file', async (t) => {
  const cwd = freshFolder();
  const { ok, checks } = await examine(t, cwd);
  t.true(ok, JSON.stringify(checks));
  t.deepEqual(readdirSync(cwd), []);
  const page = readFileSync('docs/operations.md', 'utf8');
  const [, table = ''] = /^### What doctor checks\n([\s\S]*?)^### /m.exec(page) ?? [];
  const documented = new Set(
    [...table.matchAll(/`([a-z-]+(?::[a-z-]+)*)(?::<\w+>)?`/g)].map(([, name]) => name),
  );
  const undocumented = checks
    .map(({ name }) => name)
    .filter((name) => !documented.has(name) && !documented.has(name.replace(/:[^:]*$/, '')));
  t.deepEqual(undocumented, []);
  const sources = [
    'commands/doctor.ts',
    'actors/shared/trust-lists/list-keeper.ts',
    'service/portal-notices.ts',
    'actors/batch/health-probes.ts',
  ].concat(readdirSync('commands/doctor').map((name) => join('commands/doctor', name)));
  const code = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
  const names = [...documented].filter(
    (name) => name !== undefined && !code.includes(name.split(':')[0] ?? ''),
  );
  t.deepEqual(names, [], 'documented, but not checked');
  const plain = await run(cwd, ['doctor', FREE_PORT, FREE_PORTAL_PORT]);
  t.is(plain.code, 0);
  t.regex(plain.out, /good +folder:output: /);
  t.regex(plain.out, /warning +certificates: .*\n +why .*\n +mend /);
});

test('doctor reports missing folders, and files in place of folders', async (t) => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data', 'output'), '');
  const { verdict, found } = await examine(t, cwd, [
    FREE_PORT,
    '--Storage:Inputs:0:Name=share',
    '--Storage:Inputs:0:Path=/no/such/mount',
  ]);
  t.is(verdict('folder:output'), 'failed');
  t.is(verdict('input-folder:share'), 'failed');
  t.regex(found('input-folder:share')[0]?.remedy ?? '', /Mount/);
  t.is(verdict('folder:processing'), 'good');
});

test('doctor distinguishes a port of another program from one of the service', async (t) => {
  const taken = await listening(t);
  const { verdict } = await examine(t, freshFolder(), [`--Batch:Url=${taken}`]);
  t.is(verdict('port'), 'failed');
  t.is(verdict('port:portal'), 'good');
  const portal = await examine(t, freshFolder(), [FREE_PORT, `--Portal:Url=${taken}`]);
  t.is(portal.verdict('port:portal'), 'failed');
  t.regex(portal.found('port:portal')[0]?.remedy ?? '', /Portal:Url/);
  t.is(portal.verdict('port'), 'good');

  const cwd = freshFolder();
  const service = start(cwd, [FREE_PORT, FREE_PORTAL_PORT]);
  await service.says(/\[INF\] Ready/);
  const url = /Batch API\s+(\S+)/.exec(service.out())?.[1] ?? '';
  const running = await examine(t, cwd, [`--Batch:Url=${url}`]);
  t.is(running.verdict('port'), 'good');
  t.regex(running.found('database')[0]?.says ?? '', new RegExp(`process ${service.child.pid}`));
  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
});

test('doctor distinguishes an expired certificate from a valid one', async (t) => {
  const good = freshFolder();
  const keys = await keyPair(good, Date.now());
  const shown = ['Width=200', 'Height=60', 'Lines:0=உ {profile}'].map(
    (one) => `--Signing:Profiles:0:Pades:Appearance:${one}`,
  );
  const own = keys.map((word) => word.replace('--Signing:Cert', '--Signing:Profiles:0:Cert'));
  const valid = await examine(t, good, [...own, '--Signing:Profiles:0:Name=default', ...shown]);
  t.is(valid.verdict('profile:default'), 'good');
  // The fonts of some machines have Tamil.
  const [letters] = valid.found('fonts');
  if (!existsSync(TAMIL))
    t.regex(letters?.says ?? '', /profile default: .* உ \(U\+0B89\): .* fonts-noto-core /);
  else t.is(letters, undefined);
  const old = freshFolder();
  const { ok, checks } = await examine(t, old, await keyPair(old, Date.now() - 20 * 365 * 86_400_000));
  t.false(ok);
  t.true(checks.some(({ name, says }) => /^(?:certificate|profile)/.test(name) && /expired/.test(says)));
});

test('doctor reports secret files that other users can read', async (t) => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, 'data'));
  mkdirSync(join(cwd, 'data', 'keys'), { mode: 0o700 });
  writeFileSync(join(cwd, 'data', 'keys', 'api-key'), 'x');
  chmodSync(join(cwd, 'data', 'keys', 'api-key'), 0o644);
  writeFileSync(join(cwd, 'appsettings.json'), '{"Auth":{"ApiKey":"a-key-for-everybody"}}');
  chmodSync(join(cwd, 'appsettings.json'), 0o644);
  const { found } = await examine(t, cwd);
  t.deepEqual(
    found('secrets').map(({ verdict, says }) => [verdict, /api-key|appsettings/.exec(says)?.[0]]),
    [
      ['failed', 'api-key'],
      ['warning', 'appsettings'],
    ],
  );
});

test('doctor compares the local clock with that of the time-stamp authority', async (t) => {
  const check = async (url: string) =>
    (
      await examine(t, freshFolder(), [
        FREE_PORT,
        '--Signing:Profiles:0:Name=stamped',
        '--Signing:Profiles:0:Format=Cades',
        '--Signing:Profiles:0:Level=T',
        `--Signing:Profiles:0:Timestamp:Url=${url}`,
        '--Signing:Profiles:0:Certificate:Source=Pem',
        '--Signing:Profiles:0:Certificate:Pem:CertificatePath=none.pem',
        '--Signing:Profiles:0:Certificate:Pem:KeyPath=none.pem',
      ])
    ).verdict('clock:time-stamp-authority:stamped');
  t.is(await check(await listening(t)), 'good');
  t.is(await check(await listening(t, 'Thu, 01 Jan 2015 00:00:00 GMT')), 'failed');
  t.is(await check('http://127.0.0.1:1'), 'failed');
});

test('doctor distinguishes a mail relay that answers from one that does not', async (t) => {
  const relay = await startRelay(t);
  const check = async (port: number) => {
    const smtp = [
      `--Portal:Smtp:Host=127.0.0.1`,
      `--Portal:Smtp:Port=${port}`,
      '--Portal:Smtp:From=a@example.org',
    ];
    return (await examine(t, freshFolder(), [FREE_PORT, ...smtp])).found('smtp')[0];
  };
  t.is((await check(relay.port))?.verdict, 'good');
  t.deepEqual(relay.taken, [], 'nothing is sent');
  const down = await check(1);
  t.is(down?.verdict, 'failed');
  t.regex(down?.remedy ?? '', /Portal:Smtp:Host/);
});

test('doctor, start and readiness name links that lead nowhere, mails in files and seals that end', async (t) => {
  const cwd = freshFolder();
  const words = [...(await keyPair(cwd, Date.now())), '--Portal:Url=http://0.0.0.0:0'];
  const production = { NODE_ENV: 'production' };
  const names = ['portal:links', 'portal:mail', 'portal:seal'];
  const verdicts = async (more: readonly string[]) => {
    const { out } = await run(cwd, ['doctor', '--json', ...words, ...more], production);
    const { checks } = JSON.parse(out) as { checks: readonly Finding[] };
    return names.map((name) => checks.find((check) => check.name === name)?.verdict);
  };
  t.deepEqual(await verdicts([]), ['warning', 'warning', 'warning']);
  const complete = ['--Portal:PublicUrl=https://sign.example', '--Portal:Smtp:Host=127.0.0.1'];
  const relay = [...complete, '--Portal:Smtp:Port=1', '--Portal:Smtp:From=a@example.org'];
  t.deepEqual(await verdicts(relay), [undefined, undefined, 'warning']);

  const service = start(cwd, words, production);
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/\[INF\] Ready/);
  for (const text of ['links in e-mails begin with', 'No e-mail reaches anybody', 'Seals of level B end'])
    t.true(service.out().includes(text), text);
  for (const name of ['api-key', 'portal-application-secret', 'portal-monitor-secret'])
    t.false(service.out().includes(readFileSync(join(cwd, 'data/keys', name), 'utf8').trim()), name);
  const url = /Batch API\s+(\S+)/.exec(service.out())?.[1] ?? '';
  const ready = (await (await fetch(`${url}/api/ready`)).json()) as {
    checks: readonly { name: string; status: string }[];
  };
  t.deepEqual(
    ready.checks.filter(({ status }) => status === 'Degraded').map(({ name }) => name),
    ['portal:links', 'portal:mail'],
  );
});

test('doctor names a proxy that speaks HTTP/1.0 to the service, and one that leads elsewhere', async (t) => {
  const cwd = freshFolder();
  let portal = '';
  // As nginx: the request goes on with the version of its configuration.
  const proxy = (version: string) => async (socket: Socket) => {
    const { hostname, port } = new URL(portal);
    const upstream = connect(Number(port), hostname);
    socket.once('data', (request) => {
      upstream.write(request.toString('latin1').replace('HTTP/1.1', `HTTP/${version}`));
    });
    upstream.pipe(socket).on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  };
  const urls: string[] = [];
  for (const version of ['1.1', '1.0']) {
    const server = createTcpServer(proxy(version));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  const service = start(cwd, [FREE_PORT, FREE_PORTAL_PORT]);
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/\[INF\] Ready/);
  portal = /Portal +(http\S+)/.exec(service.out())?.[1] ?? '';
  const check = async (url: string) =>
    (await examine(t, cwd, [FREE_PORT, `--Portal:PublicUrl=${url}`])).found('portal:public-url')[0];
  t.is((await check(urls[0] ?? ''))?.verdict, 'good');
  const old = await check(urls[1] ?? '');
  t.is(old?.verdict, 'failed');
  t.regex(old?.remedy ?? '', /proxy_http_version 1\.1/);
  t.is((await check(await listening(t)))?.verdict, 'warning');
});

toolTest('doctor reports a full disk as missing space, not as missing permission', async (t) => {
  const cwd = freshFolder();
  const disk = smallDisk(t, join(cwd, 'data'), 4);
  disk.fill();
  const { found } = await examine(t, cwd);
  const [output] = found('folder:output');
  t.is(output?.verdict, 'failed');
  t.regex(output?.cause ?? '', /disk is full/);
  t.regex(output?.remedy ?? '', /^Free space on the disk/);
});

test('doctor ends at once with an invalid configuration', async (t) => {
  const { code, err } = await run(freshFolder(), ['doctor', '--Pipeline:MaxConcurrency=99']);
  t.is(code, 2);
  t.regex(err, /Pipeline:MaxConcurrency/);
});
