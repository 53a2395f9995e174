/**
 * Devices of senders at which persons sign one after the other: a tablet at a counter. The browser has a cookie that names
 * the device; its link has who stands beside it, and what the person before it signs.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type {
  NewLinkDevice,
  OpenedLinkDevice,
  PublicLinkVisit,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import { HOUR_MS } from '../../../contracts/times.ts';
import type { ApplicationId } from '../../../machines/ids.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  DEVICE_OPENING_MS,
  type LinkDevice,
  publicLinkStatus,
} from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type OwnerNeeds, ownerOf } from '../accounts/link-owners.ts';
import type { Tenant } from '../api/callers.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { reachesFolder } from '../shared/folder-access.ts';
import type { Tickets } from '../shared/tickets.ts';
import { countDeviceVisit } from './link-limits.ts';
import { documentHere, hashOf, leaveDocument } from './link-visitors.ts';
import type { LinkVisits } from './link-visits.ts';
import type { Linked, PublicLinks } from './public-links.ts';

const DEFAULT_HOURS = 12;
/** Another browser window may open the page for the next person at the same time. */
const ATTEMPTS = 3;
/** Uses of a ticket of a device: its address, and the cookie of its browser. */
const USES = { address: 'a', cookie: 'c' } as const;

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
    const { application, user, keyId } = tenant;
    const { id: hostId, name } = user ?? application;
    const device: LinkDevice = {
      id,
      host: { id: hostId, name },
      isUser: user !== undefined,
      ...(keyId !== undefined && { keyId }),
      pin: this.#pinOf(id, openedAt, pin),
      openedAt,
      endDate: openedAt + (hours ?? DEFAULT_HOURS) * HOUR_MS,
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
    // It may have ended before.
    await this.needs.publicLinks.tell(found.id, { type: 'DEVICE_END', device });
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
    // The browser still sends it when the device has ended: what the last person has begun is canceled then.
    return { cookie, seconds: Math.floor((left + HOUR_MS) / 1_000) };
  }

  /**
   * Another person stands before the device: what the last one has not signed is canceled.
   * Refusals: those of a closed link.
   */
  async next(cookie: string, visitId: string): Promise<Linked> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { found, device } = await this.#read(cookie, USES.cookie);
      const { id, visit: from } = device;
      const message = { type: 'DEVICE_NEXT', device: id, visit: hashOf(visitId), from } as const;
      if ((await this.needs.publicLinks.tell(found.id, message)) === undefined) continue;
      // Also an effect of the link; here the next person waits for it.
      await this.#leave(found, device);
      return found;
    }
    throw new PortalRefusal('ServiceBusy');
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
    const isPresent = (await publicLinks.tell(found.id, message)) !== undefined;
    return isPresent ? visits.addressHere(found, host, documentId) : undefined;
  }

  /** True: the device is ended. Refusals: `TooManyRequests` after too many wrong PINs. */
  async leave(cookie: string, pin: string): Promise<boolean> {
    const { found, device } = await this.#read(cookie, USES.cookie, true);
    const { id, openedAt } = device;
    const given = this.#pinOf(id, openedAt, pin.trim().slice(0, 12));
    const after = await this.needs.publicLinks.tell(found.id, { type: 'DEVICE_PIN', device: id, pin: given });
    if (after === undefined) throw new PortalRefusal('TooManyRequests');
    return after.devices?.some((one) => one.id === id) !== true;
  }

  /**
   * Of a device that is over, what its person has not signed is canceled.
   * @param isLeaving true: the link may be closed
   * Refusals: those of a closed link; `PublicLinkNotFound` without a device.
   */
  async #read(ticket: string, use: (typeof USES)[keyof typeof USES], isLeaving = false): Promise<AtDevice> {
    const { tickets, runtime, publicLinks } = this.needs;
    const now = runtime.clock.now();
    const read = tickets.read('device', ticket, now);
    const [linkId = '', deviceId, usedAs] = read?.claims ?? [];
    const isAddress = usedAs === USES.address;
    if (read === undefined || usedAs !== use || (isAddress && read.expired))
      throw new PortalRefusal('PublicLinkNotFound');
    const found = await publicLinks.read(linkId);
    const device = found?.link.devices?.find(({ id }) => id === deviceId);
    if (found === undefined || device === undefined) throw new PortalRefusal('PublicLinkNotFound');
    const over = await this.#overWith(found, device, isLeaving);
    if (over === undefined) return { found, device };
    if (!isAddress) await this.#leave(found, device);
    throw new PortalRefusal(over);
  }

  /** Reason why a device is over; undefined: it is open. */
  async #overWith(
    { link }: Linked,
    device: LinkDevice,
    isLeaving: boolean,
  ): Promise<'PublicLinkNotFound' | 'PublicLinkEnded' | 'PublicLinkExpired' | undefined> {
    const now = this.needs.runtime.clock.now();
    if (now >= device.endDate) return 'PublicLinkNotFound';
    if (isLeaving) return undefined;
    const status = publicLinkStatus(link, now);
    // Of one that is used up the last person still signs.
    if (status === 'Ended' || status === 'Expired') return `PublicLink${status}`;
    return (await this.#hasHost(link, device)) ? undefined : 'PublicLinkEnded';
  }

  /** Nobody stands beside a device whose host has left, or may send nothing from the folder any more. */
  async #hasHost(
    { organizationId, folderId }: Linked['link'],
    { host, isUser, keyId, openedAt }: LinkDevice,
  ): Promise<boolean> {
    const application = { id: host.id as ApplicationId, name: host.name };
    const more = keyId === undefined ? {} : { keyId };
    const owner = await ownerOf(this.needs, {
      organizationId,
      application,
      isUser,
      createdAt: openedAt,
      ...more,
    });
    return owner !== undefined && reachesFolder(owner, folderId, 'Send');
  }

  /** Cancels what the person before the device has not signed, without a mail. It is made before the device knows it. */
  async #leave({ id, link }: Linked, { visit }: Pick<LinkDevice, 'visit'>): Promise<void> {
    if (visit !== null) await leaveDocument(this.needs.runtime, link, documentHere(id, visit));
  }

  /** With a key that the store does not have: who reads the store learns no PIN. */
  #pinOf(device: string, openedAt: number, pin: string): string {
    return derivedId('device-pin', this.needs.tickets.issue('device', [device, pin], openedAt));
  }
}
