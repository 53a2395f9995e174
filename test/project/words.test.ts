import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';

/** Runs the check over a tree made for it and gives its exit status and its findings. */
function check(tree: Record<string, string>): { status: number; findings: string } {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-words-'));
  try {
    for (const [path, source] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), source);
    }
    const run = spawnSync(process.execPath, ['scripts/check-words.mjs', '--root', root], {
      encoding: 'utf8',
    });
    return { status: run.status ?? -1, findings: run.stderr };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

test('a tree without retired words passes the check of words', (t) => {
  const { status, findings } = check({
    'crypto/paths.ts':
      '/** Certification paths. */\n\n/** Rows (RFC 5280 §6). */\nexport const PAGE_SIZE = 20;\n',
    'docs/guide.md': 'The queue holds effects.\n',
  });
  t.is(findings, '');
  t.is(status, 0);
});

for (const { broken, path, source, finding } of [
  {
    broken: 'a retired constant',
    path: 'actors/a.ts',
    source: 'const PIECE = 5;\n',
    finding: /a\.ts:1: "PIECE" is retired/,
  },
  {
    broken: 'a retired name in a comment',
    path: 'actors/a.ts',
    source: '/** Sends through PatientThreads. */\nexport const a = 1;\n',
    finding: /use IoWorkerPool/,
  },
  {
    broken: 'a type that ends in Parts',
    path: 'actors/a.ts',
    source: 'export interface JobParts {}\n',
    finding: /Dependencies/,
  },
  {
    broken: 'a doc comment that asks a question',
    path: 'actors/a.ts',
    source: '/** Whether it is open. */\nexport const a = 1;\n',
    finding: /not with "Whether"/,
  },
  {
    broken: 'two doc comments in a row',
    path: 'actors/a.ts',
    source: 'const a = 1;\n/** Size in bytes. */\n/** Returns it. */\nexport const b = () => a;\n',
    finding: /a\.ts:2: a doc comment stands before the declaration/,
  },
  {
    broken: 'a doc comment that has lost its declaration',
    path: 'actors/a.ts',
    source: 'const a = 1;\n/** Size in bytes. */\n\nexport const b = () => a;\n',
    finding: /a\.ts:2: a doc comment stands before the declaration/,
  },
  {
    broken: 'a doc comment inside an export',
    path: 'actors/a.ts',
    source: 'export /** Size in bytes. */\nconst a = 1;\n',
    finding: /a\.ts:1: a doc comment stands inside an export/,
  },
  {
    broken: 'a retired word in a document',
    path: 'docs/a.md',
    source: 'Patient threads wait for authorities.\n',
    finding: /docs\/a\.md:1: "Patient threads" is retired/,
  },
  {
    broken: 'a citation of a page that does not exist',
    path: 'actors/a.ts',
    source: '/** Reads it. Source: docs/missing.md §3. */\nexport const a = 1;\n',
    finding: /cites "docs\/missing\.md"/,
  },
  {
    broken: 'a citation of an issue, which readers do not have',
    path: 'docs/a.md',
    source: 'This follows issue 12.\n',
    finding: /cites "issue 12"/,
  },
]) {
  test(`the check of words reports ${broken}`, (t) => {
    const { status, findings } = check({ [path]: source });
    t.is(status, 1);
    t.regex(findings, finding);
  });
}
