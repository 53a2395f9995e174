import test from 'ava';
import {
  base32,
  otpauthUri,
  totpCode,
  totpCounter,
  verifyTotp,
} from '../../../../actors/portal/shared/totp.ts';

/** The secret of RFC 6238, Appendix B, for SHA-1. */
const SECRET = Buffer.from('12345678901234567890');

test('codes are those of RFC 6238, Appendix B, in six digits', (t) => {
  // The appendix has eight digits; six are the last ones of the same value (RFC 4226 §5.3).
  const vectors: readonly (readonly [number, string])[] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [time, eight] of vectors) {
    t.is(totpCode(SECRET, totpCounter(time)), eight.slice(2));
    t.is(verifyTotp(SECRET, eight.slice(2), time, -1), totpCounter(time));
  }
});

test('codes are those of RFC 4226, Appendix D', (t) => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871'];
  t.deepEqual(
    codes.map((_, counter) => totpCode(SECRET, counter)),
    codes,
  );
});

test('a code is accepted one step early or late, and no further', (t) => {
  const now = 1_000_000;
  const counter = totpCounter(now);
  const accepted = [-2, -1, 0, 1, 2].map((step) =>
    verifyTotp(SECRET, totpCode(SECRET, counter + step), now, -1),
  );
  t.deepEqual(accepted, [undefined, counter - 1, counter, counter + 1, undefined]);
});

test('a code works once, and none before it afterwards', (t) => {
  const now = 1_000_000;
  const counter = totpCounter(now);
  const code = (step: number) => totpCode(SECRET, counter + step);
  t.is(verifyTotp(SECRET, code(0), now, counter), undefined);
  t.is(verifyTotp(SECRET, code(-1), now, counter), undefined);
  t.is(verifyTotp(SECRET, code(1), now, counter), counter + 1);
});

test('a code may be written with spaces; other lengths and signs are refused', (t) => {
  const now = 1_000_000;
  const code = totpCode(SECRET, totpCounter(now));
  t.is(verifyTotp(SECRET, ` ${code.slice(0, 3)} ${code.slice(3)} `, now, -1), totpCounter(now));
  for (const given of [
    '',
    code.slice(1),
    `${code}0`,
    `-${code.slice(1)}`,
    '\u0661\u0662\u0663',
    ' '.repeat(1e6),
  ])
    t.is(verifyTotp(SECRET, given, now, -1), undefined);
});

test('Base32 is that of RFC 4648 §10, without padding', (t) => {
  const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'];
  t.deepEqual(
    texts.map((text) => base32(Buffer.from(text))),
    ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'],
  );
});

test('the address for apps names service and account, and keeps signs of addresses out of its parts', (t) => {
  const uri = new URL(otpauthUri('Acme: sign & seal', 'ana+x@example.com', SECRET));
  t.is(uri.protocol, 'otpauth:');
  t.is(decodeURIComponent(uri.pathname), '/Acme  sign & seal:ana+x@example.com');
  t.is(uri.searchParams.get('issuer'), 'Acme  sign & seal');
  t.is(uri.searchParams.get('secret'), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});
