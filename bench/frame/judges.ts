/** What programs we did not write say of an output; those that are not installed are not asked. */
import { isPresent, opensslCms, pdfsig, type ToolName, xmlsec1 } from '../../test/verifiers/index.ts';
import { Unverified } from './bench.ts';

export interface Output {
  /** For the message. */
  readonly name: string;
  readonly format: 'Pades' | 'Cades' | 'Xades';
  readonly path: string;
  /** What a detached signature is over. */
  readonly content?: string;
}

/** A folder that may be written to, with the trusted root as PEM; intermediates are in the outputs. */
export interface TrustedRoot {
  readonly folder: string;
  readonly rootFile: string;
}

const TOOLS: { readonly [format in Output['format']]: readonly ToolName[] } = {
  Pades: ['pdfsig', 'certutil'],
  Cades: ['openssl'],
  Xades: ['xmlsec1'],
};

/** The program that found it good; undefined when none is installed. @throws {Unverified} */
export async function judgedByOthers(output: Output, trusted: TrustedRoot): Promise<string | undefined> {
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
    // Time-stamps over the document it finds, but does not verify.
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
