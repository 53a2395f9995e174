/** Erasures of a person in tests. */
import type { ErasureReport } from '../../../../contracts/portal/retention/erasures.ts';
import { signer } from '../../../actors/portal/documents/flow-harness.ts';
import { until } from '../../../actors/portal/service.ts';
import type { ClockedPortal } from '../requests/clocked-portal.ts';

export const ANA = 'ana.silva@example.org';
export const who = (name: string, email: string) => signer(name, 0, { user: { name, email } });
export const ana = () => who('Ana Silva', ANA);
export const bob = () => who('Bob', 'bob@example.org');

export async function erased(
  { client }: Pick<ClockedPortal, 'client'>,
  email: string,
  keepFor?: string,
): Promise<ErasureReport> {
  const begun = await client.post<ErasureReport>('/api/erasures', { email, keepFor });
  return finished({ client }, begun.id);
}

export function finished({ client }: Pick<ClockedPortal, 'client'>, id: string): Promise<ErasureReport> {
  return until(async () => {
    const { items } = await client.get<{ items: ErasureReport[] }>('/api/erasures?limit=100');
    return items.find((one) => one.id === id && one.isDone);
  });
}

export async function canceled(
  { client, fixture }: ClockedPortal,
  ...actions: readonly ReturnType<typeof ana>[]
) {
  const id = await fixture.create([...actions], { disableNotifications: false });
  await client.post(`/api/documents/${id}/cancellation`, { reason: 'No.' });
  return id;
}

/** Lists the parts of the store in which a text stands. */
export async function placesOf(
  { fixture: { store } }: ClockedPortal,
  text: RegExp,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const kind of KINDS)
    for (const actor of await store.actors({ kind, limit: 1000 })) {
      if (text.test(JSON.stringify(actor))) found.push(kind);
      if (text.test(JSON.stringify(await store.journal(actor.address)))) found.push(`journal of ${kind}`);
    }
  for (const view of VIEWS)
    for (const row of await store.rows({ view, limit: 1000 }))
      if (text.test(JSON.stringify(row))) found.push(`row of ${view}`);
  return found;
}

const KINDS = [
  'document',
  'mail',
  'webhook-lane',
  'authenticator',
  'flow-action',
  'erasure',
  'idempotent-request',
];
const VIEWS = [
  'documents',
  'documents-of',
  'documents-by',
  'documents-in',
  'documents-created',
  'documents-deleted',
  'document-mails',
];
