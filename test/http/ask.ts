/** Raw requests, including headers that `fetch` forbids, without following redirects. */
import http, { type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function ask(
  port: number,
  method: string,
  {
    path,
    headers = {},
    body = '',
  }: {
    readonly path: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
    readonly body?: string | undefined;
  },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = http.request(
      // Written as raw text, so that a test can omit the header or send an invalid one.
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { Host: `127.0.0.1:${port}`, ...headers },
        agent: false,
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          text += piece;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Logs in; returns the `Set-Cookie` of the reply and the `Cookie` value for later requests. */
export async function logIn(
  port: number,
  apiKey: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly answer: Answer; readonly setCookie: string; readonly cookie: string }> {
  const body = new URLSearchParams({ ApiKey: apiKey }).toString();
  const answer = await ask(port, 'POST', { path: '/api/auth/login', headers: { ...FORM, ...headers }, body });
  const setCookie = answer.headers['set-cookie']?.[0] ?? '';
  return { answer, setCookie, cookie: setCookie.split(';')[0] ?? '' };
}

/** The code of a problem body. */
export function codeOf(answer: Answer): string {
  return (JSON.parse(answer.text) as { code: string }).code;
}
