/** Keeper of trusted lists, where the system gives it no thread. */
import { join } from 'node:path';
import { type Log, systemClock } from '@sealwright/runtime';
import test from 'ava';
import { ListKeeper } from '../../../../actors/shared/trust-lists/list-keeper.ts';

test('a thread that cannot start leaves the service running, with a problem', async (t) => {
  const anchor = { location: 'https://lists.test/eu-lotl.xml', journal: '', signers: new Set<string>() };
  const said: string[] = [];
  const log = { error: (message: string) => said.push(message) } as unknown as Log;
  const keeper = new ListKeeper(
    { place: { folder: join(import.meta.dirname, 'none'), anchor }, everyMs: 3_600_000 },
    { clock: systemClock, log, random: () => 0 },
    new URL('https://threads.test/none.js'),
  );
  await keeper.start();
  keeper.stop();
  t.is(said.length, 1);
  t.regex(keeper.check().detail, /thread that refreshes trusted lists has ended/);
});
