import test, { type ExecutionContext } from 'ava';
import { type FlowRoom, flowRoom } from '../documents/flow-harness.ts';

/** One portal for all tests of a file: starting threads costs more than what most of them do. */
export function sharedRoom(): () => Promise<FlowRoom> {
  const ends: (() => void | PromiseLike<void>)[] = [];
  const context = { teardown: (end: () => void) => ends.push(end) } as unknown as ExecutionContext;
  let room: Promise<FlowRoom> | undefined;
  test.after.always(async () => {
    for (const end of ends) await end();
  });
  return () => {
    room ??= flowRoom(context);
    return room;
  };
}
