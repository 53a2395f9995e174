/**
 * The configuration: read once at start, checked as a whole, then typed and read-only. The keys are in
 * settings/table.ts.
 *
 * Source: docs/configuration.md; docs/batch-values.md §5.
 */
import { checkTogether } from './settings/checks.ts';
import type { Fault, Warning } from './settings/findings.ts';
import { readTable } from './settings/keys.ts';
import { Reading, type Resolved } from './settings/reading.ts';
import {
  collectEntries,
  type Environment,
  type EnvironmentName,
  environmentName,
} from './settings/sources.ts';
import { KEYS, readNames, type Settings } from './settings/table.ts';
import { isSectionOf, unknownKeys } from './settings/unknown-keys.ts';

export { inputOverlaps } from './settings/checks.ts';
export { DIGEST_BYTES, digestIn } from './settings/encryption-checks.ts';
export { type Fault, faultLine, type Warning, warningLine } from './settings/findings.ts';
export type { ProviderSettings } from './settings/identity-table.ts';
export type { ListenUrl, SecretVariable } from './settings/kinds.ts';
export { placeOfInput, prefixOf } from './settings/objects-table.ts';
export type { Resolved } from './settings/reading.ts';
export { configurationReference } from './settings/reference.ts';
export { sealLevel, sealProfileSettings } from './settings/seal-profile.ts';
export type { CertificateSettings, ProfileSettings } from './settings/signing-table.ts';
export { type Environment, type EnvironmentName, isSettingArgument } from './settings/sources.ts';
export type { InputSettings, Settings } from './settings/table.ts';

export type LoadedSettings = {
  readonly warnings: readonly Warning[];
  /** Every key with its value and origin; secrets are masked. */
  readonly resolved: readonly Resolved[];
  readonly environment: EnvironmentName;
} & (
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly faults: readonly Fault[] }
);

export type AcceptedSettings = Extract<LoadedSettings, { readonly ok: true }>;

/**
 * Reads and checks the configuration once. All faults come back together; no text in the result repeats a secret,
 * apart from the settings themselves.
 */
export function loadSettings(surroundings: Environment): LoadedSettings {
  const environment = environmentName(surroundings.env);
  const collected = collectEntries(surroundings, isSection, isSimpleKey);
  const { entries, faults, unknownVariables } = collected;
  const { cwd, env } = surroundings;
  // The root comes first: defaults of other keys are placed below it.
  const early = new Reading(entries, { cwd, environment, env, root: cwd });
  const { root } = readTable({ 'Storage:Root': KEYS['Storage:Root'] }, '', early).storage;
  const reading = new Reading(entries, { cwd, environment, env, root });
  const values = readTable(KEYS, '', reading);
  const settings: Settings = {
    ...values,
    environment,
    production: environment === 'Production',
    secrets: secretsOf(values, reading),
  };
  const together = checkTogether(
    settings,
    (section) => !reading.faults.some(({ key }) => key.startsWith(section)),
  );
  const unknown = unknownKeys(reading.unused(), unknownVariables, readNames());
  const own = reading.faults.filter(({ key }) => counts(key, values.encryption.enabled));
  const allFaults = [...faults, ...own, ...together.faults, ...unknown.faults];
  const shared = {
    environment,
    warnings: [
      ...collected.warnings,
      ...together.warnings,
      ...reading.warnings,
      ...proxyWarnings(env, settings),
      ...unknown.warnings,
    ],
    resolved: reading.resolved,
  };
  return allFaults.length > 0
    ? { ...shared, ok: false, faults: allFaults }
    : { ...shared, ok: true, settings };
}

const PROXY = /^(?:https?|all)_proxy$/i;

/** A proxy would resolve names itself, which the address policies rule out. Source: docs/decisions/0052-outgoing-requests.md. */
function proxyWarnings(env: Environment['env'], { signing, remoteSigner }: Settings): readonly Warning[] {
  const { profiles } = signing;
  if (remoteSigner.endpoint === undefined && profiles.every(({ timestamp }) => timestamp.url === undefined))
    return [];
  const set = Object.keys(env).filter((name) => PROXY.test(name) && env[name]);
  return set.slice(0, 1).map((key) => ({
    key,
    text: 'is set and not used: time-stamp authorities, responders and the remote portal are connected to directly',
  }));
}

/** Source: docs/batch-values.md §9: the other keys of encryption are checked only when it is on. */
function counts(key: string, encrypted: boolean): boolean {
  return encrypted || key === 'Encryption:Enabled' || !key.startsWith('Encryption:');
}

/** Variables with default names count as configured. */
function secretsOf(
  { encryption, signing }: Pick<Settings, 'encryption' | 'signing'>,
  reading: Reading,
): readonly string[] {
  const certificates = [signing.certificate, ...signing.profiles.map(({ certificate }) => certificate)];
  const variables = [encryption.passwordEnvVar, ...certificates.map(({ pkcs11 }) => pkcs11.pinEnvVar)];
  for (const { variable, value } of variables) reading.keep(variable, value);
  return [...reading.secrets];
}

/** True for a key without sections, which is an environment variable's name. */
function isSimpleKey(name: string): boolean {
  return Object.keys(KEYS).some((key) => !key.includes(':') && key.toLowerCase() === name.toLowerCase());
}

function isSection(name: string): boolean {
  return isSectionOf(name, Object.keys(KEYS));
}
