/**
 * Environment of fuzzing: a PKI, authorities without a network, and signed files in every format. The time is fixed,
 * so that nothing expires during a long run.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Source } from '#crypto/core/files.js';
import { CryptoError, type SignFileRequest } from '#crypto/core/types.js';
import type { AuthorityRequest, AuthorityTransport, SigningServices } from '#crypto/evidence/authorities.js';
import { createEvidenceSource } from '#crypto/evidence/evidence-source.js';
import { createTimestampAuthority } from '#crypto/evidence/timestamp-authority.js';
import { signFileAtLevel } from '#crypto/files/sign-file.js';
import type { ValidationRequest } from '#crypto/validation/trust.js';
import { type AuthorityPki, makeAuthorityPki } from '../pki/authority-pki.ts';
import { answerOcspRequest, makeCrl } from '../pki/revocation-answers.ts';
import { answerTimestampRequest } from '../pki/tokens.ts';

/** Signing time of all seeds, milliseconds since the epoch. */
export const NOW = Date.UTC(2026, 5, 15, 12);
const HOUR = 3_600_000;

export interface FuzzEnvironment {
  readonly pki: AuthorityPki;
  readonly services: Required<SigningServices>;
  /** Validation request for an hour after signing; the root is trusted, no online requests. */
  readonly judging: ValidationRequest;
  readonly folder: string;
  /** Services whose responses are changed by `change`. */
  servicesWith(change: (answer: Buffer, url: string) => Buffer): Required<SigningServices>;
  /** Returns a new path in the folder, with a file when bytes are given. */
  path(bytes?: Uint8Array, extension?: string): string;
  /** Signs `input` and returns the path of the output. */
  sign(
    input: Uint8Array,
    request: Omit<SignFileRequest, 'input' | 'output' | 'at' | 'signer'> & Partial<SignFileRequest>,
  ): Promise<string>;
  /** Removes every file of `path` and `sign`. */
  sweep(): void;
  close(): void;
}

export function createFuzzEnvironment(): FuzzEnvironment {
  const baseUrl = 'http://authority.test';
  const pki = makeAuthorityPki({ now: NOW, baseUrl });
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-fuzz-'));
  let serial = 0;
  let files = 0;

  const answer = ({ url, body }: AuthorityRequest): Buffer => {
    const [, place, id] = new URL(url).pathname.split('/');
    if (place === 'timestamp') {
      const { key, certificate } = pki.timestampSigner;
      const maker = { key, certificate, chain: [pki.stamping.certificate] };
      const number = Buffer.from(String(++serial).padStart(8, '0'));
      return answerTimestampRequest(body ?? Buffer.alloc(0), maker, { at: NOW, serial: number });
    }
    const issuer = [pki.root, pki.issuing, pki.stamping].find((one) => one.id === id);
    if (issuer === undefined) throw new CryptoError('authority.refused', url);
    const times = { thisUpdate: NOW - 1000, nextUpdate: NOW + 24 * HOUR };
    if (place === 'crl') return makeCrl({ issuer, revoked: new Map(), ...times });
    if (place === 'ca') return issuer.certificate;
    return answerOcspRequest(body ?? Buffer.alloc(0), {
      ...times,
      producedAt: NOW,
      revoked: new Map(),
      issuer: issuer.certificate,
      responder: issuer.responder,
    });
  };

  const servicesWith = (change: (answer: Buffer, url: string) => Buffer): Required<SigningServices> => {
    const transport: AuthorityTransport = {
      exchange: async (request) => change(answer(request), request.url),
    };
    const settings = {
      transport,
      timeoutMs: 1000,
      retries: 0,
      now: () => NOW,
      wait: () => Promise.resolve(),
    };
    return {
      timestamps: createTimestampAuthority({
        url: `${baseUrl}/timestamp`,
        // A constant nonce makes responses reusable.
        random: (length) => Buffer.alloc(length, 7),
        ...settings,
      }),
      evidence: createEvidenceSource({
        anchors: [pki.root.certificate],
        intermediates: [pki.issuing.certificate, pki.stamping.certificate],
        cacheMinutes: 60,
        issuerHosts: [],
        ...settings,
      }),
    };
  };

  const services = servicesWith((bytes) => bytes);
  const path = (bytes?: Uint8Array, extension = 'bin'): string => {
    const name = join(folder, `${++files}.${extension}`);
    if (bytes !== undefined) writeFileSync(name, bytes);
    return name;
  };
  return {
    pki,
    services,
    judging: {
      at: NOW + HOUR,
      trust: {
        anchors: [pki.root.certificate],
        intermediates: [pki.issuing.certificate, pki.stamping.certificate],
        revocation: 'soft',
      },
    },
    folder,
    servicesWith,
    path,
    async sign(input, request) {
      const output = path();
      const signer = pki.signer('p-256');
      const all = { input: path(input, extensions[request.format]), output, at: NOW, signer, sync: false };
      await signFileAtLevel({ ...all, ...request }, services);
      return output;
    },
    sweep() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const extensions = { Pades: 'pdf', Cades: 'bin', Xades: 'xml' } as const;

/** Creates a source over bytes in memory. */
export function memorySource(bytes: Buffer, path = 'memory'): Source {
  const read = (offset: number, length: number): Buffer => bytes.subarray(offset, offset + length);
  return {
    path,
    size: bytes.length,
    mtimeMs: 0,
    inode: '0:0',
    read,
    *chunks(from = 0, to = bytes.length) {
      if (to > from) yield read(from, to - from);
    },
    assertUnchanged: () => {},
    close: () => {},
  };
}

export function contentsOf(path: string): Buffer {
  return readFileSync(path);
}
