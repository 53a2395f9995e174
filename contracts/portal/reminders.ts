/** Reminders on schedule. Source: docs/decisions/0121-scheduled-reminders.md. */
import { z } from 'zod';
import { list, members, wholeFrom } from '../fields.ts';
import type { Value } from '../operation.ts';

const MAX_DAYS = 365;
const DEFAULT_REMINDERS = 5;

/** Reminders in a request. */
export const newReminders = members({
  everyDays: wholeFrom(1, MAX_DAYS).nullish().meta({
    description: 'Days after which a pending participant is reminded; null = never.',
    exampleValue: 3,
  }),
  maximum: wholeFrom(1, 100)
    .nullish()
    .meta({
      description: `Most reminders for one flow action; ${DEFAULT_REMINDERS} when left out.`,
      exampleValue: DEFAULT_REMINDERS,
    }),
  daysBeforeExpiry: list(wholeFrom(1, MAX_DAYS), { most: 10 })
    .nullish()
    .meta({
      description: 'Days before the expiration date on which pending participants are warned. At most ten.',
      exampleValue: [7, 1],
    }),
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
    everyDays: z.int().nullable().meta({
      description: 'Days between reminders of a pending participant; null = never.',
      exampleValue: 3,
    }),
    maximum: z
      .int()
      .meta({ description: 'Most reminders for one flow action.', exampleValue: DEFAULT_REMINDERS }),
    daysBeforeExpiry: z.array(z.int()).meta({
      description: 'Days before the expiry at which pending participants are warned.',
      exampleValue: [7, 1],
    }),
  })
  .meta({ id: 'Reminders', description: 'Reminders and warnings that are sent on schedule.' });

/** As stored and as shown. The next reminder is counted from the request or the last reminder. */
export type ReminderSchedule = Value<typeof reminders>;
