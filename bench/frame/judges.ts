/** Verification of outputs by independent programs; missing programs are skipped. */
import { isPresent, opensslCms, pdfsig, type ToolName, xmlsec1 } from '../../test/verifiers/index.ts';
import { Unverified } from './bench.ts';

export interface Output {
  /** Name for messages. */
  readonly name: string;
  readonly format: 'Pades' | 'Cades' | 'Xades';
  readonly path: string;
  /** Path of the content of a detached signature. */
  readonly content?: string;
}

/** A writable folder with the trusted root as PEM; outputs contain the intermediates. */
export interface TrustedRoot {
  readonly folder: string;
  readonly rootFile: string;
}

const TOOLS: { readonly [format in Output['format']]: readonly ToolName[] } = {
  Pades: ['pdfsig', 'certutil'],
  Cades: ['openssl'],
  Xades: ['xmlsec1'],
};

/** Returns the program that verified the output; undefined when none is installed. @throws {Unverified} */
export async function verifiedByOtherTool(output: Output, trusted: TrustedRoot): Promise<string | undefined> {
  const tools = TOOLS[output.format];
  if (!tools.every(isPresent)) return undefined;
  const [ok, said] = await verdicts[output.format](output, trusted);
  if (!ok) throw new Unverified(`${output.name}: ${tools[0]} refuses it: ${said.slice(0, 500)}`);
  return tools[0];
}

type Verdict = (output: Output, trusted: TrustedRoot) => Promise<readonly [ok: boolean, said: string]>;

const verdicts: { readonly [format in Output['format']]: Verdict } = {
  async Pades({ path }, trusted) {
    const found = await pdfsig(path, trusted);
    // pdfsig lists document time-stamps without verifying them.
    const signatures = found.filter(({ type }) => type === 'ETSI.CAdES.detached');
    const ok = signatures.length > 0 && signatures.every((one) => one.okEarlier);
    return [ok, JSON.stringify(found)];
  },
  async Cades({ path, content }, { rootFile }) {
    const { ok, text } = await opensslCms({ signature: path, ca: rootFile, ...(content && { content }) });
    return [ok, text];
  },
  async Xades({ path }, { rootFile }) {
    const { ok, text } = await xmlsec1({ file: path, ca: rootFile });
    return [ok, text];
  },
};
