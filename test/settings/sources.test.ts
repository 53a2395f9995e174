import test from 'ava';
import { accepted, faultyKeys, load } from './load.ts';

const ROOT = '/srv/app/appsettings.json';
const json = (value: unknown) => JSON.stringify(value);

test('an empty configuration gives the documented defaults', (t) => {
  const settings = accepted({});
  t.is(settings.storage.root, '/srv/app/data');
  t.like(settings.storage.inputs, [{ name: 'default', path: '/srv/app/data/input', profile: 'default' }]);
  t.is(settings.storage.outputCollision, 'Suffix');
  t.like(settings.batch, { enabled: true, url: { scheme: 'http', host: '127.0.0.1', port: 8080 } });
  t.is(settings.auth.apiKey, undefined);
  t.is(settings.auth.apiKeyHeader, 'X-API-Key');
  t.is(settings.upload.maxBytes, 104_857_600);
  t.deepEqual(settings.pipeline, { pollIntervalSeconds: 2, maxConcurrency: 1, taskTimeoutSeconds: 900 });
  t.deepEqual(settings.watchedFolder.ignoredExtensions, ['.tmp', '.part', '.crdownload', '.swp']);
  t.deepEqual(settings.rateLimiting.upload, { permitsPerWindow: 30, windowSeconds: 60, queueLimit: 0 });
  t.is(settings.environment, 'Development');
  t.true(settings.signing.allowSelfSigned);
});

test('each source overrides the ones before it, key by key', (t) => {
  const file = (n: number) => json({ Pipeline: { MaxConcurrency: n } });
  const layers = {
    files: {
      [ROOT]: json({ Pipeline: { MaxConcurrency: 2, PollIntervalSeconds: 9 } }),
      '/srv/app/appsettings.Development.json': file(3),
      '/etc/sw/appsettings.json': file(4),
      '/etc/sw/appsettings.Development.json': file(5),
    },
    env: { SEALWRIGHT_CONFIG_DIR: '/etc/sw', Pipeline__MaxConcurrency: '6' },
    argv: ['--Pipeline:MaxConcurrency=7'],
  };
  const concurrency = (sources: Parameters<typeof accepted>[0]) => accepted(sources).pipeline.maxConcurrency;
  t.is(concurrency({ files: { [ROOT]: layers.files[ROOT] ?? '' } }), 2);
  t.is(concurrency({ files: layers.files }), 3);
  t.is(concurrency({ files: layers.files, argv: ['--config-dir', '/etc/sw'] }), 5);
  t.is(concurrency({ files: layers.files, env: layers.env }), 6);
  t.is(concurrency(layers), 7);
  t.is(accepted(layers).pipeline.pollIntervalSeconds, 9);
});

test('the folder on the command line overrides the one in the environment', (t) => {
  const settings = accepted({
    files: {
      '/a/appsettings.json': json({ Batch: { Enabled: false } }),
      '/b/appsettings.json': '{"Upload":{"MaxBytes":2048}}',
    },
    env: { SEALWRIGHT_CONFIG_DIR: '/b' },
    argv: ['--config-dir=/a'],
  });
  t.false(settings.batch.enabled);
  t.is(settings.upload.maxBytes, 104_857_600);
});

test('a configuration folder that does not exist is refused, an empty one is not', (t) => {
  t.deepEqual(faultyKeys({ argv: ['--config-dir', '/etc/ws'] }), ['--config-dir']);
  t.deepEqual(faultyKeys({ env: { SEALWRIGHT_CONFIG_DIR: '/etc/ws' } }), ['SEALWRIGHT_CONFIG_DIR']);
  t.deepEqual(faultyKeys({ argv: ['--config-dir', '/etc/sw'], files: { '/etc/sw': '' } }), []);
});

test('a file in UTF-16 is refused by its encoding', (t) => {
  const text = Buffer.from('\uFEFF{}', 'utf16le').toString('utf8');
  const loaded = load({ files: { [ROOT]: text } });
  t.false(loaded.ok);
  t.regex(JSON.stringify(loaded), /appsettings\.json.*not in UTF-8/);
});

test('NODE_ENV=production, and no other value, reads the Production file and forbids development certificates', (t) => {
  const files = {
    '/srv/app/appsettings.Production.json': json({ Signing: { Certificate: { Pfx: { Path: 'a.pfx' } } } }),
  };
  const production = accepted({ files, env: { NODE_ENV: 'production' } });
  t.true(production.production);
  t.is(production.signing.certificate.pfx.path, '/srv/app/a.pfx');
  t.false(production.signing.allowSelfSigned);
  t.is(accepted({ files, env: { NODE_ENV: 'staging' } }).signing.certificate.pfx.path, undefined);
});

test('a file whose name differs in the case of letters is not read, and a warning says so', (t) => {
  const said = (names: readonly string[]) => {
    const files = Object.fromEntries(names.map((name) => [`/srv/app/${name}`, '{}']));
    return load({ files, env: { NODE_ENV: 'production' } }).warnings.map(({ key, text }) => `${key} ${text}`);
  };
  t.deepEqual(said(['appsettings.production.json']), [
    'appsettings.production.json is not read: its name must be appsettings.Production.json',
  ]);
  t.deepEqual(said(['appsettings.production.json', 'appsettings.Production.json']), []);
});

