/** A generated client: its calls are carried out and refused. Those that are compiled: clients-before-release.test.ts. */
import { join } from 'node:path';
import test from 'ava';
import { withTools } from '../verifiers/tool.ts';
import { CLIENT_TOOLS, generated, PROGRAMS, smoke } from './generated-clients.ts';

withTools(test, ...CLIENT_TOOLS.python)('the client for Python signs a file', async (t) => {
  const out = await generated(t, 'python');
  const PYTHONPATH = ['batch', 'portal'].map((api) => join(out, `python-${api}`)).join(':');
  const said = await smoke('/usr/bin/python3', [join(PROGRAMS, 'smoke.py')], { PYTHONPATH });
  t.is(said, 'Completed hello.txt True\n401\n');
});
