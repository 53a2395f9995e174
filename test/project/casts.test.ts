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

test('one function is longer than 70 lines, in the script of pages with a limit of bytes', (t) => {
  const excuse = ['biome-ignore', 'lint/complexity/noExcessiveLinesPerFunction'].join(' ');
  const { stdout } = spawnSync('git', ['grep', '-c', excuse], { encoding: 'utf8' });
  t.is(stdout.trim(), 'web/client/batch/live-page.tsx:1', 'part what is longer by what it does');
});
