import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import test from 'ava';
import { compilerFlags } from '../../actors/services.ts';
import { batchFixture } from './batch/batch-harness.ts';

test.serial('a started service has set the flags of the compiler, all of which this V8 knows', async (t) => {
  const flags = compilerFlags(process.versions.v8);
  const before = cachedDataVersionTag();
  await batchFixture(t);
  const started = cachedDataVersionTag();
  // The tag is a hash of all flags.
  for (const flag of flags) setFlagsFromString(flag);
  t.is(cachedDataVersionTag(), started);
  if (flags.length > 0) {
    t.not(started, before);
    for (const flag of flags) {
      const known = cachedDataVersionTag();
      setFlagsFromString(`${flag.split('=')[0]}=1000`);
      t.not(cachedDataVersionTag(), known, flag);
    }
  }
});

test('other versions of V8 keep their own limits', (t) => {
  t.deepEqual(compilerFlags('13.6.233.17-node.53'), []);
  t.deepEqual(compilerFlags('11.3.244.8-node.33'), []);
  t.regex(compilerFlags('12.4.254.21-node.57')[0] ?? '', /^--invocation-count-for-turbofan=/);
});
