/**
 * What the runtime promises when the process dies: see `kill-proof.ts`. A release tries many more
 * requests. SEALWRIGHT_KILL_SEED makes other moments.
 */
import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { KillProof } from './kill-proof.ts';

const REQUESTS = roundsOf(1_500, 200_000);

test('kills at every fault point for every kind of effect lose, tear and duplicate none of thousands of acknowledged requests', async (t) => {
  t.timeout(roundsOf(240_000, 1_800_000));
  const proof = new KillProof(t, Number(process.env['SEALWRIGHT_KILL_SEED'] ?? 1));
  const verdict = await proof.run(REQUESTS);
  t.like(verdict, { lost: 0, torn: 0, doubled: 0 });
  t.true(verdict.acknowledged >= REQUESTS);
  t.log(JSON.stringify(verdict));
});
