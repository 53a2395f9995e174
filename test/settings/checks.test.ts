import test from 'ava';
import { faultLine, warningLine } from '../../settings.ts';
import { accepted, faultyKeys, load, type MadeUp } from './load.ts';

/** A value beyond each bound of each kind of key, and what is said about it. */
const REFUSED: readonly (readonly [key: string, values: readonly string[], rule: RegExp])[] = [
  ['Pipeline:MaxConcurrency', ['0', '65', '1.5', 'many', ''], /must be a whole number from 1 to 64/],
  ['Pipeline:PollIntervalSeconds', ['0', '3601', '-2'], /from 1 to 3600/],
  ['Upload:MaxBytes', ['1023', '1e9', '99999999999999999999'], /of at least 1024/],
  ['Hosting:ShutdownTimeoutSeconds', ['-1', '601'], /from 0 to 600/],
  ['WatchedFolder:StabilityPollIntervalMs', ['49', '10001'], /from 50 to 10000/],
  ['WatchedFolder:StabilityConcurrency', ['0', '1025'], /from 1 to 1024/],
  ['Batch:Enabled', ['yes', '1', ''], /must be true or false/],
  [
    'Batch:Url',
    ['127.0.0.1:8080', 'ftp://x', 'http://x/path', 'http://u:p@x', 'http://x:99999', ''],
    /must be http:\/\/host:port/,
  ],
  ['Batch:Url', ['http://*:8080', 'http://+:8080'], /must name an address; 0\.0\.0\.0 or \[::\] stands/],
  ['Storage:OutputCollision', ['Overwrite'], /must be one of Suffix, Fail/],
  ['Signing:Certificate:Source', ['Blob'], /must be one of Pfx, Pem, Pkcs11/],
  ['Signing:Certificate:Source', ['WindowsStore'], /Windows only/],
  ['Runtime:Store', ['sqlite'], /must be one of lmdb, postgres/],
  ['Auth:ApiKeyHeader', ['X API Key', 'x:y', ''], /name of an HTTP header/],
  ['Auth:ApiKey', ['sixteen-letters!\n', ' sixteen-letters', 'sixteen\tletters!'], /that a header carries/],
  ['Auth:PreviousApiKey', ['sixteen-letters!\r\n'], /that a header carries/],
  ['Logging:LogLevel:Default', ['Trace'], /Verbose, Debug/],
  ['WatchedFolder:IgnoredExtensions', ['.tmp'], /is given entry by entry/],
  ['WatchedFolder:IgnoredExtensions:0', ['tmp', '.a/b'], /begins with a dot/],
  ['Storage:Root', ['a\0b'], /path without NUL/],
  ['Signing:Certificate:Pem:KeyPasswordEnvVar', ['NOT_SET_ANYWHERE'], /environment variable that is set/],
];

for (const [key, values, rule] of REFUSED) {
  for (const value of values) {
    test(`${key} refuses ${JSON.stringify(value)}`, (t) => {
      const loaded = load({ argv: [`--${key}=${value}`] });
      t.false(loaded.ok);
      const said = loaded.ok ? [] : loaded.faults.map(faultLine);
      t.is(said.length, 1);
      t.true(said[0]?.startsWith(`${key} `));
      t.regex(said[0] ?? '', rule);
    });
  }
}

test('values at the limits are accepted', (t) => {
  t.is(accepted({ argv: ['--Pipeline:MaxConcurrency=64'] }).pipeline.maxConcurrency, 64);
  t.is(accepted({ argv: ['--Upload:MaxBytes=1024'] }).upload.maxBytes, 1024);
  t.is(accepted({ argv: ['--Hosting:ShutdownTimeoutSeconds=0'] }).hosting.shutdownTimeoutSeconds, 0);
});

test('a listening address is parsed into host and port', (t) => {
  const url = (text: string) => accepted({ argv: [`--Batch:Url=${text}`] }).batch.url;
  t.like(url('http://0.0.0.0'), { host: '0.0.0.0', port: 80, href: 'http://0.0.0.0:80' });
  t.like(url('http://[::1]:0/'), { host: '::1', port: 0, href: 'http://[::1]:0' });
  t.like(url('HTTP://LocalHost:9000'), { scheme: 'http', host: 'localhost', port: 9000 });
});

