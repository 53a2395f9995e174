/** The end of parts that the tests of a file share. */
import type { TestFn } from 'ava';

/** Takes what ends the parts that all tests of a file use, and does it after the tests, the last part first. */
export function endedAfter<Context>(test: Pick<TestFn<Context>, 'after'>): {
  teardown(task: () => unknown): void;
} {
  const tasks: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const task of tasks.reverse()) await task();
  });
  return { teardown: (task) => void tasks.push(task) };
}
