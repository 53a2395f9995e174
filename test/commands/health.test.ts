import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { HealthCheck } from '../../actors/index.ts';
import type { Finding } from '../../commands/doctor/finding.ts';
import { freshFolder, run, start } from './program.ts';

const NO_PORTAL = '--Portal:Enabled=false';

/** Starts a service and returns where it listens. */
async function startService(t: ExecutionContext, cwd: string, words: readonly string[]) {
  const service = start(cwd, [...words, NO_PORTAL]);
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/\[INF\] Ready/);
  return { service, url: /Batch API\s+(\S+)/.exec(service.out())?.[1] ?? '' };
}

test('the health command of the container works with direct TLS, AllowedHosts and RequireHttps', async (t) => {
  const cwd = freshFolder();
  const pair = ['-keyout', join(cwd, 'tls.key'), '-out', join(cwd, 'tls.pem')];
  const kind = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '1'];
  execFileSync('openssl', ['req', ...kind, ...pair, '-subj', '/CN=sign.example'], { stdio: 'ignore' });
  const settings = [
    '--Hosting:Tls:CertificatePath=tls.pem',
    '--Hosting:Tls:KeyPath=tls.key',
    '--AllowedHosts=sign.example',
    '--Hosting:RequireHttps=true',
  ];
  const { service, url } = await startService(t, cwd, ['--Batch:Url=https://0.0.0.0:0', ...settings]);
  const words = ['health', `--Batch:Url=${url}`, ...settings, NO_PORTAL];
  t.deepEqual(await run(cwd, words), { code: 0, out: '', err: '' });
  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
  const gone = await run(cwd, words);
  t.is(gone.code, 1);
  t.regex(gone.err, /^The service at https:\S+ \(Batch:Url\) does not answer: .*ECONNREFUSED/);
});

test('the health command works over plain http with AllowedHosts and RequireHttps', async (t) => {
  const cwd = freshFolder();
  const settings = ['--AllowedHosts=sign.example', '--Hosting:RequireHttps=true'];
  const { url } = await startService(t, cwd, ['--Batch:Url=http://127.0.0.1:0', ...settings]);
  t.deepEqual(await run(cwd, ['health', `--Batch:Url=${url}`, ...settings]), { code: 0, out: '', err: '' });
});

test('readiness, metrics and doctor list the same checks of a running service', async (t) => {
  const cwd = freshFolder();
  const settings = [
    '--Runtime:Shards=2',
    '--Storage:Inputs:0:Name=share',
    '--Storage:Inputs:0:Path=/no/such/mount',
  ];
  const { url } = await startService(t, cwd, ['--Batch:Url=http://127.0.0.1:0', ...settings]);
  const ready = await fetch(`${url}/api/ready`);
  t.is(ready.status, 503);
  const { checks } = (await ready.json()) as { readonly checks: readonly HealthCheck[] };
  const names = checks.map(({ name }) => name);
  t.true(names.includes('actors:1') && names.includes('input-folder:share'));
  const headers = { 'X-API-Key': readFileSync(join(cwd, 'data/keys/api-key'), 'utf8').trim() };
  const metrics = await (await fetch(`${url}/api/metrics`, { headers })).text();
  for (const { name, status } of checks)
    t.true(metrics.includes(`batch_health_check{check="${name}",status="${status}"} 1`), name);
  const { out } = await run(cwd, ['doctor', '--json', `--Batch:Url=${url}`, NO_PORTAL, ...settings]);
  const found = (JSON.parse(out) as { readonly checks: readonly Finding[] }).checks;
  for (const { name, status } of checks) {
    const verdict = { Healthy: 'good', Degraded: 'warning', Unhealthy: 'failed' }[
      status
    ] as Finding['verdict'];
    t.is(found.find((finding) => finding.name === name)?.verdict, verdict, name);
  }
});

test('commands find the service by the file beside its lock, and send no key to another program', async (t) => {
  const cwd = freshFolder();
  const asked: IncomingHttpHeaders[] = [];
  const stranger = createServer((request, response) => {
    asked.push(request.headers);
    response.setHeader('Content-Type', 'application/json').end('{"status":"Healthy"}');
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  t.teardown(() => stranger.close());
  const configured = `--Batch:Url=http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const alone = await run(cwd, ['health', configured]);
  t.is(alone.code, 1, alone.err);
  t.regex(alone.err, /is another program: no service runs on this machine with Storage:Root/);

  const { service, url } = await startService(t, cwd, ['--Batch:Url=http://127.0.0.1:0']);
  t.deepEqual(await run(cwd, ['health', configured]), { code: 0, out: '', err: '' });
  const found = await run(cwd, ['keys', 'service', 'list', configured]);
  t.is(found.code, 0, found.err);
  const file = join(cwd, 'data/db/service.json');
  const written = readFileSync(file, 'utf8');
  t.is(JSON.parse(written).batchUrl, url);

  // The file of a process that still runs, while another program answers at its address.
  const { port } = stranger.address() as AddressInfo;
  writeFileSync(file, written.replace(url, `http://127.0.0.1:${port}`));
  for (const command of [['health'], ['keys', 'service', 'list'], ['try']]) {
    const refused = await run(cwd, [...command, configured]);
    t.is(refused.code, command[0] === 'health' ? 1 : 3, refused.err);
  }
  const examined = await run(cwd, ['doctor', '--json', configured, NO_PORTAL]);
  const { checks } = JSON.parse(examined.out) as { readonly checks: readonly Finding[] };
  t.deepEqual(
    ['port', 'service'].map((name) => checks.find((finding) => finding.name === name)?.verdict),
    ['failed', 'failed'],
  );
  t.true(asked.length > 3);
  t.deepEqual(
    asked.filter((headers) => 'x-api-key' in headers),
    [],
  );

  // Of several nodes on one machine a living one answers for commands, but not for the health of a killed one.
  writeFileSync(file, written);
  const database = '--Runtime:Postgres:Url=postgres://127.0.0.1:9/db';
  const node = ['--Runtime:Store=postgres', database, '--Runtime:NodeName=first', configured];
  t.deepEqual(await run(cwd, ['health', ...node]), { code: 0, out: '', err: '' });
  const killed = { ...JSON.parse(written), process: { ...JSON.parse(written).process, birth: '1' } };
  writeFileSync(join(cwd, 'data/db/service.first.json'), JSON.stringify(killed));
  t.is((await run(cwd, ['health', ...node])).code, 1);
  t.is((await run(cwd, ['keys', 'service', 'list', ...node])).code, 0);

  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
  t.false(existsSync(file));
  // The file of a process that was killed counts for nothing.
  writeFileSync(file, written);
  const after = await run(cwd, ['health', configured]);
  t.is(after.code, 1);
  t.regex(after.err, /no service runs/);
});
