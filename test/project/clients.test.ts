/** The generated clients compile, and their calls are carried out and refused. Debian has no C#, whose client is only generated. */
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { freshFolder, start } from '../commands/program.ts';

const PROGRAMS = resolve('test/project/clients');
const JAVA_PACKAGES = [
  ...['jackson-core', 'jackson-databind', 'jackson-annotations', 'jsr305', 'geronimo-annotation-1.3-spec'],
];

/** Programs that clients need, beside that of the generator. */
const TOOLS: { readonly [language: string]: string } = { python: 'python3', php: 'php', go: 'go' };

/** Generates into a folder; resolves with what the program printed. The wait for the generator is minutes on a busy machine. */
async function generated(t: ExecutionContext, language: string): Promise<string | undefined> {
  t.timeout(900_000, 'a generator that loads a JVM for each client, and a compiler');
  for (const tool of ['java', TOOLS[language] ?? 'java']) {
    if (spawnSync('which', [tool]).status === 0) continue;
    if (process.env['SEALWRIGHT_REQUIRE_TOOLS'] === '1') t.fail(`${tool} is not here`);
    t.log(`${tool} is not here; nothing was tested`);
    t.pass();
    return undefined;
  }
  const out = freshFolder();
  await promisify(execFile)(process.execPath, ['scripts/clients.mjs', language, '--out', out], {
    maxBuffer: 1e8,
  });
  return out;
}

/** Runs a program with the address and key of a fresh service, and a file to sign. */
async function smoke(command: string, words: readonly string[], env: object = {}): Promise<string> {
  const cwd = freshFolder();
  const service = start(cwd, ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0']);
  try {
    await service.says(/\[INF\] Ready/);
    const { batchUrl } = JSON.parse(readFileSync(join(cwd, 'data/db/service.json'), 'utf8')) as {
      batchUrl: string;
    };
    const file = join(cwd, 'hello.txt');
    writeFileSync(file, 'hello');
    const BATCH_KEY = readFileSync(join(cwd, 'data/keys/api-key'), 'utf8').trim();
    const { stdout } = await promisify(execFile)(command, [...words, file], {
      env: { ...process.env, BATCH_URL: batchUrl, BATCH_KEY, ...env },
      timeout: 240_000,
    });
    return stdout;
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

test('the client for Python signs a file', async (t) => {
  const out = await generated(t, 'python');
  if (out === undefined) return;
  const PYTHONPATH = ['batch', 'portal'].map((api) => join(out, `python-${api}`)).join(':');
  const said = await smoke('/usr/bin/python3', [join(PROGRAMS, 'smoke.py')], { PYTHONPATH });
  t.is(said, 'Completed hello.txt True\n401\n');
});

test('the clients for Java compile, and one pauses the pipeline', async (t) => {
  const out = await generated(t, 'java');
  if (out === undefined) return;
  const jars = JAVA_PACKAGES.map((name) => `/usr/share/java/${name}.jar`);
  for (const api of ['portal', 'batch']) {
    const names = readdirSync(join(out, `java-${api}/src/main`), { recursive: true, encoding: 'utf8' });
    const files = names
      .filter((one) => one.endsWith('.java'))
      .map((one) => join(out, `java-${api}/src/main`, one));
    const own = readdirSync(join(PROGRAMS, 'java')).filter((one) => api === 'batch' || one !== 'Smoke.java');
    for (const name of own) copyFileSync(join(PROGRAMS, 'java', name), join(out, name));
    const list = join(out, `${api}.txt`);
    writeFileSync(list, [...files, ...own.map((name) => join(out, name))].join('\n'));
    const words = ['-nowarn', '-cp', jars.join(':'), '-d', join(out, 'classes'), `@${list}`];
    await promisify(execFile)('javac', words, { maxBuffer: 1e8 });
  }
  const said = await smoke('java', ['-cp', [join(out, 'classes'), ...jars].join(':'), 'Smoke']);
  t.is(said, 'true smoke\n401\n');
});

test('the client for PHP signs a file, and reads the code of a refusal', async (t) => {
  const out = await generated(t, 'php');
  if (out === undefined) return;
  const said = await smoke('php', [join(PROGRAMS, 'smoke.php')], { CLIENTS: out });
  t.is(said, 'Completed hello.txt true\n401 auth.invalid-credentials\n');
});

test('the clients for Go compile, and one signs a file and reads the code of a refusal', async (t) => {
  const out = await generated(t, 'go');
  if (out === undefined) return;
  for (const api of ['batch', 'portal']) {
    const folder = join(out, `src/github.com/sealwright/${api}`);
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(join(out, `go-${api}`)).filter((one) => one.endsWith('.go')))
      copyFileSync(join(out, `go-${api}`, name), join(folder, name));
  }
  const env = { GOPATH: `${out}:/usr/share/gocode`, GO111MODULE: 'off', GOCACHE: join(out, 'cache') };
  await promisify(execFile)('go', ['build', '-o', join(out, 'smoke'), join(PROGRAMS, 'smoke.go')], {
    env: { ...process.env, ...env },
  });
  t.is(await smoke(join(out, 'smoke'), []), 'Completed hello.txt true\n401 auth.invalid-credentials\n');
});

test('the client for C# is generated', async (t) => {
  const out = await generated(t, 'csharp');
  if (out === undefined) return;
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' });
  for (const api of ['Batch', 'Portal'])
    t.true(
      names.some(
        (name) =>
          name.endsWith(`Sealwright.${api}/Api/DocumentsApi.cs`) ||
          name.endsWith(`Sealwright.${api}/Api/FilesApi.cs`),
      ),
    );
});
