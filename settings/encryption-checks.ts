/** Rules of encryption, and digests as the configuration has them. Source: docs/batch-values.md §9. */
import type { Fault } from './findings.ts';
import type { Settings } from './table.ts';

/** Bytes of a digest, by its name in the configuration. */
export const DIGEST_BYTES = { SHA256: 32, SHA384: 48, SHA512: 64 } as const;
const MIN_SALT = 16;
const MIN_ITERATIONS = 10_000;

/** Decodes a digest from Base64 or hexadecimal; undefined when it has another length. */
export function digestIn(written: string, length: number): Buffer | undefined {
  const bytes =
    /^[0-9A-Fa-f]+$/.test(written) && written.length === 2 * length ? hex(written) : base64(written);
  return bytes?.length === length ? bytes : undefined;
}

function hex(written: string): Buffer {
  return Buffer.from(written, 'hex');
}

/** Undefined when it is not Base64. */
export function base64(written: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(written) || written.length % 4 !== 0) return undefined;
  return Buffer.from(written, 'base64');
}

/** The other keys count only when encryption is on. */
export function checkEncryption({ encryption }: Settings, faults: Fault[]): void {
  if (!encryption.enabled) return;
  const { password, passwordEnvVar, salt, iterations } = encryption;
  if (password === '' && passwordEnvVar.value === '') {
    faults.push({
      key: 'Encryption:Password',
      rule: `is required when Encryption:Enabled is true, here or in the environment variable ${passwordEnvVar.variable}`,
    });
  }
  const bytes = base64(salt);
  if (salt === '')
    faults.push({ key: 'Encryption:Salt', rule: 'is required when Encryption:Enabled is true' });
  else if (bytes === undefined || bytes.length < MIN_SALT)
    faults.push({ key: 'Encryption:Salt', rule: `must be Base64 of at least ${MIN_SALT} bytes` });
  if (iterations < MIN_ITERATIONS)
    faults.push({ key: 'Encryption:Iterations', rule: `must be at least ${MIN_ITERATIONS}` });
}
