/** More generated clients: they compile, and their calls are carried out and refused. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { withTools } from '../verifiers/tool.ts';
import { CLIENT_TOOLS, generated, PROGRAMS, smoke } from './generated-clients.ts';

const JAVA_PACKAGES = [
  'jackson-core',
  'jackson-databind',
  'jackson-annotations',
  'jsr305',
  'geronimo-annotation-1.3-spec',
];

withTools(test, ...CLIENT_TOOLS.java)(
  'the clients for Java compile, and one pauses the pipeline',
  async (t) => {
    const out = await generated(t, 'java');
    const jars = JAVA_PACKAGES.map((name) => `/usr/share/java/${name}.jar`);
    for (const api of ['portal', 'batch']) {
      const names = readdirSync(join(out, `java-${api}/src/main`), { recursive: true, encoding: 'utf8' });
      const files = names
        .filter((one) => one.endsWith('.java'))
        .map((one) => join(out, `java-${api}/src/main`, one));
      const own = readdirSync(join(PROGRAMS, 'java')).filter(
        (one) => api === 'batch' || one !== 'Smoke.java',
      );
      for (const name of own) copyFileSync(join(PROGRAMS, 'java', name), join(out, name));
      const list = join(out, `${api}.txt`);
      writeFileSync(list, [...files, ...own.map((name) => join(out, name))].join('\n'));
      const words = ['-nowarn', '-cp', jars.join(':'), '-d', join(out, 'classes'), `@${list}`];
      await promisify(execFile)('javac', words, { maxBuffer: 1e8 });
    }
    const said = await smoke('java', ['-cp', [join(out, 'classes'), ...jars].join(':'), 'Smoke']);
    t.is(said, 'true smoke\n401\n');
  },
);

withTools(test, ...CLIENT_TOOLS.php)(
  'the client for PHP signs a file, and reads the code of a refusal',
  async (t) => {
    const out = await generated(t, 'php');
    const said = await smoke('php', [join(PROGRAMS, 'smoke.php')], { CLIENTS: out });
    t.is(said, 'Completed hello.txt true\n401 auth.invalid-credentials\n');
  },
);

withTools(test, ...CLIENT_TOOLS.go)(
  'the clients for Go compile, and one signs a file and reads the code of a refusal',
  async (t) => {
    const out = await generated(t, 'go');
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
  },
);

withTools(test, ...CLIENT_TOOLS.csharp)(
  'the clients for C# compile, and one signs a file and reads the code of a refusal',
  async (t) => {
    const out = await generated(t, 'csharp');
    const json = '/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll';
    const uses = ['Net.Http', 'Runtime.Serialization', 'ComponentModel.DataAnnotations'].map(
      (name) => `-r:System.${name}.dll`,
    );
    const compile = (name: string, words: readonly string[]) =>
      promisify(execFile)(
        'mcs',
        ['-nowarn:472', `-out:${join(out, name)}`, `-r:${json}`, ...uses, ...words],
        {
          maxBuffer: 1e8,
        },
      );
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
  },
);
