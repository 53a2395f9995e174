import test, { type ExecutionContext } from 'ava';
import { type PortalFixture, portalFixture } from '../documents/flow-harness.ts';

/** One portal for all tests of a file: starting threads costs more than what most of them do. */
export function sharedPortalFixture(): () => Promise<PortalFixture> {
  const ends: (() => void | PromiseLike<void>)[] = [];
  const context = { teardown: (end: () => void) => ends.push(end) } as unknown as ExecutionContext;
  let fixture: Promise<PortalFixture> | undefined;
  test.after.always(async () => {
    for (const end of ends) await end();
  });
  return () => {
    fixture ??= portalFixture(context);
    return fixture;
  };
}
