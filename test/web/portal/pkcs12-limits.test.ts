/** Limits of the PKCS#12 reader: the server and the page of participants refuse the same containers. */
import test from 'ava';
import { octetString, oid, sequence, small, tlv, unsigned } from '#crypto/asn1/write.js';
import { openPfx } from '#crypto/keys/load.js';
import { open } from './opened-file.ts';

const DATA = oid('1.2.840.113549.1.7.1');
const BAG = '1.2.840.113549.1.12.10.1.';
const data = (bytes: Buffer) => sequence(DATA, tlv(0xa0, octetString(bytes)));
/** A container without an integrity value, whose only part has these bags. */
const container = (...bags: readonly Buffer[]) => sequence(small(3), data(sequence(data(sequence(...bags)))));
const bag = (type: number, value: Buffer) => sequence(oid(`${BAG}${type}`), tlv(0xa0, value));

function nested(levels: number): Buffer {
  let inner = bag(3, sequence(oid('1.2.840.113549.1.9.22.1'), tlv(0xa0, octetString(Buffer.from('x')))));
  for (let level = 0; level < levels; level++) inner = bag(6, sequence(inner));
  return container(inner);
}

/** A key under PBES2 with so many rounds of PBKDF2. */
function shrouded(rounds: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(rounds);
  const pbkdf2 = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(octetString(Buffer.from('saltsalt')), unsigned(count)),
  );
  const aes = sequence(oid('2.16.840.1.101.3.4.1.42'), octetString(Buffer.alloc(16)));
  const pbes2 = sequence(oid('1.2.840.113549.1.5.13'), sequence(pbkdf2, aes));
  return container(bag(2, sequence(pbes2, octetString(Buffer.alloc(32)))));
}

const failure = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error: Error) => error.message,
  );

for (const { what, bytes, page, server } of [
  { what: '4 nested bags', bytes: nested(3), page: 'key-missing', server: 'opened' },
  { what: '5 nested bags', bytes: nested(4), page: 'file-unsupported', server: /nested too deeply/ },
  {
    what: '10,000,001 rounds',
    bytes: shrouded(10_000_001),
    page: 'file-unsupported',
    server: /10000001 rounds are too many/,
  },
  {
    what: 'more than 10 MiB',
    bytes: container(bag(3, octetString(Buffer.alloc(10 << 20)))),
    page: 'file-unreadable',
    server: /more than 10 MiB/,
  },
  {
    what: 'another version',
    bytes: sequence(small(4), data(sequence())),
    page: 'file-unreadable',
    server: /expected version 3/,
  },
]) {
  test(`server and page have the same limit for a certificate file with ${what}`, async (t) => {
    t.is(await failure(open(bytes, 'x')), page);
    const answer = await failure(openPfx(bytes, 'x'));
    if (typeof server === 'string') t.is(answer, server);
    else t.regex(answer, server);
  });
}

test('the iterations of all key derivations for one container are limited together', async (t) => {
  const { PasswordSource } = await import('#crypto/pkcs12/password-derivation.js');
  const { NODE_PRIMITIVES } = await import('#crypto/keys/load.js');
  const { readElement } = await import('#crypto/asn1/ber-reader.js');
  const near = readElement(small(1));
  const source = new PasswordSource('x', NODE_PRIMITIVES);
  source.spend(99_999_999, near);
  source.spend(1, near);
  t.throws(() => source.spend(1, near), { message: /take too long/ });
});
