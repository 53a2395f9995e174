/** Documents as dice make them. */
import type { DocumentActor } from '../../../../actors/portal/document-records/document-index.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';

export const [OURS, THEIRS] = [
  '10000000-0000-4000-8000-000000000001',
  '20000000-0000-4000-8000-000000000002',
].map((id) => id as OrganizationId) as [OrganizationId, OrganizationId];

/** Numbers from 0 to below 1, the same in each run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const PEOPLE = ['Ana', 'Änne Groß', 'Bob', 'Susana', 'Ana María'].flatMap((name, at) => [
  { name, identifier: `529982247${10 + at}`, email: `${name.slice(0, 2)}${at}@Example.org`, phone: null },
  { name, identifier: `529.982.247-${10 + at}`, email: null, phone: `+49 (30) 12-${at}` },
  { name, identifier: null, email: `${at}ana@xn--mller-kva.de`, phone: '030.12' },
  { name, identifier: null, email: `a${at}@müller.de`, phone: null },
]);
const FOLDERS = ['f0', 'f1', 'f2', null];
export const TAGS = ['year|2026', 'Year|2025', '|2026', 'client|Ü', 'x|'].map((text) => {
  const [label = '', value = ''] = text.split('|');
  return { label: label === '' ? null : label, value };
});
const STATES = ['Pending', 'FlowConcluded', 'Concluded', 'Refused', 'Canceled', 'Expired', 'Deleted'];

function blob() {
  return { sha256: 'a', size: 1 };
}

/** Some are no UUIDs. */
function idOf(order: number): string {
  if (order % 17 === 3) return `document-${order}-0000`;
  const digits = (Math.imul(order, 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0');
  return `${digits}-${digits.slice(4)}-4000-8000-${digits}000a`;
}

export function documentsBy(next: () => number) {
  const below = (end: number) => Math.floor(next() * end);
  const oneOf = <One>(values: readonly One[]): One => values[below(values.length)] as One;
  const maybe = <One>(share: number, value: () => One) => (next() < share ? value() : undefined);

  function someDocument(order: number, organization: OrganizationId): DocumentActor {
    const tags = TAGS.filter(() => next() < 0.3);
    const externalId = maybe(0.4, () => oneOf(['Order-1', 'order-1', 'order-12', 'ORDER-1']));
    const actions = Array.from({ length: below(4) }, (_, at) => ({
      type: oneOf(['Signer', 'Approver']),
      status: oneOf(['Pending', 'Created', 'Completed']),
      user: { id: `u${order}-${at}`, ...oneOf(PEOPLE) },
      ruleUsers: [],
      confirmations: [],
    }));
    const context = {
      order,
      actions,
      tags,
      id: idOf(order),
      name: oneOf(['Lease', 'LEASE 2', 'Größe', 'contract.pdf']),
      key: `KEY${order.toString(36).toUpperCase()}LEASE`,
      createdBy: { name: oneOf(['Ana', 'Import', 'ERP']) },
      organization: { id: organization, name: organization },
      folderId: oneOf(FOLDERS),
      type: oneOf(['Deed', null]),
      ...(externalId !== undefined && { externalId }),
      creationDate: order,
      updateDate: order,
      made: [],
      parts: [],
      accepted: [],
      reservations: [],
      attachments: [],
      file: { blob: blob() },
      current: blob(),
      signatures: null,
      isEnvelope: false,
      processingError: null,
      expirationDate: oneOf([null, order + 5, 900 - order]),
      statusBefore: oneOf(['Pending', 'Concluded']),
    };
    return { id: context.id, state: oneOf(STATES), context } as unknown as DocumentActor;
  }

  return { below, oneOf, maybe, someDocument };
}
