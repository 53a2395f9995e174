/**
 * Devices of senders at which persons sign one after the other: a tablet at a counter. The browser has a cookie that names
 * the device; its link has who stands beside it, and what the person before it signs.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { accepted } from '@sealwright/runtime';
import type {
  NewLinkDevice,
  OpenedLinkDevice,
  PublicLinkVisit,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import type { ApplicationId } from '../../../machines/ids.ts';
import type { DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  DEVICE_OPENING_MS,
  devicesOf,
  type LinkDevice,
  publicLinkStatus,
} from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type OwnerNeeds, ownerOf } from '../accounts/link-owners.ts';
import type { Tenant } from '../api/callers.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import { derivedId } from '../shared/effect-ids.ts';
import type { Tickets } from '../shared/tickets.ts';
import { countDeviceVisit } from './link-limits.ts';
import { hashOf, turnOf } from './link-visitors.ts';
import type { LinkVisits } from './link-visits.ts';
import type { Linked, PublicLinks } from './public-links.ts';

const DEFAULT_HOURS = 12;
const HOUR = 3_600_000;
/** Uses of a ticket of a device: its address, and the cookie of its browser. */
const USES = { address: 'a', cookie: 'c' } as const;
const LEFT = 'The person has left the device.';

interface AtDevice {
  readonly found: Linked;
  readonly device: LinkDevice;
}

export class LinkDevices {
  constructor(
    private readonly needs: OwnerNeeds & {
      readonly runtime: ServiceRuntime;
      readonly publicLinks: PublicLinks;
      readonly visits: LinkVisits;
      readonly tickets: Tickets;
      readonly publicUrl: () => string;
    },
  ) {}

  /** Refusals: those of the operation. */
  async open(tenant: Tenant, given: string, { pin, hours }: NewLinkDevice): Promise<OpenedLinkDevice> {
    const { publicLinks, visits, runtime, tickets, publicUrl } = this.needs;
    if (!/^\d{4,12}$/.test(pin)) throw badField('Pin', 'has four to twelve digits');
    const found = await publicLinks.toUse(tenant, given);
    await visits.assertHere(found);
    const id = runtime.ids.uuid();
    const openedAt = runtime.clock.now();
    const { application, user } = tenant;
    const { id: hostId, name } = user ?? application;
    const device: LinkDevice = {
      id,
      host: { id: hostId, name },
      isUser: user !== undefined,
      pin: this.#pinOf(id, openedAt, pin),
      openedAt,
      endDate: openedAt + (hours ?? DEFAULT_HOURS) * HOUR,
      isTaken: false,
      visit: null,
      documentId: null,
      wrongPins: { since: 0, count: 0 },
    };
    if ((await publicLinks.tell(found.id, { type: 'DEVICE_OPEN', device })) === undefined)
      throw new PortalRefusal('LimitExceeded', 'The link has as many devices as one may have.');
    const ticket = tickets.issue('device', [found.id, id, USES.address], openedAt, DEVICE_OPENING_MS);
    return {
      id,
      openedBy: device.host,
      creationDate: openedAt,
      endDate: device.endDate,
      url: `${publicUrl()}/here?ticket=${ticket}`,
    };
  }

  /** Refusals: `PublicLinkNotFound`. */
  async end(tenant: Tenant, given: string, device: string): Promise<void> {
    const found = await this.needs.publicLinks.toUse(tenant, given);
    const open = devicesOf(found.link, this.needs.runtime.clock.now()).find(({ id }) => id === device);
    // It may have ended before.
    if (open === undefined) return;
    await this.needs.publicLinks.tell(found.id, { type: 'DEVICE_END', device });
    await this.#leave(found, open);
  }

  /** The cookie for the browser that opens an address first. Refusals: `PublicLinkNotFound`. */
  async take(address: string): Promise<{ readonly cookie: string; readonly seconds: number }> {
    const { tickets, publicLinks, runtime } = this.needs;
    const { found, device } = await this.#read(address, USES.address);
    if ((await publicLinks.tell(found.id, { type: 'DEVICE_TAKE', device: device.id })) === undefined)
      throw new PortalRefusal('PublicLinkNotFound');
    const now = runtime.clock.now();
    const left = device.endDate - now;
    const cookie = tickets.issue('device', [found.id, device.id, USES.cookie], now, left);
    return { cookie, seconds: Math.floor(left / 1_000) };
  }

  /**
   * Another person stands before the device: what the last one has not signed is canceled.
   * Refusals: those of a closed link.
   */
  async next(cookie: string, visitId: string): Promise<Linked> {
    const { found, device } = await this.#read(cookie, USES.cookie);
    await this.#leave(found, device);
    const message = { type: 'DEVICE_NEXT', device: device.id, visit: hashOf(visitId) } as const;
    if ((await this.needs.publicLinks.tell(found.id, message)) === undefined)
      throw new PortalRefusal('PublicLinkNotFound');
    return found;
  }

