/** Reminders on schedule in replies. */
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';

export function remindersBody(schedule: ReminderSchedule | null) {
  return schedule && { ...schedule, daysBeforeExpiry: [...schedule.daysBeforeExpiry] };
}