test('all faults of all sources are reported together', (t) => {
  const keys = faultyKeys({
    files: {
      '/srv/app/appsettings.json': '{"Upload":{"MaxBytes":1}}',
      '/srv/app/appsettings.Development.json': '{',
    },
    env: { Pipeline__MaxConcurrency: 'x', Batch__Url: 'y' },
    argv: ['--RateLimiting:Enabled=maybe', '--Storage:Root'],
  });
  t.deepEqual([...keys].sort(), [
    'Batch:Url',
    'Pipeline:MaxConcurrency',
    'RateLimiting:Enabled',
    'Storage:Root',
    'Upload:MaxBytes',
    'appsettings.Development.json',
  ]);
});

const folder = (index: number, name: string, path: string) => ({
  [`Storage__Inputs__${index}__Name`]: name,
  [`Storage__Inputs__${index}__Path`]: path,
});

/** Input folders that cannot be, and the key that is blamed. */
const OVERLAPS: readonly (readonly [what: string, env: Record<string, string>, key: string])[] = [
  [
    'two of the same name',
    { ...folder(0, 'a', '/in/a'), ...folder(1, 'a', '/in/b') },
    'Storage:Inputs:1:Name',
  ],
  [
    'two on the same path',
    { ...folder(0, 'a', '/in/a'), ...folder(1, 'b', '/in/x/../a/') },
    'Storage:Inputs:1:Path',
  ],
  ['one inside the other', { ...folder(0, 'a', '/in'), ...folder(1, 'b', '/in/b') }, 'Storage:Inputs:1:Path'],
  ['one around the other', { ...folder(0, 'a', '/in/b'), ...folder(1, 'b', '/in') }, 'Storage:Inputs:1:Path'],
  ['one on the output folder', folder(0, 'a', '/srv/app/data/output'), 'Storage:Inputs:0:Path'],
  ['one inside the keys folder', folder(0, 'a', '/srv/app/data/keys/in'), 'Storage:Inputs:0:Path'],
  ['one on the storage root', folder(0, 'a', '/srv/app/data'), 'Storage:Inputs:0:Path'],
  ['one around the storage root', folder(0, 'a', '/'), 'Storage:Inputs:0:Path'],
  [
    'one with an unknown profile',
    { ...folder(0, 'a', '/in'), Storage__Inputs__0__Profile: 'gold' },
    'Storage:Inputs:0:Profile',
  ],
  ['one without a path', { Storage__Inputs__0__Name: 'a' }, 'Storage:Inputs:0:Path'],
  ['one with an empty path', folder(0, 'a', ''), 'Storage:Inputs:0:Path'],
  ['one with a name in capitals', folder(0, 'Invoices', '/in'), 'Storage:Inputs:0:Name'],
];
for (const [what, env, key] of OVERLAPS) {
  test(`input folders are refused with ${what}`, (t) => {
    t.deepEqual(faultyKeys({ env }), [key]);
  });
}

test('input folders beside each other and beside the work folders are accepted', (t) => {
  const env = {
    ...folder(0, 'a', '/srv/app/data/input'),
    ...folder(1, 'b', '/srv/app/data/input-2'),
    ...folder(2, 'c', '/in/..c'),
  };
  t.is(accepted({ env }).storage.inputs.length, 3);
});

/** Sources that contradict themselves, and the key that is blamed. */
const TOGETHER: readonly (readonly [what: string, sources: MadeUp, key: string])[] = [
  [
    'a TLS certificate without its key',
    { argv: ['--Hosting:Tls:CertificatePath=a.pem'] },
    'Hosting:Tls:KeyPath',
  ],
  ['https without a certificate', { argv: ['--Batch:Url=https://0.0.0.0:443'] }, 'Batch:Url'],
  [
    'the source Pem without paths',
    { argv: ['--Signing:Certificate:Source=Pem', '--Signing:Certificate:Pem:KeyPath=k'] },
    'Signing:Certificate:Pem:CertificatePath',
  ],
  [
    'a Pem block while the source is Pfx',
    { argv: ['--Signing:Certificate:Pem:KeyPath=k'] },
    'Signing:Certificate:Source',
  ],
  ['no certificate in Production', { env: { NODE_ENV: 'production' } }, 'Signing:Certificate:Pfx:Path'],
];
for (const [what, sources, key] of TOGETHER) {
  test(`the start is refused with ${what}`, (t) => {
    t.deepEqual(faultyKeys(sources), [key]);
  });
}

