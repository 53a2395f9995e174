/**
 * One request from the socket to its answer: gate, route, rate, schemas, handler, reply; and every way in which
 * that can end otherwise.
 */
import { join } from 'node:path';
import { Refusal } from '../machines/refusals.ts';
import type { Clock, Log } from '../runtime/index.ts';
import type { BlockPool } from './block-pool.ts';
import { BodyReader, ClientGone } from './body.ts';
import type { Caller, FindCaller } from './caller.ts';
import type { Conventions } from './conventions.ts';
import { Exchange } from './exchange.ts';
import { RangeRefused, sendFile } from './file-reply.ts';
import { readForm } from './form-body.ts';
import type { Admission, Gate } from './gate.ts';
import type { LoadGuard } from './load-guard.ts';
import type { PlainRequests } from './plain-requests.ts';
import type { Problem } from './problem.ts';
import type { RateLimiter } from './rate-limit.ts';
import {
  type JsonReply,
  type PageReply,
  type Reply,
  type ReplyHeaders,
  type ReplyScene,
  sendSmall,
} from './reply.ts';
import type { RequestIds, RequestNames } from './request-ids.ts';
import { isQuiet, type RequestObserver, tellOutcome } from './request-outcome.ts';
import type { AnyRoute, ApiRequest, Match, RatePolicy, Router } from './router.ts';
import type { UwsRequest, UwsResponse } from './uws.ts';

/** What every request of a server is answered with. */
export interface VisitParts {
  readonly router: Router;
  readonly conventions: Conventions;
  readonly gate: Gate;
  readonly findCaller: FindCaller;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /** Undefined where rate limiting is switched off. */
  readonly limiters: { readonly [policy in RatePolicy]?: RateLimiter } | undefined;
  readonly requestIds: RequestIds;
  readonly pool: BlockPool;
  readonly spoolFolder: string;
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly log: Log;
  readonly production: boolean;
  readonly observe: RequestObserver | undefined;
  readonly plain: PlainRequests;
  readonly load: LoadGuard;
  /** What a request that is too much is told; made once. */
  readonly tooMuch: Problem;
}

/** Which requests are under way, for whoever waits until none is. */
export interface Traffic {
  readonly underWay: Set<Exchange>;
  /** Called after one has left it. */
  left(): void;
}

/** What is kept of a request when it can no longer be asked. */
interface SentRequest {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>> | undefined;
  /** What stands behind `?`. */
  readonly query: string | undefined;
  /** Those that the route asks for. */
  readonly headers: ReadonlyMap<string, string>;
  readonly contentType: string;
  readonly contentLength: string;
}

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** One request on its way through. */
export class Visit {
  readonly #parts: VisitParts;
  readonly #response: UwsResponse;
  readonly #request: UwsRequest;
  readonly #exchange: Exchange;
  readonly #traffic: Traffic;
  readonly #started: number;
  readonly #method: string;
  readonly #path: string;
  readonly #caller: Caller;
  readonly #match: Match;
  #scene: ReplyScene;
  #stream: BodyReader | undefined;
  #sent: SentRequest | undefined;
  #traceparent: string | undefined;
  #traceId: string | undefined;
  #endWork: ReturnType<LoadGuard['begin']> | undefined;
  #isTooMuch = false;

