/** `sign <file…>`: signs one file, or several into a container. */
import { readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { signAsic } from '../asic/sign.ts';
import { CryptoError, type DigestName, type SignatureFormat, type SignatureLevel } from '../core/types.ts';
import { signFileAtLevel } from '../files/sign-file.ts';
import { type KeySource, loadSigner } from '../keys/load.ts';
import { readCertificateFiles } from './read-certificates.ts';
import { type CommandServices, type ServiceOptions, servicesOf } from './services.ts';
import { type ExitCode, escapeControls, failureOf, type Terminal } from './terminal.ts';
import { formatOf } from './verify-command.ts';

export interface SignOptions extends ServiceOptions {
  /** PKCS#12 container, or a private key in PEM or DER, which takes `certificate`. */
  readonly key?: string;
  readonly certificate?: string;
  /** PKCS#11 module; takes `thumbprint` and the PIN as the password. */
  readonly pkcs11?: string;
  readonly thumbprint?: string;
  /** Name of the environment variable with the password of the key, or the PIN. */
  readonly keyPasswordEnv?: string;
  /** File whose first line is that password. */
  readonly keyPasswordFile?: string;
  /** Overrides the format that content and extension suggest. */
  readonly format?: SignatureFormat;
  /** Makes a container of one file (S) or any number (E). */
  readonly container?: 'S' | 'E';
  readonly level: SignatureLevel;
  readonly digest?: DigestName;
  readonly detached: boolean;
  readonly trust: readonly string[];
  readonly intermediates: readonly string[];
  readonly out?: string;
  /** Name of the environment variable with the password of an encrypted PDF. */
  readonly passwordEnv?: string;
  readonly reason?: string;
  readonly location?: string;
  readonly field?: string;
  /** Lines of a visible signature. */
  readonly text: readonly string[];
  /** PNG or JPEG of a visible signature. */
  readonly image?: string;
  /** Page of a visible signature, 0 = the last one; left, top, width and height in points. */
  readonly place?: readonly [page: number, left: number, top: number, width: number, height: number];
}

/** 0 when everything was signed, 1 when something was not, 2 for options that can't be used. */
export async function signFiles(
  files: readonly string[],
  options: SignOptions,
  terminal: Terminal,
  {
    env,
    at,
    ...surroundings
  }: CommandServices & {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly at: number;
  },
): Promise<ExitCode> {
  const refuse = (text: string): ExitCode => {
    terminal.err(`sealwright-signatures sign: ${escapeControls(text)}\n`);
    return 2;
  };
  const { level, container, out } = options;
  if (level !== 'B' && options.timestampUrl === undefined)
    return refuse(`--level B-${level} takes --timestamp-url.`);
  if (out !== undefined && files.length > 1 && container === undefined)
    return refuse('--out names one file; leave it out for several.');
  const anchors = readCertificateFiles(options.trust, terminal);
  const intermediates = readCertificateFiles(options.intermediates, terminal);
  if (anchors === undefined || intermediates === undefined) return 2;
  let work: (paths: readonly string[]) => Promise<string>;
  try {
    const signer = await loadSigner(sourceOf(options, env));
    const services = servicesOf(options, { anchors, intermediates }, env, surroundings);
    const { digest } = options;
    const common = { signer, at, level, ...(digest !== undefined && { digest }) };
    const password = options.passwordEnv === undefined ? undefined : env[options.passwordEnv];
    const pades = padesOf(options);
    work = async (paths) => {
      const [path = ''] = paths;
      const format = options.format ?? formatOfContent(path);
      if (container !== undefined) {
        const output = out ?? named(path, `.asic${container.toLowerCase()}`);
        const inputs = paths.map((one) => ({ path: one }));
        const inside = format === 'Cades' ? 'Cades' : 'Xades';
        await signAsic({ ...common, kind: container, format: inside, inputs, output }, services);
        return output;
      }
      const { detached } = options;
      const output = out ?? signedName(path, format, detached);
      await signFileAtLevel(
        {
          ...common,
          format,
          input: path,
          output,
          ...(password !== undefined && { password }),
          ...(format === 'Pades' && { pades }),
          ...(detached && { cades: { detached }, xades: { packaging: 'detached' } as const }),
        },
        services,
      );
      return output;
    };
  } catch (error) {
    const { code, message } = failureOf(error);
    const given = options.keyPasswordEnv ?? options.keyPasswordFile;
    const isMissing = code === 'key.password' && given === undefined;
    return refuse(isMissing ? `${message} Give it by --key-password-env or --key-password-file.` : message);
  }
  let failed = false;
  for (const paths of container === undefined ? files.map((one) => [one]) : [files]) {
    try {
      terminal.out(`${escapeControls(await work(paths))}\n`);
    } catch (error) {
      const { code, message } = failureOf(error);
      terminal.err(`${escapeControls(paths.join(', '))}: ${escapeControls(message)} (${code})\n`);
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

/** @throws {CryptoError} `request.invalid` when the options name no key, `key.unreadable` without the password file */
function sourceOf(options: SignOptions, env: Readonly<Record<string, string | undefined>>): KeySource {
  const { key, certificate, pkcs11, thumbprint } = options;
  const password = passwordOf(options, env);
  if (pkcs11 !== undefined) {
    if (thumbprint === undefined) throw new CryptoError('request.invalid', '--pkcs11 takes --thumbprint.');
    return { source: 'Pkcs11', modulePath: pkcs11, thumbprint, pin: password ?? '' };
  }
  if (key === undefined) throw new CryptoError('request.invalid', 'Name a key by --key or --pkcs11.');
  if (certificate !== undefined)
    return { source: 'Pem', certificatePath: certificate, keyPath: key, password };
  const path = readFileSync(key);
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----/m.test(path.toString('latin1')))
    throw new CryptoError('request.invalid', 'A private key takes --certificate.');
  return { source: 'Pfx', path, password, ...(thumbprint !== undefined && { thumbprint }) };
}

function passwordOf(
  { keyPasswordEnv, keyPasswordFile }: SignOptions,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (keyPasswordFile !== undefined) return readFileSync(keyPasswordFile, 'utf8').split(/\r?\n/, 1)[0];
  if (keyPasswordEnv === undefined) return undefined;
  const password = env[keyPasswordEnv];
  if (password === undefined) throw new CryptoError('key.password', `${keyPasswordEnv} is not set.`);
  return password;
}

function padesOf({ reason, location, field, text, image, place }: SignOptions) {
  const [page = 0, left = 0, top = 0, width = 0, height = 0] = place ?? [];
  return {
    ...(reason !== undefined && { reason }),
    ...(location !== undefined && { location }),
    ...(field !== undefined && { fieldName: field }),
    ...((place !== undefined || text.length > 0 || image !== undefined) && {
      appearance: {
        ...(place !== undefined && { place: { page: page === 0 ? null : page, left, top, width, height } }),
        ...(text.length > 0 && { lines: text }),
        ...(image !== undefined && { image: readFileSync(image) }),
      },
    }),
  };
}

/** Format to sign a file in: a signature or container that is signed again is any file. */
function formatOfContent(path: string): SignatureFormat {
  const format = formatOf(path);
  return format === 'Asic' ? 'Cades' : format;
}

/** `a.pdf` → `a.signed.pdf`, `a.xml` → `a.signed.xml` or `a.xml.xades`, any other → `<name>.p7m` or `<name>.p7s`. */
function signedName(path: string, format: SignatureFormat, detached: boolean): string {
  if (format === 'Cades') return `${path}.${detached ? 'p7s' : 'p7m'}`;
  return detached && format === 'Xades' ? `${path}.xades` : named(path, `.signed${parse(path).ext}`);
}

function named(path: string, ending: string): string {
  const { dir, name } = parse(path);
  return `${dir === '' ? '' : `${dir}/`}${name}${ending}`;
}
