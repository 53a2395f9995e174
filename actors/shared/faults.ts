/** Fault points of the batch service between files and store. Inactive unless armed; see `runtime/model/faults.ts`. */
import { declareFaultPoints } from '../../runtime/core.ts';

export const ACTOR_FAULTS = declareFaultPoints({
  'upload.synced': 'The bytes of an upload are on disk under their temporary name; no job knows them.',
  'upload.committed': 'The job of an upload is durable; its file still has the temporary name.',
  'upload.renamed': 'The file of an upload has its final name; the client has no answer yet.',
  'pool.sign.staged': 'The input stands in the working folder; nothing is signed.',
  'pool.sign.signed': 'The signed file stands in the working folder; no step says so.',
  'pool.release.linked': 'The output has its name; neither the folder is synced nor a step committed.',
  'pool.tidy.removed': 'The original is gone; the working folder stands and no step says so.',
  'pool.quarantine.moved': 'The working folder stands in error/; no step says so.',
});
