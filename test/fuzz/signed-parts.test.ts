import test from 'ava';
import { Random } from './random.ts';
import { signedPartTargets } from './signed-parts.ts';

/** Mutated files for each format; `SEALWRIGHT_FUZZ_PARTS` sets another number. */
const ROUNDS = Number(process.env.SEALWRIGHT_FUZZ_PARTS ?? 1500);

test('a signed file with moved, duplicated or replaced parts never passes as the signed content', async (t) => {
  t.timeout(300_000);
  const random = new Random(Number(process.env.SEALWRIGHT_RANDOM_SEED ?? 20261122));
  let generated = 0;
  const accepted: string[] = [];
  for (const target of await signedPartTargets()) {
    for (let round = 0; round < ROUNDS; round++) {
      const { description, accepted: wrong } = target(random);
      generated++;
      if (wrong) accepted.push(description);
    }
  }
  t.log(`false accepts ${accepted.length} of ${generated} generated`);
  t.deepEqual(accepted.slice(0, 3), []);
});
