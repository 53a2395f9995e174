import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { S3_PACKAGE } from '../../actors/shared/objects/s3-client.ts';
import { createBatchMetrics } from '../../http/index.ts';
import { freshFolder, run, start } from '../commands/program.ts';
import { reached } from '../project/waiting.ts';
import { withTools } from '../verifiers/index.ts';

const toolTest = withTools(test, 'promtool');

const EXPOSED = createBatchMetrics({ folders: ['default'], profiles: [] }, () => 0).names();

for (const file of ['grafana/dashboard.json', 'prometheus/alerts.yml']) {
  test(`deploy/${file} refers only to existing metrics`, (t) => {
    const text = readFileSync(join('deploy', file), 'utf8');
    const asked = new Set(text.match(/\b(?:batch|portal|process|nodejs)_[a-z0-9_]+/g));
    t.true(asked.size > 5);
    for (const name of asked) {
      const known = EXPOSED.includes(name) || EXPOSED.includes(name.replace(/_(?:bucket|sum|count)$/, ''));
      t.true(known, name);
    }
  });
}

toolTest(
  'the alerts of actors, effects, inputs and the portal fire when they should, and not before',
  (t) => {
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
      { encoding: 'utf8' },
    );
    t.is(status, 0, stdout + stderr);
  },
);

test('the dashboard shows every metric of both services', (t) => {
  const { panels } = JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8')) as {
    panels: { id: number; targets: { expr: string }[] }[];
  };
  t.is(new Set(panels.map(({ id }) => id)).size, panels.length);
  const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ');
  for (const name of EXPOSED.filter((each) => /^(?:batch|portal)_/.test(each)))
    t.true(asked.includes(name), name);
});

test('the example configuration is accepted, in production and with the variables of the unit', async (t) => {
  const cwd = freshFolder();
  copyFileSync('deploy/appsettings.example.json', join(cwd, 'appsettings.json'));
  const variables = readFileSync('deploy/systemd/sealwright.env', 'utf8')
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .map((line) => line.split('=', 2) as [string, string]);
  const env = { ...Object.fromEntries(variables), SEALWRIGHT_CONFIG_DIR: cwd };
  const { code, out, err } = await run(cwd, ['check-config'], env);
  t.is(code, 0, err);
  t.is(err, '');
  t.regex(out, /Logging:File:Path +\/var\/log\/sealwright\/batch-\.log/);
});

/** The settings of the nodes in compose files; later files win. */
function composeSettings(...files: readonly string[]): Map<string, string> {
  const texts = files.map((file) => readFileSync(join('deploy/compose', file), 'utf8'));
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^ +(\w+__\w+): "?([^"\n]+)"?$/gm)].map(
        ([, name = '', value = '']) => [name, value.replace(/\$\{\w+:\?is not set\}/, 'secret')] as const,
      ),
    ),
  );
}

test('the nodes of the compose file differ by their name alone, and their settings are accepted', async (t) => {
  const text = readFileSync('deploy/compose/compose.yaml', 'utf8');
  const settings = composeSettings('compose.yaml');
  t.deepEqual(text.match(/(?<=Runtime__NodeName: ).*/g), ['node-1', 'node-2']);
  t.is(settings.get('Runtime__Store'), 'postgres');
  const { code, out, err } = await run(freshFolder(), ['check-config'], {
    NODE_ENV: 'production',
    ...Object.fromEntries(settings),
  });
  t.is(code, 0, err);
  t.regex(out, /Runtime:NodeName +node-2/);
  t.false(out.includes('secret'));
  const balancer = readFileSync('deploy/compose/haproxy.cfg', 'utf8');
  for (const port of [8080, 8090])
    for (const node of ['node-1', 'node-2']) t.true(balancer.includes(`server ${node} ${node}:${port}\n`));
});

test('the compose file with a bucket shares no folder to write, and its settings are accepted', async (t) => {
  const text = readFileSync('deploy/compose/compose.objects.yaml', 'utf8');
  const { code, out, err } = await run(freshFolder(), ['check-config'], {
    NODE_ENV: 'production',
    ...Object.fromEntries(composeSettings('compose.yaml', 'compose.objects.yaml')),
  });
  t.is(code, 0, err);
  t.regex(out, /Storage:Objects:Kind +S3/);
  t.regex(out, /Storage:KeysPath +\/var\/lib\/first\/keys/);
  t.false(out.includes('secret'));
  t.true(text.includes(`PACKAGES: "${S3_PACKAGE}"`));
  t.deepEqual(text.match(/(?<= - )\w+(?=:\/var\/lib\/(?:sealwright|first)\b.*)/g), ['second', 'files']);
  t.regex(text, /- files:\/var\/lib\/first:ro\n/);
  for (const [, bucket] of text.matchAll(/Bucket: (\w+)/g)) t.true(text.includes(`:/data/${bucket}\n`));
});

withTools(test, 'haproxy')('the balancer accepts its configuration', (t) => {
  const verdict = spawnSync('haproxy', ['-c', '-f', 'deploy/compose/haproxy.cfg'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  });
  t.is(verdict.status, 0, verdict.stderr);
});

test('systemd is notified of a service that is ready after the banner, and of one that stops', async (t) => {
  const cwd = freshFolder();
  const heard = join(cwd, 'heard');
  writeFileSync(join(cwd, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $1" >> '${heard}'\n`);
  chmodSync(join(cwd, 'systemd-notify'), 0o755);
  const env = { NOTIFY_SOCKET: '/run/notify', PATH: `${cwd}:${process.env['PATH'] ?? ''}` };
  const service = start(cwd, ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'], env);
  await service.says(/\[INF\] Ready/);
  await reached(() => existsSync(heard));
  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
  t.is(readFileSync(heard, 'utf8').split('\n')[0], '/run/notify READY=1');
  t.regex(service.out(), /Try it:[\s\S]*Ready/);
});

test('the container and the unit run without root, in production, with a health check', (t) => {
  const container = readFileSync('deploy/container/Containerfile', 'utf8');
  t.regex(container, /NODE_ENV=production/);
  t.regex(container, /^USER sealwright$/m);
  t.regex(container, /^HEALTHCHECK --interval=30s .*\n {2}CMD \["node", "dist\/main.js", "health"\]$/m);
  t.regex(container, /^VOLUME \/var\/lib\/sealwright$/m);
  // A user that the platform chose is in the group root.
  t.regex(container, /install -d -o sealwright -g root -m 0770 \/var\/lib\/sealwright/);
  const unit = readFileSync('deploy/systemd/sealwright.service', 'utf8');
  for (const line of [
    'Type=notify',
    'User=sealwright',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'PrivateTmp=yes',
  ])
    t.true(unit.split('\n').includes(line), line);
});

withTools(test, 'systemd-analyze')('systemd reports no problem in the unit', async (t) => {
  const cwd = freshFolder();
  const unit = join(cwd, 'sealwright.service');
  // Where the programs of the unit are on this machine.
  const text = readFileSync('deploy/systemd/sealwright.service', 'utf8');
  writeFileSync(unit, text.replace('/usr/bin/node', process.execPath));
  const verdict = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  t.is(verdict.stderr, '');
  t.is(verdict.status, 0);
  writeFileSync(unit, text.replace('Type=notify', 'Type=nothing'));
  const broken = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  t.regex(broken.stderr, /service type/, 'it would say so');
});
