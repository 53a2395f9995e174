/** The actors of the batch service: machines, views (`job-index.ts`, `events.ts`), counters and unique names. */

import type { Actor } from '@sealwright/runtime';
import { ACCESS_KEY } from './access/access-keys.ts';
import { ENDED_SESSION } from './access/ended-sessions.ts';
import { USED_ANSWER } from './access/used-sign-in-answers.ts';
import { SYSTEM_EVENT } from './job-records/events.ts';
import { INPUT_FOLDER, JOB, OPERATION, PIPELINE } from './job-records/kinds.ts';
import { PROCESSED_PATH } from './jobs/processed-paths.ts';
import { OUTPUT_CLAIM } from './objects/output-claims.ts';
import { JOB_DELIVERY } from './webhooks/job-deliveries.ts';

export const definitions: readonly Actor[] = [
  JOB,
  PIPELINE,
  INPUT_FOLDER,
  SYSTEM_EVENT,
  PROCESSED_PATH,
  OUTPUT_CLAIM,
  JOB_DELIVERY,
  ACCESS_KEY,
  ENDED_SESSION,
  USED_ANSWER,
  OPERATION,
];
