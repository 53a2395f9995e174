/**
 * `sealwright decrypt`: takes a published file out of its encryption envelope, on any machine that knows password,
 * salt and iterations.
 *
 * Source: docs/batch-values.md §9.
 */

import { describeFailure } from '@sealwright/runtime/core';
import { decryptFile, EnvelopeError, envelopeKey } from '@sealwright/signatures';
import { escapeControls } from '../logging.ts';
import type { Terminal } from './terminal.ts';

export interface DecryptOptions {
  /** Name of the environment variable with the password. */
  readonly passwordEnv: string;
  readonly saltB64: string;
  readonly iterations: number;
  readonly in: string;
  readonly out: string;
}

/** Exit codes of this command; they are older than those of the other commands and differ. */
const DECRYPT_EXIT = { good: 0, malformed: 1, wrongTag: 2, usage: 3 } as const;

/** Writes the decrypted file under a name that is free; on any failure there is none. */
export async function decrypt(
  options: DecryptOptions,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<(typeof DECRYPT_EXIT)[keyof typeof DECRYPT_EXIT]> {
  const refuse = (text: string, exit: 1 | 2 | 3 = DECRYPT_EXIT.usage) => {
    terminal.err(`sealwright decrypt: ${escapeControls(text)}\n`);
    return exit;
  };
  const password = env[options.passwordEnv];
  if (password === undefined || password === '')
    return refuse(`the environment variable ${options.passwordEnv} is not set.`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(options.saltB64) || options.saltB64.length % 4 !== 0)
    return refuse('--salt-b64 must be Base64.');
  try {
    const key = await envelopeKey(password, Buffer.from(options.saltB64, 'base64'), options.iterations);
    decryptFile({ input: options.in, output: options.out, key });
  } catch (error) {
    if (!(error instanceof EnvelopeError)) return refuse(describeFailure(error).message);
    const { malformed, wrongTag } = DECRYPT_EXIT;
    return refuse(`${options.in}: ${error.message}`, error.code === 'envelope.tag' ? wrongTag : malformed);
  }
  terminal.out(`${escapeControls(options.out)}\n`);
  return DECRYPT_EXIT.good;
}
