import { runTool } from './tool.ts';

export interface XmlsecVerdict {
  /** Exit code 0 and `OK` on the first line. */
  readonly ok: boolean;
  /** References verified and in total, from `SignedInfo References (ok/all)`; -1 when not printed. */
  readonly referencesOk: number;
  readonly references: number;
  readonly text: string;
}

/**
 * Runs `xmlsec1 --verify` with the given roots.
 * @param request.nodeId Id of the ds:Signature when there are several
 * @param request.idAttributes more `<attribute> [<namespace>:]<element>` pairs that references point to
 */
export async function xmlsec1(request: {
  readonly file: string;
  readonly ca: string;
  readonly untrusted?: string;
  readonly nodeId?: string;
  /** Working folder for resolving relative references. */
  readonly cwd?: string;
  readonly idAttributes?: readonly (readonly [attribute: string, element: string])[];
}): Promise<XmlsecVerdict> {
  const args = ['--verify', '--enabled-key-data', 'x509', '--trusted-pem', request.ca];
  if (request.untrusted !== undefined) args.push('--untrusted-pem', request.untrusted);
  const ids = [
    ['Id', 'http://uri.etsi.org/01903/v1.3.2#:SignedProperties'] as const,
    ...(request.idAttributes ?? []),
  ];
  for (const [attribute, element] of ids) args.push(`--id-attr:${attribute}`, element);
  if (request.nodeId !== undefined) args.push('--node-id', request.nodeId);
  const { exit, stdout, stderr } = await runTool(
    'xmlsec1',
    [...args, request.file],
    request.cwd === undefined ? {} : { cwd: request.cwd },
  );
  const text = `${stdout}\n${stderr}`;
  const counts = /SignedInfo References \(ok\/all\): (\d+)\/(\d+)/.exec(text);
  return {
    ok: exit === 0 && /^OK$/m.test(text),
    referencesOk: Number(counts?.[1] ?? -1),
    references: Number(counts?.[2] ?? -1),
    text,
  };
}
