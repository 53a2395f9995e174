/** Kills around the mails of a document: its history has each event once. */
import test from 'ava';
import { type Client, startProgram, until } from '../../actors/portal/service.ts';
import { casesOf } from '../../project/rounds.ts';
import { temporaryRoot } from '../../service/service.ts';
import { ticketOf } from './signing/certificate-client.ts';

interface Entry {
  readonly type: string;
  readonly by: string | null;
}

const ANA = { name: 'Ana', email: 'ana@example.org' };
const FLOW = [
  { user: ANA, allowElectronicSignature: true, step: 1 },
  { user: { name: 'Nobody', email: 'nobody@example.org' }, allowElectronicSignature: true, step: 1 },
];

async function historyOf(client: Client, id: string): Promise<readonly Entry[]> {
  return (await client.get<{ items: Entry[] }>(`/api/documents/${id}/history?limit=100`)).items;
}

const countOf = (entries: readonly Entry[], type: string) =>
  entries.filter((one) => one.type === type).length;

for (const point of casesOf(
  ['effect.done.before-outcome/reportMail'],
  ['effect.leased.before-run/reportMail'],
)) {
  test(`a kill at ${point} leaves each mail and each answered opening in the history once`, async (t) => {
    const root = await temporaryRoot(t);
    const first = await startProgram(t, { root, faults: `${point}=kill:2` });
    const id = await first.acme.create(FLOW);
    const link = await ticketOf(first.acme, id, ANA.email).catch(() => undefined);
    const opened =
      link &&
      (await first.acme
        .send(`/api/documents/keys/${link.key}/view`, { ticket: link.ticket })
        .catch(() => undefined));
    t.is(await first.service.ended, 'SIGKILL');
    const { acme } = await startProgram(t, { root });
    await until(async () => (countOf(await historyOf(acme, id), 'MailDelivered') >= 2 ? true : undefined));
    const entries = await historyOf(acme, id);
    t.deepEqual(
      entries
        .filter(({ type }) => type === 'MailDelivered')
        .map(({ by }) => by)
        .sort(),
      ['Ana', 'Nobody'],
    );
    if (opened?.status === 200) t.is(countOf(entries, 'Opened'), 1);
  });
}
