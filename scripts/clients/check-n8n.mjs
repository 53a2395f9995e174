/**
 * Compiles the node for n8n against the types of n8n, loads it as n8n does, and lets the engine of n8n run it against a service that it starts.
 * Not part of any check: n8n-workflow and n8n-core are 330 MB, and need Node 24.
 *
 * node scripts/clients/check-n8n.mjs [<version of both>]   after a build. exit 0: all of it works
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packNode } from '../release/pack.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const [version = 'latest'] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'check-n8n-'));
const run = (cwd, command, ...words) => execFileSync(command, words, { cwd, encoding: 'utf8' });
let service;
try {
  writeFileSync(join(work, 'package.json'), '{"private":true}');
  const packages = ['n8n-workflow', 'n8n-core'].map((name) => `${name}@${version}`);
  run(work, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages, 'reflect-metadata');
  const node = join(work, 'node_modules', 'n8n-nodes-sealwright');
  packNode(node, work);

  const source = join(ROOT, 'clients', 'n8n');
  writeFileSync(
    join(work, 'types.ts'),
    `import type { ICredentialType, INodeType } from 'n8n-workflow';
import { SealwrightBatchApi, SealwrightPortalApi } from '${source}/credentials.ts';
import { Sealwright } from '${source}/node.ts';
export const node: INodeType = new Sealwright();
export const credentials: ICredentialType[] = [new SealwrightBatchApi(), new SealwrightPortalApi()];
`,
  );
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const target = ['--module', 'nodenext', '--target', 'es2023'];
  run(work, join(ROOT, 'node_modules/.bin/tsc'), ...flags, ...types, ...target, 'types.ts');
  console.log('the node has the types of n8n');

  const data = join(work, 'service');
  mkdirSync(data);
  const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  service = spawn(process.execPath, [join(ROOT, 'dist/main.js'), 'serve', ...ports], { cwd: data });
  await new Promise((resolve, reject) => {
    service.stdout.on('data', (chunk) => String(chunk).includes('[INF] Ready') && resolve());
    service.on('close', () => reject(new Error('the service has ended')));
  });
  const { samplePdf } = await import('../../dist/bench/samples.js');
  writeFileSync(join(work, 'a.pdf'), samplePdf(10_000));
  const key = (name) => readFileSync(join(data, 'data/keys', name), 'utf8').trim();
  const { batchUrl, portalUrl } = JSON.parse(readFileSync(join(data, 'data/db/service.json'), 'utf8'));
  const accounts = {
    sealwrightBatchApi: { url: batchUrl, key: key('api-key') },
    sealwrightPortalApi: { url: portalUrl, key: `default|${key('portal-application-secret')}` },
  };
  writeFileSync(join(work, 'accounts.json'), JSON.stringify(accounts));
  cpSync(join(import.meta.dirname, 'run-in-n8n.cjs'), join(work, 'run-in-n8n.cjs'));
  console.log(run(work, 'npx', '-y', '-p', 'node@24', '--', 'node', 'run-in-n8n.cjs'));
} finally {
  service?.kill();
  rmSync(work, { recursive: true, force: true });
}
