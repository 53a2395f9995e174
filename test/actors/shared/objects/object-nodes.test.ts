/** Three nodes on a database and a bucket, which share no folder and lose their disks. */
import ava from 'ava';
import { startServer } from '../../../postgres/cluster.ts';
import { roundsOf } from '../../../project/rounds.ts';
import { withTools } from '../../../verifiers/tool.ts';
import { runNodes } from './object-nodes.ts';
import { sharedRadosgw } from './radosgw.ts';

const test = withTools(ava, 'radosgw', 'postgres');

const REQUESTS = roundsOf(45, 90);
const KILLS = roundsOf(2, 3);

test('nodes that are killed and lose their disks lose no acknowledged upload and double none', async (t) => {
  t.timeout(280_000);
  const server = await sharedRadosgw();
  const cluster = server && (await startServer());
  t.teardown(() => cluster.remove());
  const bucket = await server.bucket();
  const options = { url: cluster.url, bucket, nodes: 3, requests: REQUESTS, kills: KILLS };
  const { lost, doubled, acknowledged, retried } = await runNodes(t, options);
  t.log(`${acknowledged} acknowledged, ${retried} retried`);
  t.is(acknowledged, REQUESTS);
  t.deepEqual({ lost, doubled }, { lost: [], doubled: [] });
});