  constructor(
    parts: VisitParts,
    response: UwsResponse,
    request: UwsRequest,
    closing: boolean,
    traffic: Traffic,
  ) {
    this.#parts = parts;
    this.#response = response;
    this.#request = request;
    this.#exchange = new Exchange(response);
    this.#traffic = traffic;
    this.#started = parts.clock.elapsed();
    this.#method = request.getCaseSensitiveMethod();
    this.#path = request.getUrl();
    this.#caller = parts.findCaller(request, response);
    this.#match = parts.router.find(this.#method, this.#path);
    this.#scene = {
      requestId: parts.requestIds.requestId(),
      https: this.#caller.https,
      headOnly: this.#method === 'HEAD',
      lastOnConnection: closing,
      setCookie: undefined,
    };
  }

  begin(): void {
    let answer: Reply | Promise<Reply>;
    try {
      answer = this.#answer();
      if (!this.#isTooMuch) this.#keepMarksToTell();
    } catch (thrown) {
      this.#keepMarks();
      this.#fail(thrown);
      return;
    }
    if (!(answer instanceof Promise)) {
      // Nothing was awaited, so the library still has the response open for one write.
      this.#reply(answer);
      return;
    }
    this.#keepMarks();
    this.#exchange.watch();
    this.#traffic.underWay.add(this.#exchange);
    answer.then(
      (reply) => this.#replyLater(reply),
      (thrown: unknown) => this.#failLater(thrown),
    );
  }

  #keepMarksToTell(): void {
    if (!isQuiet(this.#parts.log, this.#method)) this.#keepMarks();
  }

  /** Reads what can only be asked before the handler returns or anything is answered. */
  #keepMarks(): void {
    this.#traceparent ??= this.#request.getHeader('traceparent');
    void this.#caller.address;
  }

  /** Counts the request among those that are worked on. A body that is still to come keeps the client busy, not us. */
  #count<Answer>(route: AnyRoute, answer: Answer): Answer {
    if (answer instanceof Promise) {
      const begin = () => {
        if (this.#exchange.open) this.#endWork ??= this.#parts.load.begin(route);
      };
      if (this.#stream === undefined) begin();
      else this.#stream.whenComplete(begin);
    }
    return answer;
  }

  async #replyLater(reply: Reply): Promise<void> {
    try {
      await this.#reply(reply);
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#leave(true);
  }

  #failLater(thrown: unknown): void {
    try {
      this.#fail(thrown);
    } catch (again) {
      this.#break(again);
    }
    this.#leave(false);
  }

  #leave(isDone: boolean): void {
    this.#endWork?.(isDone);
    this.#traffic.underWay.delete(this.#exchange);
    this.#traffic.left();
  }

  readonly #names = (): RequestNames => {
    this.#traceId ??= this.#parts.requestIds.traceId(this.#traceparent ?? '');
    return { requestId: this.#scene.requestId, traceId: this.#traceId };
  };

  #answer(): Reply | Promise<Reply> {
    if (this.#scene.lastOnConnection) throw new Refusal('service.busy', 'The service is stopping.');
    const arrival = {
      method: this.#method,
      path: this.#path,
      query: this.#request.getQuery(),
      caller: this.#caller,
      header: (name: string) => this.#request.getHeader(name),
    };
    const elsewhere = this.#parts.gate.enter(arrival);
    if (elsewhere !== undefined) return elsewhere;
    const match = this.#match;
    if (!match.found) {
      if (match.allow === undefined) throw new Refusal('route.not-found', `Nothing is at ${this.#path}.`);
      throw new Refusal('route.method-not-allowed', `This path takes ${match.allow}.`);
    }
    const { route } = match;
    if (route.vital !== true && !this.#parts.load.admits(route)) {
      // Neither thrown nor logged: what is too much must cost next to nothing.
      this.#isTooMuch = true;
      this.#traceparent = this.#request.getHeader('traceparent');
      return this.#problemReply(this.#parts.tooMuch, []);
    }
    this.#keepMarksToTell();
    const admission = this.#parts.gate.admit(arrival, route.auth);
    // From here on nothing may be asked of the request any more: what is waited for may come when it is gone.
    const hasBody = route.bodyPolicy !== 'none';
    const sent: SentRequest = {
      route,
      params: match.params,
      query: arrival.query,
      headers:
        route.headers.length === 0
          ? NO_HEADERS
          : new Map(route.headers.map((name) => [name, arrival.header(name)])),
      contentType: hasBody ? arrival.header('content-type') : '',
      contentLength: hasBody ? arrival.header('content-length') : '',
    };
    this.#sent = sent;
    if (!(admission instanceof Promise)) return this.#enter(admission, sent);
    // The library insists that a body is listened to before its handler returns.
    this.#openBody(route);
    return admission.then((settled) => {
      if (this.#exchange.gone) throw new ClientGone();
      return this.#enter(settled, sent);
    });
  }

  #enter(admission: Admission, sent: SentRequest): Reply | Promise<Reply> {
    if (!admission.admitted) return admission.reply;
    if (admission.setCookie !== undefined) this.#scene = { ...this.#scene, setCookie: admission.setCookie };
    const turn = this.#takeTurn(sent.route);
    this.#openBody(sent.route);
    // Each service's routes expect what its gate tells.
    if (turn === undefined) return this.#handle(sent, admission.identity as never);
    return turn.then(() => {
      if (this.#exchange.gone) throw new ClientGone();
      return this.#handle(sent, admission.identity as never);
    });
  }

  #takeTurn(route: AnyRoute): Promise<void> | undefined {
    if (route.rate === 'none') return undefined;
    const limiter = this.#parts.limiters?.[route.rate];
    return limiter?.take(this.#caller.address, (leave) => this.#exchange.whenGone(leave));
  }

  #openBody(route: AnyRoute): void {
    if (route.bodyPolicy === 'none') return;
    this.#stream ??= new BodyReader(this.#exchange, this.#response, {
      clock: this.#parts.clock,
      pool: this.#parts.pool,
      spoolPath: () =>
        join(this.#parts.spoolFolder, `sealwright-${this.#scene.requestId.replace(':', '-')}.spool`),
    });
  }

  #handle(sent: SentRequest, identity: never): Reply | Promise<Reply> {
    const { conventions, plain } = this.#parts;
    const { route, headers } = sent;
    const { bodyPolicy } = route;
    const stream = this.#stream;
    const isStream = bodyPolicy === 'stream' || bodyPolicy === 'json-stream';
    const request: ApiRequest<never, never, never, never> = {
      params: plain.params(route, sent.params),
      query: plain.query(route, sent.query),
      body: undefined as never,
      given: undefined,
      stream: isStream ? stream : undefined,
      header: (name) => headers.get(name) ?? '',
      identity,
      caller: this.#caller,
      names: this.#names,
    };
    if (stream === undefined || isStream) return this.#count(route, route.handle(request));
    const { contentType, contentLength } = sent;
    const reading =
      bodyPolicy === 'form'
        ? readForm(stream, contentType)
        : conventions.readJson(stream, { contentType, contentLength });
    const answer = reading.then((given) => {
      const body = conventions.check(route.body, given, route.unfit.body);
      return route.handle({ ...request, body, given });
    });
    return this.#count(route, answer);
  }

  #reply(reply: Reply): void | Promise<void> {
    this.#stream?.discard();
    if (reply.kind === 'file') {
      return sendFile(this.#exchange, reply, this.#scene).then(() => this.#done(reply.status, undefined));
    }
    sendSmall(this.#exchange, reply, this.#scene);
    this.#done(reply.status, undefined);
  }

  #fail(thrown: unknown): void {
    this.#stream?.discard();
    if (thrown instanceof ClientGone) {
      this.#done(0, undefined);
      return;
    }
    const problem = this.#parts.conventions.problemFrom(thrown);
    const headers = thrown instanceof RangeRefused ? thrown.headers : [];
    sendSmall(this.#exchange, this.#problemReply(problem, headers), this.#scene);
    this.#done(problem.status, problem);
  }

  #problemReply(problem: Problem, more: ReplyHeaders): PageReply | JsonReply {
    const headers = [...this.#problemHeaders(problem), ...more];
    const shown = this.#failurePage(problem);
    if (shown !== undefined) return { ...shown, headers: [...(shown.headers ?? []), ...headers] };
    const { conventions, production } = this.#parts;
    const { requestId, traceId } = this.#names();
    const scene = { requestId, traceId, path: this.#path, production };
    return {
      kind: 'json',
      status: problem.status,
      contentType: conventions.problemType,
      ascii: true,
      headers,
      body: conventions.problemBody(problem, scene),
    };
  }

  /** Routes that answer people tell them in a page, in their language, what went wrong. */
  #failurePage({ status }: Problem): PageReply | undefined {
    if (!this.#match.found) return undefined;
    const sent = this.#sent;
    return this.#match.route.failurePage?.({
      status,
      requestId: this.#scene.requestId,
      query: sent?.query,
      header: (name) => sent?.headers.get(name) ?? '',
    });
  }

  #problemHeaders(problem: Problem): ReplyHeaders {
    const headers: [string, string][] = [];
    if (problem.status === 401) headers.push(['WWW-Authenticate', this.#parts.challenge]);
    if (problem.status === 405 && !this.#match.found) headers.push(['Allow', this.#match.allow ?? '']);
    if (problem.retryAfterSeconds !== undefined)
      headers.push(['Retry-After', String(problem.retryAfterSeconds)]);
    return headers;
  }

  /** The answer failed while it was sent; once it has begun, only dropping the connection tells the client. */
  #break(thrown: unknown): void {
    if (!this.#exchange.begun) {
      this.#fail(thrown);
      return;
    }
    this.#exchange.drop();
    this.#done(500, this.#parts.conventions.problemFrom(thrown));
  }

  #done(status: number, problem: Problem | undefined): void {
    const outcome = {
      method: this.#method,
      route: this.#match.found ? this.#match.route.path : '(none)',
      status: this.#exchange.gone ? 0 : status,
      milliseconds: this.#parts.clock.elapsed() - this.#started,
    };
    const { log, observe } = this.#parts;
    observe?.(outcome);
    // In an overload there are too many of them; its beginning and end are told.
    if (this.#isTooMuch) return;
    tellOutcome(log, outcome, problem, () => ({ ...this.#names(), client: this.#caller.address }));
  }
}
