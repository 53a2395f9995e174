/** Each reminder is sent exactly once, also by a process that is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { clockedPortal, DAY, mailed, typesOf, untilMailed } from './clocked-portal.ts';

const WORKER = new URL('./reminders-worker.js', import.meta.url).pathname;
const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

for (const point of casesOf(
  ['effect.done.before-outcome/notify'],
  ['effect.leased.before-run/notify', 'step.committed.before-reply'],
)) {
  test.serial(`a kill at ${point} neither loses a reminder nor sends it under another id`, async (t) => {
    const root = folderFor(t);
    const first = await clockedPortal(t, { root });
    const id = await first.client.create([ANA], {
      reminders: { everyDays: 3, maximum: 1 },
      disablePendingActionNotifications: true,
    });
    await first.close();
    const worker = spawn(process.execPath, [WORKER, root, '4'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SEALWRIGHT_FAULTS: `${point}=kill:1` },
    });
    process.once('exit', () => worker.kill('SIGKILL'));
    const [, signal] = await once(worker, 'exit');
    t.is(signal, 'SIGKILL');
    const portal = await clockedPortal(t, { root, later: 4 * DAY });
    await untilMailed(portal, id, 'reminder', 1);
    await until(async () => ((await typesOf(portal, id)).includes('MailDelivered') ? true : undefined));
    t.deepEqual(await mailed(portal, id, 'reminder'), ['ana@example.org']);
    t.is((await typesOf(portal, id)).filter((type) => type === 'Reminded').length, 1);
  });
}
