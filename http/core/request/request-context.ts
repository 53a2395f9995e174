/**
 * Takes one request from the socket to its reply in phases: framing, entry, route, load, credentials, rate limit, handler
 * with body, reply, report. A request that fails in one of them is answered with a problem and reported. The library's
 * request object is invalid after the first wait, so everything that a later phase reads is copied before it.
 */
import { Refusal } from '../../../machines/refusals.ts';
import { clientNetwork } from '../access/addresses.ts';
import { bearerErrorOf, challengeWith } from '../access/bearer-errors.ts';
import type { Caller } from '../access/caller.ts';
import { type BodyReader, ClientDisconnected } from '../body/body.ts';
import { RangeRefused, sendFile } from '../file-reply.ts';
import type { LoadGuard } from '../load-guard.ts';
import { copyHeaders } from '../other-nodes.ts';
import type { Problem } from '../problem.ts';
import {
  type JsonReply,
  type PageReply,
  type Reply,
  type ReplyContext,
  type ReplyHeaders,
  type SmallReply,
  sendSmall,
  sendStream,
} from '../reply.ts';
import type { RequestNames } from '../request-ids.ts';
import type { AnyRoute, ApiRequest, Match } from '../router.ts';
import { Exchange } from '../transport/exchange.ts';
import type { RequestHead, ResponseWriter } from '../transport/port.ts';
import type { Admission, IncomingRequest } from './access-check.ts';
import { copyRequest, framingFault, type ReceivedRequest } from './received-request.ts';
import { noFingerprint, openBody, readBody } from './request-body.ts';
import type { RequestContextOptions, Traffic } from './request-options.ts';
import { isQuiet, reportOutcome } from './request-outcome.ts';

/** A request that is answered with a problem. */
interface FailedRequest {
  readonly requestId: string;
  readonly path: string;
  readonly match: Match;
  /** Undefined when the request failed before it was copied. */
  readonly received: ReceivedRequest | undefined;
  /** The request of the library, which is invalid after the first wait. */
  readonly request: RequestHead;
  readonly names: () => RequestNames;
}

function problemReply(
  problem: Problem,
  thrown: unknown,
  failed: FailedRequest,
  { conventions, production, challenge }: RequestContextOptions,
): PageReply | JsonReply {
  const more = thrown instanceof RangeRefused ? thrown.headers : [];
  const bearer = bearerErrorOf(thrown);
  const headers = [...problemHeaders(problem, failed.match, challenge, bearer), ...more];
  const page = failurePage(problem, failed, conventions);
  if (page !== undefined) return { ...page, headers: [...(page.headers ?? []), ...headers] };
  const own = failed.match.found ? failed.match.route.problems : undefined;
  const { requestId, traceId } = failed.names();
  return {
    kind: 'json',
    status: problem.status,
    contentType: own?.contentType ?? conventions.problemType,
    ascii: true,
    headers,
    body:
      own?.body(problem) ??
      conventions.problemBody(problem, { requestId, traceId, path: failed.path, production }),
  };
}

/** Returns the error page of a route for people, or of an unknown path, in the language of the request. */
function failurePage(
  { status }: Problem,
  { requestId, path, match, received, request }: FailedRequest,
  conventions: RequestContextOptions['conventions'],
): PageReply | undefined {
  if (!match.found) {
    if (status !== 404 && status !== 405) return undefined;
    // Fails before anything is awaited, so the request can still be read.
    const header = (name: string) => request.getHeader(name);
    return conventions.notFoundPage({ status, requestId, path, query: request.getQuery(), header });
  }
  const header = (name: string) => received?.headers.get(name) ?? '';
  return match.route.failurePage?.({ status, requestId, query: received?.query, header });
}

/** @param bearer what is wrong with the bearer token; undefined: nothing, or there is none */
function problemHeaders(
  problem: Problem,
  match: Match,
  challenge: string,
  bearer: string | undefined,
): ReplyHeaders {
  const headers: [string, string][] = [];
  const own = match.found ? match.route.problems?.challenge : undefined;
  if (problem.status === 401) headers.push(['WWW-Authenticate', challengeWith(own ?? challenge, bearer)]);
  if (problem.status === 403 && bearer !== undefined)
    headers.push(['WWW-Authenticate', challengeWith(own ?? 'Bearer', bearer)]);
  if (problem.status === 405 && !match.found) headers.push(['Allow', match.allow ?? '']);
  if (problem.retryAfterSeconds !== undefined)
    headers.push(['Retry-After', String(problem.retryAfterSeconds)]);
  return headers;
}

