import { runTool } from './tool.ts';

export interface OpensslVerdict {
  /** True for exit code 0 and the success message. */
  readonly ok: boolean;
  readonly exit: number;
  readonly text: string;
}

/**
 * Runs `openssl cms -verify -cades`.
 * @param request.signature path of the signature
 * @param request.form how it is encoded; DER when left out
 * @param request.content path of the signed bytes, for a detached signature
 * @param request.ca path of the trusted root, PEM
 * @param request.out path the enclosed content is written to
 */
export async function opensslCms(request: {
  readonly signature: string;
  readonly form?: 'DER' | 'PEM';
  readonly content?: string;
  readonly ca: string;
  readonly out?: string;
}): Promise<OpensslVerdict> {
  const args = [
    'cms',
    '-verify',
    '-cades',
    '-binary',
    '-inform',
    request.form ?? 'DER',
    '-in',
    request.signature,
  ];
  if (request.content !== undefined) args.push('-content', request.content);
  args.push('-CAfile', request.ca, '-purpose', 'any', '-out', request.out ?? '/dev/null');
  const { exit, stderr } = await runTool('openssl', args);
  return { ok: exit === 0 && stderr.includes('CAdES Verification successful'), exit, text: stderr };
}

/** Prints the structure by openssl, for finding attributes. Throws when it can't be read. */
export async function opensslCmsPrint(signature: string): Promise<string> {
  const { exit, stdout, stderr } = await runTool('openssl', [
    'cms',
    '-cmsout',
    '-print',
    '-noout',
    '-inform',
    'DER',
    '-in',
    signature,
  ]);
  if (exit !== 0) throw new Error(`openssl can't read ${signature}: ${stderr}`);
  return stdout;
}
