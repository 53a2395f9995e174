/** Checks a picture of a signature whose faults only its samples or the document show. */
import { pictureFault, pictureFaultIn } from '@sealwright/signatures';
import type { PictureTask, PortalResults } from '../portal-tasks.ts';

export function checkPicture({ picture, pdf }: PictureTask): PortalResults['portal.picture'] {
  return { fault: (pdf === null ? pictureFault(picture) : pictureFaultIn(pdf, picture)) ?? null };
}
