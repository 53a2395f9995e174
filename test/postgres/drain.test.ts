/** A node that an operator asks to end. */
import ava from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

test('a drained node ends, and the history names the operator', async (t) => {
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const root = await temporaryRoot(t);
  const settings = {
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': cluster.url,
    'Runtime:NodeName': 'node-1',
    'Runtime:Shards': 1,
  };
  const service = await Service.startOne(t, { root, settings });
  const headers = { 'X-API-Key': await service.key() };
  const drain = (node: string) =>
    fetch(`${service.url}/api/runtime/nodes/${node}/drain`, { method: 'POST', headers });
  t.is((await drain('node-7')).status, 404);
  t.is((await drain('node-1')).status, 202);
  t.is(await service.ended, 0);

  const again = await Service.startOne(t, { root, settings });
  const list = async (path: string) => (await fetch(`${again.url}${path}`, { headers })).json();
  const { items } = (await list('/api/events?kind=NodeDraining')) as {
    readonly items: readonly { readonly id: string; readonly actor: string; readonly message: string }[];
  };
  t.deepEqual(
    items.map(({ actor, message }) => [actor, message]),
    [['operator', 'The node node-1 finishes its work and ends.']],
  );
  const { history } = (await list(`/api/actors/system-event/${items[0]?.id}`)) as {
    readonly history: readonly { readonly message: string }[];
  };
  t.deepEqual(
    history.map(({ message }) => message),
    ['The node node-1 finishes its work and ends.'],
  );
  t.is(await again.stop(), 0);
});
