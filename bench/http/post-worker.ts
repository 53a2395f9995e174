/** Client thread: posts the given bodies and reports the responses. */
import http from 'node:http';
import { parentPort } from 'node:worker_threads';

export interface Post {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Posted {
  readonly status: number;
  /** Length of the response body in bytes. */
  readonly bytes: number;
}

// The server closes the connection while the rest of a refused body is still being sent.
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

parentPort?.on('message', ({ port, path, headers, body }: Post) => {
  const tell = (posted: Posted) => parentPort?.postMessage(posted);
  const request = http.request({ port, path, method: 'POST', headers, agent }, (answer) => {
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    answer.on('end', () => tell({ status: answer.statusCode ?? 0, bytes }));
  });
  request.on('error', () => tell({ status: 0, bytes: 0 }));
  request.end(body);
});
