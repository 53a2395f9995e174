/** HTTP client of the remote portal. Implements the calls of docs/batch-values.md §8 without retries. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Clock, Ids } from '@sealwright/runtime';
import { createHttpClient } from '@sealwright/signatures/http';
import { call, jsonOf, type PortalAddress, unreadableResponse } from './call.ts';
import type { RemoteDocument, RemotePortal } from './ports.ts';

export interface RemotePortalOptions {
  /** `RemoteSigner:Endpoint`. */
  readonly endpoint: string;
  /** `RemoteSigner:ApiKey`. */
  readonly apiKey: string;
  /** `RemoteSigner:RequestTimeoutSeconds`, in milliseconds. */
  readonly timeout: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Maximum number of connections: concurrent polls and some uploads. */
const CONNECTIONS = 16;

export function createRemotePortal(options: RemotePortalOptions): RemotePortal & { close(): void } {
  const endpoint = new URL(options.endpoint);
  const client = createHttpClient({ connections: CONNECTIONS, idleConnections: CONNECTIONS });
  const { apiKey, timeout, clock } = options;
  const address: PortalAddress = { endpoint, apiKey, timeout, clock, client };

  return {
    upload(file, document) {
      const body = multipart(file, document, options.ids.uuid());
      return call(
        address,
        { operation: 'upload', method: 'POST', path: '/api/uploads', body },
        async (answer) => idIn(await jsonOf('upload', answer), 'id') ?? fail('upload'),
      );
    },
    create(uploadId, document) {
      const body = jsonBody(creation(uploadId, document));
      return call(
        address,
        { operation: 'create', method: 'POST', path: '/api/documents', body },
        async (answer) => {
          const made = await jsonOf('create', answer);
          return (Array.isArray(made) ? idIn(made[0], 'documentId') : undefined) ?? fail('create');
        },
      );
    },
    status(documentId) {
      const path = `/api/documents/${encodeURIComponent(documentId)}`;
      return call(address, { operation: 'poll', method: 'GET', path }, async (answer) => {
        const detail = await jsonOf('poll', answer);
        const status = textIn(detail, 'status');
        if (status === undefined) throw unreadableResponse('poll');
        return { status, reason: textIn(detail, 'statusUpdateReason') ?? textIn(detail, 'reason') ?? null };
      });
    },
    download(documentId, target) {
      const path = `/api/documents/${encodeURIComponent(documentId)}/content?type=Signatures`;
      return call(address, { operation: 'download', method: 'GET', path }, async (answer) => {
        const length = Number(answer.headers['content-length'] ?? Number.NaN);
        const file = await writeWhole(answer.body, target);
        if (file.length > 0 && (Number.isNaN(length) || length === file.length)) return file;
        await rm(target, { force: true });
        throw unreadableResponse('download');
      });
    },
    async cancel(documentId, reason) {
      const path = `/api/documents/${encodeURIComponent(documentId)}/cancellation`;
      const body = jsonBody({ reason });
      await call(address, { operation: 'cancel', method: 'POST', path, body }, async (answer) => {
        for await (const _ of answer.body);
      });
    },
    close: () => client.close(),
  };
}

function fail(operation: 'upload' | 'create'): never {
  throw unreadableResponse(operation);
}

/** Document with one signing participant. Portals that do not know `forceCadesSignature` ignore it. */
function creation(uploadId: string, { fileName, contentType, format, participant }: RemoteDocument): object {
  const { name, identifier, email, allowElectronicSignature } = participant;
  return {
    files: [{ displayName: fileName, id: uploadId, name: fileName, contentType }],
    flowActions: [{ type: 'Signer', step: 1, user: { name, identifier, email }, allowElectronicSignature }],
    ...(format === 'Cades' && { forceCadesSignature: true }),
  };
}

function jsonBody(value: object) {
  const content = Buffer.from(JSON.stringify(value));
  return { type: 'application/json', length: content.length, content };
}

/** Builds a multipart body with one part `file`, streamed from disk. */
function multipart(
  { path, length }: { readonly path: string; readonly length: number },
  { fileName, contentType }: RemoteDocument,
  boundary: string,
) {
  // RFC 7578 §4.2: UTF-8; quotes and line breaks percent-encoded as browsers do.
  const name = fileName.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      `Content-Type: ${contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts() {
    yield head;
    yield* createReadStream(path, { start: 0, end: length - 1 });
    yield tail;
  }
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + length + tail.length,
    content: Readable.from(parts(), { objectMode: false }),
  };
}

/** Writes, syncs and hashes the file; removes it on failure. */
async function writeWhole(answer: AsyncIterable<Buffer>, target: string) {
  const file = await open(target, 'wx', 0o640);
  try {
    const hash = createHash('sha256');
    let length = 0;
    for await (const piece of answer) {
      hash.update(piece);
      length += piece.length;
      await file.writeFile(piece);
    }
    await file.sync();
    return { sha256: hash.digest('hex'), length };
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function idIn(value: unknown, name: string): string | undefined {
  const id = textIn(value, name);
  return id !== undefined && UUID.test(id) ? id : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text = (value as Record<string, unknown>)[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