/** Resolves when the reply is sent; undefined: it is sent already. */
function sendReply(exchange: Exchange, reply: Reply, context: ReplyContext): Promise<void> | undefined {
  if (reply.kind === 'file') return sendFile(exchange, reply, context);
  if (reply.kind === 'stream') return sendStream(exchange, reply, context);
  sendSmall(exchange, reply, context);
  return undefined;
}

/** One request, from its arrival to the report of its outcome. */
export class RequestContext implements FailedRequest {
  readonly #options: RequestContextOptions;
  readonly #response: ResponseWriter;
  /** Invalid after the first wait. */
  readonly request: RequestHead;
  readonly #exchange: Exchange;
  readonly #traffic: Traffic;
  readonly #started: number;
  readonly #method: string;
  readonly path: string;
  readonly #caller: Caller;
  readonly match: Match;
  #replyContext: ReplyContext;
  #stream: BodyReader | undefined;
  received: ReceivedRequest | undefined;
  #traceparent: string | undefined;
  #traceId: string | undefined;
  #endWork: ReturnType<LoadGuard['requestStarted']> | undefined;
  #isOverloaded = false;
  /** Name of the caller, for the log. */
  #by: string | undefined;

  constructor({
    options,
    response,
    request,
    closing,
    traffic,
  }: {
    readonly options: RequestContextOptions;
    readonly response: ResponseWriter;
    readonly request: RequestHead;
    readonly closing: boolean;
    readonly traffic: Traffic;
  }) {
    this.#options = options;
    this.#response = response;
    this.request = request;
    this.#exchange = new Exchange(response);
    this.#traffic = traffic;
    this.#started = options.clock.elapsed();
    this.#method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.#caller = options.findCaller(request, response);
    this.match = options.router.find(this.#method, this.path);
    this.#replyContext = {
      requestId: options.requestIds.requestId(),
      https: this.#caller.https,
      headOnly: this.#method === 'HEAD',
      lastOnConnection: closing,
      setCookie: undefined,
      ignored: undefined,
    };
  }

  start(): void {
    let answer: SmallReply | Promise<Reply>;
    try {
      answer = this.#answer();
      if (!this.#isOverloaded) this.#copyReportFieldsIfLogged();
    } catch (thrown) {
      this.#copyReportFields();
      this.#fail(thrown);
      return;
    }
    if (!(answer instanceof Promise)) {
      // Nothing was awaited, so the library still has the response open for one write; a small reply is one.
      this.#reply(answer);
      return;
    }
    this.#copyReportFields();
    this.#exchange.watch();
    this.#traffic.requestStarted();
    answer.then(
      (reply) => this.#replyLater(reply),
      (thrown: unknown) => this.#failLater(thrown),
    );
  }

  #copyReportFieldsIfLogged(): void {
    if (!isQuiet(this.#options.log, this.#method)) this.#copyReportFields();
  }

  /** Copies `traceparent` and the caller's address for the report: neither can be read after the reply or a wait. */
  #copyReportFields(): void {
    this.#traceparent ??= this.request.getHeader('traceparent');
    void this.#caller.address;
  }

  /** Tells the load guard that work on the request begins: once its body is complete, since a slow upload is no load. */
  #countWork<Answer>(route: AnyRoute, answer: Answer): Answer {
    if (answer instanceof Promise) {
      const begin = () => {
        if (this.#exchange.open) this.#endWork ??= this.#options.load.requestStarted(route);
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
      this.#abort(thrown);
    }
    this.#release(true);
  }

  #failLater(thrown: unknown): void {
    try {
      this.#fail(thrown);
    } catch (again) {
      this.#abort(again);
    }
    this.#release(false);
  }

  #release(isDone: boolean): void {
    this.#endWork?.(isDone);
    this.#traffic.requestEnded();
  }

