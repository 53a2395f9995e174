/** Targets for CAdES files (validation and augmentation) and for all other ASN.1. */

import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Asn1Error } from '#crypto/asn1/read.js';
import { addCadesSigner } from '#crypto/cades/add-signer.js';
import { augmentCades } from '#crypto/cades/augment.js';
import { counterSignCades } from '#crypto/cades/counter-sign.js';
import { inspectCades } from '#crypto/cades/validate.js';
import { CryptoError, type SignatureLevel } from '#crypto/core/types.js';
import { readCrl } from '#crypto/evidence/crl.js';
import { readOcsp } from '#crypto/evidence/ocsp.js';
import { readTimestampResponse } from '#crypto/evidence/timestamp-authority.js';
import { checkToken } from '#crypto/evidence/timestamp-checks.js';
import { imprintOf, readTimestampToken } from '#crypto/evidence/timestamp-reader.js';
import { openPfx, readPrivateKey } from '#crypto/keys/load.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { certificatePem, certificatesIn, readCertificate } from '#crypto/x509/certificate.js';
import { keyPemOf } from '../pki/pki.ts';
import { makeCrl, serialOf } from '../pki/revocation-answers.ts';
import { makeToken } from '../pki/tokens.ts';
import { isPresent } from '../verifiers/index.ts';
import { contentsOf, type FuzzEnvironment, memorySource, NOW } from './environment.ts';
import { bytesMutation } from './mutate/bytes.ts';
import { derMutation } from './mutate/der.ts';
import { type Mutation, several } from './mutate/mutation.ts';
import { outcomeOf, reportOn } from './outcome.ts';
import { BrokenPromise, type Target } from './target.ts';

const CONTENT = Buffer.from('One hundred barrels, to be paid on delivery.\n'.repeat(3));
const OTHER_CONTENT = Buffer.from('One thousand barrels, to be paid on delivery.\n'.repeat(3));

/** Mutates PEM as text, or the DER inside. */
const armored: Mutation = (input, random, other) => {
  const text = input.toString('latin1');
  const match = /(-----BEGIN [^\n]*-----\r?\n)([A-Za-z0-9+/=\s]*)(-----END)/.exec(text);
  if (match === null || random.once(3)) return bytesMutation(input, random, other);
  const [all = '', begin = '', body = '', end = ''] = match;
  const changed = derMutation(Buffer.from(body, 'base64'), random, other);
  const lines = changed.toString('base64').replace(/.{64}/g, '$&\n');
  return Buffer.from(
    text.replace(all, () => `${begin}${lines}\n${end}`),
    'latin1',
  );
};

const cmsMutation: Mutation = several((input, random, other) =>
  (input[0] === 0x2d ? armored : derMutation)(input, random, other),
);

interface CmsSeeds {
  readonly enveloping: readonly Buffer[];
  readonly detached: readonly Buffer[];
}

async function signedCms(environment: FuzzEnvironment): Promise<CmsSeeds> {
  const enveloping: Buffer[] = [];
  const detached: Buffer[] = [];
  for (const level of ['B', 'T', 'LT', 'LTA'] as const satisfies readonly SignatureLevel[]) {
    for (const cades of [
      {},
      { detached: true },
      { armor: 'pem' },
      { detached: true, armor: 'pem' },
    ] as const) {
      const bytes = contentsOf(await environment.sign(CONTENT, { format: 'Cades', level, cades }));
      ('detached' in cades ? detached : enveloping).push(bytes);
    }
  }
  for (const kind of ['rsa-2048', 'p-521', 'ed25519'] as const) {
    const signer = environment.pki.signer(kind);
    enveloping.push(contentsOf(await environment.sign(CONTENT, { format: 'Cades', signer })));
  }
  const policy = {
    oid: '1.2.3.4',
    digest: 'sha256',
    hash: createHash('sha256').update('p').digest(),
  } as const;
  const input = await environment.sign(CONTENT, { format: 'Cades', level: 'T', policy });
  const second = environment.path();
  addCadesSigner({ input, output: second, signer: environment.pki.signer('p-384'), at: NOW });
  const countered = environment.path();
  counterSignCades({ input: second, output: countered, signer: environment.pki.signer('p-256'), at: NOW });
  enveloping.push(contentsOf(second), contentsOf(countered));
  return { enveloping, detached };
}

export async function cmsValidation(environment: FuzzEnvironment): Promise<Target> {
  const { enveloping, detached } = await signedCms(environment);
  let turn = 0;
  return {
    name: 'cms',
    seeds: [...enveloping, ...detached],
    mutation: cmsMutation,
    run(input) {
      const place = turn++ % 3;
      const content = [undefined, CONTENT, OTHER_CONTENT][place];
      const beside = content === undefined ? {} : { content: memorySource(content) };
      const report = reportOn(environment, 'Cades', inspectCades(memorySource(input), beside));
      if (report.indication === 'TOTAL-PASSED') {
        if (place === 2) throw new BrokenPromise('a signature passes over content that nobody signed');
        if (place === 0 && !carries(input, CONTENT)) throw new BrokenPromise('other content passes');
      }
      return `${place} ${outcomeOf(report)}`;
    },
  };
}

