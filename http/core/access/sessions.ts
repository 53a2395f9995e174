/**
 * Sessions as encrypted tokens: a token holds the whole state of its session, and only this service can read or
 * create it.
 *
 * Source: docs/batch-values.md §10.
 */
import { hash } from 'node:crypto';
import type { Clock, Ids } from '@sealwright/runtime';
import { z } from 'zod';
import type { Batch } from '../../../actors/index.ts';
import { decryptToken, encryptToken, NONCE_BYTES } from '../../../actors/shared/secrets/token.ts';
import { OPERATOR_ROLES } from '../../../contracts/batch/access.ts';
import type { SessionKeyRing } from './session-keys.ts';

const personShape = z.strictObject({
  role: z.enum(OPERATOR_ROLES),
  /** Digest of issuer and subject. */
  key: z.string().max(64),
  /** Digest of issuer and the provider's session; absent = the provider names none. */
  sessionKey: z.string().max(64).optional(),
  /** Time of the sign-in, milliseconds since the epoch. Renewed tokens keep it. */
  since: z.int(),
  /** End of the session at the provider; absent = it names none. */
  until: z.int().optional(),
});

/** A person whom an identity provider has signed in. */
export type SessionPerson = z.infer<typeof personShape>;

interface OpenSession {
  readonly operator: string;
  readonly worn: boolean;
  /** Session id, the same in every token of the session. */
  readonly id: string;
  /** Undefined: the session was begun with the API key or a login link. */
  readonly person: SessionPerson | undefined;
}

export interface Sessions {
  /** Creates a token for a new session, or a new token of an existing one. @param id of the existing session */
  issue(operator: string, id?: string, person?: SessionPerson): string;
  /**
   * Reads the session of a token; undefined when the token is forged, expired, ended, or of another API key. `worn`
   * is true after half of the lifetime: the token should then be renewed.
   */
  read(token: string): OpenSession | undefined;
  /** Ends the session of a token, with every token of it, durably. @returns its operator; undefined for an invalid token */
  end(token: string): Promise<string | undefined>;
  /** Ends all sessions that began before now. @param key the `key` or `sessionKey` of a person */
  endPerson(key: string): Promise<void>;
}

export interface SessionOptions {
  readonly ring: SessionKeyRing;
  readonly ended: Pick<Batch['access']['ended'], 'has' | 'endOf' | 'add' | 'addPerson'>;
  /** Length of a session in milliseconds (`Auth:SessionHours`). */
  readonly lifetime: number;
  /** Milliseconds after which a person signs in again (`Identity:SessionMinutes`). @default `lifetime` */
  readonly personLifetime?: number;
  /** Sessions end when it changes. */
  readonly apiKey: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'bytes'>;
}

/** Layout of a token before base64url: version (1), key id (4), nonce (12), AES-256-GCM ciphertext, tag (16). */
const VERSION = 1;
const HEAD_BYTES = 5;
const ID_BYTES = 12;
const MAX_TOKEN_LENGTH = 2048;

const payloadShape = z.strictObject({
  operator: z.string(),
  issued: z.int(),
  expires: z.int(),
  apiKey: z.string(),
  /** Absent in tokens of earlier releases. */
  session: z.string().max(64).optional(),
  /** Absent: the session was begun with the API key or a login link. */
  person: personShape.optional(),
});
type Payload = z.infer<typeof payloadShape>;

export function createSessions({
  ring,
  ended,
  lifetime,
  personLifetime = lifetime,
  apiKey,
  clock,
  ids,
}: SessionOptions): Sessions {
  const fingerprint = hash('sha256', `session of\0${apiKey}`, 'buffer').toString('base64url').slice(0, 22);
  const wasEnded = ({ key, sessionKey, since }: SessionPerson) =>
    [key, sessionKey].some((one) => one !== undefined && since <= ended.endOf(one));
  const open: Sessions['read'] = (token) => {
    const payload = decryptSession(token, ring);
    if (payload === undefined || payload.apiKey !== fingerprint) return undefined;
    const { operator, person } = payload;
    const now = clock.now();
    // A shortened lifetime also applies to existing sessions.
    const left = Math.min(payload.expires, payload.issued + lifetime) - now;
    const id = payload.session ?? hash('sha256', token).slice(0, 32);
    if (left <= 0 || ended.has(id)) return undefined;
    if (person !== undefined) {
      const end = Math.min(person.since + personLifetime, person.until ?? Number.POSITIVE_INFINITY);
      if (end <= now || wasEnded(person)) return undefined;
    }
    return { operator, worn: left < lifetime / 2, id, person };
  };
  return {
    issue(operator, id = ids.bytes(ID_BYTES).toString('hex'), person = undefined) {
      const now = clock.now();
      const key = ring.current();
      const payload: Payload = {
        operator,
        issued: now,
        expires: now + lifetime,
        apiKey: fingerprint,
        session: id,
        ...(person !== undefined && { person }),
      };
      const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id, 'hex')]);
      const options = { key: key.secret, nonce: ids.bytes(NONCE_BYTES), associated: head };
      return encryptToken(head, JSON.stringify(payload), options);
    },
    read: open,
    async end(token) {
      const session = open(token);
      const now = clock.now();
      // A token issued at this time is the last of the session.
      if (session !== undefined) await ended.add(session.id, now, now + lifetime);
      return session?.operator;
    },
    async endPerson(key) {
      const now = clock.now();
      // As above, and not after `personLifetime`: a longer one that is configured later must not bring them back.
      await ended.addPerson(key, now, now + lifetime);
    },
  };
}

function decryptSession(token: string, ring: SessionKeyRing): Payload | undefined {
  const text = decryptToken(token, { maxLength: MAX_TOKEN_LENGTH, headBytes: HEAD_BYTES }, (head) => {
    const key = head[0] === VERSION ? ring.find(head.toString('hex', 1)) : undefined;
    return key && { key: key.secret, associated: head };
  });
  if (text === undefined) return undefined;
  try {
    return payloadShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