test('a password variable gives its value and is masked', (t) => {
  const loaded = load({
    argv: [
      '--Signing:Certificate:Source=Pem',
      '--Signing:Certificate:Pem:CertificatePath=c',
      '--Signing:Certificate:Pem:KeyPath=k',
      '--Signing:Certificate:Pem:KeyPasswordEnvVar=KEY_PW',
    ],
    env: { KEY_PW: 'correct horse battery' },
  });
  t.true(loaded.ok);
  if (!loaded.ok) return;
  t.deepEqual(loaded.settings.signing.certificate.pem.keyPasswordEnvVar, {
    variable: 'KEY_PW',
    value: 'correct horse battery',
  });
  t.deepEqual(loaded.settings.secrets, ['correct horse battery']);
  t.notRegex(JSON.stringify(loaded.resolved), /correct horse/);
});

test('no message contains a secret, not even one under the wrong key or inside a URL', (t) => {
  const secret = 'kJ8-very-secret-value';
  const loaded = load({
    env: { Auth__ApiKye: secret, Signing__License: secret, Batch__Url: `http://admin:${secret}@host:1` },
    argv: [`--Auth:ApiKey=${secret}`, `--Signing:Certificate:Pfx:Password=${secret}`, '--Upload:MaxBytes=1'],
  });
  t.false(loaded.ok);
  const said = [
    ...loaded.warnings.map(warningLine),
    ...(loaded.ok ? [] : loaded.faults.map(faultLine)),
    JSON.stringify(loaded.resolved),
  ];
  t.true(said.length >= 4);
  for (const line of said) t.false(line.includes(secret), line);
});

test('a misspelt key is answered with the probable one', (t) => {
  const said = load({
    argv: ['--Pipeline:MaxConcurency=2', '--Storage:Inputs:3:Nmae=x', '--Nonsense:Entirely=1'],
    env: { Storge__Root: '/x' },
    files: { '/srv/app/appsettings.json': '{"Uplaod":{"MaxBytes":5}}' },
  }).warnings.map(warningLine);
  t.true(said.some((line) => /^Pipeline:MaxConcurency .*did you mean Pipeline:MaxConcurrency/.test(line)));
  t.true(said.some((line) => /^Storage:Inputs:3:Nmae .*did you mean Storage:Inputs:3:Name/.test(line)));
  t.true(said.some((line) => /^Uplaod:MaxBytes .*did you mean Upload:MaxBytes/.test(line)));
  t.true(said.some((line) => /^Storge__Root .*Storage__/.test(line)));
  t.true(said.some((line) => /^Nonsense:Entirely is not a known key \(the command line\)\.$/.test(line)));
});

test('keys of the specification without effect are distinguished from unknown ones', (t) => {
  const said = load({
    argv: ['--Statistics:Window=2', '--Console:Dashboard:Title=x', '--Cluster:Enabled=true'],
    env: { ...folder(0, 'a', '/in') },
  }).warnings.map(warningLine);
  t.is(said.length, 3);
  for (const line of said) t.regex(line, /is known but not used by this version/);
});

test('weak choices are accepted with a warning', (t) => {
  const many = Object.assign(
    {},
    ...Array.from({ length: 17 }, (_, n) => folder(n, `f${n}`, `/in/${n}`)),
  ) as Record<string, string>;
  const said = (sources: MadeUp) => load(sources).warnings.map(({ key }) => key);
  t.deepEqual(said({ env: many }), ['Storage:Inputs']);
  t.deepEqual(said({ env: { Auth__ApiKey: 'short' } }), ['Auth:ApiKey']);
  t.deepEqual(said({ argv: ['--Auth:ApiKey='] }), ['Auth:ApiKey']);
  t.deepEqual(said({ env: { Auth__ApiKey: 'sixteen-letters!' } }), []);
  t.deepEqual(said({ argv: ['--Logging:File:Path=data/logs/batch1.log'] }), ['Logging:File:Path']);
  const database = (url: string) =>
    said({
      env: { Runtime__Store: 'postgres', Runtime__Postgres__Url: `postgres://u:p@${url}` },
    }).filter((key) => key.startsWith('Runtime:'));
  t.deepEqual(database('db.example.org/sealwright'), ['Runtime:Postgres:Url']);
  t.deepEqual(database('10.0.0.7:5432/sealwright?sslmode=disable'), ['Runtime:Postgres:Url']);
  t.deepEqual(database('db.example.org/sealwright?sslmode=verify-full'), []);
  t.deepEqual(database('127.0.0.1:5432,[fd00::2]:5432/x'), ['Runtime:Postgres:Url']);
  for (const local of [
    '127.0.0.1:5433/x',
    '[::1]/x',
    'LOCALHOST/x',
    '%2Frun%2Fpostgresql/x',
    '/x?host=/run/postgresql',
    '127.0.0.1:1,[::1]:2/x',
    'a,b/x?sslmode=require',
  ])
    t.deepEqual(database(local), [], local);
});

