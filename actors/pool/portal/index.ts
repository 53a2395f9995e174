/** Maps the portal's task names to implementations; the type requires all of them. */

import { pictureFault, pictureFaultIn } from '@sealwright/signatures';
import type { PictureTask, PortalResults, PortalTask } from '../portal-tasks.ts';
import { applyServiceSignature } from './apply-service-signature.ts';
import { beginParticipantSigning } from './begin-signing.ts';
import { checkSignatures } from './check.ts';
import { describe } from './describe.ts';
import { finishParticipantSigning } from './finish-signing.ts';
import { fill, readGeneration } from './generation.ts';
import { inspect } from './inspect.ts';
import { merge } from './merge.ts';
import type { PortalTaskContext } from './portal-task-context.ts';
import { render } from './render.ts';
import { storeBytes } from './store-bytes.ts';
import { findTextTags } from './text-tags.ts';
import { zipFiles } from './zip-files.ts';

/** Checks a picture of a signature whose faults only its samples or the document show. */
function checkPicture({ picture, pdf }: PictureTask): PortalResults['portal.picture'] {
  return { fault: (pdf === null ? pictureFault(picture) : pictureFaultIn(pdf, picture)) ?? null };
}

type Result<Name extends PortalTask['task']> = PortalResults[Name] | Promise<PortalResults[Name]>;

const PERFORM: {
  readonly [Name in PortalTask['task']]: (
    task: Extract<PortalTask, { readonly task: Name }>,
    thread: PortalTaskContext,
  ) => Result<Name>;
} = {
  'portal.store': storeBytes,
  'portal.seal': applyServiceSignature,
  'portal.begin': beginParticipantSigning,
  'portal.finish': finishParticipantSigning,
  'portal.inspect': inspect,
  'portal.text-tags': findTextTags,
  'portal.picture': checkPicture,
  'portal.check': checkSignatures,
  'portal.describe': describe,
  'portal.merge': merge,
  'portal.zip': zipFiles,
  'portal.render': render,
  'portal.generation': readGeneration,
  'portal.fill': fill,
};

export function isPortalTask(task: { readonly task: string }): task is PortalTask {
  return Object.hasOwn(PERFORM, task.task);
}

export function performPortal<Name extends PortalTask['task']>(
  task: Extract<PortalTask, { readonly task: Name }>,
  thread: PortalTaskContext,
): Result<Name> {
  const perform = PERFORM[task.task as Name];
  return perform(task, thread);
}