/** True when the content is encapsulated, in one chunk or in several. */
function carries(file: Buffer, content: Buffer): boolean {
  const [, body] = /-----BEGIN [^\n]*-----\s+([A-Za-z0-9+/=\s]*)/.exec(file.toString('latin1')) ?? [];
  const der = body === undefined ? file : Buffer.from(body, 'base64');
  return der.includes(content.subarray(0, 40));
}

/** Adds a signer, a counter-signature or a higher level to signatures of unknown origin. */
export async function cmsAdding(environment: FuzzEnvironment): Promise<Target> {
  const { enveloping } = await signedCms(environment);
  const signer = environment.pki.signer('p-256');
  let turn = 0;
  return {
    name: 'cms-add',
    seeds: enveloping,
    mutation: cmsMutation,
    async run(bytes) {
      const input = environment.path(bytes);
      const output = environment.path();
      const files = { input, output, at: NOW, sync: false };
      const place = turn++ % 3;
      if (place === 0) addCadesSigner({ ...files, signer });
      else if (place === 1) counterSignCades({ ...files, signer });
      else await augmentCades({ ...files, format: 'Cades', to: 'LTA' }, environment.services);
      const report = reportOn(environment, 'Cades', inspectCades(memorySource(contentsOf(output))));
      return `added ${place} ${outcomeOf(report)}`;
    },
  };
}

/** Target for one reader function; its documented errors are outcomes. */
function reader(
  name: string,
  seeds: readonly Buffer[],
  read: (input: Buffer) => unknown,
  mutation: Mutation = several(derMutation),
): Target {
  return {
    name,
    seeds,
    mutation,
    run(input) {
      const result = read(input);
      return result instanceof Promise ? result.then(() => 'read') : 'read';
    },
  };
}

/** Treats errors of internal readers, which their callers handle, as outcomes. */
function orRefused(read: (input: Buffer) => unknown): (input: Buffer) => unknown {
  return (input) => {
    try {
      return read(input);
    } catch (error) {
      if (error instanceof Asn1Error) throw new CryptoError('cms.malformed', error.message);
      throw error;
    }
  };
}

function crlSeed(environment: FuzzEnvironment): Buffer {
  const { issuing } = environment.pki;
  const serial = serialOf(environment.pki.signer('p-384').certificate);
  const revoked = new Map([[serial, { at: NOW - 1000, reason: 1 }]]);
  return makeCrl({ issuer: issuing, thisUpdate: NOW - 500, nextUpdate: NOW + 86_400_000, revoked });
}

async function evidenceSeeds(
  environment: FuzzEnvironment,
): Promise<{ crls: Buffer[]; ocsps: Buffer[]; certificates: Buffer[] }> {
  const signer = environment.pki.signer('p-256');
  const { crls, ocsps, certificates } = await environment.services.evidence.collect(
    [signer.certificate, environment.pki.timestampSigner.certificate],
    [environment.pki.issuing.certificate, environment.pki.stamping.certificate],
    NOW,
  );
  return { crls: [...crls, crlSeed(environment)], ocsps: [...ocsps], certificates: [...certificates] };
}

export function certificates(environment: FuzzEnvironment): Target {
  const { pki } = environment;
  const kinds = ['rsa-2048', 'p-256', 'p-521', 'ed25519'] as const;
  const seeds = [
    ...kinds.map((kind) => pki.signer(kind).certificate),
    ...[pki.root, pki.issuing, pki.timestampSigner, pki.issuing.responder].map(
      ({ certificate }) => certificate,
    ),
  ];
  return reader('certificate', seeds, (input) => {
    const { subject, publicKey } = readCertificate(input);
    return [subject, publicKey];
  });
}

export async function ocsps(environment: FuzzEnvironment): Promise<Target> {
  const { ocsps: basics } = await evidenceSeeds(environment);
  return reader(
    'ocsp',
    basics,
    orRefused((input) => {
      const answer = readOcsp(input);
      return answer.signatureFault(readCertificate(environment.pki.issuing.responder.certificate));
    }),
  );
}

export async function crls(environment: FuzzEnvironment): Promise<Target> {
  const { crls: lists } = await evidenceSeeds(environment);
  return reader('crl', lists, orRefused(readCrl));
}

