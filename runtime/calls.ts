/**
 * The calls to actors, typed by their definitions, over the system of a built runtime.
 *
 * Services are built on them before the runtime is, which needs their effect handlers.
 */
import { answerOf, viewOfActor, viewOfStored } from './answers.ts';
import { checkedLimit } from './inspection/pending-work.ts';
import type { Actor, AnswerTo, EventOf, QuestionOf, View } from './model/actor.ts';
import type { AskOptions, Calls, ListQuery, RowsQuery, WaitOptions } from './model/calls.ts';
import type { HostedSystem, SendOptions } from './model/definition.ts';
import { Fatal, Retryable } from './model/failures.ts';
import { malformedAddress } from './model/message-checks.ts';
import { numberProblem } from './model/options.ts';
import type { ActorAddress, ActorEvent, ActorStore, AfterQuery, Clock, StoredActor } from './model/ports.ts';
import { STATE_INDEX_VIEW } from './step/derive.ts';
import type { Watch } from './watch.ts';

/** Questions without an answer at once, for each `ActorCalls`. */
const MAX_ASKS = 10_000;
const ASK_TIMEOUT_MS = 30_000;
const DAY_MS = 86_400_000;

const unknown = (what: string) => new Fatal('ask.unknown-actor', `${what} does not exist; create it first.`);

/** Errors of a question to an actor whose message made no step. */
const UNASKED = {
  'not-accepted': (what: string) =>
    new Fatal('ask.not-accepted', `${what} takes no such message in its state.`),
  'unknown-actor': unknown,
  exists: unknown,
  taken: (what: string) => new Fatal('ask.taken', `${what} needs a unique name that another actor holds.`),
  stopped: (what: string) =>
    new Retryable('ask.stopped', `${what} is stopped, since it threw too often; restart it.`),
};

/** Parts of a runtime that its calls use. */
export interface Connection {
  readonly system: HostedSystem;
  readonly store: ActorStore;
  readonly watch: Watch;
  readonly clock: Pick<Clock, 'now'>;
  /** True for a kind of its actors. */
  readonly has: (kind: string) => boolean;
}

export class ActorCalls implements Calls {
  #asks = 0;
  #connection: Connection | undefined;

  /** @param connection left out: `connect` is called later, and calls before that throw `runtime.not-created` */
  constructor(connection?: Connection) {
    this.#connection = connection;
  }

  /** Called once. */
  connect(connection: Connection): void {
    this.#connection = connection;
  }

