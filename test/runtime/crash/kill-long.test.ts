import test from 'ava';
import { KillProof } from './kill-proof.ts';

const REQUESTS = 200_000;

test('the long kill test loses, tears and duplicates none of 200,000 acknowledged requests', async (t) => {
  t.timeout(1_800_000);
  const verdict = await new KillProof(t, Number(process.env['SEALWRIGHT_KILL_SEED'] ?? 2)).run(REQUESTS);
  t.like(verdict, { lost: 0, torn: 0, doubled: 0 });
  t.true(verdict.acknowledged >= REQUESTS);
  t.log(JSON.stringify(verdict));
});
