/** A participant who hands an action on when the process is killed: either nobody heard of it, or each mail was sent once. */
import test from 'ava';
import { type Client, rootsLike, startProgram, until } from '../../../actors/portal/service.ts';
import { ticketOf } from '../signing/certificate-client.ts';

const ANA = { name: 'Ana', email: 'ana@example.org' };
const LOU = { name: 'Lou Lima', email: 'lou@example.org', reason: 'On leave.' };
const PER = { user: { name: 'Per', email: 'per@example.org' } };

interface Shown {
  readonly flowActions: readonly {
    readonly user: { readonly email: string };
    readonly passedOn: readonly { readonly email: string }[];
  }[];
}

interface Mail {
  readonly about: string;
  readonly to: string;
  readonly status: string;
}

/** Mails of the document once as many were sent. */
async function mailsIn(acme: Client, path: string, count: number): Promise<readonly string[]> {
  const sent = await until(async () => {
    const mails = await acme.get<readonly Mail[]>(`${path}/mails`);
    return mails.length >= count && mails.every(({ status }) => status === 'Sent') ? mails : undefined;
  });
  return sent.map(({ about, to }) => `${about} ${to}`).sort();
}

/** The document and its first mails are done: the next step is that of handing on. */
const askedRoot = rootsLike(async (t, root) => {
  const { acme, service } = await startProgram(t, { root });
  const action = { user: ANA, allowElectronicSignature: true, allowPassingOn: true };
  const id = await acme.create([action], { observers: [PER] });
  const mails = await mailsIn(acme, `/api/documents/${id}`, 2);
  await service.stop();
  return { id, mails };
});

for (const [point, isKept] of [
  ['step.computed.before-commit/document', false],
  ['step.committed.before-reply/document', true],
  ['effect.leased.before-run/notify', true],
  ['effect.done.before-outcome/notify', true],
] as const)
  test.serial(`a kill at ${point} hands on once or not at all, with one mail to each`, async (t) => {
    const { root, id, mails } = await askedRoot(t);
    const path = `/api/documents/${id}`;
    const first = await startProgram(t, { root, faults: `${point}=kill:1` });
    const { key, ticket } = await ticketOf(first.acme, id, ANA.email);
    const passOn = (acme: Client) => acme.send(`/api/documents/keys/${key}/passing-on`, { ...LOU, ticket });
    await passOn(first.acme).catch(() => undefined);
    t.is(await first.service.ended, 'SIGKILL');

    const { acme } = await startProgram(t, { root });
    const holder = async () => (await acme.get<Shown>(path)).flowActions[0];
    t.is((await holder())?.user.email, isKept ? LOU.email : ANA.email);
    const again = await passOn(acme);
    t.is(again.status === 200, !isKept, await again.text());
    t.like(await holder(), { user: { email: LOU.email }, passedOn: { length: 1, 0: { email: ANA.email } } });
    const told = [`flow-edited ${PER.user.email}`, `pending ${LOU.email}`];
    t.deepEqual(await mailsIn(acme, path, mails.length + 2), [...mails, ...told].sort());
    const { items } = await acme.get<{ items: { type: string }[] }>(`${path}/history?limit=100`);
    t.is(items.filter(({ type }) => type === 'Edited').length, 1);
  });
