/** Records what participants and applications do with a document beside changing it. Source: docs/decisions/0092-audit-trail.md. */

import { type ActorSystem, type Clock, durableIfAccepted } from '@sealwright/runtime';
import type { TrailPrincipal } from '../../../machines/portal/document/document-context.ts';
import type { DocumentMessageOf } from '../../../machines/portal/document/document-decision.ts';
import { isRecorded } from '../../../machines/portal/document/document-trail.ts';
import type { RequestOrigin, Tenant } from '../api/callers.ts';
import { type DocumentActor, documentAddress } from './document-index.ts';

type ActionRecord = Pick<DocumentMessageOf<'RECORD'>, 'action' | 'principal'> &
  Partial<Pick<DocumentMessageOf<'RECORD'>, 'detail' | 'flowActionId' | 'emailAddress'>>;

/** Resolves once the record is durable. Sends nothing for a repetition that is not recorded. */
export async function recordAction(
  { system, clock }: { readonly system: Pick<ActorSystem, 'send'>; readonly clock: Pick<Clock, 'now'> },
  { context }: Pick<DocumentActor, 'context'>,
  { detail = null, flowActionId = null, emailAddress = null, ...record }: ActionRecord,
): Promise<void> {
  if (!isRecorded(context, record, clock.now())) return;
  await durableIfAccepted(
    system.send(documentAddress(context.id), {
      type: 'RECORD',
      ...record,
      ...{ detail, flowActionId, emailAddress },
    }),
  );
}

/** Principal of a journal line: the application of a key, where the request came from. */
export function applicationPrincipal({ application, origin }: Tenant): TrailPrincipal {
  return { by: application.name, userId: null, ...originOf(origin) };
}

/** Principal of a journal line: a participant. */
export function participantPrincipal(
  { id, name, email }: { readonly id: string; readonly name: string | null; readonly email: string | null },
  origin: RequestOrigin | undefined,
): TrailPrincipal {
  return { by: name ?? email, userId: id, ...originOf(origin) };
}

/** Address and user agent, empty ones as null. */
export function originOf(origin: RequestOrigin | undefined): Pick<TrailPrincipal, 'ipAddress' | 'userAgent'> {
  return {
    ipAddress: origin?.ipAddress || null,
    userAgent: origin?.userAgent.slice(0, MAX_USER_AGENT) || null,
  };
}

/** Longest user agent in the journal, characters. */
const MAX_USER_AGENT = 500;
