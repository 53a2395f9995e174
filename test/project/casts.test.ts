import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';

/** Runs the check over a tree made for it and gives its exit status and its findings. */
function check(tree: Record<string, string>): { status: number; listed: string; findings: string } {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-casts-'));
  try {
    for (const [path, source] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), source);
    }
    const run = spawnSync(process.execPath, ['scripts/check-casts.mjs', '--list', '--root', root], {
      encoding: 'utf8',
    });
    return { status: run.status ?? -1, listed: run.stdout, findings: run.stderr };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

test('forced casts are counted in product code only, not in comments and texts', (t) => {
  const { status, listed } = check({
    'actors/a.ts': [
      'const a = b as unknown as C;',
      'f(x as never, y as any);',
      'const { d } = actor.context as E;',
      'const g = actor.context as unknown as E;',
      '// h as never',
      "const i = 'j as any';",
      'const k = l as M;',
    ].join('\n'),
    'test/b.test.ts': 'const a = b as never;\n',
    'bench/c.ts': 'const a = b as never;\n',
  });
  t.is(status, 0);
  t.deepEqual(listed.trim().split('\n'), [
    'actors/a.ts:1: as unknown as',
    'actors/a.ts:2: as never',
    'actors/a.ts:2: as any',
    'actors/a.ts:3: context as',
    'actors/a.ts:4: as unknown as',
  ]);
});

test('a number of forced casts over the limit fails the build, which names each', (t) => {
  const { status, findings } = check({ 'http/a.ts': 'const a = b as never;\n'.repeat(16) });
  t.is(status, 1);
  t.regex(findings, /http\/a\.ts:16: as never/);
  t.regex(findings, /16 casts in product code/);
});

test('a function may be long if the list of long functions names it, and the list names no other', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-long-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const named = spawnSync(process.execPath, ['scripts/lint/long-functions.mjs'], { encoding: 'utf8' });
  t.is(named.status, 0, named.stderr);
  writeFileSync(
    join(root, 'a.ts'),
    '// biome-ignore lint/complexity/noExcessiveLinesPerFunction: long.\nexport function b() {}\n',
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    ['scripts/lint/long-functions.mjs', '--root', root],
    { encoding: 'utf8' },
  );
  t.is(status, 1);
  t.regex(stderr, /^a\.ts: b is longer than 70 lines/m);
  t.regex(stderr, /^machines\/delivery-queue\.ts: queueMachine is no long function any more/m);
});
