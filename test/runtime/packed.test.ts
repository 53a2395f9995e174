/** The packed package in an empty project: it compiles as strict TypeScript, and its program survives the end of its process. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from './folder.ts';

const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve('@sealwright/runtime'))), '..');
const MODULES = join(PACKAGE, '..', 'node_modules');

/** Packages that `npm install` would bring, and the compiler. */
const INSTALLED = ['xstate', 'lmdb', 'comlink', 'lru-cache', 'typescript', '@types', '@opentelemetry'];

/** Makes a project with the packed package and programs, and compiles them. Returns its folder. */
function projectWith(
  t: ExecutionContext,
  program: string,
  more: ReadonlyMap<string, string> = new Map(),
): string {
  const folder = folderFor(t);
  const scope = join(folder, 'node_modules', '@sealwright');
  mkdirSync(scope, { recursive: true });
  run(t, PACKAGE, 'npm', ['pack', '--silent', '--pack-destination', folder]);
  const [packed = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  run(t, folder, 'tar', ['xzf', packed]);
  renameSync(join(folder, 'package'), join(scope, 'runtime'));
  for (const name of INSTALLED) symlinkSync(join(MODULES, name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    noUncheckedIndexedAccess: true,
    // The types of the package need none of Node; tests of the guide do.
    ...(more.size > 0 && { types: ['node'] }),
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [name, text] of [['program.ts', program], ...more] as const)
    writeFileSync(join(folder, name), text);
  run(t, folder, process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
  return folder;
}

function run(t: ExecutionContext, cwd: string, command: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8', timeout: 60_000 });
  t.is(status, 0, `${command} ${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

test('the program of the README compiles as packed, survives kill -9 between its lines, and sends one mail under one key', (t) => {
  const [, program = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  const folder = projectWith(t, program);
  const whole = readFileSync(join(folder, 'program.js'), 'utf8');
  const statements = whole.split(/\n(?=const runtime|await |console\.log\(await)/);
  t.is(statements.length, 5, 'four statements follow the definitions');
  for (let done = 2; done <= statements.length; done += 1) {
    rmSync(join(folder, 'data'), { recursive: true, force: true });
    const killed = [...statements.slice(0, done), "process.kill(process.pid, 'SIGKILL');"].join('\n');
    writeFileSync(join(folder, 'killed.js'), killed);
    const { signal, stdout } = spawnSync(process.execPath, ['killed.js'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    t.is(signal, 'SIGKILL');
    const after = run(t, folder, process.execPath, ['program.js']);
    const mails = `${stdout}${after}`.match(/^mail .*$/gm) ?? [];
    t.is(mails.length, 1, `killed after statement ${done}: ${stdout}${after}`);
    t.regex(mails[0] ?? '', /^mail ana@example\.com reminder\/ana\//);
    t.regex(after, /^sent$/m);
  }
});

test('an effect that is killed while it runs is repeated under the same key', (t) => {
  const [, program = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  const folder = projectWith(t, program);
  const whole = readFileSync(join(folder, 'program.js'), 'utf8');
  const killed = whole.replace(
    "return { type: 'SENT' }",
    "process.kill(process.pid, 'SIGKILL'); return { type: 'SENT' }",
  );
  t.not(killed, whole);
  writeFileSync(join(folder, 'killed.js'), killed);
  const { signal, stdout } = spawnSync(process.execPath, ['killed.js'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  });
  t.is(signal, 'SIGKILL');
  const keys = `${stdout}${run(t, folder, process.execPath, ['program.js'])}`.match(/^mail .*$/gm) ?? [];
  t.is(keys.length, 2);
  t.is(new Set(keys).size, 1);
});

test('the programs of the guide compile as packed, and its messages, schedule and tests run', (t) => {
  const guide = join(PACKAGE, '..', 'docs', 'runtime');
  const programs = new Map<string, string>();
  for (const page of readdirSync(guide))
    for (const [, program = '', name = ''] of readFileSync(join(guide, page), 'utf8').matchAll(
      /```ts\n(\/\/ (\S+\.ts)\n.*?)```/gs,
    ))
      programs.set(name, program);
  t.is(programs.size, 10);
  const folder = projectWith(t, '', programs);
  t.regex(run(t, folder, process.execPath, ['messages.js']), /^charge 5 under order\/o-7\/2\/\d+\n5\n$/);
  t.regex(run(t, folder, process.execPath, ['nightly.js']), /^\d{4}-\d\d-\d\dT0[01]:30:00\.000Z\n$/);
  t.regex(
    run(t, folder, process.execPath, ['--test', 'order.test.js', 'release.test.js', 'store.test.js']),
    /^# fail 0$/m,
  );
});
