/** The portal's tasks by name; a missing one does not compile. */
import type { PortalResults, PortalTask } from '../portal-tasks.ts';
import { begin } from './begin.ts';
import { check } from './check.ts';
import { describe } from './describe.ts';
import { finish } from './finish.ts';
import { inspect } from './inspect.ts';
import { merge } from './merge.ts';
import { readSheet } from './read-sheet.ts';
import { render } from './render.ts';
import { seal } from './seal.ts';
import type { PortalThread } from './thread.ts';
import { typeset } from './typeset.ts';

type Result<Name extends PortalTask['task']> = PortalResults[Name] | Promise<PortalResults[Name]>;

const PERFORM: {
  readonly [Name in PortalTask['task']]: (
    task: Extract<PortalTask, { readonly task: Name }>,
    thread: PortalThread,
  ) => Result<Name>;
} = {
  'portal.seal': seal,
  'portal.begin': begin,
  'portal.finish': finish,
  'portal.inspect': inspect,
  'portal.check': check,
  'portal.describe': describe,
  'portal.merge': merge,
  'portal.render': render,
  'portal.sheet': readSheet,
  'portal.typeset': typeset,
};

export function isPortalTask(task: { readonly task: string }): task is PortalTask {
  return Object.hasOwn(PERFORM, task.task);
}

export function performPortal<Name extends PortalTask['task']>(
  task: Extract<PortalTask, { readonly task: Name }>,
  thread: PortalThread,
): Result<Name> {
  const perform = PERFORM[task.task as Name];
  return perform(task, thread);
}
