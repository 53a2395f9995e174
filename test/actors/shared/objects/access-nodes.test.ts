/** Keys and sessions of operators on two nodes, each with a disk of its own, which may be lost. */
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { ask, logIn } from '../../../http/ask.ts';
import { startServer } from '../../../postgres/cluster.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { withTools } from '../../../verifiers/tool.ts';

const test = withTools(ava, 'postgres');

test('a key and a session of one node count on the other, and their end outlives kills and lost disks', async (t) => {
  t.timeout(180_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const rootOfA = await temporaryRoot(t);
  const rootOfB = await temporaryRoot(t);
  const keys = await temporaryRoot(t);
  const start = (node: string, root: string, settings: { readonly [key: string]: string } = {}) =>
    Service.startOne(t, {
      root,
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': cluster.url,
        'Runtime:NodeName': node,
        'Runtime:Postgres:PoolSize': 4,
        'Runtime:LeaseSeconds': 5,
        'Runtime:Shards': 1,
        ...settings,
      },
    });
  const portOf = ({ url }: Service) => Number(new URL(url).port);
  const statusOf = async (node: Service, headers: { readonly [name: string]: string }) =>
    (await ask(portOf(node), 'GET', { path: '/api/pipeline/state', headers })).status;
  const change = async (node: Service, path: string, body = {}) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await node.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    t.is(answer.status, 200, path);
    return (await answer.json()) as { secret: string };
  };

  let a = await start('a', rootOfA);
  cpSync(join(rootOfA, 'keys'), join(keys, 'keys'), { recursive: true });
  chmodSync(join(keys, 'keys'), 0o500);
  const b = await start('b', rootOfB, { 'Storage:KeysPath': join(keys, 'keys') });
  const make = async (name: string) => ({
    'X-API-Key': (await change(a, '/api/keys', { name, scopes: ['read'] })).secret,
  });
  const kept = await make('kept');
  const revoked = await make('revoked');
  t.deepEqual([await statusOf(b, kept), await statusOf(b, revoked)], [200, 200]);
  const apiKey = await a.key();
  const begin = async (node: Service) => {
    const { answer, cookie } = await logIn(portOf(node), apiKey);
    t.is(answer.status, 302, answer.text);
    return { Cookie: cookie };
  };
  const ended = await begin(a);
  const other = await begin(b);
  t.deepEqual([await statusOf(b, ended), await statusOf(a, other)], [200, 200]);

  await change(a, '/api/keys/revoked/revoke');
  t.is((await ask(portOf(a), 'POST', { path: '/api/auth/logout', headers: ended })).status, 302);
  // The next request of the other node, after the first has gone without a word.
  await a.kill();
  t.deepEqual([await statusOf(b, revoked), await statusOf(b, ended)], [401, 401]);
  rmSync(rootOfA, { recursive: true });
  cpSync(join(keys, 'keys'), join(rootOfA, 'keys'), { recursive: true });
  chmodSync(join(rootOfA, 'keys'), 0o700);
  a = await start('a', rootOfA);
  for (const node of [a, b]) {
    t.deepEqual([await statusOf(node, kept), await statusOf(node, other)], [200, 200]);
    t.deepEqual([await statusOf(node, revoked), await statusOf(node, ended)], [401, 401]);
  }
  for (const root of [rootOfA, rootOfB]) t.false(existsSync(join(root, 'keys', 'named-keys.json')));
});
