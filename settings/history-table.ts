/** `History:*`: how the tamper-evident history is sealed, and where copies of its checkpoints go. Source: docs/decisions/0053-tamper-evident-history.md. */
import { key, optional } from './keys.ts';
import { webUrl, whole } from './kinds.ts';

export const HISTORY_KEYS = {
  'History:CheckpointMinutes': key(whole(1, 1440), 10, {
    unit: 'minutes',
    says: 'Interval of checkpoints: a signed checkpoint over all changes is written to the log and the store.',
  }),
  'History:WebhookUrl': optional(webUrl(), {
    says: 'Address that receives each checkpoint as JSON, so that a copy exists elsewhere. Checkpoints are sent again until it answers with 2xx.',
  }),
  'History:TimestampUrl': optional(webUrl(), {
    says: 'Time-stamp authority (RFC 3161) for checkpoints; the token is stored and sent with the checkpoint.',
  }),
} as const;
