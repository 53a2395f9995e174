import ava from 'ava';
import { withTools } from '../verifiers/tool.ts';
import { CONTRACT } from './painted/changes.ts';
import { paintedSession } from './painted/session.ts';
import { Random } from './random.ts';

const test = withTools(ava, 'mutool', 'pdftoppm');

/** Random changes; `node dist/test/fuzz/painted-run.js` makes more, also of other documents. */
const CHANGES = 1000;

test('a change that passes shows the signed content and its value in two renderers', async (t) => {
  t.timeout(300_000);
  const random = new Random(Number(process.env.SEALWRIGHT_RANDOM_SEED ?? 20261126));
  const { verdicts, accepted } = await paintedSession({ random, pages: [CONTRACT], changes: CHANGES });
  t.log(JSON.stringify(verdicts));
  t.deepEqual(accepted, []);
  for (const [verdict, count] of Object.entries(verdicts)) t.true(count > 0, verdict);
});
