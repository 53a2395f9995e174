/**
 * Fuzzes the running program over HTTP: requests from both API descriptions, to every operation, with valid keys,
 * invalid ones and none. Failures: a status of 500 or more, a response that contradicts its description, a connection
 * that ends without a response, and an unanswered health check.
 */
import type { AnswerBook } from '../../http/answer-book.ts';
import { bookOf } from '../../http/answers.ts';
import { batchDocument, portalDocument } from '../../http/descriptions.ts';
import { Random } from '../random.ts';
import { KnownTexts } from './request-values.ts';
import { type FuzzRequest, RequestMaker } from './requests.ts';

export interface FuzzedService {
  readonly url: string;
  /** Header and value of each valid key, the most privileged one first. */
  readonly keys: readonly (readonly [header: string, value: string])[];
}

export interface HttpFuzzSettings {
  readonly batch: FuzzedService;
  readonly portal: FuzzedService;
  /** Responses with the ids, tickets and keys for the first requests. */
  readonly learned: readonly string[];
  readonly seed: number;
  /** Number of requests. */
  readonly requests: number;
  readonly atOnce: number;
  /** Called before each request, for displaying progress. */
  readonly watch?: (done: number, failures: number) => void;
}

export interface HttpFuzzResult {
  /** Operations with at least one success, and all operations. */
  readonly reached: ReadonlySet<string>;
  readonly operations: number;
  readonly statuses: { readonly [status: number]: number };
  readonly failures: readonly string[];
  /** Longest health check in milliseconds. */
  readonly slowestHealth: number;
}

/** Number of requests between health checks, and the time limit of one. */
const HEALTH_EVERY = 50;
const HEALTH_WITHIN = 10_000;
const ANSWER_WITHIN = 30_000;
const MAX_FAILURES = 50;

interface Side {
  readonly service: FuzzedService;
  readonly maker: RequestMaker;
  readonly book: AnswerBook;
}

export async function fuzzHttp(settings: HttpFuzzSettings): Promise<HttpFuzzResult> {
  const random = new Random(settings.seed);
  const known = new KnownTexts();
  for (const answer of settings.learned) known.learn(answer, random);
  const batch = batchDocument();
  const portal = portalDocument();
  const sides: readonly Side[] = [
    { service: settings.batch, maker: new RequestMaker(batch, random, known), book: bookOf('batch') },
    { service: settings.portal, maker: new RequestMaker(portal, random, known), book: bookOf('portal') },
  ];
  const failures: string[] = [];
  const statuses: Record<number, number> = {};
  const reached = new Set<string>();
  let requests = 0;
  let slowestHealth = 0;

  const ask = async ({ service, maker, book }: Side): Promise<void> => {
    const request = maker.make();
    const headers = { ...request.headers };
    // Wrong keys are rate-limited, so only some requests have them; some have no key.
    const [header, value] = random.once(2) ? random.pick(service.keys) : (service.keys[0] ?? ['x', '']);
    if (!random.once(12)) headers[header] = random.once(300) ? `${value}x` : value;
    const problem = await answered(service.url, request, {
      headers,
      book,
      known,
      random,
      note: (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status < 400) reached.add(request.operation);
      },
    });
    if (problem !== undefined) failures.push(`${problem}\n  ${describe(request)}`);
  };
  const health = async (): Promise<void> => {
    const started = performance.now();
    const answer = await fetch(`${settings.batch.url}/api/health`, {
      signal: AbortSignal.timeout(HEALTH_WITHIN),
    }).catch((error: unknown) => String(error));
    slowestHealth = Math.max(slowestHealth, performance.now() - started);
    if (typeof answer === 'string' || answer.status !== 200)
      failures.push(`health was lost: ${String(answer)}`);
  };
  const worker = async (): Promise<void> => {
    while (requests < settings.requests && failures.length < MAX_FAILURES) {
      requests += 1;
      settings.watch?.(requests, failures.length);
      if (requests % HEALTH_EVERY === 0) await health();
      await ask(random.once(3) ? (sides[0] as Side) : (sides[1] as Side));
    }
  };
  await Promise.all(Array.from({ length: settings.atOnce }, worker));
  await health();
  const operations = sides.flatMap(({ maker }) => maker.operations).length;
  return { reached, operations, statuses, failures, slowestHealth };
}

/** Returns the defect of a response; undefined when there is none. */
async function answered(
  url: string,
  request: FuzzRequest,
  {
    headers,
    book,
    known,
    random,
    note,
  }: {
    readonly headers: Readonly<Record<string, string>>;
    readonly book: AnswerBook;
    readonly known: KnownTexts;
    readonly random: Random;
    readonly note: (status: number) => void;
  },
): Promise<string | undefined> {
  const { method, target, body } = request;
  let answer: Response;
  let text: string | undefined;
  try {
    const init = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN) } as const;
    const whole = body === undefined ? init : { ...init, body: body as NonNullable<RequestInit['body']> };
    answer = await fetch(`${url}${target}`, whole).catch((error: unknown) => {
      // A kept connection may be closed while the request is on its way (RFC 9112 §9.3.1): asked once more on a new one.
      if (method !== 'GET' || !/other side closed/.test(String((error as Error).cause))) throw error;
      return fetch(`${url}${target}`, whole);
    });
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    const bytes = Buffer.from(await answer.arrayBuffer());
    text = isJson || bytes.length === 0 ? bytes.toString() : undefined;
  } catch (error) {
    return `no answer: ${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`;
  }
  note(answer.status);
  if (text !== undefined) known.learn(text, random);
  if (answer.status >= 500) return `${answer.status} ${text?.slice(0, 2000)}`;
  const path = new URL(answer.url === '' ? `${url}${target}` : answer.url).pathname;
  const findings = book.findings({
    method,
    path,
    status: answer.status,
    headers: answer.headers,
    body: text,
  });
  return findings.length === 0
    ? undefined
    : `${answer.status} ${findings.join('; ')}: ${text?.slice(0, 500)}`;
}

function describe({ method, target, headers, body }: FuzzRequest): string {
  const sent =
    typeof body === 'string'
      ? body
      : Buffer.isBuffer(body)
        ? body.toString('hex')
        : body === undefined
          ? ''
          : '(form)';
  return `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${sent.slice(0, 1500)}`;
}
