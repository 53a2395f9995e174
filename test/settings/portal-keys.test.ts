import test from 'ava';
import { accepted, faultyKeys, load } from './load.ts';

test('a portal without settings is served with a mail folder and without users', (t) => {
  const { portal } = accepted({});
  t.like(portal, {
    enabled: true,
    publicUrl: undefined,
    organizations: [],
    uploadMaxBytes: 106_954_752,
    webhookAllowPrivate: true,
    webhookConcludedDelaySeconds: 0,
    identifiers: 'Any',
    sealProfile: undefined,
  });
  t.is(portal.url.href, 'http://127.0.0.1:8090');
  t.is(portal.smtp.host, undefined);
  t.deepEqual(
    Object.values(portal.bootstrap).filter((value) => value !== undefined),
    [],
  );
});

test('production refuses private addresses for webhooks by default', (t) => {
  const env = {
    NODE_ENV: 'production',
    Signing__AllowSelfSigned: 'true',
    Portal__Bootstrap__Application: 'Script App',
    Portal__Bootstrap__Secret: 'x'.repeat(64),
  };
  t.false(accepted({ env }).portal.webhookAllowPrivate);
  t.true(accepted({ env: { ...env, Portal__WebhookAllowPrivate: 'true' } }).portal.webhookAllowPrivate);
});

test('production refuses certificates of participants without a trusted root by default', (t) => {
  const env = { NODE_ENV: 'production', Signing__AllowSelfSigned: 'true' };
  t.true(accepted({}).portal.allowUnprovenCertificates);
  t.false(accepted({ env }).portal.allowUnprovenCertificates);
  const explicit = { ...env, Portal__AllowUnprovenCertificates: 'true' };
  t.true(accepted({ env: explicit }).portal.allowUnprovenCertificates);
});

test('organizations of the settings are read completely, with masked secrets', (t) => {
  const argv = [
    '--Portal:Organizations:0:Name=Acme Ltd',
    '--Portal:Organizations:0:EmbedOrigins:0=https://App.example:8443',
    '--Portal:Organizations:0:Language=PT',
    '--Portal:Organizations:0:ReplyTo=Acme <help@acme.example>',
    '--Portal:Organizations:0:Webhook:Url=https://hooks.acme.example/in',
    '--Portal:Organizations:0:Webhook:AuthType=bearer',
    '--Portal:Organizations:1:Name=Other',
    '--Portal:Organizations:1:Identifier=12.345',
  ];
  const env = { Portal__Organizations__0__Webhook__Token: 'tok-en-of-acme' };
  const { organizations } = accepted({ argv, env }).portal;
  t.deepEqual(organizations[0], {
    name: 'Acme Ltd',
    identifier: undefined,
    embedOrigins: ['https://app.example:8443'],
    language: 'pt',
    replyTo: 'Acme <help@acme.example>',
    refuseSignedEnvelopeFiles: undefined,
    requiredQualification: undefined,
    webhook: {
      url: 'https://hooks.acme.example/in',
      authType: 'Bearer',
      token: 'tok-en-of-acme',
      secret: undefined,
    },
  });
  t.like(organizations[1], { name: 'Other', identifier: '12.345', embedOrigins: undefined });
  t.false(JSON.stringify(load({ argv, env }).resolved).includes('tok-en-of-acme'));
  t.deepEqual(load({ argv, env }).warnings, []);
});

