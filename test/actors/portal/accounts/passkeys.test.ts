/** The check of what authenticators answer, by an authenticator of our own. Source: Web Authentication Level 3 §7.2. */
import { createSign, generateKeyPairSync, hash } from 'node:crypto';
import { systemIds } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { PasskeyCeremonies } from '../../../../actors/portal/accounts/passkeys.ts';
import { SecretBox } from '../../../../actors/shared/secrets/secret-box.ts';

const ORIGIN = 'https://sign.example.org';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });
/** ES256 key of RFC 9052 §7: kty, alg, crv, x, y. */
const COSE = Buffer.concat([
  Buffer.from('a5010203262001215820', 'hex'),
  Buffer.from(jwk.x ?? '', 'base64url'),
  Buffer.from('225820', 'hex'),
  Buffer.from(jwk.y ?? '', 'base64url'),
]);
const passkey = {
  id: Buffer.from('credential').toString('base64url'),
  publicKey: COSE.toString('base64url'),
  counter: 3,
  transports: [],
  name: 'Key',
  addedAt: 1,
};
/** Bits of authenticator data: the person was there, and was verified. */
const PRESENT = 1;
const VERIFIED = 4;

interface Answer {
  readonly challenge: string;
  readonly origin?: string;
  readonly host?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly type?: string;
}

function answer({ challenge, ...given }: Answer): string {
  const { origin = ORIGIN, host = 'sign.example.org', flags = PRESENT | VERIFIED, counter = 4 } = given;
  const { type = 'webauthn.get' } = given;
  const clientData = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const data = Buffer.concat([hash('sha256', host, 'buffer'), Buffer.of(flags), count]);
  const signature = createSign('sha256')
    .update(data)
    .update(hash('sha256', clientData, 'buffer'))
    .sign(privateKey);
  return JSON.stringify({
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    },
  });
}

test('an answer counts for its address, its verified person, its use and its time alone', async (t) => {
  const clock = new SimulatedClock();
  const box = new SecretBox(Buffer.alloc(32, 1), systemIds);
  const ceremonies = new PasskeyCeremonies(clock, box, () => `${ORIGIN}/below`);
  const asked = () => ceremonies.request('request/u-1/s-1', [passkey])?.challenge ?? '';
  const check = (given: Omit<Answer, 'challenge'>, challenge = asked(), use = 'request/u-1/s-1') =>
    ceremonies.proof(use, answer({ challenge, ...given }), [passkey]);
  t.like(await check({}), { passkey: passkey.id, counter: 4 });
  t.is(await check({ origin: 'https://sign.example.com' }), undefined, 'another origin');
  t.is(await check({ origin: `${ORIGIN}:8443` }), undefined, 'another port');
  t.is(await check({ host: 'example.org' }), undefined, 'another relying party');
  t.is(await check({ flags: PRESENT }), undefined, 'the person was not verified');
  t.is(await check({ counter: 3 }), undefined, 'the counter did not grow');
  t.is(await check({ type: 'webauthn.create' }), undefined, 'another ceremony');
  t.is(await check({}, asked(), 'request/u-1/s-2'), undefined, 'another session');
  t.is(await check({}, asked(), 'request/u-2/s-1'), undefined, 'another user');
  t.is(await check({}, Buffer.from('own').toString('base64url')), undefined, 'a challenge of somebody else');
  const old = asked();
  await clock.advance(10 * 60_000);
  t.is(await check({}, old), undefined, 'too late');
  t.like(await check({}), { counter: 4 });
  const stranger = { ...passkey, id: 'b3RoZXI' };
  const known = await ceremonies.proof('request/u-1/s-1', answer({ challenge: asked() }), [stranger]);
  t.is(known, undefined, 'a passkey of another user');
});

/** The answer to a request for a new passkey: CBOR of RFC 8949, by hand. */
function created(challenge: string, fmt: string, statement: string): string {
  const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.create', challenge, origin: ORIGIN }));
  const id = Buffer.from(passkey.id, 'base64url');
  const data = Buffer.concat([
    hash('sha256', 'sign.example.org', 'buffer'),
    // With a credential: no counter, no model, the length of the id.
    Buffer.of(PRESENT | VERIFIED | 0x40, 0, 0, 0, 0, ...Buffer.alloc(16), 0, id.length),
    id,
    COSE,
  ]);
  const text = (given: string) => Buffer.concat([Buffer.of(0x60 | given.length), Buffer.from(given)]);
  const object = Buffer.concat([
    Buffer.of(0xa3),
    text('fmt'),
    text(fmt),
    text('attStmt'),
    Buffer.from(statement, 'hex'),
    text('authData'),
    Buffer.of(0x58, data.length),
    data,
  ]);
  return JSON.stringify({
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: object.toString('base64url'),
    },
  });
}

test('the statement of an authenticator about itself is not judged, so it leads to no request', async (t) => {
  const box = new SecretBox(Buffer.alloc(32, 1), systemIds);
  const ceremonies = new PasskeyCeremonies(new SimulatedClock(), box, () => ORIGIN);
  const asked = () => ceremonies.creation('u', { id: 'u-1', email: 'a@example.org' }, [])?.challenge ?? '';
  const known = { passkey: { id: passkey.id, counter: 0, publicKey: passkey.publicKey } };
  t.like(await ceremonies.created('u', created(asked(), 'none', 'a0')), known);
  // { x5c: [h'00'] }: the library would read this certificate, and load what it names.
  t.like(await ceremonies.created('u', created(asked(), 'apple', 'a163783563814100')), known);
});

test('a check that cannot be loaded is a fault, and no wrong answer', async (t) => {
  const box = new SecretBox(Buffer.alloc(32, 1), systemIds);
  const missing = () => Promise.reject<never>(new Error('There is no such module.'));
  const broken = { server: missing, helpers: missing };
  const ceremonies = new PasskeyCeremonies(new SimulatedClock(), box, () => ORIGIN, broken);
  const made = ceremonies.creation('u', { id: 'u-1', email: 'a@example.org' }, [])?.challenge ?? '';
  await t.throwsAsync(ceremonies.created('u', created(made, 'none', 'a0')), { message: /no such module/ });
  const challenge = ceremonies.request('u', [passkey])?.challenge ?? '';
  await t.throwsAsync(ceremonies.proof('u', answer({ challenge }), [passkey]), { message: /no such module/ });
});

test('passkeys need a public address with a name, and encryption', (t) => {
  const box = new SecretBox(Buffer.alloc(32, 1), systemIds);
  const id = (url: string) =>
    new PasskeyCeremonies(new SimulatedClock(), box, () => url).request('x', [])?.rpId;
  t.is(id('https://sign.example.org/below'), 'sign.example.org');
  t.is(id('http://localhost:8080'), 'localhost');
  for (const url of ['http://sign.example.org', 'https://192.0.2.1', 'https://[2001:db8::1]'])
    t.is(id(url), undefined, url);
});