  get connection(): Connection {
    if (this.#connection === undefined)
      throw new Fatal('runtime.not-created', 'An actor was used before the runtime was created.');
    return this.#connection;
  }

  async create<Definition extends Actor>(actor: Definition, id: string, ...input: readonly unknown[]) {
    const { system } = this.connection;
    return answerOf(actor, system.create(this.receiver(actor, id), input[0] ?? null));
  }

  async send<Definition extends Actor>(
    actor: Definition,
    id: string,
    event: EventOf<Definition>,
    options?: SendOptions,
  ) {
    const { system } = this.connection;
    return answerOf(actor, system.send(this.receiver(actor, id), event as object as ActorEvent, options));
  }

  async ask<Definition extends Actor, Event extends QuestionOf<Definition>>(
    actor: Definition,
    id: string,
    event: Event,
    options: AskOptions = {},
  ): Promise<AnswerTo<Definition, Event>> {
    const { system } = this.connection;
    const address = this.checked(actor, id);
    const problem = numberProblem(options, { timeoutMs: [1, DAY_MS] });
    if (problem !== undefined) throw new Fatal('runtime.options', problem);
    const message = event as object as ActorEvent;
    const { answers } = actor;
    const answer = Object.hasOwn(answers ?? {}, message?.type) ? answers[message.type] : undefined;
    if (answer === undefined)
      throw new Fatal('ask.no-answer', `${actor.kind} has no answer to "${message?.type}" in \`answers\`.`);
    if (this.#asks >= MAX_ASKS)
      throw new Retryable('ask.too-many', `${MAX_ASKS} questions wait for an answer.`);
    this.#asks += 1;
    const { timeoutMs = ASK_TIMEOUT_MS, signal } = options;
    try {
      return (await this.connection.watch.firstAnswer(
        actor,
        id,
        {
          answer: (view) => answer(view, event),
          deliver: async () => {
            const sent = await system.send(address, message, options);
            if (sent.accepted) return sent.revision;
            if (sent.reason === 'duplicate') return 0;
            throw UNASKED[sent.reason](`${actor.kind}/${id}`);
          },
          read: () => this.read(actor, id),
        },
        { timeoutMs, ...(signal && { signal }) },
      )) as AnswerTo<Definition, Event>;
    } finally {
      this.#asks -= 1;
    }
  }

  async read<Definition extends Actor>(actor: Definition, id: string) {
    const found = await this.connection.system.read(this.address(actor, id));
    return found && viewOfActor(actor, found);
  }

  async restart<Definition extends Actor>(actor: Definition, id: string) {
    return answerOf(actor, this.connection.system.restart(this.checked(actor, id)));
  }

  async end<Definition extends Actor>(actor: Definition, id: string) {
    return answerOf(actor, this.connection.system.end(this.checked(actor, id)));
  }

  async waitFor<Definition extends Actor>(
    actor: Definition,
    id: string,
    isWanted: (view: View<Definition>) => boolean,
    options: WaitOptions = {},
  ) {
    this.checked(actor, id);
    return this.connection.watch.waitFor(actor, id, { isWanted, options, read: () => this.read(actor, id) });
  }

  async list<Definition extends Actor>(actor: Definition, { state, after, limit = 100 }: ListQuery = {}) {
    const { kind } = this.address(actor, '');
    checkedLimit({ limit });
    let from = after;
    for (;;) {
      const page = { limit, ...(from !== undefined && { after: from }) };
      const { actors, next } = await this.#page(kind, state, page);
      const current = actors.filter(({ version }) => version <= actor.version);
      const views = current.map((one) => viewOfStored(actor, one, this.connection.clock.now()));
      // An actor may have left the state since its row was read.
      const found = state === undefined ? views : views.filter((view) => view.state === state);
      if (found.length > 0 || next === undefined) return found;
      from = next;
    }
  }

  /** `next`: the last id of a full page. */
  async #page(
    kind: string,
    state: string | undefined,
    page: AfterQuery,
  ): Promise<{ readonly actors: readonly StoredActor[]; readonly next: string | undefined }> {
    const { store } = this.connection;
    const { limit, after } = page;
    if (state === undefined) {
      const actors = await store.actors({ kind, ...page });
      return { actors, next: actors.length < limit ? undefined : actors.at(-1)?.address.id };
    }
    const prefix = [kind, state];
    const rows = await store.rows({
      view: STATE_INDEX_VIEW,
      prefix,
      limit,
      ...(after !== undefined && { after: [...prefix, after] }),
    });
    const ids = rows.map(({ key }) => String(key.at(-1)));
    const loaded = await Promise.all(ids.map((id) => store.load({ kind, id })));
    return {
      actors: loaded.filter((one) => one !== undefined),
      next: ids.length < limit ? undefined : ids.at(-1),
    };
  }

  async query({ limit = 100, view, prefix, reverse, after }: RowsQuery) {
    this.assertOpen();
    checkedLimit({ limit });
    return this.connection.store.rows({
      view,
      limit,
      ...(prefix !== undefined && { prefix }),
      ...(reverse !== undefined && { reverse }),
      ...(after !== undefined && { after }),
    });
  }

  /** Throws `runtime.stopping` once the store is closed. */
  protected assertOpen(): void {}

  /** Throws `runtime.stopping` for what is not begun any more. */
  protected assertRunning(): void {}

  /** Throws `actor.unknown-kind`, `runtime.stopping`. */
  protected address({ kind }: Actor, id: string): ActorAddress {
    this.assertOpen();
    if (!this.connection.has(kind))
      throw new Fatal('actor.unknown-kind', `"${kind}" is not among the \`actors\` of this runtime.`);
    return { kind, id };
  }

  /** Returns the address for what a runtime that stops does not begin. */
  protected receiver(actor: Actor, id: string): ActorAddress {
    this.assertRunning();
    return this.address(actor, id);
  }

  protected checked(actor: Actor, id: string): ActorAddress {
    const address = this.receiver(actor, id);
    const malformed = malformedAddress(address);
    if (malformed !== undefined) throw malformed;
    return address;
  }
}
