/** Settings of organizations that other parts of the portal read. */

import type { Calls } from '@sealwright/runtime';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { Language, QualificationDemand } from '../../../contracts/portal/words.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import { ORGANIZATION } from './organizations.ts';

/** English for an unknown or removed organization. */
export type LanguageOf = (organization: OrganizationId | undefined) => Promise<Language>;

export function languagesOf(actors: Pick<Calls, 'read'>): LanguageOf {
  return async (id) => {
    if (id === undefined) return 'en';
    const organization = await actors.read(ORGANIZATION, id);
    return organization?.context.language ?? 'en';
  };
}

/** Reads `refuseSignedEnvelopeFiles` of an organization. */
export function signedFileRule(
  actors: Pick<Calls, 'read'>,
): (organization: OrganizationId) => Promise<boolean> {
  return async (id) => {
    const organization = await actors.read(ORGANIZATION, id);
    return organization?.context.refuseSignedEnvelopeFiles ?? false;
  };
}

/** Least qualification that an organization demands of participants; null = none, also for an unknown one. */
export type QualificationOf = (
  organization: OrganizationId | undefined,
) => Promise<QualificationDemand | null>;

export function qualificationOf(actors: Pick<Calls, 'read'>): QualificationOf {
  return async (id) => {
    const organization = id === undefined ? undefined : await actors.read(ORGANIZATION, id);
    return organization?.context.requiredQualification ?? null;
  };
}

/** Demands of an organization on deputies. */
export type DeputyDemandsOf = (organization: OrganizationId) => Promise<{
  readonly refusesDeputies: boolean;
  readonly demandsCertificate: boolean;
}>;

/** Of an unknown organization, deputies are refused. */
export function deputyDemandsOf(actors: Pick<Calls, 'read'>): DeputyDemandsOf {
  return async (id) => {
    const organization = await actors.read(ORGANIZATION, id);
    return {
      refusesDeputies: organization?.context.refuseDeputies ?? organization === undefined,
      demandsCertificate: (organization?.context.requiredQualification ?? null) !== null,
    };
  };
}

/** Reads the reminders of an organization; undefined = none. */
export function remindersOf(
  actors: Pick<Calls, 'read'>,
): (organization: OrganizationId) => Promise<ReminderSchedule | undefined> {
  return async (id) => (await actors.read(ORGANIZATION, id))?.context.reminders ?? undefined;
}
