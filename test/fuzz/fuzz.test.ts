import test from 'ava';
import { TARGETS } from './all-targets.ts';
import { runFuzzer } from './fuzzer.ts';
import { bytesMutation } from './mutate/bytes.ts';
import { derMutation } from './mutate/der.ts';
import { pdfMutation } from './mutate/pdf.ts';
import { xmlMutation } from './mutate/xml.ts';
import { Random } from './random.ts';

/** `node dist/test/fuzz/run.js` runs any number of cases. */
const CASES = 2600;

test('mutated files of every kind get refusals and reports in bounded time and memory', async (t) => {
  const targets = Object.keys(TARGETS);
  const { failures, byTarget, progress } = await runFuzzer({
    targets,
    cases: CASES,
    seed: 1,
    guided: false,
    budget: 3000,
  });
  t.deepEqual(
    failures.map(({ target, kind, detail }) => `${target} ${kind}: ${detail}`),
    [],
  );
  t.deepEqual(Object.keys(byTarget).sort(), targets.sort());
  for (const [name, { cases, outcomes }] of Object.entries(byTarget)) {
    t.true(cases > 5, name);
    // A single outcome means that every input is refused at the start.
    t.true(outcomes > 1, name);
  }
  t.is(progress?.done, CASES);
});

test('the same seed gives the same mutations', (t) => {
  const input = Buffer.from('30060201010c0141', 'hex');
  for (const mutation of [bytesMutation, derMutation, pdfMutation, xmlMutation]) {
    const [one, two, other] = [7, 7, 8].map((seed) => {
      const random = new Random(seed);
      return Array.from({ length: 50 }, () => mutation(input, random, input).toString('hex')).join();
    });
    t.is(one, two);
    t.not(one, other);
  }
});