test('white space at the ends of a secret causes a warning that does not show the secret', (t) => {
  const said = (env: MadeUp['env']) => load(env === undefined ? {} : { env }).warnings.map(warningLine);
  const certificate = { Signing__Certificate__Source: 'Pfx', Signing__Certificate__Pfx__Path: '/k.pfx' };
  for (const password of ['secret-value\n', ' secret-value', 'secret-value\r\n']) {
    const lines = said({ ...certificate, Signing__Certificate__Pfx__Password: password });
    t.is(lines.length, 1);
    t.regex(lines[0] ?? '', /^Signing:Certificate:Pfx:Password begins or ends with white space/);
    t.notRegex(lines[0] ?? '', /secret-value/);
  }
  t.deepEqual(said({ ...certificate, Signing__Certificate__Pfx__Password: 'secret value' }), []);
  const pin = said({ ...certificate, BATCH_PKCS11_PIN: '1234\n' });
  t.is(pin.length, 1);
  t.regex(pin[0] ?? '', /^BATCH_PKCS11_PIN begins or ends with white space/);
});

test('texts that hardly mean what they say cause a warning: quotation marks, line ends, what only shells replace', (t) => {
  const said = (env: MadeUp['env']) => load(env === undefined ? {} : { env }).warnings.map(warningLine);
  for (const [variable, value, warning] of [
    [
      'Storage__Root',
      '"/srv/data"',
      /^Storage:Root is in quotation marks, which count .*variable Storage__Root/,
    ],
    ['Auth__ApiKey', "'0123456789abcdef0123'", /^Auth:ApiKey is in quotation marks/],
    ['Storage__Root', '/srv/data\r', /^Storage:Root begins or ends with white space/],
    ['Portal__Smtp__User', 'mailer\r', /^Portal:Smtp:User begins or ends with white space/],
    ['Storage__Root', '~/data', /^Storage:Root begins with what only shells replace/],
    ['Storage__Root', '$HOME/data', /^Storage:Root begins with what only shells replace/],
    ['Storage__Root', '%ProgramData%/data', /^Storage:Root begins with what only shells replace/],
    ['NODE_ENV', 'Production', /^NODE_ENV is "Production", which counts as Development/],
    ['NODE_ENV', '"production"', /^NODE_ENV is "\\"production\\"", which counts as Development/],
  ] as const) {
    const lines = said({ [variable]: value });
    t.true(
      lines.some((line) => warning.test(line)),
      `${variable}=${value}: ${lines.join(' ')}`,
    );
    t.false(lines.some((line) => line.includes('0123456789')));
  }
  for (const env of [
    { Storage__Root: '/srv/~data' },
    { Storage__Root: '/srv/my data' },
    { Pipeline__MaxConcurrency: ' 4 ' },
    { NODE_ENV: 'development' },
    { HTTPS_PROXY: 'http://proxy:3128' },
  ])
    t.deepEqual(said(env), [], JSON.stringify(env));
});

test('a proxy in the environment causes a warning where the service connects to authorities', (t) => {
  const env = {
    Signing__Profiles__0__Name: 'a',
    Signing__Profiles__0__Timestamp__Url: 'http://tsa.example.org/',
  };
  const said = (more: Readonly<Record<string, string>>) =>
    load({ env: { ...env, ...more } }).warnings.filter(({ key }) => /proxy/i.test(key)).length;
  t.deepEqual([said({}), said({ https_proxy: 'http://proxy:3128' }), said({ HTTP_PROXY: '' })], [0, 1, 0]);
});

test('a secret on the command line causes a warning, and elsewhere none', (t) => {
  const key = 'a-key-of-the-service';
  const said = (sources: MadeUp) => load(sources).warnings.map(warningLine);
  const [line = '', ...others] = said({ argv: [`--Auth:ApiKey=${key}`] });
  t.regex(line, /^Auth:ApiKey is on the command line, where each user of this machine can read it/);
  t.deepEqual(others, []);
  t.deepEqual(said({ env: { Auth__ApiKey: key } }), []);
  t.deepEqual(
    said({ files: { '/srv/app/appsettings.json': JSON.stringify({ Auth: { ApiKey: key } }) } }),
    [],
  );
  t.deepEqual(
    said({ argv: ['--Auth:ApiKey=overruled', '--Auth:ApiKey='] }).filter((text) => /stands on/.test(text)),
    [],
  );
});
