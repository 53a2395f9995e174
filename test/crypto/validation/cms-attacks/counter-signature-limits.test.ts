/** Counter-signatures beyond the limits never go unnoticed. */
import test from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { readWhole, TAG } from '#crypto/asn1/read.js';
import { oid, sequence, tlv } from '#crypto/asn1/write.js';
import { parseSignerInfo } from '#crypto/cms/parse.js';
import type { SignatureRecord } from '#crypto/core/validation-report.js';
import { type Forgery, forge, forgeSigner } from '../forge.ts';
import { CONTENT, issue, judged, type Party, parties, SIGNED, verdictOf } from '../judging.ts';

let made: Party | undefined;

/** RSA makes the same value each time, so that a SignerInfo can be written again with counter-signatures. */
function signer(): Party {
  made ??= issue('Counter Signer', parties().ca, { kind: 'rsa-2048' });
  return made;
}

/** Builds a SignerInfo over a signature value. */
const counter = (over: Buffer, changes: Partial<Forgery> = {}): Buffer =>
  forgeSigner({
    signer: signer(),
    content: over,
    at: SIGNED,
    attributes: (honest) => honest.slice(1),
    ...changes,
  });

const WRONG: Partial<Forgery> = { value: () => Buffer.alloc(256, 1) };

const signatureValue = (signerInfo: Buffer): Buffer => parseSignerInfo(readWhole(signerInfo)).signature;

/** Builds the unsigned attribute with these SignerInfos in this order. */
const holding = (signerInfos: readonly Buffer[]): Buffer =>
  sequence(oid(OID.counterSignature), tlv(TAG.set, ...signerInfos));

/** Builds counter-signatures inside of each other; the changes concern the innermost. */
function nested(over: Buffer, levels: number, changes: Partial<Forgery>): Buffer {
  if (levels === 1) return counter(over, changes);
  const value = signatureValue(counter(over));
  return counter(over, { unsigned: [holding([nested(value, levels - 1, changes)])] });
}

/** Returns the record of a signature with these counter-signatures. */
function countered(build: (value: Buffer) => readonly Buffer[]): SignatureRecord {
  const plain: Forgery = { signer: signer(), content: CONTENT, at: SIGNED };
  return judged(forge({ ...plain, unsigned: [holding(build(signatureValue(forgeSigner(plain))))] }));
}

const innerVerdicts = ({ counterSignatures }: SignatureRecord): readonly string[] =>
  counterSignatures.flatMap((one) => [verdictOf(one), ...innerVerdicts(one)]);

const OPEN = 'INDETERMINATE: GENERIC';

test('counter-signatures over the number limit count as one that is not judged', (t) => {
  const many = (last: Partial<Forgery>, count: number) =>
    innerVerdicts(
      countered((value) =>
        Array.from({ length: count }, (_, index) => counter(value, index === count - 1 ? last : {})),
      ),
    );
  t.deepEqual(many({}, 32), Array(32).fill('TOTAL-PASSED'));
  t.is(many(WRONG, 32).at(-1), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  t.deepEqual(many(WRONG, 40), [...Array(32).fill('TOTAL-PASSED'), OPEN]);
});

test('a counter-signature over the depth limit counts as one that is not judged', (t) => {
  const deep = (levels: number, last: Partial<Forgery>) =>
    innerVerdicts(countered((value) => [nested(value, levels, last)]));
  t.deepEqual(deep(4, {}), Array(4).fill('TOTAL-PASSED'));
  t.is(deep(4, WRONG).at(-1), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  t.deepEqual(deep(5, WRONG), [...Array(4).fill('TOTAL-PASSED'), OPEN]);
});
