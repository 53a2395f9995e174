/**
 * Tokens in software: a SoftHSM of this test process alone, with keys and certificates of the test PKI on them.
 * All objects are created before the code under test starts the module.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Handle, TokenModule } from '#crypto/keys/pkcs11/module.js';
import { thumbprintOf } from '#crypto/x509/certificate.js';
import { keyPemOf, type TestSigner } from '../../pki/pki.ts';
import { tokenModule } from '../../verifiers/tool.ts';

export const PIN = 'pin-of-the-token';

/** PKCS#11 functions for filling a token, in addition to those for signing. */
interface FillingModule extends TokenModule {
  C_CreateObject(session: Handle, template: readonly { type: number; value: unknown }[]): Handle;
}

export interface TokenContent {
  readonly label: string;
  readonly keys: readonly {
    readonly signer: TestSigner;
    /** Certificates besides the signer's own. @default its chain */
    readonly others?: readonly Buffer[];
    /** Another key than the certificate's, none at all, or one that asks for the PIN each time (RSA). */
    readonly odd?: 'other-key' | 'missing' | 'asks-each-time' | 'without-id';
    /** Replaces the certificate's key, for `other-key`. */
    readonly instead?: TestSigner;
    /** Only those who are logged in see the certificate. */
    readonly hidden?: boolean;
  }[];
}

export interface SoftHsm {
  readonly modulePath: string;
  /** Counted from now on, in this thread. */
  countCalls(): Calls;
  /** Pulls all tokens out, and puts them back. */
  pull(): void;
  putBack(): void;
  remove(): void;
}

const load = createRequire(import.meta.url);

/** Calls that this thread has made. */
export interface Calls {
  logins: number;
  sessions: number;
}

export function makeTokens(contents: readonly TokenContent[]): SoftHsm {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-softhsm-'));
  const tokens = join(folder, 'tokens');
  mkdirSync(tokens);
  const configuration = join(folder, 'softhsm2.conf');
  writeFileSync(
    configuration,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  );
  // Read by the library when it is initialized, in this process and in softhsm2-util.
  process.env['SOFTHSM2_CONF'] = configuration;
  const modulePath = tokenModule() ?? '';
  const library = load('pkcs11js') as { PKCS11: new () => FillingModule };
  const calls: Calls = { logins: 0, sessions: 0 };
  // The code under test loads the same package, and so gets a module that counts.
  library.PKCS11 = class extends library.PKCS11 {
    override C_Login(session: Handle, user: number, pin?: string): void {
      calls.logins++;
      super.C_Login(session, user, pin);
    }
    override C_OpenSession(slot: Handle, flags: number): Handle {
      calls.sessions++;
      return super.C_OpenSession(slot, flags);
    }
  };
  const module = new library.PKCS11();
  module.load(modulePath);
  for (const { label, keys } of contents) {
    util('--init-token', '--free', '--label', label, '--so-pin', '12345678', '--pin', PIN);
    for (const [index, { signer, odd, instead }] of keys.entries()) {
      if (odd === 'missing' || odd === 'asks-each-time') continue;
      const pem = join(folder, 'key.pem');
      writeFileSync(pem, keyPemOf((instead ?? signer).key.keyObject));
      const id = idOf(index).toString('hex');
      util('--import', pem, '--token', label, '--label', `key ${id}`, '--id', id, '--pin', PIN);
      rmSync(pem);
    }
  }
  module.C_Initialize({ flags: 2 });
  for (const content of contents) fill(module, content);
  module.C_Finalize();
  return {
    modulePath,
    countCalls: () => Object.assign(calls, { logins: 0, sessions: 0 }),
    pull: () => renameSync(tokens, join(folder, 'pulled')),
    putBack: () => renameSync(join(folder, 'pulled'), tokens),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The thumbprint a configuration would name. */
export function thumbprint(signer: TestSigner): string {
  return thumbprintOf(signer.certificate);
}

function util(...args: readonly string[]): void {
  execFileSync('softhsm2-util', args, { stdio: 'pipe', timeout: 30_000 });
}

function idOf(index: number): Buffer {
  return Buffer.from([index + 1]);
}

const CKA = {
  class: 0x0,
  token: 0x1,
  private: 0x2,
  label: 0x3,
  value: 0x11,
  certificateType: 0x80,
  keyType: 0x100,
  subject: 0x101,
  id: 0x102,
  sensitive: 0x103,
  sign: 0x108,
  modulus: 0x120,
  alwaysAuthenticate: 0x202,
} as const;

function fill(module: FillingModule, { label, keys }: TokenContent): void {
  const slot = module.C_GetSlotList(true).find((one) => module.C_GetTokenInfo(one).label.trim() === label);
  if (slot === undefined) throw new Error(`no token ${label}`);
  const session = module.C_OpenSession(slot, 0x4 | 0x2);
  module.C_Login(session, 1, PIN);
  for (const [index, { signer, others = signer.chain, odd, hidden }] of keys.entries()) {
    const id = odd === 'without-id' ? Buffer.alloc(0) : idOf(index);
    const certificates = [
      { der: signer.certificate, id },
      ...others.map((der) => ({ der, id: Buffer.alloc(0) })),
    ];
    for (const certificate of certificates) {
      module.C_CreateObject(session, [
        { type: CKA.class, value: 1 },
        { type: CKA.certificateType, value: 0 },
        { type: CKA.token, value: true },
        { type: CKA.private, value: hidden === true },
        { type: CKA.id, value: certificate.id },
        { type: CKA.subject, value: Buffer.from([0x30, 0]) },
        { type: CKA.value, value: certificate.der },
      ]);
    }
    if (odd === 'asks-each-time') module.C_CreateObject(session, privateRsa(signer, id));
  }
  module.C_CloseSession(session);
}

function privateRsa(signer: TestSigner, id: Buffer): { type: number; value: unknown }[] {
  const { n, e, d, p, q, dp, dq, qi } = signer.key.keyObject.export({ format: 'jwk' });
  const numbers = [n, e, d, p, q, dp, dq, qi].map((text, index) => ({
    type: CKA.modulus + (index === 0 ? 0 : index + 1),
    value: Buffer.from(text ?? '', 'base64url'),
  }));
  return [
    { type: CKA.class, value: 3 },
    { type: CKA.keyType, value: 0 },
    { type: CKA.token, value: true },
    { type: CKA.private, value: true },
    { type: CKA.sensitive, value: true },
    { type: CKA.sign, value: true },
    { type: CKA.alwaysAuthenticate, value: true },
    { type: CKA.id, value: id },
    ...numbers,
  ];
}
