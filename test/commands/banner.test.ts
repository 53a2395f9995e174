import test from 'ava';
import { type BannerInfo, banner } from '../../commands/banner.ts';

const FACTS: BannerInfo = {
  version: '1.2.3',
  environment: 'Development',
  cwd: '/srv/app',
  root: '/srv/app/data',
  batchUrl: 'http://127.0.0.1:8080',
  portal: undefined,
  store: { engine: 'LMDB', location: '/srv/app/data/db' },
  inputs: [{ name: 'default', path: '/srv/app/data/input' }],
  output: '/srv/app/data/output',
  apiKeyHeader: 'X-API-Key',
  apiKey: { from: 'file', path: '/srv/app/data/keys/api-key', made: 'fresh-key' },
  certificate: { subject: 'CN=dev', path: '/srv/app/data/keys/signer.pem', development: true },
  profiles: [{ name: 'default', source: 'Development', verify: true, encrypt: false, validate: true }],
  encryption: false,
  maxConcurrency: 1,
  pollIntervalSeconds: 2,
  paused: false,
  warnings: [],
};
const plain = (facts: Partial<BannerInfo>) => banner({ ...FACTS, ...facts }, { colors: false });

test('the first start shows address, key, folders, the warning and two commands that work as printed', (t) => {
  const said = plain({});
  for (const part of [
    'sealwright 1.2.3  Development',
    'http://127.0.0.1:8080',
    'fresh-key',
    'Folders      input data/input, output data/output, store LMDB (data/db)',
    'CN=dev, data/keys/signer.pem (development)',
    'made here for development',
    'echo Hello > data/input/hello.txt',
    `curl -H "X-API-Key: $(cat data/keys/api-key)" -F 'file=@-;filename=hello.txt' http://127.0.0.1:8080/api/files`,
  ]) {
    t.true(said.includes(part), part);
  }
});

test('a start with both services has ten lines, warnings and commands, one of them for the portal', (t) => {
  const secret = (name: string) => ({ path: `/srv/app/data/keys/${name}`, made: 'a1b2' });
  const both: Partial<BannerInfo> = {
    program: 'dist/main.js',
    logins: { path: '/srv/app/data/keys/login-link' },
    portal: {
      url: 'http://127.0.0.1:8090',
      mailFolder: '/srv/app/data/mail',
      keys: [
        { organization: 'Default', application: 'default', secret: secret('portal-application-secret') },
        { organization: 'Sys Admin', application: 'monitor', secret: secret('portal-monitor-secret') },
      ],
    },
  };
  const said = plain(both);
  const lines = said.trim().split('\n');
  t.is(
    lines.findIndex((line) => line.startsWith('  !')),
    10,
    said,
  );
  t.regex(said, /Batch API +http:\/\/127\.0\.0\.1:8080 {2}\(login link in data\/keys\/login-link\)/);
  t.deepEqual(lines.slice(lines.indexOf('  Try it:') + 1), [
    '    echo Hello > data/input/hello.txt',
    `    echo Hello | curl -H "X-API-Key: $(cat data/keys/api-key)" -F 'file=@-;filename=hello.txt' http://127.0.0.1:8080/api/files`,
    '    node dist/main.js try',
  ]);
  // The command finds the service of another folder.
  const elsewhere = plain({ ...both, root: '/srv/my data' });
  t.true(elsewhere.includes("    node dist/main.js try '--Storage:Root=/srv/my data'\n"), elsewhere);
});

test('a later start shows the path of the key, and not the key', (t) => {
  const said = plain({ apiKey: { from: 'file', path: '/srv/app/data/keys/api-key', made: undefined } });
  t.regex(said, /API key +kept in data\/keys\/api-key/);
  t.notRegex(said, /fresh-key/);
});

test('a configured key is never shown', (t) => {
  const said = plain({ apiKey: { from: 'configuration' } });
  t.regex(said, /API key +as configured/);
  t.regex(said, /<your API key>/);
});

test('the banner suggests no upload without a key, and no drop without a folder', (t) => {
  t.notRegex(plain({ apiKey: { from: 'nowhere' } }), /curl/);
  t.notRegex(plain({ inputs: [] }), /echo Hello >/);
  t.notRegex(plain({ batchUrl: undefined }), /curl/);
});

test('paths with spaces and quotes are quoted for a shell', (t) => {
  const said = plain({ inputs: [{ name: 'default', path: "/in/it's here" }] });
  t.true(said.includes(`echo Hello > '/in/it'\\''s here/hello.txt'`));
});

test('colours appear only on request, and control sequences of names are removed', (t) => {
  const facts = { ...FACTS, certificate: { subject: 'CN=\u001b[2J', path: 'x', development: false } };
  t.false(banner(facts, { colors: false }).includes('\u001b'));
  t.true(banner(facts, { colors: true }).includes('\u001b[1m'));
  t.false(banner(facts, { colors: true }).includes('\u001b[2J'));
});
