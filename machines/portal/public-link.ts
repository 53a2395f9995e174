/**
 * A link of a template for anybody.
 *
 * | from | message      | to    | effects     |                                              |
 * |------|--------------|-------|------------|----------------------------------------------|
 * | Open | TAKE         | Open  |            | before its end, while a document is left; again for the same visit |
 * | Open | KEEP         | Open  |            | the document of the visit was made           |
 * | Open | RELEASE      | Open  |            | the document of the visit was not made       |
 * | Open | END          | Open  | leaveVisits | once                                         |
 * | Open | DEVICE_OPEN  | Open  | leaveVisits | before its end, fewer than 20 devices        |
 * | Open | DEVICE_TAKE  | Open  |            | once for a device                            |
 * | Open | DEVICE_NEXT  | Open  | leaveVisits | another person stands before the device      |
 * | Open | DEVICE_MAKE  | Open  |            | for the visit of the person there            |
 * | Open | DEVICE_PIN   | Open  | leaveVisits | the right one ends the device; few wrong ones |
 * | Open | DEVICE_END   | Open  | leaveVisits |                                              |
 * | Open | DEVICES_OVER | Open  | leaveVisits | by the deadline: the time of a device is over |
 * | Open | after 731 d  | Ended |            |                                              |
 *
 * `leaveVisits` is asked for where persons are no longer before an open device. A link that takes no more visits stays in
 * lists. Ended is not stored: the actor ends.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { declareEffect, type RequestAction } from '@sealwright/runtime/actions';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { NewRole } from '../../contracts/portal/flow.ts';
import type { PublicLinkContact } from '../../contracts/portal/saved-requests/public-links.ts';
import type { Language } from '../../contracts/portal/words.ts';
import { DAY_MS } from '../../contracts/times.ts';
import type { ApplicationId, DocumentId, Millis, OrganizationId } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const PUBLIC_LINK_ENDED = 'Ended';

/** Longest time in which a link takes visits, milliseconds. */
export const MAX_LINK_TIME_MS = 366 * DAY_MS;
/** Retention of a link from its creation, milliseconds. */
export const PUBLIC_LINK_RETENTION_MS = 731 * DAY_MS;
/** Visits whose documents are being made at once; others wait. */
const MAX_TAKING = 100;

/** Time in which the address of a new device is opened, milliseconds. */
export const DEVICE_OPENING_MS = 10 * 60_000;
const MAX_DEVICES = 20;
/** Wrong PINs of a device in a period, milliseconds. */
const WRONG_PINS = { most: 5, period: 15 * 60_000 };

/** A device of the sender at which persons sign one after the other. */
export interface LinkDevice {
  readonly id: string;
  /** User or application that has opened it; somebody stands beside it. */
  readonly host: { readonly id: string; readonly name: string };
  /** True: the host is a user. */
  readonly isUser: boolean;
  /** Key of the application with which the device ends. Absent: it ends with the application or the user. */
  readonly keyId?: string;
  /** Keyed hash. */
  readonly pin: string;
  readonly openedAt: Millis;
  readonly endDate: Millis;
  /** True: its address was opened. */
  readonly isTaken: boolean;
  /** Hash of the visit of the person before it; null = none yet. */
  readonly visit: string | null;
  /** Document that this person signs; null = none yet. */
  readonly documentId: DocumentId | null;
  readonly wrongPins: { readonly since: Millis; readonly count: number };
}

export interface PublicLinkContext {
  readonly organizationId: OrganizationId;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Order number: sorts links by creation. */
  readonly order: number;
  /** The application that made the link; for a signed-in user, the user's id and name. */
  readonly application: { readonly id: ApplicationId; readonly name: string };
  /** True: `application` is a user. Absent = false. */
  readonly isUser?: boolean;
  readonly name: string;
  readonly templateId: string;
  /** That of the template when the link was made; null = none. */
  readonly folderId: string | null;
  /** As the template has it. */
  readonly role: string;
  /** For the other roles. */
  readonly participants: readonly NewRole[];
  readonly contact: PublicLinkContact;
  readonly fields: readonly string[];
  readonly mostDocuments: number;
  readonly mostPerPerson: number;
  readonly endDate: Millis;
  readonly language: Language | null;
  readonly returnUrl: string | null;
  /** Documents that were made or are being made. */
  readonly taken: number;
  /** Visits whose documents are being made. */
  readonly taking: readonly string[];
  readonly endedAt: Millis | null;
  /** Those that are open, or were when the last one was opened. Absent = none. */
  readonly devices?: readonly LinkDevice[];
  /** Reason why the last visit that gave valid data made no document; null = none. */
  readonly lastRefusal: { readonly code: string; readonly message: string; readonly date: Millis } | null;
}

export type PublicLinkMessage = RecordMessage &
  (
    | { readonly type: 'END' | 'DEVICES_OVER' }
    | { readonly type: 'DEVICE_OPEN'; readonly device: LinkDevice }
    | { readonly type: 'DEVICE_TAKE' | 'DEVICE_END'; readonly device: string }
    | {
        readonly type: 'DEVICE_NEXT';
        readonly device: string;
        readonly visit: string;
        /** Accepted only after this visit; null = after none. Absent = after any. */
        readonly from?: string | null;
      }
    | {
        readonly type: 'DEVICE_MAKE';
        readonly device: string;
        readonly visit: string;
        readonly documentId: DocumentId;
      }
    | { readonly type: 'DEVICE_PIN'; readonly device: string; readonly pin: string }
    | { readonly type: 'TAKE' | 'KEEP'; readonly visit: string }
    | {
        readonly type: 'RELEASE';
        readonly visit: string;
        /** Absent: the visitor gave other data than the template takes. */
        readonly refusal?: { readonly code: string; readonly message: string };
      }
  );

