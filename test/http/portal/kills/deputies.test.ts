/** A deputy who is named, and who acts, when the process is killed: each happens once or not at all. */
import test from 'ava';
import { mailedCode } from '../../../actors/portal/mails/mailed-code.ts';
import { type Client, rootsLike, startProgram, until } from '../../../actors/portal/service.ts';

const ANA = { name: 'Ana', email: 'ana@example.org' };
const LOU = { name: 'Lou Lima', email: 'lou@example.org' };
const MAY = { allowElectronicSignature: true, allowPassingOn: true };
const endDate = new Date(Date.now() + 86_400_000).toISOString();
const DEPUTY = { ...LOU, reason: 'On leave.', endDate };
const OTHER = { ...DEPUTY, name: 'Bo Lima', email: 'bo@example.org' };

const send = (acme: Client, path: string, body: object) => acme.send(`/api/waiting/${path}`, body);

/** Both have sessions, and one is the deputy of the other: naming takes a fresh code. */
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
  const [ana = '', lou = ''] = tickets;
  await acme.post('/api/waiting/deputies', { ticket: ana, ...DEPUTY });
  await service.stop();
  return { id, ana, lou };
});

for (const [point, isKept] of [
  ['step.computed.before-commit/mailbox', false],
  ['step.committed.before-reply/mailbox', true],
] as const)
  test.serial(`a kill at ${point} names a deputy once or not at all, and then once`, async (t) => {
    const { root: path, ana } = await root(t);
    const first = await startProgram(t, { root: path, faults: `${point}=kill:1` });
    await t.throwsAsync(send(first.acme, 'deputies', { ticket: ana, ...OTHER }));
    t.is(await first.service.ended, 'SIGKILL');
    const { acme } = await startProgram(t, { root: path });
    const named = async () => {
      const view = await acme.post<{ deputies: readonly { id: string; email: string }[] }>(
        '/api/waiting/deputies/view',
        { ticket: ana },
      );
      return view.deputies.filter(({ email }) => email === OTHER.email);
    };
    const before = await named();
    t.is(before.length, isKept ? 1 : 0);
    const { id } = await acme.post<{ id: string }>('/api/waiting/deputies', { ticket: ana, ...OTHER });
    t.is((await named()).length, 1);
    t.is(before[0]?.id ?? id, id);
    await acme.post('/api/waiting/deputies/end', { ticket: ana, id });
    t.deepEqual(await named(), []);
  });

for (const point of [
  'step.computed.before-commit/document',
  'step.committed.before-reply/document',
  'portal.sign.accepted',
])
  test.serial(
    `a kill at ${point} leaves an act of a deputy that is done once, when it is sent again`,
    async (t) => {
      const { root: path, id, lou } = await root(t);
      const first = await startProgram(t, { root: path, faults: `${point}=kill:1` });
      const { items } = await first.acme.post<{ items: readonly Record<string, unknown>[] }>(
        '/api/waiting/deputies/documents',
        { ticket: lou, person: ANA.email },
      );
      const { documentId, flowActionId, userId, documentVersion, actionDate, deputyName } = items[0] ?? {};
      const turn = { documentId, flowActionId, userId };
      const item = { ticket: lou, ...turn, documentVersion, actionDate, deputyName };
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
