import test from 'ava';
import { accepted, faultyKeys, load } from './load.ts';

const POSTGRES = [
  '--Runtime:Store=postgres',
  '--Runtime:Postgres:Url=postgres://who:hush-hush@db:5432/sealwright',
];

test('PostgreSQL needs the URL of a database and actors on the main thread', (t) => {
  t.deepEqual(faultyKeys({ argv: ['--Runtime:Store=postgres'] }), ['Runtime:Postgres:Url']);
  for (const url of ['', 'db', 'https://db/x', 'postgres://db']) {
    t.deepEqual(faultyKeys({ argv: ['--Runtime:Store=postgres', `--Runtime:Postgres:Url=${url}`] }), [
      'Runtime:Postgres:Url',
    ]);
  }
  t.deepEqual(faultyKeys({ argv: [...POSTGRES, '--Runtime:Shards=2'] }), ['Runtime:Shards']);
  t.like(accepted({ argv: POSTGRES }).runtime, {
    store: 'postgres',
    leaseSeconds: 5,
    postgres: { poolSize: 10, schema: 'sealwright', statementTimeoutMs: 30_000 },
  });
});

test('the URL of the database may name several hosts, Unix sockets and files of TLS, and each fault of it has a sentence', (t) => {
  const rules = (url: string) => {
    const loaded = load({ argv: ['--Runtime:Store=postgres', `--Runtime:Postgres:Url=${url}`] });
    return loaded.ok ? [] : loaded.faults.map(({ rule }) => rule);
  };
  for (const good of [
    'postgres://u:p@a:5432,b:5433/x?target_session_attrs=read-write',
    'postgresql://u:p@[2001:db8::1]:5432,[2001:db8::2]/x?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    'postgres:///x?host=/run/postgresql&port=5433&user=u',
    'postgres://u:%2F%3F%23@%2Frun%2Fpostgresql/x',
    'postgres://u:100%@a@b@c/x',
  ])
    t.deepEqual(rules(good), [], good);
  for (const [bad, rule] of [
    ['postgres://u:p/q@a/x', /characters such as \/ \? # of a password are written as/],
    ['postgres://u:p@a:5432,,b/x', /has a host that cannot be read/],
    ['postgres://u:p@2001:db8::1/x', /has a host that cannot be read/],
    ['postgres://u:p@a:99999/x', /has a port that is not 1 to 65535/],
    ['postgres://u:p@a/x?target_session_attrs=standby', /must be one of any, read-write, primary/],
    ['postgres://u:p@a/x?sslmode=verify_full', /must be one of disable, allow/],
    ['postgres://u:p@a/x?sslmode=verify-ca', /needs sslrootcert/],
  ] as const) {
    const found = rules(bad);
    t.is(found.length, 1, bad);
    t.regex(found[0] ?? '', rule, bad);
    t.notRegex(found[0] ?? '', /p\/q/);
  }
});

test('the URL of the database is masked as a secret', (t) => {
  const loaded = load({ argv: POSTGRES });
  t.true(loaded.ok && loaded.settings.secrets.some((secret) => secret.includes('hush-hush')));
  t.false(loaded.ok && JSON.stringify(loaded.resolved).includes('hush-hush'));
});

const BUCKET = ['--Storage:Objects:Kind=S3', '--Storage:Objects:S3:Bucket=acme-signing'];

test('a bucket needs its name, and both halves of an access key or none', (t) => {
  t.deepEqual(faultyKeys({ argv: BUCKET }), []);
  t.deepEqual(faultyKeys({ argv: BUCKET.slice(0, 1) }), ['Storage:Objects:S3:Bucket']);
  const half = [...BUCKET, '--Storage:Objects:S3:AccessKeyId=AK'];
  t.deepEqual(faultyKeys({ argv: half }), ['Storage:Objects:S3:SecretAccessKey']);
  t.deepEqual(faultyKeys({ argv: [...half, '--Storage:Objects:S3:SecretAccessKey=SK'] }), []);
  t.deepEqual(faultyKeys({ argv: [...BUCKET, '--Storage:Objects:S3:Prefix=/a'] }), [
    'Storage:Objects:S3:Prefix',
  ]);
});
