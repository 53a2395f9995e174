/** Two generated clients: they compile, and their calls are carried out and refused. The others: clients-before-release.test.ts. */
import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { generated, PROGRAMS, smoke } from './generated-clients.ts';

test('the client for Python signs a file', async (t) => {
  const out = await generated(t, 'python');
  if (out === undefined) return;
  const PYTHONPATH = ['batch', 'portal'].map((api) => join(out, `python-${api}`)).join(':');
  const said = await smoke('/usr/bin/python3', [join(PROGRAMS, 'smoke.py')], { PYTHONPATH });
  t.is(said, 'Completed hello.txt True\n401\n');
});

test('the clients for C# compile, and one signs a file and reads the code of a refusal', async (t) => {
  const out = await generated(t, 'csharp');
  if (out === undefined) return;
  const json = '/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll';
  const uses = ['Net.Http', 'Runtime.Serialization', 'ComponentModel.DataAnnotations'].map(
    (name) => `-r:System.${name}.dll`,
  );
  const compile = (name: string, words: readonly string[]) =>
    promisify(execFile)('mcs', ['-nowarn:472', `-out:${join(out, name)}`, `-r:${json}`, ...uses, ...words], {
      maxBuffer: 1e8,
    });
  const own = ['Batch', 'Portal'].map((api) => join(out, `Sealwright.${api}.dll`));
  for (const api of ['Batch', 'Portal']) {
    const folder = join(out, `csharp-${api.toLowerCase()}/src/Sealwright.${api}`);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.cs'),
    );
    await compile(`Sealwright.${api}.dll`, ['-target:library', ...files.map((one) => join(folder, one))]);
  }
  copyFileSync(json, join(out, 'Newtonsoft.Json.dll'));
  await compile('smoke.exe', [...own.map((path) => `-r:${path}`), join(PROGRAMS, 'Smoke.cs')]);
  const said = await smoke('mono', [join(out, 'smoke.exe')]);
  t.is(said, 'Completed hello.txt True\n401 auth.invalid-credentials\n');
});
