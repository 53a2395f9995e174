/** Answers of the pool as refusals of the portal. */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

/** Codes of tasks whose file exceeds a time or memory limit; a retry would fail in the same way. */
const EXCEEDED = new Set(['pool.deadline', 'pool.memory-exceeded']);

export function exceedsBudget(code: string): boolean {
  return EXCEEDED.has(code);
}

/** Refusals: `DocumentUnreadable` for a file that exceeds the budget of a task, `ServiceBusy` for anything else. */
export function poolRefusal({ code }: { readonly code: string }): PortalRefusal {
  return exceedsBudget(code)
    ? new PortalRefusal('DocumentUnreadable', 'The file takes too long, or too much memory, to be read.')
    : new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 5 });
}

/** One client decodes messages in the character set of its platform. Source: docs/portal-values.md §2. */
export function inAscii(message: string): string {
  return message.replace(/[^ -~]/g, '?').slice(0, 500);
}