  readonly names = (): RequestNames => {
    this.#traceId ??= this.#options.requestIds.traceId(this.#traceparent ?? '');
    return { requestId: this.#replyContext.requestId, traceId: this.#traceId };
  };

  #answer(): SmallReply | Promise<Reply> {
    const unreadable = this.#checkReadable();
    if (unreadable !== undefined) return unreadable;
    const arrival = {
      method: this.#method,
      path: this.path,
      query: this.request.getQuery(),
      caller: this.#caller,
      header: (name: string) => this.request.getHeader(name),
    };
    const redirect = this.#checkEntry(arrival);
    if (redirect !== undefined) return redirect;
    const { route, params } = this.#matched();
    const overload = this.#shedLoad(route);
    if (overload !== undefined) return overload;
    this.#copyReportFieldsIfLogged();
    const admission = this.#admit(arrival, route);
    // Later phases read this copy in place of the library's request.
    const received = copyRequest(arrival, route, params);
    this.received = received;
    if (!(admission instanceof Promise)) return this.#handleWithinRateLimit(admission, received);
    // The library insists that a body is listened to before its handler returns.
    this.#openBody(route);
    return admission.then((settled) => {
      this.#assertConnected();
      return this.#handleWithinRateLimit(settled, received);
    });
  }

  get requestId(): string {
    return this.#replyContext.requestId;
  }

  /**
   * Phase 1. Refuses requests whose end is uncertain, and all requests while the service stops. The first are refused
   * in a later turn of the event loop: the library closes a connection that sends more before its reply, so what stands
   * where the body may be is never read as a request.
   */
  #checkReadable(): Promise<Reply> | undefined {
    if (this.#replyContext.lastOnConnection) throw new Refusal('service.busy', 'The service is stopping.');
    const fault = framingFault(this.request);
    if (fault === undefined) return undefined;
    this.#replyContext = { ...this.#replyContext, lastOnConnection: true };
    return new Promise((_, reject) => {
      setImmediate(() => reject(new Refusal('validation.body-invalid', fault)));
    });
  }

