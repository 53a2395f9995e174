/** A deputy who is named, and who acts, when the process is killed: each happens once or not at all. */
import test from 'ava';
import { mailedCode } from '../../../actors/portal/mails/mailed-code.ts';
import { type Client, rootsLike, startProgram, until } from '../../../actors/portal/service.ts';

const ANA = { name: 'Ana', email: 'ana@example.org' };
const LOU = { name: 'Lou Lima', email: 'lou@example.org' };
const MAY = { allowElectronicSignature: true, allowPassingOn: true };
const endDate = new Date(Date.now() + 86_400_000).toISOString();
const DEPUTY = { ...LOU, reason: 'On leave.', endDate };

const send = (acme: Client, path: string, body: object) => acme.send(`/api/waiting/${path}`, body);

/** Both have sessions. */
const root = rootsLike(async (t, path) => {
  const { acme, service } = await startProgram(t, { root: path });
  const id = await acme.create([{ user: ANA, ...MAY }]);
  await acme.create([{ user: LOU, ...MAY }]);
  const tickets: string[] = [];
  for (const { email } of [ANA, LOU]) {
    await send(acme, 'code', { email });
    const code = await mailedCode(service, email);
    tickets.push((await acme.post<{ ticket: string }>('/api/waiting/session', { email, code })).ticket);
  }
  await service.stop();
  const [ana = '', lou = ''] = tickets;
  return { id, ana, lou };
});

for (const [point, isKept] of [
  ['step.computed.before-commit/mailbox', false],
  ['step.committed.before-reply/mailbox', true],
] as const)
  test.serial(`a kill at ${point} names a deputy once or not at all`, async (t) => {
    const { root: path, ana } = await root(t);
    // The first step creates the actor.
    const first = await startProgram(t, { root: path, faults: `${point}=kill:2` });
    await t.throwsAsync(send(first.acme, 'deputies', { ticket: ana, ...DEPUTY }));
    t.is(await first.service.ended, 'SIGKILL');
    const { acme } = await startProgram(t, { root: path });
    const { deputies } = await acme.post<{ deputies: readonly object[] }>('/api/waiting/deputies/view', {
      ticket: ana,
    });
    t.is(deputies.length, isKept ? 1 : 0);
  });

for (const point of [
  'step.computed.before-commit/document',
  'step.committed.before-reply/document',
  'portal.sign.accepted',
])
  test.serial(
    `a kill at ${point} leaves an act of a deputy that is done once, when it is sent again`,
    async (t) => {
      const { root: path, id, ana, lou } = await root(t);
      const prepared = await startProgram(t, { root: path });
      await prepared.acme.post('/api/waiting/deputies', { ticket: ana, ...DEPUTY });
      await prepared.service.stop();
      const first = await startProgram(t, { root: path, faults: `${point}=kill:1` });
      const { items } = await first.acme.post<{ items: readonly Record<string, unknown>[] }>(
        '/api/waiting/deputies/documents',
        { ticket: lou, person: ANA.email },
      );
      const { documentId, flowActionId, userId, documentVersion, actionDate } = items[0] ?? {};
      const item = { ticket: lou, documentId, flowActionId, userId, documentVersion, actionDate };
      await t.throwsAsync(send(first.acme, 'deputies/act', item));
      t.is(await first.service.ended, 'SIGKILL');
      const { acme } = await startProgram(t, { root: path });
      const again = await send(acme, 'deputies/act', item);
      t.is(again.status, 200, await again.text());
      const done = await until(async () => {
        const found = await acme.get<{ status: string; flowActions: readonly object[] }>(
          `/api/documents/${id}`,
        );
        return found.status === 'Concluded' ? found : undefined;
      });
      t.like(done.flowActions[0], { user: { email: ANA.email }, deputy: { email: LOU.email } });
      const { items: lines } = await acme.get<{ items: readonly { type: string }[] }>(
        `/api/documents/${id}/history?limit=100`,
      );
      t.is(lines.filter(({ type }) => type === 'Signed').length, 1);
    },
  );
