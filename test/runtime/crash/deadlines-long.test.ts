import test from 'ava';
import { proveDeadlines } from './deadline-proof.ts';

test('over kills and a clock an hour slow or fast each of 100,000 deadlines fires once in its time, and a cancelled one never', async (t) => {
  t.timeout(1_200_000);
  await proveDeadlines(t, 100_000);
});