  /** Phase 2. Checks the host; returns the redirect to HTTPS where that is required. */
  #checkEntry(arrival: IncomingRequest): SmallReply | undefined {
    const isExempt = this.match.found && this.match.route.exemptFromEntryRules === true;
    return isExempt ? undefined : this.#options.accessCheck.enter(arrival);
  }

  /** Phase 3. Refusals: `route.not-found`, `route.method-not-allowed`. */
  #matched(): Extract<Match, { found: true }> {
    const match = this.match;
    if (match.found) return match;
    if (match.allow === undefined) throw new Refusal('route.not-found', `Nothing is at ${this.path}.`);
    throw new Refusal('route.method-not-allowed', `This path takes ${match.allow}.`);
  }

  /** Phase 4. Returns the problem for a request that the load guard refuses, before any costly work. */
  #shedLoad(route: AnyRoute): SmallReply | undefined {
    if (route.exemptFromLoadShedding === true || this.#options.load.admits(route)) return undefined;
    this.#isOverloaded = true;
    this.#traceparent = this.request.getHeader('traceparent');
    return problemReply(this.#options.overloadProblem, [], this, this.#options);
  }

  /** Phase 5. Checks the credentials, with the sessions and keys that other nodes have changed. */
  #admit(arrival: IncomingRequest, route: AnyRoute): Admission | Promise<Admission> {
    const { accessCheck, nodes } = this.#options;
    if (nodes === undefined || route.exemptFromLoadShedding === true) {
      return accessCheck.admit(arrival, route.auth, route.access);
    }
    const later = { ...arrival, header: copyHeaders(this.request) };
    return nodes.sync().then(() => accessCheck.admit(later, route.auth, route.access));
  }

  /** Phase 6. Waits for the rate limit of the caller. */
  #handleWithinRateLimit(admission: Admission, received: ReceivedRequest): SmallReply | Promise<Reply> {
    if (!admission.admitted) return admission.reply;
    if (admission.setCookie !== undefined)
      this.#replyContext = { ...this.#replyContext, setCookie: admission.setCookie };
    this.#by = admission.by;
    const turn = admission.isRated === true ? undefined : this.#awaitRateLimit(received.route);
    this.#openBody(received.route);
    // The access check of a service returns the identity that its routes expect.
    if (turn === undefined) return this.#handle(received, admission.identity);
    return turn.then(() => {
      this.#assertConnected();
      return this.#handle(received, admission.identity);
    });
  }

  #awaitRateLimit(route: AnyRoute): Promise<void> | undefined {
    if (route.rate === 'none') return undefined;
    const limiter = this.#options.limiters?.[route.rate];
    return limiter?.acquire(clientNetwork(this.#caller.address), (leave) => this.#exchange.whenClosed(leave));
  }

  #assertConnected(): void {
    if (this.#exchange.isClosed) throw new ClientDisconnected();
  }

  #openBody(route: AnyRoute): void {
    if (route.bodyPolicy === 'none') return;
    this.#stream ??= openBody(this.#exchange, this.#response, this.#options, this.requestId);
  }

  /** Phase 7. Checks parameters and query and calls the route's handler. */
  #handle(received: ReceivedRequest, identity: unknown): SmallReply | Promise<Reply> {
    const { plain, conventions } = this.#options;
    const { route, headers } = received;
    if (received.isEncoded) throw conventions.encodedBody();
    const isStream = route.bodyPolicy === 'stream' || route.bodyPolicy === 'json-stream';
    const request: ApiRequest<unknown, unknown, unknown, unknown> = {
      params: plain.params(route, received.params),
      query: plain.query(route, received.query),
      body: undefined,
      fingerprint: noFingerprint,
      stream: isStream ? this.#stream : undefined,
      header: (name) => headers.get(name) ?? '',
      headOnly: this.#replyContext.headOnly,
      identity,
      caller: this.#caller,
      names: this.names,
    };
    const answer =
      this.#stream === undefined || isStream
        ? route.handle(request)
        : readBody(received, request, this.#stream, conventions).then(({ value, fingerprint, ignored }) => {
            if (ignored !== undefined) this.#replyContext = { ...this.#replyContext, ignored };
            return route.handle({ ...request, body: value, fingerprint });
          });
    return this.#countWork(route, answer);
  }

  /** Phase 8. Sends the answer. */
  #reply(reply: Reply): void | Promise<void> {
    this.#stream?.discard();
    const shown = this.#options.conventions.present?.(reply) ?? reply;
    const sending = sendReply(this.#exchange, shown, this.#replyContext);
    if (sending === undefined) this.#done(reply.status, undefined);
    else return sending.then(() => this.#done(reply.status, undefined));
  }

  #fail(thrown: unknown): void {
    this.#stream?.discard();
    if (thrown instanceof ClientDisconnected) {
      this.#done(0, undefined);
      return;
    }
    const problem = this.#options.conventions.problemFrom(thrown);
    const reply = problemReply(problem, thrown, this, this.#options);
    sendSmall(this.#exchange, reply, this.#replyContext);
    this.#done(problem.status, problem);
  }

  /** Handles a reply that failed while it was sent: one that has begun ends with its connection. */
  #abort(thrown: unknown): void {
    if (!this.#exchange.begun) {
      this.#fail(thrown);
      return;
    }
    this.#exchange.drop();
    this.#done(500, this.#options.conventions.problemFrom(thrown));
  }

  /** Phase 9. Reports the outcome to the metrics and the log. */
  #done(status: number, problem: Problem | undefined): void {
    const outcome = {
      method: this.#method,
      route: this.match.found ? this.match.route.path : '(none)',
      status: this.#exchange.isClosed ? 0 : status,
      milliseconds: this.#options.clock.elapsed() - this.#started,
    };
    const { log, observe } = this.#options;
    observe?.(outcome);
    // During an overload they are too many; the load guard logs its beginning and its end.
    if (this.#isOverloaded) return;
    reportOutcome(log, outcome, problem, () => {
      const { requestId, traceId } = this.names();
      return { requestId, traceId, client: this.#caller.address, operator: this.#by };
    });
  }
}
