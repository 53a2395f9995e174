/** Reminders on schedule in requests and replies. Source: docs/decisions/0121-scheduled-reminders.md. */
import { z } from 'zod';
import type { ReminderSchedule } from '../../../machines/portal/portal-types.ts';
import { list, members, wholeFrom } from '../input/fields.ts';

const MAX_DAYS = 365;
const MAX_REMINDERS = 100;
const MAX_WARNINGS = 10;
const DEFAULT_REMINDERS = 5;

export const remindersInput = members({
  everyDays: wholeFrom(1, MAX_DAYS)
    .nullish()
    .describe('Days after which a pending participant is reminded; null = never.'),
  maximum: wholeFrom(1, MAX_REMINDERS)
    .nullish()
    .meta({
      description: `Most reminders for one flow action; ${DEFAULT_REMINDERS} when left out.`,
      exampleValue: DEFAULT_REMINDERS,
    }),
  daysBeforeExpiry: list(wholeFrom(1, MAX_DAYS), { most: MAX_WARNINGS }).nullish(),
}).transform(
  ({ everyDays, maximum, daysBeforeExpiry }): ReminderSchedule => ({
    everyDays: everyDays ?? null,
    maximum: maximum ?? DEFAULT_REMINDERS,
    daysBeforeExpiry: daysBeforeExpiry ?? [],
  }),
);

export const remindersShape = z
  .strictObject({
    everyDays: z.int().nullable().describe('Days between reminders of a pending participant; null = never.'),
    maximum: z
      .int()
      .meta({ description: 'Most reminders for one flow action.', examples: [DEFAULT_REMINDERS] }),
    daysBeforeExpiry: z
      .array(z.int())
      .describe('Days before the expiry at which pending participants are warned.'),
  })
  .meta({ id: 'Reminders', description: 'Reminders and warnings that are sent on schedule.' });

export function remindersBody(schedule: ReminderSchedule | null): z.infer<typeof remindersShape> | null {
  return schedule && { ...schedule, daysBeforeExpiry: [...schedule.daysBeforeExpiry] };
}
