/** The records of links for anybody, and what stands before its devices. Source: docs/decisions/0470-links-for-anybody.md. */
import { defineActor, type Row } from '@sealwright/runtime';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { LINK_CODES_ENDED, linkCodesMachine } from '../../../machines/portal/link-codes.ts';
import {
  LINK_VISITOR_ENDED,
  linkVisitorMachine,
  makeLinkDocument,
} from '../../../machines/portal/link-visitor.ts';
import {
  devicesOf,
  leaveVisits,
  PUBLIC_LINK_ENDED,
  publicLinkMachine,
  publicLinkStatus,
} from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';

export const PUBLIC_LINK = defineActor('public-link', {
  machine: publicLinkMachine,
  effects: [leaveVisits],
  version: 1,
  rows: ({ id, context }) => {
    const { organizationId, order, participants: _people, taking: _taking, folderId, ...rest } = context;
    const { devices: _devices, ...shown } = rest;
    const devices = (context.devices ?? []).map(({ id: device, host, openedAt, endDate }) => ({
      id: device,
      host,
      openedAt,
      endDate,
    }));
    const value = {
      ...shown,
      ...(devices.length > 0 && { devices }),
      ...(folderId !== null && { folderId }),
    } as object as Row['value'];
    return [{ view: 'public-links', key: [organizationId, order, id], value }];
  },
  counters: ({ context: { organizationId } }) => ({ [`public-links/${organizationId}`]: 1 }),
  ends: ({ state }) => state === PUBLIC_LINK_ENDED,
});

export const LINK_CODES = defineActor('link-codes', {
  machine: linkCodesMachine,
  version: 1,
  ends: ({ state }) => state === LINK_CODES_ENDED,
});

export const LINK_VISITOR = defineActor('link-visitor', {
  machine: linkVisitorMachine,
  effects: [makeLinkDocument],
  version: 1,
  ends: ({ state }) => state === LINK_VISITOR_ENDED,
});

/** True while the person before an open device signs this document. */
export async function isBeforeDevice(
  { actors, clock }: Pick<ServiceRuntime, 'actors' | 'clock'>,
  { id, publicLink }: Pick<DocumentContext, 'id' | 'publicLink'>,
): Promise<boolean> {
  const link = publicLink && (await actors.read(PUBLIC_LINK, publicLink.id))?.context;
  if (link === undefined) return false;
  const now = clock.now();
  const status = publicLinkStatus(link, now);
  if (status === 'Ended' || status === 'Expired') return false;
  return devicesOf(link, now).some(({ documentId }) => documentId === id);
}