  /** The link of a device. Undefined: the visit is not that of the person before it. Refusals: those of a closed link. */
  async present(cookie: string, visitId: string): Promise<Linked | undefined> {
    const { found, device } = await this.#read(cookie, USES.cookie);
    return device.visit === hashOf(visitId) ? found : undefined;
  }

  /** Address of the signing page; undefined: another person stands before the device. Refusals: those of a visit. */
  async visit(cookie: string, given: Omit<PublicLinkVisit, 'ticket' | 'code'>): Promise<string | undefined> {
    const { visits, publicLinks, runtime } = this.needs;
    const { found, device } = await this.#read(cookie, USES.cookie);
    const visit = hashOf(given.visitId);
    if (device.visit !== visit) return undefined;
    const { host } = device;
    if (device.documentId === null) await countDeviceVisit(runtime.actors, device.id);
    const documentId = device.documentId ?? (await visits.visitHere(found, host, given));
    const message = { type: 'DEVICE_MAKE', device: device.id, visit, documentId } as const;
    if ((await publicLinks.tell(found.id, message)) !== undefined)
      return visits.addressHere(found, host, documentId);
    await this.#leave(found, { ...device, documentId });
    return undefined;
  }

  /** True: the device is ended. Refusals: `TooManyRequests` after too many wrong PINs. */
  async leave(cookie: string, pin: string): Promise<boolean> {
    const { found, device } = await this.#read(cookie, USES.cookie, true);
    const { id, openedAt } = device;
    const given = this.#pinOf(id, openedAt, pin.trim().slice(0, 12));
    const after = await this.needs.publicLinks.tell(found.id, { type: 'DEVICE_PIN', device: id, pin: given });
    if (after === undefined) throw new PortalRefusal('TooManyRequests');
    if (after.devices?.some((one) => one.id === id) === true) return false;
    await this.#leave(found, device);
    return true;
  }

  /** @param isLeaving true: the link may be closed. Refusals: those of a closed link; `PublicLinkNotFound` without a device. */
  async #read(ticket: string, use: (typeof USES)[keyof typeof USES], isLeaving = false): Promise<AtDevice> {
    const { tickets, runtime, publicLinks } = this.needs;
    const now = runtime.clock.now();
    const read = tickets.read('device', ticket, now);
    const [linkId = '', deviceId, usedAs] = read?.claims ?? [];
    if (read === undefined || read.expired || usedAs !== use) throw new PortalRefusal('PublicLinkNotFound');
    const found = await publicLinks.read(linkId);
    const device = found && devicesOf(found.link, now).find(({ id }) => id === deviceId);
    if (found === undefined || device === undefined) throw new PortalRefusal('PublicLinkNotFound');
    if (isLeaving) return { found, device };
    const status = publicLinkStatus(found.link, now);
    // Of one that is used up the last person still signs.
    if (status === 'Ended' || status === 'Expired') throw new PortalRefusal(`PublicLink${status}`);
    await this.#assertHost(found, device);
    return { found, device };
  }

  /** Nobody stands beside a device whose host has left. Refusals: `PublicLinkEnded`. */
  async #assertHost({ link }: Linked, { host, isUser, openedAt }: LinkDevice): Promise<void> {
    const application = { id: host.id as ApplicationId, name: host.name };
    const owned = { organizationId: link.organizationId, application, isUser, createdAt: openedAt };
    if ((await ownerOf(this.needs, owned)) === undefined) throw new PortalRefusal('PublicLinkEnded');
  }

  /** Cancels what the person before the device has not signed, without a mail. */
  async #leave({ link }: Linked, { documentId }: Pick<LinkDevice, 'documentId'>): Promise<void> {
    const { actors } = this.needs.runtime;
    const document = documentId === null ? undefined : await actors.read(DOCUMENT, documentId);
    const turn = document && turnOf(document, link.role);
    if (documentId === null || document === undefined || turn === undefined) return;
    if ((document.state as DocumentState) !== 'Pending') return;
    const action = document.context.actions.find(({ id }) => id === turn.flowActionId);
    const isBegun = document.context.accepted.length > 0 || document.context.made.length > 0;
    if (action?.status !== 'Pending' || isBegun) return;
    const message = { type: 'CANCEL', by: link.createdBy, reason: LEFT, isQuiet: true } as const;
    // It may have been signed since.
    await accepted(actors.send(DOCUMENT, documentId, message), () => undefined);
  }

  /** With a key that the store does not have: who reads the store learns no PIN. */
  #pinOf(device: string, openedAt: number, pin: string): string {
    return derivedId('device-pin', this.needs.tickets.issue('device', [device, pin], openedAt));
  }
}
