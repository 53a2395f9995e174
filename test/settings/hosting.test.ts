import test from 'ava';
import { faultLine, warningLine } from '../../settings.ts';
import { accepted, faultyKeys, load } from './load.ts';

const REFUSED: readonly (readonly [key: string, values: readonly string[], rule: RegExp])[] = [
  ['Auth:SessionHours', ['0', '25', '1.5'], /from 1 to 24/],
  ['Auth:CookieName', ['a b', 'a=b', 'a;b', ''], /name of a cookie/],
  ['AllowedHosts', ['', 'a,,b', 'a:80', 'http://a', 'a.*', '*a', '*.'], /host names without ports/],
  [
    'Batch:PublicUrl',
    ['ops.example', 'ftp://a', 'https://a/ops', 'https://a?b', 'https://u:p@a'],
    /nothing after it/,
  ],
  ['Hosting:KeepAliveSeconds', ['0', '3601'], /from 1 to 3600/],
  ['Hosting:RequireHttps', ['yes'], /true or false/],
  ['Hosting:ForwardedHeaders:ForwardLimit', ['0', '17'], /from 1 to 16/],
  ['RateLimiting:Upload:QueueLimit', ['-1', 'x'], /of at least 0/],
  ['RateLimiting:Actions:QueueLimit', ['-1'], /of at least 0/],
  ['Dashboard:PollIntervalSeconds', ['0', '61'], /from 1 to 60/],
];
for (const [key, values, rule] of REFUSED) {
  test(`${key} refuses invalid values`, (t) => {
    for (const value of values) {
      const loaded = load({ argv: [`--${key}=${value}`] });
      const said = loaded.ok ? [] : loaded.faults.map(faultLine);
      t.is(said.length, 1, value);
      t.true(said[0]?.startsWith(`${key} `));
      t.regex(said[0] ?? '', rule);
    }
  });
}

test('an invalid proxy or network refuses the start', (t) => {
  const trust = (name: string, value: string) =>
    faultyKeys({
      argv: [`--Hosting:ForwardedHeaders:${name}:0=${value}`, '--Hosting:ForwardedHeaders:Enabled=true'],
    });
  for (const bad of ['10.0.0', 'proxy.example', '10.0.0.0/8', 'fe80::1%eth0', '']) {
    t.true(trust('KnownProxies', bad).includes('Hosting:ForwardedHeaders:KnownProxies:0'), bad);
  }
  for (const bad of ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', 'x/8', '']) {
    t.true(trust('KnownNetworks', bad).includes('Hosting:ForwardedHeaders:KnownNetworks:0'), bad);
  }
  for (const good of ['10.0.0.1', '2001:db8::1']) t.deepEqual(trust('KnownProxies', good), []);
  for (const good of ['10.0.0.0/8', '0.0.0.0/0', '2001:db8::/32'])
    t.deepEqual(trust('KnownNetworks', good), []);
});

test('forwarded headers without trusted proxies, or with all and some, refuse the start', (t) => {
  const at = 'Hosting:ForwardedHeaders';
  t.deepEqual(faultyKeys({ argv: [`--${at}:Enabled=true`] }), [`${at}:Enabled`]);
  t.deepEqual(
    faultyKeys({
      argv: [`--${at}:Enabled=true`, `--${at}:TrustAnyProxy=true`, `--${at}:KnownProxies:0=10.0.0.1`],
    }),
    [`${at}:TrustAnyProxy`],
  );
  t.deepEqual(faultyKeys({ argv: [`--${at}:Enabled=true`, `--${at}:TrustAnyProxy=true`] }), []);
});

test('options without effect cause a warning', (t) => {
  const warned = (...argv: string[]) => load({ argv }).warnings.map(warningLine).join('\n');
  t.regex(warned('--Hosting:RequireHttps=true'), /Hosting:RequireHttps is true, but/);
  t.regex(
    warned('--Hosting:ForwardedHeaders:TrustAnyProxy=true'),
    /Hosting:ForwardedHeaders:Enabled is false, so/,
  );
  t.is(
    warned('--Hosting:ForwardedHeaders:Enabled=true', '--Hosting:ForwardedHeaders:TrustAnyProxy=true'),
    '',
  );
});

test('operators who sign in at a provider without a named host cause a warning', (t) => {
  const at = '--Identity:Providers:0';
  const client = [`${at}:Issuer=https://id.example`, `${at}:ClientId=a`];
  const roles = [`${at}:Domains:0=a.example`, `${at}:Roles:0:Group=*`, `${at}:Roles:0:Role=Viewer`];
  const provider = [`${at}:Name=ops`, `${at}:Operators=true`, ...client, ...roles];
  const env = { Identity__Providers__0__ClientSecret: 'b' };
  const warned = (...argv: string[]) => load({ argv: [...provider, ...argv], env }).warnings.map(warningLine);
  t.regex(warned().join('\n'), /^Batch:PublicUrl is left out, and AllowedHosts names no host/);
  for (const set of [
    'Batch:PublicUrl=https://ops.example/',
    'AllowedHosts=ops.example',
    'Batch:Enabled=false',
  ])
    t.deepEqual(warned(`--${set}`), [], set);
});

test('sessions, hosts and proxies have the documented defaults, and hosts are read as a list from one text', (t) => {
  const settings = accepted({});
  t.deepEqual(settings.allowedHosts, ['*']);
  t.like(settings.auth, { cookieName: 'batch-auth', sessionHours: 8 });
  t.like(settings.hosting, {
    requireHttps: false,
    forwardedHeaders: {
      enabled: false,
      trustAnyProxy: false,
      knownProxies: [],
      knownNetworks: [],
      forwardLimit: 1,
    },
  });
  t.is(settings.rateLimiting.upload.queueLimit, 0);
  t.is(settings.rateLimiting.actions.queueLimit, 0);
  t.is(settings.dashboard.pollIntervalSeconds, 5);
  const hosts = accepted({ env: { AllowedHosts: 'sign.example, *.example.org ,::1' } }).allowedHosts;
  t.deepEqual(hosts, ['sign.example', '*.example.org', '::1']);
});
