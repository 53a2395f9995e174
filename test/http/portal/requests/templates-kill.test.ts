/** A new version of a template under an idempotency key, when the process is killed before its reply: a repetition adds none. */
import test from 'ava';
import { startProgram } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';

const TEMPLATES = '/api/templates';
const TENANT = { title: 'Tenant', step: 1, allowElectronicSignature: true };

// The template is created by the first step and replaced by the second.
for (const [point, kept] of casesOf(
  [
    ['step.computed.before-commit/template=kill:2', ['Lease']],
    ['step.committed.before-reply/template=kill:2', ['Lease 2', 'Lease']],
  ] as const,
  [['portal.request.done=kill:1', ['Lease 2', 'Lease']]] as const,
))
  test.serial(
    `a kill at ${point} leaves one new version of a template or none, and repeated calls one`,
    async (t) => {
      const root = await temporaryRoot(t);
      const first = await startProgram(t, { root, faults: point });
      const { id: upload, name, contentType } = await first.acme.upload();
      const document = {
        files: [{ id: upload, displayName: 'Lease', name, contentType }],
        flowActions: [TENANT],
      };
      const { id } = await first.acme.post<{ id: string }>(TEMPLATES, { name: 'Lease', document });
      const replacement = { name: 'Lease 2', document };
      const key = { 'idempotency-key': 'second version' };
      await t.throwsAsync(first.acme.send(`${TEMPLATES}/${id}`, replacement, 'PUT', key));
      t.is(await first.service.ended, 'SIGKILL');

      const { acme } = await startProgram(t, { root });
      const versions = async () => {
        const items = await acme.get<{ name: string }[]>(`${TEMPLATES}/${id}/versions`);
        return items.map((item) => item.name);
      };
      t.deepEqual(await versions(), kept);
      for (let count = 0; count < 2; count += 1) {
        const put = await acme.send(`${TEMPLATES}/${id}`, replacement, 'PUT', key);
        t.is(put.status, 200, await put.text());
      }
      t.deepEqual(await versions(), ['Lease 2', 'Lease']);
      const other = await acme.send(`${TEMPLATES}/${id}`, { ...replacement, name: 'Lease 3' }, 'PUT', key);
      t.like(await other.json(), { code: 'IdempotencyConflict' });
    },
  );
