/** A short chaos run; `node dist/test/postgres/chaos-run.js` makes long ones. */
import ava from 'ava';
import { roundsOf } from '../project/rounds.ts';
import { temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { runChaos } from './chaos.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

const REQUESTS = roundsOf(250, 1500);
/** The five kinds take turns. */
const FAULTS = roundsOf(5, 8);

test('three nodes that are killed and suspended, with cut lines and a crashing database, lose nothing', async (t) => {
  t.timeout(480_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const root = await temporaryRoot(t);
  const { acknowledged, uploads, broken, takeOverMs, documents, repeats } = await runChaos(t, {
    root,
    cluster,
    nodes: 3,
    requests: REQUESTS,
    faults: FAULTS,
    seed: 1,
    leaseSeconds: 3,
    say: (text) => t.log(text),
  });
  t.log(`${documents} documents; ${repeats.calls} webhook calls and ${repeats.mails} mails came again.`);
  t.log(`Take-over after ${takeOverMs.join(', ')} ms.`);
  t.deepEqual(broken, []);
  t.true(acknowledged >= REQUESTS);
  t.true(uploads > 0);
  t.true(takeOverMs.length > 0);
  t.true(documents > 0);
});
