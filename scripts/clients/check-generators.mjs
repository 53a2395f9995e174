/**
 * Gives the descriptions of both services to generators of others, and compiles what they make. Not part of any check: needs the registry.
 *
 * node scripts/clients/check-generators.mjs   after a build. exit 0: none has a warning, and all of it compiles
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const GENERATORS = {
  'openapi-typescript@7.13.0': (api) => [`${api}.json`, '-o', `types-${api}/index.ts`],
  'swagger-typescript-api@13.13.0': (api) => [
    'generate',
    '-p',
    `${api}.json`,
    '-o',
    `client-${api}`,
    '-n',
    'index.ts',
  ],
  // The last versions need Node 22.
  '@hey-api/openapi-ts@0.80.0': (api) => ['-i', `${api}.json`, '-o', `functions-${api}`],
};
const TYPESCRIPT = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--lib',
  'es2022,dom,dom.iterable',
  '--target',
  'es2022',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
];

const { batchDocument, portalDocument } = await import('../../dist/test/http/descriptions.js');
const work = mkdtempSync(join(tmpdir(), 'check-generators-'));
let failed = 0;
for (const [api, document] of Object.entries({ batch: batchDocument(), portal: portalDocument() })) {
  writeFileSync(join(work, `${api}.json`), JSON.stringify(document));
  for (const [generator, words] of Object.entries(GENERATORS)) {
    const said = run('npx', '-y', generator, ...words(api));
    const complaints = said.match(/^.*(warn|error|deprecat|⚠).*$/gim) ?? [];
    const folder = words(api).find((word) => word.includes(`-${api}`)) ?? '';
    const entry = folder.endsWith('.ts') ? folder : `${folder}/index.ts`;
    complaints.push(
      ...(run(join(ROOT, 'node_modules/.bin/tsc'), ...TYPESCRIPT, entry).match(/^.*error TS.*$/gm) ?? []),
    );
    console.log(`${generator}, ${api}: ${complaints.length} warnings and errors`);
    for (const complaint of complaints.slice(0, 10)) console.log(`  ${complaint}`);
    failed += complaints.length;
  }
}
rmSync(work, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

function run(command, ...words) {
  const options = { cwd: work, encoding: 'utf8', maxBuffer: 1e8 };
  const { status, stdout, stderr } = spawnSync(command, words, options);
  return status === 0 ? stdout + stderr : `${stdout}${stderr}\nerror TS: ${command} ended with ${status}`;
}
