/** Requests for overload: uploads, and starts of flows. */
import { uploadRequests } from '../http/client.ts';
import type { Program } from '../program.ts';
import { samplePdf } from '../samples.ts';

/** Bytes of each file. */
const UPLOAD = 10_000;

export interface Flood {
  readonly name: string;
  readonly url: string;
  /** Path of the route. */
  readonly route: string;
  /** Status of a successful request. */
  readonly status: number;
  readonly request: () => Buffer;
  /** Number of requests with a lasting result, earlier ones included. */
  readonly kept: () => Promise<number>;
  /** Number of accepted and unfinished items. */
  readonly waiting: () => Promise<number>;
}

export function uploads(program: Program): Flood {
  const jobs = async (filter: string) =>
    (await program.ask<{ totalCount: number }>('batch', `/api/jobs?pageSize=1${filter}`)).totalCount;
  return {
    name: 'uploads',
    url: program.batch,
    route: '/api/files',
    status: 202,
    request: uploadRequests('/api/files', program.batchKey, samplePdf(UPLOAD)),
    kept: () => jobs(''),
    waiting: async () => {
      const counts = ['Queued', 'Processing', 'Verifying'].map((status) => jobs(`&status=${status}`));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Creates documents from one uploaded file: the start of a flow. */
export async function flows(program: Program): Promise<Flood> {
  const form = new FormData();
  form.set(
    'file',
    new Blob([new Uint8Array(samplePdf(UPLOAD))], { type: 'application/pdf' }),
    'contract.pdf',
  );
  const { id, name, contentType } = await program.ask<{ id: string; name: string; contentType: string }>(
    'portal',
    '/api/uploads',
    { method: 'POST', body: form },
  );
  const body = Buffer.from(
    JSON.stringify({
      files: [{ displayName: 'Contract', id, name, contentType }],
      flowActions: [
        { type: 'Signer', user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
      ],
      disableNotifications: true,
    }),
  );
  const head = [
    'POST /api/documents HTTP/1.1',
    'Host: localhost',
    ...Object.entries(program.portalKey).map(([header, value]) => `${header}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n');
  const request = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
  return {
    name: 'flows',
    url: program.portal,
    route: '/api/documents',
    status: 200,
    request: () => request,
    kept: async () =>
      (await program.ask<{ totalCount: number }>('portal', '/api/documents?Limit=1')).totalCount,
    waiting: async () => 0,
  };
}