test('contradictory settings of the portal are reported together', (t) => {
  const refused = (...argv: readonly string[]) => faultyKeys({ argv: argv.map((arg) => `--Portal:${arg}`) });
  t.deepEqual(refused('Bootstrap:Application=a'), ['Portal:Bootstrap:Secret']);
  t.deepEqual(refused('Bootstrap:Secret=0123456789abcdef'), ['Portal:Bootstrap:Application']);
  t.deepEqual(refused('Bootstrap:MonitorApplication=a'), ['Portal:Bootstrap:MonitorSecret']);
  t.deepEqual(refused('Bootstrap:Application=a', 'Bootstrap:Secret=a|b'), ['Portal:Bootstrap:Secret']);
  t.deepEqual(
    refused(
      'Bootstrap:Application=Same',
      'Bootstrap:Secret=0123456789abcdef',
      'Bootstrap:MonitorApplication=same',
      'Bootstrap:MonitorSecret=0123456789abcdef',
    ),
    ['Portal:Bootstrap:MonitorApplication'],
  );
  t.deepEqual(refused('Organizations:0:Name=A|B'), ['Portal:Organizations:0:Name']);
  t.deepEqual(refused('Organizations:0:Identifier=1'), ['Portal:Organizations:0:Name']);
  t.deepEqual(refused('Organizations:0:Name=A', 'Organizations:1:Name=a'), ['Portal:Organizations:1:Name']);
  const one = 'Organizations:0:Name=A';
  const origin = (text: string) => refused(one, `Organizations:0:EmbedOrigins:0=${text}`);
  for (const app of ['capacitor://localhost', 'ionic://localhost', 'app://-', 'tauri://localhost:1420'])
    t.deepEqual(origin(app), [], app);
  for (const none of [
    'https://a.example/path',
    'file://localhost',
    'javascript://x',
    'data://x',
    '*',
    'a://b c',
    'a://b;script-src',
  ])
    t.deepEqual(origin(none), ['Portal:Organizations:0:EmbedOrigins:0'], none);
  t.deepEqual(refused(one, 'Organizations:0:Webhook:AuthType=Basic'), [
    'Portal:Organizations:0:Webhook:Url',
    'Portal:Organizations:0:Webhook:Token',
  ]);
  const hook = 'Organizations:0:Webhook:Url=https://a.example/';
  t.deepEqual(refused(one, hook, 'Organizations:0:Webhook:Secret=short'), [
    'Portal:Organizations:0:Webhook:Secret',
  ]);
  t.deepEqual(refused('Smtp:Host=relay'), ['Portal:Smtp:From']);
  t.deepEqual(refused('Smtp:Host=relay', 'Smtp:From=a@b.example', 'Smtp:User=u'), ['Portal:Smtp:Password']);
  t.deepEqual(refused('Smtp:From=nobody'), ['Portal:Smtp:From']);
  t.deepEqual(refused('Url=http://127.0.0.1:8080'), ['Portal:Url']);
  t.deepEqual(refused('Url=https://127.0.0.1:8090'), ['Portal:Url']);
  t.deepEqual(refused('Url=http://127.0.0.1:8080', 'Enabled=false'), []);
  t.deepEqual(refused('SealProfile=missing'), ['Portal:SealProfile']);
});

test('paths can be appended to the public address, however it is written', (t) => {
  const publicUrl = (url: string) => accepted({ argv: [`--Portal:PublicUrl=${url}`] }).portal.publicUrl;
  for (const end of ['', '/', '//']) {
    t.is(publicUrl(`https://Sign.example.org${end}`), 'https://sign.example.org');
    t.is(publicUrl(`http://127.0.0.1:8090/portal${end}`), 'http://127.0.0.1:8090/portal');
  }
  const refused = (url: string) => faultyKeys({ argv: [`--Portal:PublicUrl=${url}`] });
  for (const url of ['https://a.example/?b', 'https://a.example/#c', 'https://u:p@a.example', '//a.example'])
    t.deepEqual(refused(url), ['Portal:PublicUrl'], url);
});

test('nodes of one service without a public address are warned of links to one node', (t) => {
  const argv = ['--Portal:Enabled=true', '--Portal:Url=http://0.0.0.0:8090'];
  const env = { Runtime__Postgres__Url: 'postgres://localhost/sealwright' };
  const warned = (...more: string[]) =>
    load({ argv: [...argv, ...more], env }).warnings.map(({ key }) => key);
  t.deepEqual(warned(), []);
  t.deepEqual(warned('--Runtime:Store=postgres'), ['Portal:PublicUrl']);
  t.deepEqual(warned('--Runtime:Store=postgres', '--Portal:PublicUrl=https://sign.example.org'), []);
});

test('a short secret is accepted with a warning, and never printed', (t) => {
  const loaded = load({
    env: { Portal__Bootstrap__Application: 'Script', Portal__Bootstrap__Secret: 's3cr3t' },
  });
  t.true(loaded.ok);
  t.deepEqual(
    loaded.warnings.map(({ key }) => key),
    ['Portal:Bootstrap:Secret'],
  );
  t.false(JSON.stringify([loaded.warnings, loaded.resolved]).includes('s3cr3t'));
});
