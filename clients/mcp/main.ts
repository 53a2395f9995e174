#!/usr/bin/env node
/** The program: addresses and keys of the services come from the environment, the folder from the command line. */
import { realpathSync, statSync } from 'node:fs';
import type { BatchOperations } from '../typescript/batch.d.ts';
import { Client } from '../typescript/client.ts';
import type { PortalOperations } from '../typescript/portal.d.ts';
import { serveTools } from './server.ts';
import { TOOLS } from './tools.ts';

const USAGE = 'Usage: sealwright-mcp --folder <the only folder whose files are read and written>';

/** Exit code of a command line that is not understood. */
const BAD_USAGE = 2;

function folderOf(words: readonly string[]): string | undefined {
  const [option, folder] = words;
  if (words.length !== 2 || option !== '--folder' || folder === undefined) return undefined;
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? realpathSync(folder) : undefined;
}

/** @throws {Error} without an address of the service */
function accountOf(service: 'BATCH' | 'PORTAL'): { readonly url: string; readonly key: string } {
  const url = process.env[`SEALWRIGHT_${service}_URL`];
  const key = process.env[`SEALWRIGHT_${service}_KEY`];
  if (!url || !key)
    throw new Error(
      `The service has no address or no key. Set SEALWRIGHT_${service}_URL and SEALWRIGHT_${service}_KEY where this server is started.`,
    );
  return { url, key };
}

const folder = folderOf(process.argv.slice(2));
if (folder === undefined) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = BAD_USAGE;
} else
  await serveTools(
    TOOLS,
    {
      folder,
      batch: () => new Client<BatchOperations>(accountOf('BATCH')),
      portal: () => new Client<PortalOperations>(accountOf('PORTAL')),
    },
    { input: process.stdin, write: (line) => process.stdout.write(line) },
  );