export function tokens(environment: FuzzEnvironment): Target {
  const { key, certificate } = environment.pki.timestampSigner;
  const maker = { key, certificate, chain: [environment.pki.stamping.certificate] };
  const imprint = createHash('sha256').update(CONTENT).digest();
  const seeds = Array.from({ length: 4 }, (_, index) =>
    makeToken(imprint, 'sha256', maker, { at: NOW + index, serial: randomBytes(8) }),
  );
  return {
    name: 'token',
    seeds,
    mutation: several(derMutation),
    run(input) {
      const findings = checkToken(readTimestampToken(input), imprintOf(OTHER_CONTENT));
      if (findings.every(({ status }) => status === 'passed')) {
        throw new BrokenPromise('a time-stamp passes over what nobody stamped');
      }
      return findings.map(({ status, type }) => `${type} ${status}`).join(' ');
    },
  };
}

/** Responses of authorities during signing. */
export async function answers(environment: FuzzEnvironment): Promise<Target> {
  const timestamps: Buffer[] = [];
  const others: Buffer[] = [];
  const recording = environment.servicesWith((answer, url) => {
    (url.endsWith('/timestamp') ? timestamps : others).push(answer);
    return answer;
  });
  const imprint = createHash('sha256').update(CONTENT).digest();
  await recording.timestamps.stamp(imprint, 'sha256');
  const ends = [environment.pki.signer('p-256').certificate, environment.pki.timestampSigner.certificate];
  const chain = [environment.pki.issuing.certificate, environment.pki.stamping.certificate];
  await recording.evidence.collect(ends, chain, NOW);
  let turn = 0;
  return {
    name: 'answer',
    seeds: [...timestamps, ...others],
    mutation: several(derMutation),
    async run(input) {
      const place = turn++ % (others.length + 1);
      let answered = 0;
      const services = environment.servicesWith((answer, url) =>
        url.endsWith('/timestamp') || answered++ === place ? input : answer,
      );
      if (place === others.length) {
        readTimestampResponseOrRefuse(input);
        await services.timestamps.stamp(imprint, 'sha256');
        return 'stamped';
      }
      await services.evidence.collect(ends, chain, NOW);
      return `collected ${place}`;
    },
  };
}

const readTimestampResponseOrRefuse = orRefused(readTimestampResponse);

/** Certificates and responses from outside the file, which are untrusted. */
export async function evidence(environment: FuzzEnvironment): Promise<Target> {
  const { crls: lists, ocsps: responses, certificates: known } = await evidenceSeeds(environment);
  const signed = await environment.sign(CONTENT, { format: 'Cades', level: 'T' });
  const facts = inspectCades(memorySource(contentsOf(signed)));
  return {
    name: 'evidence',
    seeds: [...lists, ...responses, ...known],
    mutation: several(derMutation),
    run(input) {
      const evidence = {
        certificates: [input, ...known],
        crls: [input, ...lists],
        ocsps: [input, ...responses],
      };
      const alone = { certificates: [input], crls: [input], ocsps: [input] };
      const { trust, at } = environment.judging;
      const outcomes = [evidence, alone].map((one) =>
        outcomeOf(
          validateSignatures('Cades', facts, { at, trust: { ...trust, revocation: 'hard', evidence: one } }),
        ),
      );
      return outcomes.join(' | ');
    },
  };
}

/** Key files; a password is requested at most once and never derived for minutes. */
export function keys(environment: FuzzEnvironment): Target {
  const signer = environment.pki.signer('p-256');
  const rsa = environment.pki.signer('rsa-2048');
  const key = keyPemOf(signer.key.keyObject);
  const sealed = rsa.key.keyObject
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'word' })
    .toString();
  const seeds = [key, sealed, [signer.certificate, ...signer.chain].map(certificatePem).join('notes\n')];
  return reader(
    'pem',
    seeds.map((text) => Buffer.from(text)),
    (input) => {
      certificatesIn(input);
      return readPrivateKey(input.toString('latin1'), 'word');
    },
    several(armored),
  );
}

export function containers(environment: FuzzEnvironment): Target {
  const signer = environment.pki.signer('p-256');
  const key = environment.path(Buffer.from(keyPemOf(signer.key.keyObject)));
  const certificate = environment.path(Buffer.from(certificatePem(signer.certificate)));
  const out = environment.path();
  const seeds: Buffer[] = [];
  const made = (...options: readonly string[]): void => {
    const args = [
      'pkcs12',
      '-export',
      '-inkey',
      key,
      '-in',
      certificate,
      '-passout',
      'pass:word',
      '-out',
      out,
    ];
    const { status } = spawnSync('openssl', [...args, ...options]);
    if (status === 0) seeds.push(readFileSync(out));
  };
  if (isPresent('openssl')) {
    made();
    // Without an integrity value, the content is parsed at once.
    made('-nomac');
    made('-nomac', '-keypbe', 'NONE', '-certpbe', 'NONE');
    made('-nomac', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES');
    made('-iter', '1');
  }
  return reader('pfx', seeds.length > 0 ? seeds : [signer.certificate], (input) => openPfx(input, 'word'));
}
