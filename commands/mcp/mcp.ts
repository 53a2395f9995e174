/** `sealwright mcp`: the usual operations as tools for an assistant, on the service that runs here or on another one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_APPLICATION } from '../../actors/index.ts';
import type { BatchOperations } from '../../clients/typescript/batch.d.ts';
import { Client, type ClientOptions } from '../../clients/typescript/client.ts';
import type { PortalOperations } from '../../clients/typescript/portal.d.ts';
import { APPLICATION_FILE } from '../../service/portal-setup.ts';
import type { Settings } from '../../settings.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { findService, localApiKey, localFetch, reachable } from '../local-service.ts';
import type { CommandContext } from '../terminal.ts';
import { serveTools } from './server.ts';
import { TOOLS } from './tools.ts';

/** Answers until standard input ends. */
export async function mcp(
  settings: Settings,
  { folder }: { folder: string },
  version: string,
  { terminal, env }: CommandContext,
): Promise<ExitCode> {
  const services = {
    folder,
    root: settings.storage.root,
    batch: async () => new Client<BatchOperations>(await batchOptions(settings, env)),
    portal: async () => new Client<PortalOperations>(await portalOptions(settings, env)),
  };
  await serveTools(TOOLS, services, version, { input: process.stdin, write: (line) => terminal.out(line) });
  return EXIT.good;
}

type Environment = CommandContext['env'];

/** Found by each call: the service may start later, and on another port. */
async function batchOptions(settings: Settings, env: Environment): Promise<ClientOptions> {
  const { SEALWRIGHT_BATCH_URL: url, SEALWRIGHT_BATCH_KEY: key = '' } = env;
  const keyHeader = settings.auth.apiKeyHeader;
  if (url !== undefined) return { url, key, keyHeader };
  return { ...(await local(settings, 'batch')), key: localApiKey(settings), keyHeader };
}

async function portalOptions(settings: Settings, env: Environment): Promise<ClientOptions> {
  const { SEALWRIGHT_PORTAL_URL: url, SEALWRIGHT_PORTAL_KEY: key = '' } = env;
  if (url !== undefined) return { url, key };
  const { application = FIRST_APPLICATION, secret } = settings.portal.bootstrap;
  const kept = secret ?? readFileSync(join(settings.storage.keysPath, APPLICATION_FILE), 'utf8').trim();
  return { ...(await local(settings, 'portal')), key: `${application}|${kept}` };
}

async function local(settings: Settings, api: 'batch' | 'portal'): Promise<ClientOptions> {
  return { url: reachable(await findService(settings, api)), fetch: localFetch(settings) };
}
