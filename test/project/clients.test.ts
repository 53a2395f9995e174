/** A generated client: its calls are carried out and refused. Those that are compiled: clients-before-release.test.ts. */
import { join } from 'node:path';
import test from 'ava';
import { generated, PROGRAMS, smoke } from './generated-clients.ts';

test('the client for Python signs a file', async (t) => {
  const out = await generated(t, 'python');
  if (out === undefined) return;
  const PYTHONPATH = ['batch', 'portal'].map((api) => join(out, `python-${api}`)).join(':');
  const said = await smoke('/usr/bin/python3', [join(PROGRAMS, 'smoke.py')], { PYTHONPATH });
  t.is(said, 'Completed hello.txt True\n401\n');
});
