/** The logo of an organization, when the process is killed while it is stored: whole or absent, and one after a repetition. */
import test from 'ava';
import { startProgram } from '../../../actors/portal/service.ts';
import { temporaryRoot } from '../../../service/service.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

// The branding is created by the first step and gets its logo by the second.
for (const [point, isStored] of [
  ['step.computed.before-commit/branding', false],
  ['step.committed.before-reply/branding', true],
] as const)
  test.serial(
    `a kill at ${point} leaves a logo whole or absent, and a repeated call stores it`,
    async (t) => {
      const root = await temporaryRoot(t);
      const first = await startProgram(t, { root, faults: `${point}=kill:2` });
      const id = await first.acme.create([ANA], { disablePendingActionNotifications: true });
      const { organization } = await first.acme.get<{ organization: { id: string } }>(`/api/documents/${id}`);
      const path = `/api/organizations/${organization.id}/branding`;
      await first.acme.send(`${path}/logo`, { bytes: PNG }, 'PUT').catch(() => undefined);
      t.is(await first.service.ended, 'SIGKILL');

      const { acme } = await startProgram(t, { root });
      const expected = { contentType: 'image/png', width: 1, height: 1 };
      const { logo } = await acme.get<{ logo: object | null }>(path);
      t.deepEqual(logo, isStored ? expected : null);
      const put = await acme.send(`${path}/logo`, { bytes: PNG }, 'PUT');
      t.is(put.status, 200, await put.text());
      t.deepEqual((await acme.get<{ logo: object | null }>(path)).logo, expected);
    },
  );
