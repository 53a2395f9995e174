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
import type { Problem } from './problem.ts';
import type { RateLimiter } from './rate-limit.ts';
import { type PageReply, type Reply, type ReplyHeaders, type ReplyScene, sendSmall } from './reply.ts';
import type { RequestIds } from './request-ids.ts';
import { type RequestObservation, tellOutcome } from './request-outcome.ts';
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
  readonly observe: ((observation: RequestObservation) => void) | undefined;
}

/** What is kept of a request when it can no longer be asked. */
interface SentRequest {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind `?`. */
  readonly query: string | undefined;
  /** Those that the route asks for. */
  readonly headers: ReadonlyMap<string, string>;
  readonly contentType: string;
  readonly contentLength: string;
}

/** One request on its way through. */
export class Visit {
  readonly #parts: VisitParts;
  readonly #response: UwsResponse;
  readonly #request: UwsRequest;
  readonly #exchange: Exchange;
  readonly #underWay: Set<Exchange>;
  readonly #left: () => void;
  readonly #started: number;
  readonly #method: string;
  readonly #path: string;
  readonly #caller: Caller;
  readonly #traceId: string;
  readonly #match: Match;
  #scene: ReplyScene;
  #stream: BodyReader | undefined;
  #sent: SentRequest | undefined;

  constructor(
    parts: VisitParts,
    response: UwsResponse,
    request: UwsRequest,
    closing: boolean,
    underWay: Set<Exchange>,
    left: () => void,
  ) {
    this.#parts = parts;
    this.#response = response;
    this.#request = request;
    this.#exchange = new Exchange(response);
    this.#underWay = underWay;
    this.#left = left;
    this.#started = parts.clock.elapsed();
    this.#method = request.getCaseSensitiveMethod();
    this.#path = request.getUrl();
    this.#caller = parts.findCaller(request, response);
    this.#traceId = parts.requestIds.traceId(request.getHeader('traceparent'));
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
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    if (!(answer instanceof Promise)) {
      // Nothing was awaited, so the library still has the response open for one write.
      this.#reply(answer);
      return;
    }
    this.#exchange.watch();
    this.#underWay.add(this.#exchange);
    answer
      .then(
        (reply) => this.#reply(reply),
        (thrown: unknown) => this.#fail(thrown),
      )
      .catch((thrown: unknown) => this.#break(thrown))
      .finally(() => {
        this.#underWay.delete(this.#exchange);
        this.#left();
      });
  }

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
    const admission = this.#parts.gate.admit(arrival, route.auth);
    // From here on nothing may be asked of the request any more: what is waited for may come when it is gone.
    const sent: SentRequest = {
      route,
      params: match.params,
      query: arrival.query,
      headers: new Map(route.headers.map((name) => [name, arrival.header(name)])),
      contentType: arrival.header('content-type'),
      contentLength: arrival.header('content-length'),
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
    const { route, headers } = sent;
    const turn = this.#takeTurn(route);
    this.#openBody(route);
    const isStream = route.bodyPolicy === 'stream' || route.bodyPolicy === 'json-stream';
    const handle = () =>
      this.#handle(sent, {
        stream: isStream ? this.#stream : undefined,
        header: (name) => headers.get(name) ?? '',
        // Each service's routes expect what its gate tells.
        identity: admission.identity as never,
        caller: this.#caller,
        requestId: this.#scene.requestId,
        traceId: this.#traceId,
      });
    if (turn === undefined) return handle();
    return turn.then(() => {
      if (this.#exchange.gone) throw new ClientGone();
      return handle();
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

  #handle(
    { route, contentType, contentLength, ...sent }: SentRequest,
    rest: Omit<ApiRequest<never, never, never, never>, 'params' | 'query' | 'body' | 'given'>,
  ): Reply | Promise<Reply> {
    const { conventions } = this.#parts;
    const params = conventions.check(route.params, sent.params, route.unfit.params);
    const query = conventions.check(route.query, conventions.readQuery(sent.query), route.unfit.query);
    const stream = this.#stream;
    if (stream === undefined || rest.stream !== undefined) {
      return route.handle({ ...rest, params, query, body: undefined as never, given: undefined });
    }
    const reading =
      route.bodyPolicy === 'form'
        ? readForm(stream, contentType)
        : conventions.readJson(stream, { contentType, contentLength });
    return reading.then((given) => {
      const body = conventions.check(route.body, given, route.unfit.body);
      return route.handle({ ...rest, params, query, body, given });
    });
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
    const { conventions } = this.#parts;
    const problem = conventions.problemFrom(thrown);
    const shown = this.#failurePage(problem);
    if (shown !== undefined) {
      const headers = [...(shown.headers ?? []), ...this.#problemHeaders(problem)];
      sendSmall(this.#exchange, { ...shown, headers }, this.#scene);
      this.#done(problem.status, problem);
      return;
    }
    const scene = {
      traceId: this.#traceId,
      requestId: this.#scene.requestId,
      path: this.#path,
      production: this.#parts.production,
    };
    sendSmall(
      this.#exchange,
      {
        kind: 'json',
        status: problem.status,
        contentType: conventions.problemType,
        ascii: true,
        headers: [
          ...this.#problemHeaders(problem),
          ...(thrown instanceof RangeRefused ? thrown.headers : []),
        ],
        body: conventions.problemBody(problem, scene),
      },
      this.#scene,
    );
    this.#done(problem.status, problem);
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
    tellOutcome(this.#parts, {
      method: this.#method,
      route: this.#match.found ? this.#match.route.path : '(none)',
      status: this.#exchange.gone ? 0 : status,
      milliseconds: this.#parts.clock.elapsed() - this.#started,
      client: this.#caller.address,
      requestId: this.#scene.requestId,
      traceId: this.#traceId,
      problem,
    });
  }
}
