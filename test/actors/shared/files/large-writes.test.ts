import test from 'ava';
import { writingLarge } from '../../../../actors/shared/files/large-writes.ts';

test('two writes of large files run at a time, in order, and those of small files at once', async (t) => {
  const begun: string[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const write = (name: string, length: number) =>
    writingLarge(length, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve(name) : reject(error)));
      });
    });
  const writes = ['a', 'b', 'c', 'd'].map((name) => write(name, 5_000_000));
  const small = write('small', 1000);
  t.deepEqual(begun, ['a', 'b', 'small']);
  ends[1]?.(new Error('full'));
  await t.throwsAsync(writes[1] ?? small, { message: 'full' });
  t.deepEqual(begun, ['a', 'b', 'small', 'c']);
  ends[0]?.();
  t.is(await writes[0], 'a');
  t.deepEqual(begun, ['a', 'b', 'small', 'c', 'd']);
  for (const end of ends) end();
  t.deepEqual(await Promise.all([writes[2], writes[3], small]), ['c', 'd', 'small']);
  const later = write('e', 5_000_000);
  t.is(begun.at(-1), 'e');
  ends.at(-1)?.();
  t.is(await later, 'e');
});
