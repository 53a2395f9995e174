/**
 * What a browser keeps while its user is at an identity provider, and after it: encrypted cookies. The answer of the
 * provider counts only in the browser that began the sign-in, for the provider at which it began, and once.
 *
 * Source: docs/decisions/0276-single-sign-on.md; RFC 9700 §4.7.
 */
import { createHmac } from 'node:crypto';
import type { Clock, Ids, StoreNodes } from '@sealwright/runtime';
import { z } from 'zod';
import { decryptToken, encryptToken, NONCE_BYTES } from '../../../actors/shared/secrets/token.ts';
import type { Caller } from '../access/caller.ts';
import { hostCookie, readCookie } from '../access/session-cookies.ts';
import type { ReplyHeaders } from '../reply.ts';
import type { FlowSecrets } from './provider.ts';

/** Time to sign in at the provider. */
const FLOW_MS = 15 * 60_000;
/** Time in which the browser follows the page that leads on. */
const ANSWER_MS = 120_000;
/** Ids of sign-ins that have ended and could be repeated. */
const MAX_USED = 10_000;
const VERSION = 1;
const SECRET_BYTES = 32;
/** Browsers keep cookies of 4,096 bytes. */
const MAX_COOKIE = 3900;

const flowShape = z.strictObject({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Path to go to after the sign-in. */
  to: z.string(),
  until: z.int(),
  asked: z.int().optional(),
});
export type SignInFlow = z.infer<typeof flowShape>;

/** A sign-in whose person confirms an address by mail. */
const confirmationShape = z.strictObject({
  provider: z.string(),
  linkId: z.string(),
  issuer: z.string(),
  subject: z.string(),
  session: z.union([z.string(), z.undefined()]).optional(),
  sessionEnds: z.union([z.int(), z.undefined()]).optional(),
  authenticatedAt: z.int().optional(),
  groups: z.array(z.string()),
  until: z.int(),
});
export type Confirmation = z.infer<typeof confirmationShape>;

/** A verified answer that came from the page of another site, with which the browser sends no cookie of the sign-in. */
const answerShape = z.strictObject({
  provider: z.string(),
  /** State of the sign-in; absent: unsolicited. */
  state: z.string().optional(),
  /** Id of the answer. */
  id: z.string(),
  person: z.strictObject({
    issuer: z.string(),
    subject: z.string(),
    session: z.string().optional(),
    authenticatedAt: z.int().optional(),
    until: z.int().optional(),
    email: z.string().optional(),
    name: z.string().optional(),
    groups: z.array(z.string()).optional(),
  }),
  until: z.int(),
});
type StoredAnswer = z.infer<typeof answerShape>;

/** The provider of a session, for the sign-out. */
const originShape = z.strictObject({ provider: z.string(), idToken: z.string() });

type Use = 'flow' | 'answer' | 'confirm' | 'origin';
type Https = Pick<Caller, 'https'>;

export class SignInFlows {
  readonly #key: Buffer;
  readonly #name: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'bytes'>;
  /** Ids that are used up: of this process, where no other shares the store. */
  readonly #used = new Map<string, number>();
  readonly #nodes: Pick<StoreNodes, 'takePermit'> | undefined;

  /** @param name beginning of the names of its cookies; @param secret at least 32 bytes */
  constructor(
    name: string,
    secret: Buffer,
    {
      clock,
      ids,
      nodes,
    }: {
      clock: Pick<Clock, 'now'>;
      ids: Pick<Ids, 'bytes'>;
      nodes?: Pick<StoreNodes, 'takePermit'> | undefined;
    },
  ) {
    this.#name = name;
    this.#key = createHmac('sha256', secret).update(`sign-on\0${name}`).digest();
    this.#clock = clock;
    this.#ids = ids;
    this.#nodes = nodes;
  }

