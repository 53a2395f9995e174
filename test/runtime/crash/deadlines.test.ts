import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { proveDeadlines } from './deadline-proof.ts';

test('over kills and a clock an hour slow or fast each of thousands of deadlines fires once in its time, and a cancelled one never', async (t) => {
  t.timeout(1_200_000);
  await proveDeadlines(t, roundsOf(1_500, 100_000));
});