test('keys are compared without case in files, environment and command line', (t) => {
  const settings = accepted({
    files: { [ROOT]: '{"STORAGE":{"root":"/data"}}' },
    env: { pipeline__MAXCONCURRENCY: '4' },
    argv: ['--upload:maxbytes=4096'],
  });
  t.is(settings.storage.root, '/data');
  t.is(settings.pipeline.maxConcurrency, 4);
  t.is(settings.upload.maxBytes, 4096);
});

test('files may hold comments, trailing commas and a byte order mark', (t) => {
  const text = '\ufeff// first\n{ /* "Pipeline": {} */ "Pipeline": { "MaxConcurrency": 8, }, // last\n}';
  t.is(accepted({ files: { [ROOT]: text } }).pipeline.maxConcurrency, 8);
});

test('lists are merged by index between sources and replace the default as a whole', (t) => {
  const files = { [ROOT]: json({ WatchedFolder: { IgnoredExtensions: ['.a', '.b'] } }) };
  const env = { WatchedFolder__IgnoredExtensions__1: '.c', WatchedFolder__IgnoredExtensions__10: '.d' };
  t.deepEqual(accepted({ files }).watchedFolder.ignoredExtensions, ['.a', '.b']);
  t.deepEqual(accepted({ files, env }).watchedFolder.ignoredExtensions, ['.a', '.c', '.d']);
});

test('an empty list means no entries, and null restores the default', (t) => {
  const files = { [ROOT]: json({ WatchedFolder: { IgnoredPrefixes: ['x'] }, Auth: { ApiKey: 'one' } }) };
  const later = (value: unknown) => ({
    files: { ...files, '/srv/app/appsettings.Development.json': json(value) },
  });
  t.deepEqual(accepted(later({ WatchedFolder: { IgnoredPrefixes: [] } })).watchedFolder.ignoredPrefixes, []);
  t.deepEqual(accepted(later({ WatchedFolder: { IgnoredPrefixes: null } })).watchedFolder.ignoredPrefixes, [
    '.',
    '~$',
  ]);
  t.is(accepted(later({ Auth: { ApiKey: null } })).auth.apiKey, undefined);
});

test('an input folder is merged member by member over all sources', (t) => {
  const { inputs } = accepted({
    files: {
      [ROOT]: json({
        Storage: { Inputs: [{ Name: 'invoices', Path: '/in/a', IgnoredExtensions: ['.log'] }] },
      }),
    },
    env: {
      Storage__Inputs__1__Name: 'contracts',
      Storage__Inputs__1__Path: 'in/b',
      Storage__Inputs__0__PollIntervalSeconds: '60',
    },
  }).storage;
  t.deepEqual(
    inputs.map(({ name, path }) => `${name} ${path}`),
    ['invoices /in/a', 'contracts /srv/app/in/b'],
  );
  t.is(inputs[0]?.pollIntervalSeconds, 60);
  t.deepEqual(inputs[0]?.ignoredExtensions, ['.log']);
});

test('an absent API key, an empty one and a given one have different meanings', (t) => {
  t.is(accepted({}).auth.apiKey, undefined);
  t.is(accepted({ env: { Auth__ApiKey: '' } }).auth.apiKey, '');
  t.is(accepted({ argv: ['--Auth:ApiKey=a=b'] }).auth.apiKey, 'a=b');
});

test('variables of other programs are ignored', (t) => {
  const { warnings } = load({ env: { npm_config__x: '1', GIT__DIR: '2', Path: '3' } });
  t.deepEqual(warnings, []);
});

test('a malformed file is refused with line and column, without its content', (t) => {
  const loaded = load({ files: { [ROOT]: '{\n  "Auth": { "ApiKey": "hunter2-hunter2" oops }\n}' } });
  t.false(loaded.ok);
  const said = JSON.stringify(loaded);
  t.regex(said, /appsettings\.json/);
  t.regex(said, /line 2, column 41/);
  t.notRegex(said, /hunter2|oops/);
});

for (const [what, text] of [
  ['two values', '{} {}'],
  ['an unclosed comment', '{ /* }'],
  ['an unclosed string', '{ "a": "b }'],
  ['a member without a colon', '{ "a" 1 }'],
  ['a word that is no value', '{ "a": yes }'],
  ['a number with a leading zero', '{ "a": 01 }'],
  ['a list at the top', '[1]'],
  ['nothing', ''],
  ['very deep nesting', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
] as const) {
  test(`a file that holds ${what} is refused`, (t) => {
    t.deepEqual(faultyKeys({ files: { [ROOT]: text } }), ['appsettings.json']);
  });
}

test('escapes in strings follow JSON', (t) => {
  const files = { [ROOT]: '{"Auth":{"ApiKey":"a\\u00e9\\u0062\\"\\\\\\/"}}' };
  t.is(accepted({ files }).auth.apiKey, 'aéb"\\/');
});

test('a member named __proto__ is an unknown key', (t) => {
  const loaded = load({ files: { [ROOT]: '{"__proto__":{"ok":true},"constructor":{"x":1}}' } });
  t.true(loaded.ok);
  t.is(loaded.warnings.length, 2);
  t.is(({} as { ok?: boolean }).ok, undefined);
});
