/**
 * What fuzzing signs with and trusts: a PKI, authorities that answer without a network, and files signed in every
 * format. Time stands still, so that nothing expires during a long run.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthorityRequest, AuthorityTransport, SigningServices } from '../../crypto/authorities.ts';
import { signFileAtLevel } from '../../crypto/engine.ts';
import type { Source } from '../../crypto/files/source.ts';
import { createEvidenceSource } from '../../crypto/revocation/evidence-source.ts';
import { createTimestampAuthority } from '../../crypto/timestamps/authority.ts';
import { CryptoError, type SignFileRequest } from '../../crypto/types.ts';
import type { ValidationRequest } from '../../crypto/validation/trust.ts';
import { type AuthorityPki, makeAuthorityPki } from '../pki/authority-pki.ts';
import { answerOcspRequest, makeCrl } from '../pki/revocation-answers.ts';
import { answerTimestampRequest } from '../pki/tokens.ts';

/** When everything is signed, milliseconds since the epoch. */
export const NOW = Date.UTC(2026, 5, 15, 12);
const HOUR = 3_600_000;

export interface World {
  readonly pki: AuthorityPki;
  readonly services: Required<SigningServices>;
  /** An hour after everything was signed; the root is trusted, nobody outside is asked. */
  readonly judging: ValidationRequest;
  readonly folder: string;
  /** Services whose authorities answer with what `change` makes of the answers. */
  servicesWith(change: (answer: Buffer, url: string) => Buffer): Required<SigningServices>;
  /** A new path in the folder, with a file there when bytes are given. */
  path(bytes?: Uint8Array, extension?: string): string;
  /** `input` signed; the path of what came out. */
  sign(
    input: Uint8Array,
    request: Omit<SignFileRequest, 'input' | 'output' | 'at' | 'signer'> & Partial<SignFileRequest>,
  ): Promise<string>;
  /** Removes every file that `path` and `sign` made. */
  sweep(): void;
  close(): void;
}

export function makeWorld(): World {
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
        // The same nonce always, so that an answer can be given again.
        random: (length) => Buffer.alloc(length, 7),
        ...settings,
      }),
      evidence: createEvidenceSource({
        anchors: [pki.root.certificate],
        intermediates: [pki.issuing.certificate, pki.stamping.certificate],
        cacheMinutes: 60,
        allowAia: false,
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

/** Bytes in memory, as a file that is open. */
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
