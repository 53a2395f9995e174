/** Fault points of the batch service between files and store. Inactive unless armed; see `runtime/model/faults.ts`. */
import { declareFaultPoints } from '@sealwright/runtime/core';

export const ACTOR_FAULTS = declareFaultPoints({
  'upload.synced': 'The bytes of an upload are on disk under their temporary name; no job knows them.',
  'upload.committed': 'The job of an upload is durable; its file still has the temporary name.',
  'upload.renamed': 'The file of an upload has its final name; the client has no answer yet.',
  'pool.sign.staged': 'The input is in the working folder; nothing is signed.',
  'pool.sign.signed': 'The signed file is in the working folder; no step records it.',
  'pool.release.linked': 'The output has its name; the folder is not synced, and no step is committed.',
  'job.output.stored': 'The output is in the object store; no step records it.',
  'pool.tidy.removed': 'The original is removed; the working folder exists, and no step records it.',
  'pool.quarantine.moved': 'The working folder is in error/; no step records it.',
});
