/** Errors of the system while an upload is stored. Source: docs/batch-values.md §3. */
import test from 'ava';
import { unavailable } from '../../../../actors/batch/jobs/uploads.ts';
import { Retryable } from '../../../../runtime/index.ts';

const systemError = (code: string): Error => Object.assign(new Error(code), { code });

test('a full folder, and one that may not be written, can be tried again, and other errors are kept', (t) => {
  for (const [codes, expected] of [
    [['ENOSPC', 'EDQUOT'], 'storage.full'],
    [['EROFS', 'EPERM', 'EACCES', 'ENOENT', 'EMFILE', 'ENFILE'], 'storage.unavailable'],
  ] as const) {
    for (const code of codes) {
      const error = unavailable(systemError(code));
      t.true(error instanceof Retryable, code);
      t.is((error as Retryable).code, expected);
    }
  }
  const other = systemError('EINVAL');
  t.is(unavailable(other), other);
});