  /** @param again the provider must ask the person anew @returns the secrets of a new sign-in, and its cookie */
  begin(
    provider: string,
    to: string,
    caller: Https,
    again: boolean,
  ): { readonly flow: FlowSecrets; readonly cookie: string } {
    const random = () => this.#ids.bytes(SECRET_BYTES).toString('base64url');
    const now = this.#clock.now();
    const flow = { state: random(), nonce: random(), verifier: random(), ...(again && { asked: now }) };
    const until = now + FLOW_MS;
    return { flow, cookie: this.#cookie('flow', { provider, ...flow, to, until }, caller) };
  }

  /** The sign-in that an answer belongs to; undefined: none that this browser began at this provider, or it is over. */
  find(provider: string, state: unknown, cookies: string, caller: Https): SignInFlow | undefined {
    const flow = this.#read('flow', flowShape, cookies, caller);
    if (flow === undefined || flow.provider !== provider || flow.until <= this.#clock.now()) return undefined;
    // The library compares it too. Here, an answer for another sign-in does not use this one up.
    return flow.state === state ? flow : undefined;
  }

  /** False: it was used before, on this node or another. @param state of a sign-in, which is valid for 15 minutes at most */
  async useOnce(state: string): Promise<boolean> {
    if (this.#nodes !== undefined)
      return (await this.#nodes.takePermit(`sign-in-used/${state}`, 1, (2 * FLOW_MS) / 1000)) === 0;
    const now = this.#clock.now();
    if (this.#used.has(state)) return false;
    for (const [other, until] of this.#used)
      if (until <= now || this.#used.size >= MAX_USED) this.#used.delete(other);
      else break;
    // Twice, as on several nodes: clocks differ.
    this.#used.set(state, now + 2 * FLOW_MS);
    return true;
  }

  /** Undefined: it is too long for a cookie. */
  answer(given: Omit<StoredAnswer, 'until'>, caller: Https): string | undefined {
    const cookie = this.#cookie('answer', { ...given, until: this.#clock.now() + ANSWER_MS }, caller);
    return cookie.length <= MAX_COOKIE ? cookie : undefined;
  }

  readAnswer(provider: string, cookies: string, caller: Https): StoredAnswer | undefined {
    const found = this.#read('answer', answerShape, cookies, caller);
    return found?.provider === provider && found.until > this.#clock.now() ? found : undefined;
  }

  confirmation(given: Omit<Confirmation, 'until'>, caller: Https): string {
    return this.#cookie('confirm', { ...given, until: this.#clock.now() + FLOW_MS }, caller);
  }

  readConfirmation(cookies: string, caller: Https): Confirmation | undefined {
    const found = this.#read('confirm', confirmationShape, cookies, caller);
    return found !== undefined && found.until > this.#clock.now() ? found : undefined;
  }

  /** Keeps the ID token for the sign-out; without it, where it is too long for a cookie. */
  origin(provider: string, idToken: string, caller: Https): string {
    const cookie = this.#cookie('origin', { provider, idToken }, caller);
    return cookie.length <= MAX_COOKIE ? cookie : this.#cookie('origin', { provider, idToken: '' }, caller);
  }

  readOrigin(cookies: string, caller: Https): z.infer<typeof originShape> | undefined {
    return this.#read('origin', originShape, cookies, caller);
  }

  /** Makes the browser forget a cookie. */
  forget(use: 'confirm' | 'origin', caller: Https): string {
    return this.#forget(use, caller);
  }

  /** Makes the browser forget a sign-in that has ended. */
  forgetSignIn(caller: Https): ReplyHeaders {
    return (['flow', 'answer'] as const).map((use) => ['Set-Cookie', this.#forget(use, caller)]);
  }

  #forget(use: Use, caller: Https): string {
    return `${this.#cookieName(use, caller)}=; Max-Age=0; ${attributes(use, caller)}`;
  }

  #cookieName(use: Use, { https }: Https): string {
    return hostCookie(`${this.#name}-${use}`, https);
  }

  #cookie(use: Use, content: unknown, caller: Https): string {
    const token = encryptToken(Buffer.of(VERSION), JSON.stringify(content), {
      key: this.#key,
      nonce: this.#ids.bytes(NONCE_BYTES),
      associated: Buffer.from(use),
    });
    return `${this.#cookieName(use, caller)}=${token}; ${attributes(use, caller)}`;
  }

  #read<Content>(use: Use, shape: z.ZodType<Content>, cookies: string, caller: Https): Content | undefined {
    const given = readCookie(cookies, this.#cookieName(use, caller));
    const text = decryptToken(given, { maxLength: MAX_COOKIE, headBytes: 1 }, ([version]) =>
      version === VERSION ? { key: this.#key, associated: Buffer.from(use) } : undefined,
    );
    return text === undefined ? undefined : shape.safeParse(JSON.parse(text)).data;
  }
}

/** `Lax` where the browser comes from the provider, or from a mail. Neither is sent with a form of another site. */
function attributes(use: Use, { https }: Https): string {
  const sameSite = use === 'origin' ? 'Strict' : 'Lax';
  return `Path=/; HttpOnly; SameSite=${sameSite}${https ? '; Secure' : ''}`;
}
