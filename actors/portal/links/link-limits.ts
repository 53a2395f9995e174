/** Checks before a visit to a link for anybody sends a code or takes a document. Source: docs/decisions/0470-links-for-anybody.md. */
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { LinkVisit } from '../../../machines/portal/link-visitor.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { withPeople } from '../generations/template-request.ts';
import type { Templates } from '../generations/templates.ts';
import { mailboxKey } from '../shared/mail-address.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { countUse, type UseLimit } from '../shared/use-limits.ts';
import { isOfVisitor, type Visitor } from './link-visitors.ts';
import type { Linked } from './public-links.ts';

/** Codes to one mailbox from all links of an organization, and of one link to all. */
const MAILBOX_CODES = { most: 10, period: 3_600_000 };
const LINK_CODES_PER_HOUR = { most: 120, period: 3_600_000 };
/** Visits before one device. */
const DEVICE_VISITS = { most: 120, period: 3_600_000 };
const TOO_MANY_CODES = 'As many codes were sent as may be in this time.';

const TOO_MANY_VISITS = 'As many persons have used the device as may in this time.';

/** Counts a code that is to be sent. Refusals: `TooManyRequests`. */
export async function countCode(
  actors: ServiceRuntime['actors'],
  { id, link: { organizationId } }: Linked,
  {
    visitor: {
      user: { email, phone },
    },
    messagesPerDay,
  }: { readonly visitor: Visitor; readonly messagesPerDay: number | undefined },
): Promise<void> {
  const limits: UseLimit[] = [];
  if (email) limits.push({ of: ['mailbox', organizationId, mailboxKey(email)], ...MAILBOX_CODES });
  if (phone && messagesPerDay !== undefined)
    limits.push({ of: ['telephones', organizationId], most: Math.ceil(messagesPerDay / 4), period: DAY_MS });
  limits.push({ of: ['link', id], ...LINK_CODES_PER_HOUR });
  for (const limit of limits) await countUse(actors, limit, TOO_MANY_CODES);
}

/** Counts a visit before a device. Refusals: `TooManyRequests`. */
export async function countDeviceVisit(actors: ServiceRuntime['actors'], device: string): Promise<void> {
  await countUse(actors, { of: ['device', device], ...DEVICE_VISITS }, TOO_MANY_VISITS);
}

/**
 * Checks the values before one of the link's documents is taken. Refusals: those of the visitor; of others the sender
 * learns when the document is made.
 */
export async function assertTaken(
  {
    templates,
    creation,
    runtime,
  }: {
    readonly templates: Templates;
    readonly creation: Pick<DocumentCreation, 'assertPossible'>;
    readonly runtime: Pick<ServiceRuntime, 'clock'>;
  },
  owner: Tenant,
  { id, link }: Linked,
  { user, fieldValues }: Pick<LinkVisit, 'user' | 'fieldValues'>,
): Promise<void> {
  const { role } = link;
  try {
    const { document } = await templates.get(owner, link.templateId, null);
    const participants = [...link.participants, { role, user }];
    const request = withPeople(parsedInput(newDocuments, document), { participants, fieldValues });
    creation.assertPossible(request, runtime.clock.now(), { publicLink: { id, role } });
  } catch (error) {
    if (!(error instanceof PortalRefusal) || isOfVisitor(error)) throw error;
  }
}
