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

test('the URL of the database is masked as a secret', (t) => {
  const loaded = load({ argv: POSTGRES });
  t.true(loaded.ok && loaded.settings.secrets.some((secret) => secret.includes('hush-hush')));
  t.false(loaded.ok && JSON.stringify(loaded.resolved).includes('hush-hush'));
});
