import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';

const SCRIPT = 'scripts/check-layout.mjs';
type Files = readonly { readonly path: string }[];
const { layoutFindings, readFiles } = (await import(pathToFileURL(SCRIPT).href)) as {
  readFiles(root: string): Files;
  layoutFindings(files: Files): string;
};
const { exportFindings } = (await import(pathToFileURL('scripts/layout/exports.mjs').href)) as {
  exportFindings(files: Files): readonly string[];
};

/** Gives what the checker says about a made-up tree. */
function check(tree: Record<string, string>, by = (root: string) => layoutFindings(readFiles(root))): string {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-layout-'));
  try {
    for (const [path, source] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), source);
    }
    return by(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const SOUND = {
  'machines/ids.ts': 'export type JobId = string;\nexport const parse = (text: string) => text;\n',
  'runtime/ports.ts': 'export interface Clock { now(): number }\nexport const kept = 32;\n',
  'runtime/index.ts': "export { type Clock, kept } from './ports.ts';\n",
  'crypto/index.ts': "import { createHash } from 'node:crypto';\nexport const hash = createHash;\n",
  'actors/index.ts':
    "import type { JobId } from '../machines/ids.ts';\nexport type Id = JobId;\nimport { kept } from '@sealwright/runtime';\nimport { hash } from '@sealwright/signatures';\nexport const all = [kept, hash];\n",
  'http/index.ts':
    "import type { Clock } from '@sealwright/runtime';\nimport type { Id } from '../actors/index.ts';\nexport type Both = [Clock, Id];\n",
  'main.ts':
    "import { all } from './actors/index.ts';\nimport type { Both } from './http/index.ts';\nexport const both = (x: Both) => [x, all];\n",
  'test/any.test.ts':
    "import test from 'ava';\nimport { kept } from '#runtime/ports.js';\ntest('keeps', (t) => t.is(kept, 32));\n",
};

test('a tree that follows every rule passes', (t) => {
  t.is(check(SOUND), '');
});

/** One broken rule each: what is added to the sound tree, and what must be said about it. */
const BROKEN: readonly (readonly [rule: string, tree: Record<string, string>, said: RegExp])[] = [
  [
    'the pool imports the portal, types included',
    {
      'actors/pool/bad.ts': "import type { A } from '../portal/a.ts';\nexport type B = A;\n",
      'actors/portal/a.ts': 'export type A = string;\n',
    },
    /actors\/pool\/bad\.ts:1: actors\/pool must not import actors\/portal/,
  ],
  [
    'a folder of a service has a name that is no subject',
    { 'actors/portal/tenants/bad.ts': 'export const bad = 1;\n' },
    /actors\/portal\/tenants: no name of a subject/,
  ],
  [
    'two folders of crypto reach each other without a cycle of files',
    {
      'crypto/cms/one.ts': "import { two } from '../x509/two.ts';\nexport const one = two;\n",
      'crypto/x509/two.ts': 'export const two = 2;\n',
      'crypto/x509/three.ts': "import { four } from '../cms/four.ts';\nexport const three = four;\n",
      'crypto/cms/four.ts': 'export const four = 4;\n',
    },
    /folder cycle: crypto\/cms -> crypto\/x509 -> crypto\/cms \(crypto\/cms\/one\.ts:1, crypto\/x509\/three\.ts:1\)/,
  ],
  [
    'folders of one zone import each other around a deeper folder',
    {
      'web/one/a.ts': "import { two } from '../two/inner/b.ts';\nexport const one = two;\n",
      'web/two/inner/b.ts': 'export const two = 2;\n',
      'web/two/other/c.ts': "import { kept } from '../../one/d.ts';\nexport const three = kept;\n",
      'web/one/d.ts': 'export const kept = 4;\n',
    },
    /knot in web: one two;/,
  ],
  [
    'a file beside a folder imports it and is imported by it',
    {
      'web/inner/b.ts': "import { c } from '../c.ts';\nexport const b = c;\n",
      'web/c.ts': 'export const c = 3;\n',
      'web/a.ts': "import { b } from './inner/b.ts';\nexport const a = b;\n",
      'web/inner/d.ts': "import { a } from '../a.ts';\nexport const d = a;\n",
    },
    /knot in web: a\.ts inner;/,
  ],
  [
    'a folder holds more files than a reader takes in',
    Object.fromEntries(
      Array.from({ length: 26 }, (_, index) => [`commands/c${index}.ts`, 'export const c = 1;\n']),
    ),
    /commands: 26 files side by side; at most 25/,
  ],
  [
    'a product file is too long',
    { 'crypto/long.ts': `${'// a line\n'.repeat(599)}export const a = 1;\n` },
    /crypto\/long\.ts: 600 lines; a product file has fewer than 600/,
  ],
  [
    'a product file imports from too many places',
    { 'crypto/many.ts': `${"import { join } from 'node:path';\n".repeat(26)}export const a = join('a');\n` },
    /crypto\/many\.ts: 26 imports; a product file has at most 25/,
  ],
  [
    'the runtime imports a machine',
    { 'runtime/bad.ts': "import { parse } from '../machines/ids.ts';\nexport const x = parse;\n" },
    /runtime\/bad\.ts:1: runtime must not import machines/,
  ],
  [
    'a machine imports more of the runtime than its actions, types included',
    { 'machines/bad.ts': "import type { Clock } from '@sealwright/runtime';\nexport type C = Clock;\n" },
    /machines\/bad\.ts:1: machines must not import runtime\/index\.ts of runtime/,
  ],
  [
    'crypto imports actors by a dynamic import',
    { 'crypto/bad.ts': "export const late = () => import('../actors/index.ts');\n" },
    /crypto\/bad\.ts:1: crypto must not import actors/,
  ],
  [
    'actors import http by a re-export',
    { 'actors/bad.ts': "export * from '../http/index.ts';\n" },
    /actors\/bad\.ts:1: actors must not import http/,
  ],
  [
    'contracts import machines',
    { 'contracts/bad.ts': "import { lamp } from '../machines/lamp.ts';\nexport const x = lamp;\n" },
    /contracts\/bad\.ts:1: contracts must not import machines/,
  ],
  [
    'http imports crypto',
    { 'http/bad.ts': "import { hash } from '@sealwright/signatures';\nexport const x = hash;\n" },
    /http\/bad\.ts:1: http must not import crypto/,
  ],
  [
    'http takes more than types from the runtime',
    {
      'http/bad.ts':
        "import { type Clock, kept } from '@sealwright/runtime';\nexport const x = (c: Clock) => [c, kept];\n",
    },
    /http\/bad\.ts:1: http may import types of runtime only/,
  ],
  [
    'a folder is entered beside its index',
    { 'actors/bad.ts': "import { kept } from '../runtime/ports.ts';\nexport const x = kept;\n" },
    /actors\/bad\.ts:1: runtime\/ports\.ts is inside runtime/,
  ],
  [
    'a lower layer of the runtime imports a higher one',
    {
      'runtime/model/low.ts': "import type { High } from '../host/high.ts';\nexport type Low = High;\n",
      'runtime/host/high.ts': 'export type High = string;\n',
    },
    /runtime\/model\/low\.ts:1: runtime\/model must not import runtime\/host/,
  ],
  [
    'two parts above the host of actors know each other',
    {
      'runtime/effects/one.ts': "import { two } from '../timers/two.ts';\nexport const one = two;\n",
      'runtime/timers/two.ts': 'export const two = 2;\n',
    },
    /runtime\/effects\/one\.ts:1: runtime\/effects must not import runtime\/timers/,
  ],
  [
    'a package is entered by a path',
    { 'actors/bad.ts': "import { kept } from '../runtime/index.ts';\nexport const x = kept;\n" },
    /actors\/bad\.ts:1: \.\.\/runtime\/index\.ts crosses the border of the package runtime/,
  ],
  [
    'a test enters a package by a path',
    { 'test/bad.ts': "import { kept } from '../runtime/ports.ts';\nexport const x = kept;\n" },
    /test\/bad\.ts:1: \.\.\/runtime\/ports\.ts crosses the border of the package runtime/,
  ],
  [
    'product code imports a file that a package does not offer',
    { 'actors/bad.ts': "import { kept } from '@sealwright/runtime/ports';\nexport const x = kept;\n" },
    /actors\/bad\.ts:1: runtime\/ports\.ts is inside runtime/,
  ],
  [
    'product code imports a package by its private name',
    { 'actors/bad.ts': "import { kept } from '#runtime/index.js';\nexport const x = kept;\n" },
    /actors\/bad\.ts:1: #runtime\/index\.js is for tests and benchmarks/,
  ],
  [
    'a package imports itself around through its own name',
    {
      'runtime/one.ts': "import { two } from '@sealwright/runtime/core';\nexport const one = two;\n",
      'runtime/core.ts': "export { one as two } from './one.ts';\n",
    },
    /cycle: runtime\/core\.ts -> runtime\/one\.ts -> runtime\/core\.ts/,
  ],
  [
    'http enters actors through an inner file',
    {
      'actors/batch/jobs/jobs.ts': 'export const jobs = 1;\n',
      'http/bad.ts': "import { jobs } from '../actors/jobs.ts';\nexport const x = jobs;\n",
    },
    /http\/bad\.ts:1: actors\/jobs\.ts is inside actors/,
  ],
  [
    'the product imports a test',
    { 'actors/bad.ts': "import '../test/any.test.ts';\n" },
    /actors\/bad\.ts:1: imports test\/any\.test\.ts; nothing may import tests/,
  ],
  [
    'the product imports a benchmark',
    {
      'bench/index.ts': 'export const speed = 1;\n',
      'actors/bad.ts': "import { speed } from '../bench/index.ts';\nexport const x = speed;\n",
    },
    /actors\/bad\.ts:1: actors must not import bench/,
  ],
  [
    'a benchmark imports a test that is no tool of it',
    { 'bench/bad.ts': "import '../test/any.test.ts';\nexport const x = 1;\n" },
    /bench\/bad\.ts:1: imports test\/any\.test\.ts; nothing may import tests/,
  ],
  [
    'a benchmark needs a package that only development has',
    { 'bench/bad.ts': "import Ajv from 'ajv';\nexport const x = Ajv;\n" },
    /bench\/bad\.ts:1: bench must not import the package ajv/,
  ],
  [
    'a package sits in the wrong folder',
    { 'http/bad.ts': "import { open } from 'lmdb';\nexport const x = open;\n" },
    /http\/bad\.ts:1: http must not import the package lmdb; it belongs to runtime/,
  ],
  [
    'a package nobody may use is required',
    { 'crypto/bad.ts': "export const load = (require: (n: string) => unknown) => require('left-pad');\n" },
    /crypto\/bad\.ts:1: crypto must not import the package left-pad; no folder/,
  ],
  [
    'a machine does input or output',
    { 'machines/bad.ts': "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n" },
    /machines\/bad\.ts:1: machines is pure and must not import node:fs/,
  ],
  [
    'two files import each other',
    {
      'runtime/left.ts': "import { right } from './right.ts';\nexport const left = () => right;\n",
      'runtime/right.ts': "import { left } from './left.ts';\nexport const right = () => left;\n",
    },
    /cycle: runtime\/left\.ts -> runtime\/right\.ts -> runtime\/left\.ts/,
  ],
  [
    'a file exports a default',
    { 'crypto/bad.ts': 'export default 1;\n' },
    /crypto\/bad\.ts:1: default export/,
  ],
  [
    'a file exports a name as the default',
    { 'crypto/bad.ts': 'const x = 1;\nexport { x as default };\n' },
    /crypto\/bad\.ts:2: default export/,
  ],
  [
    'a file is named after nothing',
    { 'http/utils.ts': 'export const x = 1;\n' },
    /http\/utils\.ts: "utils\.ts" says nothing/,
  ],
  [
    'a folder is named after nothing',
    { 'actors/helpers/jobs.ts': 'export const x = 1;\n' },
    /actors\/helpers\/jobs\.ts: "helpers" says nothing/,
  ],
  [
    'a file name is not kebab-case',
    { 'http/rateLimit.ts': 'export const x = 1;\n' },
    /http\/rateLimit\.ts: file names/,
  ],
  [
    'a file lies outside the layout',
    { 'portal/a.ts': 'export const x = 1;\n' },
    /portal\/a\.ts: belongs to no folder/,
  ],
  [
    'a test name is used twice',
    { 'test/b.test.ts': "test('keeps', () => {});\n" },
    /the test name "keeps" is used at test\/any/,
  ],
];

for (const [rule, tree, said] of BROKEN) {
  test(`the layout check refuses a tree in which ${rule}`, (t) => {
    const found = check({ ...SOUND, ...tree });
    t.regex(found, said);
    t.regex(found, /\n1 layout finding in/);
  });
}

test('time and randomness are refused in product code, and allowed in their own modules', (t) => {
  const taken = [
    'export const a = Date.now();',
    'export const b = new Date();',
    'export const c = performance.now();',
    'setTimeout(() => {}, 1);',
    'setInterval(() => {}, 1);',
    'export const d = Math.random();',
    "import { randomUUID } from 'node:crypto';",
    "import { randomBytes } from 'node:crypto';",
    'export const e = AbortSignal.timeout(1);',
  ].join('\n');
  const said = check({ ...SOUND, 'actors/bad.ts': taken });
  for (let line = 1; line <= 9; line += 1)
    t.regex(said, new RegExp(`actors/bad\\.ts:${line}: .* must be passed in`));
  t.is(check({ ...SOUND, 'runtime/model/clock.ts': taken, 'test/clock.test.ts': taken }), '');
});

test('keywords in comments, texts and regular expressions are not read as code', (t) => {
  const harmless = [
    "// import { parse } from '../machines/ids.ts';",
    '/* export default Date.now() */',
    'export const text = \'Math.random() import("../machines/ids.ts")\';',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is TypeScript source.
    'export const template = `new Date() ${[1].map((n) => `${n} setTimeout`).join()} randomUUID`;',
    "export const pattern = /'import \"x\" from'|[/']Date.now/;",
    'export const half = (total: number) => total / 2; // / Date.now',
    'export const at = (ms: number) => new Date(ms);',
    "export const from = { from: 'left-pad' };",
  ].join('\n');
  t.is(check({ ...SOUND, 'runtime/harmless.ts': harmless }), '');
});

test('code inside template placeholders is checked', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is TypeScript source.
  const said = check({ ...SOUND, 'runtime/bad.ts': "export const x = `at ${Date.now()} o'clock`;\n" });
  t.regex(said, /runtime\/bad\.ts:1: Date\.now must be passed in/);
});

test('an export is refused that no file imports', (t) => {
  const tree = {
    'machines/a.ts': 'export const taken = 1;\nexport async function* left() {}\nexport const kept = 2;\n',
    'actors/b.ts':
      "import { type Other, taken } from '../machines/a.ts';\nexport { kept } from '../machines/a.ts';\n",
    'test/c.test.ts': '// import { left } from;\nconst left = { left: 1 };\n',
  };
  const found = check(tree, (root) => exportFindings(readFiles(root)).join('\n'));
  t.is(found, 'machines/a.ts:2: nothing imports left; remove the export, or what it exports');
});

test('the command says what is broken and fails', (t) => {
  const said = check({ ...SOUND, 'http/utils.ts': 'export const x = 1;\n' }, (root) => {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', root], { encoding: 'utf8' });
    t.is(status, 1);
    return stderr;
  });
  t.regex(said, /"utils\.ts" says nothing.*\n\n1 layout finding in/);
});

test('the project itself passes its own check', (t) => {
  t.notThrows(() => execFileSync(process.execPath, [SCRIPT], { stdio: 'pipe' }));
});