/** Cancels what the persons of visits have not signed. */
export const leaveVisits = declareEffect('leaveVisits', {
  types: {} as { input: { readonly visits: readonly string[] } },
});

/** The status of a link in lists and for visitors. */
export function publicLinkStatus(
  {
    endedAt,
    endDate,
    taken,
    mostDocuments,
  }: Pick<PublicLinkContext, 'endedAt' | 'endDate' | 'taken' | 'mostDocuments'>,
  now: Millis,
) {
  if (endedAt !== null) return 'Ended';
  if (now > endDate) return 'Expired';
  return taken >= mostDocuments ? 'Full' : 'Open';
}

/** The devices that are open. */
export function devicesOf(
  { devices = [] }: Pick<PublicLinkContext, 'devices'>,
  now: Millis,
): readonly LinkDevice[] {
  return devices.filter(({ endDate }) => now < endDate);
}

/** Changes an open device. @param change null = it ends; undefined = the message is not accepted */
function withDevice(
  link: PublicLinkContext,
  { device, at }: { readonly device: string; readonly at: Millis },
  change: (found: LinkDevice) => Partial<LinkDevice> | null | undefined,
) {
  const { devices = [] } = link;
  const found = devicesOf(link, at).find(({ id }) => id === device);
  const changed = found && change(found);
  if (changed === undefined) return undefined;
  return {
    context: {
      devices: devices.flatMap((one) =>
        one !== found ? [one] : changed === null ? [] : [{ ...one, ...changed }],
      ),
    },
  };
}

/** The right PIN ends the device. After too many wrong ones none counts for a while. */
function afterPin(
  { pin, wrongPins }: LinkDevice,
  { pin: given, at }: { readonly pin: string; readonly at: Millis },
): Partial<LinkDevice> | null | undefined {
  const isOld = at - wrongPins.since >= WRONG_PINS.period;
  if (!isOld && wrongPins.count >= WRONG_PINS.most) return undefined;
  if (pin === given) return null;
  return { wrongPins: isOld ? { since: at, count: 1 } : { ...wrongPins, count: wrongPins.count + 1 } };
}

/** Visits whose persons have left. */
function visitsLeft({ devices: before = [] }: PublicLinkContext, { devices: after = [] }: PublicLinkContext) {
  const present = new Set(after.map(({ visit }) => visit));
  const visits = before.flatMap(({ visit }) => (visit === null || present.has(visit) ? [] : [visit]));
  return visits.length === 0 ? [] : [{ visits }];
}

export const publicLinkMachine = recordMachine<PublicLinkContext, PublicLinkMessage>({
  id: 'public-link',
  state: 'Open',
  context: (input) => input,
  created: 'The link was made.',
  changes: {
    TAKE: (link, { visit, at }) => {
      const { taken, taking } = link;
      if (taking.includes(visit)) return { context: {} };
      if (publicLinkStatus(link, at) !== 'Open' || taking.length >= MAX_TAKING) return undefined;
      return { context: { taken: taken + 1, taking: [...taking, visit] } };
    },
    KEEP: ({ taking }, { visit }) => ({ context: { taking: taking.filter((one) => one !== visit) } }),
    RELEASE: ({ taken, taking }, { visit, refusal, at }) => {
      if (!taking.includes(visit)) return { context: {} };
      const lastRefusal = refusal && { ...refusal, date: at };
      const others = taking.filter((one) => one !== visit);
      return { context: { taken: taken - 1, taking: others, ...(lastRefusal && { lastRefusal }) } };
    },
    END: ({ endedAt }, { at }) =>
      endedAt === null ? { context: { endedAt: at, devices: [] }, note: 'The link was ended.' } : undefined,
    DEVICE_OPEN: (link, { device, at }) => {
      const devices = devicesOf(link, at);
      if (publicLinkStatus(link, at) !== 'Open' || devices.length >= MAX_DEVICES) return undefined;
      return { context: { devices: [...devices, device] }, note: `${device.host.name} opened a device.` };
    },
    DEVICE_TAKE: (link, message) =>
      withDevice(link, message, ({ isTaken }) => (isTaken ? undefined : { isTaken: true })),
    DEVICE_NEXT: (link, message) =>
      withDevice(link, message, ({ visit }) =>
        message.from === undefined || message.from === visit
          ? { visit: message.visit, documentId: null }
          : undefined,
      ),
    DEVICE_MAKE: (link, message) =>
      withDevice(link, message, ({ visit }) =>
        visit === message.visit ? { documentId: message.documentId } : undefined,
      ),
    DEVICE_PIN: (link, message) => withDevice(link, message, (device) => afterPin(device, message)),
    DEVICE_END: (link, message) => withDevice(link, message, () => null),
    DEVICES_OVER: (link, { at }) => ({ context: { devices: devicesOf(link, at) } }),
  },
  effects: {
    action: leaveVisits.action as RequestAction<object>,
    inputs: visitsLeft,
  },
  deadline: {
    type: 'DEVICES_OVER',
    dueAt: ({ devices = [] }) =>
      devices.length === 0 ? null : Math.min(...devices.map(({ endDate }) => endDate)),
  },
  end: { state: PUBLIC_LINK_ENDED, lifetimeMs: PUBLIC_LINK_RETENTION_MS },
});
