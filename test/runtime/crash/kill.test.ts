/**
 * What the runtime promises when the process dies: see `kill-proof.ts`. `kill-long.test.ts` is the same with ten times
 * as many requests. SEALWRIGHT_KILL_SEED makes other moments.
 */
import test from 'ava';
import { KillProof } from './kill-proof.ts';

const REQUESTS = 20_000;

test('kills at every fault point for every kind of effect lose, tear and duplicate none of 20,000 acknowledged requests', async (t) => {
  t.timeout(240_000);
  const proof = new KillProof(t, Number(process.env['SEALWRIGHT_KILL_SEED'] ?? 1));
  const verdict = await proof.run(REQUESTS);
  t.like(verdict, { lost: 0, torn: 0, doubled: 0 });
  t.true(verdict.acknowledged >= REQUESTS);
  t.log(JSON.stringify(verdict));
});
