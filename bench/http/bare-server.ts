/**
 * Minimal server with the same library: equal bodies, without checks and lookups. Of an upload it does what no program
 * can leave out that answers once the file is durable: it writes the bytes to a file, syncs it, and links it under its
 * name.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fdatasync, link, open, unlink, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadUws } from '../../http/index.ts';

export interface BareAnswers {
  /** Body by path, for GET. */
  readonly bodies: { readonly [path: string]: string };
  /** Body of the response to any POST, with 202, once the file is durable. */
  readonly accepted: string;
  /** Folder of the uploads; must exist. */
  readonly uploads: string;
}

/** Mode of an upload's file, as of the program. */
const FILE_MODE = 0o640;
/** End of the headers of a part. */
const PART_HEAD_END = Buffer.from('\r\n\r\n');

const opened = promisify(open);
const synced = promisify(fdatasync);
const linked = promisify(link);
const unlinked = promisify(unlink);

/** Resolves when the file part of the form is durable under a new name. */
async function store(form: Buffer, folder: string): Promise<void> {
  const path = join(folder, randomUUID());
  const file = await opened(`${path}.part`, 'wx', FILE_MODE);
  try {
    const end = form.lastIndexOf('\r\n--', form.length - '\r\n'.length);
    writeSync(file, form.subarray(form.indexOf(PART_HEAD_END) + PART_HEAD_END.length, end));
    await synced(file);
  } finally {
    closeSync(file);
  }
  await linked(`${path}.part`, path);
  await unlinked(`${path}.part`);
}

process.once('disconnect', () => process.exit(0));
process.once('message', (answers) => {
  const { bodies, accepted, uploads } = answers as BareAnswers;
  const uws = loadUws();
  const app = uws.App();
  app.any('/*', (response, request) => {
    if (request.getCaseSensitiveMethod() === 'GET') {
      response.writeHeader('content-type', 'application/json').end(bodies[request.getUrl()] ?? '');
      return;
    }
    let isAborted = false;
    const pieces: Buffer[] = [];
    response.onAborted(() => {
      isAborted = true;
    });
    response.onData((piece, isLast) => {
      pieces.push(Buffer.from(new Uint8Array(piece)));
      if (!isLast) return;
      void store(Buffer.concat(pieces), uploads).then(() => {
        if (isAborted) return;
        response.cork(() => {
          response.writeStatus('202 Accepted').writeHeader('content-type', 'application/json').end(accepted);
        });
      });
    });
  });
  app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    process.send?.(socket === false ? 0 : uws.us_socket_local_port(socket));
  });
});
