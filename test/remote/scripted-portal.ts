/**
 * A scripted portal: takes uploads, makes documents, signs them with a real key when asked, and can be
 * late, fail and lie at every call. A real HTTP server; it counts what it is asked.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import type { ExecutionContext } from 'ava';
import { pki } from '../pki/pki.ts';

export type Operation = 'upload' | 'create' | 'poll' | 'download' | 'cancel';

/** Everything that is answered instead of the truth. */
export type Misbehaviour =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'reset'
  | 'half'
  | 'silence';

export interface PortalDocument {
  readonly id: string;
  readonly fileName: string;
  readonly request: { readonly [field: string]: unknown };
  status: string;
  reason: string | null;
  /** Everything `content?type=Signatures` gives. */
  content: Buffer;
}

export class ScriptedPortal {
  readonly apiKey = 'batch tests|0123456789abcdef';
  readonly documents = new Map<string, PortalDocument>();
  readonly calls: Operation[] = [];
  readonly cancellations: { readonly id: string; readonly reason: unknown }[] = [];
  /** Keys that calls came with. */
  readonly keys = new Set<string | undefined>();
  /** Held back until this resolves, by operation. */
  readonly gates = new Map<Operation, Promise<void>>();
  /** While set, every call ends like this. */
  down: Misbehaviour | undefined;
  readonly #uploads = new Map<string, { readonly fileName: string; readonly bytes: Buffer }>();
  readonly #misbehaviours = new Map<Operation, Misbehaviour[]>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'sealwright-portal-'));
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  url = '';

  async listen(t: ExecutionContext): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    t.teardown(() => {
      this.#server.closeAllConnections();
      this.#server.close();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    return this;
  }

  /** The next calls of an operation end like this, one after the other. */
  misbehave(operation: Operation, ...how: readonly Misbehaviour[]): void {
    this.#misbehaviours.set(operation, [...(this.#misbehaviours.get(operation) ?? []), ...how]);
  }

  count(operation: Operation): number {
    return this.calls.filter((call) => call === operation).length;
  }

  /** The one document there is. */
  get only(): PortalDocument {
    const [document] = this.documents.values();
    if (document === undefined || this.documents.size > 1) throw new Error('There is not one document.');
    return document;
  }

  /** Signs a document as its participant would and concludes it. */
  conclude(document: PortalDocument): void {
    const input = join(this.#folder, `${document.id}.in`);
    const output = join(this.#folder, `${document.id}.out`);
    writeFileSync(input, document.content);
    const format = document.fileName.endsWith('.pdf')
      ? 'Pades'
      : document.fileName.endsWith('.xml')
        ? 'Xades'
        : 'Cades';
    signFile({
      format,
      input,
      output,
      signer: pki().signer('p-256'),
      at: Date.now(),
      cades: { detached: true },
    });
    document.content = readFileSync(output);
    document.status = 'Concluded';
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await bodyOf(request);
    // The caller was killed while it sent: a portal never learns what was asked.
    if (bytes === undefined) return;
    const url = new URL(request.url ?? '/', this.url);
    const operation = operationOf(request.method ?? '', url.pathname);
    if (operation === undefined) {
      response.writeHead(404).end();
      return;
    }
    this.calls.push(operation);
    this.keys.add(request.headers['x-api-key'] as string | undefined);
    await this.gates.get(operation);
    const how = this.down ?? this.#misbehaviours.get(operation)?.shift();
    if (how !== undefined) {
      misbehave(how, response);
      return;
    }
    const id = url.pathname.split('/')[3] ?? '';
    const document = this.documents.get(id);
    switch (operation) {
      case 'upload':
        this.#upload(bytes, response);
        return;
      case 'create':
        this.#create(JSON.parse(bytes.toString('utf8')) as Record<string, unknown>, response);
        return;
      case 'poll':
        if (document === undefined) response.writeHead(404).end();
        else reply(response, { id, status: document.status, statusUpdateReason: document.reason });
        return;
      case 'download':
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(document?.content);
        return;
      case 'cancel':
        this.cancellations.push({
          id,
          reason: (JSON.parse(bytes.toString('utf8')) as { reason?: unknown }).reason,
        });
        if (document) document.status = 'Canceled';
        response.writeHead(200).end();
    }
  }

  #upload(bytes: Buffer, response: ServerResponse): void {
    const text = bytes.toString('latin1');
    const start = text.indexOf('\r\n\r\n') + 4;
    const end = text.lastIndexOf('\r\n--');
    const name = /filename="([^"]*)"/.exec(text.slice(0, start))?.[1] ?? '';
    const id = randomUUID();
    this.#uploads.set(id, {
      fileName: Buffer.from(name, 'latin1').toString('utf8'),
      bytes: bytes.subarray(start, end),
    });
    reply(response, { id });
  }

  #create(request: Record<string, unknown>, response: ServerResponse): void {
    const [file] = request['files'] as { readonly id: string }[];
    const upload = this.#uploads.get(file?.id ?? '');
    if (upload === undefined) {
      response.writeHead(422).end();
      return;
    }
    const id = randomUUID();
    this.documents.set(id, {
      id,
      fileName: upload.fileName,
      request,
      status: 'Pending',
      reason: null,
      content: upload.bytes,
    });
    reply(response, [{ uploadId: file?.id, documentId: id }]);
  }
}

function operationOf(method: string, path: string): Operation | undefined {
  if (method === 'POST' && path === '/api/uploads') return 'upload';
  if (method === 'POST' && path === '/api/documents') return 'create';
  if (method === 'POST' && path.endsWith('/cancellation')) return 'cancel';
  if (method === 'GET' && path.endsWith('/content')) return 'download';
  return method === 'GET' && /^\/api\/documents\/[^/]+$/.test(path) ? 'poll' : undefined;
}

function misbehave(how: Misbehaviour, response: ServerResponse): void {
  if (how === 'reset') response.destroy();
  else if (how === 'half') {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('%PDF-1.7');
    setImmediate(() => response.destroy());
  } else if (how !== 'silence') response.writeHead(how.status, how.headers).end(how.body ?? '');
}

function reply(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** The whole body; undefined when the connection ends before it. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  } catch (error) {
    if (request.complete) throw error;
    return undefined;
  }
  return Buffer.concat(pieces);
}
