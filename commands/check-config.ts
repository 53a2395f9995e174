/** `sealwright check-config`: what the configuration says, and whether it would start. */
import { escapeControls } from '../logging.ts';
import {
  type CertificateSettings,
  faultLine,
  type LoadedSettings,
  type Settings,
  warningLine,
} from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { painter, type Terminal } from './terminal.ts';

/** Prints every key with its value and origin, secrets masked; 0 when the service would accept it, else 2. */
export function checkConfig(
  loaded: LoadedSettings,
  terminal: Terminal,
  options: { readonly json: boolean },
): ExitCode {
  if (options.json) terminal.out(`${JSON.stringify(asJson(loaded), null, 2)}\n`);
  else {
    const { dim } = painter(terminal);
    const width = Math.max(...loaded.resolved.map(({ key }) => key.length));
    terminal.out(`Environment: ${loaded.environment}\n\n`);
    for (const { key, value, origin } of loaded.resolved) {
      const shown = value === null ? 'none' : value === '' ? '(empty)' : String(value);
      terminal.out(
        `${key.padEnd(width)}  ${escapeControls(shown)}  ${dim(`(${escapeControls(origin ?? 'default')})`)}\n`,
      );
    }
    if (loaded.ok) {
      terminal.out('\nSigning profiles:\n');
      for (const profile of profileSummaries(loaded.settings))
        terminal.out(`  ${escapeControls(summaryText(profile))}\n`);
    }
    printProblems(loaded, terminal);
  }
  return loaded.ok ? EXIT.good : EXIT.refused;
}

/** Warnings and faults on standard error, all of them, one a line. */
export function printProblems(loaded: LoadedSettings, terminal: Terminal): void {
  const { red, yellow } = painter(terminal);
  for (const warning of loaded.warnings)
    terminal.err(`${yellow('warning')}  ${escapeControls(warningLine(warning))}\n`);
  if (loaded.ok) return;
  for (const fault of loaded.faults) terminal.err(`${red('refused')}  ${escapeControls(faultLine(fault))}\n`);
  const count = loaded.faults.length;
  terminal.err(
    `\nThe configuration has ${count} ${count === 1 ? 'fault' : 'faults'}; nothing was started.\n`,
  );
}

function asJson(loaded: LoadedSettings) {
  return {
    ok: loaded.ok,
    environment: loaded.environment,
    settings: Object.fromEntries(
      loaded.resolved.map(({ key, value, origin }) => [key, { value, origin: origin ?? 'default' }]),
    ),
    profiles: loaded.ok ? profileSummaries(loaded.settings) : [],
    warnings: loaded.warnings,
    faults: loaded.ok ? [] : loaded.faults,
  };
}

interface ProfileSummary {
  readonly name: string;
  /** Null: decided by the extension of each file. */
  readonly format: string | null;
  readonly method: 'Local' | 'RemoteSigner';
  /** Place where the certificate comes from: source and path; `Development` for one that is made here; null for none. */
  readonly certificate: string | null;
  readonly level: string | null;
  readonly verify: boolean;
  readonly verifyIndependently: boolean;
  readonly validateCertificate: boolean;
  readonly encrypt: boolean;
}

/** Without declared profiles there is one. Source: docs/batch-values.md §6.1. */
export function profileSummaries({ signing, encryption }: Settings): readonly ProfileSummary[] {
  if (signing.profiles.length === 0) {
    return [
      {
        name: 'default',
        format: null,
        method: 'Local',
        certificate: sourceText(signing.certificate),
        level: 'B',
        verify: true,
        verifyIndependently: false,
        validateCertificate: true,
        encrypt: encryption.enabled,
      },
    ];
  }
  return signing.profiles.map((profile) => {
    const local = profile.method === 'Local';
    return {
      name: profile.name,
      format: profile.format,
      method: profile.method,
      certificate: local ? sourceText(profile.certificate) : null,
      level: local ? (profile.level ?? 'B') : null,
      verify: profile.verify,
      verifyIndependently: profile.verifyIndependently,
      validateCertificate: local && profile.validateCertificate !== false,
      encrypt: profile.encrypt ?? encryption.enabled,
    };
  });
}

function sourceText({ source, pfx, pem, pkcs11, keyService: { key } }: CertificateSettings): string {
  const path = {
    Pfx: pfx.path,
    Pem: pem.certificatePath,
    Pkcs11: pkcs11.modulePath,
    Vault: key,
    AwsKms: key,
    AzureKeyVault: key,
    GoogleKms: key,
    Csc: key,
  }[source];
  return path === undefined ? 'Development' : `${source} ${path}`;
}

/** One line, for people. */
export function summaryText(profile: ProfileSummary): string {
  const { name, format, method, certificate, level } = profile;
  const flags = [
    profile.verify ? 'verified' : 'not verified',
    ...(profile.verifyIndependently ? ['verified independently'] : []),
    ...(method === 'Local'
      ? [profile.validateCertificate ? 'certificate validated' : 'certificate not validated']
      : []),
    ...(profile.encrypt ? ['encrypted'] : []),
  ];
  const parts = [
    `${format ?? 'format by extension'}${level === null ? '' : `, level ${level}`}`,
    method === 'Local' ? `signed here (${certificate})` : 'signed on the remote portal',
    ...flags,
  ];
  return `${name}: ${parts.join(', ')}`;
}
