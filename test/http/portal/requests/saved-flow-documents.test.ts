/** Documents made with a saved flow: people take its roles, in its order. */
import test from 'ava';
import { SAMPLE } from '../../../actors/portal/service.ts';
import { clientOf, clockedPortal } from './clocked-portal.ts';

interface Action {
  readonly step: number;
  readonly title: string | null;
  readonly user: { readonly email: string };
}

const person = (name: string) => ({ name, email: `${name.toLowerCase()}@example.org` });

test('a saved flow makes documents with people in its roles, once for each Idempotency-Key', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const { id: flow } = await client.post<{ id: string }>('/api/document-flows', {
    name: 'Lease',
    areActionsOrdered: true,
    flowActions: [
      { title: 'Tenant', allowElectronicSignature: true },
      { type: 'Approver', user: person('Bob') },
      { title: 'Landlord', user: person('Lou'), allowElectronicSignature: true },
    ],
    observers: [{ user: person('Olga') }],
  });
  const path = `/api/document-flows/${flow}/documents`;
  const { id } = await client.upload();
  const files = [{ id, displayName: 'Lease', name: SAMPLE.name, contentType: SAMPLE.type }];
  const body = { files, participants: [{ role: 'tenant', user: person('Ana') }] };
  const make = async () => {
    const answer = await client.send(path, body, 'POST', { 'idempotency-key': 'one' });
    return (await answer.json()) as readonly { readonly documentId: string }[];
  };
  const made = await make();
  t.deepEqual(await make(), made);
  t.like(await client.get('/api/documents'), { totalCount: 1 });
  const detail = await client.get<{ flowActions: Action[]; observers: unknown[] }>(
    `/api/documents/${made[0]?.documentId}`,
  );
  t.deepEqual(
    detail.flowActions.map(({ step, title, user }) => [step, title, user.email]),
    [
      [0, 'Tenant', 'ana@example.org'],
      [1, null, 'bob@example.org'],
      [2, 'Landlord', 'lou@example.org'],
    ],
  );
  t.is(detail.observers.length, 1);

  const refusals = [
    [{ files }, 'InvalidFlowAction'],
    [{ files, participants: [{ role: 'Tenent', user: person('Ana') }] }, 'InvalidFlowAction'],
    [{ files, participants: [body.participants[0], body.participants[0]] }, 'InvalidFlowAction'],
    [{ files: [], participants: body.participants }, 'BadRequest'],
  ] as const;
  for (const [bad, code] of refusals) t.like(await (await client.send(path, bad)).json(), { code });
  const foreign = await clientOf(portal, 'Other').send(path, body);
  t.like(await foreign.json(), { code: 'DocumentFlowNotFound' });
  t.like(await client.get('/api/documents'), { totalCount: 1 });
});
