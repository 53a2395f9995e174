/** Reminders on schedule. Source: docs/decisions/0121-scheduled-reminders.md. */

import { z } from 'zod';
import { list, members, shown, wholeFrom } from '../fields.ts';
import type { Value } from '../operation.ts';

const MAX_DAYS = 365;
const DEFAULT_REMINDERS = 5;

/** Reminders in a request. */
export const newReminders = members({
  everyDays: shown(
    wholeFrom(1, MAX_DAYS).nullish(),
    'Days after which a pending participant is reminded; null = never.',
    3,
  ),
  maximum: shown(
    wholeFrom(1, 100).nullish(),
    `Most reminders for one flow action; ${DEFAULT_REMINDERS} when left out.`,
    DEFAULT_REMINDERS,
  ),
  daysBeforeExpiry: shown(
    list(wholeFrom(1, MAX_DAYS), { most: 10 }).nullish(),
    'Days before the expiration date on which pending participants are warned. At most ten.',
    [7, 1],
  ),
})
  .transform(
    ({ everyDays, maximum, daysBeforeExpiry }): ReminderSchedule => ({
      everyDays: everyDays ?? null,
      maximum: maximum ?? DEFAULT_REMINDERS,
      daysBeforeExpiry: daysBeforeExpiry ?? [],
    }),
  )
  .meta({ id: 'NewReminders' });

export const reminders = z
  .strictObject({
    everyDays: shown(z.int().nullable(), 'Days between reminders of a pending participant; null = never.', 3),
    maximum: shown(z.int(), 'Most reminders for one flow action.', DEFAULT_REMINDERS),
    daysBeforeExpiry: shown(
      z.array(z.int()),
      'Days before the expiry at which pending participants are warned.',
      [7, 1],
    ),
  })
  .meta({ id: 'Reminders', description: 'Reminders and warnings that are sent on schedule.' });

/** As stored and as shown. The next reminder is counted from the request or the last reminder. */
export type ReminderSchedule = Value<typeof reminders>;
